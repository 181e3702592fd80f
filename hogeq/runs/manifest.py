"""`manifest.json`, which says what made a run and what came of it."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hogeq.runs.errors import ResultsError, reported
from hogeq.runs.filenames import CONFIG, MANIFEST
from hogeq.support.files import read_whole

MAX_BYTES: Final = 1 << 20
"""Size of the largest manifest read; a run writes some thousand."""

MAX_DEPTH: Final = 50
"""Most lists and mappings within each other."""


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """Write a manifest as JSON; NaN and infinities become null."""
    return json.dumps(finite(manifest), indent=2, allow_nan=False) + "\n"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run directory.

    Raises
    ------
    ResultsError
        It cannot be read, or is not a JSON object.
    """
    path = folder / MANIFEST
    with reported(path, "read"):
        data = read_whole(path, MAX_BYTES)
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"{path} is truncated or not JSON") from error
    if _is_deep(found):
        raise ResultsError(f"{path} is not what a run writes: nested too deeply")
    if not isinstance(found, dict):
        raise ResultsError(f"{path} is not what a run writes: no mapping in it")
    return found


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            part
            for whole in level
            if isinstance(whole, dict | list)
            for part in (whole.values() if isinstance(whole, dict) else whole)
        ]
        if not level:
            return False
    return True


def readable_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest where nothing depends on it: empty if it is missing or broken."""
    try:
        return read_manifest(folder)
    except ResultsError:
        return {}


def config_in_manifest(folder: Path, manifest: Mapping[str, Any]) -> Any | None:
    """Give the config that a manifest holds, as plain values that are not checked yet.

    Champions keep the config that made them there; every other run has a `config.yaml`, and None
    is returned.
    """
    return None if (folder / CONFIG).exists() else manifest.get("config")


def figures_in(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Give the final figures of a manifest; what is no figure counts as missing.

    Returns
    -------
    dict
        ``attack`` and ``bound``, win rates against ``average_policy``, ``matrix`` and ``mixture``,
        and ``effort``, what the search was given, of each or of all; each as far as it is known.
    """
    figures = manifest.get("figures")
    known = figures if isinstance(figures, Mapping) else {}
    names = ("average_policy", "matrix", "mixture")
    found = {name: _figure(known[name]) for name in names if _is_interval(known.get(name))}
    return found | {"effort": known["effort"]} if isinstance(known.get("effort"), dict) else found


def _figure(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in value.items() if key != "effort" or isinstance(one, dict)}


def _is_interval(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(end), float | int) and 0 <= value[end] <= 1
        for end in ("attack", "bound")
    )


def finite(value: Any) -> Any:
    """Copy plain values with NaN and infinities as None, since JSON has neither."""
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
