"""Passes of a responder that knows every state and pays dual prices.

The responder is the Lagrangian relaxation of one that forgets: it may act by the whole state, and
pays a dual price of the row's non-anticipativity constraint for each action there.

Sizes, states, ways, slots and lanes are those of :mod:`hogeq.kernels.graph_turns`; of the C
positions the responder moves at O, its *own*, which are numbered by themselves.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.arrays import Play
from hogeq.kernels.cache import kernel, part
from hogeq.kernels.graph_turns import (
    average_over_actions,
    probabilities_at,
    send_on,
    send_ways_on,
    value_ends,
    value_way,
    value_ways,
    ways_of,
)

Floats = NDArray[np.float64]

VALUE_TIE = 1e-11  # values less than this apart are equal, however a processor rounds


class Responder(NamedTuple):
    """A responder against one policy, with its prices and values."""

    play: Play  # of one policy, the other player's
    payoff: Floats  # (T,) to the responder
    own_index: NDArray[np.int64]  # (C,) number among the own positions, -1 where others move
    prices: Floats  # (O, H, K) dual prices of its actions
    is_reachable: NDArray[np.uint8]  # (C, H) 1 where play can come: nothing else is of use
    is_used_way: NDArray[np.uint8]  # (O, U) 1 for ways in which it may play
    values: Floats  # (C, H) expected payoff less the prices that it pays from there on
    way_values: Floats  # (O, U * J) the same after each way to play, before the action's price
    best_action: NDArray[np.int8]  # (O, H) the first of equals; -1 before there is one
    largest_size: Floats  # (1,) so far of a price, of a row's part of it, or of a worth


@part
def choose(graph, responder, position, memory):
    """Fill the responder's value and best action in a state where it moves: position and memory.

    An action is worth the expected value of its turn, less its dual price. The former is the entry
    of `way_values` at the action's slot, the way by which it is played in the memory. The best
    action is the first of those that are within `VALUE_TIE` of the largest value.
    """
    own = responder.own_index[position]
    slots = graph.action_slot[graph.situation[position]]
    way_values = responder.way_values[own]
    prices = responder.prices[own, memory]
    best_value = -np.inf
    for action in range(len(slots)):
        best_value = max(best_value, way_values[slots[action, memory]] - prices[action])
    responder.values[position, memory] = best_value
    for action in range(len(slots) - 1, -1, -1):
        if way_values[slots[action, memory]] - prices[action] >= best_value - VALUE_TIE:
            responder.best_action[own, memory] = action


@part
def value_used_ways(graph, responder, position, width, end_values, way_values):
    """Fill the expected values of the ways that the responder may play at an own position, by slot.

    A way is a distribution over the ends of a turn. Its values are the means of `end_values`, by
    end and lane (what the memory hands on); both arrays have `width` numbers for each lane. Ways
    that no state uses are left out.
    """
    own = responder.own_index[position]
    ways = ways_of(graph, graph.situation[position])
    for number in range(responder.is_used_way.shape[1]):
        if responder.is_used_way[own, number]:
            value_way(graph, ways[number], number, width, end_values, way_values)


@part
def value_own_ways(graph, responder, position, end_values):
    """Fill the responder's values of the ways that it may play at an own position, by slot."""
    way_values = responder.way_values[responder.own_index[position]]
    value_ends(graph, position, responder.values, responder.payoff, end_values)
    value_used_ways(graph, responder, position, 1, end_values, way_values)


@part
def value_others_states(graph, responder, position, scratch):
    """Fill the responder's values, (H,), at a position where the other player or nature moves."""
    values, payoff = responder.values, responder.payoff
    probabilities = probabilities_at(graph, position, responder.play)
    way_values = value_ways(graph, position, probabilities, values, payoff, scratch, 0)
    average_over_actions(graph, position, probabilities, way_values, values[position])


@kernel
def remember(graph, responder, scratch):
    """Solve a responder with full memory at its prices: fill values and actions, bottom-up.

    It knows the state, a position and a memory, and pays a dual price for each action there.
    """
    for order_index in range(len(graph.position_order) - 1, -1, -1):
        position = graph.position_order[order_index]
        if responder.own_index[position] < 0:
            value_others_states(graph, responder, position, scratch)
            continue
        value_own_ways(graph, responder, position, scratch.end_values)
        for memory in range(responder.is_reachable.shape[1]):
            if responder.is_reachable[position, memory]:
                choose(graph, responder, position, memory)


@kernel
def reach(graph, responder, scratch, state_reach):
    """Add the reach probability of every state, top-down, to `state_reach` (C, H).

    Before, it has the probabilities that play begins in each state: a position and a memory. The
    responder takes its best actions. Where it has none yet, every action is taken with weight 1:
    then positive reach says that play can come to a state. Reach goes from a state to the slots of
    its actions, `way_reach`, and from there to the states that follow. A slot is a way (a
    distribution over outcomes) in a lane (what the memory hands on).
    """
    way_reach = scratch.way_reach
    for position in graph.position_order:
        own = responder.own_index[position]
        if own < 0:
            probabilities = probabilities_at(graph, position, responder.play)
            send_on(graph, position, probabilities, state_reach[position], state_reach, scratch)
            continue
        slots = graph.action_slot[graph.situation[position]]
        for memory in range(state_reach.shape[1]):
            present_reach = state_reach[position, memory]
            best_action = responder.best_action[own, memory]
            if present_reach > 0.0:
                for action in range(len(slots)):
                    if best_action == action:
                        way_reach[slots[action, memory]] += present_reach
                    elif best_action < 0:
                        # Cut off at 1, or weights would grow with the number of plays.
                        way_reach[slots[action, memory]] += min(present_reach, 1.0)
        send_ways_on(graph, position, scratch.all_actions, state_reach, scratch)
