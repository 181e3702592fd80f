"""The page of a small game: its tree, folded, and play against its equilibrium."""

from typing import Final

from hogeq.games.tree import TreeGame
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
    """Make the page of a small game; `HogeqError` if its equilibrium has too many plans."""
    tree, solved = game.tree, game.equilibrium()
    profile = solved.profile
    if tree.num_nodes * len(profile.chances) ** 2 > MOST_WORK:
        raise HogeqError(f"{len(profile.chances):,} plans of each side; allowed: fewer on a page")
    numbers, words = tree.words(tree.after_chance)
    arrays = {name: getattr(tree, name) for name in ("player", "parent", "row", "payoff", "odds")}
    arrays |= {"seat": tree.seat, "member": tree.member}
    arrays |= {"weights": profile.chances, "plans": profile.policies}
    data = {
        "title": title,
        "value": [solved.units.exact(end) for end in (solved.lower, solved.upper)],
        "sides": solved.sides,
        "even": [tree.shift + tree.centre, tree.shift - tree.centre],  # beside the payoffs
        "drawn": [words[one] for one in numbers],
        "names": [str(name) for name in tree.names],
        "labels": tree.labels,
        **{name: array.tolist() for name, array in arrays.items()},
    }
    scripts = "scheme numbers elements dice tree treeview treeplay"
    body = frame.part("tree.html")
    return frame.page(title, body, styles="sheet tree", scripts=scripts, data=data)
