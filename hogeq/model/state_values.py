"""Values and reach of every hidden state of a game of Hog, in the order of `HogEngine.memories`."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np

from hogeq.model.game import HogEngine
from hogeq.model.graph_layout import GraphLayout
from hogeq.model.one_turn import payoffs_at, send_on
from hogeq.model.protocol import Reach, Role
from hogeq.model.rows import TIE, plain
from hogeq.support.aliases import Floats, Ints, Matrix, matrix_type
from hogeq.support.messages import HogeqError

MOST_MISSED: Final = 1e-9  # most that iteration may miss of a win probability

MemoryValues = Callable[[int, Ints, Floats], Floats]  # by player, cells and rolls: `backward_by`


def hidden_values(game: HogEngine, policies: Floats) -> GraphLayout:
    """Value every hidden state if policies (Q, G, G, K) play; the result holds the values."""
    if game.has_memory or game.positions_recur:
        return _valued(game, policies, Role.EVALUATE)[0]
    (values,), _ = backward_by(game, len(policies), partial(_mean_values, policies))
    return values


def settled(passes: GraphLayout) -> GraphLayout:
    """Give passes as they are; refuse them if iteration may have missed more than `MOST_MISSED`.

    Where positions recur, values are limits of an iteration, which ends early if play goes on for
    long. Play without end has no bound on what is missed: it counts as half a win at once.
    """
    if MOST_MISSED < passes.passes.error < np.inf:
        raise HogeqError(
            "game: play goes on for too long to be valued; allowed: rules and strategies under "
            "which it ends sooner"
        )
    return passes


def best_rolls(game: HogEngine, policies: Floats) -> tuple[Matrix, float, GraphLayout]:
    """Find the best roll of player 0 in every hidden state, against policy 1.

    `policies` are (Q, G, G, K); player 0 does not follow its own, policy 0. In self-play, Q = 1,
    both players take best rolls. Returns the rolls, (G, G, H), the fewest dice on ties; player 0's
    win probability when it moves first; and the passes that hold the values. Raises `HogeqError` as
    :func:`settled` does.
    """
    if game.has_memory or game.positions_recur:
        passes, first = _valued(game, policies, Role.FULL_MEMORY)
        settled(passes)
        return passes.of_states(passes.passes.choice), first, passes
    best = np.zeros((game.goal**2, 1), matrix_type(game.num_actions))
    memory_values = partial(_best_values, policies, best)
    (passes,), starts = backward_by(game, len(policies), memory_values)
    return best.reshape(game.goal, game.goal, 1), starts[0][0], passes


def _best_values(
    policies: Floats, best: Matrix, player: int, cells: Ints, roll_values: Floats
) -> Floats:
    """Value the best roll of every memory, for :func:`backward_by`; or what policy 1 plays.

    `roll_values` (m, n, H, K) are the win probabilities of the player to move, by cell (pair of
    scores), pass, memory and roll; here is one pass, and one memory. Returns those of the memories,
    (m, n, H). Player 0's best rolls are noted in `best`, (G * G, 1).
    """
    if player == 1 and len(policies) > 1:
        return _mean_values(policies, player, cells, roll_values)
    largest = roll_values.max(axis=3)
    if player == 0:
        is_best = roll_values >= largest[..., None] - TIE
        best[cells] = is_best[:, 0].argmax(axis=2)  # the first one
    return np.asarray(largest)


def _mean_values(policies: Floats, player: int, cells: Ints, roll_values: Floats) -> Floats:
    """Value every memory, for :func:`backward_by`: rolls are drawn from policies (Q, G, G, K).

    `roll_values` (m, n, H, K) are the win probabilities of the player to move, by cell (pair of
    scores), pass, memory and roll. Returns their means, (m, n, H).
    """
    num_policies, _, _, actions = policies.shape
    rows = policies.reshape(num_policies, -1, 1, actions, 1)
    policy = rows[min(player, num_policies - 1)]  # of one policy, player 1 plays it too
    return np.asarray((roll_values @ policy[cells])[..., 0])


def _valued(game: HogEngine, policies: Floats, role: Role) -> tuple[GraphLayout, float]:
    """Value all states by one pass backward; return it, and player 0's win probability going first.

    The pass is over the graph, uncompiled; `role` says how player 0 acts.
    """
    passes = game.graph_layout(len(policies))
    unread_reach = Reach(passes.each_reach[0], np.ones(1))
    # Temperature and damping are for roles that change the policy.
    starts, _ = passes.backward(role, plain(policies), unread_reach, temperature=1.0, damping=1.0)
    return passes, float(starts[0, 0])


def hidden_reach(game: HogEngine, policies: Floats) -> Floats:
    """Reach of every hidden state, player 0 of two policies (2, G, G, K) to move: (G, G, H)."""
    if game.has_memory or game.positions_recur:
        passes = game.graph_layout(len(policies))
        passes.forward(plain(policies))
        return passes.of_states(passes.passes.reach[0])
    graph, rows = game.graph, policies.reshape(2, -1, game.num_actions)
    reach = np.zeros(graph.positions)
    reach[graph.start[:, 0]] = graph.start_chance
    for first, last in pairwise(graph.level.tolist()):
        level = np.arange(first, last)  # positions that do not lead to each other
        send_on(graph, level, rows[graph.player[level], graph.row[level]], reach)
    own_positions = np.flatnonzero(graph.player == 0)
    cell_reach = np.zeros(game.goal**2)
    cell_reach[graph.row[own_positions]] = reach[own_positions]
    return cell_reach.reshape(game.goal, game.goal, 1)


def backward_by(
    game: HogEngine, players: int, memory_values: MemoryValues, passes: int = 1
) -> tuple[list[GraphLayout], Sequence[tuple[float, float]]]:
    """Value all cells, level by level, each memory as a function of the values of its rolls.

    So rolls may depend on the memory, and nothing is compiled for them. `memory_values` gets the
    player to move, cells (m,), and the win probabilities of all rolls there in each of the `passes`
    made side by side, (m, n, H, K), and returns those of memories, (m, n, H). In self-play it gets
    one player's cells if the other's are their mirrors. Returns the passes, and the win probability
    of each player when it moves first, pass by pass.
    """
    if game.positions_recur:
        raise HogeqError("backward_by: allowed: games whose positions do not recur")
    all_passes = [game.graph_layout(players) for _ in range(passes)]
    graph = all_passes[0].graph
    mirrored = all_passes[0].passes.use_mirrors
    for first, last in reversed([*pairwise(graph.level.tolist())]):
        level = np.arange(first, last)
        positions = level[graph.player[level] == 0] if mirrored else level
        for chunks in zip(*(payoffs_at(each, positions) for each in all_passes), strict=True):
            chunk = chunks[0][0]  # some positions, the same in all passes
            payoffs = np.stack([payoffs for _, payoffs in chunks], axis=1)  # to player 0
            for player in (0,) if mirrored else (0, 1):
                moves = graph.player[chunk] == player
                moved = chunk[moves]  # the positions at which the player moves
                # abs(1 - x) turns a payoff to player 0 into player 1's win probability, and back.
                roll_values = abs(player - payoffs[moves])
                new_values = memory_values(player, graph.row[moved], roll_values)
                _set_payoffs(all_passes, moved, abs(player - new_values))
    starts = [each.passes.values[0][tuple(graph.start.T)] for each in all_passes]
    return all_passes, [(float(mine), float(1.0 - theirs)) for mine, theirs in starts]


def _set_payoffs(all_passes: Sequence[GraphLayout], positions: Ints, payoffs: Floats) -> None:
    """Set the values of positions, (m,), in n passes: payoffs to player 0, (m, n, H), by memory.

    If mirrored positions, those with the players exchanged, are left out, they get the rest of 1.
    """
    for number, layout in enumerate(all_passes):
        values = layout.passes.values[0]
        values[positions] = payoffs[:, number]
        if layout.passes.use_mirrors:
            mirror = layout.passes.pass_graph.mirror_position[positions]
            values[mirror] = 1.0 - payoffs[:, number]
