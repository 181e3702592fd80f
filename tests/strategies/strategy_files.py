"""A small strategy, and files of it."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.files import read_strategy

GOAL, DICE = 4, 12
ROWS = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 0, 0, 1]]
MATRIX = np.array(ROWS, np.int8)

# The fixture's folder serves all examples; each writes its file anew.
in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def refused(path: Path, says: str, **options: Any) -> str:
    with pytest.raises(StrategyError, match=says) as caught:
        read_strategy(path, GOAL, DICE, **options)
    line = str(caught.value)
    assert "\n" not in line
    return line


def file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def saved(write: Callable[..., None], *arrays: Any, **named: Any) -> bytes:
    stream = io.BytesIO()
    write(stream, *arrays, **named)
    return stream.getvalue()


def zipped(content: bytes, name: str = "matrix.npy", method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr(name, content)
    return stream.getvalue()
