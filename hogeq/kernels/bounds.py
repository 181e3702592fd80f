"""A lower bound on the value of every state of a graph, which rounding cannot raise above it.

*Good* is whom the bound is for. Arrays are those of `hogeq.Graph`, of C positions, H memories, K
actions; payoffs are to good.

The value v of all states satisfies v = T(v), where T(x) is what one turn is worth if states after
it are worth x, and T is monotone. So from L <= v follow T(L) <= v, and max(L, T(L)) <= v, in place
too. In a level that recurs, L begins with the least payoff, and with `endless` at states that are
*safe*: good can play on so that whatever follows is safe, or is worth `endless` at least, whether
play ends or not. The set of these states is the largest that has this property.
"""

from hogeq.kernels.cache import kernel, part

MAXIMISE, MINIMISE, PLAY = range(3)  # what who moves does: play is by a table
UNIT = 2.0**-53  # relative error of one operation


@part
def after_of(graph, bound, position, memory, outcome):
    """Bound on the value after an outcome."""
    entry = graph.place[position] + graph.end[outcome]
    there = graph.next[entry]
    if there < 0:
        return graph.payoff[-1 - there]
    return bound[there, graph.following[graph.label[entry], graph.lane[memory]]]


@part
def action_bound(graph, bound, position, memory, way):
    """Bound on the value of a way to play, rounded down.

    Chances are divided by their sum. What n rounded chances make of n numbers is within 2 n + 8
    units of what those that were meant do, times the mean of their sizes.
    """
    first, last = graph.first[way], graph.first[way + 1]
    if last - first == 1:
        return after_of(graph, bound, position, memory, first)
    total, size, chances = 0.0, 0.0, 0.0
    for outcome in range(first, last):
        chance = graph.chance[outcome]
        worth = chance * after_of(graph, bound, position, memory, outcome)
        total += worth
        size += abs(worth)
        chances += chance
    return (total - (2 * (last - first) + 8) * UNIT * size) / chances


@part
def state_bound(graph, bound, acts, tables, position, memory, best):
    """Bound on the value of a state; `best` is set to an action that has it."""
    player = graph.player[position]
    act, row = acts[player], graph.row[position]
    ways = graph.way[graph.situation[position], memory]
    found, alone, size, shares, plays = 0.0, 0.0, 0.0, 0.0, 0
    best[0] = -1
    for action in range(len(ways)):
        if ways[action] < 0:
            continue
        share = tables[player][row, action] if act == PLAY else 1.0
        if share <= 0.0:
            continue
        worth = action_bound(graph, bound, position, memory, ways[action])
        plays += 1
        if act == PLAY:
            alone = worth
            found += share * worth
            size += abs(share * worth)
            shares += share
        elif best[0] < 0 or (worth > found if act == MAXIMISE else worth < found):
            found, best[0] = worth, action
    if act == PLAY:
        found = alone if plays == 1 else (found - (2 * plays + 8) * UNIT * size) / shares
    return found


@part
def is_safe(graph, bound, safe, endless, low, high, position, memory, way):
    """Whether every outcome of a way is safe, or is worth `endless` at least."""
    for outcome in range(graph.first[way], graph.first[way + 1]):
        if graph.chance[outcome] <= 0.0:
            continue
        entry = graph.place[position] + graph.end[outcome]
        there = graph.next[entry]
        if there < 0:
            if graph.payoff[-1 - there] < endless:
                return False
            continue
        learned = graph.following[graph.label[entry], graph.lane[memory]]
        if low <= there < high:
            if safe[there, learned] == 0:
                return False
        elif bound[there, learned] < endless:
            return False
    return True


@part
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


@kernel
def bound_below(graph, acts, tables, least, endless, rounds, settled, bound, chosen, safe, best):
    """Fill lower bounds on all values, (C, H); give the number of rounds of all levels.

    Parameters
    ----------
    graph : named tuple of arrays
    acts : int64 (3,)
        What players 0 and 1 and nature do.
    tables : three arrays float64 (R, K)
        What they play.
    least, endless : float
        The least payoff, and that of a play without end.
    rounds, settled : int, float
        Most rounds of a level, which end when no bound rises by more than `settled`.
    bound, chosen : float64, int32 (C, H)
        To fill: bounds, and the action of good that last raised each.
    safe, best : uint8 (C, H), int64 (1,)
        Scratch.
    """
    memories, total = bound.shape[1], 0
    for level in range(len(graph.level) - 2, -1, -1):
        low, high = graph.level[level], graph.level[level + 1]
        if graph.recurring[level] == 0:
            for position in range(low, high):
                for memory in range(memories):
                    bound[position, memory] = state_bound(
                        graph, bound, acts, tables, position, memory, best
                    )
                    chosen[position, memory] = best[0]
            total += 1
            continue
        safe[low:high] = 1
        changes = 1
        while changes:
            changes = 0
            for position in range(high - 1, low - 1, -1):
                for memory in range(memories):
                    if safe[position, memory] and not stays_safe(
                        graph, bound, safe, acts, tables, endless, low, high, position, memory, best
                    ):
                        safe[position, memory] = 0
                        changes += 1
        for position in range(low, high):
            for memory in range(memories):
                bound[position, memory] = least
                chosen[position, memory] = -1
                if safe[position, memory]:
                    stays_safe(
                        graph, bound, safe, acts, tables, endless, low, high, position, memory, best
                    )
                    bound[position, memory] = endless
                    chosen[position, memory] = best[0]
        for _ in range(rounds):
            rise = 0.0
            for position in range(high - 1, low - 1, -1):
                for memory in range(memories):
                    found = state_bound(graph, bound, acts, tables, position, memory, best)
                    if found > bound[position, memory]:
                        rise = max(rise, found - bound[position, memory])
                        bound[position, memory] = found
                        chosen[position, memory] = best[0]
                    elif chosen[position, memory] < 0:
                        chosen[position, memory] = best[0]
            total += 1
            if rise <= settled:
                break
    return total
