"""Announcement of the kernels that a command needs; none is compiled, nor the compiler imported."""

from collections.abc import Iterator
from typing import Any

from hogeq import kernels
from hogeq.model.game import HogEngine


def expect(game: HogEngine, *names: str) -> None:
    """Announce the parts of a game that a command needs, so that all cores compile them.

    They are those of :data:`hogeq.model.compiling.PARTS`, or "matches", the part by which two
    matrices meet.
    """

    def listed() -> Iterator[Any]:
        from hogeq.model.compiling import missing

        return missing(game, *names)

    kernels.expected[:] = [listed]
