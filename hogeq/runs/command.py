"""``python -m hogeq.runs.runner CONFIG``."""

import argparse
import contextlib
import json
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from hogeq.runs.config import load_config
from hogeq.runs.directory import finite
from hogeq.runs.environment import cores
from hogeq.runs.errors import ResultsError
from hogeq.runs.runner import RunError, run
from hogeq.runs.signals import Interrupted
from hogeq.runs.summary import RunSummary
from hogeq.support.workers import ExecutorError, WorkersLostError, workers
from hogeq.support.yaml import ConfigError


def command(
    config: str | Path,
    overrides: Sequence[str] = (),
    *,
    out_root: str | Path = "results",
    resume: str | Path | None = None,
    overwrite: bool = False,
    on: str | None = None,
    as_json: bool = False,
) -> int:
    """Load a config, run it, print what came of it, and give the exit status.

    Parameters
    ----------
    config : str or Path
        A YAML file.
    overrides : sequence of str
        ``key=value``, as `load_config` takes them.
    out_root, resume, overwrite
        As in `run`.
    on : str, optional
        Who computes best responses, as `hogeq.support.workers.workers` has it; threads if not given.
    as_json : bool
        Print one JSON object instead of a table.

    Returns
    -------
    int
        0; 2 after one line on bad input; 1 after an internal failure; 128 + the signal's number if
        one stopped the run.
    """

    def work() -> None:
        loaded = load_config(config, overrides)
        with workers(on, cores()) if on else contextlib.nullcontext():
            summary = run(loaded, out_root, resume, overwrite)
        _print(summary, as_json)

    return _guarded(work)


def _print(summary: RunSummary, as_json: bool) -> None:
    if as_json:
        print(json.dumps(finite(summary.to_json()), allow_nan=False))
    else:
        print(summary)


def _guarded(work: Callable[[], None]) -> int:
    try:
        work()
    except (ConfigError, ResultsError, ExecutorError) as error:
        return _said(error, 2)
    except (RunError, WorkersLostError) as error:
        return _said(error, 1)
    except Interrupted as stop:
        return _said(stop, 128 + stop.signum)
    except KeyboardInterrupt:
        return _said("stopped before anything was written", 128 + signal.SIGINT)
    except Exception as error:  # noqa: BLE001 - whatever it is, the status must say so
        traceback.print_exc()
        return _said(f"internal failure: {type(error).__name__}: {error}", 1)
    return 0


def _said(what: object, status: int) -> int:
    print(f"hogeq: {' '.join(str(what).split())}", file=sys.stderr)
    return status


class _Parser(argparse.ArgumentParser):
    """Refuses in one line, as everything else does."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"hogeq: {message}; see {self.prog} --help\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``python -m hogeq.runs.runner``.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; by default those of the process.

    Returns
    -------
    int
        Exit status, as `command` gives it.
    """
    parser = _Parser(
        prog="python -m hogeq.runs.runner",
        description="Solve, measure, purify and export one experiment.",
    )
    parser.add_argument("config", metavar="CONFIG", help="YAML file; configs/cfr.yaml say")
    parser.add_argument(
        "--set",
        dest="overrides",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set a key of the config: solver.iterations=50 (may be given again)",
    )
    parser.add_argument("--out-root", default="results", metavar="DIR", help="where runs are kept")
    parser.add_argument(
        "--on", metavar="WHERE", help="best responses on local (processes) or dask://HOST:PORT"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--resume", metavar="DIR", help="continue the run in this directory")
    place.add_argument("--overwrite", action="store_true", help="replace a run of the same name")
    given = parser.parse_args(argv)
    return command(
        given.config,
        given.overrides,
        out_root=given.out_root,
        resume=given.resume,
        overwrite=given.overwrite,
        on=given.on,
        as_json=given.json,
    )
