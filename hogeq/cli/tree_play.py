"""A game tree played in the terminal: a person in one seat, a strategy in the other."""

from collections.abc import Callable, Sequence

import numpy as np

from hogeq import CHANCE, TERMINAL, FlatTree, Strategy
from hogeq.support.messages import percent


class TreePlay:
    """One play of a game tree. The person learns of moves only by the names of information sets."""

    def __init__(self, tree: FlatTree, opponent: Strategy, seat: int, seed: int) -> None:
        """Begin at the root of the tree; of a mixture, draw the policy that is played."""
        self.tree = tree
        self.seat = seat  # the person's
        self.node = 0  # the root
        self.random = np.random.default_rng(seed)
        self.advice = opponent.mean  # policy of hints, for the person's own seat
        # A mixture draws the policy that it plays once, before the game.
        self.policy = opponent.policies[self._draw(opponent.chances)]

    def _draw(self, chances: Sequence[float] | np.ndarray) -> int:
        """Draw an index by probabilities, whose sum may miss 1 by rounding."""
        return int(self.random.choice(len(chances), p=np.asarray(chances) / np.sum(chances)))

    def move(self, action: int | None = None) -> None:
        """Move on by the number of an action; if it is None, chance or the opponent draws one."""
        tree = self.tree
        # Nodes are ordered by their parents, so that the children of a node are consecutive.
        first_child, end = np.searchsorted(tree.parent, [self.node, self.node + 1])
        if action is None:
            if tree.player[self.node] == CHANCE:
                chances = tree.chance[first_child:end]
            else:
                num_actions = end - first_child
                chances = self.policy[tree.row[self.node], :num_actions]
            action = self._draw(chances)
        self.node = int(first_child) + action

    def converse(self, ask: Callable[[str], str | None], say: Callable[[str], None]) -> bool:
        """Play until the end, or until the person leaves; return whether the end was reached.

        `ask` shows a question and returns the answer, None at the end of input; `say` shows a line.
        """
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
            action_of = {}  # by the answers that choose it: its number from 1, or its name
            for action, label in enumerate(labels):
                action_of[str(action + 1)] = action
                action_of[label.lower()] = action
            if line in {"?", "h", "hint"}:
                chances = zip(labels, self.advice[row], strict=False)
                say(", ".join(f"{label}: {percent(chance)}" for label, chance in chances))
            elif line in action_of:
                self.move(action_of[line])
            else:
                say(f"{line!a:.40}: allowed: a number or a name of an action, ? and quit")
        return True

    @property
    def payoff(self) -> float:
        """Payoff to the person, at the end."""
        tree = self.tree
        payoff = float(tree.payoff[self.node])  # to player 0, in the zero-sum form of the game
        sign = 1.0 if self.seat == 0 else -1.0
        return sign * payoff + tree.shift + sign * tree.centre
