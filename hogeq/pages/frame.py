"""The frame of every page, one HTML file that loads nothing else, and the data packed into it.

Numbers are deflated, and in base64, since HTML is text. A browser gives back exactly the numbers
that were packed: probabilities are rounded to the digits shown and packed as whole numbers of that
unit, everything else in full.
"""

import base64
import html
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
"""Controls, and marks that change the direction of a text: names of others may have them."""

_POLICY: Final = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def part(name: str) -> str:
    """Read a file beside this one: a script, a style, a template."""
    return (files("hogeq.pages") / name).read_text("utf-8")


def fill(template: str, **places: str) -> str:
    """Fill the places of a template with HTML; characters that are not seen become escapes."""

    def escape(unseen: re.Match[str]) -> str:
        return ascii(unseen[0])[1:-1]  # without the quotes

    visible = {name: _UNSEEN.sub(escape, text) for name, text in places.items()}
    return Template(part(template)).substitute(visible)


def page(
    title: str,
    body: str,
    *,
    styles: str,
    scripts: str,
    data: Any,
    texts: Mapping[str, str] | None = None,
    images: bool = False,
) -> str:
    """Put a page together of files, data as JSON, and texts as `pack_text` gives them.

    `styles` and `scripts` name files beside this one, separated by spaces; `texts` are by the id of
    their element; `images` says whether the page may have images among its data.
    """
    stored = [
        f'<script type="text/plain" id="{name}">{text}</script>'
        for name, text in (texts or {}).items()
    ]
    # "<" would let a name end the element that holds it.
    content = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    stored.append(f'<script type="application/json" id="data">{content}</script>')
    return fill(
        "frame.html",
        policy=f"{_POLICY}; img-src data: blob:" if images else _POLICY,
        title=html.escape(title),
        style="\n".join(part(f"{name}.css") for name in styles.split()),
        body=body,
        stored="\n".join(stored),
        script="\n".join(part(f"{name}.js") for name in scripts.split()),
    )


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    kinds: Sequence[str] = (),
    label: str = "Table",
    look: str = "",
) -> str:
    """Write a table that scrolls by itself.

    Its cells are HTML, `kinds` CSS classes of its columns, `look` those of the whole table, and
    `label` is for screen readers.
    """
    attributes = [f' class="{kind}"' if kind else "" for kind in kinds] or [""] * len(header)

    def row_html(cells: Iterable[object], tag: str) -> str:
        content = "".join(
            f"<{tag}{attribute}>{cell}</{tag}>"
            for cell, attribute in zip(cells, attributes, strict=True)
        )
        return f"<tr>{content}</tr>"

    head = row_html(header, "th")
    body = "".join(row_html(row, "td") for row in rows)
    return (
        f'<div class="wide {look}" tabindex="0" role="region" aria-label="{label}"><table>'
        f"<thead>{head}</thead><tbody>{body}</tbody></table></div>"
    )


def html_list(lines: Iterable[str]) -> str:
    """Write texts as a list."""
    items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>"


def bar(share: float, kind: str = "") -> str:
    """Draw a share from 0 to 1 as a bar; of a kind `half` it has a mark at one half."""
    width = f"{min(1.0, max(0.0, share)):.2%}"
    return f'<span class="share {kind}" aria-hidden="true"><i style="width:{width}"></i></span>'


def pack_text(content: str) -> str:
    """Pack a text."""
    return _deflated(content.encode())


def pack_fractions(values: ArrayLike, digits: int) -> dict[str, Any]:
    """Pack numbers from 0, NaN among them, rounded to some decimals.

    Each becomes a whole number of units, 10**digits to one, of as few bytes as all need; NaN is the
    largest that these bytes hold. The bytes lie in planes, all lowest ones first: what differs
    little is side by side and is deflated to less than half of what it would be otherwise.
    """
    units = np.rint(np.asarray(values, np.float64).ravel() * 10.0**digits)
    known = units[~np.isnan(units)]
    if known.size and known.min() < 0.0:
        raise ValueError(f"fractions: {known.min()} units; allowed: numbers from 0")
    largest = int(known.max(initial=0.0))
    num_bytes = ((largest + 1).bit_length() + 7) // 8  # NaN needs a number that is larger
    code_of_nan = 256.0**num_bytes - 1.0
    whole = np.where(np.isnan(units), code_of_nan, units).astype(np.uint64)
    shifts = np.arange(num_bytes, dtype=np.uint64)[:, None] * np.uint64(8)
    planes = ((whole >> shifts) & np.uint64(255)).astype(np.uint8)  # (num_bytes, n)
    return {"per": 10**digits, "planes": num_bytes, "data": _deflated(planes.tobytes())}


def pack_floats(values: ArrayLike) -> dict[str, Any]:
    """Pack numbers in full: float64, lowest byte first."""
    return {"data": _deflated(np.asarray(values, "<f8").tobytes())}


def _deflated(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")
