import json
import os
import pickle
import shlex
import stat
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.strategies.arrays import MOST_PARTS, StrategyError
from hogeq.strategies.conversion import policy_of, strategy_of_shape
from hogeq.strategies.files import read_strategy
from hogeq.strategies.strategy import Mixture
from hogeq.support.kinds import SUFFIXES
from tests.strategies.strategy_files import (
    DICE,
    GOAL,
    MATRIX,
    ROWS,
    file,
    in_one_folder,
    refused,
    saved,
    zipped,
)

Bad = list[tuple[str | bytes, str]]
"""Content of a file, and the line that refuses it."""

# --- text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "0,1,2,3\n4,5,6,7\n8,9,10,11\n12,0,0,1",
        "0, 1, 2, 3\r\n4, 5, 6, 7\r\n8, 9, 10, 11\r\n12, 0, 0, 1\r\n\r\n",
        "0 1 2 3\n4 5 6 7\n8\t9  10 11\n 12 0 0 1 \n",
        "\ufeff0,1,2,3\n4,5,6,7\n8,9,10,11\n12,0,0,+1",
    ],
)
@pytest.mark.parametrize("name", ["m.csv", "m.txt", "m.CSV"])
def test_tables_of_text(tmp_path: Path, content: str, name: str) -> None:
    assert read_strategy(file(tmp_path, name, content), GOAL, DICE).array.tolist() == ROWS


def test_what_numpy_writes_by_default_is_read(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "m.txt", MATRIX.astype(float))
    assert read_strategy(tmp_path / "m.txt", GOAL, DICE).array.tolist() == ROWS


BAD_TEXT: Bad = [
    ("", r"cell \(row 0, column 0\) is missing"),
    ("0,1,2,3\n4,5,6,7\n8,9,10,11\n", r"cell \(row 3, column 0\) is missing"),
    ("0,1,2,3\n4,5,6\n8,9,99,11\n", r"cell \(row 1, column 3\) is missing"),
    ("0,1,2,3\n4,5,6,7,8\n8,9,99,11\n", r"cell \(row 1, column 4\) is one too many"),
    ("0,1,2,3\n0,1,2,13\n", r"cell \(row 1, column 3\) is 13; .* 0 to 12"),
    ("0,1,nan,3\n", r"cell \(row 0, column 2\) is 'nan'"),
    ("0,1,1_0,3\n", r"cell \(row 0, column 2\) is '1_0'"),
    ("0,1,\u0662,3\n", r"cell \(row 0, column 2\) is '\\u0662'"),
    ("0,1,1e400,3\n", r"cell \(row 0, column 2\) is "),
    ("0,1,1.0e400,3\n", r"cell \(row 0, column 2\) is inf"),
    ("0,1,,3\n", r"cell \(row 0, column 2\) is ''"),
    ("0;1;x;3\n", r"cell \(row 0, column 2\) is 'x'"),
    ("0,1," + "9" * 100_000, r"cell \(row 0, column 2\) is '999"),
    (b"\xff\xfe0\x00", "is not UTF-8 text at byte 0"),
    (b"0,1,\x00,3", r"cell \(row 0, column 2\) is '\\x00'"),
]


# --- JSON -----------------------------------------------------------------------------------------

ENTRIES = {(row, column): ROWS[row][column] for row in range(GOAL) for column in range(GOAL)}


@pytest.mark.parametrize(
    "content",
    [
        ROWS,
        [[float(cell) for cell in row] for row in ROWS],
        {f"{s},{o}": dice for (s, o), dice in ENTRIES.items()},
        {str((s, o)): dice for (s, o), dice in reversed(ENTRIES.items())},
        {str([s, o]): dice for (s, o), dice in ENTRIES.items()},
        {f"{s} {o}": dice for (s, o), dice in ENTRIES.items()},
    ],
)
def test_forms_of_json(tmp_path: Path, content: object) -> None:
    path = file(tmp_path, "m.json", json.dumps(content))
    assert read_strategy(path, GOAL, DICE).array.tolist() == ROWS


FULL = json.dumps({f"{s},{o}": dice for (s, o), dice in ENTRIES.items()})


BAD_JSON: Bad = [
    ("", "is not JSON"),
    ("[" * 100_000, "is not JSON: nested too deeply"),
    ("[[" + "9" * 5000 + "]]", "is not JSON"),
    ("6", "is 6; allowed:"),
    ("null", "is None; allowed:"),
    ("[]", r"cell \(row 0, column 0\) is missing"),
    ('["0123"]', "row 0 is '0123'"),
    ("[[0, true]]", r"cell \(row 0, column 1\) is True"),
    ("[[0, NaN]]", r"cell \(row 0, column 1\) is nan"),
    ("[[0, 1e999]]", r"cell \(row 0, column 1\) is inf"),
    ("[[0, 10000000000000000000000]]", r"cell \(row 0, column 1\) is 1000"),
    ("{}", r"cell \(row 0, column 0\) is missing"),
    (FULL.replace('"1,2": 6, ', ""), r"cell \(row 1, column 2\) is missing"),
    (FULL.replace('"1,2": 6', '"1,2": {}'), r"cell \(row 1, column 2\) is \{\}"),
    (FULL.replace('"1,2"', '"1,1"'), "key '1,1' stands twice"),
    (FULL.replace('"1,2"', '"(1, 1)"'), r"cell \(row 1, column 1\) stands twice"),
    (FULL.replace('"1,2"', '"1,5"'), "key '1,5'; allowed: two scores from 0 to 3"),
    (FULL.replace('"1,2"', '"-1,2"'), "key '-1,2'; allowed"),
    (FULL.replace('"1,2"', '"12"'), "key '12'; allowed"),
]


# --- arrays ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["<i8", ">i4", "|u1", "<f8", ">f4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_number_type_and_order(tmp_path: Path, dtype: str, order: Any) -> None:
    array = np.array(ROWS, dtype, order=order)
    for path in [
        file(tmp_path, "m.npy", saved(np.save, array)),
        file(tmp_path, "m.npz", saved(np.savez, matrix=array, other=np.arange(3))),
    ]:
        assert read_strategy(path, GOAL, DICE).array.tolist() == ROWS


def with_header(header: bytes, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    size = struct.pack("<H" if version == b"\x01\x00" else "<I", len(header))
    return b"\x93NUMPY" + version + size + header + body


HUGE = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"


BAD_NPY: Bad = [
    (b"", "is not an array"),
    (b"0,1,2,3", r"cell \(row 1, column 0\) is missing"),  # it is text
    (b"rolls", "is not an array"),
    (saved(np.save, MATRIX)[:-1], "ends before its array"),
    (saved(np.save, MATRIX[0]), r"has shape \(4,\)"),
    (saved(np.save, MATRIX == 1), r"holds values of type '\|b1'"),
    (saved(np.save, MATRIX.astype("U2")), "holds values of type '<U2'"),
    (saved(np.save, MATRIX.astype(complex)), "holds values of type '<c16'"),
    (saved(np.save, MATRIX.astype(object), allow_pickle=True), r"of type '\|O'"),
    (saved(np.save, np.zeros((4, 4, 12))), r"has shape \(4, 4, 12\); allowed: \(4, 4, 13\)"),
    (with_header(HUGE), r"has shape \(1000000, 1000000\)"),
    (with_header(HUGE, version=b"\x02\x00"), r"has shape \(1000000, 1000000\)"),
    (with_header(b"__import__('os').abort()"), "is not an array"),
    (with_header(b"(" * 60_000), "is not an array"),
    (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "is not an array"),
    (pickle.dumps(ROWS), "pickles are refused"),
]


def encrypted(data: bytes) -> bytes:
    # Bit 0 of the flags, in both headers.
    central = data.index(b"PK\x01\x02")
    flagged = bytearray(data)
    flagged[6] |= 1
    flagged[central + 8] |= 1
    return bytes(flagged)


BAD_NPZ: Bad = [
    (b"", r"is not an \.npz file"),
    (b"PK\x03\x04" + b"\x00" * 100, r"is not an \.npz file"),
    (saved(np.savez), "holds no array; allowed: `matrix` or `policy`, or"),
    (saved(np.savez, table=MATRIX[0]), r"has shape \(4,\)"),
    (saved(np.savez, a=MATRIX, b=MATRIX), r"holds \['a', 'b'\]; allowed"),
    (saved(np.savez, matrix=MATRIX, policy=MATRIX), r"holds \['matrix', 'policy'\]; allowed"),
    (saved(np.savez, policy=MATRIX[:3]), r"cell \(row 3, column 0\) is missing"),
    (zipped(b"matrix"), "is not an array"),
    (zipped(saved(np.save, MATRIX), method=zipfile.ZIP_LZMA), "is not compressed as numpy"),
    (encrypted(zipped(saved(np.save, MATRIX))), r"is not an \.npz file: .* encrypted$"),
    (zipped(with_header(HUGE)), r"has shape \(1000000, 1000000\)"),
    (saved(np.savez, matrix=MATRIX.astype(object), allow_pickle=True), r"of type '\|O'"),
    (pickle.dumps(ROWS), "pickles are refused"),
]


BAD = {"m.csv": BAD_TEXT, "m.json": BAD_JSON, "m.npy": BAD_NPY, "m.npz": BAD_NPZ}


@pytest.mark.parametrize(
    ("name", "content", "says"), [(name, *row) for name, rows in BAD.items() for row in rows]
)
def test_bad_files_are_refused(tmp_path: Path, name: str, content: str | bytes, says: str) -> None:
    line = refused(file(tmp_path, name, content), says)
    assert line.startswith(str(tmp_path))
    assert name != "m.csv" or len(line) < len(str(tmp_path)) + 200


@pytest.mark.parametrize("arrays", [{"strategy": MATRIX}, {"rolls": MATRIX, "x": np.arange(3)}])
def test_the_one_table_of_any_name_is_read(tmp_path: Path, arrays: dict[str, Any]) -> None:
    path = file(tmp_path, "m.npz", saved(np.savez, **arrays))
    assert read_strategy(path, GOAL, DICE).array.tolist() == ROWS


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    # 50 MB of zeros behind an honest header: only the matrix itself is taken out.
    bomb = zipped(saved(np.save, MATRIX) + bytes(50_000_000))
    assert len(bomb) < 1_000_000
    path = file(tmp_path, "m.npz", bomb)
    tracemalloc.start()
    try:
        assert read_strategy(path, GOAL, DICE).array.tolist() == ROWS
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000


# --- arbitrary bytes ------------------------------------------------------------------------------


@pytest.mark.slow
@settings(in_one_folder, max_examples=30)
@example("a\x00b")
@example(".csv")
@example("\udcff.csv")
@given(st.text())
def test_any_name_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(StrategyError) as caught:
        read_strategy(f"{tmp_path}/{name}".replace("\ud800", ""), GOAL, DICE)
    assert "\n" not in str(caught.value)


# --- files ----------------------------------------------------------------------------------------


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        refused(tmp_path / f"m{suffix}", "cannot be read: No such file", trust=True)
        (tmp_path / f"d{suffix}").mkdir()
        refused(tmp_path / f"d{suffix}", "is not a file", trust=True)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.csv")
    assert stat.S_ISFIFO((tmp_path / "m.csv").stat().st_mode)
    refused(tmp_path / "m.csv", "is not a file")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_huge_file_is_not_opened(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"m{suffix}"
    with path.open("wb") as stream:
        stream.truncate(2**40)  # sparse
    refused(path, "has 1099511627776 bytes; allowed:", trust=True)


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return (exec, ("raise SystemExit('a pickle was opened')",))


@pytest.mark.parametrize("name", ["mat.pickle", "mat.pkl", "mat.p", "mat.PKL", "m.npy", "m.npz"])
def test_pickles_are_refused_unopened(tmp_path: Path, name: str) -> None:
    path = file(tmp_path, name, pickle.dumps(Bomb()))
    with pytest.raises(SystemExit):
        pickle.loads(path.read_bytes())  # noqa: S301 - our own
    refused(path, "pickles are refused", trust=True)


CELLS = {(own, other): dice for own, row in enumerate(ROWS) for other, dice in enumerate(row)}


@pytest.mark.parametrize("kept", [MATRIX, ROWS, CELLS, dict(enumerate(ROWS)), tuple(MATRIX)])
def test_the_line_that_refuses_a_pickle_converts_it(tmp_path: Path, kept: Any) -> None:
    path = file(tmp_path, "it's mine.pickle", pickle.dumps(kept))
    line = refused(path, "convert one")
    command = shlex.split(line.partition("that you trust by: ")[2])
    assert command[:2] == ["python3", "-c"]
    subprocess.run([sys.executable, *command[1:]], check=True)  # noqa: S603 - our own advice
    assert read_strategy(tmp_path / "it's mine.json", GOAL, DICE).array.tolist() == ROWS


# --- mixtures -------------------------------------------------------------------------------------

POLICY = np.full((GOAL, GOAL, DICE + 1), 1.0 / (DICE + 1))
TWO = np.stack([MATRIX, MATRIX.T])


def test_parts_are_copied_and_of_one_kind() -> None:
    mixture = strategy_of_shape(None, Mixture([0.25, 0.75], [MATRIX, POLICY]))
    assert mixture.array.dtype == np.float64
    assert mixture.array[0].argmax(axis=2).tolist() == MATRIX.tolist()
    assert not np.shares_memory(mixture.array, POLICY)
    assert strategy_of_shape(None, Mixture([1.0], [MATRIX.tolist()])).array.dtype == np.int8
    drawn = strategy_of_shape((GOAL, GOAL, DICE + 1), Mixture([0.0, 1.0], TWO))
    assert [weight for weight, _ in drawn.drawn()] == [1.0]
    assert np.asarray(drawn).dtype == drawn.array.dtype == np.int8
    assert np.asarray(drawn, np.float32).dtype == np.float32


@pytest.mark.parametrize(
    ("weights", "parts", "says"),
    [
        ([0.5, 0.4], TWO, "weights sum to 0.9; allowed: 1 within"),
        ([1.5, -0.5], TWO, "weight of part 1 is 1.5; allowed: 0 to 1"),
        ([np.nan, 1.0], TWO, "weight of part 1 is nan"),
        ([1.0], TWO, "1 weights and 2 parts"),
        ([], [], "0 weights and 0 parts"),
        ([[1.0]], [MATRIX], r"of shape \(1, 1\); allowed: numbers, \(n,\)"),
        (["a", "b"], TWO, "weights are <U1"),
        ([[1.0], [0.5, 0.5]], TWO, "weights"),
        ([0.5, 0.5], [MATRIX, MATRIX[:3]], r"part 2: cell \(row 3, column 0\) is missing"),
        ([0.5, 0.5], [MATRIX, np.full((4, 4), 200)], "part 2: cell .* is 200"),
        ([0.5, 0.5], [POLICY, POLICY / 2], r"part 2: .* sum to 0\.[45]"),
        ([0.5, 0.5], [POLICY, POLICY[:, :, :3]], "part 2: has shape"),
        ([0.5, 0.5], [POLICY[:, :, :12] * 13 / 12, MATRIX], "part 2: cell .* is 12"),
        ([1.0], [np.ones(4)], r"part 1: has shape \(4,\); allowed: 4 rows"),
        ([1.0], [np.zeros((0, 0))], "part 1: has no cells; allowed"),
        ([0.5, 0.5], [MATRIX, [[1, 2], [3]]], "part 2: rows differ in length; allowed"),
        ([1.0], None, "^mixture: got None; allowed: a list of parts"),
        ([1.0], 5, "^mixture: got 5; allowed: a list of parts"),
        (
            np.array([0.1, 0.2, 0.7], np.float32),
            [MATRIX] * 3,
            "float32 is too coarse: give it as float64",
        ),
        ([1.0 / 1001] * 1001, [MATRIX] * 1001, f"1 to {MOST_PARTS}"),
    ],
)
def test_what_is_no_mixture(weights: Any, parts: Any, says: str) -> None:
    with pytest.raises(StrategyError, match=says):
        strategy_of_shape(None, Mixture(weights, parts))


def test_a_mixture_is_no_table() -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": GOAL, "max_dice": DICE}))
    with pytest.raises(StrategyError, match="is a mixture of 2 strategies"):
        policy_of(game, Mixture([0.5, 0.5], TWO))


@pytest.mark.parametrize("parts", [TWO, np.stack([POLICY, POLICY])])
def test_written_and_read_it_is_the_same(tmp_path: Path, parts: Any) -> None:
    path = tmp_path / "drawn.npz"
    mixture = strategy_of_shape(None, Mixture([1 / 3, 2 / 3], parts))
    mixture.write(path)
    again = read_strategy(path, GOAL, DICE)
    assert again.kind == "mixture"
    assert again.weights.tobytes() == mixture.weights.tobytes()
    assert again.array.tobytes() == mixture.array.tobytes()
    with pytest.raises(StrategyError, match=r"^mine: is a mixture of 2 strategies, .* --part 1"):
        again.unmixed("mine")


def test_what_cannot_be_written(tmp_path: Path) -> None:
    mixture = Mixture([0.5, 0.5], TWO)
    with pytest.raises(StrategyError, match=r"written to .npz, not .npy"):
        strategy_of_shape(None, mixture).write(tmp_path / "drawn.npy")
    assert not list(tmp_path.iterdir())


FILES: list[tuple[dict[str, Any], str]] = [
    ({"weights": [1.0]}, r"holds \['weights'\]; allowed: `matrix` or `policy`, or for a"),
    ({"matrices": TWO}, r"holds \['matrices'\]; allowed"),
    ({"weights": [1.0], "matrix": MATRIX}, r"holds \['weights', 'matrix'\]; allowed"),
    (
        {"weights": [1.0], "matrices": [MATRIX], "policies": [POLICY]},
        r"holds \['weights', 'matrices', 'policies'\]; allowed",
    ),
    ({"weights": [[1.0]], "matrices": [MATRIX]}, r"weights are float64 of shape \(1, 1\)"),
    ({"weights": ["a"], "matrices": [MATRIX]}, "weights: holds values of type"),
    ({"weights": [1.0], "matrices": MATRIX}, r"has 1 weights and 4 parts; allowed: as many"),
    ({"weights": [1.0], "matrices": [MATRIX[:, :3]]}, "part 1: cell .row 0, column 3. is missing"),
    ({"weights": [1.0], "matrices": np.zeros((1, 4, 4, 0))}, "part 1: has shape"),
    ({"weights": [], "matrices": np.zeros((0, 4, 4))}, "0 weights and 0 parts"),
]


@pytest.mark.parametrize(("arrays", "says"), FILES)
def test_files_that_hold_none(tmp_path: Path, arrays: dict[str, Any], says: str) -> None:
    refused(file(tmp_path, "drawn.npz", saved(np.savez, **arrays)), says)


def test_small_files_do_not_become_large_arrays(tmp_path: Path) -> None:
    # 32 million halves are 64 MB in the file's type, and would be 256 MB of policies.
    header = (
        b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f2', 'fortran_order': False, "
        b"'shape': (1000, 4, 4, 2000), }"
    )
    path = tmp_path / "drawn.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("policies.npy", header.ljust(128) + b"\0" * 2**26)
        archive.writestr("weights.npy", saved(np.save, np.full(1000, 1e-3)))
    refused(path, r"has shape \(1000, 4, 4, 2000\)")
