"""What the information sets of a game forget, and what follows for theory.

A player who acts on the scores alone forgets how they came about. This module finds out what
exactly, by walking every history of a small game, and shows each loss by a smallest witness:
two histories that end in one information set.

Notation, for a player i: X(h) is the sequence of information sets that i met on the way to h and
what i did there, Y(h) the same of the opponent.

- *Perfect recall* (Kuhn 1953): in every information set all histories have one X.
- *A-loss recall* (Kaneko and Kline 1995; in the form of Cermak, Bosansky, Horak, Lisy and
  Pechoucek 2018): two histories of one information set have one X, or there is an information set
  that both have met and at which they acted differently. All that is lost can then be traced to
  forgetting one's own acts, and best responses take polynomial time.
- *Absent-mindedness* (Piccione and Rubinstein 1997): an information set is met twice on one path.
- *Well-formed* (Lanctot, Gibson, Burch, Zinkevich and Bowling 2012, definition 2) with respect to a
  refinement that has perfect recall: between any two parts I, J of an information set there is a
  bijection of the plays through I to those through J that preserves utilities up to a factor,
  chance's probability up to another, Y of the whole play, and X from there on; factors depend on I
  and J alone. *Skew well-formed*: utilities need only be near. CFR keeps a bound on its regret
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

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace

from hogeq.rules import Rules
from hogeq.rules.outcomes import total_rises
from hogeq.trees.forgetting import recurrence, twice, two_pasts, untraced, well_formed
from hogeq.trees.recall import (
    Audit,
    Finding,
    History,
    Loss,
    Walk,
    Witness,
    by_past,
    disagreement,
    each,
    experience,
    first_difference,
    smallest,
)
from hogeq.trees.sizes import count
from hogeq.trees.tree import HogTree, Tree

MOST_NODES = 1_000_000
"""Most nodes of a tree to walk: some ten seconds."""

MOST_POSITIONS = 300_000
"""Most positions among which one that recurs is looked for: some ten seconds."""

HORIZON = 4
"""Turns to look ahead in a game that may never end."""

_NEVER_TWICE = "whatever the goal, since every turn raises the sum of both scores"


def audit_tree(
    tree: Tree, player: int = 0, *, ranked: bool = False, longest: int | None = None
) -> Audit:
    """Audit one player of a game tree."""
    walk = Walk(tree, player, longest)
    pasts = {infoset: by_past(walk, infoset) for infoset in walk.at}
    strict, skew = well_formed(tree, walk, pasts, ranked=ranked)
    return Audit(
        player,
        frozenset(walk.at),
        sum(map(len, walk.at.values())),
        walk.whole,
        _forgets(walk),
        {
            "perfect recall": _finding(walk, each(pasts, two_pasts)),
            "A-loss recall": _finding(walk, each(pasts, untraced)),
            "no absent-mindedness": _finding(walk, twice(walk)),
            "well-formed": strict,
            "skew well-formed": skew,
        },
    )


def _forgets(walk: Walk) -> dict[str, Loss]:
    mine, theirs = walk.player, 1 - walk.player

    def own_path(infoset: Hashable, history: History) -> list[Hashable]:
        # Information sets at even places, acts at odd ones.
        return [*(part for step in experience(history, mine) for part in step), infoset]

    def opponents_path(_: Hashable, history: History) -> list[Hashable]:
        return [part for step in experience(history, theirs) for part in step]

    def rolls(history: History) -> Hashable:
        # With the coin, which is the seat, and without anything else of chance.
        return history[:1], tuple(move[::2] for move in history if move.player is not None)

    def losing(find: Callable[[Hashable, list[History]], Witness | None]) -> Loss:
        witnesses = {infoset: find(infoset, histories) for infoset, histories in walk.at.items()}
        lost = {
            infoset: witness._replace(infoset=infoset)
            for infoset, witness in witnesses.items()
            if witness is not None
        }
        return Loss(frozenset(lost), smallest(lost.values()))

    return {
        "own action": losing(lambda at, h: first_difference(at, h, own_path, 1)),
        "own observation": losing(lambda at, h: first_difference(at, h, own_path, 0)),
        "opponent's action": losing(lambda at, h: first_difference(at, h, opponents_path, 1)),
        "chance": losing(
            lambda _, h: disagreement(h, rolls, lambda h: tuple(m for m in h if m.player is None))
        ),
        "seat": losing(lambda _, h: disagreement(h, lambda _: None, lambda h: h[:1])),
    }


def _finding(walk: Walk, witnesses: Iterable[Witness | None]) -> Finding:
    witness = smallest(witnesses)
    if witness is not None:
        return Finding(holds=False, witness=witness)
    return Finding(holds=True if walk.whole else None, witness=None)


def audit(rules: Rules, *, memory: bool = False, full: Rules | None = None) -> Audit:
    """Audit a game of Hog by walking all of its histories.

    The coin makes both players alike, so one is audited.

    Parameters
    ----------
    rules : Rules
        Of a small game: see :func:`small`.
    memory : bool
        Whether players remember everything that happened.
    full : Rules, optional
        The game that `rules` are a small part of: where positions can recur, they are looked for
        up to its goal. By default `rules`.

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
    >>> from hogeq.trees.witness import tell
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
        sizes = count(tree, most=MOST_NODES)
        if not sizes.exact:
            raise ValueError(
                f"audit: {rules.name} to {rules.goal} with 0 to {rules.max_dice} dice is a tree of "
                f"{sizes}; allowed: at most {MOST_NODES:,}: lower goal or max_dice"
            )
    result = audit_tree(tree, ranked=ends and not memory, longest=None if ends else HORIZON)
    if ends:
        proven = result.findings["no absent-mindedness"]._replace(note=_NEVER_TWICE)
        result.findings["no absent-mindedness"] = proven
    elif not memory and result.findings["no absent-mindedness"].holds is None:
        goal = (full or rules).goal
        searched = HogTree(replace(rules, goal=goal))
        witness, complete = recurrence(searched, result.player, MOST_POSITIONS)
        if witness is not None or complete:
            note = f"in the game to {goal} with 0 to {rules.max_dice} dice"
            result.findings["no absent-mindedness"] = Finding(witness is None, witness, note)
    return result


def small(rules: Rules, goal: int, max_dice: int) -> Rules:
    """Give the same rules with a goal and dice of at most these.

    A loss of recall in the small game is one in the big game too. A turn depends on the goal only
    by ending the game, and not on dice that nobody rolls: so what leads to a move in the small game
    leads to a move in the big one, in the same information set.
    """
    return replace(rules, goal=min(goal, rules.goal), max_dice=min(max_dice, rules.max_dice))
