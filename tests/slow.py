"""Parameters that stand for all the others in `make test`; the others are for `make test-slow`."""

from collections.abc import Iterable, Sequence
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


def few_and_many(few: Sequence[Any], many: Sequence[Any]) -> list[Any]:
    """Give numbers of random cases as parameters: few are fast; many, those with them, are slow."""
    slow = [number if isinstance(number, tuple) else (number,) for number in many]
    return [*few, *(pytest.param(*numbers, marks=pytest.mark.slow) for numbers in slow)]


def one_in(step: int, cases: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Give cases, each of several arguments, as parameters: one in so many is fast."""
    return [
        pytest.param(*case, marks=pytest.mark.slow if number % step else [])
        for number, case in enumerate(cases)
    ]
