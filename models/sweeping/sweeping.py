"""Sweeps: solve all points of a space in chunks, on all workers."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from headway.errors import HeadwayError, InvalidParameter, MeasurementError, OutputError
from headway.models.files.locks import only_writer
from headway.models.running.crews import Crew, crew_of
from headway.models.running.pool import every_core
from headway.models.running.spreading import spread
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.alternatives import able_to, weighted
from headway.models.structure.model import Model, check_model
from headway.models.sweeping.chunks import Chunk, Chunks, Merge, Subtree, folded, joined
from headway.models.sweeping.kernel import Done, Job, Task, block_of, work
from headway.models.sweeping.making import space_of, suited
from headway.models.sweeping.quantities import known_names, known_units
from headway.models.sweeping.reductions.grammar import reductions_of
from headway.models.sweeping.reductions.reduction import Reduction
from headway.models.sweeping.saving import Saved, check_path, fingerprint, load, save
from headway.models.sweeping.spaces import Space
from headway.models.sweeping.sweep import Sweep, SweepEffort

DEFAULT = ("moments", "quantiles=p50,p95,p99")

PATIENCE = 5.0
"""Without given workers, this process alone does work up to this time [s]."""

SAVED_EVERY = 5.0
"""Time between two writings of a saved sweep [s]."""

SAVED_SHARE = 0.05
"""Largest share of the time that writing may take."""

Progress = Callable[[int, int, float], None]
"""Called with finished points, all points, and points per second."""


def sweep_model(
    model: Model,
    space: Space | Mapping[str, Any],
    outputs: Sequence[str] = ("response_time",),
    reduce: Iterable[str | Reduction] = DEFAULT,
    executor: Crew | Executor | None = None,
    method: str = "auto",
    out: Path | None = None,
    resume: bool = False,  # noqa: FBT001, FBT002 - a verb's arguments are passed by place
    progress: Progress | None = None,
    chunk: int | None = None,
) -> Sweep:
    """Solve a model at every point of a space and keep the requested summaries.

    Parameters
    ----------
    model
        The model; parameters that are not swept keep their values.
    space
        The points; a mapping of names to values is a grid.
    outputs
        Outputs to which reductions without an output apply.
    reduce
        Reductions to keep, as text or objects.
    executor
        The workers. By default, this process for work up to 5 s, and processes on all cores for
        longer work.
    method
        Method for a closed network, as for `Model.solve`.
    out, resume
        A file for the finished part, written repeatedly; whether to resume from it.
    progress
        Called after every chunk.
    chunk
        Blocks of a chunk, a power of two; by default adapted to the time they take.

    Raises
    ------
    InvalidParameter, UnknownParameter, GraphError
        For an unsuitable space or reduction, and points that cannot be solved.
    OutputError
        If the file cannot be written, or another sweep is writing it.
    """
    check_model(model)
    asked = space_of(space)
    kept = tuple(reduce)
    able = able_to(model, lambda one: _job(one, suited(asked, one), outputs, kept, method))
    own, *others = (one.model for one in weighted(able))
    points = suited(asked, own)
    job, first = _job(own, points, outputs, kept, method)
    run = _Run(job, points, first, _level(chunk), out, progress)
    with nullcontext() if out is None else only_writer(out):
        if resume:
            run.take_up()
        else:
            run.check_free()
        interrupted = run.go(crew_of(executor))
    answer = run.answer(interrupted=interrupted)
    if interrupted or not others:
        return replace(answer, model=able)
    each = (sweep_model(one, asked, outputs, kept, executor, method) for one in others)
    return replace(answer, model=able, alternatives=tuple(each))


def _level(chunk: int | None) -> int | None:
    if chunk is None:
        return None
    if chunk < 1 or chunk & (chunk - 1):
        msg = f"chunk is {chunk} blocks; it must be a power of two, such as 8"
        raise InvalidParameter(msg)
    return chunk.bit_length() - 1


def _job(
    model: Model,
    space: Space,
    outputs: Sequence[str],
    reduce: Iterable[str | Reduction],
    method: str,
) -> tuple[Job, Solution]:
    """The work at every point, and the solution of the first, which shows errors early."""
    points = space.piece(0, 1).points(0, 1)
    first = model.at(points).solve(method=method)
    units = known_units(first)
    reductions = reductions_of([*reduce], known_names(outputs, units), units)
    for each in reductions:
        each.check(space.size)
    needed = dict.fromkeys(name for each in reductions for name in each.needs)
    solved = tuple(name for name in needed if name not in points)
    first = first.answering(*solved)
    block = block_of(first, solved, space.ends())
    return Job(model, solved, reductions, block, space.size, method), first


@dataclass
class _Run:
    """A running sweep, with its finished part."""

    job: Job
    space: Space
    first: Solution
    level: int | None
    out: Path | None
    progress: Progress | None
    subtrees: tuple[Subtree, ...] = ()
    effort: SweepEffort = field(default_factory=lambda: SweepEffort(0, 0.0, 0.0, 0.0, 1, 0))
    saved_at: float = 0.0
    saving: float = 0.0

    @property
    def merges(self) -> list[Merge]:
        """Merge functions of the reductions."""
        return [reduction.merge for reduction in self.job.reductions]

    @property
    def done(self) -> int:
        """Number of finished blocks."""
        return self.subtrees[-1].chunk.end if self.subtrees else 0

    def take_up(self) -> None:
        """Resume from a file."""
        if self.out is None:
            msg = "--resume needs the file of the sweep; give it with --out FILE"
            raise InvalidParameter(msg)
        saved = load(self.out, fingerprint(self.job, self.space))
        self.subtrees, self.effort = saved.subtrees, saved.effort

    def check_free(self) -> None:
        """Refuse to overwrite the finished part of the same sweep."""
        if self.out is None:
            return
        try:
            saved = load(self.out, fingerprint(self.job, self.space))
        except (InvalidParameter, MeasurementError):
            check_path(self.out)
            return
        if saved.effort.points < self.job.size:
            msg = (
                f"{self.out}: already contains {saved.effort.points:,} of {self.job.size:,} "
                "points of this sweep; continue with --resume, or remove the file"
            )
            raise InvalidParameter(msg)

    def go(self, crew: Crew | None) -> bool:
        """Do the remaining work; return True if Ctrl-C ended it."""
        start, earlier = perf_counter(), self.effort.seconds
        self.saved_at = start
        chunks = Chunks(self.done, self.job.blocks, self.level or 0, fixed=self.level is not None)
        try:
            with closing(self._done(chunks, crew)) as each:
                for done, workers in each:
                    chunks.took(done.subtree.chunk, done.seconds)
                    self._take(done, earlier + perf_counter() - start, workers)
        except KeyboardInterrupt:
            if not self.subtrees:
                raise
            self._save()
            return True
        except HeadwayError:
            with suppress(OutputError):
                self._save()
            raise
        self._save()
        return False

    def _done(self, chunks: Chunks, crew: Crew | None) -> Generator[tuple[Done, int]]:
        """Finished chunks in order, with the number of workers; the first in this process.

        The first chunk shows errors early, and how long the rest will take.
        """
        tasks = (self._task(chunk) for chunk in chunks)
        for task in tasks:
            yield work(task), 1
            if crew is not None:
                yield from ((done, crew.size) for done in spread(work, tasks, crew))
            elif self._left() >= PATIENCE:
                with every_core() as cores:
                    yield from ((done, cores.size) for done in spread(work, tasks, cores))

    def _left(self) -> float:
        """Time that one worker needs for the rest [s]."""
        return (self.job.size - self.effort.points) / self.effort.rate

    def _task(self, chunk: Chunk) -> Task:
        return Task(self.job, chunk, self.space.piece(*self.job.points(chunk)))

    def _take(self, done: Done, seconds: float, workers: int) -> None:
        self.subtrees = joined(self.subtrees, done.subtree, self.merges)
        before, points = self.effort, min(self.done * self.job.block, self.job.size)
        self.effort = SweepEffort(
            points,
            seconds,
            before.working + done.seconds,
            before.solving + done.solving,
            workers,
            before.chunks + 1,
        )
        if self.progress is not None:
            self.progress(points, self.job.size, points / seconds)
        now = perf_counter()
        if now - self.saved_at > max(SAVED_EVERY, self.saving / SAVED_SHARE):
            self._save()

    def _save(self) -> None:
        """Write the finished part, if there is any and a file for it."""
        if self.out is None or not self.subtrees:
            return
        start = perf_counter()
        saved = Saved(fingerprint(self.job, self.space), self.subtrees, self.effort)
        save(self.out, saved, self.answer(interrupted=False).results)
        self.saved_at = perf_counter()
        self.saving = self.saved_at - start

    def answer(self, *, interrupted: bool) -> Sweep:
        """The results so far."""
        job = self.job
        points = min(self.done * job.block, job.size)
        return Sweep(
            job.model,
            self.space,
            job.reductions,
            folded(self.subtrees, self.merges),
            replace(self.effort, points=points, interrupted=interrupted),
            self.first,
        )
