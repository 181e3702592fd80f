"""Kernels written by Python."""

import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from hogeq.kernels.program import Program
from hogeq.kernels.vectors import entry_sums, exponential


class Shape(NamedTuple):
    parts: int


def write_sums(code: Any, constants: Shape, args: Any) -> None:
    with code.loop(0, args.count) as row:
        start = row * (constants.parts * code.width)
        (total,) = entry_sums([args.numbers.vector(start, constants.parts)])
        args.out.put_number(row, total)


def write_exponential(_: Any, constants: Shape, args: Any) -> None:
    args.out.put(0, exponential(args.numbers.vector(0, constants.parts)))


def test_exponential_of_numbers_up_to_0() -> None:
    powers = -np.abs(np.random.default_rng(0).normal(0, 200, 64))
    powers[:3] = 0.0, -1e30, -707.9
    out = np.zeros(64)
    Program(write_exponential, Shape(8))(numbers=powers, out=out)
    assert np.allclose(out, np.exp(powers), rtol=4e-16, atol=1e-300)


def test_programs_that_differ_in_a_constant_are_different_kernels() -> None:
    kinds = [
        Program(write, Shape(parts), dtype, width).kind(names)
        for names in (("numbers", "out"), ("out", "numbers"))
        for write in (write_sums, write_exponential)
        for parts in (1, 2)
        for dtype, width in ((np.float64, 8), (np.float64, 16), (np.float32, 16))
    ]
    assert len(set(kinds)) == len(kinds)
    assert Program(write_sums, Shape(1)).kind(("numbers", "out")) == kinds[0]


@pytest.mark.slow
def test_a_program_is_compiled_once_for_all_processes(tmp_path: Path) -> None:
    """The second process reads what the first has compiled."""
    call = (
        "import numpy as np, test_program as t; from hogeq.kernels.program import Program, run; "
        "out = np.zeros(1); "
        "Program(t.write_sums, t.Shape(1))(count=1, numbers=np.ones(8), out=out); "
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
