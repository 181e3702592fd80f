"""Refusals: bad input ends in an error whose text is one line."""

import re
from collections.abc import Callable

import pytest


def refuses(call: Callable[[], object], line: str, kind: type[Exception] = ValueError) -> str:
    """Call, and give the one line that refuses; a regular expression is found in it."""
    with pytest.raises(kind, match=line) as refusal:
        call()
    said = str(refusal.value)
    assert not re.search(r"[\n\r]", said)
    return said
