"""A crew: how many workers there are, and the executor that gives them work."""

from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Executor, Future
from os import cpu_count
from types import TracebackType
from typing import Any, Self

from headway.errors import WorkerError

POLL = 1.0
"""Seconds between looks at whether a crew is still there, while its work is waited for."""


class Crew:
    """Workers of an executor; a context manager that leaves nothing of its own running behind.

    This one is of an executor that a caller has, and that stays the caller's.

    Attributes
    ----------
    executor
        What work is given to; another one after `renew`.
    size
        How many workers there are, at least 1.
    name
        What they are, for messages: ``2 processes``.
    """

    def __init__(self, executor: Executor, size: int, name: str) -> None:
        self.executor = executor
        self.size = size
        self.name = name

    def submit(self, function: Callable[..., Any], *arguments: object) -> "Future[Any]":
        """Give a call to a worker."""
        return self.executor.submit(function, *arguments)

    def renew(self, error: BaseException) -> None:
        """Replace an executor that broke.

        Raises
        ------
        WorkerError
            If there is no other.
        """
        msg = f"{self.name}: its workers are gone ({told(error)})"
        raise WorkerError(msg) from error

    def explain(self, error: Exception) -> Exception:
        """Say what an error of the executor's own means; a task's error stays as it is."""
        if isinstance(error, CancelledError):
            return WorkerError(f"{self.name} dropped a task")
        return error

    def look(self) -> None:
        """Look whether there are still workers; called every `POLL` seconds of waiting.

        Raises
        ------
        WorkerError
            If nothing will ever be done.
        BrokenExecutor
            If workers died.
        """

    def drop(self, futures: "Iterable[Future[Any]]") -> None:
        """Give up work that nobody waits for any longer."""
        for future in futures:
            future.cancel()

    def stop(self) -> None:
        """Let the workers go, whatever they do."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _t: TracebackType | None,
    ) -> None:
        self.stop()


def workers_of(executor: Executor) -> int:
    """How many workers an executor has, where it tells; else the processors of this machine.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> workers_of(ThreadPoolExecutor(3))
    3
    """
    for name in ("num_workers", "_max_workers"):  # mpi4py's name; the standard library's, loky's
        count = getattr(executor, name, None)
        if isinstance(count, int) and count >= 1:
            return count
    return cpu_count() or 1


def crew_of(workers: object) -> Crew | None:
    """Make a crew of what a caller gives: an executor, a crew, or nothing for this process.

    Raises
    ------
    WorkerError
        If it is neither.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> crew_of(ThreadPoolExecutor(3)).size
    3
    >>> crew_of(8)
    Traceback (most recent call last):
        ...
    headway.errors.WorkerError: executor: takes a concurrent.futures Executor or a crew, not 8
    """
    if workers is None or isinstance(workers, Crew):
        return workers
    if isinstance(workers, Executor):
        return Crew(workers, workers_of(workers), type(workers).__name__)
    msg = f"executor: takes a concurrent.futures Executor or a crew, not {workers!r}"
    raise WorkerError(msg)


def told(error: BaseException) -> str:
    r"""An error in one line.

    Examples
    --------
    >>> told(ValueError("no such file\n  here")), told(KeyError())
    ('no such file here', 'KeyError')
    """
    return " ".join(str(error).split()) or type(error).__name__
