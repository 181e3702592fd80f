"""Exact evaluation by recursion, slow and obvious, from what single turns can do.

Nothing here knows of tables or kernels. Numbers are floats or, where no position recurs, arrays of
floats: whatever a policy holds is added and multiplied as it comes. Where turns can leave the
scores' sum as it was, positions recur: states that can reach each other are then solved together, a
policy's by its linear equations, best play by value iteration from both sides.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.twin.turn import Branch, Play, State

TIE = 1e-12
SETTLED = 2.3e-16
ENDLESS = "twin: the game may never end"
Key = tuple[int, State]
"""The player to move, and the state."""


class Match:
    """Two players, 0 and 1, each with a policy ``[own][opponent][dice]``.

    None for a policy is a player who remembers everything and plays best. `endless` is what a game
    that never ends is worth to player 0; if None, games that may never end are refused.
    """

    def __init__(self, play: Play, a: Any, b: Any, endless: float | None = None) -> None:
        self.play = play
        self.plays = (play, play.of_second())
        self.policies = (a, b)
        self.endless = endless
        self._rows: dict[tuple[int, int, int], list[tuple[int, Any]]] = {}
        self._won: dict[Key, Any] = {}

    # --- what players do --------------------------------------------------------------------------

    def _rolls(self, key: Key) -> list[tuple[int, Any]]:
        """List what may be rolled, with how likely that is; None, if the best is."""
        player, (own, opponent, _) = key
        if (player, own, opponent) not in self._rows:
            policy = self.policies[player]
            row = [None] * len(self.play.rolls()) if policy is None else policy[own][opponent]
            self._rows[player, own, opponent] = [
                (dice, weight)
                for dice, weight in zip(self.play.rolls(), row, strict=True)
                if weight is None or np.any(weight)
            ]
        return self._rows[player, own, opponent]

    @staticmethod
    def following(player: int, branch: Branch) -> Key:
        """Say who moves next, and from where."""
        return (player if branch.again else 1 - player), branch.state

    def _staying(self, key: Key) -> set[Key]:
        """Find the states that one turn can come to with the sum of scores as it is."""
        found: set[Key] = set()
        for dice, _ in self._rolls(key):
            for branch in self.plays[key[0]].staying(key[1], dice):
                found.add(self.following(key[0], branch))
        return found

    def _together(self, start: Iterable[Key]) -> dict[Key, set[Key]]:
        """Find all that can be come to without the sum of scores rising, with what follows each."""
        found: dict[Key, set[Key]] = {}
        waiting = list(start)
        while waiting:
            key = waiting.pop()
            if key not in found:
                found[key] = self._staying(key)
                waiting.extend(found[key])
        return found

    # --- who wins ---------------------------------------------------------------------------------

    def value(self, player: int, state: State) -> Any:
        """Probability that `player`, to move, wins."""
        won = self._wins((player, state))
        return won if player == 0 else 1 - won

    def action_value(self, player: int, state: State, dice: int) -> Any:
        """Probability that `player` wins after rolling this many dice."""
        won = self._after((player, state), dice)
        return won if player == 0 else 1 - won

    def best_roll(self, player: int, state: State) -> int:
        """Fewest dice among the best, within 1e-12."""
        actions = [self.action_value(player, state, dice) for dice in self.play.rolls()]
        first = next(place for place, value in enumerate(actions) if value >= max(actions) - TIE)
        return self.play.rolls()[first]

    def win_rate(self) -> tuple[Any, Any, Any]:
        """Win rate of player 0: on average, moving first, moving second."""
        first = self._wins((0, self.play.start))
        second = self._wins((1, self.play.start))
        return (first + second) / 2, first, second

    def _wins(self, key: Key) -> Any:
        """Probability that player 0 wins."""
        if key not in self._won:
            if not self._staying(key):
                self._won[key] = self._chosen(key)
            elif any(weight is None for weight in self._weights(key)):
                self._settle_best(list(self._together([key])))
            else:
                self._settle(key)
        return self._won[key]

    def _weights(self, key: Key) -> list[Any]:
        return [weight for one in self._together([key]) for _, weight in self._rolls(one)]

    def _chosen(self, key: Key) -> Any:
        total: Any = 0
        found = []
        for dice, weight in self._rolls(key):
            won = self._after(key, dice)
            found.append(won)
            if weight is not None:
                total = total + weight * won
        if self.policies[key[0]] is not None:
            return total
        return max(found) if key[0] == 0 else min(found)

    def _after(self, key: Key, dice: int) -> Any:
        player, state = key
        total: Any = 0
        for branch in self.plays[player].branches(state, dice):
            chance = float(branch.chance)
            if branch.winner is None:
                total = total + chance * self._wins(self.following(player, branch))
            elif branch.winner == player:
                total = total + chance
        return total

    # --- positions that recur ---------------------------------------------------------------------

    def _settle(self, start: Key) -> None:
        """Solve the linear equations of all states that a state can stay among."""
        together = self._together([start])
        never = self._never_ending(together)
        if never and self.endless is None:
            raise ValueError(ENDLESS)
        self._won.update(dict.fromkeys(never, self.endless))
        keys = [key for key in together if key not in never]
        index = {key: place for place, key in enumerate(keys)}
        matrix, right = np.zeros((len(keys), len(keys))), np.zeros(len(keys))
        for key, row in index.items():
            matrix[row, row] += 1
            for dice, weight in self._rolls(key):
                for branch in self.plays[key[0]].branches(key[1], dice):
                    share = weight * float(branch.chance)
                    following = self.following(key[0], branch)
                    if branch.winner is not None:
                        right[row] += share * (branch.winner == key[0])
                    elif following in index:
                        matrix[row, index[following]] -= share
                    else:
                        right[row] += share * self._wins(following)
        self._won.update(zip(keys, np.linalg.solve(matrix, right), strict=True))

    def _never_ending(self, together: Mapping[Key, set[Key]]) -> set[Key]:
        """Find the states from which no turn ever raises the sum of scores."""
        ends: set[Key] = set()
        while True:
            more = {
                key
                for key, following in together.items()
                if key not in ends and (following & ends or self._leaves(key))
            }
            if not more:
                return together.keys() - ends
            ends |= more

    def _leaves(self, key: Key) -> bool:
        play = self.plays[key[0]]
        return any(
            len(play.staying(key[1], dice)) < len(play.branches(key[1], dice))
            for dice, _ in self._rolls(key)
        )

    def _settle_best(self, keys: list[Key]) -> None:
        """Iterate from "player 0 loses what never ends" and from "wins it", which mostly agree.

        Where they do not, what never ends is worth `endless`, from which it is iterated then.
        """
        index = {key: place for place, key in enumerate(keys)}
        number = len(self.play.rolls())
        shape = (len(keys), number)
        fixed, moves, weights = np.zeros(shape), np.zeros((*shape, len(keys))), np.zeros(shape)
        sign = np.zeros(len(keys))  # 1 for a best player 0, -1 for a best player 1, 0 for a policy
        for key, row in index.items():
            player, state = key
            sign[row] = 0 if self.policies[player] is not None else 1 - 2 * player
            for dice, weight in self._rolls(key):
                weights[row, dice] = 1 if weight is None else weight
                for branch in self.plays[player].branches(state, dice):
                    chance, following = float(branch.chance), self.following(player, branch)
                    if branch.winner is not None:
                        fixed[row, dice] += chance * (branch.winner == player)
                    elif following in index:
                        moves[row, dice, index[following]] += chance
                    else:
                        fixed[row, dice] += chance * self._wins(following)

        def improved(won: NDArray[np.float64]) -> NDArray[np.float64]:
            rolls = fixed + moves @ won
            mean = (weights * rolls).sum(axis=1)
            return np.asarray(
                np.where(sign > 0, rolls.max(axis=1), np.where(sign < 0, rolls.min(axis=1), mean))
            )

        def settled(won: NDArray[np.float64]) -> NDArray[np.float64]:
            for _ in range(100_000):
                before, won = won, improved(won)
                if np.abs(won - before).max() <= SETTLED:
                    break
            return won

        low, high = settled(np.zeros(len(keys))), settled(np.ones(len(keys)))
        found = (low + high) / 2
        if (high - low).max() > 1e-13:
            if self.endless is None:
                raise ValueError("twin: the value depends on who wins a game that never ends")
            found = settled(np.full(len(keys), self.endless))
        self._won.update(zip(keys, found.tolist(), strict=True))

    # --- what is met ------------------------------------------------------------------------------

    def reach(self) -> Mapping[Key, Any]:
        """Count expected visits to each state, by the player to move; a fair coin says who starts.

        Where no position recurs these are probabilities.
        """
        found: dict[Key, Any] = defaultdict(float)
        for player in (0, 1):
            found[player, self.play.start] = 0.5
        for total in range(2 * self.play.goal - 1):
            here = [key for key in found if key[1].own + key[1].opponent == total]
            together = self._together(here)
            if any(together.values()):
                self._recurring_reach(found, together)
            for key in together:
                player, state = key
                for dice, weight in self._rolls(key):
                    for branch in self.plays[player].branches(state, dice):
                        following = self.following(player, branch)
                        if branch.winner is None and following not in together:
                            found[following] += found[key] * weight * float(branch.chance)
        return found

    def _recurring_reach(self, found: dict[Key, Any], together: Mapping[Key, set[Key]]) -> None:
        if self._never_ending(together):
            raise ValueError(ENDLESS)
        index = {key: place for place, key in enumerate(together)}
        matrix = np.zeros((len(index), len(index)))
        for key, row in index.items():
            matrix[row, row] += 1
            for dice, weight in self._rolls(key):
                for branch in self.plays[key[0]].branches(key[1], dice):
                    following = self.following(key[0], branch)
                    if branch.winner is None and following in index:
                        matrix[index[following], row] -= weight * float(branch.chance)
        inflow = np.array([found.get(key, 0.0) for key in index])
        found.update(zip(index, np.linalg.solve(matrix, inflow), strict=True))


def can_stay_for_ever(play: Play) -> bool:
    """Say whether there are states among which rolls can keep a game for certain, for ever."""
    plays = play, play.of_second()
    left = {(player, state) for player in (0, 1) for state in plays[player].states()}
    while True:
        stays = {key for key in left if _kept_within(plays[key[0]], left, key)}
        if stays == left:
            return bool(left)
        left = stays


def _kept_within(play: Play, left: set[Key], key: Key) -> bool:
    """Say whether some roll stays for certain, and within these states."""
    for dice in play.rolls():
        staying = play.staying(key[1], dice)
        certain = len(staying) == len(play.branches(key[1], dice))
        if certain and all(Match.following(key[0], branch) in left for branch in staying):
            return True
    return False


def arrays(play: Play, of: Callable[[State], Any]) -> NDArray[np.float64]:
    """Tabulate a function of the state, shape (G, G, H, ...)."""
    found = np.array([of(state) for state in play.states()], dtype=np.float64)
    return found.reshape(*play.goals, -1, *found.shape[1:])


def counterfactual(
    play: Play, a: Any, b: Any, *, own_reach: bool, endless: float | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counterfactual value of every roll (G, G, K) of player 0, and the weights' sum (G, G).

    Hidden states are weighted by their reach, with or without the player's own rolls.
    """
    goal = play.goal
    match = Match(play, a, b, endless)
    anything = np.ones((goal, goal, len(play.rolls())))
    weights = (match if own_reach else Match(play, anything, b)).reach()
    values = np.zeros_like(anything)
    infoset_reach = np.zeros((goal, goal))
    for (player, state), weight in weights.items():
        if player == 0:
            infoset_reach[state[:2]] += float(weight)
            for dice in play.rolls():
                values[(*state[:2], dice)] += float(weight) * match.action_value(0, state, dice)
    return values, infoset_reach


def reachable_cells(play: Play, b: Any) -> list[tuple[int, int]]:
    """Cells at which player 0 can come to move, whatever player 0 does."""
    anything = np.full((play.goal, play.goal, len(play.rolls())), 1.0 / len(play.rolls()))
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
    number = len(play.rolls())
    cells = reachable_cells(play, b)
    rolls = np.array(list(product(play.rolls(), repeat=len(cells))))
    policy = np.zeros((play.goal, play.goal, number, len(rolls)))
    policy[:, :, 0] = 1.0
    for cell, chosen in zip(cells, rolls.T, strict=True):
        policy[cell] = np.equal.outer(np.arange(number), chosen % number)
    return cells, rolls, np.asarray(Match(play, policy, b).win_rate()[0])
