"""How a run begins: the first state of its solver, and the files that are read for it."""

import dataclasses
from hashlib import sha256
from pathlib import Path
from typing import Any

from hogeq.model.game import HogEngine
from hogeq.solvers import Solver
from hogeq.support.messages import raised, shown
from hogeq.support.plugins import is_ours, named


def first_state(name: str, solver: Solver[Any], game: HogEngine) -> Any:
    """Call a solver's ``init``.

    Raises
    ------
    ValueError
        One of hogeq's own refuses the game; or any other fails, or gives no state.
    """
    try:
        state = solver.init(game)
    except Exception as error:
        if is_ours(solver):
            raise
        where = named(f"solver {name}", solver)
        raise ValueError(f"{where}: its init raised {raised(error)}") from error
    if not hasattr(state, "_asdict"):
        given = f"{named(f'solver {name}', solver)}: its init gave {shown(state)}"
        raise ValueError(f"{given}; allowed: a named tuple of arrays")
    return state


def without_files(solver: Solver[Any]) -> Solver[Any]:
    """Give the same solver, beginning with no file: its states have the same arrays."""
    changed: Any = solver
    return dataclasses.replace(changed, **dict.fromkeys(solver.FILES, ""))


def files_read(solver: Solver[Any]) -> list[dict[str, str]]:
    """Describe the files that a solver begins with for a manifest: the key, the path and a hash.

    Raises
    ------
    OSError
    """
    given = [(name, getattr(solver, name)) for name in sorted(solver.FILES)]
    return [
        {"key": name, "file": file, "sha256": sha256(Path(file).read_bytes()).hexdigest()}
        for name, file in given
        if file
    ]
