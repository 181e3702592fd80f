"""The turns of a game, diagonal by diagonal, for counting and for backward induction.

Sizes: G goal, K actions, W records of one turn.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hogeq.rules import Rules
from hogeq.rules.memory import Memory, memory_sizes
from hogeq.rules.outcomes import TurnTable
from hogeq.support.aliases import Floats, Ints

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine


class RolledColumns(NamedTuple):
    """What rolling one kind of dice can leave: distinct pairs of gain and record, in columns."""

    gain: Ints
    """(m,) points, the bonus added."""
    recorded: Ints
    """(m,)"""
    chance: Floats
    """(2 * K, m) probability, by bonus (no, yes) and roll; 0 for no dice."""


class Diagonals:
    """Turns of one game as arrays, for all cells of one sum of scores (a diagonal) at once.

    A turn raises the sum of the scores, so a diagonal leads to later ones only. An *afterstate*
    (t, u) is the mover's score with points and bonus, and the opponent's.
    """

    def __init__(self, rules: Rules) -> None:
        self.turns = turns = TurnTable(rules)
        self.goal, self.num_actions = rules.goal, rules.max_dice + 1
        self.records = memory_sizes(rules)[2]
        added = np.array(
            [
                [
                    turns.memory_effect(Memory(own=own), roll).bonus
                    for roll in range(self.num_actions)
                ]
                for own in range(self.records)
            ]
        )
        self.fires = added > 0  # (W, K)
        self.bonus = int(added.max())
        scores = range(self.goal)
        free = [[turns.free(own, opponent) for opponent in scores] for own in scores]
        self.zero = np.array([[branch.points for branch in row] for row in free])
        self.zero_record = np.array([[branch.record for branch in row] for row in free])
        sides = [turns.dice_sides(total, 0, Memory()) for total in range(2 * self.goal - 1)]
        kinds = {kind: self._rolled(kind) for kind in dict.fromkeys(sides)}
        self.rolled = [kinds[kind] for kind in sides]  # Hog Wild depends on the sum alone
        self._land()

    def _rolled(self, sides: int) -> RolledColumns:
        columns: dict[tuple[int, int], int] = {}
        found: list[tuple[int, int, float]] = []
        for extra in (0, 1):
            for roll in range(1, self.num_actions):
                for points, _, recorded, chance in self.turns.branches(roll, sides):
                    key = points + extra * self.bonus, recorded
                    column = columns.setdefault(key, len(columns))
                    found.append((extra * self.num_actions + roll, column, float(chance)))
        chances = np.zeros((2 * self.num_actions, len(columns)))
        for row, column, share in found:
            chances[row, column] = share
        gain, recorded = np.array(list(columns), np.int64).T
        return RolledColumns(gain, recorded, chances)

    def _land(self) -> None:
        """Tabulate the afterstates that win, and the cells to which the others lead."""
        most = max(int(rolled.gain.max()) for rolled in self.rolled)
        top = self.goal + max(most, int(self.zero.max()) + self.bonus)
        self.won = np.zeros((top, self.goal))  # 1 if the mover has won
        rows = []
        for own in range(top):
            for opponent in range(self.goal):
                landing = self.turns.land(own, opponent)
                if landing.winner is None:
                    cell = landing.opponent * self.goal + landing.score
                    rows.append((landing.score + landing.opponent, own, opponent, cell))
                else:
                    self.won[own, opponent] = landing.winner == 0
        rows.sort()
        totals, *self._open = np.array(rows, np.int64).T
        self._open_from = np.searchsorted(totals, np.arange(2 * self.goal))

    def cells(self, total: int) -> tuple[Ints, Ints]:
        """Own and opponent's scores of a diagonal."""
        own = np.arange(max(0, total - self.goal + 1), min(total, self.goal - 1) + 1)
        return own, total - own

    def arrivals(self, total: int) -> tuple[Ints, Ints, Ints]:
        """Afterstates (t, u) whose next mover is on a diagonal, and the cell where each is."""
        here = slice(self._open_from[total], self._open_from[total + 1])
        own, opponent, cell = (column[here] for column in self._open)
        return own, opponent, cell


def countable(game: "HogEngine") -> bool:
    """Whether memory states can be counted: turns alternate, and every turn scores."""
    try:
        diagonals_of(game)
    except ValueError:
        return False
    return True


def diagonals_of(game: "HogEngine") -> Diagonals:
    """Diagonals of a game, made once."""
    rules = game.rules
    turns, extras, _ = memory_sizes(rules)
    if rules.memory != "none":
        raise ValueError(
            f"delta distribution: rules {rules.name} remember more (memory is {rules.memory}); "
            "allowed: rules whose only memory is that of Feral Hogs"
        )
    if turns > 1 or extras > 1 or rules.gives_extra_turns:
        raise ValueError(
            f"delta distribution: rules {rules.name} give extra turns; allowed: rules whose "
            "turns alternate and whose only memory is that of Feral Hogs"
        )
    if rules.piggy_back or game.positions_recur:
        raise ValueError(
            f"delta distribution: a turn can score 0 by rules {rules.name}; allowed: rules "
            "under which every turn scores"
        )
    return _diagonals(rules)


@lru_cache(maxsize=4)
def _diagonals(rules: Rules) -> Diagonals:
    return Diagonals(rules)
