"""`hogeq attack --certify` and `hogeq certify`: bounds that anyone can check."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.baselines import builtin
from hogeq.model.game import compile_game
from hogeq.search import certificate
from hogeq.strategies.files import write_strategy
from hogeq.strategies.strategy import policy_of
from tests.cli.calls import ask, ok, refused

POLICY = [[[0.0, 0.0, 0.0, 1.0]] * 12] * 12
MIXED = {"policy": None, "weights": [0.5, 0.5], "parts": [POLICY] * 2}
SHIPPED = Path(__file__).parents[2] / "results" / "certificate_su20.json.gz"


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
    assert checked["full_memory"] == pytest.approx(found["bound"], abs=1e-12)
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


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "other"}, "format"),
        ({"version": 2}, "version"),
        ({"rules": {"edition": "su20", "goal": 2000}}, "goal"),
        ({"rules": {"edition": "su20", "max_dice": 50}}, "max_dice"),
        ({"bound": 7.0}, "bound"),
        ({"policy": [[1]]}, "policy"),
        ({"policy": [[1], 2]}, "policy"),
        ({"steps": [[1, 2, 3]]}, "steps[0]"),
        ({"steps": [[12, 0, 0, 1, 1, 1, 1]]}, "steps[0].score"),
        ({"steps": [[0, 0, 0.5, 1, 1, 1, 1]]}, "steps[0].roll"),
        ({"steps": [[0, 0, True, 1, 1, 1, 1]]}, "steps[0].roll"),
        ({"steps": [[0, 0, 0, 1, 1, 1, 1e999]]}, "is not JSON: Infinity"),
        ({"steps": [[0, 0, 0, -1, 1, 1, 1]]}, "steps[0].share"),
        ({"steps": [[0, 0, 0, 1, 1, 1, -1]]}, "steps[0].cover"),
        ({"steps": 1}, "steps"),
        ({"more": 1}, "more"),
        ({"steps": [[1, 2, 0.1, 0.25]]}, "steps[0]: got [1, 2, 0.1, 0.25]; allowed: a cell that"),
        ({"steps": [[1, 2, 3, 1, 1, 1, 1], [1, 2, 0.1, 2]]}, "steps[1].lent: got 2"),
        # of a mixture
        ({"weights": [1.0]}, "strategy: got ['policy', 'weights']; allowed: policy, or weights"),
        ({**MIXED, "weights": None}, "strategy: got ['parts']; allowed: policy, or weights"),
        ({**MIXED, "weights": [0.5, 0.6]}, "weights sum to 1.1"),
        ({**MIXED, "weights": [1.0]}, "has 1 weights and 2 parts"),
        ({**MIXED, "weights": ["x", "y"]}, "weights: is no table of numbers"),
        ({**MIXED, "parts": [[1.0]]}, "parts: have shape (1, 1)"),
        ({**MIXED, "parts": [[[[0.5, 0.5, 0.5, 0.5]] * 12] * 12] * 2}, "part 1"),
    ],
)
def test_hostile_files_are_refused_in_a_line(change: dict[str, Any], says: str) -> None:
    rules = {"edition": "su20", "goal": 12, "max_dice": 3}
    proof = {"format": "hogeq certificate", "version": 4, "rules": rules, "bound": 1.0}
    proof |= {"full_memory": 1.0, "policy": POLICY, "steps": []}
    Path("proof.json").write_text(json.dumps({**proof, **change}))
    line = refused("certify", "proof.json")
    assert "proof.json" in line
    assert says in line
    Path("proof.json").write_bytes(b"[1]")
    assert "proof.json" in refused("certify", "proof.json")


def test_a_packed_certificate() -> None:
    plain = certified()
    packed = certified("--certificate", "proof.json.gz")
    small, large = Path("proof.json.gz").read_bytes(), Path("proof.json").read_bytes()
    assert len(small) < 0.2 * len(large)
    assert packed["certificate"] == "proof.json.gz"
    checked = ask("certify", "proof.json.gz", "--of", "always_roll:3")
    assert checked["full_memory"] == pytest.approx(plain["bound"], abs=1e-12)
    assert checked["bound"] == pytest.approx(packed["certified"], abs=1e-12)
    Path("proof.json.gz").write_bytes(small[:-9])
    assert "is packed, but broken" in refused("certify", "proof.json.gz")
    Path("proof.json.gz").write_bytes(small[:2] + b"no gzip")
    assert "is packed, but broken" in refused("certify", "proof.json.gz")


def test_what_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "MAX_BYTES", 2**20)
    Path("proof.json.gz").write_bytes(gzip.compress(b"[" + b" " * 2**20 + b"]"))
    assert "unpacks to more than the 1 MiB allowed" in refused("certify", "proof.json.gz")


@pytest.mark.slow
def test_a_certificate_of_a_mixture() -> None:
    rolls = np.array([1, 2, 3])[:, None, None] * np.ones((12, 12), int)
    drawn = hogeq.Mixture([0.2, 0.3, 0.5], rolls)
    write_strategy("drawn.npz", drawn)
    short = "--rules", "small.yaml", "--starts", "1", "--kicks", "2", "--certify", "3"
    found = ask("attack", "drawn.npz", *short, "--certificate", "proof.json")
    assert found["attack"] <= found["certified"] < found["bound"] <= found["bound_told"]
    checked = ask("certify", "proof.json", "--of", "drawn.npz")
    assert checked["bound"] == pytest.approx(found["certified"], abs=1e-12)
    assert checked["full_memory"] == pytest.approx(found["bound_told"], abs=1e-12)
    assert "best responder that is told the draw" in ok("certify", "proof.json")
    for other in ("always_roll:3", "swapped.npz"):
        write_strategy("swapped.npz", hogeq.Mixture([0.3, 0.2, 0.5], rolls))
        assert "another strategy" in refused("certify", "proof.json", "--of", other)
    proof = json.loads(Path("proof.json").read_text())
    for change in (
        {"bound": proof["bound"] - 1e-6},
        {"weights": [0.8, 0.1, 0.1]},  # a weaker mixture
        {"steps": proof["steps"][:1]},
    ):
        Path("changed.json").write_text(json.dumps({**proof, **change}))
        assert "its steps prove" in refused("certify", "changed.json")


def test_the_shipped_certificate_is_of_the_champion() -> None:
    found = certificate.read_certificate(SHIPPED)
    game = compile_game(found.rules)
    assert found.rules.name == "su20"
    assert (policy_of(game, builtin("champion:policy", game)) == found.strategy).all()
    assert found.bound < found.full_memory - 0.007
    assert found.steps
