"""Other ways to the same win rates, as one would write them from the rules.

- `recursion`: a recursive function of the state, memoised by ``functools.cache``.
- `arrays`: numpy, all cells of equal total score at once, all memories at once.
- `loops`: the five nested loops that the rules suggest, compiled by numba.
- `openspiel_tree`: OpenSpiel's compiled walk over a tree of its own.

All take the editions in which a roll depends on nothing but the player's last turn: no Hog Wild, no
Time Trot, nothing given away.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyspiel
from numba import njit
from numpy.typing import NDArray

from hogeq.rules import Rules
from hogeq.rules.memory import Memory, memory_sizes, record
from hogeq.rules.rules import points_distribution, zero_points
from hogeq.rules.turn import effect, land
from hogeq.trees.tree import HogRules, efg_lines

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


# --- memoised recursion ---------------------------------------------------------------------------


def recursion(rules: Rules, policies: Sequence[Floats]) -> list[float]:
    """Win probability of each player when moving first; one policy (G, G, K) plays itself."""
    check(rules)
    choices = [
        [[[(roll, p) for roll, p in enumerate(row) if p] for row in rows] for rows in table]
        for table in (policy.tolist() for policy in policies)
    ]
    landing = cache(lambda score, opponent: land(rules, score, opponent))
    extra = cache(lambda mine, dice: effect(rules, 0, 0, Memory(own=mine), dice).bonus)

    @cache
    def rolled(dice: int, opponent: int | None) -> list[tuple[int, float, int]]:
        if opponent is not None:
            ways = {zero_points(rules, 0, opponent): 1.0}
        else:
            ways = {x: float(p) for x, p in points_distribution(rules, dice, rules.sides).items()}
        return [(points, chance, record(rules, dice, points)) for points, chance in ways.items()]

    @cache
    def wins(player: int, own: int, opponent: int, mine: int, theirs: int) -> float:
        other = (player + 1) % len(choices)
        total = 0.0
        for dice, weight in choices[player][own][opponent]:
            start = own + extra(mine, dice)
            for points, chance, left in rolled(dice, None if dice else opponent):
                score, there, again, winner = landing(start + points, opponent)
                if winner is not None:
                    total += weight * chance * (winner == 0)
                elif again:
                    total += weight * chance * wins(player, score, there, left, theirs)
                else:
                    total += weight * chance * (1.0 - wins(other, there, score, theirs, left))
        return total

    return [wins(player, 0, 0, 0, 0) for player in range(len(choices))]


# --- arrays of what a turn can do -----------------------------------------------------------------


class Turns(NamedTuple):
    """The rules as arrays; M outcomes at most, T scores before landing, W records."""

    points: Ints  # (G, K, M) by the opponent's score and the dice
    chance: Floats  # (G, K, M), 0 beyond the last outcome
    left: Ints  # (G, K, M) record
    number: Ints  # (G, K) outcomes
    extra: Ints  # (W, K) bonus after that record
    score: Ints  # (T, G) where it lands, 0 once the game is over
    opponent: Ints  # (T, G)
    again: NDArray[np.bool_]  # (T, G)
    winner: Ints  # (T, G), -1 while the game goes on


def turns_of(rules: Rules) -> Turns:
    """Tabulate the rules."""
    check(rules)
    goal, rolls, records = rules.size, rules.max_dice + 1, memory_sizes(rules)[2]
    ways = [
        [
            points_distribution(rules, dice, rules.sides) if dice else {zero_points(rules, 0, o): 1}
            for dice in range(rolls)
        ]
        for o in range(goal)
    ]
    most = max(len(way) for row in ways for way in row)
    points, left = np.zeros((2, goal, rolls, most), np.int64)
    chance = np.zeros(points.shape)
    for o, row in enumerate(ways):
        for dice, way in enumerate(row):
            points[o, dice, : len(way)] = list(way)
            chance[o, dice, : len(way)] = [float(p) for p in way.values()]
            left[o, dice, : len(way)] = [record(rules, dice, x) for x in way]
    number = np.array([[len(way) for way in row] for row in ways])
    extra = np.array(
        [
            [effect(rules, 0, 0, Memory(own=w), k).bonus for k in range(rolls)]
            for w in range(records)
        ]
    )
    top = goal + points.max() + extra.max()
    ends = [[land(rules, t, o) for o in range(goal)] for t in range(top)]
    winner = np.array([[-1 if e.winner is None else e.winner for e in row] for row in ends])
    return Turns(
        points,
        chance,
        left,
        number,
        extra,
        np.where(winner < 0, [[e.score for e in row] for row in ends], 0),
        np.where(winner < 0, [[e.opponent for e in row] for row in ends], 0),
        np.array([[e.again for e in row] for row in ends]),
        winner,
    )


def check(rules: Rules) -> None:
    """Refuse editions with more in play."""
    turns, extras, _ = memory_sizes(rules)
    if turns > 1 or extras > 1 or rules.hog_wild or rules.piggy_back:
        raise ValueError(f"rules: {rules.name}; allowed: those without these parts")


# --- plain numpy ----------------------------------------------------------------------------------


def arrays(turns: Turns, policies: Floats) -> Floats:
    """Win probability of the player to move: (Q, G, G, W, W), policies (Q, G, G, K)."""
    players, goal = policies.shape[:2]
    records = len(turns.extra)
    value = np.zeros((players, goal, goal, records, records))
    is_matrix = bool((policies.max(axis=-1) == 1.0).all())

    def rolling(player: int, own: Ints, opponent: Ints, roll: Ints, extra: int) -> Floats:
        """Worth of a roll at every cell: (n, W), by the opponent's record."""
        start, facing = own[:, None] + extra, opponent[:, None]
        at = start + turns.points[opponent, roll], facing
        left = turns.left[opponent, roll]
        score, there = turns.score[at], turns.opponent[at]
        other = (player + 1) % players
        worth = 1.0 - value[other, there, score, :, left]
        if turns.again.any():
            worth = np.where(turns.again[at][..., None], value[player, score, there, left], worth)
        over = turns.winner[at][..., None]
        worth = np.where(over < 0, worth, over == 0)
        return np.einsum("nm,nmw->nw", turns.chance[opponent, roll], worth)

    for total in range(2 * goal - 2, -1, -1):
        own = np.arange(max(0, total - goal + 1), min(total, goal - 1) + 1)
        opponent = total - own
        for player, policy in enumerate(policies[:, own, opponent]):
            every = np.arange(policy.shape[1])[:, None].repeat(len(own), axis=1)
            rolls = policy.argmax(axis=1)[None] if is_matrix else every
            mixed = np.zeros((len(own), records, records))
            for roll in rolls:
                worth = rolling(player, own, opponent, roll, 0)[:, None]
                if turns.extra.any():
                    raised = rolling(player, own, opponent, roll, int(turns.extra.max()))
                    fires = turns.extra[:, roll].T[:, :, None] > 0
                    worth = np.where(fires, raised[:, None], worth)
                mixed += policy[np.arange(len(own)), roll][:, None, None] * worth
            value[player, own, opponent] = mixed
    return value


# --- compiled loops -------------------------------------------------------------------------------


def loops(turns: Turns, policies: Floats) -> Floats:
    """As `arrays`."""
    players, goal = policies.shape[:2]
    records = len(turns.extra)
    value = np.zeros((players, goal, goal, records, records))
    _loops(turns, policies, value)
    return value


@njit
def _loops(turns: Any, policies: Any, value: Any) -> None:  # noqa: C901 - which is the point
    players, goal, _, rolls = policies.shape
    records = value.shape[-1]
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            for player in range(players):
                other = (player + 1) % players
                for mine in range(records):
                    for theirs in range(records):
                        mixed = 0.0
                        for roll in range(rolls):
                            weight = policies[player, own, opponent, roll]
                            if weight == 0.0:
                                continue
                            start = own + turns.extra[mine, roll]
                            worth = 0.0
                            for i in range(turns.number[opponent, roll]):
                                t = start + turns.points[opponent, roll, i]
                                chance = turns.chance[opponent, roll, i]
                                left = turns.left[opponent, roll, i]
                                score = turns.score[t, opponent]
                                there = turns.opponent[t, opponent]
                                if turns.winner[t, opponent] >= 0:
                                    worth += chance * (1 - turns.winner[t, opponent])
                                elif turns.again[t, opponent]:
                                    worth += chance * value[player, score, there, left, theirs]
                                else:
                                    after = value[other, there, score, theirs, left]
                                    worth += chance * (1.0 - after)
                            mixed += weight * worth
                        value[player, own, opponent, mine, theirs] = mixed


# --- OpenSpiel ------------------------------------------------------------------------------------


def openspiel_tree(rules: Rules, policies: Sequence[Floats]) -> Callable[[], list[float]]:
    """OpenSpiel's own walk over a tree that it holds; its result is as that of `recursion`."""
    text = "".join(efg_lines(HogRules(rules), "Hog"))
    game = pyspiel.load_efg_game(text)
    tables: list[dict[str, list[tuple[int, float]]]] = [{}, {}]
    for found in re.finditer(r'^p "" (\d) (\d+) "(\((\d+), (\d+)\))"', text, re.MULTILINE):
        player = int(found[1]) - 1
        row = policies[player % len(policies)][int(found[4]), int(found[5])]
        tables[player][f"{player}-{player}-{found[2]}-{found[3]}"] = list(enumerate(row.tolist()))
    tabular = [pyspiel.TabularPolicy(table) for table in tables]
    tossed = [game.new_initial_state().child(player) for player in range(len(policies))]

    def walk() -> list[float]:
        returns = [pyspiel.expected_returns(state, tabular, -1, True) for state in tossed]
        return [0.5 + 0.5 * both[player] for player, both in enumerate(returns)]

    return walk
