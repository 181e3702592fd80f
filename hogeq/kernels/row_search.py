"""Best responses of a player who forgets: ascent, and depth-first search, row by row.

Sizes: R rows, K actions, J refined information sets, S sequences, of which 0 is the empty one.
"""

from typing import NamedTuple

import numpy as np

from hogeq.kernels.cache import kernel, part
from hogeq.support.aliases import Floats, Ints


class Plays(NamedTuple):
    """Refined information sets of a player, by the order in which a search sets their rows.

    Those of row r are entries ``begins[r]`` to before ``begins[r + 1]`` of `members`; those that
    follow sequence s are entries ``ends[s]`` to before ``ends[s + 1]`` of `follows`.
    """

    rows: Ints  # (R,), rows of a policy in that order: what follows in plays comes later
    row: Ints  # (J,), index in `rows` of each refined information set
    before: Ints  # (J,), sequence that leads to each
    above: Ints  # (J,), refined information set of that sequence's last action, -1 for none
    start: Ints  # (J + 1,), sequence of its first action; those of the others follow
    members: Ints  # (J,), sorted by their rows
    begins: Ints  # (R + 1,), where those of each row begin
    follows: Ints  # (J,), sorted by the sequence before them
    ends: Ints  # (S + 1,), where those that follow each sequence begin
    legal: Ints  # (R,), number of actions of each row


class Progress(NamedTuple):
    """Scratch of a search, 0 at first: entry d of `count`, `gain` and `won` holds for d set rows.

    A refined information set is *met* if the actions in the set rows lead to it.
    """

    met: Ints  # (J,), refined information sets by row, as `begins`; the first `count` are met
    count: Ints  # (R + 1, R), how many refined information sets of each row are met
    gain: Floats  # (R + 1, R, K), value of each action, summed over these
    won: Floats  # (R + 1,), payoff of the sequences whose actions are set


@kernel
def ascend(plays, payoff, least, chosen, weights, values):
    """Improve a pure strategy row by row: one round of coordinate ascent.

    1. Fill `weights`, (J,): 1 for refined information sets that `chosen`, (R,), leads to, else 0.
       They hold for all the round, since what comes before a row is set after it.
    2. For each row, the last first: sum the values of each action over these, and take the best
       action if it gains more than `least`.
    3. Add the value of the row's action to the sequence before each refined information set.

    `payoff`, (S,), is of the ends of each sequence; `values`, (S,), scratch as `weights`, adds all
    that follows. The payoff never falls. Returns whether a row was improved: then others may be.
    """
    improves = False
    for refined in range(len(weights)):
        above = plays.above[refined]
        weights[refined] = 1.0
        if above >= 0:
            is_taken = plays.start[above] + chosen[plays.row[above]] == plays.before[refined]
            weights[refined] = weights[above] if is_taken else 0.0
    for sequence in range(len(values)):  # a slice may overlap, and would be copied
        values[sequence] = payoff[sequence]
    for row in range(len(chosen) - 1, -1, -1):
        present_value, best_value, best_action = 0.0, -np.inf, 0
        for action in range(plays.legal[row]):
            action_value = 0.0
            for entry in range(plays.begins[row], plays.begins[row + 1]):
                refined = plays.members[entry]
                action_value += weights[refined] * values[plays.start[refined] + action]
            if action == chosen[row]:
                present_value = action_value
            if action_value > best_value:
                best_value = action_value
                best_action = action
        if best_value - present_value > least:
            improves = True
            chosen[row] = best_action
        for entry in range(plays.begins[row], plays.begins[row + 1]):
            refined = plays.members[entry]
            values[plays.before[refined]] += values[plays.start[refined] + chosen[row]]
    return improves


@part
def _plan_value(plays, payoff, chosen, stack):
    """Return the payoff of a pure strategy, `chosen` (R,), by a walk over what it leads to.

    `payoff`, (S,), is of the ends of each sequence; `stack`, (J + 1,), is scratch for sequences.
    """
    stack[0] = 0  # the empty sequence
    size = 1
    total = 0.0
    while size:
        size -= 1
        sequence = stack[size]
        total += payoff[sequence]
        for entry in range(plays.ends[sequence], plays.ends[sequence + 1]):
            refined = plays.follows[entry]
            stack[size] = plays.start[refined] + chosen[plays.row[refined]]
            size += 1
    return total


@kernel
def anneal(plays, payoff, drawn, temperatures, chosen, best, stack):
    """Improve a pure strategy by simulated annealing; return the payoff of the best one.

    Each step changes the action of one row, and of a second row in half of the steps, and keeps the
    change by Metropolis's rule: always if the payoff does not fall, else with probability
    exp(change / temperature). Temperatures fall geometrically from the first to the second.

    `drawn`, (n, 5), has random numbers from 0 to 1, a line for each step: for the first row, its
    action, the second row, its action, and the rule. Written: `chosen`, (R,), the last strategy;
    `best`, (R,), the best one so far, if better than that was. `stack`, (J + 1,), is scratch.
    """
    steps, rows = len(drawn), len(chosen)
    value = _plan_value(plays, payoff, chosen, stack)
    best_value = _plan_value(plays, payoff, best, stack)
    for step in range(steps):
        progress = step / steps
        temperature = temperatures[0] ** (1.0 - progress) * temperatures[1] ** progress
        first_row = int(drawn[step, 0] * rows)
        second_row = int(drawn[step, 2] * 2 * rows)  # from `rows` on: no second row changes
        first_action = chosen[first_row]  # before the step
        chosen[first_row] = int(drawn[step, 1] * plays.legal[first_row])
        second_action = chosen[second_row % rows]
        if second_row < rows:
            chosen[second_row] = int(drawn[step, 3] * plays.legal[second_row])
        new_value = _plan_value(plays, payoff, chosen, stack)
        if new_value < value and drawn[step, 4] >= np.exp((new_value - value) / temperature):
            # In reverse, since both rows may be the same.
            chosen[second_row % rows] = second_action
            chosen[first_row] = first_action
        else:
            value = new_value
            if value > best_value:
                best_value = value
                for row in range(rows):
                    best[row] = chosen[row]
    return best_value


@kernel
def search_rows(plays, progress, payoff, values, chosen, bound, target, depth, most):
    """Find a pure strategy above a target by depth-first branch and bound; resumable.

    The first `depth` rows are set. A step, of at most `most` in a call:

    1. Take the next action in row `depth`; if there is none, unset the row and go back to the last.
    2. Add the payoff of the sequences that the action completes, and meet what follows them.
    3. Bound all strategies that begin so: that payoff, and the best action of every open row, on
       the whole, to a player who remembers everything from there on (`values`, (S,), by sequence).
    4. If the bound is above `target`, go on to the next row, else leave this part out.

    `payoff`, (S,), is of the ends of each sequence. Written: `chosen`, (R,), -1 at open rows, the
    strategy if there is one; ``bound[0]``, the highest bound of the parts left out; `progress`.
    Returns the depth: R if a strategy was found; -1, which begins a search too, if every part is
    bounded; else pass it to the next call, and the search goes on.
    """
    met, count, gain, won = progress
    rows = gain.shape[1]
    if depth < 0:
        won[0] = payoff[0]
        _meet(plays, values, met, 0, count, gain, 0)
        depth = 0
    while 0 <= depth < rows and most > 0:
        chosen[depth] += 1
        is_met = count[depth, depth] > 0  # a row that is not met has one choice
        if chosen[depth] == plays.legal[depth] or (chosen[depth] > 0 and not is_met):
            chosen[depth] = -1
            depth -= 1
        else:
            most -= 1
            for later in range(depth + 1, rows):
                count[depth + 1, later] = count[depth, later]
                for action in range(plays.legal[later]):
                    gain[depth + 1, later, action] = gain[depth, later, action]
            won[depth + 1] = won[depth]
            first_met = plays.begins[depth]
            for entry in range(first_met, first_met + count[depth, depth]):
                sequence = plays.start[met[entry]] + chosen[depth]
                won[depth + 1] += payoff[sequence]
                _meet(plays, values, met, sequence, count, gain, depth + 1)
            upper_bound = won[depth + 1]
            for later in range(depth + 1, rows):
                best_value = -np.inf
                for action in range(plays.legal[later]):
                    best_value = max(best_value, gain[depth + 1, later, action])
                upper_bound += best_value
            if upper_bound > target:
                depth += 1
            else:
                bound[0] = max(bound[0], upper_bound)
    return depth


@part
def _meet(plays, values, met, sequence, count, gain, depth):
    """Add the refined information sets that follow a sequence to those that are met at a depth.

    Written are `met`, `count` and `gain` of :class:`Progress`; `values`, (S,), by sequence, are
    those to a player who remembers everything.
    """
    for entry in range(plays.ends[sequence], plays.ends[sequence + 1]):
        refined = plays.follows[entry]
        row = plays.row[refined]
        met[plays.begins[row] + count[depth, row]] = refined
        count[depth, row] += 1
        for action in range(plays.legal[row]):
            gain[depth, row, action] += values[plays.start[refined] + action]
