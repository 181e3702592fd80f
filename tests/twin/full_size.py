"""Whole games in numpy, one sum of scores after another: for goals that recursion cannot manage.

The same single turns as in `tests.twin.evaluate`, taken for all cells of a diagonal at once. What a
player does is None, for one who remembers everything and plays best, or a number of dice.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.twin.turn import Memory, Play, State

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
TIE = 1e-12
ENDLESS = (0.0, 0.5, 1.0)
"""What a game that never ends is worth to player 0."""

SETTLED = 1e-15
ENOUGH = 10_000
"""Iterations after which a diagonal on which positions recur is given up."""


class Figures(NamedTuple):
    """What the documents ask of an edition."""

    value: float
    """Of the player to move at 0-0, if both remember everything and an endless game counts 1/2."""
    first_roll: int
    """Fewest dice among the best."""
    best_response_to_6: float
    """Win rate of the best player who remembers everything, against always 6."""
    value_if_endless_loses: float
    """As `value`, if whoever moves at 0-0 loses an endless game; `value` where none is worth it."""
    value_if_endless_wins: float


class Whole:
    """One game between two players, 0 and 1."""

    def __init__(self, play: Play, *players: int | None) -> None:
        self.play = play
        self.players = players
        self.symmetric = players == (None, None)
        self.memories = play.memories()
        self.index = {memory: place for place, memory in enumerate(self.memories)}
        goal = play.goal
        shape = (2, goal, goal, len(self.memories))
        # Win probability of player 0, by what a game that never ends is worth and who is to move.
        self.won = np.zeros((len(ENDLESS), *shape))
        self.following, self.ways = cache(self._following), cache(self._ways)
        self.alike = cache(self._alike)
        self._tabulate()
        for total in reversed(range(2 * goal - 1)):
            self._solve(total)

    def _tabulate(self) -> None:
        play, on = self.play, self.play.on
        self.most = 40 + 3 * on["max_dice"] * max(on["sides"], on["extra_turn_sides"] or 0, 6)
        gifts = on["max_dice"] if on["piggy_back"] else 0
        cells = [
            [play.land(score, opponent) for opponent in range(play.goal + gifts)]
            for score in range(play.goal + self.most)
        ]
        self.landing: Ints = np.array(
            [[(there.score, there.opponent, int(there.again)) for there in row] for row in cells]
        )
        self.winner: Ints = np.array(
            [[-1 if there.winner is None else there.winner for there in row] for row in cells]
        )

    def _following(self, memory: Memory, dice: int) -> Ints:
        """Index the memory of whoever moves next, by whether the mover does, and by points."""
        return np.array(
            [
                [
                    self.index[self.play.after(memory, dice, points, again)]
                    for points in range(self.most)
                ]
                for again in (False, True)
            ]
        )

    def _alike(self, memory: Memory, dice: int) -> tuple[int, bool, bytes]:
        play = self.play
        after = self.following(memory, dice).tobytes()
        return play.bonus(memory, dice), play.trots(memory, dice), after

    def _ways(self, total: int, dice: int, memory: Memory) -> list[Any]:
        """Group the cells of a diagonal by what is rolled there: cells, dice, points and so on."""
        play, (own, other) = self.play, self._diagonal(total)
        states = [State(int(s), int(o), memory) for s, o in zip(own, other, strict=True)]
        found = []
        thrown = [(play.sides(s), play.rolled(s, dice), s.own == 49) for s in states]
        for kind in set(thrown):
            cells, rolled = np.array([i for i, one in enumerate(thrown) if one == kind]), kind[1]
            # Without dice the points differ from cell to cell; with them they do not.
            some = cells if dice == 0 else cells[:1]
            here = [play.points(states[cell], rolled) for cell in some]
            points = np.array([list(ways) for ways in here])
            scored = [[n * play.times(memory, rolled, n) for n in ways] for ways in here]
            chance = np.array([float(share) for share in here[0].values()])
            gifts = np.array([[play.gift(rolled, n) for n in ways] for ways in here])
            found.append((cells, rolled, points, np.array(scored), chance, gifts))
        return found

    def _diagonal(self, total: int) -> tuple[Ints, Ints]:
        goal = self.play.goal
        own = np.arange(max(0, total - goal + 1), min(total, goal - 1) + 1)
        return own, total - own

    def _solve(self, total: int) -> None:
        here = self._diagonal(total)
        self.won[:, :, here[0], here[1]] = np.array(ENDLESS).reshape(-1, 1, 1, 1)
        for _ in range(ENOUGH):
            before = self.won[:, :, here[0], here[1]]
            stays = self._improve(total)
            after = self.won[:, :, here[0], here[1]]
            if not stays or np.abs(after - before).max() <= SETTLED:
                return
        raise ValueError(f"twin: the diagonal {total} does not settle")

    def _improve(self, total: int) -> bool:
        """Take every turn of a diagonal once; say whether any can stay on it."""
        own, other = self._diagonal(total)
        found, any_stays = np.zeros((len(ENDLESS), 2, len(own), len(self.memories))), False
        for player, choice in enumerate(self.players):
            if player == 1 and self.symmetric:
                found[:, 1] = 1.0 - found[::-1, 0]
                continue
            rolls = self.play.rolls() if choice is None else range(choice, choice + 1)
            # Memories that a roll leaves alike, bonus and all, are worth the same after it.
            known: dict[Any, tuple[Floats, bool]] = {}
            for place, memory in enumerate(self.memories):
                values = []
                for dice in rolls:
                    like = dice, memory.extra, memory.state, *self.alike(memory, dice)
                    if like not in known:
                        known[like] = self.after(player, total, memory, dice)
                    values.append(known[like][0])
                    any_stays |= known[like][1]
                best = np.max if player == 0 else np.min
                found[:, player, :, place] = best(values, axis=0)
        self.won[:, :, own, other] = found
        return any_stays

    def after(self, player: int, total: int, memory: Memory, dice: int) -> tuple[Floats, bool]:
        """Win probability of player 0 after these dice, (3, cells), and whether some stay."""
        own, other = self._diagonal(total)
        found, any_stays = np.zeros((len(ENDLESS), len(own))), False
        if self.play.loses(dice):
            return found + player, any_stays  # of two players, 1 has won if that was 0
        for cells, rolled, points, scored, chance, gifts in self.ways(
            total, dice, Memory(extra=memory.extra, state=memory.state)
        ):
            states = [State(int(own[cell]), int(other[cell])) for cell in cells]
            more, forced = np.transpose([self.play.effect(state, rolled) for state in states])
            bonus = self.play.bonus(memory, rolled) + more[:, None]
            trots = self.play.trots(memory, rolled) | (forced[:, None] > 0)
            landing = own[cells, None] + scored + bonus, other[cells, None] + gifts
            mine, theirs, boar = np.moveaxis(self.landing[landing], -1, 0)
            winner = self.winner[landing]
            over, again = winner >= 0, (boar == 1) | trots
            mine, theirs = np.where(over, 0, mine), np.where(over, 0, theirs)
            remembered = self.following(memory, rolled)[:, points]
            moving = np.where(
                again,
                self.won[:, player, mine, theirs, remembered[1]],
                self.won[:, 1 - player, theirs, mine, remembered[0]],
            )
            found[:, cells] = np.where(over, winner == player, moving) @ chance
            any_stays |= bool((~over & (mine + theirs == total)).any())
        return found, any_stays


def optimal(play: Play) -> tuple[Floats, int]:
    """Give the mover's value at 0-0, by what an endless game is worth, and the first roll."""
    whole = Whole(play, None, None)
    rolls = np.array([whole.after(0, 0, Memory(), dice)[0][1, 0] for dice in play.rolls()])
    return whole.won[:, 0, 0, 0, 0], play.rolls()[int(np.argmax(rolls >= rolls.max() - TIE))]


def figures(rules: Any) -> Figures:
    """Compute what the documents ask of an edition."""
    play = Play(rules)
    (low, value, high), first_roll = optimal(play)
    best = Whole(play, None, 6).won[0, :, 0, 0, 0]
    return Figures(float(value), first_roll, float(best.mean()), float(low), float(high))
