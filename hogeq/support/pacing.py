"""When a solver is measured, and how many iterations it is asked for at once."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, Final, Literal

MOMENT: Final = 0.1  # seconds that a call of a solver may take: signals and progress wait for it


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
        """Call a solver once, and adapt the number of iterations of the next call.

        `steps` does at most so many iterations from a state; at most `left` of them are asked for.
        Returns the new state and the number of iterations done.
        """
        start_time = perf_counter()
        state, num_done = steps(state, min(self.most, left))
        seconds = perf_counter() - start_time
        if num_done == self.most and seconds < MOMENT / 2.0:
            self.most *= 2
        elif seconds > MOMENT:
            self.most = max(1, self.most // 2)
        return state, num_done
