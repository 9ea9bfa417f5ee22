"""Files written completely or not at all, through any links that lead to them."""

import os
import stat
import tempfile
from pathlib import Path

from headway.errors import OutputError
from headway.models.files.intake import check_allowed


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name and rename it, so that it is never incomplete.

    A link stays a link, and its target is written; a file keeps its mode. A device, or a pipe that
    someone reads, is written to directly.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    try:
        check_allowed(path)
        target = Path(os.path.realpath(path))
        mode = target.stat().st_mode if os.path.lexists(target) else None
        if mode is None or stat.S_ISREG(mode):
            _replace(target, content, mode)
        else:
            _pour(target, content)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        msg = f"{path}: cannot be written ({getattr(error, 'strerror', None) or error})"
        raise OutputError(msg) from None


def _replace(target: Path, content: bytes, mode: int | None) -> None:
    """Replace what may be there by a new file."""
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(
            None, "it is write-protected; change its permissions, or write elsewhere"
        )
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".headway-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(temporary).chmod(0o666 & ~_umask() if mode is None else stat.S_IMODE(mode))
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _pour(target: Path, content: bytes) -> None:
    """Write to something other than a file, without waiting for a pipe to be read."""
    handle = os.open(target, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    os.set_blocking(handle, True)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
