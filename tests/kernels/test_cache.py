"""Compiled kernels are kept in one place, found again by everybody, and never when stale."""

import gc
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import pytest
from numba import njit
from numba.core import config, event
from numba.core.errors import TypingError

from hogeq.kernels import cache
from hogeq.support.clock import compiled_seconds, working_time


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    yield
    cache._say_once.cache_clear()
    cache._note_use.cache_clear()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep kernels in a folder of the test's own."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    return tmp_path / "kept" / "hogeq"


def double(x: int) -> int:
    return 2 * x


class Processor(NamedTuple):
    name: str

    def magic_tuple(self) -> tuple[str]:
        return (self.name,)


def kernel() -> Any:
    """Make a kernel that has not been called, as a new process has it."""
    return cache.cached(njit(double))


def hits() -> int:
    """Call a new kernel, and count what it found in the cache."""
    found = kernel()
    assert found(21) == 42
    count: int = sum(found.stats.cache_hits.values())
    return count


def files(place: Path) -> list[Path]:
    return sorted(place.rglob("*.nbc"))


def test_a_kernel_is_compiled_once_for_each_list_of_types(place: Path) -> None:
    assert hits() == 0
    assert hits() == 1
    assert len(files(place)) == 1
    assert files(place)[0].parent.name == cache.state()
    assert kernel()(0.5) == 1.0
    assert len(files(place)) == 2
    assert [found.kernel for found in cache.stored()] == ["test_cache.double"] * 2


def test_checkouts_share_and_any_changed_source_is_another_state(tmp_path: Path) -> None:
    sources = Path(cache.__file__).parent
    other = shutil.copytree(sources, tmp_path / "kernels")
    assert cache.state(other) == cache.state()
    changed = shutil.copytree(sources, tmp_path / "changed")
    with (changed / "lanes.py").open("a") as file:
        file.write("# called by kernels in other files\n")
    assert cache.state(changed) != cache.state()


def test_another_processor_or_version_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache.state.__wrapped__()
    monkeypatch.setattr(llvmlite, "__version__", "0")
    assert cache.state.__wrapped__() != before
    files = {cache.KernelCache(double)._file((), Processor(name)) for name in ("old", "new")}
    assert len(files) == 2


def test_a_damaged_file_is_compiled_anew(place: Path) -> None:
    hits()
    (file,) = files(place)
    whole = file.read_bytes()
    for damaged in (b"", whole[:-1], whole[:100] + bytes([whole[100] ^ 1]) + whole[101:]):
        file.write_bytes(damaged)
        assert hits() == 0
        assert hits() == 1


def test_without_a_place_a_temporary_one_serves_after_one_line(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place.parent.parent.joinpath("kept").write_text("a file, where the folder should be")
    assert hits() == 0
    assert hits() == 1
    assert kernel()(0.5) == 1.0
    (line,) = caplog.messages
    assert line == (
        f"hogeq: compiled kernels cannot be kept in {place} (Not a directory), "
        f"but are in {cache.spare_root()}"
    )


def test_without_a_home_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr(cache, "user_cache_dir", lambda **_: "~/.cache/hogeq")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert (hits(), hits()) == (0, 1)
    assert "(no home folder)" in caplog.text
    assert not Path("~").exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX")
def test_nothing_is_read_from_a_temporary_place_open_to_others(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place.parent.parent.joinpath("kept").write_text("")
    assert (hits(), hits()) == (0, 1)
    cache.spare_root().chmod(0o777)
    caplog.clear()
    cache._say_once.cache_clear()
    assert hits() == 0
    assert caplog.messages[0].endswith("(Not a directory), nor elsewhere")


def test_what_was_not_used_for_long_is_removed(place: Path) -> None:
    day = 24 * 3600

    def state(number: int, age: float) -> Path:
        folder = place / f"kernels-{number:016x}"
        folder.mkdir(parents=True)
        os.utime(folder, (time.time() - age, time.time() - age))
        return folder

    fresh = [state(number, 0.5 * day) for number in range(12)]
    old = [state(100 + number, (2 + number) * day) for number in range(3)]
    forgotten = state(200, 31 * day)
    others = place / "kernels-of-somebody"
    others.mkdir()
    os.utime(others, (0, 0))
    hits()
    assert all(folder.exists() for folder in [*fresh, others])
    assert not any(folder.exists() for folder in [*old, forgotten])


def test_what_takes_long_is_said_once_and_stops_the_clock(
    place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for of_tests_before in ("_unsaid", "_foretold"):
        monkeypatch.setattr(cache._compilations, of_tests_before, 0.0)
    monkeypatch.setitem(cache.SECONDS, "test_cache.double", 12.0)
    compiled, begun, started = compiled_seconds(), working_time(), time.monotonic()
    assert hits() == 0
    taken, worked = time.monotonic() - started, working_time() - begun
    spent = compiled_seconds() - compiled
    assert spent > 0.02
    assert worked == pytest.approx(taken - spent, abs=0.01)
    assert caplog.messages == ["hogeq: compiling kernels, once: about 12 s"]
    assert hits() == 1
    assert len(caplog.messages) == 1


def test_nothing_is_compiled_where_it_is_only_asked_for(place: Path) -> None:
    with cache.compiling_nothing(), pytest.raises(cache.NotCompiledError):
        kernel()(21)
    assert not files(place)
    assert hits() == 0
    with cache.compiling_nothing():
        assert kernel()(21) == 42


@pytest.fixture
def collector() -> Iterator[None]:
    """Leave the garbage collector as it was."""
    was_enabled = gc.isenabled()
    yield
    (gc.enable if was_enabled else gc.disable)()


class Watcher(event.Listener):
    """Notes whether garbage is collected when something begins and when it is done."""

    def __init__(self) -> None:
        self.seen: list[bool] = []

    def on_start(self, event: Any) -> None:  # noqa: ARG002 - numba gives it
        self.seen.append(gc.isenabled())

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        self.seen.append(gc.isenabled())


@pytest.mark.usefixtures("collector")
@pytest.mark.parametrize("before", [True, False])
def test_garbage_waits_for_all_that_is_compiled(before: bool) -> None:
    within: Any = njit(double)
    around: Any = njit(lambda x: within(x) - 1)
    watcher = Watcher()
    (gc.enable if before else gc.disable)()
    with event.install_listener("numba:compile", watcher):
        assert around(21) == 41
    assert watcher.seen == [False, False, False, before]  # `within` is compiled within `around`
    assert gc.isenabled() == before


@pytest.mark.usefixtures("collector")
def test_garbage_is_collected_after_what_does_not_compile() -> None:
    gc.enable()
    with pytest.raises(TypingError):
        njit(lambda x: x.no_such_thing)(21)
    assert gc.isenabled()
