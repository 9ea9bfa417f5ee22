"""Run tasks on a crew: in order, a few at a time, repeated if a worker dies."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from headway import __version__
from headway.errors import InvalidParameter, WorkerError
from headway.models.running.crews import POLL, Crew, in_one_line
from headway.models.running.work import packed, work

Task = TypeVar("Task")
Result = TypeVar("Result")

EACH = 3
"""Pending tasks for each worker: the current one and the next ones."""
BREAKS = 3
"""How many times workers may die before the next result arrives."""


def spread(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    crew: Crew | None = None,
    window: int | None = None,
) -> Iterator[Result]:
    """Run tasks on the workers of a crew; yield the results in the order of the tasks.

    Parameters
    ----------
    function
        Called with each task; it must be importable from a module.
    tasks
        Arguments of the function. They are read one by one, as results are consumed, so the
        iterator may be endless.
    crew
        The workers; None runs the tasks in this process, one after another.
    window
        Most pending tasks, including results not yet consumed; three for each worker by default.

    Yields
    ------
    Result
        Result of the function, one for each task.

    Raises
    ------
    WorkerError
        If workers die repeatedly, or a task cannot be sent.
    Exception
        Whatever the function raises, in place of the result of that task; pending tasks are then
        cancelled, as on Ctrl-C.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from headway.models.running.crews import crew_of
    >>> list(spread(len, ["one", "three"], crew_of(ThreadPoolExecutor(2))))
    [3, 5]
    """
    if crew is None:
        yield from map(function, tasks)
        return
    wanted = EACH * crew.size if window is None else window
    if wanted < 1:
        msg = f"window is {wanted}; give at least 1 pending task"
        raise InvalidParameter(msg)
    line = _Line(crew, packed(function))
    packs = map(packed, tasks)
    try:
        while line.take(packs, wanted):
            yield line.first()
    finally:
        line.drop()


@dataclass(slots=True)
class _Job:
    """A submitted task."""

    task: bytes
    number: int
    future: "Future[Any] | None" = None


@dataclass(slots=True)
class _Line:
    """The pending tasks, in order."""

    crew: Crew
    function: bytes
    jobs: deque[_Job] = field(default_factory=deque)
    taken: int = 0
    breaks: int = 0

    def take(self, tasks: Iterator[bytes], most: int) -> bool:
        """Submit further tasks while there is room; return whether any is pending."""
        for task in islice(tasks, max(0, most - len(self.jobs))):
            self.jobs.append(_Job(task, self.taken))
            self.taken += 1
        return bool(self.jobs)

    def first(self) -> Any:
        """Wait for the first task's result."""
        while True:
            try:
                self._submit()
                result = self._wait(self.jobs[0])
            except BrokenExecutor as error:
                self._again(error)
            except Exception as error:
                known = self.crew.explain(error)
                if known is error:
                    raise
                raise known from error
            else:
                self.jobs.popleft()
                self.breaks = 0
                return result

    def _submit(self) -> None:
        """Submit waiting tasks; after two breaks only the first, in case it kills workers."""
        for job in islice(self.jobs, 1 if self.breaks > 1 else None):
            if job.future is None:
                job.future = self.crew.submit(work, __version__, self.function, job.task)

    def _wait(self, job: _Job) -> Any:
        future = job.future
        assert future is not None  # noqa: S101 - just submitted
        while True:
            try:
                return future.result(timeout=POLL)
            except NotYet:
                if future.done():  # the task's own error of that name
                    return future.result()
                self.crew.look()

    def _again(self, error: BrokenExecutor) -> None:
        """Replace the workers, and repeat unfinished tasks."""
        self.breaks += 1
        if self.breaks > BREAKS:
            msg = (
                f"task {self.jobs[0].number} was started {self.breaks} times, and each time the "
                f"worker died ({in_one_line(error)}); check its memory"
            )
            raise WorkerError(msg) from error
        for job in self.jobs:
            if not _is_well(job.future):
                job.future = None
        self.crew.renew(error)

    def drop(self) -> None:
        """Cancel pending tasks."""
        self.crew.drop([job.future for job in self.jobs if job.future is not None])


def _is_well(future: "Future[Any] | None") -> bool:
    """Whether a task finished before the workers died, with a result or an error of its own."""
    if future is None or not future.done() or future.cancelled():
        return False
    return not isinstance(future.exception(), BrokenExecutor)
