"""The decision process of a responder to a fixed strategy, as sparse arrays.

Its states are the hidden states of the game: both scores and the memory. The responder sees its
information set only.
"""

from functools import lru_cache
from operator import itemgetter
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from hogeq.model.game import HogEngine
from hogeq.model.hidden import best_rolls
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, memory_sizes
from hogeq.rules.turn import Turn, TurnTable, total_rises
from hogeq.strategies.strategy import StrategyLike, strategy_of
from hogeq.support.aliases import Floats, Ints

LARGEST = 200_000  # hidden states that can be listed one by one in a minute

GAP = 1e-10  # win rates closer than this are treated as equal


class Level(NamedTuple):
    """States of one sum of scores, m of them, with the responder to move and with the opponent."""

    start: int
    """Index of the first of them."""
    set: Ints
    """(m,), information set of the responder: without memory ``own * G + opponent``."""
    win: Floats
    """(m, K), probability that a roll of the responder wins at once."""
    after: csr_array
    """(m * K, 2 * n), probability of every next state otherwise."""
    other_win: Floats
    """(m,), probability that the opponent's turn makes the responder the winner."""
    other_after: csr_array
    """(m, 2 * n), probability of every next state otherwise."""

    def of(self, values: Floats) -> tuple[Floats, Floats]:
        """Give views (m,) of values (2 * n,) at this level: the responder's, the opponent's."""
        here = slice(self.start, self.start + len(self.set))
        first, second = values.reshape(2, -1)
        return first[here], second[here]


class Process(NamedTuple):
    """States 0 to n - 1 have the responder to move, states n to 2 * n - 1 the opponent."""

    size: int
    """n"""
    sets: int
    """I, number of information sets: without memory G * G."""
    num_actions: int
    """K"""
    levels: list[Level]
    """By the sum of scores, ascending."""
    starts: tuple[float, ...] = (1.0,)
    """Probability of starting in states 0, 1 and so on: of the parts of a mixture."""

    def at_start(self, values: Floats) -> Floats:
        """Mean of values (2 * n, ...) over the states at the start and over who moves first."""
        mine, theirs = values[: len(self.starts)], values[self.size : self.size + len(self.starts)]
        return np.tensordot(self.starts, (mine + theirs) / 2.0, axes=1)


class Optimum(NamedTuple):
    """An optimal responder of the relaxation: it remembers everything."""

    value: float
    """Win rate."""
    occupancy: list[Floats]
    """By level, (m,): probability that it comes to move in each state."""
    chosen: list[Ints]
    """By level, (m,): roll that it makes there."""
    values: list[Floats]
    """By level, (m, K): value of every roll, whether allowed or not."""


def decision_process(
    game: HogEngine,
    strategy: StrategyLike,
    kept: Literal["nothing", "own", "opponent"] = "nothing",
    horizon: int | None = None,
) -> Process:
    """Decision process of a responder to a strategy: all states that any play can reach.

    What is drawn from a mixture is a part of the state that the responder does not see.

    Parameters
    ----------
    game : HogEngine
        The first call for a game lists every turn: some seconds at goal 12 with 3 dice.
    strategy : array_like or Mixture
        A matrix (G, G), a policy (G, G, K), or a mixture of such.
    kept : {"nothing", "own", "opponent"}
        What the responder sees besides the scores: nothing, as in the contest, or the memory's
        record of its own last turn, or of the opponent's.
    horizon : int, optional
        Sum of scores up to which states are listed. Beyond it the responder remembers everything,
        so the process is a relaxation; with a horizon games of any size can be listed.

    Returns
    -------
    Process

    Raises
    ------
    ValueError
        If the strategy is malformed, the game too large, or its positions can recur.
    """
    given = strategy_of(game, strategy)
    if given.kind == "mixture":
        weights, parts = zip(*given.drawn(), strict=True)
        return _drawn([decision_process(game, part, kept, horizon) for part in parts], weights)
    states = game.goal**2 * game.memory_size
    if horizon is None and states > LARGEST:
        raise ValueError(
            f"rules {game.rules.name}: {states:,} hidden states; allowed: {LARGEST:,}: "
            "lower goal, or set a horizon"
        )
    if not total_rises(game.rules):
        raise ValueError(
            f"rules {game.rules.name}: a turn can leave the total score as it was; allowed: "
            "rules under which it rises"
        )
    policy = given.policy
    rows = policy.reshape(-1, game.num_actions)
    last = 2 * game.goal - 2 if horizon is None else horizon
    boards, size, beyond = _boards(game.rules, last)
    mine, theirs = _values_beyond(game, policy, size, beyond)
    records = 1 if kept == "nothing" else memory_sizes(game.rules)[2]
    levels = []
    for board in boards:
        number = len(board.cell)
        mixed = csr_array(
            (
                rows[board.cell].ravel(),
                np.arange(number * game.num_actions),
                np.arange(0, number * game.num_actions + 1, game.num_actions),
            ),
            shape=(number, number * game.num_actions),
        )
        seen = {"nothing": 0 * board.own, "own": board.own, "opponent": board.opponent}[kept]
        levels.append(
            Level(
                board.start,
                board.cell * records + seen,
                (board.win + board.again @ mine + board.other @ theirs).reshape(
                    -1, game.num_actions
                ),
                hstack([board.again[:, :size], board.other[:, :size]], "csr"),
                mixed @ (board.loss + board.again @ theirs + board.other @ mine),
                mixed @ hstack([board.other[:, :size], board.again[:, :size]], "csr"),
            )
        )
    return Process(size, game.goal**2 * records, game.num_actions, levels)


def _drawn(processes: list[Process], weights: tuple[float, ...]) -> Process:
    """Join the processes of the parts of a mixture: at each level all states, part by part."""
    one, number = processes[0], len(processes)
    first = np.concatenate([np.full(len(level.set), level.start) for level in one.levels])
    length = np.concatenate([np.full(len(level.set), len(level.set)) for level in one.levels])
    # State x of part i is state ``place[x] + i * length[x]`` of all.
    place = number * first + np.arange(one.size) - first
    levels = []
    for depth, level in enumerate(one.levels):
        parts = [process.levels[depth] for process in processes]
        places = [place + part * length for part in range(number)]
        moved = [np.concatenate([to, number * one.size + to]) for to in places]
        levels.append(
            Level(
                number * level.start,
                np.tile(level.set, number),
                np.concatenate([part.win for part in parts]),
                _moved([part.after for part in parts], moved, 2 * number * one.size),
                np.concatenate([part.other_win for part in parts]),
                _moved([part.other_after for part in parts], moved, 2 * number * one.size),
            )
        )
    return one._replace(size=number * one.size, levels=levels, starts=weights)


def _moved(tables: list[csr_array], columns: list[Ints], width: int) -> csr_array:
    """Put tables one below the other, the columns of each at new places."""
    return vstack(
        [
            csr_array((one.data, to[one.indices], one.indptr), shape=(one.shape[0], width))
            for one, to in zip(tables, columns, strict=True)
        ],
        "csr",
    )


class BoardLevel(NamedTuple):
    """Hidden states of one sum of scores, m of n; the rows of a matrix are state and roll."""

    start: int
    cell: Ints  # (m,) own * G + opponent
    own: Ints  # (m,) record of the mover's last turn
    opponent: Ints  # (m,) record of the other's
    win: Floats  # (m * K,) probability that the mover wins at once
    loss: Floats  # (m * K,) probability that the other does
    again: csr_array  # (m * K, n) probability of every next state with the mover to move again
    other: csr_array  # (m * K, n) the same with the other to move


HiddenState = tuple[int, int, Memory]
"""The mover's score, the other's, and the memory of the mover."""


@lru_cache(maxsize=2)
def _boards(rules: Rules, last: int) -> tuple[list[BoardLevel], int, list[HiddenState]]:
    """List the hidden states that any play can reach, up to a sum of scores.

    Returns the states by that sum, their number, and the states that follow directly beyond it,
    which have the next indices.
    """
    found: list[dict[HiddenState, None]] = [{} for _ in range(2 * rules.size - 1)]
    found[0][0, 0, Memory()] = None
    turns = TurnTable(rules)
    ways: dict[HiddenState, list[tuple[Turn, ...]]] = {}
    for level in found[: last + 1]:
        for position in level:
            ways[position] = [turns.outcomes(*position, dice) for dice in range(rules.max_dice + 1)]
            for way in (way for rolled in ways[position] for way in rolled):
                if way.landing.winner is None:
                    found[sum(way.landing[:2])][way.following] = None
    number = {position: index for index, position in enumerate(p for lv in found for p in lv)}
    boards = []
    for level in found[: last + 1]:
        rolled = [each for position in level for each in ways[position]]
        ends = [[_chance(row, winner) for row in rolled] for winner in (0, 1)]
        seen = [
            (own * rules.size + opponent, memory.own, memory.opponent)
            for own, opponent, memory in level
        ]
        boards.append(
            BoardLevel(
                number[next(iter(level))] if level else 0,
                *np.array(seen, np.int64).reshape(-1, 3).T,
                *(np.array(chances) for chances in ends),
                *(_after(rolled, number, again=again) for again in (True, False)),
            )
        )
    return boards, len(ways), list(number)[len(ways) :]


def _values_beyond(
    game: HogEngine, policy: Floats, size: int, beyond: list[HiddenState]
) -> tuple[Floats, Floats]:
    """Win probability of a responder who remembers, with it and with the opponent to move.

    Both are indexed by state; those of the first `size` states are 0.
    """
    _, _, valued = best_rolls(game, np.stack([policy, policy]))
    number_of = {memory: index for index, memory in enumerate(game.memories)}
    mine, theirs = np.zeros(size + len(beyond)), np.zeros(size + len(beyond))
    rolled: list[Floats] = []
    cell = None
    # Cell by cell: the values of all memories of a cell are read together.
    for number, (own, opponent, memory) in sorted(enumerate(beyond, start=size), key=itemgetter(1)):
        if cell != (own, opponent):
            cell = own, opponent
            rolled = [valued.at(own, opponent, player) for player in (0, 1)]
        mine[number] = rolled[0][number_of[memory]].max()
        theirs[number] = 1.0 - rolled[1][number_of[memory]] @ policy[own, opponent]
    return mine, theirs


def _chance(ways: tuple[Turn, ...], winner: int) -> float:
    return float(sum(way.probability for way in ways if way.landing.winner == winner))


def _after(
    rolled: list[tuple[Turn, ...]], number: dict[HiddenState, int], *, again: bool
) -> csr_array:
    kept = [
        [way for way in ways if way.landing.winner is None and way.again == again]
        for ways in rolled
    ]
    chances = [float(way.probability) for ways in kept for way in ways]
    places = [number[way.following] for ways in kept for way in ways]
    ends = np.cumsum([0, *map(len, kept)])
    return csr_array((chances, places, ends), shape=(len(rolled), len(number)))


def value_of(process: Process, rolls: Ints) -> float:
    """Exact win rate of a roll for each information set, (I,)."""
    return remember(process, rolls).value


def remember(
    process: Process, fixed: Ints | None = None, prices: list[Floats] | None = None
) -> Optimum:
    """Solve the relaxation: a responder who remembers everything.

    Parameters
    ----------
    process : Process
    fixed : int (I,), optional
        Roll that an information set must make in every state, -1 where it is free.
    prices : list of float64 (m, K), optional
        By level: price of every roll, in win rate.

    Returns
    -------
    Optimum
    """
    values = np.zeros(2 * process.size)
    chosen, found = [], []
    for depth in range(len(process.levels) - 1, -1, -1):
        level = process.levels[depth]
        worth = level.win + (level.after @ values).reshape(level.win.shape)
        if prices is not None:
            worth = worth - prices[depth]
        best = worth.argmax(axis=1)
        if fixed is not None:
            best = np.where(fixed[level.set] >= 0, fixed[level.set], best)
        mine, theirs = level.of(values)
        theirs[:] = level.other_win + level.other_after @ values
        mine[:] = worth[np.arange(len(best)), best]
        chosen.append(best)
        found.append(worth)
    infoset_reach = np.zeros(2 * process.size)
    for start, chance in enumerate(process.starts):
        infoset_reach[[start, process.size + start]] = 0.5 * chance
    for level, rolls in zip(process.levels, reversed(chosen), strict=True):
        mine, theirs = level.of(infoset_reach)
        rows = np.arange(len(rolls)) * process.num_actions + rolls
        infoset_reach += level.after[rows].T @ mine + level.other_after.T @ theirs
    return Optimum(
        float(process.at_start(values)),
        [level.of(infoset_reach)[0] for level in process.levels],
        chosen[::-1],
        found[::-1],
    )
