"""Turns that leave both scores as they were, in a game without memory: pairs of cells.

No dice can score nothing. The other player then moves at the mirrored cell, of the same diagonal,
and may stay as well: two cells that feed each other. If a row wins a when it leaves, and stays with
probability w, and those of the other player there are b and x, then the row wins

    V = a + w (1 - (b + x (1 - V)))

Visits are found likewise. Two players who never leave share a game that never ends, a draw.
"""

from hogeq.kernels.shuffles import gathered
from hogeq.kernels.staged import ramp

REST, STAY, LEAVE, WON = range(4)  # rows of numbers that are kept of a player
MOST_ROUNDS = 100  # of changes within a diagonal: few are needed, and none may go on for ever


class Pairs:
    """What is kept of the cells of a diagonal, by opponent's score: rows of every seat."""

    def __init__(self, diagonal, numbers, stays):
        self.diagonal, self.code = diagonal, diagonal.code
        self._numbers, self._stays = numbers, stays

    def row(self, seat, what):
        """Return one row of a seat."""
        return self._numbers[(seat * 4 + what) * self.diagonal.board.width :]

    def can_stay(self, here):
        """Read 1 where no dice stay, else 0."""
        return self._stays.vector(self.diagonal.total * self.diagonal.board.width + here.opponent)

    def keep(self, here, seat, rest, chances):
        """Keep what rows win, or how often they are come to, but for staying, and their chances."""
        stay = chances[0] * self.can_stay(here)
        leave = self.code.tree([chances[0] - stay, *chances[1:]])
        for what, vector in ((REST, rest), (STAY, stay), (LEAVE, leave)):
            self.row(seat, what).put(here.opponent, vector)

    def partner(self, here, other, what):
        """Read a row of the other player at the mirrored cells."""
        builder, width = self.code.builder, self.code.width
        own = self.code.spread((self.diagonal.total - here.opponent).value, width)
        return gathered(self.row(other, what), builder.sub(own, ramp(width)), here.is_on_board)

    def win(self, here, seat, other):
        """Find what rows win, staying included."""
        rest, stay, leave = (self.row(seat, x).vector(here.opponent) for x in (REST, STAY, LEAVE))
        rival, leaves = (self.partner(here, other, x) for x in (REST, LEAVE))
        # Who leaves is added up; 1 less that both stay would be less exact.
        leaving = leave + stay * leaves
        won = (rest + stay * (leaves - rival)) / leaving
        won = self.code.like(won, 0.0).where_at_least(leaving, 0.5, won)
        self.row(seat, WON).put(here.opponent, won)

    def worth(self, here, other):
        """Return what no dice win by staying, 0 where they do not."""
        return self.can_stay(here) * (1.0 - self.partner(here, other, WON))

    def visits(self, here, seat, other):
        """Return how often rows are come to, staying included."""
        rest, stay, leave = (self.row(seat, x).vector(here.opponent) for x in (REST, STAY, LEAVE))
        rival, stays, leaves = (self.partner(here, other, x) for x in (REST, STAY, LEAVE))
        leaving = leave + stay * leaves
        visits = (rest + stays * rival) / leaving
        return self.code.like(visits, 0.0).where_at_least(rest + stays * rival, 0.0, visits)
