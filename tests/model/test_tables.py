"""Tables in the place of parts, against a slow evaluator that reads the same lists."""

from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import hogeq
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.win_rates import win_rate
from hogeq.model.game import compile_game
from hogeq.rules import describe
from hogeq.rules.reading import read_rules as load_rules
from hogeq.runs.config import config_from, load_config
from hogeq.runs.sweep_file import load_sweep
from hogeq.support.yaml import ConfigError

GOAL, DICE, SIDES = 8, 2, 3


def tables(seed: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)

    def rare() -> list[list[int]]:
        return (random.random((GOAL + 1, GOAL)) < 0.2).astype(int).tolist()

    landing = [score + int(random.integers(0, 3)) for score in range(GOAL + 2)]
    free = random.integers(1, 5, (GOAL, GOAL)).tolist()
    return {"zero_dice": free, "landing": landing, "swap": rare(), "more_boar": rare()}


def naive_wins(given: dict[str, Any], a: Any, b: Any) -> float:
    """Chance that who moves first, with `a`, wins; None for one who plays best."""

    def listed(table: Any, score: int, opponent: int) -> bool:
        return score < len(table) and opponent < len(table[0]) and bool(table[score][opponent])

    @cache
    def value(own: int, other: int, player: int) -> float:
        matrix = (a, b)[player]
        rolls = range(DICE + 1) if matrix is None else [int(matrix[own][other])]
        return max(worth(own, other, player, dice) for dice in rolls)

    def worth(own: int, other: int, player: int, dice: int) -> float:
        rolled = list(product(range(1, SIDES + 1), repeat=dice))
        free = given["zero_dice"]
        free = free[own][other] if isinstance(free[0], list) else free[other]
        points = [free if not dice else 1 if 1 in faces else sum(faces) for faces in rolled]
        return sum(after(own + gained, other, player) for gained in points) / len(rolled)

    def after(own: int, other: int, player: int) -> float:
        landing = given["landing"]
        own = landing[own] if own < len(landing) else own
        again = listed(given["more_boar"], own, other)
        if listed(given["swap"], own, other):
            own, other = other, own
        if max(own, other) >= GOAL:
            return float(own >= other)
        return value(own, other, player) if again else 1 - value(other, own, 1 - player)

    return value(0, 0, 0)


def rules_of(given: dict[str, Any]) -> hogeq.Rules:
    return hogeq.rules_from({"goal": GOAL, "max_dice": DICE, "sides": SIDES, **given})


@pytest.mark.parametrize("seed", range(4))
def test_tables_are_played_as_they_are_written(seed: int) -> None:
    given = tables(seed)
    if seed == 0:
        given["zero_dice"] = given["zero_dice"][0]  # by the opponent's score alone
    game = compile_game(rules_of(given))
    random = np.random.default_rng(seed)
    a, b = random.integers(0, DICE + 1, (2, GOAL, GOAL))
    found = win_rate(game, a, b)
    assert found.first == pytest.approx(naive_wins(given, a, b), abs=1e-12)
    assert found.second == pytest.approx(1 - naive_wins(given, b, a), abs=1e-12)
    assert solve(game).value == pytest.approx(naive_wins(given, None, None), abs=1e-12)


def test_rules_with_tables_are_small_values() -> None:
    given = tables(0)
    one, two = rules_of(given), rules_of({**given, "swap": [tuple(row) for row in given["swap"]]})
    assert one == two
    assert hash(one) == hash(two)
    assert rules_of({key: getattr(one, key) for key in given}) == one
    told = dict(describe(one))
    table = "a table says: 8 x 8, by score and opponent's score (table)"
    assert told["No dice"] == f"rolling no dice scores what {table}"
    assert told["New score"].startswith("a new score becomes what a table says: ")
    assert told["Swap"].startswith("scores trade places if a table of 9 x 8 says so, for ")
    shorter = hogeq.rules_from({"edition": "su20", "goal": 2, "zero_dice": [1, 2]})
    assert shorter.name == "su20 with goal=2, zero_dice=table"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"zero_dice": [1, 2]}, "covers every opponent's score from 0 to 2; it ends at 1"),
        ({"zero_dice": [1, -2, 3]}, "from 0 to 2000; -2 stands at opponent's score 1"),
        ({"zero_dice": [1, 2.5, 3]}, "2.5 stands at opponent's score 1"),
        ({"zero_dice": [1, True, 3]}, "True stands at opponent's score 1"),
        ({"zero_dice": [1, 2, 9999]}, "9999 stands at opponent's score 2"),
        ({"zero_dice": []}, "a table of at least one cell"),
        ({"zero_dice": [[1, 2, 3], [1, 2], [1, 2, 3]]}, "that of score 1 has 2"),
        ({"zero_dice": [[1, 2, 3], 4, [1, 2, 3]]}, "that of score 1 has no"),
        ({"zero_dice": [[1, 2], [1, 2], [1, 2]]}, "opponent's score from 0 to 2; it ends at 1"),
        ({"zero_dice": "[1,2"}, "the text of a table, its brackets in pairs"),
        ({"zero_dice": "[" * 5000}, "the text of a table, its brackets in pairs"),
        ({"zero_dice": "[x]"}, "the text of a table: digits, commas and brackets"),
        ({"zero_dice": [0] * 250_001}, "a table of at most 250,000 cells"),
        ({"swap": [0, 0, 1]}, "a list of lists, by new score and opponent's score"),
        ({"swap": [[0] * 3, [0, 2, 0], [0] * 3]}, "2 stands at new score 1, opponent's score 1"),
        ({"landing": [0, 2, 1]}, "no landing lowers a score: at least 2; 1 stands at new score 2"),
        ({"landing": [0, 1]}, "covers every new score from 0 to 2; it ends at 1"),
        ({"more_boar": "table"}, "or a table: a list of lists, or a .csv file"),
    ],
)
def test_tables_that_are_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=f"^rules.{next(iter(given))}: ") as refused:
        hogeq.rules_from({"goal": 3, "max_dice": 1, **given})
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 500


def test_tables_in_files(tmp_path: Path) -> None:
    given = tables(1)
    for name, table in given.items():
        rows = table if isinstance(table[0], list) else [[cell] for cell in table]
        text = "\n".join(", ".join(map(str, row)) for row in rows)
        (tmp_path / f"{name}.csv").write_text(f"{text}\n\n")
    sizes = {"goal": GOAL, "max_dice": DICE, "sides": SIDES}
    named = {**sizes, **{name: f"{name}.csv" for name in given}}
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(named))
    assert load_rules(tmp_path / "rules.yaml") == rules_of(given)

    solver = {"name": "dcfr", "iterations": 1}
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({"name": "run", "rules": sizes, "solver": solver}))
    made = load_config(path, ["rules.swap=swap.csv", "rules.landing=[0,1,2,3,4,5,7,7]"])
    assert made.rules == rules_of({"swap": given["swap"], "landing": [0, 1, 2, 3, 4, 5, 7, 7]})
    (tmp_path / "sweep.yaml").write_text(
        yaml.safe_dump(
            {
                "name": "sweep",
                "base": "config.yaml",
                "grid": {"rules.swap": ["none", "swap.csv"]},
            }
        )
    )
    one, two = load_sweep(tmp_path / "sweep.yaml").points
    assert one.config.rules.swap == "none"
    assert two.config.rules == rules_of({"swap": given["swap"]})

    (tmp_path / "swap.csv").unlink()
    assert config_from(yaml.safe_load(made.to_yaml())) == made  # what a run keeps needs no file
    with pytest.raises(ConfigError, match=r"rules.swap: .*swap.csv: cannot be read: No such file"):
        load_config(path, ["rules.swap=swap.csv"])
    (tmp_path / "swap.csv").write_text("0,0\n0,x\n")
    with pytest.raises(ConfigError, match=r"swap.csv: line 2, cell 2: got 'x'; allowed: whole"):
        load_config(path, ["rules.swap=swap.csv"])
