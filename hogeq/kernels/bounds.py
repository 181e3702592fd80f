"""A lower bound on the value of every state of a graph, which rounding cannot raise above it.

*Good* is the player whom the bound is for; payoffs are to good. There are C positions, H memories,
K actions. A *way* to play is a distribution over outcomes. Records are those of
:mod:`hogeq.kernels.arrays`: `graph` a LevelGraph, `conduct` a Conduct, `bounds` StateBounds.

The value v of all states satisfies v = T(v), where T(x) is what one turn is worth if states after
it are worth x, and T is monotone. So from L <= v follow T(L) <= v, and max(L, T(L)) <= v, in place
too. In a level that recurs, L begins with the least payoff, and with `endless_payoff` at states
that are *safe*: good can play on so that whatever follows is safe, or is worth `endless_payoff` at
least, whether play ends or not. The set of these states is the largest that has this property.

Where the other player can stay for as long as it likes, such bounds never rise. So L can fall as
well, from any numbers, to some with L <= T(L) everywhere, and L <= `endless_payoff` in all states
in which play can stay for ever, whoever helps. Let good play what is best in T(L). Then L of the
state never falls in the mean. Play ends with a payoff; or it comes to stay, with probability 1,
where L <= `endless_payoff`. So what good gets is L at least.
"""

import numpy as np

from hogeq.kernels.arrays import MAXIMISE, MEAN_ROUNDINGS, PLAY, TINY
from hogeq.kernels.cache import kernel, part, routine
from hogeq.kernels.graph_turns import end_entry, outcomes_of
from hogeq.support.floats import UNIT_ROUNDOFF

# Indices of `progress`, where a computation stands: level, phase and round, and all rounds so far.
LEVEL, PHASE, ROUND, TOTAL = range(4)
# Phases of a level that recurs: find the safe states, let bounds rise from there; find the states
# where play can stay for ever, let bounds fall.
SAFE, RISE, STAY, FALL = range(4)


@part
def ways_at(graph, position, memory):
    """Return the ways of the actions in a state, to its last action; -1 is no action."""
    situation = graph.situation[position]
    return graph.action_way[situation, memory, : graph.num_actions[situation]]


@part
def memory_after(graph, entry, memory):
    """Return the memory after an end, by its index, of a turn begun with a memory."""
    return graph.next_memory[graph.end_label[entry], graph.lane[memory]]


@part
def bound_after(graph, lower, position, memory, outcome):
    """Return the lower bound on what follows an outcome of an action: of the next state, or payoff.

    `lower`, (C, H), has the bounds by position and memory.
    """
    entry = end_entry(graph, position, graph.outcome_end[outcome])
    next_position = graph.next_position[entry]
    if next_position < 0:
        return graph.payoff[-1 - next_position]
    return lower[next_position, memory_after(graph, entry, memory)]


@part
def mean_error(count, total_size):
    """Bound the error of a mean of `count` numbers before it is divided by the chances' sum.

    `total_size` is the sum of the sizes of its terms; see `MEAN_ROUNDINGS`.
    """
    return (2 * count + MEAN_ROUNDINGS) * (UNIT_ROUNDOFF * total_size + TINY)


@part
def way_bound(graph, lower, position, memory, way):
    """Return a lower bound on the expected value of a way to play, rounding included.

    A way is a distribution over outcomes, `lower`, (C, H), has bounds of all states. Chances are
    divided by their sum. The mean is no less than the least number, either: so rounding does not
    add up where play stays among equals.
    """
    outcomes = outcomes_of(graph, way)
    if len(outcomes) == 1:  # nothing is drawn, nothing is rounded
        return bound_after(graph, lower, position, memory, graph.outcome_start[way])
    total, total_size, total_chance = 0.0, 0.0, 0.0
    least = np.inf
    for outcome in outcomes:
        chance = graph.outcome_chance[outcome]
        after = bound_after(graph, lower, position, memory, outcome)
        total += chance * after
        total_size += abs(chance * after)
        total_chance += chance
        if chance > 0.0:
            least = min(least, after)
    return max((total - mean_error(len(outcomes), total_size)) / total_chance, least)


@part
def bound_of_policy(graph, lower, position, memory, probabilities):
    """Return a lower bound on the value of a state in which actions have `probabilities`, (K,).

    It is the mean of the bounds of their ways, rounding included as in :func:`way_bound`; `lower`,
    (C, H), has bounds of all states.
    """
    ways = ways_at(graph, position, memory)
    total, total_size, total_probability = 0.0, 0.0, 0.0
    least, num_played = np.inf, 0
    for action in range(len(ways)):
        probability = probabilities[action]
        if ways[action] >= 0 and probability > 0.0:
            action_bound = way_bound(graph, lower, position, memory, ways[action])
            num_played += 1
            least = min(least, action_bound)
            total += probability * action_bound
            total_size += abs(probability * action_bound)
            total_probability += probability
    return max((total - mean_error(num_played, total_size)) / total_probability, least)


@part
def bound_of_choice(graph, lower, position, memory, act, best):
    """Return a lower bound on the value of a state in which the best or worst action is taken.

    The best if `act` is MAXIMISE, the worst if MINIMISE; ``best[0]`` gets it, the first of equals.
    `lower`, (C, H), has bounds of all states.
    """
    ways = ways_at(graph, position, memory)
    bound = 0.0
    best[0] = -1
    for action in range(len(ways)):
        if ways[action] >= 0:  # the action exists
            action_bound = way_bound(graph, lower, position, memory, ways[action])
            is_better = action_bound > bound if act == MAXIMISE else action_bound < bound
            if best[0] < 0 or is_better:
                bound = action_bound
                best[0] = action
    return bound


@routine
def value_by_one_turn(graph, bounds, conduct, position, memory):
    """Return a lower bound on the value of a state, by one turn from the bounds of all others.

    One Bellman update. Who moves acts by the probabilities of its policy if ``conduct.acts`` says
    PLAY, else by the action best (MAXIMISE) or worst (MINIMISE) for whom the bound is for.
    ``bounds.best[0]`` gets that action, -1 for a policy.
    """
    player = graph.player[position]
    act = conduct.acts[player]
    if act == PLAY:
        bounds.best[0] = -1
        probabilities = conduct.policies[player][graph.row[position]]
        return bound_of_policy(graph, bounds.lower, position, memory, probabilities)
    return bound_of_choice(graph, bounds.lower, position, memory, act, bounds.best)


@part
def is_safe_way(graph, bounds, endless_payoff, level, position, memory, way):
    """Whether every outcome of a way is a safe state of the level, or worth `endless_payoff`.

    That is the payoff of a play that never ends; from a safe state, a player can get it at least. A
    way is a distribution over outcomes, a level a set of positions that play may return to.
    ``bounds.is_safe`` marks the safe states of the level with 1. States of later levels are worth
    their bounds at least.
    """
    low, high = graph.level_start[level], graph.level_start[level + 1]
    for outcome in outcomes_of(graph, way):
        if graph.outcome_chance[outcome] <= 0.0:
            continue
        entry = end_entry(graph, position, graph.outcome_end[outcome])
        next_position = graph.next_position[entry]
        if next_position < 0:  # play is over
            if graph.payoff[-1 - next_position] < endless_payoff:
                return False
            continue
        next_memory = memory_after(graph, entry, memory)
        if low <= next_position < high:
            if bounds.is_safe[next_position, next_memory] == 0:
                return False
        elif bounds.lower[next_position, next_memory] < endless_payoff:
            return False
    return True


@routine
def stays_safe(graph, bounds, conduct, endless_payoff, level, position, memory):
    """Whether a player can play on safely from a state; ``bounds.best[0]`` gets an action, or -1.

    An action is safe if all that may follow is a safe state again, or worth `endless_payoff` at
    least, what a play without end pays. If the player whom the bound is for moves (MAXIMISE), one
    safe action is enough. Else all actions, or all that a policy plays (PLAY), must be safe.
    """
    player, row = graph.player[position], graph.row[position]
    act = conduct.acts[player]
    ways = ways_at(graph, position, memory)
    bounds.best[0] = -1
    for action in range(len(ways)):
        way = ways[action]
        if way < 0:  # no action
            continue
        if act == PLAY and conduct.policies[player][row, action] <= 0.0:
            continue
        is_safe = is_safe_way(graph, bounds, endless_payoff, level, position, memory, way)
        if act == MAXIMISE:
            if is_safe:
                bounds.best[0] = action
                return True
        elif not is_safe:
            return False
    return act != MAXIMISE


@part
def positions_of(graph, level):
    """Return the range of the positions of a level."""
    return range(graph.level_start[level], graph.level_start[level + 1])


@part
def positions_backward(graph, level):
    """Return the range of the positions of a level, the last first."""
    return range(graph.level_start[level + 1] - 1, graph.level_start[level] - 1, -1)


@routine
def remove_unsafe(graph, bounds, conduct, endless_payoff, level):
    """Unmark states of a level from which play cannot go on safely, in one sweep; return how many.

    A level is a set of positions that play may return to; a state is safe if the player can stay
    among safe states, or get the payoff of an endless play, for ever. What is left in
    ``bounds.is_safe`` after sweeps that unmark none is the largest such set: a greatest fixed
    point.
    """
    removed = 0
    for position in positions_backward(graph, level):
        for memory in range(bounds.lower.shape[1]):
            if bounds.is_safe[position, memory] and not stays_safe(
                graph, bounds, conduct, endless_payoff, level, position, memory
            ):
                bounds.is_safe[position, memory] = 0
                removed += 1
    return removed


@part
def sweep_unsafe(graph, bounds, conduct, endless_payoff, progress, level):
    """Do a sweep of :func:`remove_unsafe`, at first from all states of a level; whether it is done.

    It is done once a sweep removes none.
    """
    if progress[ROUND] == 0:
        bounds.is_safe[graph.level_start[level] : graph.level_start[level + 1]] = 1
    progress[ROUND] += 1
    return remove_unsafe(graph, bounds, conduct, endless_payoff, level) == 0


@part
def enter_phase(progress, phase):
    """Write to `progress` that the work on a level is at the first round of a phase."""
    progress[PHASE] = phase
    progress[ROUND] = 0


@routine
def begin_raising(graph, bounds, conduct, rule, level):
    """Set the lower bounds from which value iteration rises at the states of a level.

    They are `endless_payoff` at safe states, from which the player can get it for certain, else the
    least payoff. Actions are set as well: at safe states one that stays safe, elsewhere -1 for
    none.
    """
    for position in positions_of(graph, level):
        for memory in range(bounds.lower.shape[1]):
            bounds.lower[position, memory] = rule.least_payoff
            bounds.chosen[position, memory] = -1
            if bounds.is_safe[position, memory]:
                stays_safe(graph, bounds, conduct, rule.endless_payoff, level, position, memory)
                bounds.lower[position, memory] = rule.endless_payoff
                bounds.chosen[position, memory] = bounds.best[0]


@routine
def raise_bounds(graph, bounds, conduct, level):
    """Raise the lower bounds of a level in one round of value iteration; return the largest rise.

    A level is a set of positions that play may return to. Each of its states, a position and a
    memory, is valued by one turn, in place: ``bounds.lower``, (C, H). ``bounds.chosen``, (C, H),
    are the actions that raised a bound last.
    """
    lower, chosen = bounds.lower, bounds.chosen
    largest_rise = 0.0
    for position in positions_backward(graph, level):
        for memory in range(lower.shape[1]):
            value = value_by_one_turn(graph, bounds, conduct, position, memory)
            if value > lower[position, memory]:
                largest_rise = max(largest_rise, value - lower[position, memory])
                lower[position, memory] = value
                chosen[position, memory] = bounds.best[0]
            elif chosen[position, memory] < 0:
                chosen[position, memory] = bounds.best[0]
    return largest_rise


@part
def begin_lowering(graph, bounds, rule, level):
    """Begin to lower a level's bounds from the numbers ``bounds.start``, and save those so far.

    A level is a set of positions that play may return to. Afterwards `start` and `chosen_before`
    have the bounds and actions so far, in case that nothing is gained by falling. States marked in
    `is_safe`, in which play can stay for ever, begin at `endless_payoff` at most.
    """
    for position in positions_of(graph, level):
        for memory in range(bounds.lower.shape[1]):
            start = bounds.start[position, memory]
            if bounds.is_safe[position, memory]:
                start = min(start, rule.endless_payoff)
            bounds.start[position, memory] = bounds.lower[position, memory]
            bounds.chosen_before[position, memory] = bounds.chosen[position, memory]
            bounds.lower[position, memory] = start


@routine
def lower_numbers(graph, bounds, conduct, level):
    """Lower the numbers of a level in one round of value iteration; whether one fell.

    A level is a set of positions that play may return to. The numbers are ``bounds.lower``, (C, H),
    by position and memory; once none falls any more, each is a lower bound on the value of its
    state. ``bounds.chosen``, (C, H), gets the actions.
    """
    is_lower = False
    for position in positions_backward(graph, level):
        for memory in range(bounds.lower.shape[1]):
            value = value_by_one_turn(graph, bounds, conduct, position, memory)
            bounds.chosen[position, memory] = bounds.best[0]
            if value < bounds.lower[position, memory]:
                bounds.lower[position, memory] = value
                is_lower = True
    return is_lower


@part
def end_lowering(graph, bounds, rule, is_valid, level):
    """Restore a level's lower bounds from before they fell, unless those that fell are better.

    Numbers that fall in rounds of value iteration are bounds once none can fall further
    (`is_valid`). They are better if one is higher than before by more than `least_rise`.
    """
    lower, before = bounds.lower, bounds.start
    gains = False
    for position in positions_of(graph, level):
        for memory in range(lower.shape[1]):
            least = before[position, memory] + rule.least_rise
            gains = gains or lower[position, memory] > least
    if not (is_valid and gains):
        for position in positions_of(graph, level):
            for memory in range(lower.shape[1]):
                lower[position, memory] = before[position, memory]
                bounds.chosen[position, memory] = bounds.chosen_before[position, memory]


@part
def value_level(graph, bounds, conduct, level):
    """Bound the states of a level that does not recur, by one turn of each."""
    for position in positions_of(graph, level):
        for memory in range(bounds.lower.shape[1]):
            value = value_by_one_turn(graph, bounds, conduct, position, memory)
            bounds.lower[position, memory] = value
            bounds.chosen[position, memory] = bounds.best[0]


@part
def advance(graph, conduct, conduct_to_stay, rule, bounds, progress, level, is_over):
    """Do one round of the work on a level's bounds; return whether the level is done.

    A level is a set of positions; if play may return to them, the level goes through the phases
    that :func:`bound_below` describes, with the arguments of that; else one round is enough.
    """
    if graph.level_recurs[level] == 0:
        value_level(graph, bounds, conduct, level)
        progress[TOTAL] += 1
        return True
    if progress[PHASE] == SAFE:
        payoff = rule.endless_payoff
        if is_over:  # to know fewer safe states makes bounds lower
            bounds.is_safe[graph.level_start[level] : graph.level_start[level + 1]] = 0
        if is_over or sweep_unsafe(graph, bounds, conduct, payoff, progress, level):
            begin_raising(graph, bounds, conduct, rule, level)
            enter_phase(progress, RISE)
        return False
    if progress[PHASE] == STAY:
        # No payoff is as good as infinity: left are states from which play can go on for ever.
        payoff = np.inf
        if not is_over and sweep_unsafe(graph, bounds, conduct_to_stay, payoff, progress, level):
            begin_lowering(graph, bounds, rule, level)
            enter_phase(progress, FALL)
        return is_over
    progress[TOTAL] += 1
    progress[ROUND] += 1
    is_last = progress[ROUND] >= rule.most_rounds or is_over
    if progress[PHASE] == RISE:
        largest_rise = raise_bounds(graph, bounds, conduct, level)
        if largest_rise <= rule.least_rise or is_last:
            enter_phase(progress, STAY)
            return not rule.falls or is_over
        return False
    is_lower = lower_numbers(graph, bounds, conduct, level)
    is_done = not is_lower or is_last
    if is_done:
        end_lowering(graph, bounds, rule, not is_lower, level)
    return is_done


@kernel
def bound_below(graph, conduct, conduct_to_stay, rule, bounds, progress, states, is_over):
    """Fill lower bounds on all values, (C, H), from the last level to the first; resumable.

    A level is a set of positions; it recurs if play may return to them. One that does not is valued
    by one turn of each state. One that recurs goes through phases, in rounds over its states: SAFE
    finds from which the payoff of an endless play is certain, RISE raises the bounds; if it
    `falls`, STAY finds where play can stay for ever, and FALL lowers other numbers to bounds, which
    are taken if they are better.

    - `conduct`, `conduct_to_stay`: how all act, to get values, and to stay for ever.
    - `rule`: a :class:`hogeq.kernels.arrays.BoundRule`.
    - `progress`: int64 (4,), `LEVEL`, `PHASE`, `ROUND` and `TOTAL`: where to go on. The level is -1
      when all is done.
    - `states`: about how many values are computed before the kernel returns.
    - `is_over`: whether bounds that hold are wanted at once: levels that are left have one round.
    """
    while progress[LEVEL] >= 0 and states > 0:
        level = progress[LEVEL]
        states -= len(positions_of(graph, level)) * bounds.lower.shape[1]
        if advance(graph, conduct, conduct_to_stay, rule, bounds, progress, level, is_over):
            progress[LEVEL] -= 1
            enter_phase(progress, SAFE)
