"""Turns that stay where something is remembered, in games computed by diagonals.

A turn that stays leads to the same cell or its mirror image, and on to another memory. All hidden
states, of both players, that lead to each other in this way are an *orbit*: a small Markov chain.
Its states are corners, a player at a cell, times memories, so a game has few kinds of orbits. What
eliminates the states of a kind, those first that few others lead to, is written once as a list of
operations, and done for eight orbits at a time (:mod:`hogeq.kernels.orbit_values`,
:mod:`hogeq.kernels.orbit_reach`). As in :mod:`hogeq.kernels.chains`, nothing is subtracted.

Symbols of shapes are those of :mod:`hogeq.kernels.diagonals`; besides them, X is the number of
*chances*: the ways in which rows of a policy add up to a probability of staying or leaving.
"""

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.tables import Floats, Ints, Tables

Places = NDArray[np.int32]
Step = tuple[int, int, int, int]
Slots = list[tuple[int, int]]  # of other states
Slotted = dict[tuple[int, int], int]
EIGHT = 8

ADD, SET, DIVIDE = range(3)  # s[t] += s[a] s[b], s[t] = s[a] s[b], s[t] = s[a] / s[b]
ONE = 0  # slot of a constant


class Orbits(NamedTuple):
    """How turns stay, with memory; all arrays are empty in games where none does."""

    chances: int  # X
    slots: int  # most that a kind needs
    chance_start: Ints  # (S * X + 1,) range of the terms of a chance
    chance_roll: Ints  # (t,)
    chance_weight: Floats  # (t,)
    share: Floats  # (S, H, K) probability that a roll stays
    page: Ints  # (S, H, K) page of the afterstate that it then leaves
    usual_share: Floats  # (S, K) the same of most memories ...
    usual_page: Ints  # (H,) ... and of most rolls
    other_start: Ints  # (S + 1,) range of what is otherwise ...
    other: Ints  # (o, 2) ... memory and roll
    # Of a kind: what is read, and what is done.
    read_start: Ints  # (k + 1,) range of what is read of chances
    read: Ints  # (r, 3) slot, chance, corner
    state_start: Ints  # (k + 1,) range of the states; their slots follow that of the constant
    state: Ints  # (z, 4) memory, corner, slot of leaving, 1 if another player's than corner 0
    clear: Ints  # (k, 2) range of the slots that begin with 0
    code_start: Ints  # (3 * k + 1,) operations that eliminate, find values, find visits
    code: Ints  # (n, 4) operation, and where the slots t, a and b lie
    # Orbits by players, total and kind, in eights; what is missing there is there twice.
    first: Ints  # (2, (2 G - 1) * k + 1) range of the eights
    places: Places  # (corners, m) where corners lie in a row of all players
    # Cells by total and opponent's score, (2 G - 1, width).
    mirror: Places  # opponent's score of the mirror image
    turn: (
        Floats  # (2, 2 G - 1, width) 1 if its row changes first, and 1 if after the mirror image's
    )
    joined: Floats  # 1 if only one of both does, since they feed each other
    loops: Floats  # 1 if a turn that stays can come back


def no_orbits(width: int) -> Orbits:
    """Return those of a game without any."""
    start, codes = np.zeros(1, np.int64), np.zeros((0, 4), np.int64)
    numbers, shares = codes[:, 0], np.zeros((0, 0, 0))
    cells = np.zeros((0, width))
    return Orbits(
        chances=0,
        slots=0,
        chance_start=start,
        chance_roll=numbers,
        chance_weight=cells[:, 0],
        share=shares,
        page=shares.astype(np.int64),
        usual_share=shares[0:0, 0:0].reshape(0, 0),
        usual_page=numbers,
        other_start=start,
        other=codes[:, :2],
        read_start=start,
        read=codes[:, :3],
        state_start=start,
        state=codes,
        clear=codes[:, :2],
        code_start=start,
        code=codes,
        first=np.zeros((2, 1), np.int64),
        places=cells.astype(np.int32),
        mirror=cells.astype(np.int32),
        turn=shares,
        joined=cells,
        loops=cells,
    )


def have_orbits(tables: Tables) -> bool:
    """Whether turns that stay do so as this module takes for granted.

    One record is left by them, no dice never stay, and all lead to the cell or its mirror image.
    """
    cycles, goal = tables.cycles, tables.dimensions.goal
    stays = cycles.stay > 0.0
    if not stays.any() or cycles.zero_stays.any() or len(tables.memory_slot) == 1:
        return False
    lands, _ = _landings(tables)
    cell = np.arange(goal**2).reshape(goal, goal)
    offsets = np.unique(np.broadcast_to(cycles.stay_offset, stays.shape)[stays])
    return bool(len(offsets) == 1 and ((lands == cell) | (lands == cell.T)).all())


def _landings(tables: Tables) -> tuple[Ints, Ints]:
    """Cell on which afterstates land, -1 if on none, and 1 if the mover moves again.

    Both by end (extra turn or not), own and opponent's score.
    """
    goal, strides = tables.dimensions.goal, tables.strides
    shape = 1 + int(tables.plane_again.max()), goal, goal
    lands, again = np.full(shape, -1), np.zeros(shape, np.int64)
    end = (tables.arrival_base - strides.origin) // strides.ends
    opponent, own = np.divmod(tables.arrival_row, goal)
    lands[end, own, opponent] = np.repeat(np.arange(goal**2), np.diff(tables.arrival_start))
    again[end, own, opponent] = tables.arrival_again
    return lands, again


class _Chances:
    """Weights of rolls, by situation, each listed once."""

    def __init__(self) -> None:
        self.found: dict[bytes, int] = {}
        self.weights: list[Floats] = []

    def number(self, weights: Floats) -> int:
        """Give the number of a chance, of weights (S, K)."""
        if weights.tobytes() not in self.found:
            self.found[weights.tobytes()] = len(self.weights)
            self.weights.append(weights)
        return self.found[weights.tobytes()]

    def listed(self) -> tuple[Ints, Ints, Floats]:
        """Range of the terms of each chance, by situation, their rolls and weights."""
        by_situation = np.stack(self.weights, axis=1).reshape(-1, self.weights[0].shape[1])
        used = by_situation != 0.0
        start = np.append(0, np.cumsum(used.sum(axis=1)))
        return start.astype(np.int64), np.nonzero(used)[1].astype(np.int64), by_situation[used]


class _Chain:
    """Elimination of the states of a chain, as a list of operations on slots.

    `leaves` are the slots of the probabilities of leaving, by state, `moves` lists two states and
    the slot of moving from one to the other; `free` is the first slot that is not in use. The slot
    of what a state wins, or how often it is visited, is 1 more than its number.
    """

    def __init__(self, leaves: list[int], moves: list[tuple[int, int, int]], free: int) -> None:
        self.free = free
        self.factor: list[Step] = []
        self.values: list[Step] = []
        self.visits: list[Step] = []
        self.given = {*leaves, *(slot for _, _, slot in moves)}
        self.leaves = {(state, -1): slot for state, slot in enumerate(leaves)}
        self.loops = {one for one, other, _ in moves if one == other}
        self.moves: dict[tuple[int, int], int] = {}
        for one, other, slot in moves:
            if (one, other) in self.moves:
                self._add(self.moves, (one, other), slot, ONE)
            elif one != other:
                self.moves[one, other] = slot
        order = self._eliminate(len(leaves))
        for last, shares, onward, inverse in reversed(order):
            here = last + 1
            for code, others in ((self.values, onward), (self.visits, shares)):
                if inverse:
                    code.append((SET, here, here, inverse))
                code.extend((ADD, here, slot, other + 1) for other, slot in others)

    def _new(self) -> int:
        self.free += 1
        return self.free - 1

    def _add(self, slots: dict[tuple[int, int], int], key: tuple[int, int], *factors: int) -> None:
        """Add a product to what a slot holds; slots that are read are not written."""
        if key in slots and slots[key] in self.given:
            old, slots[key] = slots[key], self._new()
            self.factor.append((ADD, slots[key], old, ONE))
        slots.setdefault(key, self.free)
        if slots[key] == self.free:
            self._new()
        self.factor.append((ADD, slots[key], *factors))

    def _eliminate(self, states: int) -> list[tuple[int, Slots, Slots, int]]:
        left, order = set(range(states)), []
        while left:
            last = min(left, key=lambda state: (self._filled(left, state), state))
            left.remove(last)
            come = [(x, slot) for (x, to), slot in self.moves.items() if to == last and x in left]
            go = [(to, slot) for (x, to), slot in self.moves.items() if x == last and to in left]
            shares, onward, inverse = come, go, 0
            if last in self.loops:
                moves, inverse = self._new(), self._new()
                self.factor.append((ADD, moves, self.leaves[last, -1], ONE))
                self.factor += [(ADD, moves, slot, ONE) for _, slot in go]
                self.factor.append((DIVIDE, inverse, ONE, moves))
                shares = [(x, self._scaled(slot, inverse)) for x, slot in come]
                onward = [(x, self._scaled(slot, inverse)) for x, slot in go]
            self.values += [(ADD, x + 1, slot, last + 1) for x, slot in shares]
            self.visits += [(ADD, to + 1, slot, last + 1) for to, slot in onward]
            for x, share in shares:
                self._add(self.leaves, (x, -1), share, self.leaves[last, -1])
                for to, slot in go:
                    if to == x:
                        self.loops.add(x)
                    else:
                        self._add(self.moves, (x, to), share, slot)
            order.append((last, shares, onward, inverse))
        return order

    def _filled(self, left: set[int], state: int) -> int:
        """How many moves come to be when a state is eliminated."""
        come = sum(1 for one, other in self.moves if other == state and one in left)
        return come * sum(1 for one, other in self.moves if one == state and other in left)

    def _scaled(self, slot: int, inverse: int) -> int:
        self.factor.append((SET, self._new(), slot, inverse))
        return self.free - 1

    def codes(self) -> tuple[list[Step], list[Step], list[Step]]:
        """Operations that eliminate, find values and find visits, but for what nobody reads."""
        read = {x for code in (self.values, self.visits) for step in code for x in step[2:]}
        kept = []
        for step in reversed(self.factor):
            if step[1] in read:
                kept.append(step)
                read.update(step[2:])
        return kept[::-1], self.values, self.visits


class _Kind(NamedTuple):
    """An orbit by where its turns lead: corners are by player and mirror image, from (0, 0)."""

    corners: list[tuple[int, int]]
    after: list[list[tuple[int, int]]]
    """Of each corner and end: the corner to which a turn that stays leads, and 1 if again."""


def _kind_of(here: tuple[tuple[int, int], ...], there: tuple[tuple[int, int], ...]) -> _Kind:
    """Find the orbit of a cell, of which turns of each end lead so (mirror image, again).

    Those of its mirror image lead as `there` has it.
    """

    def after(corner: tuple[int, int]) -> list[tuple[tuple[int, int], int]]:
        player, mirror = corner
        ways = there if mirror else here
        return [((player ^ 1 ^ again, mirror ^ turns), again) for turns, again in ways]

    every = list(product((0, 1), (0, 1)))
    joined = {(x, y) for x in every for y, _ in after(x)}
    corners = [(0, 0)]
    for _ in every:
        corners += [
            x for x in every if x not in corners and any({(x, y), (y, x)} & joined for y in corners)
        ]
    steps = [[(corners.index(x), again) for x, again in after(corner)] for corner in corners]
    return _Kind(corners, steps)


def orbits_of(tables: Tables, width: int, memories: list[int], modes: Ints, pages: Ints) -> Orbits:
    """List the orbits of a game.

    Parameters
    ----------
    tables : Tables
    width : int
        Cells in a row.
    memories : list of int, length H
        Slot of every memory.
    modes : int64 (S, H, K)
        How each roll plays.
    pages : int64 (ends, H)
        Page of the afterstates of a memory with record 0.
    """
    cycles = tables.cycles
    planes = tables.mode_plane[modes]
    dice, end = tables.plane_dice[planes], tables.plane_again[planes]
    rolls = np.arange(modes.shape[2])
    share, leave = cycles.stay[dice, rolls], cycles.leave[dice, rolls]
    share[:, :, 0], leave[:, :, 0] = 0.0, 1.0
    idle = int(cycles.stay_offset[(cycles.stay > 0.0).any(axis=0)][0]) // tables.strides.records
    lanes = np.array(memories) % len(tables.lane)
    number = {slot: memory for memory, slot in enumerate(memories)}
    following = [
        [number.get(int(slot), 0) for slot in row] for row in tables.next_memory[:, idle, lanes]
    ]
    chances = _Chances()
    leaves = [chances.number(leave[:, memory]) for memory in range(len(memories))]
    ways = [
        (memory, last, chances.number(weights))
        for memory, last in product(range(len(memories)), range(len(pages)))
        if (weights := np.where(end[:, memory] == last, share[:, memory], 0.0)).any()
    ]
    kinds, first, places = _list_orbits(tables, width)
    reads, states, clears, codes, starts = [], [], [], [], [0]
    for kind in kinds:
        count = len(memories)
        inside = list(product(range(len(kind.corners)), range(count)))
        slots: dict[tuple[int, int], int] = {}
        base = 1 + len(inside)

        def slot(chance: int, corner: int, slots: Slotted = slots, base: int = base) -> int:
            return slots.setdefault((chance, corner), base + len(slots))

        leaving = [slot(leaves[memory], corner) for corner, memory in inside]
        moves = []
        for corner, (memory, last, chance) in product(range(len(kind.corners)), ways):
            to, again = kind.after[corner][last]
            follows = to * count + following[again][memory]
            moves.append((corner * count + memory, follows, slot(chance, corner)))
        free = base + len(slots)
        chain = _Chain(leaving, moves, free)
        reads.append([(at, *key) for key, at in slots.items()])
        states.append(
            [
                (memory, corner, EIGHT * at, kind.corners[corner][0])
                for (corner, memory), at in zip(inside, leaving, strict=True)
            ]
        )
        clears.append((free, chain.free))
        for code in chain.codes():
            codes.extend((step[0], *(EIGHT * slot for slot in step[1:])) for step in code)
            starts.append(len(codes))
    start, roll, weight = chances.listed()
    page = pages[end, np.arange(len(memories))[:, None]] + idle
    otherwise = (share != share[:, :1]) | ((share > 0.0) & (page != pages[0, :, None] + idle))
    return Orbits(
        chances=len(chances.weights),
        slots=max(stop for _, stop in clears),
        chance_start=start,
        chance_roll=roll,
        chance_weight=weight,
        share=share,
        page=page,
        usual_share=share[:, 0].copy(),
        usual_page=pages[0] + idle,
        other_start=np.append(0, np.cumsum(otherwise.sum(axis=(1, 2)))).astype(np.int64),
        other=np.argwhere(otherwise)[:, 1:].astype(np.int64),
        read_start=np.cumsum([0, *map(len, reads)]).astype(np.int64),
        read=np.concatenate(reads).astype(np.int64),
        state_start=np.cumsum([0, *map(len, states)]).astype(np.int64),
        state=np.concatenate(states).astype(np.int64),
        clear=np.array(clears, np.int64),
        code_start=np.array(starts, np.int64),
        code=np.array(codes, np.int64),
        first=first,
        places=places,
        **_order(tables, width),
    )


def _order(tables: Tables, width: int) -> dict[str, NDArray[Any]]:
    """Say in which order rows change, as :mod:`hogeq.kernels.cycles` has it."""
    goal, cycles = tables.dimensions.goal, tables.cycles
    sizes = np.diff(cycles.component_start)
    number, rank = (np.zeros(goal**2, np.int64) for _ in range(2))
    number[cycles.component_cells] = np.repeat(np.arange(len(sizes)), sizes)
    rank[cycles.component_cells] = np.arange(goal**2)
    own, opponent = np.indices((goal, goal))
    place, other = own * goal + opponent, opponent * goal + own
    joined = (number[place] == number[other]) & (own != opponent)
    second = rank[place] > rank[other]
    cells = [~second, second, joined, (np.diff(cycles.entry_start) > 0)[number[place]]]
    found = np.zeros((len(cells), 2 * goal - 1, width))
    found[:, own + opponent, opponent] = cells
    mirror = np.zeros((2 * goal - 1, width), np.int32)
    mirror[own + opponent, opponent] = own
    return {"mirror": mirror, "turn": found[:2], "joined": found[2], "loops": found[3]}


def _list_orbits(tables: Tables, width: int) -> tuple[list[_Kind], Ints, Places]:
    """List the kinds of orbits, and the orbits of one player and of two, by total and kind."""
    goal = tables.dimensions.goal
    lands, again = _landings(tables)
    turns = (lands != np.arange(goal**2).reshape(goal, goal)).astype(np.int64)
    ways = np.stack([turns, again], axis=-1).transpose(1, 2, 0, 3)
    named = [[tuple(map(tuple, cell)) for cell in row] for row in ways.tolist()]
    orbits: dict[object, tuple[int, _Kind]] = {}
    numbers: dict[object, int] = {}  # by all that a kind's operations depend on
    kinds: list[_Kind] = []
    found: dict[tuple[int, int, int], list[list[int]]] = {}
    for players in (1, 2):
        met = set()
        for own, opponent, seat in product(range(goal), range(goal), range(players)):
            if (seat, own, opponent) in met:
                continue
            key = named[own][opponent], named[opponent][own]
            if key not in orbits:
                made = _kind_of(*key)
                same = tuple(player for player, _ in made.corners), str(made.after)
                if same not in numbers:
                    numbers[same] = len(kinds)
                    kinds.append(made)
                orbits[key] = numbers[same], made
            kind, orbit = orbits[key]
            cells = [
                ((seat ^ other) % players, *((opponent, own) if mirror else (own, opponent)))
                for other, mirror in orbit.corners
            ]
            met.update(cells)
            at = [player * width + score for player, _, score in cells]
            found.setdefault((players, own + opponent, kind), []).append(at)
    most = max(len(kind.corners) for kind in kinds)
    first, listed = [], []
    for players in (1, 2):
        first.append([len(listed)])
        for total, kind in product(range(2 * goal - 1), range(len(kinds))):
            here = found.get((players, total, kind), [])
            here += here[:1] * (-len(here) % EIGHT)
            listed.extend([*at, *at[:1] * (most - len(at))] for at in here)
            first[-1].append(len(listed))
    places = np.array(listed, np.int32).T
    return kinds, np.array(first, np.int64), np.ascontiguousarray(places)
