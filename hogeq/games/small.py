"""Questions that are answered by solving a small game of Hog. Private: users hold a `Hog`."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from hogeq.evaluation import tablebase
from hogeq.graph.graph import Graph
from hogeq.model.game import HogEngine
from hogeq.rules.turn import denominator, total_rises
from hogeq.search.bounds import is_half
from hogeq.search.results import Equilibrium
from hogeq.support.deadline import Deadline
from hogeq.support.messages import HogeqError, refusal

if TYPE_CHECKING:
    from hogeq.solvers.existence import Existence
    from hogeq.solvers.symmetric import SymmetricGame

MOST_STATES: Final = 4_000_000  # states times actions, whether play comes to them or not


def solve_hog(engine: HogEngine, graph: Callable[[], Graph], seconds: float) -> Equilibrium:
    """Solve a game of Hog in mixtures, within some seconds; `graph` builds its graph if needed.

    1. Without hidden memory, optimal play by the scores is an equilibrium.
    2. A small game: a double oracle, in half of the time.
    3. If that does not end: the tree of the game, if it is small enough, else the best single
       mixture that a solver finds.
    """
    from hogeq.solvers import solving
    from hogeq.solvers.symmetric import in_mixtures
    from hogeq.trees.answers import hog_tree, solve_hog_by_tree

    if not engine.has_memory:
        return solving.by_one_strategy(engine, Deadline(seconds))
    tree = hog_tree(engine.rules)  # building takes no time
    deadline = Deadline(seconds)
    # Every proof folds a mixture into the graph, which takes time for each of its outcomes.
    if is_small(engine) and deadline.share(0.5).allows(_num_outcomes(graph())):
        solved = in_mixtures(_symmetric(engine, graph()), engine, deadline.share(0.5))
        if solved is not None:
            is_proved = is_half(engine, solved.strategies[0], solved.upper)
            return replace(solved, is_proved=is_proved)
    if tree is None:  # it would be too large
        return solving.by_one_strategy(engine, deadline)
    return solve_hog_by_tree(engine, tree, deadline)


def existence(
    engine: HogEngine, graph: Callable[[], Graph], seconds: float, clock: Callable[[], float]
) -> "Existence":
    """Decide within some seconds, by the clock, if a game of Hog has an equilibrium in policies.

    `graph` builds the graph of the game if that is needed. Raises `HogeqError` for rules under
    which a turn may leave the total score as it is, and for games that are too large.
    """
    from hogeq.solvers.existence import decide, pure_existence

    if not engine.has_memory and not engine.positions_recur:
        matrix = tablebase.solve(engine).matrix  # optimal play, which needs no memory
        return pure_existence(np.eye(engine.num_actions)[matrix.ravel()])
    if not total_rises(engine.rules):
        allowed = "games in which every turn raises the sum of the scores: positions can recur here"
        raise HogeqError(refusal("rules", engine.rules.name, allowed))
    if not is_small(engine):
        allowed = f"games of at most {MOST_STATES:,} states times actions: lower goal or max_dice"
        raise HogeqError(refusal("rules", engine.rules.name, allowed))
    return decide(_symmetric(engine, graph()), denominator(engine.rules), seconds, clock)


def is_small(engine: HogEngine) -> bool:
    """Whether a game of Hog can be laid out as a graph of states."""
    states = 2 * engine.rules.size**2 * engine.memory_size * engine.num_actions
    return states <= MOST_STATES and total_rises(engine.rules)


def _num_outcomes(graph: Graph) -> int:
    """Count the outcomes of all actions in all states, whether play comes to them or not."""
    outcomes_of_way = np.append(np.diff(graph.first), 0)  # the last entry is for way -1, none
    outcomes_of_situation = outcomes_of_way[graph.way].sum(axis=(1, 2))
    return int(outcomes_of_situation[graph.situation].sum())


def _symmetric(engine: HogEngine, graph: Graph) -> "SymmetricGame":
    """Lay a small game out against the policy that rolls at random."""
    from hogeq.search.branching import ResponseGraph
    from hogeq.solvers.symmetric import SymmetricGame

    uniform = np.full(engine.shape, 1.0 / engine.num_actions)
    return SymmetricGame(ResponseGraph.of(graph.against(uniform)))
