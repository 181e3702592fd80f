"""Slow, obvious twins of the exact passes, written from the rules of single turns alone.

Nothing here knows of arrays, kernels or compiled games. Numbers are floats, exact fractions, or
arrays of floats: whatever a policy holds is added and multiplied as it comes. Games in which a
turn can leave the scores' sum as it was are refused.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.rules import Rules
from hogeq.rules.memory import Memory, memory_sizes, next_memory, record
from hogeq.rules.turn import bonus, dice_sides, given, land, points_distribution, trots, zero_points

TIE = 1e-12


class State(NamedTuple):
    """All that matters to the player to move."""

    own: int
    opponent: int
    memory: Memory = Memory()


class Branch(NamedTuple):
    """One way in which a turn can end."""

    chance: Fraction
    points: int
    winner: int | None
    """0 the mover, 1 the opponent, None while the game goes on."""
    state: State
    """Of whoever moves next; meaningless once the game is over."""
    again: bool


class Play:
    """What turns can do in one game."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._known: dict[tuple[State, int], list[Branch]] = {}
        self._land = cache(lambda score, opponent: land(rules, score, opponent))
        self._distribution = cache(lambda dice, sides: points_distribution(rules, dice, sides))

    def branches(self, state: State, dice: int) -> list[Branch]:
        """List what can come of rolling this many dice."""
        if (state, dice) not in self._known:
            self._known[state, dice] = list(self._branches(state, dice))
        return self._known[state, dice]

    def _branches(self, state: State, dice: int) -> Iterator[Branch]:
        rules, (own, opponent, memory) = self.rules, state
        ways = {zero_points(rules, opponent): Fraction(1)}
        if dice:
            ways = self._distribution(dice, dice_sides(rules, own, opponent, memory))
        for points, chance in ways.items():
            extra = bonus(rules, memory, dice)
            there = self._land(own + points + extra, opponent + given(rules, dice, points))
            again = there.winner is None and (there.again or trots(rules, memory, dice))
            after = next_memory(rules, memory, record(rules, dice, points), again)
            mine, theirs = there.score, there.opponent
            following = State(mine, theirs, after) if again else State(theirs, mine, after)
            if there.winner is None and mine + theirs <= own + opponent:
                raise ValueError("naive: a turn may leave the scores' sum as it was")
            yield Branch(chance, points, there.winner, following, again)

    def rolls(self) -> range:
        return range(self.rules.max_dice + 1)

    def states(self) -> list[State]:
        """List every hidden state, reachable or not, in the order of a compiled game's arrays."""
        turns, extras, records = memory_sizes(self.rules)
        parts = (range(turns), range(extras), range(records), range(records))
        memories = [Memory(*values) for values in product(*parts)]
        scores = range(self.rules.goal)
        return [State(*cell, memory) for cell in product(scores, scores) for memory in memories]


class Match:
    """Two players, 0 and 1, each with a policy ``[own][opponent][dice]``.

    None for a policy is a player who remembers everything and plays best.
    """

    def __init__(self, play: Play, a: Any, b: Any) -> None:
        self.play = play
        self.policies = (a, b)
        self._values: dict[tuple[int, State], Any] = {}
        self._turns: dict[tuple[int, State], Any] = {}

    def value(self, player: int, state: State) -> Any:
        """Probability that `player`, to move, wins."""
        key = (player, state)
        if key not in self._values:
            actions = [self.action_value(player, state, dice) for dice in self.play.rolls()]
            policy = self.policies[player]
            if policy is None:
                self._values[key] = max(actions)
            else:
                row = policy[state.own][state.opponent]
                self._values[key] = sum(p * v for p, v in zip(row, actions, strict=True))
        return self._values[key]

    def action_value(self, player: int, state: State, dice: int) -> Any:
        """Probability that `player` wins after rolling this many dice."""
        total: Any = 0
        for winner, after, again, chance in self._weighed(state, dice):
            if winner is not None:
                total = total + chance * (1 - winner)
            elif again:
                total = total + chance * self.value(player, after)
            else:
                total = total + chance * (1 - self.value(1 - player, after))
        return total

    def _weighed(self, state: State, dice: int) -> Iterator[tuple[int | None, State, bool, Any]]:
        # Exact fractions stay exact; everything else is computed in floats.
        exact = any(
            policy is not None and isinstance(policy[0][0][0], Fraction) for policy in self.policies
        )
        for branch in self.play.branches(state, dice):
            chance = branch.chance if exact else float(branch.chance)
            yield branch.winner, branch.state, branch.again, chance

    def best_roll(self, player: int, state: State) -> int:
        """Fewest dice among the best, within 1e-12."""
        actions = [self.action_value(player, state, dice) for dice in self.play.rolls()]
        return next(dice for dice, value in enumerate(actions) if value >= max(actions) - TIE)

    def win_rate(self) -> tuple[Any, Any, Any]:
        """Win rate of player 0: on average, moving first, moving second."""
        first = self.value(0, State(0, 0))
        second = 1 - self.value(1, State(0, 0))
        return (first + second) / 2, first, second

    def reach(self) -> Mapping[tuple[int, State], Any]:
        """Probability of meeting each state, by the player to move; a fair coin says who starts."""
        found: dict[tuple[int, State], Any] = defaultdict(int)
        for player in (0, 1):
            found[player, State(0, 0)] = Fraction(1, 2)
        for total in range(2 * self.play.rules.goal - 1):
            here = [key for key in found if key[1].own + key[1].opponent == total]
            for player, state in here:
                row = self.policies[player][state.own][state.opponent]
                for dice in self.play.rolls():
                    for winner, after, again, chance in self._weighed(state, dice):
                        if winner is None:
                            mover = player if again else 1 - player
                            found[mover, after] += found[player, state] * row[dice] * chance
        return found

    def expected_turns(self, player: int, state: State) -> Any:
        """Count the turns still to come of both players together, `player` to move."""
        key = (player, state)
        if key not in self._turns:
            total: Any = 1
            row = self.policies[player][state.own][state.opponent]
            for dice in self.play.rolls():
                for winner, after, again, chance in self._weighed(state, dice):
                    if winner is None:
                        mover = player if again else 1 - player
                        total = total + row[dice] * chance * self.expected_turns(mover, after)
            self._turns[key] = total
        return self._turns[key]


def arrays(play: Play, of: Callable[[State], Any]) -> NDArray[np.float64]:
    """Tabulate a function of the state, shape (G, G, H, ...)."""
    goal = play.rules.goal
    found = np.array([of(state) for state in play.states()], dtype=np.float64)
    return found.reshape(goal, goal, -1, *found.shape[1:])


def counterfactual(
    play: Play, a: Any, b: Any, *, own_reach: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counterfactual value of every roll (G, G, K) of player 0, and the weights' sum (G, G).

    Hidden states are weighted by their reach, with or without the player's own rolls.
    """
    goal = play.rules.goal
    match = Match(play, a, b)
    ones = np.ones((goal, goal, len(play.rolls())))
    weights = (match if own_reach else Match(play, ones, b)).reach()
    values = np.zeros_like(ones)
    infoset_reach = np.zeros((goal, goal))
    for (player, state), weight in weights.items():
        if player == 0:
            infoset_reach[state[:2]] += float(weight)
            for dice in play.rolls():
                values[(*state[:2], dice)] += float(weight) * match.action_value(0, state, dice)
    return values, infoset_reach


def reachable_cells(play: Play, b: Any) -> list[tuple[int, int]]:
    """Cells at which player 0 can come to move, whatever player 0 does."""
    goal = play.rules.goal
    anything = np.ones((goal, goal, len(play.rolls())))
    weights = Match(play, anything, b).reach()
    return sorted(
        {state[:2] for (player, state), weight in weights.items() if player == 0 < weight}
    )


def every_matrix_wins(
    play: Play, b: Any
) -> tuple[list[tuple[int, int]], NDArray[np.int64], NDArray[np.float64]]:
    """Win rate of every matrix there is, against a policy.

    Returns
    -------
    cells : list of n cells
        Those that matter; what a matrix says elsewhere never does.
    rolls : int (m, n)
        The m = K ** n matrices, by cell.
    rates : float (m,)
    """
    goal, number = play.rules.goal, len(play.rolls())
    cells = reachable_cells(play, b)
    rolls = np.array(list(product(play.rolls(), repeat=len(cells))))
    policy = np.zeros((goal, goal, number, len(rolls)))
    policy[:, :, 0] = 1.0
    for cell, chosen in zip(cells, rolls.T, strict=True):
        policy[cell] = np.equal.outer(np.arange(number), chosen)
    return cells, rolls, np.asarray(Match(play, policy, b).win_rate()[0])
