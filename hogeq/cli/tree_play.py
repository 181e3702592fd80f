"""A game tree played in the terminal: a person in one seat, a strategy in the other."""

from collections.abc import Callable, Sequence

import numpy as np

from hogeq import CHANCE, TERMINAL, FlatTree, Strategy
from hogeq.support.messages import percent


class TreePlay:
    """One play of a tree. Nothing is told of moves but what the person's information sets name."""

    def __init__(self, tree: FlatTree, opponent: Strategy, seat: int, seed: int) -> None:
        self.tree, self.seat, self.node = tree, seat, 0
        self.random = np.random.default_rng(seed)
        self.advice = opponent.mean
        self.policy = opponent.policies[self._drawn(opponent.chances)]

    def _drawn(self, chances: Sequence[float] | np.ndarray) -> int:
        return int(self.random.choice(len(chances), p=np.asarray(chances) / np.sum(chances)))

    def move(self, action: int | None = None) -> None:
        """Move on by an action, or as chance or the opponent draws."""
        first, end = np.searchsorted(self.tree.parent, [self.node, self.node + 1])
        if action is None:
            drawn, row = self.tree.player[self.node] == CHANCE, self.tree.row[self.node]
            action = self._drawn(
                self.tree.chance[first:end] if drawn else self.policy[row, : end - first]
            )
        self.node = int(first) + action

    def converse(self, ask: Callable[[str], str | None], say: Callable[[str], None]) -> bool:
        """Play until the end, or until the person leaves; give whether the end was reached."""
        tree = self.tree
        while tree.player[self.node] != TERMINAL:
            if tree.player[self.node] != self.seat:
                self.move()
                continue
            row = tree.row[self.node]
            labels = tree.labels[row]
            say(f"player {tree.member[row]}, you know: {tree.names[row]}")
            line = ask(", ".join(f"{number} {label}" for number, label in enumerate(labels, 1)))
            if line in {None, "quit", "exit", "q"}:
                return False
            known = {text: a for a, one in enumerate(labels) for text in (str(a + 1), one.lower())}
            if line in {"?", "h", "hint"}:
                chances = zip(labels, self.advice[row], strict=False)
                say(", ".join(f"{label}: {percent(chance)}" for label, chance in chances))
            elif line in known:
                self.move(known[line])
            else:
                say(f"{line!a:.40}: allowed: a number or a name of an action, ? and quit")
        return True

    @property
    def payoff(self) -> float:
        """Payoff to the person, at the end."""
        tree, paid = self.tree, float(self.tree.payoff[self.node])
        return (paid, -paid)[self.seat] + tree.shift + (tree.centre, -tree.centre)[self.seat]
