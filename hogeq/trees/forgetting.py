"""Tests of recall: perfect recall, A-loss recall, absent-mindedness, well-formedness."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from typing import cast

from hogeq.trees.recall import (
    Experience,
    Finding,
    History,
    HistoryStep,
    Pasts,
    Walk,
    Witness,
    each,
    experience,
    size,
    smallest,
)
from hogeq.trees.tree import Chance, Choice, End, HogTree, Node, Tree, TreePosition

# Notes of findings, as people read them.
_EVERY = "whatever the refinement"
_COARSEST = "with respect to the coarsest refinement that has perfect recall"
_FINEST = "with respect to perfect information"
_NEITHER = "neither the coarsest refinement that has perfect recall nor perfect information will do"
_NEVER = "the opponent's past of the first never goes with the own past of the second"
_NO_PLAY = "no play with the own past of the second can end as one through the first can"


def two_pasts(infoset: Hashable, parts: Pasts) -> Witness | None:
    """Find two shortest histories of an information set with different own pasts."""
    heads = sorted((part[0] for part in parts.values()), key=len)
    return Witness(infoset, heads[0], heads[1]) if len(heads) > 1 else None


def untraced(infoset: Hashable, parts: Pasts) -> Witness | None:
    """Find two histories with different own pasts that no different act explains.

    The player met no information set on both and acted differently there: what was forgotten cannot
    be traced to an own act.
    """
    best: Witness | None = None
    known = sorted(((part[0], past) for past, part in parts.items()), key=lambda pair: len(pair[0]))
    for index, (two, after) in enumerate(known):
        acts = dict(after)
        for one, before in known[:index]:
            if best is not None and len(one) + len(two) >= size(best):
                break
            if all(acts.get(met, act) == act for met, act in before):
                best = Witness(infoset, one, two)
    return best


def twice(walk: Walk) -> Iterator[Witness | None]:
    """Find histories that meet one information set of the player twice."""
    for infoset, histories in walk.at.items():
        for history in histories:
            for index, move in enumerate(history):
                if move.player == walk.player and move.infoset == infoset:
                    yield Witness(infoset, history[:index], history)
                    break


def recurrence(tree: HogTree, player: int, most: int) -> tuple[Witness | None, bool]:
    """Find a position of a player that comes twice, far into a game as it may be.

    Positions are looked at once each, in the order of the moves that lead there, at most so many.
    The second value is whether that was all of them.
    """
    ways: dict[TreePosition, History] = {tree.root: ()}
    waiting = deque(ways)
    while waiting:
        state = waiting.popleft()
        node = tree.node(state)
        if isinstance(node, Choice) and node.player == player:
            loop = _loop(tree, state, node)
            if loop:
                return Witness(node.infoset, ways[state], ways[state] + loop), True
        for step, after in _steps(node):
            if after not in ways:
                if len(ways) >= most:
                    return None, False
                ways[after] = (*ways[state], step)
                waiting.append(after)
    return None, True


def _loop(tree: HogTree, start: TreePosition, home: Choice) -> History | None:
    """Find the shortest way back to an information set; no sum of scores ever falls."""
    ways: dict[TreePosition, History] = {start: ()}
    waiting = deque(ways)
    while waiting:
        state = waiting.popleft()
        for step, after in _steps(tree.node(state)):
            if after.own + after.opponent != start.own + start.opponent:
                continue
            there = tree.node(after)
            if isinstance(there, Choice) and there[:2] == home[:2]:
                return (*ways[state], step)
            if after not in ways:
                ways[after] = (*ways[state], step)
                waiting.append(after)
    return None


def _steps(node: Node) -> Iterator[tuple[HistoryStep, TreePosition]]:
    """List what can happen at a node of Hog's tree, and where it leads."""
    if isinstance(node, Choice):
        for label, after in node.branches:
            yield HistoryStep(node.player, node.infoset, label), cast("TreePosition", after)
    elif isinstance(node, Chance):
        for _, label, after in node.branches:
            yield HistoryStep(None, None, label), cast("TreePosition", after)


def well_formed(
    tree: Tree, walk: Walk, pasts: dict[Hashable, Pasts], *, ranked: bool
) -> tuple[Finding, Finding]:
    """Whether a game is well-formed, and whether it is skew well-formed.

    The coarsest refinement with perfect recall splits an information set by the player's past.
    Others split its parts further: a play that no play of a whole part matches is matched by none
    of a piece either. The finest one tells all histories apart. Those between are not tried.
    """
    if ranked:
        witness = smallest(each(pasts, lambda at, parts: _unmatched_past(walk, at, parts)))
        if witness is not None:
            return (Finding(False, witness, _EVERY),) * 2
    if not walk.whole:
        return (Finding(None, None, "only the whole tree can tell"),) * 2
    coarse = _parts(tree, walk.player, by_past=True)
    witness = smallest(_pairs(coarse, _Part.futures, _NO_PLAY))
    if witness is not None:
        return (Finding(False, witness, _EVERY),) * 2
    fine = _parts(tree, walk.player, by_past=False)
    unique = all(len(fine[infoset]) == len(parts) for infoset, parts in coarse.items())
    findings = []
    for form in (_Part.form, _Part.form_without_utilities):
        refuted = smallest(_pairs(coarse, form, ""))
        if refuted is None:
            findings.append(Finding(True, None, _COARSEST))
        elif unique:
            findings.append(Finding(False, refuted, _EVERY))
        elif smallest(_pairs(fine, form, "")) is None:
            findings.append(Finding(True, None, _FINEST))
        else:
            findings.append(Finding(None, refuted, _NEITHER))
    return findings[0], findings[1]


def _unmatched_past(walk: Walk, infoset: Hashable, parts: Pasts) -> Witness | None:
    """Find a past of the opponent's that goes with one own past and not with another.

    Where ranks rise along plays, the opponent's moves before an information set are those at
    lower ranks: plays that match must then match up to there.
    """
    theirs = {
        past: {experience(history, 1 - walk.player): history for history in reversed(part)}
        for past, part in parts.items()
    }
    best: Witness | None = None
    for second, part in parts.items():
        for first in parts:
            if best is not None and len(parts[first][0]) + len(part[0]) >= size(best):
                continue
            for past, history in theirs[first].items():
                if past not in theirs[second]:
                    witness = Witness(infoset, history, part[0], _NEVER)
                    best = smallest((best, witness))
    return best


class _Part:
    """Whole plays through a part of an information set."""

    def __init__(self, history: History) -> None:
        self.history = history  # a shortest one
        self.plays: Counter[tuple[Experience, Experience, Fraction, int]] = Counter()

    def futures(self) -> Hashable:
        """List what the opponent meets in whole plays, and the player from here on."""
        return frozenset((theirs, mine) for theirs, mine, _, _ in self.plays)

    def form(self) -> Hashable:
        """List what a bijection of plays preserves: there is one if and only if forms are equal.

        Chance's probabilities may differ by one factor, which then is that of their sums. So may
        utilities; being 1 and -1 here, they leave no factor but 1.
        """
        total = sum(chance * times for (*_, chance, _), times in self.plays.items())
        return frozenset(
            (theirs, mine, chance / total, winner, times)
            for (theirs, mine, chance, winner), times in self.plays.items()
        )

    def form_without_utilities(self) -> Hashable:
        """List what a bijection preserves that may change utilities, which are bounded."""
        total = sum(chance * times for (*_, chance, _), times in self.plays.items())
        shares: Counter[Hashable] = Counter()
        for (theirs, mine, chance, _), times in self.plays.items():
            shares[theirs, mine, chance / total] += times
        return frozenset(shares.items())


def _parts(tree: Tree, player: int, *, by_past: bool) -> dict[Hashable, list[_Part]]:
    parts_at: dict[Hashable, dict[Hashable, _Part]] = defaultdict(dict)
    for play, chance, winner in _plays(tree, tree.root, (), Fraction(1)):
        mine, theirs = experience(play, player), experience(play, 1 - player)
        passed = 0
        for index, move in enumerate(play):
            if move.player == player:
                key = mine[:passed] if by_past else play[:index]
                part = parts_at[move.infoset].setdefault(key, _Part(play[:index]))
                part.history = min(part.history, play[:index], key=len)
                part.plays[theirs, mine[passed:], chance, winner] += 1
                passed += 1
    return {infoset: list(parts.values()) for infoset, parts in parts_at.items()}


def _plays(
    tree: Tree, state: Hashable, history: History, chance: Fraction
) -> Iterator[tuple[History, Fraction, int]]:
    node = tree.node(state)
    if isinstance(node, End):
        yield history, chance, node.winner
    elif isinstance(node, Chance):
        for probability, label, after in node.branches:
            yield from _plays(
                tree, after, (*history, HistoryStep(None, None, label)), chance * probability
            )
    else:
        for label, after in node.branches:
            step = HistoryStep(node.player, node.infoset, label)
            yield from _plays(tree, after, (*history, step), chance)


def _pairs(
    parts: dict[Hashable, list[_Part]], form: Callable[[_Part], Hashable], note: str
) -> Iterator[Witness]:
    for infoset, pieces in parts.items():
        shortest: dict[Hashable, History] = {}
        for piece in sorted(pieces, key=lambda piece: len(piece.history)):
            shortest.setdefault(form(piece), piece.history)
        if len(shortest) > 1:
            one, two = list(shortest.values())[:2]
            yield Witness(infoset, one, two, note)
