"""Best responses of a player who forgets: ascent, and depth-first search, row by row.

Sizes: R rows, K actions, J refined information sets, S sequences, of which 0 is the empty one.
"""

from typing import NamedTuple

import numpy as np

from hogeq.kernels.cache import kernel, part
from hogeq.support.aliases import Floats, Ints


class Plays(NamedTuple):
    """Refined information sets of a player, by the order in which their rows are set.

    Those of row r are entries ``begins[r]`` to before ``begins[r + 1]`` of `members`; those that
    follow sequence s are entries ``ends[s]`` to before ``ends[s + 1]`` of `follows`.
    """

    rows: Ints  # (R,), in that order: what follows in plays comes later
    row: Ints  # (J,), of each, a place in that order
    before: Ints  # (J,), sequence that leads to each
    above: Ints  # (J,), refined information set of that, -1 for none
    start: Ints  # (J + 1,), sequence of its first action; those of the others follow
    members: Ints  # (J,), sorted by their rows
    begins: Ints  # (R + 1,), where those of each row begin
    follows: Ints  # (J,), sorted by the sequence before them
    ends: Ints  # (S + 1,), where those that follow each sequence begin
    legal: Ints  # (R,), actions of each


class Progress(NamedTuple):
    """Scratch of a search: entry d of `count`, `gain` and `won` is when d rows are set. 0 at first.

    A refined information set is *met* if the actions of these rows lead to it.
    """

    met: Ints  # (J,), refined information sets by row, as `begins`; the first `count` are met
    count: Ints  # (R + 1, R), how many of each row are met
    gain: Floats  # (R + 1, R, K), value of each action, summed over those
    won: Floats  # (R + 1,), payoff of the sequences that are taken


@kernel
def ascend(plays, payoff, least, chosen, weights, values):
    """Improve a pure strategy row by row: coordinate ascent, one round.

    First `weights`, (J,): 1 for refined information sets that `chosen`, (R,), leads to, else 0.
    What comes before a row is set after it, so these hold for all the round. Then for each row, the
    last first: the best action is taken if it gains more than `least`, and its value added to the
    sequence before each refined information set. The payoff never falls.

    `payoff`, (S,), is of sequences alone; `values`, (S,), with all that follows; it and `weights`
    are scratch. Returns whether a row was improved; if so, others may now be.
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
            total = 0.0
            for place in range(plays.begins[row], plays.begins[row + 1]):
                refined = plays.members[place]
                total += weights[refined] * values[plays.start[refined] + action]
            if action == chosen[row]:
                present_value = total
            if total > best_value:
                best_value, best_action = total, action
        if best_value - present_value > least:
            improves = True
            chosen[row] = best_action
        for place in range(plays.begins[row], plays.begins[row + 1]):
            refined = plays.members[place]
            values[plays.before[refined]] += values[plays.start[refined] + chosen[row]]
    return improves


@part
def _plan_value(plays, payoff, chosen, stack):
    """Payoff of a pure strategy: a walk over the refined information sets that it leads to."""
    stack[0], size, total = 0, 1, 0.0
    while size:
        size -= 1
        sequence = stack[size]
        total += payoff[sequence]
        for place in range(plays.ends[sequence], plays.ends[sequence + 1]):
            refined = plays.follows[place]
            stack[size] = plays.start[refined] + chosen[plays.row[refined]]
            size += 1
    return total


@kernel
def anneal(plays, payoff, drawn, temperatures, chosen, best, stack):
    """Anneal a pure strategy: change a row or two, and keep that by Metropolis's rule.

    A step for each row of `drawn`, (n, 5), numbers from 0 to 1: of the first row, its action, of
    the second row, which half of the steps have, its action, and of the rule. Temperatures fall
    from the first to the second, geometrically.

    Written: `chosen`, (R,), where the walk ends; `best`, (R,), the best strategy that it met, if
    better than that was. `stack`, (J + 1,), is scratch. Returns the payoff of `best`.
    """
    steps, rows = len(drawn), len(chosen)
    value = _plan_value(plays, payoff, chosen, stack)
    best_value = _plan_value(plays, payoff, best, stack)
    for step in range(steps):
        share = step / steps
        temperature = temperatures[0] ** (1.0 - share) * temperatures[1] ** share
        one, two = int(drawn[step, 0] * rows), int(drawn[step, 2] * 2 * rows)
        before_one = chosen[one]
        chosen[one] = int(drawn[step, 1] * plays.legal[one])
        before_two = chosen[two % rows]
        if two < rows:
            chosen[two] = int(drawn[step, 3] * plays.legal[two])
        changed = _plan_value(plays, payoff, chosen, stack)
        if changed < value and drawn[step, 4] >= np.exp((changed - value) / temperature):
            chosen[two % rows] = before_two
            chosen[one] = before_one
        else:
            value = changed
            if value > best_value:
                best_value = value
                for row in range(rows):
                    best[row] = chosen[row]
    return best_value


@kernel
def search_rows(plays, progress, payoff, values, chosen, bound, target, depth, most):
    """Find a pure strategy above a target by depth-first branch and bound; resumable.

    `depth` rows are set, the first ones. One step, of at most `most` in a call:

    1. Take the next action in row `depth`; if there is none, unset it and go back a row.
    2. Add the payoff of the sequences that this takes; meet what follows them.
    3. Bound all strategies that begin so: that payoff, and the best action of each open row, on the
       whole, to a player who remembers everything from there on (`values`, (S,), by sequence).
    4. If the bound is above `target` go on to the next row, else keep it.

    `payoff`, (S,), is of sequences alone. Written: `chosen`, (R,), all -1 before, the strategy if
    there is one; ``bound[0]``, the highest bound of the parts that were left; `progress`. Returns
    the depth: R if a strategy was found; -1, which begins a search too, if every part is bounded;
    else the search goes on if it is given again.
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
            first = plays.begins[depth]
            for place in range(first, first + count[depth, depth]):
                sequence = plays.start[met[place]] + chosen[depth]
                won[depth + 1] += payoff[sequence]
                _meet(plays, values, met, sequence, count, gain, depth + 1)
            total = won[depth + 1]
            for later in range(depth + 1, rows):
                best_value = -np.inf
                for action in range(plays.legal[later]):
                    best_value = max(best_value, gain[depth + 1, later, action])
                total += best_value
            if total > target:
                depth += 1
            else:
                bound[0] = max(bound[0], total)
    return depth


@part
def _meet(plays, values, met, sequence, count, gain, depth):
    """Add the refined information sets after a sequence to `met`, `count`, `gain` at a depth."""
    for place in range(plays.ends[sequence], plays.ends[sequence + 1]):
        refined = plays.follows[place]
        row = plays.row[refined]
        met[plays.begins[row] + count[depth, row]] = refined
        count[depth, row] += 1
        for action in range(plays.legal[row]):
            gain[depth, row, action] += values[plays.start[refined] + action]
