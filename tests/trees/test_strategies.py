"""Files of strategies say of which game they are, and other games refuse them."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.strategy import Mixture
from hogeq.trees.positions import of_rules
from hogeq.trees.rules import from_rules
from hogeq.trees.strategies import tree_strategy
from tests.cli.calls import ask, ok, refused
from tests.own_rules import Pennies


class Pick(Pennies):
    """Each of two players picks one of two actions; the names are those that are given."""

    def __init__(self, actions: tuple[str, str] = ("a", "b"), known: str = "start") -> None:
        self.choices, self.known = actions, known


OTHERS = [Pick(("b", "a")), Pick(("a", "c")), Pick(known="begin")]


def written(folder: Path, given: Any = None) -> Path:
    game = hogeq.Game(Pick())
    policy = [[0.25, 0.75], [1.0, 0.0]] if given is None else given
    game.strategy(policy).write(folder / "pick.npz")
    return folder / "pick.npz"


@pytest.mark.parametrize("other", OTHERS, ids=["order", "action", "infoset"])
@pytest.mark.parametrize(
    "given", [None, [0, 1], Mixture([0.5, 0.5], [[0, 1], [1, 0]])], ids=["policy", "pure", "mixed"]
)
def test_a_game_of_the_same_shape_with_other_rows_refuses_a_strategy(
    other: Pick, given: Any, tmp_path: Path
) -> None:
    """It was read, and played with the actions exchanged."""
    path = written(tmp_path, given)
    game = hogeq.Game(other)
    with pytest.raises(StrategyError) as caught:
        game.strategy(path)
    line = f"{path}: is a strategy of Pick, whose information sets or actions are others; allowed: "
    assert str(caught.value) == f"{line}strategies of Pick"
    with pytest.raises(StrategyError, match="is a strategy of Pick"):
        tree_strategy(of_rules(other), path)


def test_games_of_the_same_rows_read_it(tmp_path: Path) -> None:
    """By positions, with other payoffs, and saved; and older files, which do not say their game."""
    path = written(tmp_path)
    game = hogeq.Game(Pick())
    known = game.strategy(path).policy
    assert np.array_equal(tree_strategy(of_rules(Pick()), path).policy, known)
    game.write(tmp_path / "game.npz")
    assert np.array_equal(hogeq.Game(tmp_path / "game.npz").strategy(path).policy, known)

    class Other(Pick):
        def payoffs(self, state: tuple[Any, ...]) -> tuple[float, float]:
            return float(len(state)), -float(len(state))

    assert np.array_equal(tree_strategy(from_rules(Other()), path).policy, known)
    np.savez(tmp_path / "old.npz", policy=known)
    assert np.array_equal(hogeq.Game(OTHERS[0]).strategy(tmp_path / "old.npz").policy, known)


def test_the_game_is_said_before_the_shape(in_folder: Path) -> None:
    ok("attack", "uniform", "--game", "kuhn_poker", "--out", "best.npz")
    assert ask("compare", "best.npz", "uniform", "--game", "kuhn_poker")["payoff"] > 0.0
    line = refused("compare", "best.npz", "uniform", "--game", "leduc_poker")
    assert line == (
        "hogeq: best.npz: is a strategy of kuhn_poker(), whose information sets or actions are "
        "others; allowed: strategies of leduc_poker()\n"
    )
    line = refused("compare", "best.npz", "always_roll:2", "--rules", "fa25")
    assert line == (
        "hogeq: best.npz: is a strategy of kuhn_poker(), whose information sets or actions are "
        "others; allowed: strategies of games of Hog\n"
    )


def test_a_file_of_gambit_that_has_rows_in_another_order_refuses_it(tmp_path: Path) -> None:
    """Its rows have the same names and shape, and were read as each other's."""
    game = hogeq.Game("kuhn_poker")
    game.write(tmp_path / "kuhn.efg")
    game.strategy("uniform").write(tmp_path / "uniform.npz")
    other = hogeq.Game(tmp_path / "kuhn.efg")
    assert other.rows.shape == game.rows.shape
    assert [*other.rows.names] != [*game.rows.names]
    with pytest.raises(StrategyError, match=r"is a strategy of kuhn_poker\(\), whose"):
        other.strategy(tmp_path / "uniform.npz")


def test_editions_of_hog_exchange_their_tables(tmp_path: Path) -> None:
    path = tmp_path / "six.npz"
    one = hogeq.Game({"edition": "fa22", "goal": 10, "max_dice": 2})
    one.strategy("always_roll:2").write(path)
    two = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
    assert (two.strategy(path).likeliest == 2).all()
    with np.load(path) as file:
        assert file.files == ["matrix"]
    with pytest.raises(StrategyError, match="has shape"):
        hogeq.Game(Pick()).strategy(path)


@pytest.mark.parametrize("name", ["", "x\n" * 3000, "\x1b[31mred", "\udcff"])
def test_a_name_that_a_file_gives_forges_no_line(name: str, tmp_path: Path) -> None:
    made_for: dict[str, Any] = {
        "game": np.frombuffer(name.encode(errors="surrogateescape") or b"\0", np.uint8),
        "rows_sha256": np.arange(32, dtype=np.uint8),
    }
    file = io.BytesIO()
    np.savez(file, policy=np.full((2, 2), 0.5), **made_for)
    (tmp_path / "forged.npz").write_bytes(file.getvalue())
    with pytest.raises(StrategyError) as caught:
        hogeq.Game(Pick()).strategy(tmp_path / "forged.npz")
    line = str(caught.value)
    assert line.isprintable()
    assert len(line) < 1000


@pytest.mark.parametrize("name", ["game", "table"])
def test_a_table_of_any_name_is_one_of_hog(name: str, tmp_path: Path) -> None:
    game = hogeq.Game({"edition": "fa22", "goal": 10, "max_dice": 2})
    tables: dict[str, Any] = {"game": np.frombuffer(b"mine", np.uint8)}
    np.savez(tmp_path / "any.npz", **(tables | {name: np.full((10, 10), 1)}))
    assert (game.strategy(tmp_path / "any.npz").likeliest == 1).all()
