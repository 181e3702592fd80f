"""What the passes over a compiled game must compute and move, counted from its arrays alone.

docs/cost-model.md says what is counted; ``cost_model.py`` measures the machine and the passes.
"""

from dataclasses import astuple, dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.diagonals import Diagonals
from hogeq.kernels.plan import PACKED_STRIP, STRIP, Plan, piece_of
from hogeq.kernels.tables import Tables
from hogeq.kernels.windowed import (
    BONUS,
    FEW,
    FEW_END,
    FIRST,
    LENGTH,
    WindowedArrays,
    common_record,
    windowed_arrays,
)
from hogeq.kernels.windows import PAIR, STEP
from hogeq.model.duels import suits_duels
from hogeq.model.game import Game
from hogeq.model.side_by_side import MATCHES, plan_of_packs

NUMBER = 8  # bytes
SINGLE = 4  # bytes of a number in single precision
VECTOR = 8  # numbers
SECOND_LEVEL = 2 << 20  # bytes
FIRST_LEVEL = 32 << 10


@dataclass(frozen=True)
class Work:
    """Of one player in one pass."""

    operations: int
    """Floating-point; a fused multiplication and addition counts two."""
    moved: int
    """Bytes that have to reach a kernel from beyond the cache, or leave it, once each.

    Not afterstates: those alive at a time fit in a cache.
    """
    slots: int
    """Arithmetic and shuffles of whole vectors, which take the same two units."""
    loads: int
    """Vectors from the first-level cache; a gather of eight numbers counts eight."""
    stores: int
    """Vectors to it; a number alone counts as much."""
    near: int = 0
    """Bytes of sums that the order of visits takes from beyond the first-level cache."""

    def __add__(self, other: "Work") -> "Work":
        """Add what two passes do."""
        return Work(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    def times(self, players: int) -> "Work":
        """Return the same for several players."""
        return Work(*(players * count for count in astuple(self)))

    def without(self, moved: int) -> "Work":
        """Return the same without some of its bytes."""
        return replace(self, moved=self.moved - moved)


@dataclass(frozen=True)
class Ceilings:
    """What one core manages in a second."""

    operations: float
    moved: float
    loads: float
    stores: float
    near: float
    far: float

    def floor(self, work: Work, kept: int) -> tuple[float, str]:
        """Seconds that work takes at least, when so many bytes are come back to, and for what."""
        spilled = max(0.0, 1.0 - SECOND_LEVEL / max(1, kept))
        return max(
            (work.slots * 2 * VECTOR / self.operations, "arithmetic"),
            (work.moved / self.moved, "memory"),
            (work.loads / self.loads, "loads"),
            (work.stores / self.stores, "stores"),
            (work.near / self.near, "second level"),
            (work.near * spilled / self.far, "third level"),
        )


def dice_terms(tables: Tables) -> tuple[int, int]:
    """Count additions of sums and terms of corrections, over all cells and planes."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    own = np.arange(goal)
    needed = tables.plane_needed.astype(np.int64).sum(axis=1)  # by own score and plane
    chain = corrections = 0
    for plane, dice in enumerate(tables.plane_dice):
        faces = np.clip(np.minimum(tables.sides[dice], goal - 1 - own) - 1, 0, None)
        chain += int(goal * tables.sum_depth[dice] * faces.sum())
        start = tables.term_start[dice, 1:num_actions, None]
        terms = (tables.term_stop[dice, 1:num_actions, :goal] - start).sum(axis=0)
        corrections += int((terms + 1) @ needed[:, plane])  # 1 for rolling no dice
    return chain, corrections


def memory_terms(tables: Tables) -> tuple[int, int, int]:
    """Count alternatives, their members, and afterstates that land, over all cells."""
    counts = np.bincount(tables.situation.ravel(), minlength=len(tables.default_mode))
    alternatives = tables.alternative_start[:, -1] - tables.alternative_start[:, 0]
    members = tables.exception_start[:, -1] - tables.exception_start[:, 0]
    landings = len(tables.arrival_base) * tables.dimensions.records
    return int(counts @ alternatives), int(counts @ members), landings


@dataclass(frozen=True)
class _Cell:
    """Vectors of lanes at a cell, of one player, on average over all cells."""

    pieces: float
    turned: float
    """Shuffles that transpose what is handed over."""
    sums: float
    terms: float
    targets: float
    rolls: int
    others: float
    members: float
    landed: float


def _cell(tables: Tables, number: int, pairs: int = 1) -> _Cell:
    """Count for one of so many matches that lie side by side."""
    dimensions = tables.dimensions
    cells = dimensions.goal**2
    vector = NUMBER * VECTOR // number
    pieces = float(-(-len(tables.lane) // vector))
    turned = vector * vector.bit_length() * pieces**2 - vector * pieces**2
    if pairs > 1:
        used = max(dimensions.records, dimensions.active_memories)
        whole, run = -(-used * pairs // vector), vector // pairs
        pieces = whole / pairs
        turned = run * (run.bit_length() - 1) * whole * -(-used // run) / pairs
    _, corrections = dice_terms(tables)
    alternatives, members, landings = memory_terms(tables)
    return _Cell(
        pieces=pieces,
        turned=turned,
        sums=float(tables.sum_depth[tables.plane_dice].sum()),
        terms=corrections / cells,
        targets=float(tables.correction_start[-1]),
        rolls=tables.dimensions.num_actions,
        others=alternatives / cells,
        members=members / cells,
        landed=landings / cells,
    )


def value_work(tables: Tables, number: int = NUMBER, pairs: int = 1) -> Work:
    """Values of every roll in every hidden state of a mixed policy, for one player.

    Numbers are of so many bytes, but policies always in double precision. The game is one of so
    many that lie side by side.
    """
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    lanes, cells = len(tables.lane), goal**2
    chain, corrections = dice_terms(tables)
    alternatives, members, landings = memory_terms(tables)
    mixing = 2 * goal**2 * num_actions + 2 * alternatives + members
    operations = lanes * (chain + 2 * corrections + mixing + landings)
    rows = goal**2 * num_actions * (1 + len(tables.plane_dice))  # policy, and what is won at once
    one = _cell(tables, number, pairs)
    # Four bases share the additions of a sum: 15 operations, 6 loads and 4 stores for all.
    slots = 3.75 * one.sums + one.terms + one.sums + one.rolls + 2 * one.others + one.members
    loads = 2.5 * one.sums + one.targets + one.rolls + one.others
    stores = one.sums + one.rolls + one.landed
    return Work(
        operations,
        NUMBER * rows,
        round(cells * (one.pieces * slots + one.turned)),
        round(cells * one.pieces * loads),
        round(cells * one.pieces * stores),
        _beyond(cells, one.pieces * (loads + stores)),
    )


def reach_work(tables: Tables, number: int = NUMBER, pairs: int = 1) -> Work:
    """Reach of every hidden state under a mixed policy, for one player."""
    dimensions = tables.dimensions
    goal, num_actions, active = dimensions.goal, dimensions.num_actions, dimensions.active_memories
    lanes, cells = len(tables.lane), goal**2
    chain, corrections = dice_terms(tables)
    alternatives, members, landings = memory_terms(tables)
    gathering = landings + goal**2 * active
    leaving = 2 * goal**2 * num_actions + members + 3 * alternatives
    operations = lanes * (chain + 2 * corrections + gathering + leaving)
    one = _cell(tables, number, pairs)
    slots = 3.75 * one.sums + one.terms + one.sums + one.landed + active + one.members
    slots += one.rolls + 3 * one.others
    loads = 2.5 * one.sums + one.targets + one.landed + one.others
    stores = 2 * one.sums + one.targets + one.others
    return Work(
        operations,
        NUMBER * goal**2 * num_actions,
        round(cells * (one.pieces * slots + one.turned)),
        round(cells * one.pieces * loads),
        round(cells * one.pieces * stores),
        _beyond(cells, one.pieces * (loads + stores)),
    )


def _beyond(cells: int, vectors: float) -> int:
    """Bytes that do not stay in the first-level cache, of so many vectors for each cell.

    A cell that the cache cannot hold leaves nothing for the next one of its column.
    """
    moved = NUMBER * VECTOR * vectors
    return round(cells * moved) if moved > FIRST_LEVEL else 0


def kept_work(tables: Tables, number: int = NUMBER) -> Work:
    """Keep what weights the values of one player, beside the reach itself."""
    weights = _weights(tables)
    return Work(0, number * weights, 0, 0, weights * number // (NUMBER * VECTOR))


def average_work(tables: Tables, number: int = NUMBER, pairs: int = 1) -> Work:
    """Weighting the values of one player's rolls by reach, beside the values themselves."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    alternatives, _, _ = memory_terms(tables)
    operations = len(tables.lane) * (2 * goal**2 * num_actions + 3 * alternatives)
    one = _cell(tables, number, pairs)
    vectors = round(goal**2 * one.pieces * (one.rolls + one.others))
    return Work(
        operations,
        NUMBER * goal**2 * num_actions + number * _weights(tables),
        round(goal**2 * one.pieces * (one.rolls + 2 * one.others)),
        vectors + _weights(tables) * number // (NUMBER * VECTOR),
        goal**2 * num_actions // VECTOR,
    )


def _weights(tables: Tables) -> int:
    """Count what is kept of reach: everyone's and every alternative's members', at each cell."""
    alternatives, _, _ = memory_terms(tables)
    return (tables.dimensions.goal**2 + alternatives) * tables.dimensions.records


class DiagonalWork(NamedTuple):
    """Of one player, where vectors run over cells (by diagonals)."""

    values: Work
    reach: Work
    kept: Work
    """Keeping what weights values, beside the reach itself."""
    average: Work
    match: Work
    """Values where a matrix makes one roll at a cell."""


def diagonal_work(game: Diagonals, players: int = 1) -> DiagonalWork:
    """Count the passes by diagonals, in the precision of which a vector has a block's cells.

    Policies are in double precision always. Sums of two totals share what both have: half of a
    die's sides less one are additions, and one multiplication gives each die its share. So many
    players' sums are used at a block in turn. Of matches side by side, operations and bytes are of
    one, vectors of all; what is gathered for a cell is then one vector for all of them.
    """
    cells, vector = game.goal**2, len(game.lane)
    number, block = NUMBER * VECTOR // vector, vector // len(game.match)
    totals = np.arange(2 * game.goal - 1)
    counts = np.minimum(totals, 2 * game.goal - 2 - totals) + 1  # cells of each diagonal
    by_situation = np.bincount(game.situation, counts, len(game.line)).astype(np.int64)
    sides = game.sides[game.group_dice]
    sums = int(cells * (game.group_depth * (sides + 1)).sum() // 2)
    terms = np.zeros((len(sides), game.num_actions), np.int64)
    terms[:, 1:] = np.diff(game.term_start, axis=1)[game.group_dice, 1:]
    products = int(by_situation @ ((game.line >= 0) * terms).sum(axis=(1, 2)))
    rolls = cells * game.memories * game.num_actions
    landings = cells * len(game.page_end)
    policy = NUMBER * cells * game.num_actions
    places = game.land.itemsize * cells * (len(game.land) + len(game.zero))
    weights = number * cells * game.memories
    # Vectors of a block of cells; blocks are visited once a total.
    first, last = np.maximum(totals - game.goal + 1, 0), np.minimum(totals, game.goal - 1)
    blocks = int((last // block - first // block + 1).sum())
    levels = int(game.group_depth.sum())
    each = int((game.group_depth * sides).sum())  # rows of sums, of two totals
    lines = float(by_situation @ (game.line >= 0).sum(axis=(1, 2))) / cells
    products_of_cell = products / cells
    mixed = game.memories * game.num_actions
    pages, groups = len(game.page_end), len(sides)
    gathered = block * (pages + game.num_actions)
    near = number * game.sum_block * blocks // 2  # all sums of a block, every second total
    near = near if number * game.sum_block * players > FIRST_LEVEL else 0
    summing = (each + levels) / 2
    values = Work(
        sums + 2 * products + 2 * rolls + landings,
        policy + places,
        round(blocks * (summing + products_of_cell + mixed + game.memories)),
        round(blocks * (each / 2 + lines + groups + mixed + gathered)),
        round(blocks * (levels + lines + game.memories * (1 + game.any_again) + pages + groups)),
        near,
    )
    reach = Work(
        sums + 2 * products + 2 * rolls + landings,
        policy + places,
        round(blocks * (summing + products_of_cell + mixed + game.memories + pages)),
        round(blocks * (each / 2 + levels + lines + groups + game.memories + gathered)),
        round(blocks * (levels + lines + groups + vector * pages)),
        near,
    )
    if game.orbits.chances > 0:
        values, reach = (one + _orbit_work(game, code) for code, one in ((1, values), (2, reach)))
    kept = Work(0, weights, 0, 0, blocks * game.memories)
    average = Work(
        2 * rolls,
        policy + weights,
        blocks * mixed,
        blocks * (mixed + game.memories),
        blocks * game.num_actions,
    )
    picked = cells * game.memories
    match = Work(
        sums + 2 * products + landings,
        NUMBER * cells + places,
        round(blocks * (summing + products_of_cell + game.memories)),
        round(blocks * (each / 2 + lines + groups + vector * pages + game.memories)) + 3 * picked,
        round(blocks * (levels + lines + game.memories + pages + groups)) + picked,
        near,
    )
    return DiagonalWork(values, reach, kept, average, match)


def _orbit_work(game: Diagonals, code: int) -> Work:
    """Count what eliminates the states of orbits, and what finds values (1) or visits (2).

    Operations go from register to register; chances and states are read once, and states written.
    Orbits are those of two players, who share them.
    """
    orbits = game.orbits
    kinds, players = len(orbits.clear), 2
    listed = np.diff(orbits.first[players - 1])[: (2 * game.goal - 1) * kinds]
    eights = listed.reshape(-1, kinds).sum(axis=0) // VECTOR
    steps = np.diff(orbits.code_start).reshape(kinds, 3)
    states = np.diff(orbits.state_start)
    slots = int(eights @ (steps[:, 0] + steps[:, code])) // players
    loads = VECTOR * int(eights @ (np.diff(orbits.read_start) + states)) // players
    stores = VECTOR * int(eights @ states) // players
    return Work(2 * VECTOR * slots, 0, slots, loads, stores)


# --- two matrices -----------------------------------------------------------------------------


def duel_work(game: Game, matrices: NDArray[np.int64]) -> Work | None:
    """Win rate of two matrices; None where passes that serve policies compute it."""
    if not game.has_duels:
        return None
    if game.diagonals is not None:
        suits = suits_duels(game.diagonals)
        return diagonal_work(game.diagonals).match.times(2) if suits else None
    tables = game.tables
    goal, cells = game.goal, game.goal**2
    pieces = -(-len(tables.lane) // VECTOR)
    own = np.repeat(np.arange(goal), goal)
    landings = len(tables.arrival_base)
    wins = tables.terminal_win[tables.plane_dice[0]].nbytes
    total = Work(0, NUMBER * (len(matrices) * cells + 3 * cells + 2 * landings) + wins, 0, 0, 0)
    windowed = common_record(tables) >= 0
    arrays = windowed_arrays(tables)[0] if windowed else None
    for rolls in matrices.reshape(-1, cells):
        if arrays is not None:
            total += _windowed_work(arrays, rolls, own, goal, pieces)
        else:
            total += _outcome_work(tables, rolls, own, pieces)
        # Values and losses; landings hold both by turns, in a window also as numbers, and the roll.
        numbers = 2 if windowed else 0
        total += Work(
            0,
            0,
            4 * pieces * cells + (2 * pieces * landings if windowed else 0),
            12 * cells + (2 + numbers) * landings,
            (2 * pieces + 1 + numbers) * landings,
        )
    return total


def _single(outcomes: int, further: int, pieces: int) -> Work:
    """Outcomes that are looked up one by one, and those of them that a bonus leaves on the board.

    Each has a probability, points and a record; at either place what it is worth, what members
    gain, which members, and their row.
    """
    both = outcomes + further
    return Work(0, 0, (3 + pieces) * both, 3 * outcomes + (3 + pieces) * both, 0)


def _windowed_work(
    arrays: WindowedArrays, rolls: NDArray[np.int64], own: NDArray[np.int64], goal: int, pieces: int
) -> Work:
    plays = arrays.rolls[rolls]
    count = np.clip(np.minimum(plays[:, LENGTH], goal - own - plays[:, FIRST]), 0, None)
    steps = int((-(-count // STEP)).sum())
    rows = int((-(-count // PAIR)).sum()) * PAIR
    points = arrays.outcomes[:, 0]
    first, last = plays[:, FEW], np.where(rolls == 0, plays[:, FEW] + 1, plays[:, FEW_END])
    near = far = 0
    for x in range(int((last - first).max())):
        there = np.where(first + x < last, own + points[np.minimum(first + x, last - 1)], goal)
        near += int((there < goal).sum())
        far += int((there + plays[:, BONUS] < goal).sum())
    # A step weighs two vectors twice; a row has a place, two weights and a vector in pieces.
    window = Work(0, 0, 4 * steps + 2 * pieces * rows, 4 * steps + (3 + pieces) * rows, 2 * steps)
    return window + _single(near, far, pieces)


def _outcome_work(
    tables: Tables,
    rolls: NDArray[np.int64],
    own: NDArray[np.int64],
    pieces: int,
) -> Work:
    dice = tables.plane_dice[0]
    counts = tables.outcome_stop[dice][rolls, own] - tables.outcome_start[dice][rolls]
    count = int(np.where(rolls == 0, 1, counts).sum())
    return _single(count, count, pieces)


# --- many opponents ---------------------------------------------------------------------------


def kept_bytes(game: Game, players: int, number: int = NUMBER, pairs: int = 1) -> int:
    """Bytes that the order of visits comes back to: sums of all, or columns of a strip.

    Of matches that are passed forward one after the other these are those of the pass back.
    """
    if game.diagonals is not None:
        if pairs > 1:
            found = _abreast(game, number)
            return number * found.sum_size * players * -(-pairs // len(found.match))
        return number * game.diagonals.sum_size * players
    if game.plan is None:
        return 0
    strip, plan = STRIP, game.plan
    if pairs > 1:
        plan = plan_of_packs(game.tables, plan, pairs, 8 * number)
        strip = STRIP if plan.constants.apart else PACKED_STRIP // pairs
    return number * (strip + 1) * plan.places.column * players


def mixture_work(game: Game, pairs: int, number: int) -> Work | None:
    """One sweep of coordinate ascent against a mixture of 2, 4 or 8: one pass forward, one back.

    Of the pass back the responder's policy, and where afterstates land or what wins at once, are
    common to all. None where passes are generic.
    """
    diagonals = game.diagonals
    if game.positions_recur:
        return None
    if game.plan is not None:
        return _planned_mixture(game.tables, game.plan, pairs, number)
    if diagonals is None or diagonals.any_stays:
        return None
    policy = NUMBER * game.goal**2 * game.num_actions
    side_by_side = _abreast(game, number)
    packs = -(-pairs // len(side_by_side.match))
    values, reach, kept, average, _ = diagonal_work(side_by_side, 2 * packs)
    each = (reach + values).times(2) + kept + average
    # The responder's rows and where cells land are common.
    common = 2 * policy + 4 * (values.moved - policy)
    theirs = 2 * pairs * number * game.goal**2 * game.num_actions
    moved = common + theirs + 2 * pairs * kept.moved
    return replace(each.times(packs), operations=pairs * each.operations, moved=moved)


def _planned_mixture(tables: Tables, plan: Plan, pairs: int, number: int) -> Work:
    """Count the same with a plan, by which matches may be passed forward one after the other."""
    policy = NUMBER * tables.dimensions.goal**2 * tables.dimensions.num_actions
    apart = plan_of_packs(tables, plan, pairs, 8 * number).constants.apart > 0
    values = _from_second_level(value_work(tables, number, pairs))
    if apart:
        reach = reach_work(tables, number)
    else:
        reach = _from_second_level(reach_work(tables, number, pairs))
    kept, average = kept_work(tables, number), average_work(tables, number, pairs)
    common = values.moved - policy
    each = (reach + values).times(2) + kept + average
    total = each.times(pairs).without((pairs - 1) * 2 * (common + policy))
    return total + _turning_work(tables, plan, pairs, number) if apart else total


def _from_second_level(work: Work) -> Work:
    """Bring all that is loaded and stored from there: the cells of all matches fill the first."""
    return replace(work, near=NUMBER * VECTOR * (work.loads + work.stores))


def _turning_work(tables: Tables, plan: Plan, pairs: int, number: int) -> Work:
    """Weigh what the matches keep apart, and turn it side by side.

    One vector of every match at a time: they trade halves, quarters, single numbers, and those of
    all matches for one lane are stored together.
    """
    weights = _weights(tables)
    piece = piece_of(plan.constants.lanes, 8 * number)
    vectors = pairs * tables.dimensions.goal**2 * plan.constants.dense(piece) // piece
    trades = pairs.bit_length() - 1
    return Work(pairs * weights, 0, (trades + 1) * vectors, vectors, weights)


def _abreast(game: Game, number: int) -> Diagonals:
    """Lay a game out for matches side by side, of numbers of so many bytes."""
    found = game.diagonals_of(np.float32 if number == SINGLE else np.float64, MATCHES)
    assert found is not None
    return found
