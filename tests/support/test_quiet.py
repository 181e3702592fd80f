"""Silence of compiled libraries."""

import os

import pytest

from hogeq.support.quiet import quiet


def test_what_is_written_below_python_is_dropped(capfd: pytest.CaptureFixture[str]) -> None:
    os.write(1, b"before\n")
    with quiet():
        os.write(1, b"a line of a compiled library\n")
    os.write(1, b"after\n")
    assert capfd.readouterr().out == "before\nafter\n"


def test_output_comes_back_after_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="no"), quiet():
        raise ValueError("no")
    os.write(1, b"heard\n")
    assert capfd.readouterr().out == "heard\n"
