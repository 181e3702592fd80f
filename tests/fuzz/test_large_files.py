"""Hostile files of a megabyte: a second and 200 MB each, measured in a process of its own."""

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.strategies.strategy_files import saved

pytestmark = pytest.mark.slow

MEGABYTE = 2**20


def zipped(path: Path, method: int, **members: bytes) -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("_", "."), data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the files; the start of a name says which reader is asked."""
    folder = tmp_path_factory.mktemp("large")
    levels = (f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    header = b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }"
    texts = {
        "rules-bomb.yaml": "a0: &a0 [x, x, x]\n" + "".join(levels) + "goal: *a11",
        "rules-wide.yaml": "[" + "1," * (MEGABYTE // 2 - 1),
        "rules-full.yaml": "[" + "1," * 49_000 + "1]",
        "rules-deep.yaml": "[" * MEGABYTE,
        "rules-lines.yaml": "\n" * MEGABYTE,
        "rules-tags.yaml": "".join(f"%TAG !a{n}! b\n" for n in range(60_000)) + "--- a",
        "rules-keys.yaml": "".join(f"k{n}: 1\n" for n in range(24_000)),
        "rules-name.yaml": "name: " + "x" * (MEGABYTE - 10),
        "sweep-grid.yaml": "name: a\nbase: {name: a, rules: su20}\ngrid: {"
        + ", ".join(f"k{n}: [1, 2, 3]" for n in range(12_000))
        + "}",
        "strategy-keys.json": '{"1' + " " * (MEGABYTE - 20) + '": 1}',
        "strategy-many.json": "{" + ",".join(f'"{" " * 60}{n}": 1' for n in range(14_000)) + "}",
        "strategy-lists.json": "[" + "[],".rstrip() * (MEGABYTE // 3 - 2) + "[]]",
        "strategy-deep.json": "[" * MEGABYTE,
        "strategy-digits.json": "[" + ",".join(["9" * 4000] * 250) + "]",
        "strategy-cells.csv": ",".join(["x"] * (MEGABYTE // 2)),
        "strategy-cell.csv": "9" * MEGABYTE,
        "strategy-rows.txt": "1\n" * (MEGABYTE // 2),
        "strategy-numbers.txt": "".join(f"{n}\n" for n in range(150_000)),
        "strategy-commas.csv": ",\n" * (MEGABYTE // 2),
        "strategy-spaces.txt": " " * MEGABYTE,
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "strategy-header.npy").write_bytes(
        b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b"(" * MEGABYTE
    )
    (folder / "strategy-shape.npy").write_bytes(header % b"9999999, 9999999" + b"\0" * MEGABYTE)
    (folder / "checkpoint-shape.npz").write_bytes(
        saved(np.savez, schema=np.zeros((1000, 1000), np.int8))
    )
    bomb = folder / "strategy-bomb.npz"
    zipped(bomb, zipfile.ZIP_DEFLATED, matrix_npy=header % b"9999, 9999" + b"\0" * 2**28)
    rolls = np.zeros((64, 100, 100, 11), np.int8)
    rolls[..., 0] = 1
    zipped(
        folder / "strategy-parts.npz",
        zipfile.ZIP_DEFLATED,
        policies_npy=saved(np.save, rolls),
        weights_npy=saved(np.save, np.full(64, 1 / 64)),
    )
    (folder / "checkpoint-bomb.npz").write_bytes(bomb.read_bytes())
    array = header % b"99999999999,"
    zipped(folder / "checkpoint-array.npz", zipfile.ZIP_STORED, a_npy=array)
    leaves = ",".join(f'"{n}":1' for n in range(40_000))
    manifests = {
        "deep": '{"config": ' + '{"a":' * 900 + "1" + "}" * 901,
        "deeper": '{"a":' * 150_000,
        "keys": '{"config": {"' + "k" * (MEGABYTE // 2) + '": {' + leaves + "}}}",
        "numbers": '{"seconds": ' + "9" * 4000 + ', "solver_seconds": ' + "9" * 4000 + "}",
        "lists": '{"config": {"a": [' + "[]," * (MEGABYTE // 4) + "[]]}}",
    }
    for name, text in manifests.items():
        (folder / "runs" / name).mkdir(parents=True)
        (folder / "runs" / name / "manifest.json").write_text(text)
    return folder


CODE = """
import json, re, resource, sys, time
from pathlib import Path
from hogeq.runs.directory import read_checkpoint
from hogeq.rules.reading import read_rules as load_rules
from hogeq.runs.index import find_runs, differing_keys
from hogeq.rules import Rules
from hogeq.runs.sweep import load_sweep
from hogeq.strategies.files import read_strategy
from hogeq.contest.submission import inspect_submission

def runs(path):
    found, broken = find_runs(path)
    differing_keys([*found, *found])
    json.dumps([run.to_json() for run in found])
    raise ValueError(" ".join(broken.values()))

readers = {
    "rules": [load_rules],
    "sweep": [load_sweep],
    "strategy": [read_strategy, lambda path: inspect_submission(path, Rules())],
    "checkpoint": [lambda path: read_checkpoint(path, "cfr", "", {})],
    "runs": [runs],
}
def peak():
    # ru_maxrss alone starts at what the parent used.
    if status.exists():
        return int(re.search(r"VmHWM:\\s*(\\d+)", status.read_text())[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
for path in sorted(Path(sys.argv[1]).iterdir()):
    for read in readers[path.name.partition("-")[0]]:
        if reset.exists():
            reset.write_text("5")
        before, start = peak(), time.process_time()
        try:
            read(path)
        except ValueError as error:
            assert len(str(error)) < 3000 and str(error).isprintable(), error
        print(path.name, round(time.process_time() - start, 2), round(peak() - before), flush=True)
"""


def test_hostile_megabytes(folder: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", CODE, str(folder)]
    found = subprocess.run(command, capture_output=True, check=False, text=True)  # noqa: S603
    assert (found.returncode, found.stderr) == (0, "")
    lines = [line.split() for line in found.stdout.splitlines()]
    assert len(lines) > 30
    # Seconds of the processor and megabytes.
    assert [line for line in lines if float(line[1]) > 5 or float(line[2]) > 200] == []
    assert max(float(line[2]) for line in lines) > 10
