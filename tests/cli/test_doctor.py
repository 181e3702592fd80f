"""What is compiled: doctor and warmup."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hogeq.cli import app
from tests.cli.calls import ask, hogeq, ok


@pytest.mark.slow
def test_warmup_compiles_all_that_doctor_looks_for() -> None:
    result = CliRunner().invoke(app, ["warmup", "--rules", "hw13", "--jobs", "1", "--json"])
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    told = ask("doctor", "--rules", "hw13")
    assert told["compiled"] == {
        "hw13": dict.fromkeys(
            ["matrices", "policies", "search", "full memory", "hidden states", "certificates"], True
        )
    }
    assert told["cache"]["kernels"] == found["kernels"] >= 5
    assert told["cache"]["folder"] == found["folder"]
    assert "for hw13" in ok("doctor", "--rules", "hw13")
    again = json.loads(CliRunner().invoke(app, ["warmup", "--rules", "hw13", "--json"]).stdout)
    assert again["compiled"] == 0


@pytest.mark.parametrize(
    ("written", "status"), [(False, 0), pytest.param(True, 1, marks=pytest.mark.slow)]
)
def test_doctor_says_what_is_missing_and_whether_anything_can_be_kept(
    written: bool, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "kept"
    if written:
        place.write_text("a file, where the folder should be")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(place))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    rules = tmp_path / "wide.yaml"
    rules.write_text("{edition: su21, goal: 6, max_dice: 2}")
    # A process of its own: in this one other tests have compiled.
    result = hogeq("doctor", "--rules", str(rules), "--json")
    assert result.returncode == status, result.stderr
    found = json.loads(result.stdout)
    assert found["cache"]["writable"] is (status == 0)
    assert found["cache"]["kernels"] == 0
    assert not any(found["compiled"][str(rules)].values())
    assert found["vector_bits"] in {64, 128, 256, 512}
    assert found["packages"]["numba"]
