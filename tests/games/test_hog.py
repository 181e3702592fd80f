"""What a game of Hog is asked by scripts and by the applications."""

from pathlib import Path

import numpy as np
import pytest

import hogeq
from hogeq.evaluation.values import win_rate
from hogeq.games.hog import _num_outcomes
from hogeq.search.branching import ResponseGraph

OPEN = {"edition": "fa22", "goal": 12, "max_dice": 3}
HIDDEN = {"edition": "su20", "goal": 12, "max_dice": 3}


def test_baselines_are_those_that_a_game_has_each_table_once() -> None:
    game = hogeq.Hog(OPEN)
    assert game.strongest == "optimal"
    assert [*game.baselines()][:5] == [*(f"always_roll:{n}" for n in range(4)), "optimal"]
    named = hogeq.Hog(HIDDEN).baselines(["champion", "always_roll:2", "nothing_such"])
    assert {name: one.name for name, one in named.items()} == {"always_roll:2": "always_roll:2"}
    assert hogeq.Hog(HIDDEN).strongest == "ignore_memory"
    assert set(game.baselines()) - {"optimal"} <= {f"always_roll:{n}" for n in range(4)} | {
        "hog_wild_heuristic"
    }
    assert hogeq.BASELINES["always_roll"].text.startswith("roll N dice")


def test_a_search_is_what_an_attack_stands_on() -> None:
    game, budget = hogeq.Hog(HIDDEN), hogeq.Budget(starts=1, anneal_steps=5, kicks=1)
    target = game.strategy("always_roll:2")
    found = game.search(target, budget)
    assert found.win_rate == game.attack(target, budget).value
    assert isinstance(found.saturation, hogeq.Saturation)
    assert found.win_rate == win_rate(game.engine, found.matrix, target).win_rate


def test_a_stationary_policy_has_no_gap() -> None:
    game = hogeq.Hog(OPEN)
    assert game.kkt_gap("optimal") == pytest.approx(0.0, abs=1e-12)
    assert game.kkt_gap("always_roll:1") > 0.01
    assert hogeq.Game("kuhn_poker").kkt_gap("uniform") > 0.1


def test_the_memory_has_names() -> None:
    game = hogeq.Hog(HIDDEN)
    given = game.memory({"own_last": 3})
    assert given == hogeq.Memory(own=3)
    assert game.memory_fields(given) == {"own_last": 3, "opponent_last": 0}
    assert game.memory({}) is None
    with pytest.raises(hogeq.HogeqError, match=r"--turn: rules su20 .* do not remember that"):
        game.memory({"turn": 1})
    shares = np.full(len(game.memories), 1.0 / len(game.memories))
    assert game.by_memory_axes(shares).shape == tuple(len(one.ticks) for one in game.memory_axes)


def test_a_session_is_played_by_its_seed() -> None:
    game = hogeq.Hog(OPEN)
    one, two = (game.play("always_roll:2", first="engine", seed=5) for _ in range(2))
    assert one.play() == two.play()
    turn = one.play(1)
    assert isinstance(turn, hogeq.Turn)
    assert isinstance(turn.before, hogeq.Situation)
    assert [undone.dice for undone in one.undo()] == [1]
    assert one.situation == turn.before


def test_turns_as_data_have_the_goal_reached_by_somebody() -> None:
    data = hogeq.Hog(OPEN).turn_data
    assert len(data["situations"]) == 12 * 12
    assert {len(one["points"]) for one in data["lists"]} >= {1}
    assert hogeq.Hog({**OPEN, "goal": [6, 8]}).reasons() == []


def test_code_can_be_compiled_ahead() -> None:
    game = hogeq.Hog(OPEN)
    hogeq.warmup([game], ["matches"])
    assert game.compiled()["policies"]
    assert hogeq.compiled_code().kernels >= 1


def test_a_tree_is_written_if_it_is_small(tmp_path: Path) -> None:
    game = hogeq.Hog({"edition": "fa22", "goal": 3, "max_dice": 1, "sides": 2})
    sizes = game.tree_sizes()
    assert sizes.exact
    game.write(tmp_path / "hog.efg")
    tree = hogeq.Game(str(tmp_path / "hog.efg")).tree
    assert isinstance(tree, hogeq.FlatTree)
    assert tree.num_nodes == sizes.nodes < sizes.most
    assert (tree.player == hogeq.TERMINAL).sum() == sizes.ends


def test_a_double_oracle_is_begun_if_a_proof_can_end_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = hogeq.Hog({"edition": "su20", "goal": 4, "max_dice": 2})
    assert game.equilibrium(60.0).method == "double oracle"
    uniform = np.full(game.engine.shape, 1.0 / game.engine.num_actions)
    laid_out = ResponseGraph.of(game.graph.against(uniform))
    assert _num_outcomes(game.graph) >= len(laid_out.states.outcome_probability)
    monkeypatch.setattr(hogeq.Hog, "_symmetric", lambda *_: pytest.fail("a graph was laid out"))
    found = game.equilibrium(0.0)
    assert found.lower <= 0.5 <= found.upper
