"""The documentation site: ``make docs`` builds it into build/site, from files of this tree alone.

Sphinx, since it reads the numpy docstrings of the code as they are, checks every reference, and
needs no network; MyST, since the pages are Markdown that reads well without it too.
"""

import inspect
import json
import re
import shutil
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

from typer.main import get_command

import hogeq
from hogeq import __version__
from hogeq.cli import app
from hogeq.cli.commands import GROUPS, name_of
from hogeq.support.parameters import meanings

project = "hogeq"
author = "hogeq maintainers"
copyright = "hogeq maintainers, MIT licence"  # noqa: A001 - so called by Sphinx
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_templates", "api/parameters.md"]  # a page includes the latter
templates_path = ["_templates"]

default_role = "code"  # what docstrings put in single backticks
myst_heading_anchors = 3

napoleon_google_docstring = False
napoleon_use_param = False  # types are said in words; as references they would be ambiguous
napoleon_use_ivar = True
napoleon_use_rtype = False
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say types, with shapes
# A source may be listed and not be referred to by number; names of attributes are no references.
suppress_warnings = ["ref.footnote", "ref.python"]

html_theme = "furo"
html_title = f"hogeq {__version__}"
html_show_sourcelink = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]


def _escape(_app: Any, _what: str, _name: str, _thing: Any, _options: Any, lines: Any) -> None:
    """Keep (n, *rows) a shape."""
    lines[:] = [re.sub(r"([(, ])\*(\w+[,)])", r"\1\\*\2", line) for line in lines]


def _write_reference(app: Any, _config: Any) -> None:
    """Write anew, from the package: public names and modules, commands, parameters."""
    folder = Path(app.srcdir) / "api"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    stub = Path(hogeq.__file__).with_name("__init__.pyi").read_text("utf-8")
    lines = [
        "Names and modules",
        "=================",
        "",
        ".. list-table::",
        "   :widths: 30 70",
        "",
    ]
    for module, name in re.findall(r"from \.([\w.]*) import (\w+) as", stub):
        thing = getattr(hogeq, name)
        told = (inspect.getdoc(thing) or "").split("\n")[0] if callable(thing) else ""
        place = ".".join(filter(None, ("hogeq", module, name)))
        lines += [f"   * - :py:obj:`hogeq.{name} <{place}>`", f"     - {told}"]
    lines += ["", ".. autosummary::", "   :toctree: .", "   :template: module.rst", ""]
    modules = {module.name for module in walk_packages(hogeq.__path__, "hogeq.")}
    lines += [f"   {module}" for module in sorted(modules - {"hogeq.__main__", "hogeq.run"})]
    (folder / "names.rst").write_text("\n".join(lines) + "\n", "utf-8")
    _write_commands(folder / "commands.rst")
    (folder / "parameters.md").write_text(parameter_meanings(), "utf-8")


def _write_commands(file: Path) -> None:
    """Write the help of every command, by groups, as the command line gives it."""
    top: Any = get_command(app)
    lines = ["All commands", "============", ""]
    for group, commands in GROUPS.items():
        lines += [group, "-" * len(group), ""]
        for name in map(name_of, commands):
            title = f"hogeq {name}"
            command = top.commands[name]
            context = command.context_class(command, info_name=title, max_content_width=100)
            text = command.get_help(context).replace("\b", "")
            shown = [f"   {line}".rstrip() for line in text.splitlines()]
            lines += [title, "~" * len(title), "", ".. code-block:: text", "", *shown, ""]
    file.write_text("\n".join(lines), "utf-8")


def parameter_meanings() -> str:
    """Write tables of the meaning of every parameter of a solver or purifier, from the docstrings.

    Parameters that mean the same in several solvers stand once, under the names of all.
    """
    text = ""
    for registry in (hogeq.SOLVERS, hogeq.PURIFIERS):
        names_by_line: dict[str, list[str]] = {}
        for name, kind in registry.items():
            for parameter, (meaning, allowed, _) in meanings(kind).items():
                line = f"| {parameter} | {allowed} | {meaning} |"
                names_by_line.setdefault(line, []).append(f"`{name}`")
        lines_by_names: dict[str, list[str]] = {}
        for line, names in names_by_line.items():
            lines_by_names.setdefault(", ".join(names), []).append(line)
        header = ["| parameter | allowed | meaning |", "|---|---|---|"]
        for solvers, lines in lines_by_names.items():
            text += "\n".join([f"\n{solvers}:\n", *header, *lines, ""])
    return text


def _hide_modules(app: Any, error: Exception | None) -> None:
    """Take the modules out of the search, but for the list of public names."""
    index = Path(app.outdir) / "searchindex.js"
    if error or not index.exists():
        return
    text = index.read_text("utf-8")
    start, end = text.index("{"), text.rindex("}") + 1
    found = json.loads(text[start:end])
    found |= {"objects": {}, "indexentries": {}}
    index.write_text(f"{text[:start]}{json.dumps(found)}{text[end:]}", "utf-8")


def _skip(_app: Any, _what: str, _name: str, thing: Any, skip: bool, _options: Any) -> bool | None:
    """Leave out what matplotlib writes into a class that is derived from one of its own."""
    is_theirs = str(getattr(thing, "__module__", "")).startswith("matplotlib")
    return True if skip or is_theirs else None


def setup(app: Any) -> None:
    """Connect the hooks above."""
    app.connect("build-finished", _hide_modules)
    app.connect("config-inited", _write_reference)
    app.connect("autodoc-process-docstring", _escape)
    app.connect("autodoc-skip-member", _skip)
