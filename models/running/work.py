"""The work of a worker: unpack a task, run it, and return its result or its error.

Tasks travel as bytes that are packed here, in the submitting thread: whatever cannot be packed is
reported at once, the function is packed once for all tasks and unpacked once per worker, and a
failure to unpack is the error of one task instead of breaking the pool.
"""

import pickle
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from headway import __version__
from headway.errors import WorkerError

KEPT = 4
"""Most functions that a worker keeps unpacked."""


def packed(thing: object) -> bytes:
    """Pack a function or a task for a worker.

    Raises
    ------
    WorkerError
        If it cannot be pickled, such as a lambda.

    Examples
    --------
    >>> packed(len) == packed(len)
    True
    >>> packed(number for number in [1])
    Traceback (most recent call last):
        ...
    headway.errors.WorkerError: this task cannot be sent to workers: cannot pickle 'generator'
    object
    """
    try:
        return pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        msg = f"this task cannot be sent to workers: {error}"
        raise WorkerError(msg) from error


def work(version: str, function: bytes, task: bytes) -> Any:
    """Run a task on a worker.

    Parameters
    ----------
    version
        Version of headway in the submitting process; a worker that joins late may have another.
    function, task
        As `packed` made them.

    Raises
    ------
    WorkerError
        If this worker has another version, or cannot unpack the task.
    Exception
        What the function raises, as it is if it can be pickled.

    Examples
    --------
    >>> work(__version__, packed(len), packed("four"))
    4
    """
    if version != __version__:
        msg = (
            f"a worker has headway {__version__}, this process has {version}; install the same "
            "version"
        )
        raise WorkerError(msg)
    known, given = _unpacked(function, task)
    try:
        return known(given)
    except Exception as error:
        sendable = _sendable(error)
        if sendable is error:
            raise
        raise sendable from error


def _unpacked(function: bytes, task: bytes) -> tuple[Callable[[Any], Any], Any]:
    try:
        return _function(function), pickle.loads(task)  # noqa: S301 - packed by ourselves
    except (AttributeError, ImportError, pickle.UnpicklingError) as error:
        msg = (
            f"a worker cannot unpack a task: {error}; workers import modules, "
            "never the script itself: move its definitions to a module"
        )
        raise WorkerError(msg) from error


@lru_cache(maxsize=KEPT)
def _function(function: bytes) -> Callable[[Any], Any]:
    unpacked: Callable[[Any], Any] = pickle.loads(function)  # noqa: S301 - packed by ourselves
    return unpacked


def _sendable(error: Exception) -> Exception:
    """Return an error unchanged if it can be pickled, else its text."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - packed in this line
    except Exception:
        return WorkerError(f"a task failed: {type(error).__name__}: {error}")
    return error
