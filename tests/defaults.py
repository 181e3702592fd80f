"""Defaults as docs/parameters.md tells them."""

import re
from pathlib import Path
from typing import Any

import yaml

import hogeq
from hogeq.support.parameters import meanings

PAGE = Path(__file__).parents[1] / "docs" / "parameters.md"


def told() -> dict[str, dict[str, Any]]:
    """Give the parameters of every solver, of every purifier, and of a search, by name."""
    found = {}
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith(("| `", "`measure.attack`")):
            names = re.findall(r"`([a-z_.]+)`", line)
            found[names[0]] = {
                key: yaml.safe_load(value.replace("e-", ".0e-") if "." not in value else value)
                for key, value in re.findall(r"`([a-z_]+): ([^`]*)`", line)
            }
    return found


def meanings_text() -> str:
    """Write the section of the page that says what every parameter means, from the docstrings.

    Parameters that mean the same in several solvers stand once, under the names of all.
    """
    text = "## What they mean\n"
    for registry in (hogeq.SOLVERS, hogeq.PURIFIERS):
        names_by_line: dict[str, list[str]] = {}
        for name, kind in registry.items():
            for parameter, (meaning, allowed, _) in meanings(kind).items():
                line = f"| {parameter} | {allowed} | {meaning} |"
                names_by_line.setdefault(line, []).append(f"`{name}`")
        lines_by_names: dict[str, list[str]] = {}
        for line, names in names_by_line.items():
            lines_by_names.setdefault(", ".join(names), []).append(line)
        for solvers, lines in lines_by_names.items():
            text += "\n".join(
                [
                    f"\n{solvers}:\n",
                    "| parameter | allowed | meaning |",
                    "|---|---|---|",
                    *lines,
                    "",
                ]
            )
    return text
