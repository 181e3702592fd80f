"""Names whose text is the same in every process, and files of games that have sets for names."""

from collections.abc import Hashable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import hogeq
from hogeq.trees.lasting_names import lasting_name
from hogeq.trees.positions import of_rules
from tests.own_rules import Moves
from tests.processes import printed
from tests.slow import mostly_slow

HANDS = [frozenset(hand) for hand in combinations(("ace", "king", "queen", "jack"), 2)]


class Hands(Moves):
    """A hand is drawn, and its owner guesses whether it has an ace."""

    players = 1
    movers = (hogeq.CHANCE, 0)

    def actions(self, state: Any) -> Any:
        return {"no", frozenset({"yes", "an ace"})} if state else HANDS

    def chances(self, state: Any) -> list[tuple[Any, float]]:  # noqa: ARG002 - there is one
        return [(hand, 1.0 / len(HANDS)) for hand in HANDS]

    def knows(self, state: Any, player: int) -> Hashable:
        return "hand", state[0], player

    def payoffs(self, state: Any) -> tuple[float]:
        return (float(("ace" in state[0]) == (state[1] != "no")),)


@pytest.mark.parametrize("name", ["a", 3, ("a", 3), (), None, 1.5, ("a", ("b",)), frozenset()])
def test_other_names_stay_as_they_are(name: Hashable) -> None:
    assert lasting_name(name) == name
    assert str(lasting_name(name)) == str(name)


def test_a_set_is_equal_to_the_one_that_was_given() -> None:
    given = ("hand", frozenset({("b", 1), ("a", 2)}))
    found = lasting_name(given)
    assert found == given
    assert hash(found) == hash(given)
    assert str(found) == "('hand', frozenset({('a', 2), ('b', 1)}))"


class Nameless:
    """An object that is written by its address."""


def test_what_is_written_by_its_address_is_refused() -> None:
    class Anonymous(Hands):
        def knows(self, state: tuple[Any, ...], player: int) -> Hashable:  # noqa: ARG002
            return state[0], Nameless()

    says = r"Nameless: names an information set or an action, but has no text of its own; allowed: "
    with pytest.raises(ValueError, match=says):
        hogeq.Game(Anonymous())


def test_a_text_that_raises_is_told_with_the_history() -> None:
    class Broken(Hands):
        def knows(self, state: tuple[Any, ...], player: int) -> Hashable:  # noqa: ARG002
            return type("Word", (), {"__str__": lambda _: 1 // 0})()

    with pytest.raises(ValueError, match=r"^Broken: after chance: .*: ZeroDivisionError"):
        hogeq.Game(Broken())


def test_an_information_set_is_found_by_the_set_that_was_given() -> None:
    game: Any = hogeq.Game(Hands())
    best = game.attack("uniform").strategy
    assert best["hand", HANDS[0], 0]["frozenset({'an ace', 'yes'})"] == 1.0
    by_positions: Any = hogeq.Game(of_rules(Hands()))
    assert by_positions.rows.keys == game.rows.keys


READS = """
import sys
import hogeq
from tests.trees.test_lasting_names import Hands
game = hogeq.Game(Hands())
for path in sys.argv[1:]:
    print(game.value(path, path).first)
"""


@pytest.mark.parametrize("seed", mostly_slow([1, 2, 3], 1))
def test_strategies_are_read_in_another_process(tmp_path: Path, seed: int) -> None:
    paths = [str(tmp_path / f"best.{suffix}") for suffix in ("npz", "csv", "json")]
    for path in paths:
        hogeq.Game(Hands()).attack("uniform").strategy.write(path)
    told = printed("-c", READS, *paths, env={"PYTHONHASHSEED": str(seed)})
    assert [float(one) for one in told.split()] == pytest.approx([1.0] * 3)
