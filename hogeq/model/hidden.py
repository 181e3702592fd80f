"""Values and reach of every hidden state of a game of Hog, in the order of `HogEngine.memories`."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from hogeq.model.game import HogEngine
from hogeq.model.interpreter import Interpreter
from hogeq.model.one_turn import payoffs_at, send_on
from hogeq.model.protocol import Reach, Role
from hogeq.model.rows import TIE, plain
from hogeq.support.aliases import Floats, Ints, Matrix, matrix_type
from hogeq.support.messages import HogeqError

MemoryValues = Callable[[int, Ints, Floats], Floats]  # see :func:`backward_by`


def hidden_values(game: HogEngine, policies: Floats) -> Interpreter:
    """Interpreter after a pass in which policies (Q, G, G, K) play."""
    if game.has_memory or game.positions_recur:
        return _valued(game, policies, Role.EVALUATE)[0]
    (values,), _ = backward_by(game, len(policies), _mixing(policies))
    return values


def best_rolls(game: HogEngine, policies: Floats) -> tuple[Matrix, float, Interpreter]:
    """Best roll in every hidden state for player 0 of policies, (G, G, H), the fewest on ties.

    Then its win probability when it moves first, and the values.
    """
    if game.has_memory or game.positions_recur:
        values, first = _valued(game, policies, Role.FULL_MEMORY)
        return values.of_states(values.passes.choice), first, values
    chosen, play = np.zeros((game.goal**2, 1), matrix_type(game.num_actions)), _mixing(policies)

    def choose(player: int, cells: Ints, rolls: Floats) -> Floats:
        if player == 1 and len(policies) > 1:
            return play(player, cells, rolls)
        most = rolls.max(axis=3)
        if player == 0:
            chosen[cells] = (rolls >= most[..., None] - TIE)[:, 0].argmax(axis=2)
        return most

    (values,), starts = backward_by(game, len(policies), choose)
    return chosen.reshape(game.goal, game.goal, 1), starts[0][0], values


def _mixing(policies: Floats) -> MemoryValues:
    """Values of memories whose rolls are drawn from policies (Q, G, G, K)."""
    rows = policies.reshape(len(policies), -1, 1, policies.shape[-1], 1)
    return lambda player, cells, rolls: (rolls @ rows[min(player, len(rows) - 1), cells])[..., 0]


def _valued(game: HogEngine, policies: Floats, role: Role) -> tuple[Interpreter, float]:
    passes = game.interpreter(len(policies))
    unread = Reach(passes.each_reach[0], np.ones(1))
    starts, _ = passes.backward(role, plain(policies), unread, 1.0, 1.0)
    return passes, float(starts[0, 0])


def hidden_reach(game: HogEngine, policies: Floats) -> Floats:
    """Reach of every hidden state, player 0 of two policies (2, G, G, K) to move: (G, G, H)."""
    if game.has_memory or game.positions_recur:
        passes = game.interpreter(len(policies))
        passes.forward(plain(policies))
        return passes.of_states(passes.passes.reach[0])
    graph, rows = game.graph, policies.reshape(2, -1, game.num_actions)
    reach, found = np.zeros(graph.positions), np.zeros(game.goal**2)
    reach[graph.start[:, 0]] = graph.start_chance
    for first, last in pairwise(graph.level.tolist()):
        here = np.arange(first, last)
        send_on(graph, here, rows[graph.player[here], graph.row[here]], reach)
    mine = np.flatnonzero(graph.player == 0)
    found[graph.row[mine]] = reach[mine]
    return found.reshape(game.goal, game.goal, 1)


def backward_by(
    game: HogEngine, players: int, memory_values: MemoryValues, passes: int = 1
) -> tuple[list[Interpreter], Sequence[tuple[float, float]]]:
    """Pass over all cells, level by level; a function values every memory to the player to move.

    So rolls may depend on the memory, and nothing is compiled for them. The function gets the
    player, cells (m,), and the values of all rolls there in each of the `passes` made side by side,
    (m, n, H, K), and gives values (m, n, H). In self-play it gets one player's cells if the other's
    are their mirrors. Returns the passes, and the win probability of each player when it moves
    first, pass by pass.
    """
    if game.positions_recur:
        raise HogeqError("backward_by: allowed: games whose positions do not recur")
    works = [game.interpreter(players) for _ in range(passes)]
    graph, lists, sole = works[0].graph, works[0].passes.lists, works[0].passes.use_mirrors
    for first, last in reversed([*pairwise(graph.level.tolist())]):
        level = np.arange(first, last)
        positions = level[graph.player[level] == 0] if sole else level
        for sides in zip(*(payoffs_at(work, positions) for work in works), strict=True):
            rolls = np.stack([rolls for _, rolls in sides], axis=1)
            for player in (0,) if sole else (0, 1):
                moves = graph.player[sides[0][0]] == player
                here, toward = sides[0][0][moves], rolls[moves]
                found = memory_values(player, graph.row[here], abs(player - toward))
                for place, work in enumerate(works):
                    worth, values = found[:, place], work.passes.values[0]
                    values[here] = abs(player - worth)
                    if sole:
                        values[lists.mirror[here]] = 1.0 - worth
    starts = [work.passes.values[0][tuple(graph.start.T)] for work in works]
    return works, [(float(mine), float(1.0 - theirs)) for mine, theirs in starts]
