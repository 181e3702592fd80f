"""Tables as HTML, for notebooks and pages, and maps for notebooks, without scripts."""

import base64
from collections.abc import Iterable, Sequence
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hogeq.support.drawing import import_matplotlib


class Html(str):
    """Text that is HTML already, so that `table` does not escape it."""

    __slots__ = ()


def table(
    rows: Iterable[Sequence[object]],
    header: Sequence[object],
    caption: str = "",
    kinds: Sequence[str] = (),
) -> str:
    """Write a table with a caption, or with a head and a body; `kinds` are classes of columns."""
    head = _row_html(header, "th", kinds)
    body = "".join(_row_html(row, "td", kinds) for row in rows)
    if caption:
        return f"<table><caption>{escape(caption)}</caption>{head}{body}</table>"
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _row_html(cells: Sequence[object], tag: str, kinds: Sequence[str]) -> str:
    """Write a row of a table, with cells of this tag; `kinds` are their classes, or empty."""
    content = ""
    for cell, kind in zip(cells, kinds or [""] * len(cells), strict=True):
        attribute = f' class="{kind}"' if kind else ""
        text = cell if isinstance(cell, Html) else escape(str(cell))
        content += f"<{tag}{attribute}>{text}</{tag}>"
    return f"<tr>{content}</tr>"


def dice_map(actions: NDArray[Any], choices: Sequence[int], caption: str) -> str:
    """Draw a colour for the choice at each pair of scores, with a legend, as HTML with a PNG in it.

    `actions` (G, G) are numbers of actions by own and opponent's score; `choices` are their dice,
    of which -1 can be the last.
    """
    import_matplotlib()
    import matplotlib as mpl
    from matplotlib.colors import to_hex, to_rgba
    from matplotlib.image import imsave

    num_dice = sum(dice >= 0 for dice in choices)
    shades = mpl.colormaps["viridis"](np.linspace(0.0, 1.0, num_dice))
    colours = np.array([*shades, to_rgba("#CC79A7")])[: len(choices)]  # the last one is for -1
    picture = BytesIO()
    imsave(picture, colours[actions], format="png", origin="lower")
    legend = "".join(
        f'<span style="color:{to_hex(colour)}">\N{BLACK SQUARE}</span> {choice} '
        for choice, colour in zip(choices, colours, strict=True)
    )
    where = "own score upward, the other's to the right"
    data = base64.b64encode(picture.getvalue()).decode()
    return (
        f'<figure><figcaption>{escape(caption)}</figcaption><img alt="{where}" '
        f'style="width:300px;image-rendering:pixelated" src="data:image/png;base64,{data}"/>'
        f"<div>{where}; dice: {legend}</div></figure>"
    )
