"""Bytes and text from outside: files, and pipes that a shell provides, always up to a limit."""

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from headway.errors import MeasurementError

STDIN = "-"
"""Stands for standard input in place of a file's name."""

ARCHIVES = (".zip", ".tar", ".tgz", ".tbz2", ".txz", ".gz", ".bz2", ".xz", ".zst")
"""Endings of files that may contain other files, or a long one."""

_GIVEN = re.compile(r"/dev/(?:fd/([0-9]{1,9})|(stdin))|/proc/self/fd/([0-9]{1,9})", re.ASCII)


_ALLOWED: ContextVar[tuple[Path, ...]] = ContextVar("_ALLOWED", default=())
"""Folders in which files must be; empty for any."""


@contextmanager
def only_within(*folders: Path) -> Iterator[None]:
    """Read and write only inside some folders, whatever names, links and files say.

    What a shell has opened is not a file in them.

    Parameters
    ----------
    folders
        At least one.
    """
    token = _ALLOWED.set(tuple(Path(os.path.realpath(folder)) for folder in folders))
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def check_allowed(path: Path) -> None:
    """Refuse a file outside the folders in which files must be.

    Raises
    ------
    PermissionError
        If it is, or leads, outside all of them.

    Examples
    --------
    >>> with only_within(Path("runs")):
    ...     check_allowed(Path("runs/a.csv"))
    ...     check_allowed(Path("runs/../b.csv"))
    Traceback (most recent call last):
        ...
    PermissionError: [Errno 13] it is outside the folder that files may be in
    """
    if not (folders := _ALLOWED.get()):
        return
    place = Path(os.path.realpath(path))
    if is_given(path) or not any(place.is_relative_to(folder) for folder in folders):
        raise PermissionError(errno.EACCES, "it is outside the folder that files may be in")


def read_bytes(path: Path, largest: int) -> bytes:
    """Read a file whole, or what a shell pipes in: ``-``, ``/dev/stdin``, ``<(command)``.

    Only up to a limit is read, whatever the file claims to contain. Devices, sockets and named
    pipes are refused, as they may never end or never begin.

    Raises
    ------
    MeasurementError
        If it is missing, unreadable, not a file, or larger than `largest` bytes.
    """
    try:
        content, claimed = _content(path, largest + 1)
    except FileNotFoundError:
        msg = f"{path}: there is no such file"
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        msg = f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})"
    else:
        if len(content) <= largest:
            return content
        size = f"{claimed / 1e6:.0f} MB are more" if claimed > largest else "the file is larger"
        msg = f"{path}: {size} than the limit of {largest / 1e6:.0f} MB; split it or thin it out"
    raise MeasurementError(msg)


def read_text(path: Path, largest: int) -> str:
    """Read a text file in UTF-8, with or without byte order mark.

    Raises
    ------
    MeasurementError
        As for `read_bytes`, and if it is not text.
    """
    try:
        return read_bytes(path, largest).decode("utf-8-sig")
    except UnicodeDecodeError:
        msg = f"{path}: not a text file in UTF-8; save it as UTF-8"
        raise MeasurementError(msg) from None


def is_given(path: Path) -> bool:
    """Whether a path refers to what a shell has opened, rather than to a file.

    Examples
    --------
    >>> is_given(Path("-")), is_given(Path("/dev/fd/63")), is_given(Path("curve.csv"))
    (True, True, False)
    """
    return str(path) == STDIN or _GIVEN.fullmatch(str(path)) is not None


def _content(path: Path, most: int) -> tuple[bytes, int]:
    """The first bytes of a file or given descriptor, and how many it claims to contain."""
    check_allowed(path)
    if is_given(path):
        descriptor = _GIVEN.fullmatch(str(path))
        number = int((descriptor and (descriptor[1] or descriptor[3])) or 0)
        with open(os.dup(number), "rb") as stream:  # noqa: PTH123 - a descriptor, no path
            return stream.read(most), 0
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as stream:  # noqa: PTH123 - a descriptor, no path
        _check_kind(handle)
        return stream.read(most), os.fstat(handle).st_size


def _check_kind(handle: int) -> None:
    """Refuse anything but a regular file."""
    mode = os.fstat(handle).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "a device or named pipe; give a file, or - for standard input")
