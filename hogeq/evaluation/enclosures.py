"""Values of all states of a graph between two bounds that are proved, rounding included.

Each player plays a policy, or sees everything and plays as is best: two who do have the value of
the game with full information, one who does has the best response that remembers everything.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.rounding import EXACT_BITS
from hogeq.graph.graph import Graph
from hogeq.kernels.arrays import (
    MAXIMISE,
    MEAN_ROUNDINGS,
    MINIMISE,
    PLAY,
    BoundRule,
    Conduct,
    LevelGraph,
    StateBounds,
)
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.floats import UNIT_ROUNDOFF
from hogeq.support.short_fractions import WHOLE, stands_for_itself

MOST_ROUNDS: Final = 100_000  # of a level that recurs
STATES_PER_LOOK: Final = 200_000  # states whose values are computed between looks at the clock
LEAST_RISE: Final = 2.0**-60  # share of the largest payoff; a smaller rise of bounds is of no use

Policy = Floats | None


class Enclosure(NamedTuple):
    """Payoff to player 0 in every state: C positions, H memories."""

    lower: Floats  # (C, H)
    upper: Floats  # (C, H)
    chosen: NDArray[np.int32]  # (C, H), action of a player who plays as is best; else -1
    rounds: int  # of all levels

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
    deadline : Deadline
        When it is over, levels that are left have one round each.
    """
    # Player 1 gets what player 0 loses: a lower bound of one is an upper bound of the other.
    first = _lower_bound(graph, policies, player=0, upper=None, deadline=deadline)
    second = _lower_bound(graph, policies, player=1, upper=-first.payoffs, deadline=deadline)
    if graph.recurring.any() and not deadline.is_over:
        # Again with these upper bounds, from which lower ones may fall where players can stay.
        first = _lower_bound(graph, policies, player=0, upper=-second.payoffs, deadline=deadline)
    is_mover = [graph.player[:, None] == player for player in (0, 1)]
    chosen = np.select(is_mover, [first.chosen, second.chosen], -1).astype(np.int32)
    return Enclosure(first.payoffs, -second.payoffs, chosen, first.rounds + second.rounds)


def start_of(graph: Graph, enclosure: Enclosure) -> Interval:
    """Bound the payoff to player 0 at the start of a game, a state that chance draws.

    `enclosure` has the bounds in all states. The mean is rounded outward.
    """
    positions, memories = graph.start.T
    lower = enclosure.lower[positions, memories]
    upper = enclosure.upper[positions, memories]
    if len(graph.start) == 1:
        return Interval(float(lower[0]), float(upper[0]))
    # Relative to the sum of all sizes, the error of a mean of n numbers: see MEAN_ROUNDINGS.
    rounding = (2 * len(graph.start) + MEAN_ROUNDINGS) * UNIT_ROUNDOFF
    lower_terms = graph.start_chance * lower
    upper_terms = graph.start_chance * upper
    least_sum = lower_terms.sum() - rounding * np.abs(lower_terms).sum()
    largest_sum = upper_terms.sum() + rounding * np.abs(upper_terms).sum()
    total_chance = graph.start_chance.sum()
    return Interval(float(least_sum / total_chance), float(largest_sum / total_chance))


class _LowerBound(NamedTuple):
    """What a player gets at least in every state."""

    payoffs: Floats  # (C, H), to that player
    chosen: NDArray[np.int32]  # (C, H), action that last raised a payoff; -1: a policy moves
    rounds: int  # of all levels


def _lower_bound(
    graph: Graph,
    policies: Sequence[Policy],
    player: int,
    upper: Floats | None,
    deadline: Deadline,
) -> _LowerBound:
    """Bound from below the payoff to a player in every state: by value iteration, level by level.

    `upper` (C, H) are upper bounds on the same payoffs, which may fall to them where play recurs;
    None if none are known. The kernel takes for each player and nature a code of what it does:
    maximise, minimise, or play a policy. It returns now and then, so that the time can be checked.
    """
    from hogeq.kernels.bounds import LEVEL, TOTAL, bound_below

    acts = [MINIMISE if policy is None else PLAY for policy in policies]
    if policies[player] is None:
        acts[player] = MAXIMISE
    # Staying for ever in a level takes both players: what the two could do together.
    staying = [MAXIMISE if policy is None else PLAY for policy in policies]
    tables = _tables_of_players(graph, policies)
    sign = 1.0 if player == 0 else -1.0
    endless = 0.0 if graph.endless is None else graph.endless
    rule = BoundRule(
        least_payoff=float(_rounded_down(sign * graph.paid).min()),
        endless_payoff=float(_rounded_down(sign * endless)),
        most_rounds=MOST_ROUNDS,
        least_rise=LEAST_RISE * float(np.abs(graph.paid).max()),
        falls=upper is not None,
    )
    bounds = _new_bounds((graph.positions, graph.memories), upper)
    progress = np.zeros(4, np.int64)  # where the kernel goes on when it is called again
    progress[LEVEL] = len(graph.level) - 2  # the last level; levels are done backward
    arguments = (
        _level_graph(graph, sign),
        Conduct(np.array([*acts, PLAY]), tables),
        Conduct(np.array([*staying, PLAY]), tables),
        rule,
        bounds,
        progress,
        STATES_PER_LOOK,
    )
    while progress[LEVEL] >= 0:
        bound_below(*arguments, deadline.is_over)
    return _LowerBound(bounds.lower, bounds.chosen, int(progress[TOTAL]))


def _tables_of_players(graph: Graph, policies: Sequence[Policy]) -> tuple[Floats, ...]:
    """Give the policies of both players and of nature as kernels take them; one stands for None."""
    unused_policy = np.zeros((1, graph.num_actions))
    played = [unused_policy if policy is None else policy for policy in policies]
    return tuple(_table(policy) for policy in (*played, graph.fixed))


def _new_bounds(shape: tuple[int, int], upper: Floats | None) -> StateBounds:
    """Make the arrays (C, H) that the kernel of lower bounds fills, state by state.

    Where upper bounds are known, the lower ones fall from them.
    """
    return StateBounds(
        lower=np.zeros(shape),
        chosen=np.full(shape, -1, np.int32),
        start=np.zeros(shape) if upper is None else upper,
        chosen_before=np.zeros(shape, np.int32),
        is_safe=np.zeros(shape, np.uint8),
        best=np.zeros(1, np.int64),
    )


def _table(policy: Floats) -> Floats:
    """Give a policy as kernels take it: they are compiled once, for arrays that are not written."""
    table = np.ascontiguousarray(policy, np.float64).view()
    table.flags.writeable = False
    return table


def _rounded_down(payoffs: Any) -> Any:
    """Lower payoffs that may stand for a smaller number, as 0.1 does for 1/10."""
    in_units = np.ldexp(payoffs, EXACT_BITS)
    is_exact = np.asarray(in_units == np.rint(in_units))
    # A large one may be whole in these units since doubles have no others there: 1e10 + 1/10.
    is_in_doubt = is_exact & ((payoffs != np.rint(payoffs)) | (np.abs(payoffs) > WHOLE))
    is_exact[is_in_doubt] = [*map(stands_for_itself, np.asarray(payoffs)[is_in_doubt].tolist())]
    return np.where(is_exact, payoffs, np.nextafter(payoffs, -np.inf))


def _level_graph(graph: Graph, sign: float) -> LevelGraph:
    """Give a graph to kernels, with payoffs to player 0 if `sign` is 1.0, to player 1 if -1.0."""
    has_action: NDArray[np.bool_] = np.logical_or.reduce(graph.way >= 0, axis=1)  # (S, K)
    actions_after_last = has_action[:, ::-1].argmax(axis=1)
    return LevelGraph(
        level_start=graph.level,
        level_recurs=graph.recurring.astype(np.uint8),
        player=graph.player,
        row=graph.row,
        situation=graph.situation,
        action_way=graph.way,
        num_actions=graph.num_actions - actions_after_last,
        lane=graph.lane,
        next_memory=graph.following,
        outcome_start=graph.first,
        outcome_chance=graph.chance,
        outcome_end=graph.end,
        end_start=graph.place,
        next_position=graph.next,
        end_label=graph.label,
        payoff=_rounded_down(sign * graph.payoff),
    )
