"""Small results as HTML for notebooks: tables and maps, without scripts."""

import base64
from collections.abc import Iterable, Sequence
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hogeq.support.drawing import import_matplotlib


def table(rows: Iterable[Sequence[object]], header: Sequence[object], caption: str) -> str:
    """Write a table with a caption."""
    content = "".join(f"<th>{escape(str(cell))}</th>" for cell in header)
    lines = [f"<tr>{content}</tr>"]
    for row in rows:
        content = "".join(f"<td>{escape(str(cell))}</td>" for cell in row)
        lines.append(f"<tr>{content}</tr>")
    return f"<table><caption>{escape(caption)}</caption>{''.join(lines)}</table>"


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
