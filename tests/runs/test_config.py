"""Configs: what is accepted, what is refused, and in which words."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import yaml

from hogeq.rules import EDITIONS, rules_from
from hogeq.runs.config import apply_overrides, config_from, load_config
from hogeq.solvers import SOLVERS
from hogeq.solvers.cfr_br import CFRBR
from hogeq.solvers.regret import CFRPlus, RegretMinimiser
from hogeq.support.yaml import MAX_BYTES, ConfigError

ROOT = Path(__file__).parents[2]

PLAIN = """\
name: trial
rules: {edition: su20, goal: 20}
solver: {name: cfr_plus, iterations: 200, averaging: linear, seed: 0}
measure: {every: log, attack: {starts: 4, anneal_steps: 60, kicks: 0}}
purify: {method: argmax}
"""


def tree(**changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = yaml.safe_load(PLAIN)
    return base | changes


def written(path: Path, text: str | bytes) -> Path:
    file = path / "config.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def refusal(path: Path, *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(path, overrides)
    message = str(caught.value)
    assert message.isprintable(), message  # so one line, too
    assert len(message) < 700
    return message


# --- what is accepted --------------------------------------------------------------------------


def test_defaults_are_filled_in(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, PLAIN))
    assert config.name == "trial"
    assert config.rules == dataclasses.replace(EDITIONS["su20"], goal=20, name=config.rules.name)
    assert isinstance(config.solver.params, SOLVERS["cfr_plus"])
    assert isinstance(config.solver.params, RegretMinimiser)
    assert config.solver.params.averaging == "linear"
    assert (config.solver.iterations, config.solver.seed) == (200, 0)
    assert (config.measure.every, config.measure.attack.starts) == ("log", 4)
    assert config.measure.final_attack is None
    assert config.purify.method == "argmax"
    least = config_from({"name": "a", "rules": "fa22", "solver": {"name": "cfr", "iterations": 1}})
    assert least.rules == EDITIONS["fa22"]


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_resolved_yaml_loads_to_an_equal_config(tmp_path: Path, solver: str) -> None:
    config = config_from(
        tree(
            rules={"edition": "su21", "goal": 30},
            solver={"name": solver, "iterations": 7},
            measure={"every": 3, "final_attack": {"starts": 9, "damping": 0.25, "kicks": 0}},
            seed=11,
        )
    )
    again = load_config(written(tmp_path, config.to_yaml()))
    assert again == config
    assert again.to_yaml() == config.to_yaml()
    assert again.fingerprint() == config.fingerprint()


def test_infinity_is_kept(tmp_path: Path) -> None:
    config = config_from(tree(solver={"name": "dcfr", "iterations": 1, "alpha": float("inf")}))
    again = load_config(written(tmp_path, config.to_yaml())).solver.params
    assert isinstance(again, RegretMinimiser)
    assert again.alpha == float("inf")


def test_resolved_yaml_leaves_nothing_to_defaults() -> None:
    resolved = yaml.safe_load(config_from(tree()).to_yaml())
    assert set(resolved["rules"]) == {field.name for field in dataclasses.fields(EDITIONS["su20"])}
    fields = {field.name for field in dataclasses.fields(CFRPlus)}
    assert set(resolved["solver"]) == fields | {"name", "iterations", "seed"}


def test_one_seed_reaches_every_part_that_has_none_of_its_own() -> None:
    solver: dict[str, Any] = {"name": "cfr_br", "iterations": 1}
    config = config_from(tree(solver=solver, seed=7))
    assert isinstance(config.solver.params, CFRBR)
    assert config.seed == config.solver.seed == config.solver.params.seed == 7
    assert config.measure.attack.seed == 7
    measure = {"attack": {"seed": 4}, "final_attack": {"seed": 5}}
    config = config_from(tree(solver={**solver, "seed": 3}, measure=measure, seed=7))
    assert isinstance(config.solver.params, CFRBR)
    assert config.solver.params.seed == 3
    assert config.measure.attack.seed == 4
    assert config.measure.final_attack is not None
    assert config.measure.final_attack.seed == 5


# --- overrides ---------------------------------------------------------------------------------


def test_overrides(tmp_path: Path) -> None:
    file = written(tmp_path, PLAIN.replace("{edition: su20, goal: 20}", "su20"))
    config = load_config(
        file,
        [
            "solver.iterations=5",
            "rules.goal=30",  # rules was a name: it becomes a mapping
            "measure.final_attack.starts=9",  # was absent
            "solver.iterations=6",  # the last one counts
            "name=a=b",
        ],
    )
    assert config.solver.iterations == 6
    assert (config.rules.goal, config.rules.swap) == (30, EDITIONS["su20"].swap)
    assert config.measure.final_attack is not None
    assert config.measure.final_attack.starts == 9
    assert config.name == "a=b"


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ("solver.iterations", ["--set solver.iterations", "key=value"]),
        ("=3", ["--set =3", "key=value"]),
        ("solver.iterations.x=3", ["solver.iterations is 200", "no keys"]),
        ("solver.iterations=[", ["--set solver.iterations=[", "line 1", "YAML"]),
        ("solver.iterations=!!python/name:os.system", ["YAML", "tag"]),
        ("forget=order", ["forget: got 'order'; allowed: with a game"]),
        ("solver.iteration=3", ["--set solver.iteration=3", "nearest: iterations"]),
        ("name=a\nb: c", ["--set"]),
    ],
)
def test_bad_overrides(tmp_path: Path, override: str, parts: list[str]) -> None:
    message = refusal(written(tmp_path, PLAIN), override)
    for part in parts:
        assert part in message


def test_rules_that_are_set_beside_another_game(tmp_path: Path) -> None:
    file = written(tmp_path, PLAIN)
    for overrides in (("rules.goal=30", "game=kuhn_poker"), ("game=kuhn_poker", "rules.goal=30")):
        message = refusal(file, *overrides)
        assert "rules: got {'goal': 30}; allowed: none where a game is given" in message
    assert load_config(file, ["game=kuhn_poker"]).game == "kuhn_poker"


# --- what is refused ---------------------------------------------------------------------------

BAD_VALUES = [
    # (what is written instead of what, and what the line must say)
    ("iterations: 200", "iterations: 0", ["solver.iterations", "got 0", "whole numbers from 1"]),
    ("iterations: 200,", "", ["solver.iterations", "missing", "whole number"]),
    ("iterations: 200", "iteratons: 9", ["solver.iteratons", "unknown", "nearest: iterations"]),
    ("name: cfr_plus", "name: cfrplus", ["solver.name", "'cfrplus'", "dcfr", "nearest: cfr_plus"]),
    ("averaging: linear", "averaging: linaer", ["solver.averaging", "nearest: linear"]),
    ("seed: 0", "seed: -1", ["solver.seed", "got -1", "from 0"]),
    ("every: log", "every: 0", ["measure.every", "got 0", "log or whole numbers from 1"]),
    ("starts: 4", "starts: x", ["measure.attack.starts", "'x'", "whole number"]),
    ("{starts: 4,", "{}, final_attack: {seed: -1,", ["measure.final_attack.seed", "got -1"]),
    ("{method: argmax}", "{method: threshold, seed: -1}", ["purify.seed", "got -1"]),
    ("{starts: 4, anneal_steps: 60, kicks: 0}", "4", ["measure.attack", "got 4", "mapping"]),
    ("method: argmax", "method: argmix", ["purify.method", "'argmix'", "nearest: argmax"]),
    ("{method: argmax}", "argmax", ["purify", "got 'argmax'", "mapping"]),
    ("method: argmax", "method: integer, leas: 0.5", ["purify.leas", "unknown", "nearest: least"]),
    ("edition: su20", "edition: su2O", ["rules", "'su2O'", "su20"]),
    ("{edition: su20, goal: 20}", "[su20]", ["rules", "['su20']", "edition"]),
    ("goal: 20", "goal: 0", ["rules.goal", "got 0", "allowed"]),
    ("starts: 4", "most_kicks: 9", ["measure.attack.most_kicks: got 9", "until_saturated"]),
    (
        "kicks: 0",
        "kicks: 10, until_saturated: true, most_kicks: 9",
        ["measure.attack.most_kicks: got 9; allowed: the 10 kicks or more"],
    ),
    ("name: trial", "nane: trial", ["nane", "unknown", "nearest: name"]),
    ("name: trial", "", ["name", "missing", "folder's name"]),
    ("name: trial", "name: trial\nname: again", ["line 2, column 1", "'name' is given twice"]),
]


@pytest.mark.parametrize(("old", "new", "parts"), BAD_VALUES, ids=[new for _, new, _ in BAD_VALUES])
def test_bad_values(tmp_path: Path, old: str, new: str, parts: list[str]) -> None:
    assert old in PLAIN
    file = written(tmp_path, PLAIN.replace(old, new, 1))
    message = refusal(file)
    assert message.startswith(str(file))
    for part in parts:
        assert part in message, message


@pytest.mark.parametrize("name", ["", "../x", "a\\b", ".hidden", "-x", "a.", "ä", "x" * 101])
def test_names_that_are_no_folder(name: str) -> None:
    with pytest.raises(ConfigError, match=r"name: got .*allowed: a folder's name"):
        config_from(tree(name=name))


BAD_YAML = [
    ("a: [1", ["line 1", "column"]),
    ("\tname: x", ["line 1, column 1"]),
    ("name: !!python/object/apply:os.system [touch x]", ["line 1, column 7", "tag"]),
    ("name: \x07", ["YAML", "character"]),
    (b"name: \xc3\x28", ["UTF-8"]),
    ("", ["empty", "mapping"]),
    ("- a\n- b", ["['a', 'b']", "mapping"]),
    ("&a [*a]", ["line 1, column 5", "alias 'a' of nothing that ends before it"]),
    ("#" * (MAX_BYTES + 1), ["larger"]),
]


@pytest.mark.parametrize(("text", "parts"), BAD_YAML, ids=range(len(BAD_YAML)))
def test_bad_yaml(in_folder: Path, text: str | bytes, parts: list[str]) -> None:
    file = written(in_folder, text)
    message = refusal(file)
    for part in parts:
        assert part in message, message
    assert list(in_folder.iterdir()) == [file]  # in particular no "x": nothing was run


def test_unreadable_files(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "none.yaml")
    assert "directory" in refusal(tmp_path)
    assert "cannot be read" in refusal(Path("a\0b"))


@pytest.mark.parametrize("name", ["", " ", "\ud800", "a\nb", "\x1b[2J", "x" * 201, 5, None])
def test_names_of_games_that_no_figure_holds(name: object) -> None:
    with pytest.raises(ConfigError, match=r"rules\.name: got .*; allowed: a text .* 200 printable"):
        config_from(tree(rules={"edition": "su20", "goal": 20, "name": name}))


def test_rules_with_many_changes_have_a_name_that_figures_hold() -> None:
    changes = {"zero_dice": "ten_minus_min_digit", "swap": "power_of_three_digits", "goal": 9}
    more = {"more_boar": "both_digits_smaller", "feral_hogs": "points", "max_dice": 3, "sides": 4}
    switches = ("hog_wild", "piggy_back", "prime_boost", "square_swine", "time_trot")
    many = {"edition": "fa22", **changes, **more, **dict.fromkeys(switches, True)}
    assert rules_from(many).name == "fa22 with 11 changes"


# --- the fingerprint ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("override", "same"),
    [
        ("name=other", True),
        ("solver.iterations=999", True),
        ("purify.method=threshold", True),
        ("rules.goal=21", False),
        ("solver.averaging=uniform", False),
        ("solver.seed=1", False),
        ("seed=1", False),  # reaches the attack
        ("measure.every=2", False),
    ],
)
def test_the_fingerprint_is_of_what_a_checkpoint_depends_on(override: str, same: bool) -> None:
    one = config_from(tree()).fingerprint()
    two = config_from(apply_overrides(tree(), [override])).fingerprint()
    assert (one == two) is same
