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
