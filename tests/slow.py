"""Parameters that stand for all the others in `make test`; the others are for `make test-slow`."""

from collections.abc import Iterable
from typing import Any

import pytest

# Editions that differ in kind: without memory, with feral hogs and a time trot, with extra turns,
# with dice that are exchanged.
FEW_EDITIONS = "fa22", "su20", "su21", "fa13"


def mostly_slow(values: Iterable[Any], *fast: Any) -> list[Any]:
    """Give all values as parameters, and mark those slow that are not among the fast ones."""
    every = list(values)
    assert all(value in every for value in fast), fast
    return [
        value if value in fast else pytest.param(value, marks=pytest.mark.slow) for value in every
    ]


def fast_and_slow(fast: Iterable[Any], slow: Iterable[Any]) -> list[Any]:
    """Give the fast parameters, then the slow ones; a tuple is a case of several arguments."""
    cases = [case if isinstance(case, tuple) else (case,) for case in slow]
    return [*fast, *(pytest.param(*case, marks=pytest.mark.slow) for case in cases)]


def one_in(step: int, cases: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Give cases, each of several arguments, as parameters: one in so many is fast."""
    return [
        pytest.param(*case, marks=pytest.mark.slow if number % step else [])
        for number, case in enumerate(cases)
    ]
