"""Best responses of a player who forgets: ascent, and depth-first search, row by row."""

from typing import NamedTuple

import numpy as np

from hogeq.kernels.cache import kernel, part
from hogeq.support.aliases import Floats, Ints


class Plays(NamedTuple):
    """Refined information sets of a player, by the order in which their rows are set."""

    rows: Ints  # (R,), in that order: what follows in plays comes later
    row: Ints  # (J,), of each, a place in that order
    before: Ints  # (J,), sequence that leads to each
    above: Ints  # (J,), refined information set of that, -1 for none
    start: Ints  # (J + 1,), sequence of its first action
    members: Ints  # (J,), sorted by their rows
    begins: Ints  # (R + 1,), where those of each row begin
    follows: Ints  # (J,), sorted by the sequence before them
    ends: Ints  # (S + 1,), range of those that follow each sequence
    legal: Ints  # (R,), actions of each


class Progress(NamedTuple):
    """Scratch of a search: its numbers when so many rows are set, 0 at first."""

    met: Ints  # (J,), refined information sets by row, the first `count` of which are met
    count: Ints  # (R + 1, R)
    gain: Floats  # (R + 1, R, K), worth of actions at all of those
    won: Floats  # (R + 1,), by the rows that are set


@kernel
def ascend(plays, payoff, least, chosen, weights, worth):
    """Improve the action of each row by more than `least` if it alone can be, (R,) in that order.

    The last are set first: what comes before a row is set after it, so its weight is that of the
    last round. The payoff never falls. `weights`, (J,), and `worth`, (S,), are scratch. Returns
    whether a row was improved; if so, others may now be.
    """
    improves = False
    for refined in range(len(weights)):
        above = plays.above[refined]
        weights[refined] = 1.0
        if above >= 0:
            is_taken = plays.start[above] + chosen[plays.row[above]] == plays.before[refined]
            weights[refined] = weights[above] if is_taken else 0.0
    for sequence in range(len(worth)):  # a slice may overlap, and would be copied
        worth[sequence] = payoff[sequence]
    for at in range(len(chosen) - 1, -1, -1):
        now, best, choice = 0.0, -np.inf, 0
        for action in range(plays.legal[at]):
            total = 0.0
            for place in range(plays.begins[at], plays.begins[at + 1]):
                refined = plays.members[place]
                total += weights[refined] * worth[plays.start[refined] + action]
            if action == chosen[at]:
                now = total
            if total > best:
                best, choice = total, action
        if best - now > least:
            improves = True
            chosen[at] = choice
        for place in range(plays.begins[at], plays.begins[at + 1]):
            refined = plays.members[place]
            worth[plays.before[refined]] += worth[plays.start[refined] + chosen[at]]
    return improves


@kernel
def search_rows(plays, progress, payoff, worth, chosen, bound, target, now, most):
    """Set rows in turn as long as a bound is above `target`, in at most `most` parts.

    `payoff`, (S,), is of sequences, and so is `worth`, to a player who remembers from there on.
    Fills `chosen`, (R,), all -1 before, with a response above the target if there is one, and
    `bound[0]` with the highest bound of the parts that are not. Returns the number of rows that
    are set at the end: all, if a response was found; -1, if every part is bounded. Else the search
    goes on if that number is given as `now`, which is -1 to begin.
    """
    met, count, gain, won = progress
    rows = gain.shape[1]
    if now < 0:
        won[0] = payoff[0]
        _meet(plays, worth, met, 0, count, gain, 0)
        now = 0
    while 0 <= now < rows and most > 0:
        chosen[now] += 1
        is_met = count[now, now] > 0  # a row that is not met has one choice
        if chosen[now] == plays.legal[now] or (chosen[now] > 0 and not is_met):
            chosen[now] = -1
            now -= 1
        else:
            most -= 1
            for later in range(now + 1, rows):
                count[now + 1, later] = count[now, later]
                for action in range(plays.legal[later]):
                    gain[now + 1, later, action] = gain[now, later, action]
            won[now + 1] = won[now]
            for place in range(plays.begins[now], plays.begins[now] + count[now, now]):
                sequence = plays.start[met[place]] + chosen[now]
                won[now + 1] += payoff[sequence]
                _meet(plays, worth, met, sequence, count, gain, now + 1)
            total = won[now + 1]
            for later in range(now + 1, rows):
                best = -np.inf
                for action in range(plays.legal[later]):
                    best = max(best, gain[now + 1, later, action])
                total += best
            if total > target:
                now += 1
            else:
                bound[0] = max(bound[0], total)
    return now


@part
def _meet(plays, worth, met, sequence, count, gain, now):
    """Meet the refined information sets after a sequence."""
    for place in range(plays.ends[sequence], plays.ends[sequence + 1]):
        refined = plays.follows[place]
        row = plays.row[refined]
        met[plays.begins[row] + count[now, row]] = refined
        count[now, row] += 1
        for action in range(plays.legal[row]):
            gain[now, row, action] += worth[plays.start[refined] + action]
