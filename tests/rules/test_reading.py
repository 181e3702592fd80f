from pathlib import Path

import pytest

import hogeq
from hogeq.rules.rules import Throw, rolled_points, zero_points
from hogeq.rules.turn import TurnTable, play_turn


def test_a_name_of_a_game_tells_what_it_means(tmp_path: Path) -> None:
    assert hogeq.GameName("FA25").text == "fa25"
    assert hogeq.GameName("fa25").is_hog
    assert not hogeq.GameName("leduc_poker").is_hog
    file = tmp_path / "mine.yaml"
    file.write_text("{edition: fa25, goal: 20}")
    name = hogeq.GameName(file)
    assert (name.is_hog, name.is_run, name.config, name.tree_suffix) == (True, False, {}, "")
    assert name.rules().goal == 20
    (tmp_path / "config.yaml").write_text("{game: kuhn_poker, forget: order, solver: {}}")
    run = hogeq.GameName(tmp_path)
    assert (run.is_hog, run.is_run, run.how) == (False, True, {"forget": "order", "teams": None})


@pytest.mark.parametrize("edition", ["fa25", "fa22", "su20", "fa13"])
def test_rules_answer_about_a_turn(edition: str) -> None:
    rules = hogeq.rules_from({"edition": edition, "goal": 30})
    for own, other in ((0, 0), (7, 12), (19, 28)):
        assert rules.points((), own, other) == zero_points(rules, own, other)
        assert rules.points((2, 5), own, other) == rolled_points(rules, (2, 5))
        if rules.swap == "none":
            turn = play_turn(rules, own, other, hogeq.Memory(), 2, (2, 5))
            assert turn.landing.score == rules.landed(own + turn.points, other)
    sides = hogeq.rule_facts(rules)["mean_points"]
    assert sides[6][1] == TurnTable(rules).mean_points(2, Throw(6)) == rules.mean_points(2, 6)
    for field in ("zero_dice", "landing", "swap", "more_boar"):
        assert set(rules.part_names(field)) <= set(hogeq.rule_parts()[field])


@pytest.mark.parametrize("games", [{"a": "a"}, {"a": "b", "b": "a"}])
def test_runs_that_are_the_games_of_each_other_are_refused(
    games: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, game in games.items():
        (tmp_path / name).mkdir()
        config = f"name: {name}\ngame: {game}\nsolver: {{name: cfr, iterations: 1}}\n"
        (tmp_path / name / "config.yaml").write_text(config)
    message = rf"^a: game: got '{games['a']}'; allowed: a game by at most 10 runs"
    with pytest.raises(hogeq.HogeqError, match=message):
        hogeq.Game("a")
    with pytest.raises(hogeq.HogeqError, match=message):
        _ = hogeq.GameName("a").is_hog


def test_the_game_of_a_run_may_be_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, game in (("a", "b"), ("b", "3K4")):
        (tmp_path / name).mkdir()
        config = f"name: {name}\ngame: {game}\nsolver: {{name: cfr, iterations: 1}}\n"
        (tmp_path / name / "config.yaml").write_text(config)
    assert hogeq.GameName("a").config["game"] == "b"
    assert not hogeq.GameName("a").is_hog
