"""Texts in Gambit's extensive form, read."""

from pathlib import Path

from hogeq.trees.flat import FlatTree, payoff
from hogeq.trees.gambit import from_efg

HEAD = 'EFG 2 R "" { "A" "B" }\n'


def written(tmp_path: Path, text: str | bytes, name: str = "game.efg") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(tmp_path: Path, text: str) -> FlatTree:
    return from_efg(written(tmp_path, text))


def worth(tree: FlatTree) -> float:
    return payoff(tree, tree.uniform(), tree.uniform())


# --- what is refused ------------------------------------------------------------------------------

GOOD = (
    HEAD + 'c "" 1 "deal" { "h" 1/2 "t" 1/2 } 0\n'
    'p "" 1 1 "x" { "l" "r" } 1 "fee" { 1, -1 }\nt "" 2 "" { 1, -1 }\nt "" 3 "" { 0, 0 }\n'
    'p "" 1 1 "x" { "l" "r" } 0\nt "" 1\nt "" 0\n'
)
