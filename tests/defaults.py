"""Defaults as docs/parameters.md tells them."""

import re
from pathlib import Path
from typing import Any

import yaml

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
