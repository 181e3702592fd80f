"""Best responses of a player who forgets: ascent, and depth-first search, row by row.

Sizes: R rows, K actions, J refined information sets, S sequences, of which 0 is the empty one.
"""

from typing import NamedTuple

import numpy as np

from hogeq.kernels.cache import kernel, part
from hogeq.kernels.segments import segment
from hogeq.support.aliases import Floats, Ints


class Treeplex(NamedTuple):
    """Refined information sets of a player, by the order in which a search sets their rows.

    Those of a row, and those that follow a sequence, are lists in a packed array
    (:func:`hogeq.kernels.segments.segment`).
    """

    policy_row: Ints  # (R,), rows of a policy in that order: what follows in plays comes later
    num_legal: Ints  # (R,), number of actions of each row
    row_of_refined: Ints  # (J,), index in `policy_row` of each refined information set
    parent_sequence: Ints  # (J,), sequence that leads to each
    parent_refined: Ints  # (J,), refined information set of its last action, -1 for none
    first_sequence: Ints  # (J + 1,), sequence of its first action; those of the others follow
    refined_by_row: Ints  # (J,), refined information sets in the order of their rows
    row_offsets: Ints  # (R + 1,), where those of each row begin in `refined_by_row`
    refined_by_parent: Ints  # (J,), in the order of the sequences that lead to them
    child_offsets: Ints  # (S + 1,), where those after each sequence begin in `refined_by_parent`


class Progress(NamedTuple):
    """Scratch of a search, 0 at first, whose first axis is how many rows are set, but in `reached`.

    A refined information set is *reached* if the actions in the set rows lead to it.
    """

    reached: Ints  # (J,), as `refined_by_row`, but of each row the reached ones come first
    num_reached: Ints  # (R + 1, R), how many refined information sets of each row are reached
    action_values: Floats  # (R + 1, R, K), summed over the reached ones of each row
    settled_payoff: Floats  # (R + 1,), of the sequences whose actions are set


@part
def _played_sequence(treeplex, chosen, refined):
    """Return the sequence of the action that `chosen`, (R,), takes at a refined infoset."""
    return treeplex.first_sequence[refined] + chosen[treeplex.row_of_refined[refined]]


@kernel
def ascend(treeplex, payoff, least_gain, chosen, weights, values):
    """Improve a pure strategy row by row: one round of coordinate ascent.

    A row is an information set; each of its parts that the player would tell apart with perfect
    recall is a refined one. A sequence is the player's own actions so far, up to one of them.

    1. Fill `weights`, (J,): 1 for refined information sets that `chosen`, (R,), leads to, else 0.
       They hold for all the round, since what comes before a row is set after it.
    2. For each row, the last first: sum the values of each action over these, and take the best
       action if it gains more than `least_gain`.
    3. Add the value of the row's action to the sequence before each refined information set.

    `payoff`, (S,), is of the ends of each sequence; `values`, (S,), scratch as `weights`, adds all
    that follows. The payoff never falls. Returns whether a row was improved: then others may be.
    """
    _fill_reached(treeplex, chosen, weights)
    for sequence in range(len(values)):  # a slice may overlap, and would be copied
        values[sequence] = payoff[sequence]
    improves = False
    for row in range(len(chosen) - 1, -1, -1):
        present_value, best_value, best_action = 0.0, -np.inf, 0
        for action in range(treeplex.num_legal[row]):
            action_value = _action_value(treeplex, row, action, weights, values)
            if action == chosen[row]:
                present_value = action_value
            if action_value > best_value:
                best_value = action_value
                best_action = action
        if best_value - present_value > least_gain:
            improves = True
            chosen[row] = best_action
        for entry in segment(treeplex.row_offsets, row):
            refined = treeplex.refined_by_row[entry]
            played_value = values[_played_sequence(treeplex, chosen, refined)]
            values[treeplex.parent_sequence[refined]] += played_value
    return improves


@part
def _fill_reached(treeplex, chosen, weights):
    """Fill `weights`, (J,): 1 for refined information sets that `chosen`, (R,), leads to, else 0.

    A refined one is a row (information set) after one sequence of own actions; `chosen` has an
    action for each row.
    """
    for refined in range(len(weights)):
        parent = treeplex.parent_refined[refined]
        weights[refined] = 1.0
        if parent >= 0:
            played = _played_sequence(treeplex, chosen, parent)
            is_taken = played == treeplex.parent_sequence[refined]
            weights[refined] = weights[parent] if is_taken else 0.0


@part
def _action_value(treeplex, row, action, weights, values):
    """Return the value of an action of a row: the sum over its refined information sets.

    These, the parts of the row after one sequence of own actions each, count by `weights`, (J,);
    `values`, (S,), are by sequence.
    """
    action_value = 0.0
    for entry in segment(treeplex.row_offsets, row):
        refined = treeplex.refined_by_row[entry]
        action_value += weights[refined] * values[treeplex.first_sequence[refined] + action]
    return action_value


@part
def _plan_value(treeplex, payoff, chosen, stack):
    """Return the payoff of a pure strategy, `chosen` (R,), by a walk over what it leads to.

    From the empty sequence of own actions on, to the refined information sets after each. `payoff`,
    (S,), is of the ends of each sequence; `stack`, (J + 1,), is scratch for sequences.
    """
    stack[0] = 0  # the empty sequence
    size = 1
    total = 0.0
    while size:
        size -= 1
        sequence = stack[size]
        total += payoff[sequence]
        for entry in segment(treeplex.child_offsets, sequence):
            refined = treeplex.refined_by_parent[entry]
            stack[size] = _played_sequence(treeplex, chosen, refined)
            size += 1
    return total


@kernel
def anneal(treeplex, payoff, drawn, temperatures, chosen, best, stack):
    """Improve a pure strategy by simulated annealing; return the payoff of the best one.

    Each step changes the action of one row, and of a second row in half of the steps, and keeps the
    change by Metropolis's rule: always if the payoff does not fall, else with probability
    exp(change / temperature). Temperatures fall geometrically from the first to the second.

    `drawn`, (n, 5), has random numbers from 0 to 1, a line for each step: for the first row, its
    action, the second row, its action, and the rule. Written: `chosen`, (R,), the last strategy;
    `best`, (R,), the best one so far, if better than that was. `stack`, (J + 1,), is scratch.
    """
    steps, rows = len(drawn), len(chosen)
    value = _plan_value(treeplex, payoff, chosen, stack)
    best_value = _plan_value(treeplex, payoff, best, stack)
    for step in range(steps):
        progress = step / steps
        temperature = temperatures[0] ** (1.0 - progress) * temperatures[1] ** progress
        first_row = int(drawn[step, 0] * rows)
        second_row = int(drawn[step, 2] * 2 * rows)  # from `rows` on: no second row changes
        first_action = chosen[first_row]  # before the step
        chosen[first_row] = int(drawn[step, 1] * treeplex.num_legal[first_row])
        second_action = chosen[second_row % rows]
        if second_row < rows:
            chosen[second_row] = int(drawn[step, 3] * treeplex.num_legal[second_row])
        new_value = _plan_value(treeplex, payoff, chosen, stack)
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
def search_rows(treeplex, progress, payoff, values, chosen, bound, target, depth, most_steps):
    """Find a pure strategy above a target by depth-first branch and bound; resumable.

    Rows are information sets, in an order in which plays meet them. The first `depth` are set. A
    step, of at most `most_steps` in a call:

    1. Take the next action in row `depth`; if there is none, unset the row and go back to the last.
    2. Add the payoff of the sequences that the action completes, and reach what follows them.
    3. Bound all strategies that begin so: that payoff, and the best action of every open row, on
       the whole, to a player who remembers everything from there on (`values`, (S,), by sequence).
    4. If the bound is above `target`, go on to the next row, else leave this part out.

    `payoff`, (S,), is of the ends of each sequence. Written: `chosen`, (R,), -1 at open rows, the
    strategy if there is one; ``bound[0]``, the highest bound of the parts left out; `progress`.
    Returns the depth: R if a strategy was found; -1, which begins a search too, if every part is
    bounded; else pass it to the next call, and the search goes on.
    """
    rows = len(chosen)
    if depth < 0:
        progress.settled_payoff[0] = payoff[0]
        _reach_after(treeplex, values, 0, 0, progress)
        depth = 0
    while 0 <= depth < rows and most_steps > 0:
        chosen[depth] += 1
        is_reached = progress.num_reached[depth, depth] > 0  # a row not reached has one choice
        if chosen[depth] == treeplex.num_legal[depth] or (chosen[depth] > 0 and not is_reached):
            chosen[depth] = -1
            depth -= 1
        else:
            most_steps -= 1
            _set_row(treeplex, payoff, values, depth, chosen[depth], progress)
            upper_bound = progress.settled_payoff[depth + 1]
            for later in range(depth + 1, rows):
                best_value = -np.inf
                for action in range(treeplex.num_legal[later]):
                    best_value = max(best_value, progress.action_values[depth + 1, later, action])
                upper_bound += best_value
            if upper_bound > target:
                depth += 1
            else:
                bound[0] = max(bound[0], upper_bound)
    return depth


@part
def _set_row(treeplex, payoff, values, row, action, progress):
    """Set the action of a row in a depth-first search: fill entry `row` + 1 of `progress`.

    All rows before it are set: entry `row` says how many of the refined information sets (parts of
    a row with one own past) of each later row are reached, the values of its actions there, and the
    payoff that is settled. The action adds its sequences' payoff, and reaches what follows them.
    """
    depth = row + 1
    for later in range(depth, progress.num_reached.shape[1]):
        progress.num_reached[depth, later] = progress.num_reached[row, later]
        for later_action in range(treeplex.num_legal[later]):
            value = progress.action_values[row, later, later_action]
            progress.action_values[depth, later, later_action] = value
    progress.settled_payoff[depth] = progress.settled_payoff[row]
    first_reached = treeplex.row_offsets[row]
    for entry in range(first_reached, first_reached + progress.num_reached[row, row]):
        sequence = treeplex.first_sequence[progress.reached[entry]] + action
        progress.settled_payoff[depth] += payoff[sequence]
        _reach_after(treeplex, values, sequence, depth, progress)


@part
def _reach_after(treeplex, values, sequence, depth, progress):
    """Add the refined information sets that follow a sequence to those reached at a depth.

    They are parts of rows with one own past, here the sequence: own actions so far. The depth is
    the number of rows set. Added to the values of a row's actions are those of `values`, (S,), by
    sequence: to a player who remembers everything.
    """
    for entry in segment(treeplex.child_offsets, sequence):
        refined = treeplex.refined_by_parent[entry]
        row = treeplex.row_of_refined[refined]
        progress.reached[treeplex.row_offsets[row] + progress.num_reached[depth, row]] = refined
        progress.num_reached[depth, row] += 1
        for action in range(treeplex.num_legal[row]):
            value = values[treeplex.first_sequence[refined] + action]
            progress.action_values[depth, row, action] += value
