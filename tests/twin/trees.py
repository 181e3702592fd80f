"""A game tree by the list of its plays: slow and obvious, and nothing of hogeq.

A node is a payoff to player 0; ``("chance", [(probability, node), ...])``; or ``(player, row,
[node, ...])``, a child for each legal action. A policy is a list of rows of both players. Illegal
actions, those past the children, mean a legal one at random.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count, islice
from math import exp, prod
from typing import Any, NamedTuple

Steps = tuple[tuple[int, int], ...]  # rows and actions of one player
Rows = Any  # lists or an array


class Play(NamedTuple):
    """What led to a node: probability of chance, steps of each player; its payoff, or its row."""

    chance: float
    steps: tuple[Steps, Steps]
    payoff: float
    row: int


def plays(node: Any, chance: float = 1.0, steps: Any = ((), ())) -> Iterator[Play]:
    """List all ends and all nodes where a player moves."""
    if not isinstance(node, tuple):
        yield Play(chance, steps, node, -1)
    elif node[0] == "chance":
        for probability, child in node[1]:
            yield from plays(child, chance * probability, steps)
    else:
        player, row, children = node
        yield Play(chance, steps, 0.0, row)
        for action, child in enumerate(children):
            longer = list(steps)
            longer[player] = (*steps[player], (row, action))
            yield from plays(child, chance, tuple(longer))


class Tree:
    """A game, two strategies of which meet in both seats; the largest payoff is a win."""

    def __init__(self, root: Any, players: Mapping[int, int], legal: Mapping[int, int]) -> None:
        self.players, self.legal = players, legal  # by row
        self.nodes = [play for play in plays(root) if play.row >= 0 and play.chance > 0.0]
        self.ends = [play for play in plays(root) if play.row < 0 and play.chance > 0.0]
        self.most = max(abs(end.payoff) for end in self.ends) or 1.0

    def chance_of(self, policy: Rows, steps: Steps) -> float:
        """Probability of one player's steps."""
        return prod(self.row(policy, row)[action] for row, action in steps)

    def row(self, policy: Rows, row: int) -> list[float]:
        """Probabilities of the legal actions."""
        legal = self.legal[row]
        return [chance + sum(policy[row][legal:]) / legal for chance in policy[row][:legal]]

    def wins(self, one: Rows, two: Rows) -> float:
        """Win rate of player 0 by one policy against another."""
        return 0.5 + sum(
            end.chance
            * self.chance_of(one, end.steps[0])
            * self.chance_of(two, end.steps[1])
            * end.payoff
            / (2.0 * self.most)
            for end in self.ends
        )

    def reach(self, mine: Rows, theirs: Rows) -> dict[int, float]:
        """How often a policy comes to each row, a seat having half of all games."""
        found: dict[int, float] = defaultdict(float)
        for node in self.nodes:
            seat = self.players[node.row]
            met = self.chance_of(theirs, node.steps[1 - seat])
            found[node.row] += node.chance * met * self.chance_of(mine, node.steps[seat]) / 2.0
        return found

    def values(self, row: int, believed: Rows, mine: Rows, theirs: Rows) -> list[float]:
        """Win rate that legal actions bring, less their mean; another policy played the past."""
        seat, values = self.players[row], [0.0] * self.legal[row]
        for end in self.ends:
            steps = end.steps[seat]
            for place, (one, action) in enumerate(steps):
                if one == row:
                    past, future = steps[:place], steps[place + 1 :]
                    came = self.chance_of(believed, past) * self.chance_of(mine, future)
                    met = end.chance * self.chance_of(theirs, end.steps[1 - seat])
                    paid = end.payoff if seat == 0 else -end.payoff
                    values[action] += came * met * paid / (4.0 * self.most)
        mean = sum(values) / len(values)
        return [value - mean for value in values]

    def last_first(self) -> list[int]:
        """List rows so that each comes after all that follow it in a play."""
        depth: dict[int, int] = defaultdict(int)
        for _ in self.players:
            for node in self.nodes:
                for row, _ in node.steps[self.players[node.row]]:
                    depth[node.row] = max(depth[node.row], depth[row] + 1)
        return sorted(self.players, key=lambda row: -depth[row])

    def swept(self, believed: Rows, mine: Rows, theirs: Rows) -> tuple[list[list[float]], int]:
        """Set all rows to their best action, those last in plays first; count what changes."""
        policy, changes, reach = [list(row) for row in mine], 0, self.reach(believed, theirs)
        for row in self.last_first():
            values = self.values(row, believed, policy, theirs)
            least = max(values) - 1e-12 * reach[row]
            good = [action for action, value in enumerate(values) if value >= least]
            if reach[row] > 0.0 and not any(policy[row][action] == 1.0 for action in good):
                policy[row] = [float(action == good[0]) for action in range(len(policy[row]))]
                changes += 1
        return policy, changes

    def softened(
        self, believed: Rows, mine: Rows, theirs: Rows, temperature: float, damping: float
    ) -> list[list[float]]:
        """Move all rows towards the softmax of their values, those last in plays first."""
        policy, reach = [list(row) for row in mine], self.reach(believed, theirs)
        for row in self.last_first():
            if reach[row] > 0.0:
                values = self.values(row, believed, policy, theirs)
                powers = [exp((x - max(values)) / reach[row] / temperature) for x in values]
                wanted = [power / sum(powers) for power in powers]
                wanted += [0.0] * (len(policy[row]) - len(wanted))
                policy[row] = [
                    before + damping * (after - before)
                    for before, after in zip(policy[row], wanted, strict=True)
                ]
        return policy

    def remembering(self, seat: int, theirs: Rows) -> float:
        """Win rate of a player who forgets nothing."""

        def best(ends: list[Play], depth: int) -> float:
            later: dict[int, dict[int, list[Play]]] = defaultdict(lambda: defaultdict(list))
            total = 0.0
            for end in ends:
                if len(end.steps[seat]) == depth:
                    met = end.chance * self.chance_of(theirs, end.steps[1 - seat])
                    total += met * (end.payoff if seat == 0 else -end.payoff)
                else:
                    row, action = end.steps[seat][depth]
                    later[row][action].append(end)
            for actions in later.values():
                total += max(best(ends, depth + 1) for ends in actions.values())
            return total

        return 0.5 + best(self.ends, 0) / (2.0 * self.most)


def random_tree(random: Any, most: int = 60) -> tuple[Any, dict[int, int], dict[int, int]]:
    """Draw a tree of about so many nodes: its root, and of each row the player and legal actions.

    Who moves draws a row among those of as many own moves before: rows forget all else.
    """
    players: dict[int, int] = {}
    legal: dict[int, int] = {}
    pools: dict[tuple[int, int], list[int]] = defaultdict(list)
    numbers, left = count(), iter(range(most))

    def node(depth: int, moved: tuple[int, int]) -> Any:
        if depth == 7 or not list(islice(left, 1)) or random.random() < 0.1 * depth:
            return float(random.integers(-3, 4))
        if random.random() < 0.2 or not depth:
            weights = random.random(random.integers(2, 4)) * (random.random() < 0.9)
            weights[0] += 0.1
            chances = (weights / weights.sum()).tolist()
            return "chance", [(chance, node(depth + 1, moved)) for chance in chances]
        player = int(random.integers(2))
        pool = pools[player, moved[player]]
        if not pool or random.random() < 0.4:
            row = next(numbers)
            pool.append(row)
            players[row], legal[row] = player, int(random.integers(1, 4))
        else:
            row = int(random.choice(pool))
        after = (moved[0] + (player == 0), moved[1] + (player == 1))
        return player, row, [node(depth + 1, after) for _ in range(legal[row])]

    return node(0, (0, 0)), players, legal
