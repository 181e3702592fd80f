"""`hogeq attack --certify` and `hogeq certify`: bounds that anyone can check."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.strategies.conversion import strategy_of_shape
from hogeq.trees import loading
from tests.cli.calls import ask, ok, refused
from tests.slow import mostly_slow
from tests.trees.own_hog import OwnHog
from tests.trees.test_example_games import example


@pytest.fixture(autouse=True)
def _small(folder: Path) -> None:
    (folder / "small.yaml").write_text("{edition: su20, goal: 12, max_dice: 3}")


def certified(*more: str) -> dict[str, Any]:
    short = "--rules", "small.yaml", "--starts", "1", "--kicks", "2"
    proof = "--certify", "3", "--certificate", "proof.json"
    return ask("attack", "always_roll:3", *short, *proof, *more)


def test_a_certificate_is_written_and_checked() -> None:
    found = certified()
    assert found["attack"] <= found["certified"] < found["bound"]
    assert found["certificate"] == "proof.json"
    checked = ask("certify", "proof.json", "--of", "always_roll:3")
    assert checked["bound"] == pytest.approx(found["certified"], abs=1e-12)
    assert checked["full_memory"] == pytest.approx(found["bound"], abs=1e-9)
    assert checked["steps"] == found["steps"] > 0
    text = ok("certify", "proof.json")
    assert "true, by" in text
    assert "nothing that forgets wins more" in text
    assert "another strategy" in refused("certify", "proof.json", "--of", "always_roll:2")


def test_a_false_certificate_is_refused() -> None:
    certified()
    proof = json.loads(Path("proof.json").read_text())
    full_memory = proof["full_memory"]
    for other in (full_memory - 1e-6, full_memory + 1e-6):
        Path("proof.json").write_text(json.dumps({**proof, "full_memory": other}))
        line = refused("certify", "proof.json")
        assert line.endswith(f"full_memory: got {other!r}; it is {full_memory!r}\n")
    proof["bound"] -= 1e-6
    Path("proof.json").write_text(json.dumps(proof))
    assert "its steps prove" in refused("certify", "proof.json")
    proof["steps"] = []
    Path("proof.json").write_text(json.dumps(proof))
    assert "its steps prove" in refused("certify", "proof.json")


def test_what_is_shown_is_proved() -> None:
    found = certified()
    for shown in (ok("certify", "proof.json"), ok("certify", "proof.json", "--digits", "4")):
        proved, remembers = (float(line.split()[1]) for line in shown.splitlines()[2:4])
        assert proved >= 100.0 * found["certified"]
        assert remembers >= 100.0 * found["bound"] - 1e-9


NAMES = (
    "su20",
    "SU20",
    " su20",
    "sp26",
    "fa13",
    "su20 with goal=12",
    "su20 with 1 changes",
    "sp26 with goal=12",
)


@pytest.mark.parametrize("name", mostly_slow(NAMES, " su20"))
def test_other_rules_under_the_name_of_an_edition_are_refused(name: str) -> None:
    certified()
    proof = json.loads(Path("proof.json").read_text())
    assert proof["rules"]["name"] == "su20 with goal=12, max_dice=3"
    for rules in (
        {**proof["rules"], "name": name},
        {"edition": "su20", "goal": 12, "max_dice": 3, "name": name},
        {"edition": "su20", "goal": 12, "max_dice": 3, "swap": "none", "name": name},
    ):
        Path("proof.json").write_text(json.dumps({**proof, "rules": rules}))
        line = refused("certify", "proof.json")
        assert f"rules.name: got {name!r}; allowed: " in line
    Path("proof.json").write_text(json.dumps({**proof, "rules": {**rules, "name": "my su20"}}))
    assert "rules.name" not in refused("certify", "proof.json")


@pytest.mark.parametrize("name", ["su20 to 100 points", "\uff53\uff55\uff12\uff10", "Summer 2020"])
def test_a_name_of_ones_own_says_which_rules_it_stands_for(name: str) -> None:
    rules = {"edition": "su20", "goal": 4, "max_dice": 1}
    hogeq.Game(rules).certify("always_roll:1", 0.0).write("proof.json")
    proof = json.loads(Path("proof.json").read_text())
    true_name = proof["rules"].pop("name")
    assert true_name == "su20 with goal=4, max_dice=1"
    assert f"proof.json, {true_name}: true" in ok("certify", "proof.json")
    proof["rules"]["name"] = name
    Path("proof.json").write_text(json.dumps(proof))
    assert f"proof.json, {name} ({true_name}): true" in ok("certify", "proof.json")
    assert ask("certify", "proof.json")["rules"] == f"{name} ({true_name})"


@pytest.mark.slow
def test_a_packed_certificate() -> None:
    plain = certified()
    packed = certified("--certificate", "proof.json.gz")
    small, large = Path("proof.json.gz").read_bytes(), Path("proof.json").read_bytes()
    assert len(small) < 0.2 * len(large)
    assert packed["certificate"] == "proof.json.gz"
    checked = ask("certify", "proof.json.gz", "--of", "always_roll:3")
    assert checked["full_memory"] == pytest.approx(plain["bound"], abs=1e-9)
    assert checked["bound"] == pytest.approx(packed["certified"], abs=1e-12)
    Path("proof.json.gz").write_bytes(small[:-9])
    assert "is packed by gzip, but broken" in refused("certify", "proof.json.gz")
    Path("proof.json.gz").write_bytes(small[:2] + b"no gzip")
    assert "is packed by gzip, but broken" in refused("certify", "proof.json.gz")


# --- other games than Hog -------------------------------------------------------------------------


class SmallHog(OwnHog):
    goal: int = 10
    max_dice: int = 3


def test_full_memory_is_rounded_up() -> None:
    """Against the uniform strategy the first player gains 1.7e-11 / 18: less than payoffs miss."""
    lines = [
        'EFG 2 R "near 1" { "P1" "P2" }',
        'c "" 1 "" { "less" 1/9 "more" 8/9 } 0',
        'p "" 1 1 "only" { "a" "b" } 0',
        't "" 1 "" { 1000000000003/1000000000000, -1000000000003/1000000000000 }',
        't "" 2 "" { 50000000001/50000000000, -50000000001/50000000000 }',
        't "" 3 "" { 50000000001/50000000000, -50000000001/50000000000 }',
    ]
    Path("near.efg").write_text("\n".join(lines))
    hogeq.Game("near.efg").certify("uniform", 0.0, "near.efg").write("proof.json")
    gain = Fraction(17, 18 * 2 * 10**12)  # in the mean of both seats
    rows = [line.split() for line in ok("certify", "proof.json").splitlines()[2:]]
    assert {name: Fraction(number) >= gain for name, number, *_ in rows} == {
        "certified": True,
        "bound": True,
    }
    assert Fraction(ask("certify", "proof.json")["full_memory"]) >= gain


TREE = {"name": "liars_dice(dice_sides=3)", "forget": "last:1"}
OWN = {"name": "small_hog", "forget": None}
OTHERS = pytest.mark.parametrize("game", mostly_slow([TREE, OWN], TREE), ids=["tree", "own game"])


@pytest.fixture
def _own(registries: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Register an own game, which is held by its positions however few they are."""
    monkeypatch.setattr(loading, "FEW_NODES", 0)
    hogeq.register_game("small_hog")(SmallHog)


def certified_game(game: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Certify a random strategy: the answer, and the file."""
    rows = hogeq.Game(game["name"], forget=game["forget"]).graph
    chance = np.random.default_rng(0)
    policy = chance.dirichlet(np.full(rows.num_actions, 0.5), len(rows.legal)) * rows.legal
    policy += 1e-9 * rows.legal
    np.savez("drawn.npz", policy=policy / policy.sum(axis=1, keepdims=True))
    forget = ["--forget", game["forget"]] if game["forget"] else []
    proof = "--certify", "2", "--certificate", "proof.json", "--overwrite"
    found = ask("attack", "drawn.npz", "--game", game["name"], *forget, *proof)
    return found, json.loads(Path("proof.json").read_text())


@OTHERS
@pytest.mark.usefixtures("_own")
def test_a_certificate_of_another_game_is_written_and_checked(game: dict[str, Any]) -> None:
    found, proof = certified_game(game)
    assert found["attack"] <= found["certified"] < proof["full_memory"]
    assert proof["game"].items() >= game.items()
    checked = ask("certify", "proof.json", "--of", "drawn.npz")
    assert checked["bound"] == pytest.approx(found["certified"], abs=1e-12)
    assert (checked["game"], checked["forget"]) == (game["name"], game["forget"])
    assert checked["steps"] == found["steps"] > 0
    text = ok("certify", "proof.json")
    assert f"proof.json, {game['name']}" in text
    proved = next(line for line in text.splitlines() if line.startswith("certified"))
    assert float(proved.split()[1]) >= checked["bound"]


@OTHERS
@pytest.mark.usefixtures("_own")
def test_a_forged_certificate_of_another_game_is_refused(game: dict[str, Any]) -> None:
    _, proof = certified_game(game)
    about, rows = proof["game"], proof["policy"]
    other = [rows[0][1], *[0.0] * (len(rows[0]) - 1)], *rows[1:]
    first, *_ = proof["steps"]
    forged: list[tuple[dict[str, Any], str]] = [
        ({"bound": proof["bound"] - 1e-6}, "its steps prove"),
        ({"steps": []}, "its steps prove"),
        ({"full_memory": proof["full_memory"] - 1e-6}, "full_memory: got"),
        ({"full_memory": proof["full_memory"] + 1e-6}, "full_memory: got"),
        ({"bound": "0"}, "bound"),
        ({"version": 4}, "version: got 4"),
        ({"rules": "su20"}, "rules, game: allowed: one of them"),
        ({"game": None}, "rules, game: allowed: one of them"),
        ({"game": about | {"digest": "0" * 64}}, "game.digest: got"),
        ({"game": about | {"digest": "x"}}, "digest"),
        ({"game": about | {"name": "kuhn_poker", "forget": None}}, "game.digest: got"),
        ({"game": about | {"name": "su20", "forget": None}}, "game: got 'su20'; allowed"),
        ({"game": about | {"name": "no_such_game"}}, "no_such_game"),
        ({"game": about | {"name": ""}}, "name"),
        ({"game": about | {"more": 1}}, "more"),
        ({"policy": other}, "policy"),
        ({"policy": rows[1:]}, "has shape"),
        ({"policy": [row[1:] for row in rows]}, "policy"),
        ({"policy": 1}, "policy"),
        ({"steps": [[len(rows), *first[1:]]]}, "steps[0].row"),
        ({"steps": [[first[0], len(rows[0]), *first[2:]]]}, "steps[0].action"),
        ({"steps": [[0, *first]]}, "steps[0]: got"),
        ({"steps": [[first[0], 0.1, 0.2]]}, "allowed: a row that has claimed before"),
        ({"steps": [[*first[:-1], -1.0]]}, "steps[0].cover"),
    ]
    for change, says in forged:
        Path("proof.json").write_text(json.dumps({**proof, **change}))
        assert says in refused("certify", "proof.json")


@OTHERS
@pytest.mark.usefixtures("_own")
def test_no_strategy_is_certified_as_another_one(game: dict[str, Any]) -> None:
    _, proof = certified_game(game)
    rows = np.array(proof["policy"])
    pure = np.eye(rows.shape[1])[np.argmax(rows > 0.0, axis=1)]
    np.savez("pure.npz", policy=pure)
    assert "another strategy" in refused("certify", "proof.json", "--of", "pure.npz")
    mixed = {"policy": None, "weights": [0.5, 0.5], "parts": [pure.tolist(), proof["policy"]]}
    Path("proof.json").write_text(json.dumps({**proof, **mixed}))
    assert refused("certify", "proof.json")


def test_a_game_whose_positions_recur_has_no_certificate() -> None:
    line = refused("attack", "uniform", "--game", f"{example('pig')}(goal=4)", "--certify", "1")
    assert "positions recur; allowed: games in which none does" in line


@pytest.mark.slow
def test_a_certificate_of_a_mixture() -> None:
    rolls = np.array([1, 2, 3])[:, None, None] * np.ones((12, 12), int)
    drawn = hogeq.Mixture([0.2, 0.3, 0.5], rolls)
    strategy_of_shape(None, drawn).write("drawn.npz")
    short = "--rules", "small.yaml", "--starts", "1", "--kicks", "2", "--certify", "3"
    found = ask("attack", "drawn.npz", *short, "--certificate", "proof.json")
    assert found["attack"] <= found["certified"] < found["bound"] <= found["bound_told"]
    checked = ask("certify", "proof.json", "--of", "drawn.npz")
    assert checked["bound"] == pytest.approx(found["certified"], abs=1e-12)
    assert checked["full_memory"] == pytest.approx(found["bound_told"], abs=1e-9)
    assert "best responder that is told the draw" in ok("certify", "proof.json")
    for other in ("always_roll:3", "swapped.npz"):
        strategy_of_shape(None, hogeq.Mixture([0.3, 0.2, 0.5], rolls)).write("swapped.npz")
        assert "another strategy" in refused("certify", "proof.json", "--of", other)
    proof = json.loads(Path("proof.json").read_text())
    for change in (
        {"bound": proof["bound"] - 1e-6},
        {"weights": [0.8, 0.1, 0.1]},  # a weaker mixture
        {"steps": proof["steps"][:1]},
    ):
        Path("changed.json").write_text(json.dumps({**proof, **change}))
        assert "its steps prove" in refused("certify", "changed.json")
