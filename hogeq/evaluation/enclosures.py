"""Values of all states of a graph between two bounds that are proved, rounding included.

Each player plays a policy, or sees everything and plays as is best: two who do have the value of
the game with full information, one who does has the best response that remembers everything.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.graph import Graph
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline

MOST_ROUNDS: Final = 100_000  # of a level that recurs
FINE: Final = 20  # payoffs that are whole in units of 2**-20 are what they say
STATES: Final = 200_000  # values of states that are computed between two looks at the clock
SETTLED: Final = 2.0**-60  # share of the largest payoff by which a round raises nothing of use

Policy = Floats | None


class Enclosure(NamedTuple):
    """Payoff to player 0 in every state: C positions, H memories."""

    lower: Floats  # (C, H)
    upper: Floats  # (C, H)
    chosen: NDArray[np.int32]  # (C, H), action of a player who plays as is best; else -1
    rounds: int  # of all levels

    @property
    def middle(self) -> Floats:
        """Middle of both bounds, (C, H)."""
        return self.lower / 2 + self.upper / 2

    @property
    def error(self) -> float:
        """Largest distance of a value from the middle of its bounds."""
        return float((self.upper / 2 - self.lower / 2).max())


class Interval(NamedTuple):
    """Bounds on one payoff."""

    lower: float
    upper: float


def enclose(
    graph: Graph,
    policies: Sequence[Policy] = (None, None),
    rounds: int = MOST_ROUNDS,
    deadline: Deadline = FOREVER,
) -> Enclosure:
    """Bound the value of every state, from below and from above.

    The value of a game in which play may come back to a position is a fixed point of one turn's
    play, which is monotone: iterates that begin below it stay below, and rise (value iteration;
    from both sides, Haddad and Monmege 2014). Each is lowered by what rounding may add. Where
    players can stay for ever such iterates may stop short of the value, and bounds also fall to it
    (:mod:`hogeq.kernels.bounds`). Both hold at any time.

    Parameters
    ----------
    policies : sequence of float64 (R, K) or None
        What players 0 and 1 play, or None: they see everything, and choose what is best.
    rounds : int
        Most rounds of a level that recurs.
    deadline : Deadline
        When it is over, levels that are left have one round each.
    """
    from hogeq.kernels.bounds import LEVEL, MAXIMISE, MINIMISE, PLAY, TOTAL, bound_below

    played = [np.zeros((1, graph.num_actions)) if one is None else one for one in policies]
    tables = tuple(_table(one) for one in (*played, graph.fixed))
    shape = graph.positions, graph.memories
    safe, best = np.zeros(shape, np.uint8), np.zeros(1, np.int64)
    found: dict[int, tuple[Floats, NDArray[np.int32], int]] = {}
    endless = 0.0 if graph.endless is None else graph.endless
    settled = SETTLED * float(np.abs(graph.paid).max())
    above, kept = np.zeros(shape), np.zeros(shape, np.int32)
    signs = [(0, 1.0), (1, -1.0)]
    if graph.recurring.any():  # what the bounds of the first fall from is known at the end
        signs.append((0, 1.0))
    for good, sign in signs:
        if good in found and deadline.is_over:
            break
        acts = [PLAY if one is not None else MINIMISE for one in policies]
        if policies[good] is None:
            acts[good] = MAXIMISE
        helping = [PLAY if one is not None else MAXIMISE for one in policies]
        bound, chosen = np.zeros(shape), np.full(shape, -1, np.int32)
        turns, falls = _turns(graph, sign), bool(found)
        least = float(_rounded_down(sign * graph.paid).min())
        at = np.zeros(4, np.int64)
        at[LEVEL] = len(graph.level) - 2
        while at[LEVEL] >= 0:
            bound_below(
                turns, np.array([*acts, PLAY]), np.array([*helping, PLAY]), tables,
                least, float(_rounded_down(sign * endless)), rounds, settled, falls,
                bound, chosen, above, kept, safe, best, at, STATES, deadline.is_over,
            )  # fmt: skip
        above = -bound
        found[good] = bound, chosen, int(at[TOTAL])
    (lower, first, one), (upper, second, two) = found[0], found[1]
    player = graph.player[:, None]
    chosen = np.where(player == 0, first, np.where(player == 1, second, -1)).astype(np.int32)
    return Enclosure(lower, -upper, chosen, one + two)


def start_of(graph: Graph, found: Enclosure) -> Interval:
    """Bound the payoff to player 0 from the start."""
    places = graph.start[:, 0], graph.start[:, 1]
    if len(graph.start) == 1:
        return Interval(float(found.lower[places][0]), float(found.upper[places][0]))
    margin = (2 * len(graph.start) + 8) * 2.0**-53
    ends = []
    for bound, sign in ((found.lower, -1.0), (found.upper, 1.0)):
        worth = graph.start_chance * bound[places]
        moved = worth.sum() + sign * margin * np.abs(worth).sum()
        ends.append(float(moved / graph.start_chance.sum()))
    return Interval(*ends)


class Turns(NamedTuple):
    """Arrays of a graph, as kernels take them; payoffs are those of one player."""

    level: Any
    recurring: Any
    player: Any
    row: Any
    situation: Any
    way: Any
    lane: Any
    following: Any
    first: Any
    chance: Any
    end: Any
    place: Any
    next: Any
    label: Any
    payoff: Any


def _table(policy: Floats) -> Floats:
    """Give a policy as kernels take it: they are compiled once, for arrays that are not written."""
    table = np.ascontiguousarray(policy, np.float64).view()
    table.flags.writeable = False
    return table


def _rounded_down(payoffs: Any) -> Any:
    """Lower payoffs that may stand for a smaller number, as 0.1 does for 1/10."""
    in_steps = np.ldexp(payoffs, FINE)
    return np.where(in_steps == np.rint(in_steps), payoffs, np.nextafter(payoffs, -np.inf))


def _turns(graph: Graph, sign: float) -> Turns:
    arrays = {name: getattr(graph, name) for name in Turns._fields if name != "payoff"}
    arrays["recurring"] = graph.recurring.astype(np.uint8)
    return Turns(**arrays, payoff=_rounded_down(sign * graph.payoff))
