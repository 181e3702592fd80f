import os
import shutil
import signal
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Figures are drawn to files, never to a screen.
os.environ.setdefault("MPLBACKEND", "Agg")

# What a script starts in the background ignores Ctrl-C, and so would all that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Repeatable by default; `pytest --hypothesis-profile=explore` looks further. No deadline: the first
# call of a kernel compiles it.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile("repeatable")


# Not for a whole session: its event loop would run while other tests start theirs.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start the browser that is installed; tests that need one are skipped where there is none."""
    from tests.browsers import FLAGS, NAMES

    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)}; apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty folder in which a test works."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def registries() -> Iterator[Callable[[], None]]:
    """Forget afterwards, and when called, what a test registers, and the plugins that it loads."""
    from hogeq.baselines.registry import BASELINES
    from hogeq.purification import PURIFIERS
    from hogeq.rules import EDITIONS
    from hogeq.rules.register import EFFECTS, MEMORY_PARTS, PARTS
    from hogeq.solvers import SOLVERS
    from hogeq.support.plugins import _loaded
    from hogeq.trees import families  # noqa: F401 - registers its games, for all tests after this
    from hogeq.trees.rules import GAMES

    found: list[MutableMapping[str, Any]] = [
        *(EDITIONS, EFFECTS, GAMES, MEMORY_PARTS, PURIFIERS, SOLVERS, BASELINES, _loaded),
        *PARTS.values(),
    ]
    before = [dict(names) for names in found]

    def forget() -> None:
        for names, kept in zip(found, before, strict=True):
            names.clear()
            names.update(kept)

    yield forget
    forget()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no worker is left with it at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
