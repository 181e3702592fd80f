"""Draw the rooms of the package on their floors: docs/figures/architecture.svg.

    python docs/draw_architecture.py

The floors are the layers of the import contract in pyproject.toml, the arrows the imports that
grimp finds in the source. Only where a room stands on its floor, and what it is for, is said here.
An arrow that follows from others is left out (transitive reduction), and so are those to `support`,
on which every room stands.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "figures" / "architecture.svg"

ROOMS: dict[str, tuple[int, str]] = {
    "__main__": (2, "python -m hogeq"),
    "run": (3, "python -m hogeq.run"),
    "cli": (2, "one file a command"),
    "pages": (2, "reports, checks, the board"),
    "runs": (2, "config, runner, sweeps"),
    "benchmark": (3, "instances as plain arrays"),
    "contest": (1, "submissions of a class"),
    "games": (2, "Game, Hog: what scripts hold"),
    "analysis": (1, "losses, ranks, reviews"),
    "figures": (3, "arrays in, pictures out"),
    "solvers": (2, "one algorithm a file"),
    "purification": (0, "from policy to matrix"),
    "baselines": (2, "strategies with a name"),
    "trees": (3, "histories, recall, OpenSpiel"),
    "search": (1, "attack, moves, bounds"),
    "evaluation": (2, "exact rates and values"),
    "strategies": (3, "check, read, write tables"),
    "model": (2, "engine and Workspace"),
    "graph": (2, "a game as arrays"),
    "kernels": (1, "compiled loops on arrays"),
    "rules": (3, "parts, editions, one turn"),
    "support": (0, "messages, files, workers: every room stands on it"),
}
"""Column, 0 to 3, and what the room is for."""

WAY = (
    ("cli", "reads the arguments"),
    ("rules", "names the edition's parts"),
    ("model", "compiles them: an engine"),
    ("strategies", "reads the file, checks it"),
    ("search", "searches for a counter"),
    ("model", "lends it a Workspace"),
    ("kernels", "fill its arrays, pass by pass"),
    ("search", "gives attack and bound"),
    ("cli", "prints both"),
)
"""How `hogeq attack p.npz` goes through the rooms."""

NOTE = (
    "An arrow means: imports. All arrows lead down.",
    "An arrow that follows from others is left out.",
    "Numbers: the way of one policy through the rooms.",
)

LEFT, WIDE, GAP = 62, 196, 28
HIGH, STOREY, STEP = 46, 66, 32
INK, FAINT, LINE, ROOM, PATH = "#1f2933", "#6b7785", "#8a97a6", "#e8f0f8", "#d9480f"


def floors() -> list[list[str]]:
    """List the rooms of each floor, lowest first, as the import contract has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = next(one for one in contracts["contracts"] if one["type"] == "layers")["layers"]
    return [re.findall(r"\w+", layer) for layer in reversed(layers)]


def imports() -> set[tuple[str, str]]:
    """Give the pairs of rooms of which the first imports the second.

    Public names, which are imported from the package itself, stand for the room of `Game`.
    """
    graph = grimp.build_graph("hogeq", cache_dir=None)
    pairs = {
        (importer.split(".")[1], f"{imported}.games".split(".")[1])
        for importer in graph.modules - {"hogeq"}
        for imported in graph.find_modules_directly_imported_by(importer)
    }
    return {(importer, imported) for importer, imported in pairs if importer != imported}


def reduced(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Leave out every pair that follows from others."""

    def reachable(start: str, without: tuple[str, str]) -> set[str]:
        found, ahead = set[str](), [start]
        while ahead:
            here = ahead.pop()
            new = {b for a, b in pairs if a == here and (a, b) != without} - found
            found |= new
            ahead += new
        return found

    return {pair for pair in pairs if pair[1] not in reachable(pair[0], pair)}


def place(room: str, levels: list[list[str]]) -> tuple[float, float]:
    """Give the middle of a room."""
    level = next(number for number, rooms in enumerate(levels) if room in rooms)
    column = ROOMS[room][0]
    return LEFT + WIDE / 2 + column * (WIDE + GAP), 30 + (len(levels) - 1 - level) * STOREY


def line(start: tuple[float, float], end: tuple[float, float], columns: set[float]) -> str:
    """Draw one import: out of a room's foot or side, into another's head or side.

    Parameters
    ----------
    start, end : tuple of float
        Middles of the two rooms.
    columns : set of float
        Middles of the columns where a third room stands between the two, or beside the first.
    """
    (ax, ay), (bx, by) = start, end
    lean = (bx > ax) - (bx < ax)
    foot, head, half = ay + HIGH / 2, by - HIGH / 2 - 3, WIDE / 2
    if lean == 0 and bx not in columns:  # straight down
        way = f"M {ax} {foot} V {head}"
    elif lean == 0:  # around what stands in the way
        out, side = ax + half, ax + half + 16
        way = (
            f"M {out} {ay} {turn(side, ay, side, ay + 9)} V {by - 9} {turn(side, by, out + 3, by)}"
        )
    elif bx in columns:  # down the gap, and in from the side
        out, into = ax + lean * half, bx - lean * (half + 3)
        side = bx - lean * (WIDE + GAP) / 2
        ay, by = ay + 8, by - 8
        way = f"M {out} {ay} {turn(side, ay, side, ay + 9)} V {by - 9} {turn(side, by, into, by)}"
    else:  # aside, and down
        out, bx, ay = ax + lean * half, bx - lean * 50, ay + 8
        way = f"M {out} {ay} H {bx - lean * 12} {turn(bx, ay, bx, ay + 12)} V {head}"
    return f'<path d="{way}" class="arrow" marker-end="url(#head)"/>'


def turn(x: float, y: float, to_x: float, to_y: float) -> str:
    """Turn a corner at (x, y)."""
    return f"Q {x} {y}, {to_x} {to_y}"


def arrows(levels: list[list[str]]) -> Iterator[str]:
    """Draw what is left of the imports."""
    middles = {room: place(room, levels) for room in ROOMS}
    for importer, imported in sorted(reduced(imports())):
        if imported == "support":
            continue
        start, end = middles[importer], middles[imported]
        columns = {
            x
            for room, (x, y) in middles.items()
            if room not in {importer, "support"} and start[1] <= y < end[1]
        }
        yield line(start, end, columns)


def boxes(levels: list[list[str]]) -> Iterator[str]:
    """Draw the floors' numbers and the rooms."""
    width = 4 * WIDE + 3 * GAP
    for number, rooms in enumerate(levels):
        y = place(rooms[0], levels)[1]
        yield f'<line x1="34" x2="{LEFT + width + 24}" y1="{y + 33}" y2="{y + 33}" class="floor"/>'
        yield f'<text x="22" y="{y + 6}" class="number">{number}</text>'
        for room in rooms:
            x = place(room, levels)[0]
            long = width if room == "support" else WIDE
            middle = x - WIDE / 2 + long / 2
            yield (
                f'<rect x="{x - WIDE / 2}" y="{y - HIGH / 2}" width="{long}" height="{HIGH}" rx="7"'
                ' class="room"/>'
                f'<text x="{middle}" y="{y - 3}" class="name">{room}</text>'
                f'<text x="{middle}" y="{y + 14}" class="about">{escape(ROOMS[room][1])}</text>'
            )


def way(levels: list[list[str]]) -> Iterator[str]:
    """Draw the numbers of the way on the rooms, and say in the free column what they mean."""
    top = place("search", levels)[1] - 2
    high = len(WAY) * STEP + 30
    yield f'<rect x="{LEFT}" y="{top - 22}" width="{WIDE}" height="{high}" rx="7" class="way"/>'
    yield f'<text x="{LEFT + 12}" y="{top}" class="title">hogeq attack p.npz</text>'
    met: dict[str, int] = {}
    for number, (room, what) in enumerate(WAY, 1):
        middle, level = place(room, levels)
        at = met[room] = met.get(room, -1) + 1
        yield badge(middle - WIDE / 2 + 2 + 23 * at, level - HIGH / 2, number)
        low = top + number * STEP - 9
        yield badge(LEFT + 18, low + 4, number)
        yield f'<text x="{LEFT + 36}" y="{low}" class="step-room">{room}</text>'
        yield f'<text x="{LEFT + 36}" y="{low + 14}" class="step">{escape(what)}</text>'


def badge(x: float, y: float, number: int) -> str:
    """Draw a number in a circle."""
    return (
        f'<circle cx="{x}" cy="{y}" r="10" class="badge"/>'
        f'<text x="{x}" y="{y + 4.5}" class="badge-number">{number}</text>'
    )


def legend() -> Iterator[str]:
    """Say how to read the picture."""
    yield f'<rect x="{LEFT - 6}" y="8" width="{2 * WIDE + 8}" height="108" fill="white"/>'
    yield f'<text x="{LEFT}" y="36" class="head">The rooms of hogeq</text>'
    for number, text in enumerate(NOTE):
        yield f'<text x="{LEFT}" y="{62 + 20 * number}" class="note">{escape(text)}</text>'


def picture() -> str:
    """Give the picture as SVG."""
    levels = floors()
    unplaced = {room for rooms in levels for room in rooms} ^ ROOMS.keys()
    if unplaced:
        raise SystemExit(f"ROOMS and the import contract differ in {', '.join(sorted(unplaced))}")
    width, height = LEFT + 4 * WIDE + 3 * GAP + 36, 30 + len(levels) * STOREY - 24
    style = f"""
text {{ font-family: Helvetica, Arial, sans-serif; fill: {INK} }}
.room {{ fill: {ROOM}; stroke: {LINE}; stroke-width: 1 }}
.name {{ font-size: 16px; font-weight: bold; text-anchor: middle }}
.about {{ font-size: 13px; text-anchor: middle; fill: #44505c }}
.number {{ font-size: 15px; text-anchor: middle; fill: {FAINT} }}
.floor {{ stroke: #d5dce4; stroke-width: 1 }}
.arrow {{ fill: none; stroke: {LINE}; stroke-width: 1.6 }}
.title {{ font-size: 14.5px; font-weight: bold; fill: {PATH} }}
.head {{ font-size: 20px; font-weight: bold }}
.note {{ font-size: 14px; fill: #44505c }}
.way {{ fill: #fff7f2; stroke: #f3c9b3; stroke-width: 1 }}
.step-room {{ font-size: 13.5px; font-weight: bold }}
.step {{ font-size: 13px; fill: #44505c }}
.badge {{ fill: {PATH}; stroke: white; stroke-width: 1.5 }}
.badge-number {{ font-size: 12.5px; font-weight: bold; fill: white; text-anchor: middle }}
"""
    head = (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7"'
        f' markerHeight="7" orient="auto"><path d="M 0 0.5 L 7.5 4 L 0 7.5 z" fill="{LINE}"/>'
        "</marker></defs>"
    )
    title = "<title>The rooms of hogeq on their floors, and what imports what</title>"
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" role="img">'
    )
    ground = '<rect width="100%" height="100%" rx="10" fill="white"/>'
    parts: Iterable[str] = (
        start,
        title,
        f"<style>{style}</style>",
        head,
        ground,
        *boxes(levels),
        *arrows(levels),
        *way(levels),
        *legend(),
        "</svg>\n",
    )
    return "\n".join(parts)


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
