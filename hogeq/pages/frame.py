"""The frame of every page: one HTML file that the browser may load nothing else for."""

import html
import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from string import Template
from typing import Any, Final

_HERE: Final = "hogeq.pages"

_POLICY: Final = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def part(name: str) -> str:
    """Read a file that is shipped with the package: a script, a style, a template."""
    return (files(_HERE) / name).read_text("utf-8")


def parts(names: Iterable[str]) -> str:
    """Read several, one after the other."""
    return "\n".join(part(name) for name in names)


def fill(template: str, **places: str) -> str:
    """Fill the places of a template, with HTML."""
    return Template(part(template)).substitute(places)


def packed(data: Any) -> str:
    """Write data as JSON that can stand in a page."""
    # "<" would let a name end the element that holds it.
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def page(
    title: str,
    body: str,
    *,
    style: str,
    script: str,
    data: str,
    texts: Mapping[str, str] | None = None,
    images: bool = False,
) -> str:
    """Put a page together.

    `data` is JSON as `packed` gives it, in the element ``data``; `texts` are more texts for the
    script, by the name of the element that holds them, as `pack.text` gives them. `images` says
    whether the script draws images into the page.
    """
    stored = [
        f'<script type="text/plain" id="{name}">{text}</script>'
        for name, text in (texts or {}).items()
    ]
    stored.append(f'<script type="application/json" id="data">{data}</script>')
    return fill(
        "frame.html",
        policy=f"{_POLICY}; img-src data: blob:" if images else _POLICY,
        title=html.escape(title),
        style=style,
        body=body,
        stored="\n".join(stored),
        script=script,
    )
