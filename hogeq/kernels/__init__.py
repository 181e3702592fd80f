"""Every compiled loop: arrays in, arrays out, nothing of Hog.

numba reads `.numba_config.yaml` of the current folder, whosever that is, and in it the folder of
compiled code, which runs as the user. Here it is told of no such file: settings come from the
environment alone.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

_SETTINGS = ".numba_config.yaml"

if os.path.lexists(_SETTINGS) and "numba" not in sys.modules:
    _yaml = {"yaml": sys.modules.get("yaml")}
    sys.modules["yaml"] = None  # type: ignore[assignment]  # without which numba reads no file
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*config.*")
            import numba  # noqa: F401
    finally:
        del sys.modules["yaml"]
        sys.modules.update({name: one for name, one in _yaml.items() if one is not None})

TIE = 1e-12  # win probabilities that differ by less are equal: so much is rounding in double
LEAST_WEIGHT = 1e-38  # of reach times temperature: its inverse is finite in single precision too

expected: list[Callable[[], Iterable[Any]]] = []
"""At most one function: it lists kernels that are missing, and will be needed soon."""
