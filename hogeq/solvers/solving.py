"""Solvers called from Python: so many iterations, or as many as the time allows."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

from hogeq.evaluation import tablebase
from hogeq.model.game import HogEngine
from hogeq.model.protocol import Engine
from hogeq.search.bounds import SEARCHING, bound_in_time, full_memory_bound
from hogeq.search.results import PROVED, Equilibrium
from hogeq.solvers import SOLVERS
from hogeq.solvers.base import Solver
from hogeq.solvers.bundle import MixtureBundle, self_played
from hogeq.strategies.strategy import Strategy, strategy_of
from hogeq.support.deadline import Deadline
from hogeq.support.messages import refusal
from hogeq.support.parameters import keys, require_known
from hogeq.support.progress import phase

FIRST_STEP: Final = 6.0  # times that of self-play: time for the solver to begin, and for a step
GROWTH: Final = 1.5  # of the time of a step, from one to the next
MOMENT: Final = 0.1  # seconds that a call of a solver may take, signals and progress waiting


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Strategies that a solver came to.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game("kuhn_poker")
    >>> solved = game.solve("cfr_plus", iterations=100)
    >>> game.exploitability(solved).upper < 0.01
    True
    """

    policy: Strategy
    """The average of the iterations, for most solvers."""
    mixture: Strategy | None
    """A mixture, where the solver looks for one."""
    metrics: dict[str, float]
    """Measures of convergence that the solver keeps, by name."""
    solver: str
    """Its name."""
    iterations: int
    """Iterations done."""
    seconds: float
    """Spent on them."""

    @property
    def strategy(self) -> Strategy:
        """The mixture, if the solver looks for one, or else the policy; both play in both seats."""
        return self.policy if self.mixture is None else self.mixture

    def __repr__(self) -> str:
        """Name the solver and how long it ran."""
        return f"Solution({self.solver}, {self.iterations} iterations, {self.seconds:.1f} s)"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without the strategies."""
        effort = {name: getattr(self, name) for name in ("solver", "iterations", "seconds")}
        return {**effort, "metrics": self.metrics}

    def rows(self) -> list[tuple[str, str]]:
        """Lay out the effort and the measures of convergence."""
        figures = [(name, f"{figure:.6g}") for name, figure in self.metrics.items()]
        return [("solver", self.solver), ("iterations", f"{self.iterations:,}"), *figures]


class Pace:
    """Asks a solver for as many iterations at once as take about a moment."""

    def __init__(self) -> None:
        self.most = 1

    def steps(self, solver: Solver[Any], game: Engine, state: Any, left: int) -> tuple[Any, int]:
        """State after so many iterations, at most those left, and how many."""
        begun = perf_counter()
        state, done = solver.steps(game, state, min(self.most, left))
        spent = perf_counter() - begun
        if done == self.most and spent < MOMENT / 2.0:
            self.most *= 2
        elif spent > MOMENT:
            self.most = max(1, self.most // 2)
        return state, done


def solve(game: Engine, name: str, iterations: int, **parameters: Any) -> Solution:
    """Run a solver, by its name and parameters, for so many iterations."""
    if name not in SOLVERS:
        raise ValueError(refusal("solver", name, f"one of {', '.join(sorted(SOLVERS))}", SOLVERS))
    require_known(parameters, keys(SOLVERS[name]))
    if iterations < 1:
        raise ValueError(refusal("iterations", iterations, "1 or more"))
    solver, begun = SOLVERS[name](**parameters), perf_counter()
    with phase("solving", iterations) as progress:
        state, pace, left = solver.init(game), Pace(), iterations
        while left:
            state, done = pace.steps(solver, game, state, left)
            left -= done
            progress.step(done)
    mixture = solver.mixture(game, state)
    return Solution(
        policy=strategy_of(game, solver.average(game, state)),
        mixture=None if mixture is None else strategy_of(game, mixture),
        metrics=solver.stats(game, state),
        solver=name,
        iterations=iterations,
        seconds=perf_counter() - begun,
    )


def equilibrium(game: HogEngine, limit: float | Deadline) -> Equilibrium:
    """Look for a strategy of Hog that wins half of its games against everything.

    Both players are alike, so the value is 1/2, and what responses win from a strategy at most
    says what it secures. Without hidden memory optimal play by the scores is such a strategy;
    elsewhere the solver ``mixture_bundle`` looks for a mixture. Where there is no time for a step,
    the bounds are those of the uniform strategy.
    """
    deadline, iterations = Deadline.of(limit), 0
    if not game.has_memory:
        found = strategy_of(game, tablebase.solve(game).matrix)
    else:
        found, iterations = _by_bundle(game, deadline.share(SEARCHING))
    begun = deadline.spent
    full = full_memory_bound(game, found)
    bound = max(bound_in_time(game, found, deadline, full, deadline.spent - begun), 0.5)
    return Equilibrium(
        lower=1.0 - bound,
        upper=bound,
        strategies=(found, found),
        is_proved=bound - 0.5 <= PROVED / 2.0,
        method="mixture_bundle" if game.has_memory else "tablebase",
        effort={"iterations": iterations, "components": [len(found.weights)] * 2},
        seconds=deadline.spent,
    )


def _by_bundle(game: HogEngine, deadline: Deadline) -> tuple[Strategy, int]:
    """Find a mixture by the solver, and how many steps it took; a policy if there is none in time.

    The solver begins with as much self-play again, and its first step takes longer than that. It
    steps only if as much time is left as that should take.
    """
    begun = deadline.spent
    found = strategy_of(game, self_played(game, deadline))
    longest, solver, iterations = deadline.spent - begun, MixtureBundle(), 0
    if deadline.left < FIRST_STEP * longest:
        return found, 0
    state = solver.init(game)
    while deadline.left > GROWTH * longest:
        begun = deadline.spent
        state, iterations = solver.step(game, state), iterations + 1
        longest = max(deadline.spent - begun, longest if iterations > 1 else 0.0)
    return (found if not iterations else strategy_of(game, solver.mixture(game, state))), iterations
