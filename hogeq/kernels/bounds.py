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

MAXIMISE, MINIMISE, PLAY = range(3)  # what who moves does: play is by a table
LEVEL, PHASE, ROUND, TOTAL = range(4)  # where a computation stands; all rounds of all levels
SAFE, RISE, STAY, FALL = range(4)  # phases of a level that recurs
UNIT = 2.0**-53  # relative error of one operation
TINY = 2.0**-1074  # absolute error of a product that is too small to have a relative one


@part
def after_bound(graph, bound, position, memory, outcome):
    """Give the bound, (C, H), of the state after an outcome of an action, or the payoff there."""
    entry = graph.place[position] + graph.end[outcome]
    next_position = graph.next[entry]
    if next_position < 0:
        return graph.payoff[-1 - next_position]
    return bound[next_position, graph.following[graph.label[entry], graph.lane[memory]]]


@part
def way_bound(graph, bound, position, memory, way):
    """Bound the expected value of a way to play from below, whatever is rounded.

    Chances are divided by their sum. What n rounded chances make of n numbers is within 2 n + 8
    units of what those that were meant do, times the mean of their sizes; and it is no less than
    the least of them, so that rounding does not add up where play stays among equals.
    """
    first, last = graph.first[way], graph.first[way + 1]
    if last - first == 1:
        return after_bound(graph, bound, position, memory, first)
    total, size, chances, least = 0.0, 0.0, 0.0, np.inf
    for outcome in range(first, last):
        chance = graph.chance[outcome]
        after = after_bound(graph, bound, position, memory, outcome)
        total += chance * after
        size += abs(chance * after)
        chances += chance
        if chance > 0.0:
            least = min(least, after)
    return max((total - (2 * (last - first) + 8) * (UNIT * size + TINY)) / chances, least)


@routine
def state_bound(graph, bound, acts, tables, position, memory, best):
    """Bound the value of a state by one turn, from the bounds, (C, H), of those that follow.

    Who moves acts by ``acts[player]``: by its table, or by the best or worst action. `best`, (1,),
    gets that action, -1 for a table.
    """
    player = graph.player[position]
    act, row = acts[player], graph.row[position]
    ways = graph.way[graph.situation[position], memory]
    value, least, size, shares, plays = 0.0, np.inf, 0.0, 0.0, 0
    best[0] = -1
    for action in range(len(ways)):
        if ways[action] < 0:
            continue
        share = tables[player][row, action] if act == PLAY else 1.0
        if share <= 0.0:
            continue
        action_value = way_bound(graph, bound, position, memory, ways[action])
        plays += 1
        if act == PLAY:
            least = min(least, action_value)
            value += share * action_value
            size += abs(share * action_value)
            shares += share
        else:
            is_better = action_value > value if act == MAXIMISE else action_value < value
            if best[0] < 0 or is_better:
                value, best[0] = action_value, action
    if act == PLAY:
        value = max((value - (2 * plays + 8) * (UNIT * size + TINY)) / shares, least)
    return value


@part
def is_safe(graph, bound, safe, endless, low, high, position, memory, way):
    """Whether every outcome of a way is a safe state of the level, or worth `endless` at least."""
    for outcome in range(graph.first[way], graph.first[way + 1]):
        if graph.chance[outcome] <= 0.0:
            continue
        entry = graph.place[position] + graph.end[outcome]
        next_position = graph.next[entry]
        if next_position < 0:
            if graph.payoff[-1 - next_position] < endless:
                return False
            continue
        learned = graph.following[graph.label[entry], graph.lane[memory]]
        if low <= next_position < high:
            if safe[next_position, learned] == 0:
                return False
        elif bound[next_position, learned] < endless:
            return False
    return True


@routine
def stays_safe(graph, bound, safe, acts, tables, endless, low, high, position, memory, best):
    """Whether good can play on safely from a state; `best` is set to an action that does."""
    player = graph.player[position]
    ways = graph.way[graph.situation[position], memory]
    best[0] = -1
    for action in range(len(ways)):
        way = ways[action]
        if way < 0:
            continue
        if acts[player] == PLAY and tables[player][graph.row[position], action] <= 0.0:
            continue
        fits = is_safe(graph, bound, safe, endless, low, high, position, memory, way)
        if acts[player] == MAXIMISE:
            if fits:
                best[0] = action
                return True
        elif not fits:
            return False
    return acts[player] != MAXIMISE


@routine
def remove_unsafe(graph, bound, safe, acts, tables, endless, low, high, best):
    """Unmark states of a level from which play cannot go on safely, in one sweep; count them."""
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
    """Set the bounds from which a level rises: the least payoff, at safe states `endless`."""
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
    """Raise the bounds of a level in one round; give the largest rise."""
    largest = 0.0
    for position in range(high - 1, low - 1, -1):
        for memory in range(bound.shape[1]):
            value = state_bound(graph, bound, acts, tables, position, memory, best)
            if value > bound[position, memory]:
                largest = max(largest, value - bound[position, memory])
                bound[position, memory] = value
                chosen[position, memory] = best[0]
            elif chosen[position, memory] < 0:
                chosen[position, memory] = best[0]
    return largest


@part
def begin_to_fall(bound, chosen, above, kept, safe, endless, low, high):
    """Exchange a level's bounds for those `above`, from which they fall; keep what was chosen."""
    for position in range(low, high):
        for memory in range(bound.shape[1]):
            first = above[position, memory]
            above[position, memory] = bound[position, memory]
            kept[position, memory] = chosen[position, memory]
            bound[position, memory] = min(first, endless) if safe[position, memory] else first


@routine
def fall(graph, bound, chosen, acts, tables, low, high, best):
    """Lower the bounds of a level in one round; say whether one fell."""
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
    """Keep bounds that fell if all did, and one is higher by more than `settled`; else restore."""
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
    """Go on filling lower bounds on all values, (C, H), from the last level to the first.

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
                at[PHASE], at[ROUND] = RISE, 0
        elif at[PHASE] == RISE:
            largest = rise(graph, bound, chosen, acts, tables, low, high, best)
            at[ROUND] += 1
            at[TOTAL] += 1
            if largest <= settled or at[ROUND] >= rounds or is_over:
                is_done = not falls or is_over
                at[PHASE], at[ROUND] = STAY, 0
        elif at[PHASE] == STAY:
            if at[ROUND] == 0:
                safe[low:high] = 1
            at[ROUND] += 1
            is_done = is_over
            if (
                not is_over
                and remove_unsafe(graph, bound, safe, helping, tables, np.inf, low, high, best) == 0
            ):
                begin_to_fall(bound, chosen, above, kept, safe, endless, low, high)
                at[PHASE], at[ROUND] = FALL, 0
        else:
            is_lower = fall(graph, bound, chosen, acts, tables, low, high, best)
            at[ROUND] += 1
            at[TOTAL] += 1
            is_done = not is_lower or at[ROUND] >= rounds or is_over
            if is_done:
                end_fall(bound, chosen, above, kept, settled, not is_lower, low, high)
        if is_done:
            at[LEVEL] -= 1
            at[PHASE], at[ROUND] = SAFE, 0
