"""Values and reach of every hidden state of a game of Hog, in the order of `HogEngine.memories`."""

from collections.abc import Callable, Sequence

import numpy as np

from hogeq.model.game import HogEngine
from hogeq.model.interpreter import Interpreter
from hogeq.model.protocol import Reach, Role
from hogeq.model.rows import plain
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.messages import HogeqError

MemoryValues = Callable[[int, int, int, Floats], Floats]  # see :func:`backward_by`


def hidden_values(game: HogEngine, policies: Floats) -> Interpreter:
    """Interpreter after a pass in which policies (Q, G, G, K) play."""
    return _valued(game, policies, Role.EVALUATE)[0]


def best_rolls(game: HogEngine, policies: Floats) -> tuple[Matrix, float, Interpreter]:
    """Best roll in every hidden state for player 0 of policies, (G, G, H), the fewest on ties.

    Then its win probability when it moves first, and the values.
    """
    values, first = _valued(game, policies, Role.FULL_MEMORY)
    return values.of_states(values.passes.choice), first, values


def _valued(game: HogEngine, policies: Floats, role: Role) -> tuple[Interpreter, float]:
    passes = game.interpreter(len(policies))
    unread = Reach(passes.each_reach[0], np.ones(1))
    starts, _ = passes.backward(role, plain(policies), unread, 1.0, 1.0)
    return passes, float(starts[0, 0])


def hidden_reach(game: HogEngine, policies: Floats) -> Floats:
    """Reach probability of every hidden state, player 0 to move: float64 (G, G, H)."""
    passes = game.interpreter(len(policies))
    passes.forward(plain(policies))
    return passes.of_states(passes.passes.reach[0])


def backward_by(
    game: HogEngine, players: int, memory_values: MemoryValues, passes: int = 1
) -> Sequence[tuple[float, float]]:
    """Pass over all cells; a function gives the value of every memory to the player to move.

    So rolls may depend on the memory. The function is called in Python once for each cell and
    player, which takes a second or two in a game to 100. It gets the player, both scores, and the
    values of all rolls in each of the `passes` made side by side, (n, H, K), and gives values
    (n, H). Returns the win probability of each player when it moves first, pass by pass.
    """
    if game.positions_recur:
        raise HogeqError("backward_by: allowed: games whose positions do not recur")
    works, goal = [game.interpreter(players) for _ in range(passes)], game.goal
    roots = np.zeros((passes, players))
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            for player in range(players):
                rolled = np.stack([work.at(own, opponent, player) for work in works])
                found = memory_values(player, own, opponent, rolled)
                for place, (work, values) in enumerate(zip(works, found, strict=True)):
                    roots[place, player] = work.publish(own, opponent, player, values)
    return [(float(root[0]), float(root[-1])) for root in roots]
