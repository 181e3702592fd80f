"""The hash of a game's tree, whose nodes are laid out level by level, with nothing saved.

`look` gives a node of a state: `player` (0, 1, -1 for chance, -2 at the end), `infoset`, `moves` of
a number, a probability and a state, and `payoff` to player 0 or `payoffs` to each.
"""

import struct
from collections.abc import Callable
from hashlib import sha256
from typing import Any

CHANCE, END = -1, -2


def tree_hash(root: Any, look: Callable[[Any], Any]) -> str:
    """Hash a tree: its nodes by depth, then its information sets."""
    nodes, level = [], [(root, -1, 0, 1.0)]
    while level:
        after = []
        for state, parent, action, chance in level:
            node = look(state)
            drawn = [float(one) for _, one, _ in node.moves]
            if node.player == CHANCE and abs(sum(drawn) - 1.0) > len(drawn) * 2.0**-52:
                drawn = [one / sum(drawn) for one in drawn]
            here = len(nodes)
            nodes.append((node, parent, action, chance))
            for place, (_, _, child) in enumerate(node.moves):
                after.append((child, here, place, drawn[place]))
        level = after
    sets = {(node.player, node.infoset) for node, _, _, _ in nodes if node.player >= 0}
    rows = sorted(sets, key=lambda one: (one[0], str(one[1])))
    number = {one: row for row, one in enumerate(rows)}
    paid = [
        float((node.payoffs or (node.payoff,))[0]) if node.player == END else None
        for node, _, _, _ in nodes
    ]
    ends = [one for one in paid if one is not None]
    least, most = min(ends), max(ends)
    middle = least / 2 + most / 2
    centre = middle if abs(middle) > most - least > 0.0 else 0.0
    found = sha256()
    for whole in (
        [node.player for node, _, _, _ in nodes],
        [parent for _, parent, _, _ in nodes],
        [number.get((node.player, node.infoset), -1) for node, _, _, _ in nodes],
        [action for _, _, action, _ in nodes],
        [player for player, _ in rows],
    ):
        found.update(struct.pack(f"<{len(whole)}i", *whole))
    payoffs = [0.0 if one is None else one - centre if centre else one for one in paid]
    for numbers in ([chance for _, _, _, chance in nodes], payoffs, [0.0, centre]):
        found.update(struct.pack(f"<{len(numbers)}d", *numbers))
    for _, infoset in rows:
        found.update(f"{infoset}\0".encode("utf-8", "surrogatepass"))
    return found.hexdigest()
