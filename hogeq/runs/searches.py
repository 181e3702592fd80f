"""A search for a matrix that is saved after every round, and goes on from there."""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hogeq.model.game import HogEngine
from hogeq.purification.base import SearchPurifier, State
from hogeq.runs.files import ResultsError, replacing
from hogeq.support.parameters import plain


def saved_rounds(
    game: HogEngine, search: SearchPurifier[State], strategy: NDArray[Any], path: Path
) -> Iterator[State]:
    """Do the rounds that are left, with the same bits as if they had never been interrupted."""
    made_by = _fingerprint(game, search, strategy)
    state = _read(path, made_by, search.STATE) if path.exists() else search.init(game, strategy)
    yield state
    for later in search.rounds_from(game, state):
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, made_by=np.str_(made_by), **later._asdict())
        yield later


def _fingerprint(game: HogEngine, search: SearchPurifier[State], strategy: NDArray[Any]) -> str:
    """Hash what the state of a search depends on, the number of rounds left out."""
    parameters = plain(search)
    del parameters["rounds"]
    table = hashlib.sha256(np.ascontiguousarray(strategy).data).hexdigest()
    text = json.dumps([plain(game.rules), parameters, strategy.dtype.str, table], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path, made_by: str, kind: Any) -> Any:
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            found = {name: arrays[name] for name in ("made_by", *kind._fields)}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise ResultsError(f"{path} is not the checkpoint of a search: {error}") from error
    if str(found.pop("made_by")) != made_by:
        raise ResultsError(
            f"{path} is of another search; allowed: one of this strategy by these rules and "
            "parameters, rounds aside"
        )
    return kind(**found)
