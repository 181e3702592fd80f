"""The page of a small game: its tree, folded, and play against its equilibrium."""

from typing import Final

from hogeq.games.tree import TreeGame
from hogeq.pages import frame
from hogeq.search.results import Equilibrium
from hogeq.support.messages import HogeqError

MOST_NODES: Final = 20_000
MOST_WORK: Final = 10**8  # nodes that a browser goes through: once for each pair of plans


def require_small(game: object, components: int = 1) -> TreeGame:
    """Refuse games without a tree, and trees too large for a page."""
    if not isinstance(game, TreeGame):
        raise HogeqError("the page shows a tree; allowed: games that have one")
    nodes = game.tree.num_nodes
    if nodes > MOST_NODES or nodes * components**2 > MOST_WORK:
        plans = f" and {components:,} plans of each side" if components > 1 else ""
        raise HogeqError(f"{nodes:,} nodes{plans}; allowed on a page: {MOST_NODES:,} nodes")
    return game


def make(given: object, title: str, solved: Equilibrium) -> str:
    """Make the page of a game and its equilibrium.

    Raises
    ------
    HogeqError
        If the game has no tree, or one too large.
    """
    profile = solved.profile
    game = require_small(given, len(profile.chances))
    tree = game.tree
    numbers, words = tree.words(tree.after_chance)
    data = {
        "title": title,
        "value": [solved.units.exact(end) for end in (solved.lower, solved.upper)],
        "sides": solved.sides,
        "even": [tree.shift + tree.centre, tree.shift - tree.centre],  # beside the payoffs
        "player": tree.player.tolist(),
        "parent": tree.parent.tolist(),
        "row": tree.row.tolist(),
        "payoff": tree.payoff.tolist(),
        "odds": tree.odds.tolist(),
        "drawn": [words[one] for one in numbers],
        "seat": tree.seat.tolist(),
        "member": tree.member.tolist(),
        "names": [str(name) for name in tree.names],
        "labels": tree.labels,
        "weights": profile.chances.tolist(),
        "plans": profile.policies.tolist(),
    }
    scripts = "scheme numbers elements dice tree treeview treeplay"
    body = frame.part("tree.html")
    return frame.page(title, body, styles="sheet tree", scripts=scripts, data=data)
