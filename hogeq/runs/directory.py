"""A run directory, each file of which is written whole or not at all.

A file is written beside its place and then moved there. A checkpoint holds everything that a run
needs to go on, the lines of `metrics.csv` included. One process writes a directory at a time.
"""

import contextlib
import csv
import io
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from numpy.typing import NDArray

from hogeq.runs.checkpoint import Checkpoint, packed, unpacked
from hogeq.runs.files import (
    CHECKPOINT,
    FILES,
    LOCK_FILE,
    MANIFEST,
    METRICS,
    MIXTURE,
    PLUGINS,
    ResultsError,
    lock,
    manifest_text,
    readable_manifest,
    replacing,
    reported,
)
from hogeq.runs.metrics import Metrics, columns, table
from hogeq.support import files
from hogeq.support.messages import shown

MAX_CHECKPOINT: Final = 1 << 36
"""Size of the largest checkpoint read: more than any machine holds."""


class RunDirectory:
    """A run directory held by this process until `close`, or until the process is gone.

    Use `create` or `resume`, and ``with``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = lock(path)

    @classmethod
    def create(cls, root: str | Path, name: str, *, overwrite: bool = False) -> Self:
        """Make ``root/name`` and hold it."""
        path = Path(root) / name
        if not name or name in {".", ".."} or Path(name).name != name:
            raise ResultsError(f"a run cannot be named {shown(name)}: it names one folder")
        with reported(path, "made"):
            Path(root).mkdir(parents=True, exist_ok=True)
            try:
                path.mkdir()
                made = True
            except FileExistsError:
                made = False
        if made:
            try:
                return cls(path)
            except ResultsError:
                with contextlib.suppress(OSError):
                    shutil.rmtree(path)
                raise
        if not overwrite:
            raise ResultsError(
                f"{path} exists already: --resume {path} continues it, --overwrite replaces it,"
                " --set name=NAME leaves it alone"
            )
        _require_run_directory(path)
        self = cls(path)
        try:
            with reported(path, "emptied"):
                # The checkpoint first: a directory without one starts anew.
                for file in (CHECKPOINT, MIXTURE, *FILES):
                    (path / file).unlink(missing_ok=True)
                shutil.rmtree(path / PLUGINS, ignore_errors=True)
            self.remove_leftovers()
        except BaseException:
            self.close()
            raise
        return self

    @classmethod
    def resume(cls, path: str | Path) -> Self:
        """Hold an existing run directory; nothing in it is changed."""
        path = Path(path)
        _require_run_directory(path)
        return cls(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the directory."""
        self._lock.close()

    def remove_leftovers(self) -> None:
        """Remove the files that a killed process had not finished writing."""
        with reported(self.path, "tidied"):
            for file in self.path.glob(f"{files.TEMPORARY}*"):
                file.unlink(missing_ok=True)

    def write(self, name: str, content: str | bytes) -> None:
        """Write one file of the directory or of a folder in it, whole or not at all."""
        path = self.path / name
        if path.parent != self.path:
            with reported(path.parent, "made"):
                path.parent.mkdir(exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_bytes(content.encode() if isinstance(content, str) else content)

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write `manifest.json`; NaN and infinities, which JSON lacks, become null."""
        self.write(MANIFEST, manifest_text(manifest))

    def write_metrics(self, metrics: Sequence[Metrics]) -> None:
        """Write `metrics.csv`: numbers in full, so that reading gives them back exactly."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns(metrics))
        writer.writerows([repr(value) for value in row] for row in table(metrics))
        self.write(METRICS, text.getvalue())

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint, then `metrics.csv` with its lines."""
        self.write(CHECKPOINT, packed(checkpoint))
        self.write_metrics(checkpoint.metrics)

    def load(
        self,
        solver: str,
        fingerprint: str,
        like: Mapping[str, NDArray[Any]],
        grows: Collection[str] = (),
    ) -> Checkpoint | None:
        """Read the checkpoint of a run that is to go on."""
        path = self.path / CHECKPOINT
        if not path.exists():
            return None
        with reported(path, "read"):
            data = files.read_whole(path, MAX_CHECKPOINT)
        return unpacked(data, path, solver, fingerprint, like, grows)

    def manifest(self) -> dict[str, Any]:
        """Read `manifest.json`; empty if it is missing or broken, as nothing depends on it."""
        return readable_manifest(self.path)


def _require_run_directory(path: Path) -> None:
    with reported(path, "read"):
        if not path.exists():
            raise ResultsError(f"{path} does not exist: no run to continue")
        if not path.is_dir():
            raise ResultsError(f"{path} is not a folder")
        names = {entry.name for entry in path.iterdir()}
    # A killed run may have got no further than an empty folder. A config alone says nothing: it may
    # be one that people keep in their own folder.
    if names and not names & {LOCK_FILE, MANIFEST, CHECKPOINT}:
        raise ResultsError(f"{path} is not a run directory: no {MANIFEST} in it; left as it is")
