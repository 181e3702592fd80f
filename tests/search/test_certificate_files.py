"""Certificates as files: what is malformed is refused; the shipped one is the champion's."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from hogeq import Hog
from hogeq.baselines import builtin
from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.search import certificate, certificate_files
from hogeq.strategies.conversion import policy_of

POLICY = [[[0.0, 0.0, 0.0, 1.0]] * 12] * 12
MIXED = {"policy": None, "weights": [0.5, 0.5], "parts": [POLICY] * 2}
SHIPPED = Path(__file__).parents[2] / "results" / "certificate_su20.json.gz"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "other"}, "format"),
        ({"version": 4}, "version: got 4"),
        ({"rules": {"edition": "su20", "goal": 2000}}, "goal"),
        ({"rules": {"edition": "su20", "max_dice": 50}}, "max_dice"),
        ({"bound": 7.0}, "bound"),
        ({"policy": [[1]]}, "policy"),
        ({"policy": [[1], 2]}, "policy"),
        ({"steps": [[1, 2, 3]]}, "steps[0]"),
        ({"steps": [[144, 0, 1, 1, 1, 1]]}, "steps[0].row: got 144"),
        ({"steps": [[0, 0.5, 1, 1, 1, 1]]}, "steps[0].action"),
        ({"steps": [[0, True, 1, 1, 1, 1]]}, "steps[0].action"),
        ({"steps": [[0, 0, 1, 1, 1, 1e999]]}, "is not JSON: got Infinity"),
        ({"steps": [[0, 0, -1, 1, 1, 1]]}, "steps[0].share"),
        ({"steps": [[0, 0, 1, 1, 1, -1]]}, "steps[0].cover"),
        ({"steps": 1}, "steps"),
        ({"more": 1}, "more"),
        # of the wrong type, or just outside a range
        ({"version": True}, "version"),
        ({"version": 5.0}, "version"),
        ({"version": "5"}, "version"),
        ({"bound": True}, "bound"),
        ({"bound": "1"}, "bound"),
        ({"full_memory": "0.5"}, "full_memory"),
        ({"policy": [[["0", 0.0, 0.0, 1.0]] * 12] * 12}, "policy: is no table of numbers"),
        ({"policy": [[[0.0, 0.0, 0.0, True]] * 12] * 12}, "policy: is no table of numbers"),
        ({"policy": [[[0.0, 0.0, 0.0, "1"]] * 12] * 12}, "policy: is no table of numbers"),
        ({"policy": [[[0.0, 0.0, 0.0, None]] * 12] * 12}, "policy: is no table of numbers"),
        ({"policy": [[[0.0, 0.0, 0.0, 10**400]] * 12] * 12}, "policy: is no table of numbers"),
        ({"policy": [[{"0": 1}] * 12] * 12}, "policy: is no table of numbers"),
        ({"policy": [POLICY[0], *["ab"] * 11]}, "policy: is no table of numbers"),
        ({"policy": [[[0.0, 0.0, 2e-9, 1.0]] * 12] * 12}, "policy: cell"),
        ({"policy": [[[-1e-300, 0.0, 0.0, 1.0]] * 12] * 12}, "policy: cell"),
        ({"steps": [[0, 4, 1, 1, 1, 1]]}, "steps[0].action: got 4"),
        ({"steps": [[-1, 0, 1, 1, 1, 1]]}, "steps[0].row: got -1"),
        ({"steps": [[0, 0, "1", 1, 1, 1]]}, "steps[0].share: got '1'"),
        ({"steps": [[0, 0, 1.0000000000000002, 1, 1, 1]]}, "steps[0].share"),
        ({"steps": [[0, 0, 1, 2, 1, 1]]}, "steps[0].lent: got 2"),
        ({"steps": [[0, 0, 1, 1, -5e-324, 1]]}, "steps[0].weight"),
        ({"steps": [[0, 0, 1, 1, True, 1]]}, "steps[0].weight: got True"),
        ({"steps": [[0, 0, 1, 1, None, 1]]}, "steps[0].weight: got None"),
        ({"steps": [[0, 0, 1, 1, 1, 1000000001]]}, "steps[0].cover"),
        ({"steps": [{"row": 1}]}, "steps[0]"),
        ({"steps": [[14, 3, 1, 1, 1, 1], [14, True, 1]]}, "steps[1].lowered: got True"),
        ({"steps": [[14, 0.1, 1], [14, 3, 1, 1, 1, 1]]}, "steps[0]: got"),
        ({"steps": [[14, 0.1, 0.25]]}, "steps[0]: got [14, 0.1, 0.25]; allowed: a row that"),
        ({"steps": [[14, 3, 1, 1, 1, 1], [14, 0.1, 2]]}, "steps[1].lent: got 2"),
        # of a mixture
        ({"weights": [1.0]}, "strategy: got ['policy', 'weights']; allowed: policy, or weights"),
        ({**MIXED, "weights": None}, "strategy: got ['parts']; allowed: policy, or weights"),
        ({**MIXED, "weights": [0.5, 0.6]}, "weights sum to 1.1"),
        ({**MIXED, "weights": [1.0]}, "has 1 weights and 2 parts"),
        ({**MIXED, "weights": ["x", "y"]}, "weights: is no table of numbers"),
        ({**MIXED, "weights": ["0.5", 0.5]}, "weights: is no table of numbers"),
        ({**MIXED, "weights": [True, 0]}, "weights: is no table of numbers"),
        ({**MIXED, "weights": [1.5, -0.5]}, "weight of part 1"),
        ({**MIXED, "parts": [[1.0]]}, "parts: have shape (1, 1)"),
        ({**MIXED, "parts": [[[[0.5, 0.5, 0.5, 0.5]] * 12] * 12] * 2}, "part 1"),
    ],
)
def test_hostile_files_are_refused_in_a_line(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    rules = {"edition": "su20", "goal": 12, "max_dice": 3}
    proof = {"format": "hogeq certificate", "version": 5, "rules": rules, "bound": 1.0}
    proof |= {"full_memory": 1.0, "policy": POLICY, "steps": []}
    path = tmp_path / "proof.json"
    path.write_text(json.dumps({**proof, **change}))
    with pytest.raises(ValueError, match=rf"proof\.json.*{re.escape(says)}"):
        certificate.check_certificate(certificate_files.Certificate.read(path))
    path.write_bytes(b"[1]")
    with pytest.raises(ValueError, match=r"proof\.json"):
        certificate_files.Certificate.read(path)


def test_what_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificate_files, "MOST_FILE_BYTES", 2**20)
    path = tmp_path / "proof.json.gz"
    path.write_bytes(gzip.compress(b"[" + b" " * 2**20 + b"]"))
    with pytest.raises(ValueError, match="unpacks to more than the 1 MiB allowed"):
        certificate_files.Certificate.read(path)


def test_no_certificate_is_written_that_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = Hog(rules_from({"edition": "hw13", "goal": 201, "max_dice": 1}))
    with pytest.raises(ValueError, match=r"rules\.goal: got 201; allowed: at most 200"):
        large.certify("always_roll:1", 0.1)
    game = Hog(rules_from({"edition": "su20", "goal": 12, "max_dice": 3}))
    found = game.certify("always_roll:3", 0.1)
    monkeypatch.setattr(certificate_files, "MOST_FILE_BYTES", 2**10)
    with pytest.raises(ValueError, match=r"proof\.json: has 0 MiB; allowed: 0"):
        found.write(tmp_path / "proof.json")
    assert not (tmp_path / "proof.json").exists()


def test_full_memory_is_written_rounded_up() -> None:
    """Its margin for rounding is small, and counts: what is certified was above it."""
    game = Hog({"edition": "fa22", "goal": 6, "max_dice": 2})
    proof = game.certify("optimal", seconds=0.1)
    assert proof.full_memory_bound == proof.bound > 0.5
    assert [figure for _, figure, _ in proof.rows()] == ["50.01 %", "50.01 %"]


def test_steps_at_the_ends_of_all_ranges_are_read(tmp_path: Path) -> None:
    ends = [[0, 0, 0, 0, 0, 0], [143, 3, 1, 1.0, 5e-324, 10**9], [143, 0, 1]]
    rules = {"edition": "su20", "goal": 12, "max_dice": 3}
    proof = {"format": "hogeq certificate", "version": 5, "rules": rules, "bound": 1}
    proof |= {"full_memory": 1, "policy": POLICY, "steps": ends}
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(proof))
    found = certificate_files.Certificate.read(path)
    assert [list(step) for step in found.steps] == ends
    proved = certificate.check_certificate(found)
    assert 0.0 < proved.bound <= 1.0


def test_the_shipped_certificate_is_of_the_champion() -> None:
    found = certificate_files.Certificate.read(SHIPPED)
    game = compile_game(found.rules)
    assert found.rules.name == "su20"
    assert (policy_of(game, builtin("champion:policy", game)) == found.strategy).all()
    assert found.bound < found.full_memory - 0.007
    assert found.steps
