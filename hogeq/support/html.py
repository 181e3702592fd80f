"""Small results as HTML for notebooks: tables and maps, without scripts."""

import base64
import struct
import zlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# Viridis (van der Walt and Smith, 2015, CC0), every fourth of it, and a colour apart.
_STOPS: Final = np.array(
    [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]]
)
_APART: Final = [204, 121, 167]

_WIDTH: Final = 300  # pixels on the screen


def table(rows: Iterable[Sequence[object]], header: Sequence[object], caption: str) -> str:
    """Write a table with a caption."""
    cells = [f"<tr>{''.join(f'<th>{escape(str(one))}</th>' for one in header)}</tr>"]
    cells += [f"<tr>{''.join(f'<td>{escape(str(one))}</td>' for one in row)}</tr>" for row in rows]
    return f"<table><caption>{escape(caption)}</caption>{''.join(cells)}</table>"


def dice_map(actions: NDArray[Any], choices: Sequence[int], caption: str) -> str:
    """Draw a colour for the choice at both scores, the own score upward."""
    at = np.linspace(0.0, 4.0, sum(choice >= 0 for choice in choices))
    colours = np.stack([np.interp(at, range(5), part) for part in _STOPS.T], axis=1).astype(
        np.uint8
    )
    palette = [*colours.tolist(), _APART][: len(choices)]
    keys = "".join(
        f'<span style="color:rgb{tuple(colour)}">\N{BLACK SQUARE}</span> {choice} '
        for choice, colour in zip(choices, palette, strict=True)
    )
    image = base64.b64encode(_png(actions[::-1].astype(np.uint8), palette)).decode()
    style = f"width:{_WIDTH}px;image-rendering:pixelated"
    where = "own score upward, the other's to the right"
    return (
        f'<figure><figcaption>{escape(caption)}</figcaption><img alt="{where}" style="{style}" '
        f'src="data:image/png;base64,{image}"/><div>{where}; dice: {keys}</div></figure>'
    )


def _png(pixels: NDArray[np.uint8], palette: list[list[int]]) -> bytes:
    """Write a picture of few colours, by their numbers."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    height, width = pixels.shape
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)
    parts = (
        (b"IHDR", head),
        (b"PLTE", np.array(palette, np.uint8).tobytes()),
        (b"IDAT", zlib.compress(lines)),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in (*parts, (b"IEND", b"")))
