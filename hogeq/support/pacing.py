"""When a solver is measured, and how many iterations it is asked for at once."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, Final, Literal

MOMENT: Final = 0.1  # seconds that a call of a solver may take, signals and progress waiting


def schedule(iterations: int, every: int | Literal["log"]) -> list[int]:
    """List the iterations after which to measure: Fibonacci numbers for "log", and the last one."""
    if every != "log":
        return [*range(every, iterations, every), iterations]
    fibonacci = [1, 2]
    while fibonacci[-1] < iterations:
        fibonacci.append(fibonacci[-2] + fibonacci[-1])
    return [*(moment for moment in fibonacci if moment < iterations), iterations]


class Pace:
    """Asks a solver for as many iterations at once as take about a moment."""

    def __init__(self) -> None:
        self.most = 1  # iterations of the next call; doubled or halved by the time that it takes

    def steps(
        self, steps: Callable[[Any, int], tuple[Any, int]], state: Any, left: int
    ) -> tuple[Any, int]:
        """State after more iterations, at most those left, and how many; adapts the next number."""
        begun = perf_counter()
        state, done = steps(state, min(self.most, left))
        spent = perf_counter() - begun
        if done == self.most and spent < MOMENT / 2.0:
            self.most *= 2
        elif spent > MOMENT:
            self.most = max(1, self.most // 2)
        return state, done
