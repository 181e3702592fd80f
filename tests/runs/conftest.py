from pathlib import Path
from typing import Any

import pytest

from hogeq import figures
from hogeq.runs.runner import run_experiment as run
from hogeq.support.files import replacing
from tests.runs.trials import numbers, trial


@pytest.fixture
def plain_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip drawing, which is slow, where a test is about something else."""

    def draw(*arguments: Any, **_: Any) -> None:
        path = next(argument for argument in arguments if isinstance(argument, Path))
        with replacing(path) as temporary:
            temporary.write_text("figure")

    for name in ("exploitability", "matrix", "intervals"):
        monkeypatch.setattr(figures, name, draw)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("undisturbed")
    run(trial(), folder)
    return numbers(folder / "trial")
