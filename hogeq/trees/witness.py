"""Witnesses of forgetting: replayed, and written as sentences."""

from hogeq.rules import Rules
from hogeq.rules.outcomes import TurnTable
from hogeq.trees.recall import History, Witness
from hogeq.trees.tree import PLAYERS, START, Choice, End, HogTree, TreePosition


def replay(rules: Rules, history: History) -> list[TreePosition]:
    """Positions that a history goes through, the last one being where it ends."""
    tree = HogTree(rules)
    positions = [tree.root]
    for move in history:
        node = tree.node(positions[-1])
        after = [] if isinstance(node, End) else [b[-1] for b in node.branches if move.action in b]
        if not after or (isinstance(node, Choice) and move[:2] != (node.player, node.infoset)):
            raise ValueError(f"history: {move} is not possible under {rules.name}")
        position = after[0]
        assert isinstance(position, TreePosition)  # noqa: S101 - of this tree
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
    """Write a history as sentences, with the scores of A and B after every turn."""
    sentences = []
    turns = TurnTable(rules)
    positions = replay(rules, history)
    for before, after, move in zip(positions, positions[1:], history, strict=False):
        if before.mover == START:
            sentences.append(f"{move.action}.")
        elif after.dice is None:  # a roll is written once its points are known
            dice = before.dice or 0
            points = int(move.action) if dice else turns.free(before.own, before.opponent).points
            extra = turns.memory_effect(before.memory, dice).bonus
            more = f" and {extra} more" if extra else ""
            scores = (after.own, after.opponent)[:: 1 if after.mover == 0 else -1]
            sentences.append(
                f"{PLAYERS[before.mover]} rolls {dice} for {points}{more}: {scores[0]}-{scores[1]}."
            )
    return " ".join(sentences)
