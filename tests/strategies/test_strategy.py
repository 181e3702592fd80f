import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from hogeq.baselines.registry import _BUILTINS, builtin, names, register
from hogeq.rules import EDITIONS, Rules
from hogeq.strategies.arrays import StrategyError, as_policy, check_matrix, check_policy, is_policy
from hogeq.support.aliases import Matrix

if TYPE_CHECKING:
    from hogeq.model.game import Game


def game(rules: Rules) -> "Game":
    # Built-ins that need only the rules do not wait for kernels.
    return cast("Game", SimpleNamespace(rules=rules, goal=rules.goal, rolls=rules.max_dice + 1))


SU20 = game(EDITIONS["su20"])
CONVERSIONS: list[Callable[[list[list[Any]]], Any]] = [
    lambda rows: rows,
    lambda rows: tuple(map(tuple, rows)),
    lambda rows: np.array(rows, np.float64),
    lambda rows: [np.array(row) for row in rows],
    lambda rows: np.array(rows, object),
]


def table(goal: int = 4, dice: int = 2) -> list[list[Any]]:
    return [[(row + column) % (dice + 1) for column in range(goal)] for row in range(goal)]


@pytest.mark.parametrize("convert", CONVERSIONS)
def test_a_good_matrix_is_copied_as_int8(convert: Callable[[Any], Any]) -> None:
    matrix = check_matrix(convert(table()), 4, 2)
    assert matrix.dtype == np.int8
    assert matrix.tolist() == table()


def test_a_checked_array_shares_no_memory() -> None:
    matrix = np.zeros((4, 4), np.int8)
    policy = as_policy(matrix, 3)
    assert not np.shares_memory(check_matrix(matrix, 4, 2), matrix)
    assert not np.shares_memory(check_policy(policy, 4, 2), policy)
    assert not np.shares_memory(as_policy(policy, 3), policy)


@pytest.mark.parametrize("convert", CONVERSIONS)
@pytest.mark.parametrize(
    ("value", "says"), [(3, "3"), (-1, "-1"), (1.5, "1.5"), (np.nan, "nan"), (np.inf, "inf")]
)
def test_the_first_bad_cell_of_a_matrix_is_named(
    convert: Callable[[Any], Any], value: float, says: str
) -> None:
    rows = table()
    rows[3][0] = -7
    rows[2][3] = value
    message = rf"^mine: cell \(row 2, column 3\) is {re.escape(says)}(\.0)?, .* from 0 to 2$"
    with pytest.raises(StrategyError, match=message):
        check_matrix(convert(rows), 4, 2, "mine")


@pytest.mark.parametrize("value", [True, "1", None, [1], 1 + 0j])
def test_what_is_no_number_is_refused(value: object) -> None:
    rows = table()
    rows[0][1] = value
    with pytest.raises(StrategyError, match=r"cell \(row 0, column 1\) is "):
        check_matrix(rows, 4, 2)


def test_truth_values_are_no_dice() -> None:
    with pytest.raises(StrategyError, match=r"cell \(row 0, column 0\) is False"):
        check_matrix(np.zeros((4, 4), bool), 4, 2)


@pytest.mark.parametrize("convert", [np.array, np.ndarray.tolist])
@pytest.mark.parametrize(
    ("shape", "cell"),
    [
        ((3, 4), r"\(row 3, column 0\) is missing"),
        ((4, 3), r"\(row 0, column 3\) is missing"),
        ((5, 4), r"\(row 4, column 0\) is one too many"),
        ((4, 5), r"\(row 0, column 4\) is one too many"),
        ((0, 4), r"\(row 0, column 0\) is missing"),
    ],
)
def test_a_table_of_the_wrong_size_is_refused(
    convert: Callable[[Any], Any], shape: tuple[int, int], cell: str
) -> None:
    with pytest.raises(StrategyError, match=cell):
        check_matrix(convert(np.zeros(shape, int)), 4, 2)


def test_a_ragged_table_is_refused_where_it_first_goes_wrong() -> None:
    rows = table()
    rows[1].pop()
    rows[2].append(0)
    with pytest.raises(StrategyError, match=r"cell \(row 1, column 3\) is missing"):
        check_matrix(rows, 4, 2)


@pytest.mark.parametrize("thing", [5, None, "0000", np.zeros(4), np.zeros((4, 4, 3)), {}, [1, 2]])
def test_what_is_no_table_is_refused_in_one_line(thing: object) -> None:
    with pytest.raises(StrategyError) as caught:
        check_matrix(thing, 4, 2)
    assert "\n" not in str(caught.value)


def test_a_message_repeats_no_more_than_a_little_of_a_bad_value() -> None:
    with pytest.raises(StrategyError) as caught:
        check_matrix([["x\n" * 10_000]], 4, 2)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_a_good_policy_is_kept_to_the_last_bit() -> None:
    policy = np.random.default_rng(0).dirichlet(np.ones(3), (4, 4))
    assert np.array_equal(check_policy(policy, 4, 2), policy)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ([0.5, 0.5, 0.1], r"\(row 1, column 2\) has probabilities that sum to 1\.1"),
        ([0.5, 0.5, -0.1], r"\(row 1, column 2\) rolls 2 dice with probability -0\.1"),
        ([2, -1, 0], r"\(row 1, column 2\) rolls 0 dice with probability 2"),
        ([np.nan, 0.5, 0.5], r"\(row 1, column 2\) rolls 0 dice with probability nan"),
        ([0.5, 0.5 - 2e-9, 0], r"\(row 1, column 2\) has probabilities that sum to 0\.99"),
    ],
)
def test_the_first_bad_cell_of_a_policy_is_named(row: list[float], says: str) -> None:
    policy = as_policy(np.zeros((4, 4), np.int8), 3)
    policy[1, 2] = row
    policy[3, 3] = row
    with pytest.raises(StrategyError, match=says):
        check_policy(policy, 4, 2)


@pytest.mark.parametrize(
    "thing", [np.zeros((4, 4)), np.zeros((4, 4, 4)), [[1], [1, 2]], np.full((4, 4, 3), "1"), None]
)
def test_what_is_no_policy_is_refused(thing: object) -> None:
    with pytest.raises(StrategyError):
        check_policy(thing, 4, 2)


def test_a_matrix_as_a_policy_rolls_what_the_matrix_says() -> None:
    matrix = check_matrix(table(), 4, 2)
    policy = check_policy(as_policy(matrix, 5), 4, 4)
    assert policy.shape == (4, 4, 5)
    assert np.array_equal(policy.argmax(axis=2), matrix)
    assert is_policy(policy)
    assert not is_policy(matrix)


# --- by name --------------------------------------------------------------------------------------


def test_always_roll() -> None:
    assert np.array_equal(builtin("always_roll:6", SU20), np.full((100, 100), 6))
    assert np.array_equal(builtin("always_roll: 0", SU20), np.zeros((100, 100)))


def test_builtins_give_valid_matrices_in_every_edition() -> None:
    for rules in [*EDITIONS.values(), Rules(goal=7, max_dice=2)]:
        for spec in ["always_roll:2", "bacon:5,2", "swap:5,2"]:
            check_matrix(builtin(spec, game(rules)), rules.goal, rules.max_dice)


def test_a_builtin_is_fresh_each_time() -> None:
    builtin("always_roll:3", SU20)[0, 0] = 9
    assert builtin("always_roll:3", SU20)[0, 0] == 3


def test_bacon_by_hand() -> None:
    # su20: 10 - ones + tens points for rolling none.
    matrix = builtin("bacon:12,5", SU20)
    points = np.array([10 - o % 10 + o // 10 for o in range(100)])
    assert np.array_equal(matrix, np.tile(np.where(points >= 12, 0, 5), (100, 1)))


def test_swap_by_hand() -> None:
    # su20 swaps if the ones digits differ by the opponent's tens digit.
    matrix = builtin("swap:9,6", SU20)
    # Against 25, 0 dice score 7. From 6: 13 and 25, |3 - 5| = 2, a swap that helps.
    assert matrix[6, 25] == 0
    # From 26: 33, ones digits 3 and 5, a swap that hurts; 7 points would not do anyway.
    assert matrix[26, 25] == 6
    # Against 20, 0 dice score 12. From 30: 42, |2 - 0| = 2: 12 points, but a swap that hurts.
    assert matrix[30, 20] == 6
    # From 31: 43, |3 - 0| is not 2: no swap, and 12 points are enough.
    assert matrix[31, 20] == 0
    # Against 28, 0 dice score 4. From 30: 34, |4 - 8| is not 2: no swap, and too few points.
    assert matrix[30, 28] == 6


def test_without_a_swap_in_the_rules_swap_is_bacon() -> None:
    fa22 = game(EDITIONS["fa22"])
    assert np.array_equal(builtin("swap:9,5", fa22), builtin("bacon:9,5", fa22))


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("alway_roll:6", r"unknown name.*\(nearest: always_roll\)"),
        ("", "unknown name"),
        ("always_roll", "0 parameters given.*always_roll:N"),
        ("always_roll:", "N is ''"),
        ("always_roll:1,2", "2 parameters given"),
        ("always_roll:11", "N is 11, allowed are 0 to 10"),
        ("always_roll:-1", "N is -1, allowed are 0 to 10"),
        ("always_roll:6.0", "N is '6.0'"),
        ("always_roll:\u0661", "N is "),
        ("always_roll:" + "9" * 10_000, "N is '999"),
        ("bacon:8", "1 parameters given.*bacon:CUTOFF,N"),
        ("bacon:x,5", "CUTOFF is 'x'"),
        ("nonsense\n" * 3, "unknown name"),
    ],
)
def test_a_bad_name_is_refused_in_one_line(spec: str, says: str) -> None:
    with pytest.raises(StrategyError, match=says) as caught:
        builtin(spec, SU20)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_names_list_what_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hogeq.baselines.registry._BUILTINS", dict(_BUILTINS))

    @register("middle:A,B", "the mean of A and B")
    def middle(of: "Game", low: int, high: int) -> Matrix:
        return np.full((of.goal, of.goal), (low + high) // 2, np.int8)

    assert names()["middle:A,B"] == "the mean of A and B"
    assert names()["always_roll:N"]
    assert np.array_equal(builtin("middle:-2,8", SU20), np.full((100, 100), 3))
