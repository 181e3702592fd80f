"""What the information sets of a game forget, and what follows for theory.

A player who acts on the scores alone forgets what was on the table a moment ago.  This module says
what exactly, by walking every history of a small game, and shows each loss by a smallest witness:
two histories that end in one information set.

Notation, for a player i: X(h) is the sequence of information sets that i met on the way to h and
what i did there, Y(h) the same of the opponent.

- *Perfect recall* (Kuhn 1953): in every information set all histories have one X.
- *A-loss recall* (Kaneko and Kline 1995; in the form of Cermak, Bosansky, Horak, Lisy and
  Pechoucek 2018): two histories of one information set have one X, or there is an information set
  that both have met and at which they acted differently.  All that is lost can then be traced to
  forgetting one's own acts, and best responses take polynomial time.
- *Absent-mindedness* (Piccione and Rubinstein 1997): an information set is met twice on one path.
- *Well-formed* (Lanctot, Gibson, Burch, Zinkevich and Bowling 2012, definition 2) with respect to a
  refinement that has perfect recall: between any two parts I, J of an information set there is a
  bijection of the plays through I to those through J that preserves utilities up to a factor,
  chance's probability up to another, Y of the whole play, and X from there on; factors depend on I
  and J alone.  *Skew well-formed*: utilities need only be near.  CFR keeps a bound on its regret
  in such games.

References
----------
.. [1] H. W. Kuhn, "Extensive games and the problem of information", Contributions to the Theory of
   Games II, 1953.
.. [2] M. Kaneko and J. J. Kline, "Behavior strategies, mixed strategies and perfect recall",
   International Journal of Game Theory 24, 1995.
.. [3] M. Piccione and A. Rubinstein, "On the interpretation of decision problems with imperfect
   recall", Games and Economic Behavior 20, 1997.
.. [4] M. Lanctot, R. Gibson, N. Burch, M. Zinkevich and M. Bowling, "No-regret learning in
   extensive-form games with imperfect recall", ICML 2012.
.. [5] J. Cermak, B. Bosansky, K. Horak, V. Lisy and M. Pechoucek, "Approximating maxmin strategies
   in imperfect recall games using A-loss recall property", International Journal of Approximate
   Reasoning 93, 2018.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from hogeq.rules import Rules
from hogeq.rules.turn import bonus, zero_points
from hogeq.tree import (
    PLAYERS,
    START,
    Chance,
    Choice,
    End,
    HogTree,
    Position,
    Tree,
    count,
    total_rises,
)

MOST = 1_000_000
"""Most nodes of a tree to walk: some ten seconds."""

TURNS = 4
"""Turns to look ahead in a game that may never end."""


class Move(NamedTuple):
    """One step of a history."""

    player: int | None
    """None for chance."""
    infoset: Hashable
    """Where the player moved; None for chance."""
    action: str


History = tuple[Move, ...]

Experience = tuple[tuple[Hashable, str], ...]
"""Information sets that a player met and what the player did there."""


class Witness(NamedTuple):
    """Two histories that show something."""

    infoset: Hashable
    """Where both end."""
    first: History
    second: History
    note: str = ""


class Loss(NamedTuple):
    """What information sets forget, of one kind."""

    infosets: frozenset[Hashable]
    """Those that forget it."""
    witness: Witness | None


class Finding(NamedTuple):
    """Whether a property holds."""

    holds: bool | None
    """None if that was not decided."""
    witness: Witness | None
    """Why it does not."""
    note: str = ""


@dataclass(frozen=True)
class Audit:
    """What was found about one player.

    Attributes
    ----------
    player : int
    infosets : frozenset
        Information sets of the player.
    histories : int
        Histories at which the player moves.
    whole : bool
        Whether the whole tree was walked.
    forgets : dict of str to Loss
        By what is lost: ``own action``, ``own observation``, ``opponent's action``, ``chance``,
        ``seat``.
    findings : dict of str to Finding
        By property: ``perfect recall``, ``A-loss recall``, ``no absent-mindedness``,
        ``well-formed``, ``skew well-formed``.
    """

    player: int
    infosets: frozenset[Hashable]
    histories: int
    whole: bool
    forgets: dict[str, Loss]
    findings: dict[str, Finding]


def audit_tree(
    tree: Tree, player: int = 0, *, ranked: bool = False, longest: int | None = None
) -> Audit:
    """Audit one player of a game tree.

    Parameters
    ----------
    tree : Tree
        Of two players. If players have seats, its first move is the toss of the coin for them.
    player : int
        Whose information sets.
    ranked : bool
        Whether information sets have ranks, the same for both players, that rise along every play;
        needed to say without looking at whole plays that a game is not well-formed.
    longest : int, optional
        Follow no history further than so many moves of players: for trees that do not end.

    Returns
    -------
    Audit
    """
    walk = _Walk(tree, player, longest)
    pasts = {infoset: _by_past(walk, infoset) for infoset in walk.at}
    strict, skew = _well_formed(tree, walk, pasts, ranked=ranked)
    return Audit(
        player,
        frozenset(walk.at),
        sum(map(len, walk.at.values())),
        walk.whole,
        _forgets(walk),
        {
            "perfect recall": _finding(walk, _each(pasts, _two_pasts)),
            "A-loss recall": _finding(walk, _each(pasts, _untraced)),
            "no absent-mindedness": _finding(walk, _twice(walk)),
            "well-formed": strict,
            "skew well-formed": skew,
        },
    )


# --- walking --------------------------------------------------------------------------------------


class _Walk:
    """Every history of a tree at which a player moves, by information set, shortest first."""

    def __init__(self, tree: Tree, player: int, longest: int | None) -> None:
        self.player = player
        self.whole = True
        self.at: dict[Hashable, list[History]] = defaultdict(list)
        level: list[tuple[Hashable, History]] = [(tree.root, ())]
        while level:
            level = [after for place in level for after in self._step(tree, *place, longest)]

    def _step(
        self, tree: Tree, state: Hashable, history: History, longest: int | None
    ) -> Iterator[tuple[Hashable, History]]:
        node = tree.node(state)
        if isinstance(node, Chance):
            for _, label, after in node.branches:
                yield after, (*history, Move(None, None, label))
        elif isinstance(node, Choice):
            if node.player == self.player:
                self.at[node.infoset].append(history)
            if longest is not None and sum(move.player is not None for move in history) >= longest:
                self.whole = False
                return
            for label, after in node.branches:
                yield after, (*history, Move(node.player, node.infoset, label))


def _experience(history: History, player: int) -> Experience:
    return tuple((move.infoset, move.action) for move in history if move.player == player)


def _size(witness: Witness) -> int:
    return len(witness.first) + len(witness.second)


def _smallest(found: Iterable[Witness | None]) -> Witness | None:
    return min((witness for witness in found if witness is not None), key=_size, default=None)


# --- what is forgotten ----------------------------------------------------------------------------

Key = Callable[[History], Hashable]


def _forgets(walk: _Walk) -> dict[str, Loss]:
    mine, theirs = walk.player, 1 - walk.player

    def own_path(infoset: Hashable, history: History) -> list[Hashable]:
        # Information sets at even places, acts at odd ones.
        return [*(part for step in _experience(history, mine) for part in step), infoset]

    def opponents_path(_: Hashable, history: History) -> list[Hashable]:
        return [part for step in _experience(history, theirs) for part in step]

    def rolls(history: History) -> Hashable:
        # With the coin, which is the seat, and without anything else of chance.
        return history[:1], tuple(move[::2] for move in history if move.player is not None)

    def losing(find: Callable[[Hashable, list[History]], Witness | None]) -> Loss:
        found = {infoset: find(infoset, histories) for infoset, histories in walk.at.items()}
        lost = {
            infoset: witness._replace(infoset=infoset)
            for infoset, witness in found.items()
            if witness is not None
        }
        return Loss(frozenset(lost), _smallest(lost.values()))

    return {
        "own action": losing(lambda at, h: _parting(at, h, own_path, 1)),
        "own observation": losing(lambda at, h: _parting(at, h, own_path, 0)),
        "opponent's action": losing(lambda at, h: _parting(at, h, opponents_path, 1)),
        "chance": losing(
            lambda _, h: _differing(h, rolls, lambda h: tuple(m for m in h if m.player is None))
        ),
        "seat": losing(lambda _, h: _differing(h, lambda _: None, lambda h: h[:1])),
    }


def _parting(
    infoset: Hashable,
    histories: Sequence[History],
    path: Callable[[Hashable, History], list[Hashable]],
    first: int,
) -> Witness | None:
    """Two shortest histories whose paths first differ at one of every other place."""
    shortest: dict[Hashable, dict[Hashable, History]] = defaultdict(dict)
    for history in histories:  # shortest first
        steps = path(infoset, history)
        for place in range(first, len(steps), 2):
            shortest[tuple(steps[:place])].setdefault(steps[place], history)
    pairs = (sorted(ways.values(), key=len)[:2] for ways in shortest.values() if len(ways) > 1)
    return _smallest(Witness(infoset, one, two) for one, two in pairs)


def _differing(histories: Sequence[History], same: Key, other: Key) -> Witness | None:
    """Two shortest histories that agree in one respect and not in another."""
    first: dict[Hashable, tuple[Hashable, History]] = {}
    found = []
    for history in histories:  # shortest first
        known, shortest = first.setdefault(same(history), (other(history), history))
        if known != other(history):
            found.append(Witness(None, shortest, history))
    return _smallest(found)


# --- properties of recall -------------------------------------------------------------------------

Pasts = dict[Experience, list[History]]
"""Histories of one information set by what the player went through, shortest first."""


def _by_past(walk: _Walk, infoset: Hashable) -> Pasts:
    found: Pasts = {}
    for history in walk.at[infoset]:
        found.setdefault(_experience(history, walk.player), []).append(history)
    return found


def _each(
    pasts: dict[Hashable, Pasts], find: Callable[[Hashable, Pasts], Witness | None]
) -> Iterator[Witness | None]:
    return (find(infoset, parts) for infoset, parts in pasts.items())


def _finding(walk: _Walk, witnesses: Iterable[Witness | None]) -> Finding:
    witness = _smallest(witnesses)
    if witness is not None:
        return Finding(holds=False, witness=witness)
    return Finding(holds=True if walk.whole else None, witness=None)


def _two_pasts(infoset: Hashable, parts: Pasts) -> Witness | None:
    heads = sorted((part[0] for part in parts.values()), key=len)
    return Witness(infoset, heads[0], heads[1]) if len(heads) > 1 else None


def _untraced(infoset: Hashable, parts: Pasts) -> Witness | None:
    """Two histories with different pasts that never acted differently at the same place."""
    best: Witness | None = None
    known = sorted(((part[0], past) for past, part in parts.items()), key=lambda pair: len(pair[0]))
    for place, (two, after) in enumerate(known):
        acts = dict(after)
        for one, before in known[:place]:
            if best is not None and len(one) + len(two) >= _size(best):
                break
            if all(acts.get(met, act) == act for met, act in before):
                best = Witness(infoset, one, two)
    return best


def _twice(walk: _Walk) -> Iterator[Witness | None]:
    for infoset, histories in walk.at.items():
        for history in histories:
            for place, move in enumerate(history):
                if move.player == walk.player and move.infoset == infoset:
                    yield Witness(infoset, history[:place], history)
                    break


# --- well-formed games ----------------------------------------------------------------------------

_EVERY = "whatever the refinement"
_COARSEST = "with respect to the coarsest refinement that has perfect recall"
_FINEST = "with respect to perfect information"
_NEITHER = "neither the coarsest refinement that has perfect recall nor perfect information will do"


def _well_formed(
    tree: Tree, walk: _Walk, pasts: dict[Hashable, Pasts], *, ranked: bool
) -> tuple[Finding, Finding]:
    """Whether a game is well-formed, and whether it is skew well-formed.

    The coarsest refinement with perfect recall splits an information set by the player's past.
    Others split its parts further: a play that no play of a whole part matches is matched by none
    of a piece either. The finest one tells all histories apart. Those between are not tried.
    """
    if ranked:
        witness = _smallest(_each(pasts, lambda at, parts: _unmatched_past(walk, at, parts)))
        if witness is not None:
            return (Finding(False, witness, _EVERY),) * 2
    if not walk.whole:
        return (Finding(None, None, "only the whole tree can tell"),) * 2
    coarse = _parts(tree, walk.player, by_past=True)
    witness = _smallest(_pairs(coarse, _Part.futures, _NO_PLAY))
    if witness is not None:
        return (Finding(False, witness, _EVERY),) * 2
    fine = _parts(tree, walk.player, by_past=False)
    unique = all(len(fine[infoset]) == len(parts) for infoset, parts in coarse.items())
    found = []
    for form in (_Part.form, _Part.form_without_utilities):
        refuted = _smallest(_pairs(coarse, form, ""))
        if refuted is None:
            found.append(Finding(True, None, _COARSEST))
        elif unique:
            found.append(Finding(False, refuted, _EVERY))
        elif _smallest(_pairs(fine, form, "")) is None:
            found.append(Finding(True, None, _FINEST))
        else:
            found.append(Finding(None, refuted, _NEITHER))
    return found[0], found[1]


_NEVER = "the opponent's past of the first never goes with the own past of the second"
_NO_PLAY = "no play with the own past of the second can end as one through the first can"


def _unmatched_past(walk: _Walk, infoset: Hashable, parts: Pasts) -> Witness | None:
    """Find a past of the opponent's that goes with one own past and not with another.

    Where ranks rise along plays, the opponent's moves before an information set are those at
    lower ranks: plays that match must then match up to there.
    """
    theirs = {
        past: {_experience(history, 1 - walk.player): history for history in reversed(part)}
        for past, part in parts.items()
    }
    best: Witness | None = None
    for second, part in parts.items():
        for first in parts:
            if best is not None and len(parts[first][0]) + len(part[0]) >= _size(best):
                continue
            for past, history in theirs[first].items():
                if past not in theirs[second]:
                    found = Witness(infoset, history, part[0], _NEVER)
                    best = _smallest((best, found))
    return best


class _Part:
    """Plays through some histories of one information set."""

    def __init__(self, history: History) -> None:
        self.history = history  # a shortest one
        self.plays: Counter[tuple[Experience, Experience, Fraction, int]] = Counter()

    def futures(self) -> Hashable:
        """Give what the opponent meets in whole plays, and the player from here on."""
        return frozenset((theirs, mine) for theirs, mine, _, _ in self.plays)

    def form(self) -> Hashable:
        """Give what a bijection preserves: plays have one if and only if forms are equal.

        Chance's probabilities may differ by one factor, which then is that of their sums. So may
        utilities; being 1 and -1 here, they leave no factor but 1.
        """
        total = sum(chance * times for (*_, chance, _), times in self.plays.items())
        return frozenset(
            (theirs, mine, chance / total, winner, times)
            for (theirs, mine, chance, winner), times in self.plays.items()
        )

    def form_without_utilities(self) -> Hashable:
        """Give the same if utilities may differ: they do by no more than some bound."""
        total = sum(chance * times for (*_, chance, _), times in self.plays.items())
        found: Counter[Hashable] = Counter()
        for (theirs, mine, chance, _), times in self.plays.items():
            found[theirs, mine, chance / total] += times
        return frozenset(found.items())


def _parts(tree: Tree, player: int, *, by_past: bool) -> dict[Hashable, list[_Part]]:
    found: dict[Hashable, dict[Hashable, _Part]] = defaultdict(dict)
    for play, chance, winner in _plays(tree, tree.root, (), Fraction(1)):
        mine, theirs = _experience(play, player), _experience(play, 1 - player)
        passed = 0
        for place, move in enumerate(play):
            if move.player == player:
                key = mine[:passed] if by_past else play[:place]
                part = found[move.infoset].setdefault(key, _Part(play[:place]))
                part.history = min(part.history, play[:place], key=len)
                part.plays[theirs, mine[passed:], chance, winner] += 1
                passed += 1
    return {infoset: list(parts.values()) for infoset, parts in found.items()}


def _plays(
    tree: Tree, state: Hashable, history: History, chance: Fraction
) -> Iterator[tuple[History, Fraction, int]]:
    node = tree.node(state)
    if isinstance(node, End):
        yield history, chance, node.winner
    elif isinstance(node, Chance):
        for probability, label, after in node.branches:
            yield from _plays(
                tree, after, (*history, Move(None, None, label)), chance * probability
            )
    else:
        for label, after in node.branches:
            step = Move(node.player, node.infoset, label)
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


# --- Hog ------------------------------------------------------------------------------------------


_NEVER_TWICE = "whatever the goal, since every turn raises the sum of both scores"


def audit(rules: Rules, *, memory: bool = False) -> Audit:
    """Audit a game of Hog by walking all of its histories.

    The coin makes both players alike, so one is audited.

    Parameters
    ----------
    rules : Rules
        Of a small game: see :func:`small`.
    memory : bool
        Whether players remember everything that happened.

    Returns
    -------
    Audit
        Of the first turns only, if the game may never end.

    Raises
    ------
    ValueError
        If the tree is too big to walk.

    Examples
    --------
    >>> from hogeq.rules import rules_from
    >>> rules = rules_from({"edition": "su20", "goal": 4, "max_dice": 1})
    >>> found = audit(rules).findings
    >>> found["perfect recall"].holds, found["no absent-mindedness"].holds
    (False, True)
    >>> for history in found["perfect recall"].witness[1:3]:
    ...     print(tell(rules, history))
    A begins. A rolls 1 for 1: 1-0. B rolls 1 for 2: 1-2.
    B begins. B rolls 1 for 1: 0-1. A rolls 1 for 1: 1-1. B rolls 1 for 1: 1-2.
    """
    ends = total_rises(rules)
    tree = HogTree(rules, memory=memory)
    if ends:
        sizes = count(tree, most=MOST)
        if not sizes.exact:
            raise ValueError(
                f"audit: {rules.name} to {rules.goal} with 0 to {rules.max_dice} dice is a tree of "
                f"{sizes}, allowed are at most {MOST:,}: lower goal or max_dice"
            )
    found = audit_tree(tree, ranked=ends and not memory, longest=None if ends else TURNS)
    if ends:
        proven = found.findings["no absent-mindedness"]._replace(note=_NEVER_TWICE)
        found.findings["no absent-mindedness"] = proven
    return found


def small(rules: Rules, goal: int, max_dice: int) -> Rules:
    """Give the same rules with a lower goal and fewer dice; never higher or more.

    What histories of the small game show of forgetting, they show of the big one. A turn depends
    on the goal only by ending the game, and not on dice that nobody rolls: so what leads to a move
    in the small game leads to a move in the big one, in the same information set.
    """
    return replace(rules, goal=min(goal, rules.goal), max_dice=min(max_dice, rules.max_dice))


def replay(rules: Rules, history: History) -> list[Position]:
    """Positions that a history goes through, the last one being where it ends.

    Raises
    ------
    ValueError
        If the history is none of this game.
    """
    tree = HogTree(rules)
    positions = [tree.root]
    for move in history:
        node = tree.node(positions[-1])
        after = [] if isinstance(node, End) else [b[-1] for b in node.branches if move.action in b]
        if not after or (isinstance(node, Choice) and move[:2] != (node.player, node.infoset)):
            raise ValueError(f"history: {move} is not possible under {rules.name}")
        position = after[0]
        assert isinstance(position, Position)  # noqa: S101 - of this tree
        positions.append(position)
    return positions


def shows(rules: Rules, witness: Witness) -> bool:
    """Whether both histories of a witness lead to its information set under these rules."""
    for history in (witness.first, witness.second):
        try:
            last = replay(rules, history)[-1]
        except ValueError:
            return False
        ongoing = last.dice is None and last.winner is None and last.mover != START
        if not ongoing or (last.own, last.opponent) != witness.infoset:
            return False
    return True


def tell(rules: Rules, history: History) -> str:
    """Say a history for people, with the scores of A and B after every turn.

    Parameters
    ----------
    rules : Rules
    history : History
        Of a game whose players do not remember.

    Returns
    -------
    str
    """
    said = []
    positions = replay(rules, history)
    for before, after, move in zip(positions, positions[1:], history, strict=False):
        if before.mover == START:
            said.append(f"{move.action}.")
        elif after.dice is None:  # a roll is told once its points are known
            dice = before.dice or 0
            points = int(move.action) if dice else zero_points(rules, before.opponent)
            extra = bonus(rules, before.memory, dice)
            more = f" and {extra} more" if extra else ""
            scores = (after.own, after.opponent)[:: 1 if after.mover == 0 else -1]
            said.append(
                f"{PLAYERS[before.mover]} rolls {dice} for {points}{more}: {scores[0]}-{scores[1]}."
            )
    return " ".join(said)
