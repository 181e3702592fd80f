"""Run directories: whole or not at all, whatever goes wrong."""

import dataclasses
import io
import math
import os
import pickle
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hogeq.runs.directory import Checkpoint, RunDirectory, read_checkpoint
from hogeq.runs.files import (
    CHECKPOINT,
    COLUMNS,
    FILES,
    MANIFEST,
    METRICS,
    Metrics,
    ResultsError,
    read_metrics,
    readable_manifest,
)
from hogeq.support.files import replacing
from tests.processes import python
from tests.strategies.strategy_files import saved, zipped

ROOT = Path(__file__).parents[2]
STATE = {
    "regrets": np.linspace(-1.0, 1.0, 24).reshape(2, 3, 4),
    "empty": np.zeros((0,)),
    "iteration": np.array(7, np.int64),
}
ROWS = (Metrics(1, 0.1, 0.9, 0.95, 0.3, 0.2, 1.0), Metrics(2, 1 / 3, 0.7, 0.8, math.nan, 0.1, 0.75))
SAVED = Checkpoint("toy", "f" * 64, 7, 1.5, 2.5, ROWS, STATE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a run directory with every file of a run."""
    with RunDirectory.create(tmp_path, "trial") as directory:
        directory.save(SAVED)
        for name in set(FILES) - {CHECKPOINT, METRICS}:
            directory.write(name, f"old {name}")
    return tmp_path / "trial"


def contents(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()}


def load(path: Path, solver: str = "toy", config: str = "f" * 64, like: Any = STATE) -> Checkpoint:
    return read_checkpoint(path / CHECKPOINT, solver, config, like)


def refusal(work: Callable[[], object]) -> str:
    with pytest.raises(ResultsError) as caught:
        work()
    message = str(caught.value)
    assert message.isprintable()
    return message


# --- directories -------------------------------------------------------------------------------


def test_overwrite_removes_what_a_run_writes_and_nothing_else(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    (folder / ".tmp-1234-policy.npz").write_text("torn")
    RunDirectory.create(folder.parent, "trial", overwrite=True).close()
    assert set(contents(folder)) == {".lock", "notes.txt"}


def test_overwrite_refuses_a_folder_that_is_no_run_directory(tmp_path: Path) -> None:
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial" / "policy.npz").write_text("mine")
    message = refusal(lambda: RunDirectory.create(tmp_path, "trial", overwrite=True))
    assert "not a run directory" in message
    assert contents(tmp_path / "trial") == {"policy.npz": b"mine"}


# --- one process at a time ---------------------------------------------------------------------


@pytest.mark.slow
def test_another_process_holds_it_until_it_dies(folder: Path) -> None:
    code = (
        "import sys, time; from hogeq.runs.directory import RunDirectory; "
        "held = RunDirectory.resume(sys.argv[1]); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, "-c", code, folder], stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert "another process" in refusal(lambda: RunDirectory.resume(folder))
        other.send_signal(signal.SIGKILL)
        other.wait()
    RunDirectory.resume(folder).close()


# --- files -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_real_limit_on_file_sizes_leaves_what_was_there(folder: Path) -> None:
    before = contents(folder)
    code = (
        "import resource, sys; from hogeq.runs.directory import RunDirectory; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); "
        "RunDirectory.resume(sys.argv[1]).write('policy.npz', bytes(5000))"
    )
    done = python("-c", code, folder)
    assert "ResultsError" in done.stderr.splitlines()[-1]
    assert "policy.npz cannot be written: File too large" in done.stderr
    assert contents(folder) == before


def test_replacing_keeps_the_old_file_when_its_block_fails(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")

    def fail() -> None:
        with replacing(file) as temporary:
            assert temporary.suffix == ".txt"
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert contents(tmp_path) == {"a.txt": b"old"}
    with replacing(file) as temporary:
        temporary.write_text("new")
    assert contents(tmp_path) == {"a.txt": b"new"}


def test_manifest_has_no_nan(folder: Path) -> None:
    with RunDirectory.resume(folder) as directory:
        directory.write_manifest({"a": math.nan, "b": [math.inf, 1.5], "c": {"d": (1, "x")}})
        assert readable_manifest(folder) == {"a": None, "b": [None, 1.5], "c": {"d": [1, "x"]}}
        for text in ("", "{", "[1]", "\xff"):
            directory.write(MANIFEST, text.encode("latin-1"))
            assert readable_manifest(folder) == {}


# --- metrics -----------------------------------------------------------------------------------


def test_metrics_are_read_back_exactly(folder: Path) -> None:
    rows = read_metrics(folder / "metrics.csv")
    assert [dataclasses.astuple(row) for row in rows] == [
        pytest.approx(dataclasses.astuple(row), rel=0, abs=0, nan_ok=True) for row in ROWS
    ]
    assert type(rows[0].iteration) is int
    assert (folder / "metrics.csv").read_text().splitlines()[0] == (
        "iteration,seconds,attack,bound,average_regret,kkt_gap,purified_attack"
    )


def test_a_mixture_has_two_columns_more(tmp_path: Path) -> None:
    rows = [
        dataclasses.replace(row, mixture_attack=row.attack - 0.1, mixture_bound=0.75)
        for row in ROWS
    ]
    with RunDirectory.create(tmp_path, "mixed", overwrite=False) as directory:
        directory.write_metrics(rows)
        written = directory.path / "metrics.csv"
    header = ",".join((*COLUMNS, "mixture_attack", "mixture_bound"))
    assert written.read_text().splitlines()[0] == header
    assert [row.mixture_attack for row in read_metrics(written)] == [
        row.attack - 0.1 for row in ROWS
    ]
    written.write_text(f"{header}\n1,1,1,1,1,1,1\n")
    with pytest.raises(ResultsError, match="line 2 must be 9 numbers"):
        read_metrics(written)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        (",".join(COLUMNS) + "\n1,1,1,1,1,1,x\n", 2),
        (",".join(COLUMNS) + "\n1,1,1,1,1,1,1\n1.5,1,1,1,1,1,1\n", 3),
        (",".join(COLUMNS) + "\nnan,1,1,1,1,1,1\n", 2),
    ],
)
def test_broken_metrics(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "metrics.csv"
    assert "No such file" in refusal(lambda: read_metrics(path))
    path.write_text(text)
    assert f"line {line} must be" in refusal(lambda: read_metrics(path))
    path.write_bytes(b"\xff\xfe")
    assert "is not UTF-8 text at byte 0" in refusal(lambda: read_metrics(path))


# --- checkpoints -------------------------------------------------------------------------------


def test_checkpoints_are_read_back_exactly(folder: Path) -> None:
    found = load(folder)
    for name in ("solver", "fingerprint", "iteration", "seconds", "elapsed"):
        assert getattr(found, name) == getattr(SAVED, name)
    assert dataclasses.astuple(found.metrics[0]) == pytest.approx(
        dataclasses.astuple(ROWS[0]), rel=0, abs=0, nan_ok=True
    )
    assert math.isnan(found.metrics[1].average_regret)
    assert set(found.state) == set(STATE)
    for name, array in STATE.items():
        assert found.state[name].dtype == array.dtype
        assert found.state[name].tobytes() == array.tobytes()
        assert found.state[name].shape == array.shape


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_truncated_checkpoints(folder: Path, data: st.DataObject) -> None:
    with RunDirectory.resume(folder) as directory:
        directory.save(SAVED)
    file = folder / "checkpoint.npz"
    whole = file.read_bytes()
    file.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    message = refusal(lambda: load(folder))
    assert str(file) in message
    assert "truncated or not a checkpoint" in message


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, ("exploded",))


def test_foreign_checkpoints(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    pickled = saved(np.save, np.array([Bomb()]), allow_pickle=True)
    for data, part in (
        (b"", "truncated or not a checkpoint: is not an .npz file"),
        (b"1,2,3", "truncated or not a checkpoint: is not an .npz file"),
        (pickle.dumps(Bomb()), "truncated or not a checkpoint"),
        (zipped(pickled, "schema.npy", zipfile.ZIP_STORED), "members are damaged, or no arrays"),
        (saved(np.savez, policy=np.zeros((3, 3, 2))), "no schema version"),
        (saved(np.savez, schema=np.int64(99)), "schema version 99"),
        (saved(np.savez, schema=np.int64(1)), "made by solver none"),
    ):
        (folder / "checkpoint.npz").write_bytes(data)
        message = refusal(lambda: load(folder))
        assert str(folder / "checkpoint.npz") in message
        assert part in message
    assert not Path("exploded").exists()


def test_members_that_share_their_bytes_are_refused(folder: Path) -> None:
    """A thousand names of one megabyte would take a gigabyte of memory."""
    data = io.BytesIO((folder / "checkpoint.npz").read_bytes())
    with zipfile.ZipFile(data, "a") as archive:
        archive.filelist += [archive.getinfo("state.regrets.npy")] * 50
        archive.comment = b"changed"  # or the directory is not written
    (folder / "checkpoint.npz").write_bytes(data.getvalue())
    assert "its members are compressed or overlap" in refusal(lambda: load(folder))


def test_checkpoints_of_another_run(folder: Path) -> None:
    assert "made by solver toy, not by cfr" in refusal(lambda: load(folder, solver="cfr"))
    assert "another config" in refusal(lambda: load(folder, config="0" * 64))
    for like, says in (
        (
            STATE | {"regrets": np.zeros((2, 3, 5))},
            "(2, 3, 4), and this game needs float64 (2, 3, 5)",
        ),
        (STATE | {"empty": np.zeros(0, np.int64)}, "int64"),
        (STATE | {"more": np.zeros(1)}, "lacks array more"),
        ({name: STATE[name] for name in ("regrets", "iteration")}, "unknown array empty"),
    ):
        assert says in refusal(lambda like=like: load(folder, like=like))  # type: ignore[misc]


def test_a_state_that_needs_a_pickle_is_not_saved(folder: Path) -> None:
    bad = dataclasses.replace(SAVED, state={"x": np.array([None])})
    before = contents(folder)
    with RunDirectory.resume(folder) as directory, pytest.raises(TypeError, match=r"state\.x"):
        directory.save(bad)
    assert contents(folder) == before
