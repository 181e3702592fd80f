"""The page of a small game: its tree, folded, and play against its equilibrium."""

from typing import Final

from hogeq import TreeGame
from hogeq.pages import frame
from hogeq.support.messages import HogeqError

MOST_NODES: Final = 20_000
MOST_WORK: Final = 10**8  # nodes that a browser goes through: once for each pair of plans


def require_small(game: object) -> TreeGame:
    """Refuse games without a tree, and trees too large for a page."""
    if not isinstance(game, TreeGame):
        raise HogeqError("allowed: games that have a tree")
    if game.tree.num_nodes > MOST_NODES:
        raise HogeqError(f"{game.tree.num_nodes:,} nodes; allowed: {MOST_NODES:,}")
    return game


def make(game: TreeGame, title: str) -> str:
    """Write the page of a small game; `HogeqError` if its equilibrium has too many plans.

    The page has the arrays of the tree (`hogeq.trees.flat.FlatTree`), and the plans of an
    equilibrium in mixtures with their probabilities: of either side one is drawn before play.
    """
    tree = game.tree
    equilibrium = game.equilibrium()
    profile = equilibrium.profile
    num_plans = len(profile.chances)
    if tree.num_nodes * num_plans**2 > MOST_WORK:
        raise HogeqError(f"{num_plans:,} plans of each side; allowed: fewer on a page")
    drawn_numbers, words = tree.words(tree.after_chance)  # what chance drew before each node
    data = {
        "title": title,
        "value": [equilibrium.units.exact(end) for end in (equilibrium.lower, equilibrium.upper)],
        "sides": equilibrium.sides,
        "even": [tree.shift + tree.centre, tree.shift - tree.centre],  # beside the payoffs
        "drawn": [words[number] for number in drawn_numbers],
        "names": [str(name) for name in tree.names],
        "labels": tree.labels,
        "player": tree.player.tolist(),
        "parent": tree.parent.tolist(),
        "row": tree.row.tolist(),
        "payoff": tree.payoff.tolist(),
        "odds": tree.odds.tolist(),
        "seat": tree.seat.tolist(),
        "member": tree.member.tolist(),
        "weights": profile.chances.tolist(),
        "plans": profile.policies.tolist(),
    }
    scripts = "scheme numbers elements dice tree treeview treeplay"
    body = frame.part("tree.html")
    return frame.page(title, body, styles="sheet tree", scripts=scripts, data=data)
