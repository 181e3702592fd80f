"""Tables in the place of parts, against the twin, which reads the same lists."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import hogeq
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import win_rate
from hogeq.model.game import compile_game
from hogeq.rules import describe
from hogeq.rules.reading import read_rules as load_rules
from hogeq.runs.config import config_from, load_config
from hogeq.runs.sweep import load_sweep
from hogeq.support.yaml import ConfigError
from tests.twin import Match, Play, parts

GOAL, DICE = 8, 2
SIZES = {"goal": GOAL, "max_dice": DICE, "sides": 3}


def tables(seed: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)

    def rare() -> list[list[int]]:
        return (random.random((GOAL + 1, GOAL)) < 0.2).astype(int).tolist()

    landing = [score + int(random.integers(0, 3)) for score in range(GOAL + 2)]
    free = random.integers(1, 5, (GOAL, GOAL)).tolist()
    return {"zero_dice": free, "landing": landing, "swap": rare(), "more_boar": rare()}


def twin_of(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Play:
    """Read the same lists in the twin."""

    def listed(table: Any) -> Callable[[int, int], bool]:
        return lambda score, opponent: (
            score < len(table) and opponent < len(table[0]) and bool(table[score][opponent])
        )

    def free(own: int, other: int) -> int:
        table = given["zero_dice"]
        return int(table[own][other] if isinstance(table[0], list) else table[other])

    def landing(score: int, _: int) -> int:
        return int(given["landing"][score]) if score < len(given["landing"]) else score

    monkeypatch.setitem(parts.ZERO_DICE, "table", free)
    monkeypatch.setitem(parts.LANDINGS, "table", landing)
    monkeypatch.setitem(parts.SWAPS, "table", listed(given["swap"]))
    monkeypatch.setitem(parts.MORE_BOAR, "table", listed(given["more_boar"]))
    return Play({**SIZES, **dict.fromkeys(given, "table")})


def rules_of(given: dict[str, Any]) -> hogeq.Rules:
    return hogeq.rules_from({**SIZES, **given})


@pytest.mark.parametrize("seed", range(4))
def test_tables_are_played_as_they_are_written(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given = tables(seed)
    if seed == 0:
        given["zero_dice"] = given["zero_dice"][0]  # by the opponent's score alone
    game, play = compile_game(rules_of(given)), twin_of(given, monkeypatch)
    a, b = np.random.default_rng(seed).dirichlet(np.ones(DICE + 1), (2, GOAL, GOAL))
    assert win_rate(game, a, b) == pytest.approx(Match(play, a, b).win_rate(), abs=1e-12)
    best = Match(play, None, None).value(0, play.start)
    assert solve(game).value == pytest.approx(best, abs=1e-12)


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
        ({"zero_dice": [[1, 2, 3], [1, 2], [1, 2]]}, "first has 3 cells, that of score 1 has 2"),
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
    named = {**SIZES, **{name: f"{name}.csv" for name in given}}
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(named))
    assert load_rules(tmp_path / "rules.yaml") == rules_of(given)

    solver = {"name": "dcfr", "iterations": 1}
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({"name": "run", "rules": SIZES, "solver": solver}))
    made = load_config(path, ["rules.swap=swap.csv", "rules.landing=[0,1,2,3,4,5,7,7]"])
    assert made.rules == rules_of({"swap": given["swap"], "landing": [0, 1, 2, 3, 4, 5, 7, 7]})
    grid = {"rules.swap": ["none", "swap.csv"]}
    sweep = {"name": "sweep", "base": "config.yaml", "grid": grid}
    (tmp_path / "sweep.yaml").write_text(yaml.safe_dump(sweep))
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
