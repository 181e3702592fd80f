"""Every game is a `Game`: of the right class, which lists what it has and nothing that it lacks."""

import copy
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

import hogeq
from hogeq.games.given import HogName
from hogeq.rules import ALIASES, EDITIONS
from tests.own_rules import States

HOG = {"edition": "su20", "goal": 5, "max_dice": 2}
KUHN = "kuhn(players=2,ranks=3)"
PIG = f"pig(goal={4})"

OF_ALL = """
attack bound certify check equilibrium exploitability graph infosets name require require_strategy
strategy tablebase trust units value
"""
OF_TREES = """
action_values audit audit_text diff engine gaps in_policies joined kkt_gap met nash_conv playable
purify rows solve tree write
"""
OF_POSITIONS = """
action_values analyze diff engine joined kkt_gap playable positions purify reach rows solve values
"""
OF_HOG = """
action_values analyze answer_field audit baselines belief by_memory_axes can_be_endless compiled
components_at diff engine existence explain gains improve improvements in_policies kkt_gap
mean_values memories memory memory_axes memory_fields memory_line play playable positions_recur
prepare purify reach reasons review round_robin rules search second small_audit solve spread
strongest tree_sizes turn_data values win_rate write
"""


class Toss(States):
    """Toss a coin until it shows heads; who tossed it wins."""

    def __init__(self) -> None:
        moves: dict[Any, Any] = {}
        for player in (0, 1):
            air, turn = (player, "in the air"), (1 - player, "to toss")
            moves[player, "to toss"] = player, {"toss": air}
            moves[air] = hogeq.CHANCE, {"heads": (player, "heads"), "tails": turn}
        odds = {(player, "in the air"): {"heads": 0.5, "tails": 0.5} for player in (0, 1)}
        super().__init__(moves, {(0, "heads"): (1, -1), (1, "heads"): (-1, 1)}, odds)


KINDS: dict[str, tuple[Callable[[], Any], str]] = {
    "Hog": (lambda: hogeq.Game(HOG), OF_HOG),
    "tree": (lambda: hogeq.Game(KUHN), OF_TREES),
    "positions": (lambda: hogeq.Game(Toss()), OF_POSITIONS),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> tuple[Any, set[str]]:
    make, more = KINDS[request.param]
    return make(), {*more.split()}


def test_a_game_lists_what_all_have_and_what_its_kind_has(kind: tuple[Any, set[str]]) -> None:
    game, more = kind
    assert isinstance(game, hogeq.Game)
    public = {name for name in dir(game) if not name.startswith("_")}
    assert public == {*OF_ALL.split()} | more
    assert [name for name in public if not hasattr(game, name)] == []


def test_what_a_game_does_not_list_is_refused_in_one_line_that_names_it(
    kind: tuple[Any, set[str]],
) -> None:
    game, more = kind
    others = {*OF_HOG.split(), *OF_TREES.split(), *OF_POSITIONS.split()} - more
    assert others
    for name in others:
        assert not hasattr(game, name)
        with pytest.raises(AttributeError, match=rf"has no {name}\b") as refused:
            getattr(game, name)
        assert "allowed: " in str(refused.value)
        assert "\n" not in str(refused.value)
        assert isinstance(refused.value, ValueError)  # commands end with it in one line


def test_a_refusal_says_what_to_ask_instead() -> None:
    game: Any = hogeq.Game(KUHN)
    with pytest.raises(AttributeError, match=r"of Hog; game.value gives payoffs here$"):
        game.win_rate("uniform", "uniform")
    with pytest.raises(AttributeError, match=r"^Toss: is held by its 4 positions, .* no audit;"):
        _ = KINDS["positions"][0]().audit


def test_a_name_that_no_game_has_is_an_attribute_error_alone(kind: tuple[Any, set[str]]) -> None:
    game, _ = kind
    with pytest.raises(AttributeError, match="no attribute 'atack'; nearest: attack") as refused:
        _ = game.atack
    assert not isinstance(refused.value, ValueError)
    for private in ("_repr_png_", "__array__", "_tree_engine"):
        assert not hasattr(game, private)


def test_an_error_inside_a_property_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> int:
        return [].nonsense  # type: ignore[attr-defined]

    monkeypatch.setattr(hogeq.Hog, "units", property(fails))
    with pytest.raises(AttributeError, match="'list' object has no attribute 'nonsense'"):
        _ = hogeq.Game(HOG).units


@pytest.mark.parametrize("given", [3.5, None, [1, 2], b"kuhn", object(), "a graph"])
def test_what_is_no_game_is_refused_in_one_line(given: object) -> None:
    game: Any = hogeq.Game("kuhn").graph if given == "a graph" else given
    allowed = r"^game: got .*; allowed: an edition of Hog, .*$"
    with pytest.raises(hogeq.HogeqError, match=allowed):
        hogeq.Game(game)


def test_a_class_of_one_kind_refuses_another(tmp_path: Path) -> None:
    assert hogeq.Hog("fa25").rules == hogeq.rules_from("fa25")
    for wrong in (KUHN, Toss()):
        with pytest.raises(ValueError, match=r"^game: got .*; allowed: games of Hog$"):
            hogeq.Hog(wrong)
    with pytest.raises(ValueError, match="forget: got 'order'; allowed: for games other than Hog"):
        hogeq.Hog("fa25", forget="order")  # type: ignore[arg-type]
    file = tmp_path / "rules.yaml"
    file.write_text("{edition: su20, goal: 5, max_dice: 2}", "utf-8")
    assert type(hogeq.Game(file)) is hogeq.Hog
    for one in (hogeq.Game(KUHN), KINDS["positions"][0]()):
        with pytest.raises(ValueError, match=r"^game: got .*; allowed: games "):
            type(one)("fa25")


def test_games_are_copied_and_pickled(kind: tuple[Any, set[str]]) -> None:
    game, _ = kind
    others = [copy.copy(game)]
    if game.name != "Toss":  # whose states are fine, and whose class is of this file
        others.append(pickle.loads(pickle.dumps(game)))  # noqa: S301 - our own
    for other in others:
        assert type(other) is type(game)
        assert repr(other) == repr(game)
        assert other.value("always_roll:1" if isinstance(game, hogeq.Hog) else "uniform")


def test_a_kind_has_subclasses() -> None:
    class Short(hogeq.Hog):
        """Hog to 5, with a question of its own."""

        def __init__(self) -> None:
            super().__init__(HOG)

        def rolling(self) -> float:
            return self.win_rate("always_roll:1", "always_roll:2").win_rate

    assert 0.0 < Short().rolling() < 1.0

    class Other(hogeq.Game):
        """No kind of game."""

    with pytest.raises(TypeError, match=r"^Other: is no kind of game; allowed: subclasses"):
        Other("fa25")


def test_an_editor_knows_the_editions() -> None:
    assert {*get_args(HogName)} == {*EDITIONS, *ALIASES}
    assert [*inspect.signature(hogeq.Game).parameters] == ["given", "forget", "teams", "trust"]
    assert next(iter(inspect.signature(hogeq.Hog).parameters)) == "given"
