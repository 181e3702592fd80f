"""Games that could go on for ever, and those that are refused for it or for too much memory."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hogeq.cli import app
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import win_rate
from hogeq.graph.endless import staying_actions
from hogeq.model.game import compile_game
from hogeq.rules import EDITIONS, Rules
from hogeq.rules.parts import ZERO_DICE
from hogeq.strategies.arrays import one_hot
from tests.cli.calls import ask, ok
from tests.refusals import refuses


def test_a_game_with_memory_that_could_go_on_for_ever_is_a_draw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(ZERO_DICE, "nothing", lambda *_: 0)
    game = compile_game(Rules(goal=9, max_dice=2, zero_dice="nothing", feral_hogs="dice"))
    assert game.can_be_endless
    none, one = (np.full((9, 9), dice, np.int8) for dice in (0, 1))
    refuses(lambda: win_rate(game, none, none), r"never end: at 0 to 0 .*allowed: .* end$")
    assert win_rate(game, one, none).win_rate == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize(
    "command", ["compare optimal optimal --rules sp22", "tablebase --rules sp22 --against optimal"]
)
def test_commands_refuse_it_in_one_line(command: str) -> None:
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 2
    assert "never end: at 72 to 75" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.slow
def test_commands_that_count_it_as_half_a_win_say_so(in_folder: Path) -> None:
    of = ("--rules", "sp22")
    rates = ask("tournament", "optimal", "ignore_memory", *of)["win_rates"]
    assert rates[0][1] == pytest.approx(0.5, abs=1e-14)
    ok("export", "optimal", *of, "--out", "best.csv")
    found = ask("check", "best.csv", *of)
    wins = {one["strategy"]: one["win_rate"] for one in found["win_rates"]}
    assert wins["optimal"] is None
    assert wins["always_roll:6"] > 0.75
    assert found["win_rate"] == pytest.approx(0.5, abs=1e-14)
    assert found["losses"] == found["changes"] == []
    ok("export", "always_roll:6", *of, "--out", "six.csv")
    found = ask("check", "six.csv", *of)
    # The best response never ends some games; what the positions cost adds up all the same.
    assert found["best_response"] == pytest.approx(0.5, abs=1e-13)
    assert found["win_rate"] < found["changed"] < 0.5
    commands = "tablebase", "check best.csv", "diff six.csv best.csv"
    for command in (*commands, "analyze --score 72 --opponent 75"):
        assert "a game that never ends counts as half a win" in ok(*command.split(), *of)
    assert "never ends" not in ok("tablebase", "--rules", "fa22")


@pytest.mark.parametrize(("pig_out", "piggy_back"), [(1, False), (0, True), (0, False)])
def test_two_who_never_end_a_game_are_refused(
    monkeypatch: pytest.MonkeyPatch, pig_out: int, piggy_back: bool
) -> None:
    monkeypatch.setitem(ZERO_DICE, "nothing", lambda *_: 0)
    # Nothing is given for no dice, so Piggy Back does not end it.
    rules = Rules(goal=9, max_dice=2, zero_dice="nothing", pig_out=pig_out, piggy_back=piggy_back)
    game = compile_game(rules)
    none, one = (np.full((9, 9), dice, np.int8) for dice in (0, 1))
    refuses(lambda: win_rate(game, none, none), r"never end: at 0 to 0 .*allowed: .* end$")
    # Who never moves on wins by gifts alone, nine of them with no point between.
    gifts = (1 / 6) ** 9 if piggy_back else 0.0
    assert win_rate(game, none, one).first >= gifts
    assert win_rate(game, none, one).first == pytest.approx(0.0, abs=1e-5 if gifts else 1e-14)
    assert win_rate(game, one, none).second == pytest.approx(1.0, abs=1e-5 if gifts else 1e-14)
    mixed = one_hot(none, 3) * 0.5 + one_hot(one, 3) * 0.5
    assert win_rate(game, mixed, mixed).win_rate == pytest.approx(0.5, abs=1e-14)


def both_stay_for_ever(a: float, b: float) -> tuple[float, float]:
    """Worth of two positions that lead to each other, if leaving them wins with `a` or `b`."""
    if max(a, b) <= 0.5:
        return 0.5, 0.5
    if a + b >= 1.0:
        return max(a, 1.0 - b), max(b, 1.0 - a)
    return (a, 1.0 - a) if a > b else (1.0 - b, b)


@pytest.mark.slow
def test_nobody_wants_to_move_first_at_some_positions_of_spring_2022() -> None:
    game = compile_game(EDITIONS["sp22"])
    best = solve(game)
    staying = {
        (int(game.graph.row[position]), one.action, game.graph.row[next(iter(one.after))[0]])
        for (position, _), every in staying_actions(game.graph).items()
        for one in every
    }
    assert len(staying) == 100
    assert not any(action for _, action, _ in staying)  # no dice
    drawn = set()
    for cell, _, other in staying:
        pair = divmod(cell, 100), divmod(other, 100)
        leaves = [best.roll_values(*scores)[0, 1:].max() for scores in pair]
        worth = [best.roll_values(*scores)[0].max() for scores in pair]
        assert worth == pytest.approx(both_stay_for_ever(*leaves), abs=1e-12)
        rolls = [int(best.matrix[scores]) for scores in pair]
        if rolls == [0, 0]:
            drawn |= set(pair)
            assert worth == [0.5, 0.5]
    assert drawn == {(72, 75), (75, 72)}
    # Both could have more by rolling only if the other rolled first.
    refuses(lambda: win_rate(game, best.matrix, best.matrix), r"never end: at 7[25] to 7[25]")
    # Two who never roll would stay for ever at these, but their games do not come to them.
    none = np.zeros((100, 100), np.int8)
    assert win_rate(game, none, none).win_rate == 0.5


def test_turns_that_hardly_ever_score_are_valued_where_something_is_hidden() -> None:
    # Ten coins score nothing unless all show 2, once in 1,024 turns, and then they win.
    game = compile_game(Rules(goal=2, max_dice=10, sides=2, pig_out=0, feral_hogs="points"))
    ten = np.full((2, 2), 10)
    assert win_rate(game, ten, ten).first == pytest.approx(1.0 / (2.0 - 2.0**-10), abs=1e-13)
