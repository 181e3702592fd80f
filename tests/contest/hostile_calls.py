"""Calls of commands on a folder of submissions, and what they must not show."""

from pathlib import Path

from hogeq.support.sandbox import isolation
from tests.contest.hostile import put, table

RUN = ("tournament", "class", "--rules", "class.yaml", "--out", "out", "--time-limit", "4")


def written(folder: str) -> dict[str, bytes]:
    paths = [path for path in Path(folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


UNSAFE = () if isolation().bubblewrap else ("--no-sandbox",)


# --- what is kept ---------------------------------------------------------------------------------


def three() -> None:
    for number, name in enumerate(("ann", "bob", "cid")):
        put(Path(f"class/{name}/final_strategy.csv"), table(number + 1))
