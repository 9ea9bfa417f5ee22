"""Tasks done by a crew: in order, a few at a time, again where a worker died."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from headway import __version__
from headway.errors import InvalidParameter, WorkerError
from headway.models.running.crews import POLL, Crew, told
from headway.models.running.work import packed, work

Task = TypeVar("Task")
Result = TypeVar("Result")

EACH = 3
"""Tasks pending for each worker: one that it does, and what it does next."""
BREAKS = 3
"""How often in a row workers may die before the next result is there."""


def spread(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    crew: Crew | None = None,
    window: int | None = None,
) -> Iterator[Result]:
    """Do tasks on a crew's workers; the results come in the order of the tasks.

    Parameters
    ----------
    function
        What is done with a task; of a module, so that workers can import it.
    tasks
        What it is done with. They are taken one by one, as results are taken: an endless iterator
        will do.
    crew
        The workers; none for this process, one task after the other.
    window
        How many tasks are pending at most, those done but not yet taken among them; three for
        each worker unless told.

    Yields
    ------
    Result
        The function's, one a task.

    Raises
    ------
    WorkerError
        If workers die again and again, or a task cannot be sent to one.
    Exception
        What the function raises, where the results come to that task; what is pending is then
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
    """A task on its way."""

    task: bytes
    number: int
    future: "Future[Any] | None" = None


@dataclass(slots=True)
class _Line:
    """The tasks that are pending, in order."""

    crew: Crew
    function: bytes
    jobs: deque[_Job] = field(default_factory=deque)
    taken: int = 0
    breaks: int = 0

    def take(self, tasks: Iterator[bytes], most: int) -> bool:
        """Take further tasks while there is room; whether any is pending."""
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
        """Give out what waits; after two breaks the first task alone, to see whether it kills."""
        for job in islice(self.jobs, 1 if self.breaks > 1 else None):
            if job.future is None:
                job.future = self.crew.submit(work, __version__, self.function, job.task)

    def _wait(self, job: _Job) -> Any:
        future = job.future
        assert future is not None  # noqa: S101 - just given out
        while True:
            try:
                return future.result(timeout=POLL)
            except NotYet:
                if future.done():  # the task's own error of that name
                    return future.result()
                self.crew.look()

    def _again(self, error: BrokenExecutor) -> None:
        """Make the workers anew, and let them do again what is not done."""
        self.breaks += 1
        if self.breaks > BREAKS:
            msg = (
                f"task {self.jobs[0].number} was begun {self.breaks} times, and each time the "
                f"worker died ({told(error)}); out of memory?"
            )
            raise WorkerError(msg) from error
        for job in self.jobs:
            if not _is_well(job.future):
                job.future = None
        self.crew.renew(error)

    def drop(self) -> None:
        """Give up what is pending."""
        self.crew.drop([job.future for job in self.jobs if job.future is not None])


def _is_well(future: "Future[Any] | None") -> bool:
    """Whether a task was done before the workers died, well or with an error of its own."""
    if future is None or not future.done() or future.cancelled():
        return False
    return not isinstance(future.exception(), BrokenExecutor)
