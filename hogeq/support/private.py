"""Folders in which nobody but the user and root can put anything.

Code that is read from a folder runs as the user. To look at the folder by its path proves nothing:
the owner of a folder above it can put another one in its place before the file is opened, or after.
So the way is walked from the root of the file system, and each folder is opened in the one before.
Owner and permissions are asked of what is open:

- Every folder belongs to the user or to root.
- Nobody else may write to it. Above the last one there are two exceptions: folders like ``/tmp``,
  where only the owner of an entry can move it (the sticky bit); and folders for the user's own
  group, whose only member is the user.
- Nobody else serves its file system. A program of a user (FUSE) may say that its folders belong to
  anybody, and change what they hold at any time.
- Links above the last folder are followed if they belong to the user or to root, and what they lead
  to is walked in the same way. The last folder is no link.

Each step opens an entry that nobody else can exchange, so files of the last folder are the user's.
They are opened in the folder that is open, and looked at in the same way.

Windows has no such handles; there a user's folders are private by inheritance, and nothing is
looked at. Access control lists of macOS cannot be seen from Python.
"""

import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from hogeq.support.files import TEMPORARY, read_whole, write_whole
from hogeq.support.messages import printable

HAS_HANDLES: Final = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
MOST_LINKS: Final = 40  # most links on the way to a folder, as Linux has it
MOST_BYTES: Final = 2**31  # most bytes of a file
MOUNTS: Final = Path("/proc/self/mountinfo")  # file systems that the process sees, on Linux
# Flags of os.open: to list a folder, to walk through one that may not be listed, to read a file,
# and to make one; and the errors by which they fail at a link.
_LIST: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_PASS: Final = _LIST | getattr(os, "O_PATH", 0)
_READ: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_IS_LINK: Final = errno.ELOOP, errno.ENOTDIR, getattr(errno, "EMLINK", errno.ELOOP)
# The user whose program serves a file system, among its options.
_SERVED_BY: Final = re.compile(rb"(?:^|,)user_id=(\d+)(?:,|$)")


class PrivateFolder:
    """A private folder that is open; without handles, its path."""

    def __init__(self, path: Path, handle: int | None) -> None:
        self.path = path
        self._handle = handle

    def read(self, name: str) -> bytes:
        """Read a file of the folder; `OSError` if others may change it."""
        if self._handle is None:
            return read_whole(self.path / name, MOST_BYTES)
        with os.fdopen(os.open(name, _READ, dir_fd=self._handle), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, f"{printable(name)} is not a file")
            _require_private(status, name)
            if status.st_size > MOST_BYTES:
                raise OSError(errno.EFBIG, f"{printable(name)} is larger than {MOST_BYTES} bytes")
            return file.read(status.st_size)

    def write(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all: a temporary one takes its place."""
        if self._handle is None:
            write_whole(self.path / name, data)
            return
        temporary = f"{TEMPORARY}{secrets.token_hex(8)}"
        with os.fdopen(os.open(temporary, _WRITE, 0o600, dir_fd=self._handle), "wb") as file:
            try:
                file.write(data)
                file.flush()
                os.replace(temporary, name, src_dir_fd=self._handle, dst_dir_fd=self._handle)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=self._handle)
                raise

    def names(self) -> list[str]:
        """List the names of its files and folders."""
        with os.scandir(self.path if self._handle is None else self._handle) as entries:
            return [entry.name for entry in entries]

    def note_use(self) -> None:
        """Set the time at which it was last used."""
        with suppress(OSError):
            os.utime(self.path if self._handle is None else self._handle)


@contextmanager
def private_folder(path: Path, *, make: bool = False) -> Iterator[PrivateFolder]:
    """Open a folder by its absolute path; with `make`, it is made if it is missing.

    `OSError` says why it is not private, and names the folder on the way.
    """
    if not HAS_HANDLES:
        if make:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield PrivateFolder(path, None)
        return
    handle = _walk(path, make)
    try:
        yield PrivateFolder(path, handle)
    finally:
        os.close(handle)


def _walk(path: Path, make: bool) -> int:
    """Walk from the root of the file system to a folder, and return the handle of that folder.

    1. Open the next part of the path in the folder that is open; if `make`, make it if missing.
    2. If it is a link, put the parts of its target in its place, and begin anew at the root if the
       target is absolute. A link as the last part is refused.
    3. Otherwise require that nobody else may change it or serves its file system, and go on there.

    `handle` is the folder that is open, `reached` its path, `parts_ahead` the stack of parts.
    `OSError` if a folder is not private, or missing.
    """
    if not path.is_absolute():
        raise OSError(errno.EINVAL, "is not an absolute path", os.fspath(path))
    parts_ahead = [*reversed(path.parts[1:])]  # the next one last
    reached = Path(path.anchor)
    num_links = 0
    handle = os.open(reached, _PASS if parts_ahead else _LIST)
    try:
        device = _require_private_folder(handle, reached, None, is_last=not parts_ahead)
        while parts_ahead:
            part = parts_ahead.pop()
            is_last = not parts_ahead
            try:
                below = _open_or_make(part, handle, _LIST if is_last else _PASS, make)
            except OSError as error:
                target = _link_target(part, handle, reached) if error.errno in _IS_LINK else None
                if target is None:
                    raise
                if is_last:
                    raise OSError(errno.ELOOP, f"{printable(reached / part)} is a link") from None
                num_links += 1
                if num_links > MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
                if not target.is_absolute():
                    parts_ahead += reversed(target.parts)
                    continue
                parts_ahead += reversed(target.parts[1:])
                reached = Path(target.anchor)
                below = os.open(reached, _PASS)
            else:
                reached /= part
            os.close(handle)
            handle = below
            device = _require_private_folder(handle, reached, device, is_last=is_last)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _require_private_folder(
    handle: int, where: Path, device_above: int | None, *, is_last: bool
) -> int:
    """Refuse a folder that others may change, or whose file system another user serves.

    `device_above` is the number of the file system of the folder above, which was looked at; None
    for the root. Returns that of this folder.
    """
    status = os.fstat(handle)
    if status.st_dev != device_above:
        _require_own_mount(status, where)
    _require_private(status, where, None if is_last else handle)
    return status.st_dev


def _open_or_make(part: str, above: int, flags: int, make: bool) -> int:
    """Open a folder in the one with the handle `above`, or if `make`, make it there."""
    try:
        return os.open(part, flags, dir_fd=above)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(part, 0o700, dir_fd=above)
    return os.open(part, flags, dir_fd=above)


def _link_target(part: str, above: int, reached: Path) -> Path | None:
    """Return the target of a link, the entry `part` of the folder `above`; None if it is none.

    Links of other users are refused. In such a folder only the owner of an entry can exchange it,
    so nobody else can while it is read. `OSError` if a program of the user does.
    """
    before = os.stat(part, dir_fd=above, follow_symlinks=False)
    if not stat.S_ISLNK(before.st_mode):
        return None
    _require_owner(before, reached / part)
    target = os.readlink(part, dir_fd=above)
    after = os.stat(part, dir_fd=above, follow_symlinks=False)
    if not os.path.samestat(before, after):
        raise OSError(errno.ESTALE, f"{printable(reached / part)} was exchanged")
    return Path(target)


def _require_owner(status: os.stat_result, where: str | Path) -> None:
    """Refuse an entry that belongs neither to the user nor to root; `where` names it."""
    if status.st_uid not in {0, os.geteuid()}:
        raise OSError(errno.EPERM, f"{printable(where)} belongs to another user")


def _require_own_mount(status: os.stat_result, where: str | Path) -> None:
    """Refuse an entry of a file system that a program of another user serves, on Linux.

    Owners and permissions there are what this program says. `where` names the entry. The kernel
    lists the user with the mount, whose options come last in a line: ``- TYPE SOURCE OPTIONS``.
    """
    if not sys.platform.startswith("linux"):
        return
    try:
        lines = MOUNTS.read_bytes().split(b"\n")  # a name in them may hold other line breaks
    except OSError as error:
        reason = f"{MOUNTS} does not say who mounted {printable(where)}"
        raise OSError(errno.EPERM, reason) from error
    device = b"%d:%d" % (os.major(status.st_dev), os.minor(status.st_dev))
    for line in lines:
        fields = line.split(b" ")
        served_by = _SERVED_BY.search(fields[-1])
        is_of_another = served_by is not None and int(served_by[1]) not in {0, os.geteuid()}
        if device in fields[2:3] and is_of_another:
            raise OSError(errno.EPERM, f"another user mounted {printable(where)}")


def _require_private(status: os.stat_result, where: str | Path, passed: int | None = None) -> None:
    """Refuse a file or folder that others may change; `where` names it.

    `passed` is the handle of a folder above the last one, to which two exceptions apply: the sticky
    bit, and a group that has the user as its only member.
    """
    _require_owner(status, where)
    write_bits = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not write_bits:
        return
    if passed is not None:
        is_sticky = bool(status.st_mode & stat.S_ISVTX)
        if is_sticky:
            return
        is_for_own_group = write_bits == stat.S_IWGRP and _is_own_group(status.st_gid)
        if is_for_own_group and not _has_access_list(passed):
            return
    raise OSError(errno.EPERM, f"others may write to {printable(where)}")


@lru_cache(None)
def _is_own_group(group: int) -> bool:
    """Whether a group is the user's own, of the same name and with no other member."""
    import grp
    import pwd

    try:
        user = pwd.getpwuid(os.geteuid())
        entry = grp.getgrgid(group)
    except KeyError:
        return False
    has_other_members = bool(set(entry.gr_mem) - {user.pw_name})
    if entry.gr_name != user.pw_name or user.pw_gid != group or has_other_members:
        return False
    # Others may have it as their first group, which does not list them.
    return all(other.pw_uid == user.pw_uid for other in pwd.getpwall() if other.pw_gid == group)


def _has_access_list(handle: int) -> bool:
    """Whether a file or folder that is open has an access control list, with rights of others."""
    read_attribute: Any = getattr(os, "getxattr", None)
    if read_attribute is None:
        return False
    try:
        read_attribute(f"/proc/self/fd/{handle}", "system.posix_acl_access")
    except OSError as error:
        return error.errno not in {errno.ENODATA, errno.ENOTSUP}
    return True
