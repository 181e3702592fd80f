"""Passes over many pairs at once are those over one pair after the other."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike

from hogeq.model.cell_passes import CellPasses
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.interpreter import TIE, Interpreter
from hogeq.model.many import (
    Choice,
    ManyWorkspace,
    quick_workspace,
    shared_duels,
    shared_workspace,
)
from hogeq.model.memory_passes import STRIP, MemoryPasses, pass_order
from hogeq.model.workspace import Passes, Role, Workspace
from hogeq.rules import rules_from
from hogeq.support.aliases import Floats

PAIRS = 3
GAMES: dict[str, dict[str, Any]] = {
    "su20": {"goal": 12},
    "su21": {"goal": 12, "max_dice": 3},
    "fa22": {"goal": 14, "max_dice": 3},
    "fa15": {"goal": 12, "max_dice": 2, "piggy_back": False},  # positions recur
}
CASES = [(name, "generic") for name in GAMES]
CASES += [("su20", "large"), ("su21", "cells"), ("fa22", "cells")]
NO_CYCLES = [case for case in CASES if case[0] != "fa15"]
WEIGHTS = np.array([0.5, 0.2, 0.3])


@cache
def game_of(name: str) -> HogEngine:
    """Compile a small game."""
    return compile_game(rules_from({"edition": name, **GAMES[name]}))


def drawn(game: HogEngine, number: int, seed: int = 0) -> Floats:
    random = np.random.default_rng(seed)
    return random.dirichlet(np.ones(game.num_actions), (number, *game.shape[:2]))


def many(game: HogEngine, how: str = "generic", pairs: int = PAIRS) -> ManyWorkspace:
    """Make a workspace of a kind."""
    return ManyWorkspace(game, pairs, choose=WAYS[how])


def _by_memories(game: HogEngine, players: int, dtype: DTypeLike, matches: int) -> Passes:
    return MemoryPasses(game.tables, players, dtype, matches)


def _interpreted(game: HogEngine, players: int, _: DTypeLike, matches: int) -> Passes:
    return Interpreter(game.rules, game.recurrence, players, matches)


def _by_cells(game: HogEngine, players: int, dtype: DTypeLike, matches: int) -> Passes:
    return CellPasses(game.tables, players, dtype, matches)


WAYS: dict[str, Choice] = {"generic": _interpreted, "large": _by_memories, "cells": _by_cells}


def singly(
    game: HogEngine, policy: Floats, opponent: Floats, role: Role
) -> tuple[Workspace, Floats]:
    """Make one pass forward and one back; a workspace, and the win probabilities."""
    both = np.stack([policy, opponent])
    work = Workspace(game, 2)
    work.forward(both)
    first, other, _ = work.backward(both, role, temperature=0.02, damping=0.5)
    policy[:] = both[0]
    return work, np.array([first, other])


@pytest.mark.parametrize(("name", "how"), CASES)
def test_values_against_a_mixture_are_sums_over_its_parts(name: str, how: str) -> None:
    game = game_of(name)
    policy, *opponents = drawn(game, 1 + PAIRS)
    work = many(game, how)
    work.face(np.array(opponents), WEIGHTS)
    work.forward(policy)
    found = work.backward(policy, Role.COUNTERFACTUAL)
    values, reach = np.zeros(game.shape), np.zeros(game.shape[:2])
    for k, opponent in enumerate(opponents):
        one, starts = singly(game, policy, opponent, Role.COUNTERFACTUAL)
        assert [found.first[k], found.other[k]] == pytest.approx(starts, abs=1e-12)
        assert work.each[k] == pytest.approx(one.counterfactual_values, abs=1e-13)
        assert work.each_reach[k] == pytest.approx(one.infoset_reach, abs=1e-13)
        values += WEIGHTS[k] * one.counterfactual_values
        reach += WEIGHTS[k] * one.infoset_reach
    assert work.counterfactual_values == pytest.approx(values, abs=1e-13)
    assert work.infoset_reach == pytest.approx(reach, abs=1e-13)
    assert work.win_rates(policy) == pytest.approx(found.win_rates, abs=1e-12)


@pytest.mark.parametrize(("name", "how"), NO_CYCLES)
@pytest.mark.parametrize("role", [Role.ASCEND, Role.SOFTMAX])
def test_a_sweep_changes_one_cell_after_the_other(name: str, how: str, role: Role) -> None:
    """The slow twin asks for exact values against the mixture anew before every cell."""
    game = compile_game(rules_from({"edition": name, **GAMES[name], "goal": 5}))
    policy, *opponents = drawn(game, 1 + PAIRS)
    work = many(game, how)
    work.face(np.array(opponents), WEIGHTS)
    slow = policy.copy()
    work.forward(policy)
    found = work.backward(policy, role, temperature=0.02, damping=0.5)
    for own, opponent in np.column_stack(pass_order(game.goal, STRIP))[::-1].tolist():
        values, reach = np.zeros(game.num_actions), 0.0
        for weight, rival in zip(WEIGHTS, opponents, strict=True):
            one, _ = singly(game, slow.copy(), rival, Role.COUNTERFACTUAL)
            values += weight * one.counterfactual_values[own, opponent]
            reach += weight * one.infoset_reach[own, opponent]
        if reach == 0.0:
            continue
        row = slow[own, opponent]
        if role == Role.ASCEND:
            row[:] = np.arange(len(row)) == np.argmax(values >= values.max() - TIE * reach)
        else:
            powers = np.exp((values - values.max()) / (0.02 * reach))
            row += 0.5 * (powers / powers.sum() - row)
    assert policy == pytest.approx(slow, abs=1e-10)
    assert found.win_rates == pytest.approx(work.win_rates(slow), abs=1e-12)


@pytest.mark.parametrize(("name", "how"), CASES)
@pytest.mark.parametrize("role", [Role.ASCEND, Role.SOFTMAX])
def test_many_players_meet_one_opponent_each_on_its_own(name: str, how: str, role: Role) -> None:
    game = game_of(name)
    opponent, *players = drawn(game, 1 + PAIRS)
    alone = [player.copy() for player in players]
    together = np.array(players)
    work = many(game, how)
    work.face(opponent)
    work.forward(together)
    found = work.backward(together, role, temperature=0.02, damping=0.5)
    for k, player in enumerate(alone):
        one, starts = singly(game, player, opponent, role)
        assert [found.first[k], found.other[k]] == pytest.approx(starts, abs=1e-12)
        assert together[k] == pytest.approx(player, abs=1e-10)
        assert work.each_reach[k] == pytest.approx(one.infoset_reach, abs=1e-13)


def test_a_softmax_step_where_positions_recur_moves_all_rows() -> None:
    game = game_of("fa15")
    policy, *opponents = drawn(game, 1 + PAIRS)
    work = many(game)
    work.face(np.array(opponents), WEIGHTS)
    work.forward(policy)
    before = float(WEIGHTS @ work.win_rates(policy))
    after = work.backward(policy, Role.SOFTMAX, temperature=0.01, damping=0.2)
    assert float(WEIGHTS @ after.win_rates) > before
    assert policy.sum(axis=2) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("pairs", [1, 2, 3, 8, 11])
def test_any_number_of_pairs_in_either_precision(pairs: int, dtype: type) -> None:
    game = game_of("su20")
    policy, *opponents = drawn(game, 1 + pairs)
    weights = np.random.default_rng(1).dirichlet(np.ones(pairs))
    exact = ManyWorkspace(game, pairs, choose=_interpreted)
    work = ManyWorkspace(game, pairs, dtype, _by_memories)
    found = []
    ways: list[ManyWorkspace] = [exact, work]
    for one in ways:
        played = policy.copy()
        one.face(np.array(opponents), weights)
        one.forward(played)
        result = one.backward(played, Role.SOFTMAX, temperature=0.05, damping=0.5)
        found.append((result.win_rates, played, one.infoset_reach.copy()))
    close = 1e-12 if dtype == np.float64 else 2e-5
    for left, right in zip(*found, strict=True):
        assert left == pytest.approx(right, abs=close)


# --- workspaces belong to threads ----------------------------------------------------------------


def test_a_thread_finds_its_workspace_again() -> None:
    assert shared_workspace(game_of("su20"), 2) is shared_workspace(game_of("su20"), 2)
    assert shared_workspace(game_of("su20"), 1) is not shared_workspace(game_of("su20"), 2)
    assert quick_workspace(game_of("su20"), 2) is quick_workspace(game_of("su20"), 2)
    assert shared_duels(game_of("su20")) is shared_duels(game_of("su20"))
