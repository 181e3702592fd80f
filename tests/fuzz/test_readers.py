"""Every reader of files, given files that are almost right: no traceback, no wait."""

import gc
import json
import os
import time
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from hogeq.analysis.transcript import TranscriptError, parse_transcript
from hogeq.cli.shell import refusing
from hogeq.contest.submission import inspect_submission
from hogeq.rules import Rules
from hogeq.rules.reading import read_rules as load_rules
from hogeq.runs import index, sweep
from hogeq.runs.config import apply_overrides, config_from, load_config
from hogeq.runs.directory import Checkpoint, read_checkpoint, write_checkpoint
from hogeq.runs.files import COLUMNS, Metrics, ResultsError
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.files import read_strategy
from hogeq.support.channel import EntryOutput
from hogeq.support.messages import HogeqError
from hogeq.support.yaml import ConfigError
from hogeq.trees.gambit import from_efg
from tests.strategies.strategy_files import DICE, GOAL, MATRIX, ROWS, saved, zipped

pytestmark = pytest.mark.slow

SECONDS: Final = float(os.environ.get("HOGEQ_FUZZ_SECONDS", "0"))
"""For each target; with none, the same few examples every time."""

EXAMPLES: Final = 150

Reader = Callable[[bytes], object]


def mutated(seeds: list[bytes], words: list[bytes]) -> SearchStrategy[bytes]:
    """Give any bytes, or a file with a few places cut, doubled or replaced."""
    place = st.integers(0, 2**16)
    edit = st.tuples(place, st.integers(0, 12), st.sampled_from(words) | st.binary(max_size=4))

    def changed(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
        for where, cut, new in edits:
            at = where % (len(data) + 1)
            data = data[:at] + new + data[at + cut :]
        return data

    files = st.builds(changed, st.sampled_from(seeds), st.lists(edit, max_size=6))
    return st.one_of(files, files, st.lists(st.sampled_from(words)).map(b"".join), st.binary())


def fuzz(read: Reader, error: type[Exception], files: SearchStrategy[bytes]) -> None:
    """Give files to a reader: it takes them, or refuses them in one line, within a second."""

    def check(data: bytes) -> None:
        gc.disable()  # To look through what other tests left is not its work.
        start = time.process_time()
        try:
            read(data)
        except error as refused:
            line = str(refused)
            assert line.isprintable(), line
            assert len(line) < 2000
        finally:
            gc.enable()
        assert time.process_time() - start < 1

    def run(examples: int, *, again: bool) -> None:
        limits = settings(
            max_examples=examples,
            derandomize=not again,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        test = limits(given(files)(check))
        if again:
            test = seed(time.time_ns())(test)
        test()

    if not SECONDS:
        run(EXAMPLES, again=False)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        run(500, again=True)


# --- readers -------------------------------------------------------------------------------------


RULES = b"{edition: su20, goal: 20, max_dice: 3}"
PARTS = b"""\
name: mine
goal: 30
zero_dice: twice_digit_gap_plus_one
swap: double
time_trot: true
extra_turn_sides: 8
"""
CONFIG = b"""\
name: trial
rules: {edition: su20, goal: 20}
solver: {name: cfr_br, iterations: 20, damping: 6e-1, seed: 0}
measure: {every: log, attack: {starts: 4, anneal_steps: 60, kicks: 0}, final_attack: {kicks: 3}}
purify: {method: integer, least: 0.1}
"""
SWEEP = b"""\
name: several
base: {name: one, rules: {edition: su20, goal: 9}, solver: &s {name: cfr, iterations: 2}}
grid: {seed: [0, 1], solver.epsilon: [0.0, 1.0e-3]}
points: [{solver.name: dcfr}, {solver: *s}]
"""
YAML_WORDS = [
    *(word + b" " for word in b"&a <<: !!int !!bool !!float !!set !!binary !!str , : ? -".split()),
    *rb"""*a [ ] { } # ' " \u 1e999 .nan -.inf 0x 0b1 0o7 1_0 1:59:59 -1 = 2020-01-01 ~ null yes
    name goal seed""".split(),
    *(b"\t", b"\n", b"  ", b"|\n ", b">\n ", b"%TAG ! x\n", b"---\n", b"...\n", b"\x1b["),
    *(b"\xef\xbb\xbf", b"\0", b"\xed\xa0\x80", b"\xc2\x85", b"9" * 400, b"x" * 300),
]


@pytest.mark.parametrize(
    ("read", "seeds"),
    [(load_rules, [RULES, PARTS]), (load_config, [CONFIG])],
    ids=["rules", "config"],
)
def test_yaml(tmp_path: Path, read: Callable[[Path], object], seeds: list[bytes]) -> None:
    path = tmp_path / "given.yaml"
    fuzz(
        lambda data: path.write_bytes(data) and read(path), ConfigError, mutated(seeds, YAML_WORDS)
    )


def test_sweeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # To compile every game that a sweep may name is no part of reading it.
    monkeypatch.setattr(sweep, "_require_sound", lambda *_: None)
    path = tmp_path / "given.yaml"
    fuzz(
        lambda data: path.write_bytes(data) and sweep.load_sweep(path),
        ConfigError,
        mutated([SWEEP, CONFIG], YAML_WORDS),
    )


def test_overrides(tmp_path: Path) -> None:
    base = {"name": "a", "rules": "su20", "solver": {"name": "cfr", "iterations": 1}}
    seeds = [b"solver.iterations=5", b"rules.goal=20", b"measure.attack={starts: 3}", b"name=a"]

    def read(data: bytes) -> None:
        config_from(apply_overrides(base, [data.decode("utf-8", "surrogateescape")]))

    fuzz(read, ConfigError, mutated(seeds, [*YAML_WORDS, b".", b"=", b"a." * 60]))


TREE = b"""\
EFG 2 R "a \\"game\\"" { "A" "B" }
"its comment"
c "" 1 "deal" { "h" 1/2 "t" 0.5 } 0
p "" 1 1 "x" { "l" "r" } 1 "fee" { 1, -1 }
t "" 2 "" { 1.5e1, -15 }
p "" 2 4 "" { "" "" } 0
t "" 2
t "" 0
p "" 1 1 0
t "" 1 "" { 1 -1 }
t "" 3 "" { -1/3, +1/3 }
"""
TREE_WORDS = [
    *(
        word + b" "
        for word in b"EFG 2 R D c p t { } , 0 1 -1 2 3 1/2 .5 0.5 1e9 1e-300 9e999".split()
    ),
    *(
        b'""',
        b'"l"',
        b'"r"',
        b'\\"',
        b"\\",
        b'"',
        b"\n",
        b"\t",
        b'{ "l" "r" }',
        b"{ 1, -1 }",
        b"1/0",
    ),
    *(
        b"\xef\xbb\xbf",
        b"\xff",
        b"\0",
        b"\x1b[",
        b"\xe2\x80\xae",
        b"9" * 400,
        b"2000000000 ",
        b"0x1",
    ),
]


def test_games_of_gambit(tmp_path: Path) -> None:
    path = tmp_path / "given.efg"
    seeds = [TREE, TREE.replace(b"\n", b" "), TREE.partition(b"p")[0] + b't "" 0 t "" 0']
    files = mutated(seeds, TREE_WORDS)
    fuzz(lambda data: path.write_bytes(data) and from_efg(path), ValueError, files)


TEXT = "\n".join(",".join(map(str, row)) for row in ROWS).encode()
KEYED = {f"({own}, {other})": ROWS[own][other] for own in range(4) for other in range(4)}
JSON_WORDS = [
    *rb"""[ ] { } , : " NaN 1e999 -Infinity null true \ud800 "1,2": figures faults table count told
    config status -1 0.5 [[[[""".split(),
    *(b" " * 50, b"9" * 400, b'"(1, 2)":', b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\0"),
]
ARRAY_WORDS = [
    *b"'<f8' '|O' '|S9' True matrix.npy policy.npy state. '<i8'".split(),
    *(b"\x93NUMPY", b"\x02\x00", b"\x03\x00", b"\x08\x00", b"\x80\x04", b"\xff" * 8, b"\0" * 8),
    *(b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"(" * 60),
    *(b"'descr': ", b"(4, 4)", b"(9, 9, 99999)", b"(-1, 4)"),
]
FILES = {
    ".csv": (
        [TEXT, TEXT.replace(b",", b" ")],
        [b",", b" ", b"\n", b"\r", b"1e5", b"-", b"+", b"\0"],
    ),
    ".txt": (
        [TEXT.replace(b",", b" ")],
        [b",", b"\t", b"\xe2\x80\xa8", b"6.0e+00", b"nan", b"9" * 40],
    ),
    ".json": ([json.dumps(ROWS).encode(), json.dumps(KEYED).encode()], JSON_WORDS),
    ".npy": (
        [saved(np.save, np.array(ROWS)), saved(np.save, np.full((4, 4, 13), 1 / 13))],
        ARRAY_WORDS,
    ),
    ".npz": (
        [
            saved(np.savez, matrix=np.array(ROWS)),
            saved(np.savez, policy=np.full((4, 4, 13), 1 / 13)),
            zipped(saved(np.save, MATRIX)),
            zipped(saved(np.save, MATRIX), method=zipfile.ZIP_BZIP2),
            saved(np.savez, weights=np.array([0.25, 0.75]), matrices=np.array([ROWS, ROWS])),
            saved(np.savez, weights=np.array([1.0]), policies=np.full((1, 4, 4, 13), 1 / 13)),
        ],
        [*ARRAY_WORDS, b"weights.npy", b"matrices.npy", b"policies.npy"],
    ),
}


@pytest.mark.parametrize("suffix", FILES)
def test_strategies(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"given{suffix}"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        inspect_submission(path, Rules(goal=GOAL, max_dice=DICE))
        read_strategy(path, GOAL, DICE)

    fuzz(read, StrategyError, mutated(*FILES[suffix]))


def test_answers_of_trusted_code() -> None:
    rolls = [b"%d" % dice for row in ROWS for dice in row]
    cells = [(own, other) for own in range(GOAL) for other in range(GOAL)]
    good = [b"ready", b'"a"', *rolls, b'f"b"', b't"open /c"', b"p", b"."]
    bad = [b"ready", b"-", *[b"!ValueError: no", b"?6.0 (float)"] * (GOAL * GOAL // 2), b"."]

    def read(data: bytes) -> None:
        heard = EntryOutput(data, len(cells))
        if heard.fault:
            raise StrategyError(heard.fault[1])
        assert heard.load_failure or len(heard.answers) == len(cells)

    seeds = [b"\n".join([*lines, b""]) for lines in (good, bad)]
    fuzz(read, StrategyError, mutated(seeds, [b"ready", b"-0", b"\n", b".", b"?", b"!", b'"']))


GAME = {
    "format": "hogeq transcript",
    "version": 1,
    "rules": {"edition": "su21", "goal": 12, "zero_dice": [9] * 12},
    "seed": 3,
    "players": ["Ann", "Bob"],
    "turns": [
        {"player": 1, "before": [0, 0], "roll": 0, "dice": [], "points": 9}
        | {"fired": ["Time Trot"], "after": [0, 9]},
        {"player": 1, "before": [0, 9], "roll": 2, "dice": [8, 1], "points": 1}
        | {"fired": [], "after": [0, 10]},
    ],
    "winner": None,
}


def test_transcripts() -> None:
    words = [*JSON_WORDS, b'"fired"', b'"fa25"', b'"turns"', b"[0, 9]", b"su20", b"[9, 9]", b"{}"]
    read = partial(parse_transcript, source="given.json")
    assert len(read(json.dumps(GAME).encode()).turns) == 2
    fuzz(read, TranscriptError, mutated([json.dumps(GAME).encode()], words))


LINE = Metrics(1, 0.5, 0.6, 0.7, float("nan"), 0.1, 0.6)


def test_checkpoints(tmp_path: Path) -> None:
    state: dict[str, Any] = {"regrets": np.zeros((4, 4, 3)), "iteration": np.int64(1)}
    checkpoint = Checkpoint("cfr", "f" * 64, 1, 0.5, 0.6, (LINE,), state)
    write_checkpoint(tmp_path / "checkpoint.npz", checkpoint)
    good = (tmp_path / "checkpoint.npz").read_bytes()

    def read(data: bytes) -> None:
        (tmp_path / "checkpoint.npz").write_bytes(data)
        read_checkpoint(tmp_path / "checkpoint.npz", "cfr", "f" * 64, state)

    fuzz(read, ResultsError, mutated([good], ARRAY_WORDS))


MANIFEST = {
    "status": "complete",
    "iterations": 3,
    "solver_seconds": 0.5,
    "started": "2026-01-01",
    "figures": {"average_policy": {"attack": 0.6, "bound": 0.7}, "matrix": {"attack": 0.6}},
    "environment": {"hogeq": "1", "git": {"commit": "a"}},
    "config": {"name": "a", "rules": {"edition": "su20"}, "solver": {"name": "cfr"}},
}
METRICS = f"{','.join(COLUMNS)}\n1,0.5,0.6,0.7,nan,0.1,0.6\n".encode()


@pytest.mark.parametrize("name", ["manifest.json", "config.yaml", "metrics.csv"])
def test_run_directories(tmp_path: Path, name: str) -> None:
    files = {
        "manifest.json": json.dumps(MANIFEST).encode(),
        "config.yaml": CONFIG,
        "metrics.csv": METRICS,
    }
    if name == "metrics.csv":  # read where the manifest has no figures
        files["manifest.json"] = b'{"status": "running"}'
    if name == "manifest.json":
        del files["config.yaml"]
    for file, data in files.items():
        (tmp_path / file).write_bytes(data)

    def read(data: bytes) -> None:
        (tmp_path / name).write_bytes(data)
        with refusing():
            found, broken = index.find_runs(tmp_path)
        json.dumps([run.to_json() for run in index.sort_runs(found, "attack")], allow_nan=False)
        index.differing_keys([*found, *found])
        index.select_runs(found, where=[("solver.name", "cfr")])
        assert len(found) + len(broken) == 1
        assert all(why.isprintable() for why in broken.values())

    words = {"manifest.json": JSON_WORDS, "config.yaml": YAML_WORDS}
    fuzz(read, HogeqError, mutated([files[name]], words.get(name, [b",", b"1e999", b"nan", b'"'])))


def test_a_checkpoint_of_fewer_than_no_iterations(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.npz"
    write_checkpoint(path, Checkpoint("cfr", "f" * 64, -1, 0.5, 0.6, (), {}))
    with pytest.raises(ResultsError, match=r"not a whole checkpoint: iteration is -1; allowed: 0 "):
        read_checkpoint(path, "cfr", "f" * 64, {})
