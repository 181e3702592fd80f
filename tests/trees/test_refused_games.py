"""Games that cannot be built are refused in a line, and at once."""
# ruff: noqa: ARG002 - methods of a contract

import time
from typing import Any

import pytest

import hogeq
from hogeq.trees import loading
from hogeq.trees.families import Poker
from hogeq.trees.rules import from_rules, named_rules
from tests.own_rules import Moves
from tests.refusals import refuses


@pytest.mark.parametrize(
    "name",
    [
        *("kuhn(players=2,ranks=3)", "kuhn(players=3,ranks=4)", "kuhn(players=4,ranks=5)"),
        "leduc(players=2,bets=2,ranks=3,suits=2)",
        "leduc(players=2,bets=4,ranks=2,suits=3)",
        "leduc(players=2,bets=1,ranks=3,suits=1)",
        "leduc(players=3,bets=2,ranks=2,suits=2)",
        *("die_roll_poker(sides=2,bets=2)", "die_roll_poker(sides=3,bets=1)"),
    ],
)
def test_no_tree_is_smaller_than_it_is_said_to_be(name: str) -> None:
    rules = named_rules(name)
    assert isinstance(rules, Poker)
    teams = [[0], [*range(1, rules.players)]]
    assert 1 <= rules.fewest_nodes() <= from_rules(rules, teams=teams).num_nodes


@pytest.mark.parametrize(
    "name",
    [
        "leduc(players=3,bets=99,ranks=99,suits=3)",
        "leduc(players=9,bets=999999999,ranks=999999999,suits=999999999)",
        "leduc(players=2,bets=999999999,ranks=2,suits=2)",
        "leduc(players=3,bets=99,ranks=3,suits=3)",
        "kuhn(players=9,ranks=999999999)",
        "die_roll_poker(sides=99999)",
        "die_roll_poker(bets=999999999)",
    ],
)
def test_what_is_too_large_is_refused_before_it_is_built(name: str) -> None:
    begun = time.process_time()
    refuses(lambda: hogeq.Game(name), r"has more than 20,000,000 nodes")
    assert time.process_time() - begun < 2.0


class Two(Moves):
    """Two moves of one player, then an end."""

    movers = (0, 0)

    def __init__(self, paid: Any) -> None:
        self.paid = paid

    def payoffs(self, state: Any) -> Any:
        return self.paid


PAID = [("1", "-1"), "12", {0: 1, 1: -1}, {1, -1}, (1, b"1"), b"12"]

REFUSED = [
    ("kuhn(players=3,ranks=4,ranks=5)", r"^game kuhn: .*key 'ranks' is given twice"),
    ("kuhn_poker(players=999999)", r": OpenSpiel refuses a value; allowed: .*takes$"),
    ("kuhn_poker(player=2)", r"^game kuhn_poker.player: unknown key, .*: players$"),
    ("kuhn_poker(players=2,players=3)", r"players is given twice; allowed: once$"),
    *((Two(paid), r"payoffs: got .*; allowed: a list of numbers") for paid in PAID),
    ("two_bets", r"got 'two_bets'; .*--plugin FILE.py brings"),
]


@pytest.mark.parametrize(("game", "line"), REFUSED)
def test_what_is_no_game_is_refused(game: Any, line: str) -> None:
    if "kuhn_poker" in str(game):
        pytest.importorskip("pyspiel", reason="needs OpenSpiel")
    refuses(lambda: hogeq.Game(game), line)


def test_an_unknown_solver_names_the_nearest() -> None:
    with pytest.raises(KeyError, match=r"got 'linear_cfr'; .*nearest: linear"):
        hogeq.SOLVERS["linear_cfr"]
    with pytest.raises(ValueError, match=r"got 'linear_cfr'; .*nearest: linear"):
        hogeq.Game("kuhn(players=2,ranks=3)").solve("linear_cfr", 1)
    assert "linear_cfr" not in hogeq.SOLVERS


def test_a_tree_has_values_and_no_win_rates() -> None:
    with pytest.raises(ValueError, match=r"games of Hog; game.value gives payoffs here"):
        hogeq.Game("kuhn(players=2,ranks=3)").win_rate("uniform", "uniform")


def test_without_openspiel_a_name_says_what_brings_games(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking() -> Any:
        raise ValueError("OpenSpiel: not installed; pip install open_spiel brings it")

    monkeypatch.setattr(loading, "_import_openspiel", lacking)
    for name in ("kuhn_poker", "leduc_poker(players=2)", "two_bets"):
        with pytest.raises(ValueError, match=r"OpenSpiel: not installed; pip install open_spiel"):
            hogeq.Game(name)


def test_a_game_in_which_nobody_moves_says_so() -> None:
    class Over(Moves):
        movers = ()

        def payoffs(self, state: Any) -> Any:
            return 0.5, -0.5

    game = hogeq.Game(from_rules(Over()))
    assert game.equilibrium().lower == 0.5
    with pytest.raises(hogeq.HogeqError, match="nobody decides; allowed: games with decisions"):
        game.solve("mirror", 3)
    with pytest.raises(hogeq.HogeqError, match="Over: at the start: the game is over; allowed:"):
        game.tablebase()
