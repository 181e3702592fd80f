"""Kernels written by Python."""

import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from hogeq.kernels.program import Program
from hogeq.kernels.recurrence import best_row, softened_row
from hogeq.kernels.vectors import exponential, sums, transposed


class Shape(NamedTuple):
    parts: int


def write_sums(code: Any, constants: Shape, count: Any, numbers: Any, out: Any) -> None:
    with code.loop(0, count) as row:
        start = row * (constants.parts * code.width)
        (total,) = sums([numbers.vector(start, constants.parts)])
        out.put_number(row, total)


def write_transposed(code: Any, constants: Shape, numbers: Any, out: Any) -> None:
    size = constants.parts * code.width
    rows = [numbers.vector(x * size, constants.parts) for x in range(size)]
    for x, row in enumerate(transposed(rows)):
        out.put(x * size, row)


def write_exponential(code: Any, constants: Shape, numbers: Any, out: Any) -> None:
    out.put(0, exponential(numbers.vector(0, constants.parts)))


def write_rows(
    code: Any,
    constants: Shape,
    temperature: Any,
    values: Any,
    row: Any,
    best: Any,
    changed: Any,
    soft: Any,
) -> None:
    old = [row.vector(x * code.width) for x in range(constants.parts)]
    found = [values.vector(x * code.width) for x in range(constants.parts)]
    rolls, is_new = best_row(code, found, old, code.vector(1e-12))
    for x, roll in enumerate(rolls):
        best.put(x * code.width, roll)
    changed.put(0, is_new)
    weight = code.vector(temperature)
    for x, roll in enumerate(softened_row(code, found, old, weight, code.vector(0.5))):
        soft.put(x * code.width, roll)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("parts", [1, 3])
def test_sums_of_rows_and_rows_turned_to_columns(dtype: type[np.floating], parts: int) -> None:
    width = 64 // np.dtype(dtype).itemsize
    numbers = np.random.default_rng(parts).random((parts * width,) * 2).astype(dtype)
    out = np.zeros(len(numbers), dtype)
    Program(write_sums, Shape(parts), dtype)((len(out),), (numbers, out))
    assert np.allclose(out, numbers.sum(axis=1), rtol=1e-6 if dtype == np.float32 else 1e-14)
    turned = np.zeros_like(numbers)
    Program(write_transposed, Shape(parts), dtype)((), (numbers, turned))
    assert (turned == numbers.T).all()


def test_exponential_of_numbers_up_to_0() -> None:
    powers = -np.abs(np.random.default_rng(0).normal(0, 200, 64))
    powers[:3] = 0.0, -1e30, -707.9
    out = np.zeros(64)
    Program(write_exponential, Shape(8))((), (powers, out))
    assert np.allclose(out, np.exp(powers), rtol=4e-16, atol=1e-300)


def test_best_and_softened_rows_of_several_cells_at_once() -> None:
    random = np.random.default_rng(1)
    values = random.random((3, 8))
    row = np.eye(3)[random.integers(3, size=8)].T.copy()
    row[:, 0] = 1 / 3
    values[:, 1] = 0.5  # all as good: the one that is played stays
    best, soft, changed = np.zeros((3, 8)), np.zeros((3, 8)), np.zeros(8)
    Program(write_rows, Shape(3))((0.1,), (values, row, best, changed, soft))
    expected = np.eye(3)[values.argmax(axis=0)].T
    expected[:, 1] = row[:, 1]
    assert (best == expected).all()
    assert (changed == (best != row).any(axis=0)).all()
    shares = np.exp((values - values.max(axis=0)) / 0.1)
    assert np.allclose(soft, (row + shares / shares.sum(axis=0)) / 2, atol=1e-14)


def test_programs_that_differ_in_a_constant_are_different_kernels() -> None:
    kinds = [
        Program(write, Shape(parts), dtype, width)._numba_type_
        for write in (write_sums, write_exponential)
        for parts in (1, 2)
        for dtype, width in ((np.float64, 8), (np.float64, 16), (np.float32, 16))
    ]
    assert len(set(kinds)) == len(kinds)
    assert Program(write_sums, Shape(1))._numba_type_ == kinds[0]


def test_a_program_is_compiled_once_for_all_processes(tmp_path: Path) -> None:
    """The second process reads what the first has compiled."""
    call = (
        "import numpy as np, test_program as t; from hogeq.kernels.program import Program, run; "
        "out = np.zeros(1); "
        "Program(t.write_sums, t.Shape(1))((1,), (np.ones(8), out)); "
        "print(out[0], sum(run.stats.cache_misses.values()))"
    )
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    said = [
        subprocess.run(  # noqa: S603 - ourselves
            [sys.executable, "-c", call],
            env=environment,
            cwd="tests/kernels",
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert said == [["8.0", "1"], ["8.0", "0"]]
