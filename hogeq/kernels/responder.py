"""A responder that remembers, and pays for its rolls: its values and its reach.

*Mine* are the hidden states with the responder to move, *theirs* those with its opponent to move;
all values are the responder's. Sizes are those of :mod:`hogeq.kernels.interpreter`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cache import kernel, part
from hogeq.kernels.interpreter import mix, roll_out, send, value_ends, value_ways, want

Floats = NDArray[np.float64]

TIE = 1e-11  # rolls worth less than this apart are as good, however a processor rounds


class Responder(NamedTuple):
    """A responder against one policy, and what is known of it."""

    policy: Floats  # (C, K) of its opponent
    prices: Floats  # (C, H, K) of its rolls, in win rate
    met: NDArray[np.uint8]  # (2, C, H) 1 where play can come, by mover: nothing else is of use
    used: NDArray[np.uint8]  # (C, U) 1 for ways in which it may roll
    values: Floats  # (2, C, H) by mover: its win rate less what it pays
    rolled: Floats  # (C, U * J) the same of its ways to roll, before their price
    chosen: NDArray[np.int8]  # (C, H) its best roll, the first of equals; -1 before there is one


class Scratch(NamedTuple):
    """Arrays that passes over a responder use, zeros where nothing else is said."""

    masses: Floats  # (U * J,)
    flows: Floats  # (E * J,)
    ends: Floats  # (E * J,), of any content
    rolled: Floats  # (U * J,), of any content
    wanted: NDArray[np.uint8]  # (U,), of any content
    skipped: NDArray[np.uint8]  # (U,)


@part
def choose(turns, responder, cell, memory):
    """Choose the best roll of a hidden state, the first of those that are as good."""
    best = -np.inf
    places = turns.place[turns.situation[cell]]
    for roll in range(len(places)):
        value = responder.rolled[cell, places[roll, memory]] - responder.prices[cell, memory, roll]
        best = max(best, value)
    responder.values[0, cell, memory] = best
    for roll in range(len(places) - 1, -1, -1):
        value = responder.rolled[cell, places[roll, memory]] - responder.prices[cell, memory, roll]
        if value >= best - TIE:
            responder.chosen[cell, memory] = roll


@part
def value_mine(turns, responder, cell, ends, wanted):
    """Value the responder's ways to roll at a cell."""
    values = responder.values
    value_ends(turns, cell, values[0], values[1], 1.0, ends)
    value_ways(turns, wanted, 1, ends, responder.rolled[cell])


@part
def value_theirs(turns, responder, cell, ends, wanted, rolled):
    """Value a cell's states with the opponent to move."""
    values, row = responder.values, responder.policy[cell]
    want(turns, cell, row, False, wanted)
    value_ends(turns, cell, values[1], values[0], 0.0, ends)
    value_ways(turns, wanted, 1, ends, rolled)
    mix(turns, row, cell, rolled, values[1])


@kernel
def remember(turns, responder, scratch):
    """Solve a responder by one backward induction: its values and its choice."""
    for turn in range(len(turns.order) - 1, -1, -1):
        cell = turns.order[turn]
        want(turns, cell, responder.policy[cell], True, scratch.wanted)
        value_mine(turns, responder, cell, scratch.ends, scratch.wanted)
        for memory in range(turns.place.shape[2]):
            if responder.met[0, cell, memory]:
                choose(turns, responder, cell, memory)
        value_theirs(turns, responder, cell, scratch.ends, scratch.wanted, scratch.rolled)


@kernel
def reach(turns, responder, scratch, start, found):
    """Add the reach of every state by mover to zeros; every roll counts once where none is chosen.

    A fair coin says who begins, with memory `start`.
    """
    found[0, 0, start] = found[1, 0, start] = 0.5
    for turn in range(len(turns.order)):
        cell = turns.order[turn]
        places = turns.place[turns.situation[cell]]
        for memory in range(places.shape[1]):
            here, chosen = found[0, cell, memory], responder.chosen[cell, memory]
            if here > 0.0:
                for roll in range(len(places)):
                    if chosen == roll or chosen < 0:
                        scratch.masses[places[roll, memory]] += here
        send(turns, cell, found[0], found[1], scratch.masses, scratch.skipped, scratch.flows)
        roll_out(turns, responder.policy[cell], cell, found[1], scratch.masses)
        send(turns, cell, found[1], found[0], scratch.masses, scratch.skipped, scratch.flows)
