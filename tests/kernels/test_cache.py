"""Compiled kernels are kept in one place, found again by everybody, and never when stale."""

import compileall
import gc
import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import llvmlite
import pytest
from numba import njit
from numba.core import event
from numba.core.errors import TypingError

from hogeq.kernels import cache
from hogeq.support.progress import compiled_seconds, working_time
from tests.cli.calls import hogeq
from tests.slow import mostly_slow


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    yield
    cache._warn_once.cache_clear()
    cache._used.clear()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep kernels in a folder of the test's own."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept" / "hogeq"


def double(x: int) -> int:
    return 2 * x


def triple(x: int) -> int:
    return 3 * x


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
    assert cache.stored() == files(place)
    assert all(file.name.startswith("test_cache.double-") for file in files(place))


def test_checkouts_share_and_any_changed_source_is_another_state(tmp_path: Path) -> None:
    sources = Path(cache.__file__).parent
    other = shutil.copytree(sources, tmp_path / "kernels")
    assert cache.state(other) == cache.state()
    changed = shutil.copytree(sources, tmp_path / "changed")
    with (changed / "lanes.py").open("a") as file:
        file.write("# called by kernels in other files\n")
    assert cache.state(changed) != cache.state()


def test_an_installation_without_sources_has_a_state_of_its_own(tmp_path: Path) -> None:
    """Modules may be compiled by Python beforehand, and their sources removed."""
    states = []
    for name in ("one", "other"):
        folder = shutil.copytree(Path(cache.__file__).parent, tmp_path / name)
        if name == "other":
            with (folder / "lanes.py").open("a") as file:
                file.write("changed = 1\n")
        compileall.compile_dir(str(folder), quiet=1, legacy=True)
        for source in folder.glob("*.py"):
            source.unlink()
        states.append(cache.state(folder))
    assert len({cache.state(), *states}) == 3


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


KERNELS = [(function, number) for function in (double, triple) for number in (21, 0.5, 2j)]


def test_a_file_under_the_name_of_another_is_compiled_anew(place: Path) -> None:
    made = {}
    for function, number in KERNELS:
        before = set(files(place))
        cache.cached(njit(function))(number)
        (made[function, number],) = set(files(place)) - before
    contents = {kernel: made[kernel].read_bytes() for kernel in KERNELS}
    for one, other in permutations(KERNELS, 2):
        made[one].write_bytes(contents[other])
        function, number = one
        called = cache.cached(njit(function))
        assert called(number) == function(number)  # type: ignore[arg-type]
        assert sum(called.stats.cache_hits.values()) == 0
        assert made[one].read_bytes() != contents[other]


def test_a_whole_file_that_names_what_is_not_there_is_compiled_anew(place: Path) -> None:
    """As after a change of a library that the state does not name."""
    function, number = KERNELS[0]
    cache.cached(njit(function))(number)
    (path,) = files(place)
    content = pickle.dumps(json.loads).replace(b"json", b"nosj")
    path.write_bytes(cache._digest(path.name, content) + content)
    called = cache.cached(njit(function))
    assert called(number) == function(number)  # type: ignore[arg-type]
    assert sum(called.stats.cache_hits.values()) == 0


def test_a_file_of_another_state_is_compiled_anew(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hits()
    (file,) = files(place)
    monkeypatch.setattr(cache, "state", lambda: "kernels-other")
    (place / "kernels-other").mkdir(mode=0o700)
    shutil.copy(file, place / "kernels-other")
    assert hits() == 0
    assert hits() == 1


@pytest.mark.slow
def test_no_game_is_played_by_the_kernels_of_another(tmp_path: Path) -> None:
    def rates() -> list[float]:
        return [
            json.loads(
                hogeq(
                    "compare", "always_roll:2", "always_roll:3", "--rules", str(rules), "--json"
                ).stdout
            )["win_rate"]
            for rules in games
        ]

    games = [tmp_path / f"{sides}.yaml" for sides in (4, 6, 8)]
    for rules in games:
        rules.write_text(f"{{edition: fa22, goal: 40, max_dice: 3, sides: {rules.stem}}}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
        right = rates()
        assert len(set(right)) == len(games)
        groups: dict[str, list[Path]] = {}
        for file in files(tmp_path / "kept"):
            groups.setdefault(file.name.partition("-")[0], []).append(file)
        contents = {file: file.read_bytes() for group in groups.values() for file in group}
        assert any(len(group) >= len(games) for group in groups.values())
        for group in groups.values():
            for place, file in enumerate(group):
                file.write_bytes(contents[group[place - 1]])
        assert rates() == right


@pytest.mark.skipif(sys.platform == "win32", reason="has no such permissions")
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o720, 0o702])
def test_a_folder_that_others_may_write_to_is_not_read(
    place: Path, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    hits()
    folder = place / cache.state()
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(mode)
    assert (hits(), hits()) == (0, 0)
    assert f"(others may write to {folder})" in caplog.text
    folder.chmod(0o755)
    assert hits() == 1


class Payload:
    """An object whose pickle runs code."""

    ran: ClassVar[list[str]] = []

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Payload.ran.append, ("code of another user",)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such permissions")
@pytest.mark.parametrize("way", ["digest", "opened"])
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757, 0o1777])
def test_who_may_write_above_the_folder_cannot_exchange_it(
    place: Path, mode: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder that is looked at is the one that is read.

    In its place stands a link to a folder of others. When its file was opened, or while its digest
    is computed, the link is pointed at the user's own folder, which is private.
    """
    hits()
    (file,) = files(place)
    own, evil, at = place / ".own", place / ".evil", place / cache.state()
    data = pickle.dumps(Payload(), 2) + b"\0" * 1000
    evil.mkdir()
    (evil / file.name).write_bytes(cache._digest(file.name, data) + data)
    at.rename(own)
    at.symlink_to(evil.name)
    place.chmod(mode)
    real = cache._digest

    def exchange() -> None:
        at.unlink()
        at.symlink_to(own.name)

    def slow(name: str, content: bytes) -> bytes:
        exchange()
        return real(name, content)

    with monkeypatch.context() as patch:
        if way == "digest":
            patch.setattr(cache, "_digest", slow)
        else:
            opened = io.open

            def opens(path: Any, *given: Any, **named: Any) -> Any:
                stream = opened(path, *given, **named)
                if str(path).endswith(file.name):
                    exchange()
                return stream

            patch.setattr(io, "open", opens)
            patch.setattr(os, "fdopen", opens)
        assert hits() == 0
    assert Payload.ran == []
    assert not at.is_symlink() or at.readlink() == Path(evil.name)  # nobody had an occasion


@pytest.mark.skipif(sys.platform == "win32", reason="has no such permissions")
def test_a_file_that_others_may_write_to_is_not_read(place: Path) -> None:
    hits()
    (file,) = files(place)
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o606)
    assert hits() == 0
    assert hits() == 1  # it was written anew


def test_numba_keeps_nothing_by_itself() -> None:
    """Its own cache asks nobody whose a folder is."""
    package = Path(cache.__file__).parents[1]
    for source in package.rglob("*.py"):
        assert "cache=True" not in source.read_text("utf-8"), source


def test_where_nothing_can_be_kept_one_line_says_so(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place.parent.write_text("a file, where the folder should be")
    assert (hits(), hits()) == (0, 0)
    lines = [line for line in caplog.messages if "kept" in line]
    assert lines == [f"hogeq: compiled kernels cannot be kept in {place} (Not a directory)"]
    assert cache.stored() == []


@pytest.mark.parametrize("not_absolute", ["", "cache", "./cache", "~/cache"])
def test_a_cache_home_that_is_not_absolute_counts_as_not_set(
    not_absolute: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the XDG Base Directory Specification says."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", not_absolute)
    assert cache.root() == tmp_path / ".cache" / "hogeq"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert cache.root() == tmp_path / "elsewhere" / "hogeq"


@pytest.mark.parametrize("not_absolute", ["", "cache", ".", "~"])
def test_a_folder_of_kernels_that_is_not_absolute_counts_as_not_set(
    not_absolute: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The current folder may have been downloaded, with kernels in it."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", not_absolute)
    assert cache.root() == tmp_path / "hogeq"


@pytest.mark.parametrize("cache_home", [None, ""])
def test_without_a_home_too(
    cache_home: str | None,
    in_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    if cache_home is None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", cache_home)

    def no_home(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", no_home)
    monkeypatch.setattr(cache, "user_cache_dir", lambda **_: "~/.cache/hogeq")
    assert (hits(), hits()) == (0, 0)
    assert "(no home folder)" in caplog.text
    assert not Path("~").exists()


def test_what_was_not_used_for_long_is_removed(place: Path) -> None:
    day = 24 * 3600

    def state(number: int, age: float) -> Path:
        folder = place / f"kernels-{number:016x}"
        folder.mkdir(parents=True)
        os.utime(folder, (time.time() - age, time.time() - age))
        return folder

    used, forgotten = state(1, 29 * day), state(2, 31 * day)
    other = place / "something-else"
    other.mkdir()
    os.utime(other, (0, 0))
    hits()
    assert used.exists()
    assert other.exists()
    assert not forgotten.exists()


@pytest.mark.usefixtures("place")
def test_compiling_is_said_once_and_stops_the_clock(caplog: pytest.LogCaptureFixture) -> None:
    cache.tell_once.cache_clear()
    compiled, begun, started = compiled_seconds(), working_time(), time.monotonic()
    assert hits() == 0
    taken, worked = time.monotonic() - started, working_time() - begun
    spent = compiled_seconds() - compiled
    assert spent > 0.02
    assert worked == pytest.approx(taken - spent, abs=0.01)
    assert kernel()(0.5) == 1.0
    assert caplog.messages == ["hogeq: compiling kernels, once"]


def test_nothing_is_compiled_where_it_is_only_asked_for(place: Path) -> None:
    with cache.compiling_nothing(), pytest.raises(cache.NotCompiledError):
        kernel()(21)
    assert not files(place)
    assert hits() == 0
    with cache.compiling_nothing():
        assert kernel()(21) == 42


class Watcher(event.Listener):
    """Notes whether garbage is collected when something begins to compile."""

    def __init__(self) -> None:
        self.seen: list[bool] = []

    def on_start(self, event: Any) -> None:  # noqa: ARG002 - numba gives it
        self.seen.append(gc.isenabled())

    def on_end(self, event: Any) -> None:
        """Nothing is noted."""


@pytest.mark.parametrize("before", [True, False])
def test_garbage_waits_for_what_is_compiled(before: bool) -> None:
    was_enabled, watcher = gc.isenabled(), Watcher()
    (gc.enable if before else gc.disable)()
    try:
        with event.install_listener("numba:compile", watcher):
            assert njit(lambda x: 2 * x)(21) == 42
        assert (watcher.seen, gc.isenabled()) == ([False], before)
        with pytest.raises(TypingError):
            njit(lambda x: x.no_such_thing)(21)
        assert gc.isenabled() == before
    finally:
        (gc.enable if was_enabled else gc.disable)()


CHECKED = """
import os
os.environ["NUMBA_OPT"] = "3"
from hogeq.cli.inputs import check_numba
check_numba()
"""


@pytest.mark.parametrize(
    "content", mostly_slow(["cache_dir: sub\ndisable_jit: 1\n", "- a\n", "{", ""], "{")
)
@pytest.mark.parametrize("first", mostly_slow(["", CHECKED], CHECKED))
def test_a_file_of_the_current_folder_sets_nothing(
    tmp_path: Path, content: str, first: str
) -> None:
    """Where compiled code comes from is not for who made the folder to say."""
    (tmp_path / ".numba_config.yaml").write_text(content)
    code = f"""
{first}
from hogeq.kernels import cache, sequences
from numba.core import config
import yaml
config.reload_config()
print(cache.root(), config.CACHE_DIR or "-", config.DISABLE_JIT)
"""
    environment = {key: value for key, value in os.environ.items() if "NUMBA" not in key}
    found = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stderr == ""
    root, folder, is_off = found.stdout.split()
    assert not Path(root).is_relative_to(tmp_path)
    assert (folder, is_off) == ("-", "0")
