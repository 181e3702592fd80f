"""The documentation site: ``make docs`` builds it into build/site, from files of this tree alone.

Sphinx, since it reads the numpy docstrings of the code as they are, checks every reference, and
needs no network; MyST, since the pages are Markdown that reads well without it too.
"""

import shutil
from pathlib import Path
from typing import Any

from hogeq import __version__

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
exclude_patterns = ["_templates"]
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


def _escape_bars(_app: Any, _what: str, name: str, _thing: Any, _options: Any, lines: Any) -> None:
    """Keep |tens - ones| an absolute value; it would be a substitution."""
    if name.startswith("hogeq.rules.parts"):
        lines[:] = [line.replace("|", r"\|") for line in lines]


def _forget_pages(app: Any, _config: Any) -> None:
    """Remove the pages made for an earlier build: modules may be gone."""
    shutil.rmtree(Path(app.srcdir) / "api", ignore_errors=True)


def setup(app: Any) -> None:
    """Connect the hooks above."""
    app.connect("config-inited", _forget_pages)
    app.connect("autodoc-process-docstring", _escape_bars)
