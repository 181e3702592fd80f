"""Plugins: what they may register, how they are refused, and that they travel with tasks."""

import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import hogeq
from hogeq.analysis.tournament import round_robin
from hogeq.baselines import builtin
from hogeq.model.game import compile_game
from hogeq.purification import purify
from hogeq.support import plugins
from hogeq.support.plugins import Plugin, PluginError, load_plugin, loaded, run_with
from hogeq.support.workers import workers
from tests.refusals import refuses

pytestmark = pytest.mark.usefixtures("registries")

TEENS = """
import hogeq

@hogeq.rule_part("swap")
def both_teens(score, opponent):
    "Both scores are 13 to 19."
    return 13 <= min(score, opponent) and max(score, opponent) <= 19

hogeq.edition(hogeq.Rules(name="teens", goal=20, max_dice=3, swap="both_teens"))
"""


def written(folder: Path, code: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(code, encoding="utf-8")
    return path


def test_help_of_a_registered_solver_explains_its_parameters(tmp_path: Path) -> None:
    code = """
import hogeq

class Idle(hogeq.Solver):
    "Do nothing."
    init = step = average = stats = lambda *arguments: None

@hogeq.solver("bare")
@hogeq.parameters
class Bare(Idle):
    steps: int = 3

@hogeq.solver("full")
@hogeq.parameters
class Full(Idle):
    '''Do as little.

    Parameters
    ----------
    steps : int
        Steps.

    Attributes
    ----------
    name : str
        A name.
    '''

    steps: int = 3
"""
    load_plugin(written(tmp_path, code), trust=True)
    assert "bare: Do nothing." in repr(hogeq.SOLVERS)
    parameter = "steps : whole numbers, default 3\n"
    heading = "Parameters\n----------\n"
    assert str(hogeq.SOLVERS["bare"].__doc__) == f"Do nothing.\n\n{heading}{parameter}"
    assert str(hogeq.SOLVERS["full"].__doc__) == (
        f"Do as little.\n\n{heading}{parameter}    Steps.\n\n"
        "Attributes\n----------\nname : str\n    A name.\n"
    )


def test_parts_editions_and_purifiers_are_registered(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        f"""{TEENS}
import numpy as np
from hogeq.purification import Purifier
from hogeq.support.parameters import parameters

@hogeq.rule_part("zero_dice", "seven")
def always_seven(score, opponent):
    "7."
    return np.int8(7)

@hogeq.rule_part("more_boar")
def even(score, opponent):
    "The sum of both scores is even."
    return np.bool_((score + opponent) % 2 == 0)

@hogeq.purifier("zero")
@parameters
class Zero(Purifier):
    def matrix(self, game, policy):
        return np.zeros((game.goal, game.goal), np.int8)
""",
    )
    found = load_plugin(path, trust=True)
    assert loaded() == (found,)
    assert load_plugin(path) == found  # its code has run: there is nothing left to trust
    assert hogeq.rules_from("teens").swap == "both_teens"
    rules = hogeq.Rules(goal=10, max_dice=2, zero_dice="seven", more_boar="even")
    assert ("Seven", "rolling no dice scores 7 (seven)") in hogeq.describe(rules)
    game = compile_game(rules)
    assert purify(game, np.full(game.shape, 1 / 3), "zero").max() == 0


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("def (", "line 1: invalid syntax"),
        ("import hogeq\n\n1 / 0", "line 3: ZeroDivisionError: division by zero"),
        ("x = 1", "registers nothing; allowed: hogeq.rule_part, hogeq.edition"),
        (TEENS + TEENS, "line 13: swap part both_teens: name is taken by both_teens"),
        (TEENS.replace(", opponent)", ")", 1), "allowed: a function of (score, opponent)"),
        (TEENS.replace('    "B', '    # "B'), "swap part both_teens: no docstring"),
        (TEENS.replace('"teens"', '"su20"'), "edition su20: name is taken"),
        ("class E(Exception):\n    def __str__(self): raise self\nraise E", "line 3: E: E"),
        (
            "import hogeq\n@hogeq.solver('x')\nclass X: pass",
            "solver x: got <class 'hogeq_plugin_mine.X'>; allowed: a subclass of Solver with all",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_nothing_stays(
    tmp_path: Path, code: str, why: str
) -> None:
    path = written(tmp_path, code)
    before = dict(hogeq.EDITIONS)
    with pytest.raises(PluginError, match=rf"^{re.escape(str(path))}: [^\n]*{re.escape(why)}"):
        load_plugin(path, trust=True)
    assert not loaded()
    assert before == hogeq.EDITIONS
    assert "hogeq_plugin_mine" not in sys.modules
    refuses(lambda: hogeq.Rules(swap="both_teens"), "both_teens")


def test_files_that_are_no_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, TEENS)
    refuses(lambda: load_plugin(path), r"mine.py: .* only with --trust", PluginError)
    with pytest.raises(PluginError, match=r"mine.txt: no plugin; allowed: a Python file"):
        load_plugin(written(tmp_path, TEENS, "mine.txt"), trust=True)
    load_plugin(path, trust=True)
    path.write_text(TEENS + "\n")
    with pytest.raises(PluginError, match=r"another mine.py, or an older version of it"):
        load_plugin(path, trust=True)
    monkeypatch.setattr(plugins, "MAX_BYTES", 10)
    refuses(lambda: load_plugin(path, trust=True), "larger than 10 bytes", PluginError)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("return 1 / 0", "ZeroDivisionError: division by zero"),
        ("return 2.5", "got 2.5; allowed: whole numbers from 0 to 2000"),
    ],
)
def test_a_part_that_fails_is_refused_when_a_game_is_compiled(
    tmp_path: Path, body: str, why: str
) -> None:
    head = 'import hogeq\n@hogeq.rule_part("zero_dice")\ndef bad(score, opponent):\n    "Bad."\n'
    code = f"{head}    {body}"
    load_plugin(written(tmp_path, code), trust=True)
    rules = hogeq.Rules(goal=5, max_dice=1, zero_dice="bad")
    refuses(lambda: compile_game(rules), rf"^zero_dice: bad at [^\n]*{re.escape(why)}")


@pytest.mark.slow
def test_processes_have_the_plugins_of_the_one_that_asks(tmp_path: Path) -> None:
    path = written(tmp_path, TEENS)
    load_plugin(path, trust=True)
    path.unlink()  # its text travels, not its path
    game = compile_game(hogeq.rules_from("teens"))
    field = [builtin(f"always_roll:{dice}", game) for dice in (1, 2, 3)]
    here = round_robin(game, field)
    with workers(2, on="local"):
        np.testing.assert_array_equal(round_robin(game, field), here)


def test_a_plugin_that_fails_elsewhere_says_so(tmp_path: Path) -> None:
    plugin = Plugin("elsewhere.py", b"import nothing_of_that_name")
    with pytest.raises(PluginError, match=r"^elsewhere.py: line 1: ModuleNotFoundError"):
        run_with((plugin,), pickle.dumps(abs), pickle.dumps(-1))
    teens = load_plugin(written(tmp_path, TEENS), trust=True)
    assert run_with((teens,), pickle.dumps(abs), pickle.dumps(-1)) == 1
