"""One writer at a time for a file that is written again and again."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from headway.errors import OutputError


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Keep other users of this function from writing a file, by a lock on a hidden file next to it.

    The system releases the lock when this process ends, however it ends. Where locks do not exist
    (Windows, some network file systems), every process may write.

    Parameters
    ----------
    path
        The file, which need not exist.

    Raises
    ------
    OutputError
        If another process has the lock, or nothing can be written next to the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "sweep.npz"
    ...     try:
    ...         with only_writer(path), only_writer(path):
    ...             pass
    ...     except OutputError as error:
    ...         print(str(error).split("sweep.npz: ")[1])
    another process is writing it; wait until it ends, or write to another file
    """
    if sys.platform == "win32":
        yield
        return
    try:
        target = Path(os.path.realpath(path))
        beside = target.with_name(f".{target.name}.lock")
        handle = _locked(beside)
    except BlockingIOError:
        msg = f"{path}: another process is writing it; wait until it ends, or write to another file"
        raise OutputError(msg) from None
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        msg = f"{path}: cannot be written ({getattr(error, 'strerror', None) or error})"
        raise OutputError(msg) from None
    try:
        yield
    finally:
        with suppress(OSError):
            beside.unlink()
        os.close(handle)


def _locked(beside: Path) -> int:
    """Open and lock a file that its holder deletes: make sure that the locked file still exists."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    while True:
        handle = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            flock(handle, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise
        except OSError:  # a file system without locks
            return handle
        if _is(handle, beside):
            return handle
        os.close(handle)


def _is(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
