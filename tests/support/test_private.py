"""A folder is private if nobody else can change it or put another one in its place."""

import grp
import itertools
import os
import pwd
import random
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest

from hogeq.support import private
from hogeq.support.private import private_folder

pytestmark = pytest.mark.skipif(not private.HAS_HANDLES, reason="has no such permissions")

OTHER = 54321  # a user who has no account
AS_ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not AS_ROOT, reason="gives folders to another user")


def reason(path: Path, *, make: bool = False) -> str:
    """Why a folder is refused; empty if it is private."""
    try:
        with private_folder(path, make=make):
            return ""
    except OSError as error:
        return error.strerror or str(error)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path.resolve()


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    private._is_own_group.cache_clear()
    yield
    private._is_own_group.cache_clear()


def test_what_is_written_is_read_and_nothing_else_stays(top: Path) -> None:
    with private_folder(top / "a" / "b", make=True) as folder:
        folder.write("one", b"1")
        folder.write("one", b"2")
        assert folder.read("one") == b"2"
        assert folder.names() == ["one"]
        with pytest.raises(FileNotFoundError):
            folder.read("two")
        (top / "a" / "b" / "folder").mkdir()
        with pytest.raises(OSError, match="Is a directory"):
            folder.write("folder", b"")
        assert sorted(folder.names()) == ["folder", "one"]
    made = [top / "a", top / "a" / "b", top / "a" / "b" / "one"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700, 0o700, 0o600]


def test_nothing_is_made_unless_asked_for_or_where_others_may_write(top: Path) -> None:
    assert reason(top / "a") == "No such file or directory"
    assert not (top / "a").exists()
    top.chmod(0o777)
    assert reason(top / "a" / "b", make=True) == f"others may write to {top}"
    assert not (top / "a").exists()
    top.chmod(0o1777)
    assert reason(top / "a" / "b", make=True) == ""


@pytest.mark.parametrize("make", [False, True])
def test_files_that_are_no_folders(top: Path, make: bool) -> None:
    (top / "file").write_text("")
    assert reason(top / "file", make=make) == "Not a directory"
    assert reason(top / "file" / "a", make=make) == "Not a directory"
    assert reason(Path("a"), make=make) == "is not an absolute path"
    assert reason(top / ("a" * 300), make=make) == "File name too long"


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "writable", "group"])
def test_a_file_that_others_may_have_made_is_not_read(top: Path, kind: str) -> None:
    file = top / "file"
    if kind == "link":
        (top / "other").write_bytes(b"")
        file.symlink_to("other")
    elif kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.write_bytes(b"")
        file.chmod(0o602 if kind == "writable" else 0o620)
    with private_folder(top) as folder, pytest.raises(OSError, match=r"."):
        folder.read("file")


def test_a_file_is_read_up_to_its_bound(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (top / "one").write_bytes(b"12345")
    with private_folder(top) as folder:
        monkeypatch.setattr(private, "MOST_BYTES", 5)
        assert folder.read("one") == b"12345"
        monkeypatch.setattr(private, "MOST_BYTES", 4)
        with pytest.raises(OSError, match="one is larger than 4 bytes"):
            folder.read("one")


@needs_root
def test_a_file_of_another_user_is_not_read(top: Path) -> None:
    (top / "file").write_bytes(b"")
    os.chown(top / "file", OTHER, OTHER)
    with private_folder(top) as folder, pytest.raises(OSError, match="belongs to another user"):
        folder.read("file")


LINE = "42 27 {device} / {top} rw,nosuid - {kind} {source} {options}\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="lists mounts elsewhere")
@pytest.mark.parametrize(
    ("kind", "source", "options", "is_private"),
    [
        ("ext4", "/dev/sda", "rw,errors=remount-ro", True),
        ("fuse.sshfs", "host:", f"rw,user_id={os.geteuid()},group_id=0", True),
        ("fuse", "image", "rw,user_id=0,group_id=0,allow_other", True),
        ("fuse", "image", f"rw,user_id={OTHER},group_id=0,allow_other", False),
        ("fuse", "a\fb\rc", f"rw,user_id={OTHER},group_id=0,allow_other", False),
        ("fuse.user_id=0", "user_id=0", f"rw,user_id={OTHER},allow_other", False),
    ],
)
def test_a_file_system_served_by_another_user_is_not_private(
    top: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    source: str,
    options: str,
    is_private: bool,
) -> None:
    """A program of that user (FUSE) says who owns its folders: root, say."""
    number = top.stat().st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    mounts = top / "mountinfo"
    other = LINE.format(device="0:999999", top="/", kind="fuse", source="", options="user_id=1")
    own = LINE.format(device=device, top=top, kind=kind, source=source, options=options)
    mounts.write_bytes((other + own).encode())
    monkeypatch.setattr(private, "MOUNTS", mounts)
    assert ("another user mounted" in reason(top)) == (not is_private)
    assert (reason(top) == "") == is_private


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="lists mounts elsewhere")
def test_nothing_is_private_where_nobody_says_who_mounted_it(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private, "MOUNTS", top / "mountinfo")
    assert reason(top) == f"{top}/mountinfo does not say who mounted /"


# --- layouts --------------------------------------------------------------------------------------


class Place(NamedTuple):
    """A folder on the way: its owner, its permissions, and how it is reached."""

    is_other: bool
    mode: int
    link: str  # of its name to it: "" none, or "relative", "absolute", "other" of another user

    def is_passed(self) -> bool:
        """Whether it may stand above the last one."""
        others = self.mode & 0o022 and not self.mode & stat.S_ISVTX
        return not self.is_other and not others and self.link != "other"

    def is_last(self) -> bool:
        """Whether it may be the last one."""
        return not self.is_other and not self.mode & 0o022 and not self.link


MODES = [0o700, 0o711, 0o755, 0o777, 0o757, 0o775, 0o1777, 0o1775, 0o1757, 0o1755]
PLACES = [
    Place(*one)
    for one in itertools.product(
        (False, True) if AS_ROOT else (False,),
        MODES,
        ("", "relative", "absolute", "other") if AS_ROOT else ("", "relative", "absolute"),
    )
]


def build(top: Path, places: list[Place]) -> Path:
    """Make folders in each other; give the path through all links."""
    real = shown = top
    todo: list[Callable[[], Any]] = []
    for depth, place in enumerate(places):
        name = f"{depth}"
        if place.link:
            folder = real / f"real-{name}"
            folder.mkdir()
            (real / name).symlink_to(folder if place.link == "absolute" else folder.name)
            if place.link == "other":
                os.lchown(real / name, OTHER, OTHER)
        else:
            folder = real / name
            folder.mkdir()
        if place.is_other:
            todo.append(lambda folder=folder: os.chown(folder, OTHER, OTHER))  # type: ignore[misc]
        todo.append(lambda folder=folder, place=place: folder.chmod(place.mode))  # type: ignore[misc]
        real, shown = folder, shown / name
    for change in todo:
        change()
    return shown


def test_layouts_by_the_hundred(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is taken or refused as the rule says, written down once more."""
    monkeypatch.setattr(private, "_is_own_group", lambda _: False)
    draw, taken = random.Random(0), 0  # noqa: S311 - of layouts
    harmless = [place for place in PLACES if place.is_passed()]
    last = [place for place in PLACES if place.is_last()]
    for number in range(600):
        base = top / str(number)
        base.mkdir(mode=0o700)
        places = [draw.choice(harmless) for _ in range(draw.randint(1, 3))]
        places[-1] = draw.choice(last)
        if draw.random() < 0.5:
            places[draw.randrange(len(places))] = draw.choice(PLACES)
        is_private = all(one.is_passed() for one in places[:-1]) and places[-1].is_last()
        taken += is_private
        why = reason(build(base, places))
        assert (not why) == is_private, (places, why)
    assert 200 < taken < 500


@needs_root
def test_who_is_no_root_is_told_the_same() -> None:
    """A user whose folders are the user's, below folders of root."""
    user = OTHER + 1
    for place in PLACES:
        with TemporaryDirectory() as made:
            base = Path(made).resolve()
            path = build(base, [place, Place(False, 0o700, "")])
            os.chown(path, user, user)
            if not place.is_other:
                os.chown(path.parent, user, user)
            base.chmod(0o711)
            os.setegid(user)
            os.seteuid(user)
            try:
                why = reason(path)
            finally:
                os.seteuid(0)
                os.setegid(0)
            assert (not why) == place.is_passed(), (place, why)


def test_links_in_a_circle_end(top: Path) -> None:
    (top / "a").symlink_to("b")
    (top / "b").symlink_to("a")
    assert reason(top / "a" / "c") == "Too many levels of symbolic links"
    (top / "up").symlink_to("..")
    assert reason(top / "up" / top.name) == ""
    assert reason(top / ".." / top.name) == ""


def test_a_group_of_ones_own_may_write_above(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = pwd.getpwuid(os.geteuid())
    own = grp.struct_group((user.pw_name, "x", user.pw_gid, [user.pw_name]))
    (top / "above" / "last").mkdir(parents=True)
    (top / "above" / "last").chmod(0o700)
    (top / "above").chmod(0o770)
    os.chown(top / "above", -1, user.pw_gid)

    def why(*, users: list[pwd.struct_passwd], group: grp.struct_group = own) -> str:
        private._is_own_group.cache_clear()
        monkeypatch.setattr(pwd, "getpwall", lambda: users)
        monkeypatch.setattr(grp, "getgrgid", lambda _: group)
        return reason(top / "above" / "last")

    refused = f"others may write to {top / 'above'}"
    mate = pwd.struct_passwd(("mate", "x", OTHER, user.pw_gid, "", "/", "/bin/sh"))
    assert why(users=[user]) == ""
    assert why(users=[user, mate]) == refused
    assert why(users=[user], group=grp.struct_group(("staff", "x", user.pw_gid, []))) == refused
    shared = grp.struct_group((user.pw_name, "x", user.pw_gid, [user.pw_name, "mate"]))
    assert why(users=[user], group=shared) == refused
    monkeypatch.setattr(private, "_has_access_list", lambda _: True)
    assert why(users=[user]) == refused
    monkeypatch.undo()
    private._is_own_group.cache_clear()
    (top / "above").chmod(0o700)
    (top / "above" / "last").chmod(0o770)
    assert reason(top / "above" / "last") == f"others may write to {top / 'above' / 'last'}"


def test_folders_that_may_be_passed_and_not_listed(top: Path) -> None:
    (top / "home" / "own").mkdir(parents=True)
    (top / "home").chmod(0o111)
    assert reason(top / "home" / "own") == ""
    (top / "home").chmod(0o700)


# --- exchanges ------------------------------------------------------------------------------------

CALLS = "open", "fstat", "readlink", "stat", "mkdir"


def exchanging(patch: pytest.MonkeyPatch, when: set[int], exchange: Callable[[], None]) -> None:
    """Do something right before calls of the system, by their numbers."""
    count = itertools.count()

    def before(real: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            if next(count) in when:
                exchange()
            return real(*given, **named)

        return call

    for name in CALLS:
        patch.setattr(os, name, before(getattr(os, name)))


class Exchange:
    """Puts a folder of others in place of one, by a link, and takes it away again."""

    def __init__(self, below: Path, wrong: Path) -> None:
        self.below, self.wrong, self.aside = below, wrong, wrong.with_name("aside")
        self.is_wrong = False

    def __call__(self) -> None:
        self.is_wrong = not self.is_wrong
        if not self.is_wrong:
            self.below.unlink()
        elif self.below.exists():
            self.below.rename(self.aside)
        if self.is_wrong:
            self.below.symlink_to(self.wrong)
        elif self.aside.exists():
            self.aside.rename(self.below)


CALLED = range(24)  # numbers of calls: more than there are
TIMES = [set[int](), *({one} for one in CALLED), *({one, one + 1} for one in CALLED)]


@pytest.mark.parametrize("level", ["a", "a/b/c"])
@pytest.mark.parametrize("is_sticky", [False, True])
def test_no_exchange_at_any_time_brings_in_a_file(
    top: Path, level: str, is_sticky: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who may write to a folder on the way exchanges what is in it, at any call.

    In a folder with the sticky bit they cannot move what is ours; but what is not there yet is
    theirs to make.
    """
    path = top / "a" / "b" / "c" / "last"
    below = top / level / path.relative_to(top / level).parts[0]
    for number, when in enumerate(TIMES):
        for old in top.iterdir():
            old.chmod(0o700)
            old.rename(top.with_name(f"{top.name}-{level.replace('/', '')}-{number}-{old.name}"))
        exchange = Exchange(below, top / "wrong")
        wrong = top / "wrong" / path.relative_to(below)
        for folder, text in ((path, b"ours"), (wrong, b"theirs")):
            folder.mkdir(parents=True)
            (folder / "file").write_bytes(text)
            (folder / "file").chmod(0o600)
        for folder in (top, *(top / "a").rglob("*/")):
            folder.chmod(0o700)
        for folder in (top / "wrong", *(top / "wrong").rglob("*/")):
            folder.chmod(0o777)  # or of another owner
        if is_sticky:
            below.rename(exchange.aside)
        (top / level).chmod(0o1777 if is_sticky else 0o777)
        found = b""
        with monkeypatch.context() as patch, suppress(OSError):
            exchanging(patch, when, exchange)
            with private_folder(path) as folder_of_path:
                found = folder_of_path.read("file")
        assert found in ({b"", b"ours"} if is_sticky else {b""}), when


def test_a_link_that_is_exchanged_while_it_is_read_is_refused(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the user's own program may do in a folder where others then make one of their own."""
    for name in ("ours", "theirs"):
        (top / name / "last").mkdir(parents=True, mode=0o700)
        (top / name).chmod(0o700)
    (top / "link").symlink_to("ours")
    read = os.readlink

    def late(*given: Any, **named: Any) -> str:
        (top / "other").symlink_to("theirs")
        (top / "other").replace(top / "link")
        return read(*given, **named)

    assert reason(top / "link" / "last") == ""
    monkeypatch.setattr(os, "readlink", late)
    assert "was exchanged" in reason(top / "link" / "last")
