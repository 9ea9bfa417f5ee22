"""A crew: a number of workers, and the executor that gives them work."""

from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Executor, Future
from os import cpu_count
from types import TracebackType
from typing import Any, Self

from headway.errors import WorkerError

POLL = 1.0
"""Time between checks that a crew still works, while waiting for results [s]."""


class Crew:
    """Workers of an executor; a context manager that stops everything it has started.

    This class wraps a caller's executor, which it does not shut down.

    Attributes
    ----------
    executor
        The executor that receives the work; `renew` replaces it.
    size
        Number of workers, at least 1.
    name
        Their description in messages: ``2 processes``.
    """

    def __init__(self, executor: Executor, size: int, name: str) -> None:
        self.executor = executor
        self.size = size
        self.name = name

    def submit(self, function: Callable[..., Any], *arguments: object) -> "Future[Any]":
        """Submit a call to a worker."""
        return self.executor.submit(function, *arguments)

    def renew(self, error: BaseException) -> None:
        """Replace a broken executor.

        Raises
        ------
        WorkerError
            If there is no replacement.
        """
        msg = f"{self.name}: its workers have gone ({in_one_line(error)})"
        raise WorkerError(msg) from error

    def explain(self, error: Exception) -> Exception:
        """Translate an error of the executor itself; errors of tasks stay as they are."""
        if isinstance(error, CancelledError):
            return WorkerError(f"{self.name} dropped a task")
        return error

    def look(self) -> None:
        """Check that there are still workers; called every `POLL` seconds while waiting.

        Raises
        ------
        WorkerError
            If no work can ever be done.
        BrokenExecutor
            If workers died.
        """

    def drop(self, futures: "Iterable[Future[Any]]") -> None:
        """Cancel work that is no longer needed."""
        for future in futures:
            future.cancel()

    def stop(self) -> None:
        """Release the workers, whatever they are doing."""

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
    """Number of workers of an executor, or of processors of this machine if it does not say.

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
    """Make a crew of a caller's executor or crew; None stands for this process.

    Raises
    ------
    WorkerError
        For anything else.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> crew_of(ThreadPoolExecutor(3)).size
    3
    >>> crew_of(8)
    Traceback (most recent call last):
        ...
    headway.errors.WorkerError: executor must be a concurrent.futures Executor or a crew, not 8
    """
    if workers is None or isinstance(workers, Crew):
        return workers
    if isinstance(workers, Executor):
        return Crew(workers, workers_of(workers), type(workers).__name__)
    msg = f"executor must be a concurrent.futures Executor or a crew, not {workers!r}"
    raise WorkerError(msg)


def in_one_line(error: BaseException) -> str:
    r"""Return the text of an error in one line.

    Examples
    --------
    >>> in_one_line(ValueError("no such file\n  here")), in_one_line(KeyError())
    ('no such file here', 'KeyError')
    """
    return " ".join(str(error).split()) or type(error).__name__
