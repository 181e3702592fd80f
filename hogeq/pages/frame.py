"""The frame of every page, one HTML file that loads nothing else, and the data packed into it.

Numbers are deflated, and in base64, since HTML is text. A browser gives back exactly the numbers
that were packed: probabilities are rounded to the digits shown and packed as whole numbers of that
unit, everything else in full.
"""

import base64
import html
import re
import zlib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from string import Template
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from hogeq.support.files import json_text
from hogeq.support.html import Html

_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
"""Control characters, and marks that change the direction of a text, which names may contain."""

# The content security policy of a page: nothing is loaded, only what is in the page runs.
_CONTENT_POLICY: Final = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def part(name: str) -> str:
    """Read a file beside this one: a script, a style, a template."""
    return (files("hogeq.pages") / name).read_text("utf-8")


def fill(template: str, **placeholders: str) -> str:
    """Fill the placeholders of a template with HTML; invisible characters become escapes."""
    visible = {name: _INVISIBLE.sub(_escape, text) for name, text in placeholders.items()}
    return Template(part(template)).substitute(visible)


def _escape(match: re.Match[str]) -> str:
    """Write a character as an escape of Python."""
    return ascii(match[0])[1:-1]  # without the quotes


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
    """Build a self-contained HTML page from its body, styles, scripts and data.

    `styles` and `scripts` name files of this package without their endings, separated by spaces.
    `data` is stored as JSON, `texts` as `pack_text` packs them, by the id of their element.
    `images` says whether the page may show images from its data.
    """
    data_elements = [
        f'<script type="text/plain" id="{name}">{text}</script>'
        for name, text in (texts or {}).items()
    ]
    # A text in the data such as "</script>" would end the element, so "<" is escaped.
    content = json_text(data, compact=True).replace("<", "\\u003c")
    data_elements.append(f'<script type="application/json" id="data">{content}</script>')
    return fill(
        "frame.html",
        policy=f"{_CONTENT_POLICY}; img-src data: blob:" if images else _CONTENT_POLICY,
        title=html.escape(title),
        style="\n".join(part(f"{name}.css") for name in styles.split()),
        body=body,
        stored="\n".join(data_elements),
        script="\n".join(part(f"{name}.js") for name in scripts.split()),
    )


def scrolling(content: str, look: str = "", label: str = "") -> str:
    """Put HTML in a box that scrolls sideways without the page.

    `look` are more CSS classes, and `label` is for screen readers.
    """
    region = f' role="region" aria-label="{label}"' if label else ""
    return f'<div class="wide {look}" tabindex="0"{region}>{content}</div>'


def html_list(lines: Iterable[str]) -> str:
    """Write texts as a list."""
    items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>"


def bar(share: float, kind: str = "") -> Html:
    """Draw a share from 0 to 1 as a bar; `kind` are CSS classes, "half" marks one half."""
    width = f"{min(1.0, max(0.0, share)):.2%}"
    drawn = f'<i style="width:{width}"></i>'
    return Html(f'<span class="share {kind}" aria-hidden="true">{drawn}</span>')


def pack_text(content: str) -> str:
    """Compress a text, for `texts` of a page."""
    return _compressed(content.encode())


def pack_fractions(values: ArrayLike, digits: int) -> dict[str, Any]:
    """Pack numbers from 0, or NaN, rounded to `digits` decimals, as compressed bytes.

    1. Write each number as an integer, in units of 10**-digits. NaN is the largest integer that the
       bytes hold, and the number of bytes is the least that has room for all.
    2. Order the bytes in planes: the lowest bytes of all integers, then the second lowest, and so
       on. Similar bytes are then neighbours, and compress to less than half.
    3. Compress, and encode in base64.
    """
    units = np.rint(np.asarray(values, np.float64).ravel() * 10.0**digits)
    numbers = units[~np.isnan(units)]
    if numbers.size and numbers.min() < 0.0:
        raise ValueError(f"fractions: {numbers.min()} units; allowed: numbers from 0")
    largest = int(numbers.max(initial=0.0))
    num_bytes = ((largest + 1).bit_length() + 7) // 8  # 1 is added for NaN, which is larger
    nan_code = 256.0**num_bytes - 1.0
    integers = np.where(np.isnan(units), nan_code, units).astype(np.uint64)
    shifts = np.arange(num_bytes, dtype=np.uint64)[:, None] * np.uint64(8)
    planes = ((integers >> shifts) & np.uint64(255)).astype(np.uint8)  # (num_bytes, n)
    return {"per": 10**digits, "planes": num_bytes, "data": _compressed(planes.tobytes())}


def pack_floats(values: ArrayLike) -> dict[str, Any]:
    """Pack numbers without rounding: float64, lowest byte first, compressed."""
    return {"data": _compressed(np.asarray(values, "<f8").tobytes())}


def _compressed(data: bytes) -> str:
    """Compress bytes, and encode them in base64."""
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")
