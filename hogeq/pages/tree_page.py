"""The page of a small game: its tree, folded, and play against its equilibrium."""

from typing import Final

from hogeq import TreeGame
from hogeq.pages import frame
from hogeq.support.messages import HogeqError

MOST_NODES: Final = 20_000
MOST_WORK: Final = 10**8  # nodes times pairs of plans, all of which a browser visits


def require_small(game: object) -> TreeGame:
    """Return the game if it has a tree that is small enough for a page; else raise an error."""
    if not isinstance(game, TreeGame):
        raise HogeqError("allowed: games that have a tree")
    if game.tree.num_nodes > MOST_NODES:
        raise HogeqError(f"{game.tree.num_nodes:,} nodes; allowed: {MOST_NODES:,}")
    return game


def make(game: TreeGame, title: str) -> str:
    """Write the page of a small game, on which one plays against its equilibrium.

    The page has the arrays of the tree (`hogeq.trees.flat.FlatTree`), and the plans (pure
    strategies) of an equilibrium in mixtures with their probabilities: each side draws one before
    play. Raises `HogeqError` if there are too many plans for a browser.
    """
    tree = game.tree
    equilibrium = game.equilibrium()
    profile = equilibrium.profile
    num_plans = len(profile.chances)
    if tree.num_nodes * num_plans**2 > MOST_WORK:
        raise HogeqError(f"{num_plans:,} plans of each side; allowed: fewer on a page")
    # What chance drew before each node: a number for each node, and the text of each number.
    drawn_numbers, words = tree.words(tree.nodes_after_chance)
    data = {
        "title": title,
        "value": equilibrium.units.ends(
            equilibrium.lower, equilibrium.upper, equilibrium.is_proved
        ),
        "sides": equilibrium.sides,
        # Payoffs in the arrays are centred; these are added for the first and the second side.
        "even": [tree.shift + tree.centre, tree.shift - tree.centre],
        "drawn": [words[number] for number in drawn_numbers],
        "names": [str(name) for name in tree.names],
        "labels": tree.labels,
        "player": tree.player.tolist(),
        "parent": tree.parent.tolist(),
        "row": tree.row.tolist(),
        "payoff": tree.payoff.tolist(),
        "odds": tree.chance_probabilities.tolist(),
        "seat": tree.seat.tolist(),
        "member": tree.member.tolist(),
        "weights": profile.chances.tolist(),
        "plans": profile.policies.tolist(),
    }
    scripts = "scheme numbers elements dice tree treeview treeplay"
    body = frame.part("tree.html")
    return frame.page(title, body, styles="sheet tree", scripts=scripts, data=data)
