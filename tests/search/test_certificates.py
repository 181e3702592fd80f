"""Certificates as files: what is malformed is refused; the shipped one is the champion's."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from hogeq.baselines import builtin
from hogeq.model.game import compile_game
from hogeq.search import certificate
from hogeq.strategies.strategy import policy_of

POLICY = [[[0.0, 0.0, 0.0, 1.0]] * 12] * 12
MIXED = {"policy": None, "weights": [0.5, 0.5], "parts": [POLICY] * 2}
SHIPPED = Path(__file__).parents[2] / "results" / "certificate_su20.json.gz"


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
def test_hostile_files_are_refused_in_a_line(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    rules = {"edition": "su20", "goal": 12, "max_dice": 3}
    proof = {"format": "hogeq certificate", "version": 4, "rules": rules, "bound": 1.0}
    proof |= {"full_memory": 1.0, "policy": POLICY, "steps": []}
    path = tmp_path / "proof.json"
    path.write_text(json.dumps({**proof, **change}))
    with pytest.raises(ValueError, match=rf"proof\.json.*{re.escape(says)}"):
        certificate.check_certificate(certificate.read_certificate(path))
    path.write_bytes(b"[1]")
    with pytest.raises(ValueError, match=r"proof\.json"):
        certificate.read_certificate(path)


def test_what_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificate, "MAX_BYTES", 2**20)
    path = tmp_path / "proof.json.gz"
    path.write_bytes(gzip.compress(b"[" + b" " * 2**20 + b"]"))
    with pytest.raises(ValueError, match="unpacks to more than the 1 MiB allowed"):
        certificate.read_certificate(path)


def test_the_shipped_certificate_is_of_the_champion() -> None:
    found = certificate.read_certificate(SHIPPED)
    game = compile_game(found.rules)
    assert found.rules.name == "su20"
    assert (policy_of(game, builtin("champion:policy", game)) == found.strategy).all()
    assert found.bound < found.full_memory - 0.007
    assert found.steps
