"""A lower bound on the value of every state of a graph, which rounding cannot raise above it.

*Good* is the player whom the bound is for. Arrays are those of `hogeq.Graph`, of C positions, H
memories, K actions; payoffs are to good. A *way* to play is a distribution over outcomes, which are
``first[way]`` to before ``first[way + 1]``; way -1 is no action, and -1 - t in `next` the payoff t.

The value v of all states satisfies v = T(v), where T(x) is what one turn is worth if states after
it are worth x, and T is monotone. So from L <= v follow T(L) <= v, and max(L, T(L)) <= v, in place
too. In a level that recurs, L begins with the least payoff, and with `endless` at states that are
*safe*: good can play on so that whatever follows is safe, or is worth `endless` at least, whether
play ends or not. The set of these states is the largest that has this property.

Where the other player can stay for as long as it likes, such bounds never rise. So L can fall as
well, from any numbers, to some with L <= T(L) everywhere, and L <= `endless` in all states in which
play can stay for ever, whoever helps. Let good play what is best in T(L). Then L of the state never
falls in the mean. Play ends with a payoff; or it comes to stay, with probability 1, where L <=
`endless`. So what good gets is L at least.
"""

import numpy as np

from hogeq.kernels.cache import kernel, part, routine

MAXIMISE, MINIMISE, PLAY = range(3)  # how a player acts: takes the best or worst action, or a table
# Indices of `at`, where a computation stands: level, phase and round, and all rounds so far.
LEVEL, PHASE, ROUND, TOTAL = range(4)
# Phases of a level that recurs: find the safe states, let bounds rise from there; find the states
# where play can stay for ever, let bounds fall.
SAFE, RISE, STAY, FALL = range(4)
UNIT = 2.0**-53  # relative error of one operation
TINY = 2.0**-1074  # absolute error of a product that is too small to have a relative one


@part
def after_bound(graph, bound, position, memory, outcome):
    """Return the bound, (C, H), of the state after an outcome of an action, or the payoff there."""
    entry = graph.place[position] + graph.end[outcome]
    next_position = graph.next[entry]
    if next_position < 0:
        return graph.payoff[-1 - next_position]
    return bound[next_position, graph.following[graph.label[entry], graph.lane[memory]]]


@part
def way_bound(graph, bound, position, memory, way):
    """Return a lower bound on the expected value of a way to play, rounding included.

    Chances are divided by their sum. The mean of n numbers by n rounded chances misses that by the
    chances that were meant by at most 2 n + 8 units, times the mean of the numbers' sizes. It is no
    less than the least number, either: so rounding does not add up where play stays among equals.
    """
    first, last = graph.first[way], graph.first[way + 1]
    if last - first == 1:  # nothing is drawn, nothing is rounded
        return after_bound(graph, bound, position, memory, first)
    total, total_size, total_chance = 0.0, 0.0, 0.0
    least = np.inf
    for outcome in range(first, last):
        chance = graph.chance[outcome]
        after = after_bound(graph, bound, position, memory, outcome)
        total += chance * after
        total_size += abs(chance * after)
        total_chance += chance
        if chance > 0.0:
            least = min(least, after)
    error = (2 * (last - first) + 8) * (UNIT * total_size + TINY)
    return max((total - error) / total_chance, least)


@routine
def state_bound(graph, bound, acts, tables, position, memory, best):
    """Return a lower bound on the value of a state, by one turn from the others' bounds, (C, H).

    Who moves acts by ``acts[player]``: by the probabilities of its table, PLAY, or by the best or
    worst action. `best`, (1,), gets that action, -1 for a table. Rounding is bounded as in
    :func:`way_bound`.
    """
    player = graph.player[position]
    act = acts[player]
    row = graph.row[position]
    ways = graph.way[graph.situation[position], memory]
    value, least = 0.0, np.inf
    total_size, total_probability, num_played = 0.0, 0.0, 0
    best[0] = -1
    for action in range(len(ways)):
        if ways[action] < 0:  # no action
            continue
        probability = tables[player][row, action] if act == PLAY else 1.0
        if probability <= 0.0:
            continue
        action_value = way_bound(graph, bound, position, memory, ways[action])
        num_played += 1
        if act == PLAY:
            least = min(least, action_value)
            value += probability * action_value
            total_size += abs(probability * action_value)
            total_probability += probability
        else:
            is_better = action_value > value if act == MAXIMISE else action_value < value
            if best[0] < 0 or is_better:
                value = action_value
                best[0] = action
    if act == PLAY:
        error = (2 * num_played + 8) * (UNIT * total_size + TINY)
        value = max((value - error) / total_probability, least)
    return value


@part
def is_safe(graph, bound, safe, endless, low, high, position, memory, way):
    """Whether every outcome of a way is a safe state of the level, or worth `endless` at least.

    The level has the positions from `low`, below `high`; `safe` (C, H) marks its safe states with
    1. States of later levels are worth their `bound`, (C, H), at least.
    """
    for outcome in range(graph.first[way], graph.first[way + 1]):
        if graph.chance[outcome] <= 0.0:
            continue
        entry = graph.place[position] + graph.end[outcome]
        next_position = graph.next[entry]
        if next_position < 0:  # play is over
            if graph.payoff[-1 - next_position] < endless:
                return False
            continue
        next_memory = graph.following[graph.label[entry], graph.lane[memory]]
        if low <= next_position < high:
            if safe[next_position, next_memory] == 0:
                return False
        elif bound[next_position, next_memory] < endless:
            return False
    return True


@routine
def stays_safe(graph, bound, safe, acts, tables, endless, low, high, position, memory, best):
    """Whether good can play on safely from a state; ``best[0]`` gets an action that does, or -1.

    If good moves (MAXIMISE), one safe action is enough. Else all actions of the state, or all that
    a table plays, must be safe. The level has the positions from `low`, below `high`.
    """
    player = graph.player[position]
    ways = graph.way[graph.situation[position], memory]
    best[0] = -1
    for action in range(len(ways)):
        way = ways[action]
        if way < 0:  # no action
            continue
        if acts[player] == PLAY and tables[player][graph.row[position], action] <= 0.0:
            continue
        is_safe_way = is_safe(graph, bound, safe, endless, low, high, position, memory, way)
        if acts[player] == MAXIMISE:
            if is_safe_way:
                best[0] = action
                return True
        elif not is_safe_way:
            return False
    return acts[player] != MAXIMISE


@routine
def remove_unsafe(graph, bound, safe, acts, tables, endless, low, high, best):
    """Unmark states of a level from which play cannot go on safely, in one sweep; return how many.

    The level has the positions from `low`, below `high`; marks are 1 in `safe`, (C, H). What is
    left after sweeps that unmark none is the largest set of safe states.
    """
    removed = 0
    for position in range(high - 1, low - 1, -1):
        for memory in range(bound.shape[1]):
            if safe[position, memory] and not stays_safe(
                graph, bound, safe, acts, tables, endless, low, high, position, memory, best
            ):
                safe[position, memory] = 0
                removed += 1
    return removed


@routine
def begin_to_rise(graph, bound, chosen, safe, acts, tables, least, endless, low, high, best):
    """Set the bounds from which a level rises: `endless` at safe states, else the least payoff.

    Written are `bound` and `chosen`, (C, H), at positions from `low`, below `high`: at safe states
    an action that stays safe, elsewhere -1 for none.
    """
    for position in range(low, high):
        for memory in range(bound.shape[1]):
            bound[position, memory] = least
            chosen[position, memory] = -1
            if safe[position, memory]:
                stays_safe(
                    graph, bound, safe, acts, tables, endless, low, high, position, memory, best
                )
                bound[position, memory] = endless
                chosen[position, memory] = best[0]


@routine
def rise(graph, bound, chosen, acts, tables, low, high, best):
    """Raise the bounds of a level in one round of value iteration; return the largest rise.

    Written are `bound` (C, H), and in `chosen` (C, H) the action that raised it last, at positions
    from `low`, below `high`, the last first.
    """
    largest_rise = 0.0
    for position in range(high - 1, low - 1, -1):
        for memory in range(bound.shape[1]):
            value = state_bound(graph, bound, acts, tables, position, memory, best)
            if value > bound[position, memory]:
                largest_rise = max(largest_rise, value - bound[position, memory])
                bound[position, memory] = value
                chosen[position, memory] = best[0]
            elif chosen[position, memory] < 0:
                chosen[position, memory] = best[0]
    return largest_rise


@part
def begin_to_fall(bound, chosen, above, kept, safe, endless, low, high):
    """Begin to lower a level's bounds from the numbers `above`, (C, H), and save the present ones.

    Afterwards `above` and `kept` have the bounds and actions so far, in case that nothing is gained
    by falling. States marked in `safe`, in which play can stay for ever, begin at `endless` at
    most. The level has the positions from `low`, below `high`.
    """
    for position in range(low, high):
        for memory in range(bound.shape[1]):
            start_bound = above[position, memory]
            if safe[position, memory]:
                start_bound = min(start_bound, endless)
            above[position, memory] = bound[position, memory]
            kept[position, memory] = chosen[position, memory]
            bound[position, memory] = start_bound


@routine
def fall(graph, bound, chosen, acts, tables, low, high, best):
    """Lower the bounds, (C, H), of a level in one round of value iteration; whether one fell."""
    is_lower = False
    for position in range(high - 1, low - 1, -1):
        for memory in range(bound.shape[1]):
            value = state_bound(graph, bound, acts, tables, position, memory, best)
            chosen[position, memory] = best[0]
            if value < bound[position, memory]:
                bound[position, memory] = value
                is_lower = True
    return is_lower


@part
def end_fall(bound, chosen, above, kept, settled, is_done, low, high):
    """Restore the bounds before the fall, `above`, unless those that fell are valid and better.

    They are valid if no bound can fall further (`is_done`), and better if one is higher by more
    than `settled`. `kept`, (C, H), are the actions from before, restored in `chosen`.
    """
    gains = False
    for position in range(low, high):
        for memory in range(bound.shape[1]):
            gains = gains or bound[position, memory] > above[position, memory] + settled
    if not (is_done and gains):
        for position in range(low, high):
            for memory in range(bound.shape[1]):
                bound[position, memory] = above[position, memory]
                chosen[position, memory] = kept[position, memory]


@kernel
def bound_below(
    graph, acts, helping, tables, least, endless, rounds, settled, falls,
    bound, chosen, above, kept, safe, best, at, states, is_over,
):  # fmt: skip
    """Fill lower bounds on all values, (C, H), from the last level to the first; resumable.

    A level that does not recur is valued by one turn of each state. One that recurs goes through
    phases, in rounds over its states: find the safe ones, raise the bounds; if it `falls`, find
    where play can stay for ever, lower other numbers to bounds, and take them if they are better.

    Filled are `bound`, float64 (C, H), and `chosen`, int32 (C, H), good's action that raised it.

    - `acts`, `helping`: int64 (3,), what players 0 and 1 and nature do, to get values, and to stay
      for ever; `tables`: three arrays float64 (R, K), what they play.
    - `least`, `endless`: the least payoff, and that of a play without end.
    - `rounds`, `settled`: most rounds of a level, which end when no bound rises by more than
      `settled`; `falls`: whether levels that recur are bounded by numbers that fall as well.
    - `above`, `kept`: float64, int32 (C, H), what these numbers fall from, and scratch; `safe`,
      `best`: uint8 (C, H), int64 (1,), scratch.
    - `at`: int64 (4,), `LEVEL`, `PHASE`, `ROUND` and `TOTAL`: where to go on. The level is -1 when
      all is done.
    - `states`: about how many values are computed before the kernel returns.
    - `is_over`: whether bounds that hold are wanted at once: levels that are left have one round.
    """
    memories = bound.shape[1]
    while at[LEVEL] >= 0 and states > 0:
        level = at[LEVEL]
        low, high = graph.level[level], graph.level[level + 1]
        states -= (high - low) * memories
        is_done = False
        if graph.recurring[level] == 0:
            for position in range(low, high):
                for memory in range(memories):
                    bound[position, memory] = state_bound(
                        graph, bound, acts, tables, position, memory, best
                    )
                    chosen[position, memory] = best[0]
            at[TOTAL] += 1
            is_done = True
        elif at[PHASE] == SAFE:
            if at[ROUND] == 0:
                safe[low:high] = 1
            at[ROUND] += 1
            if is_over:
                safe[low:high] = 0  # to know fewer safe states makes bounds lower
            if (
                is_over
                or remove_unsafe(graph, bound, safe, acts, tables, endless, low, high, best) == 0
            ):
                begin_to_rise(
                    graph, bound, chosen, safe, acts, tables, least, endless, low, high, best
                )
                at[PHASE] = RISE
                at[ROUND] = 0
        elif at[PHASE] == RISE:
            largest_rise = rise(graph, bound, chosen, acts, tables, low, high, best)
            at[ROUND] += 1
            at[TOTAL] += 1
            if largest_rise <= settled or at[ROUND] >= rounds or is_over:
                is_done = not falls or is_over
                at[PHASE] = STAY
                at[ROUND] = 0
        elif at[PHASE] == STAY:
            if at[ROUND] == 0:
                safe[low:high] = 1
            at[ROUND] += 1
            is_done = is_over
            # No payoff is as good as infinity: left are states from which play can go on for ever.
            if (
                not is_over
                and remove_unsafe(graph, bound, safe, helping, tables, np.inf, low, high, best) == 0
            ):
                begin_to_fall(bound, chosen, above, kept, safe, endless, low, high)
                at[PHASE] = FALL
                at[ROUND] = 0
        else:
            is_lower = fall(graph, bound, chosen, acts, tables, low, high, best)
            at[ROUND] += 1
            at[TOTAL] += 1
            is_done = not is_lower or at[ROUND] >= rounds or is_over
            if is_done:
                end_fall(bound, chosen, above, kept, settled, not is_lower, low, high)
        if is_done:
            at[LEVEL] -= 1
            at[PHASE] = SAFE
            at[ROUND] = 0
