"""A judge that tells how many configurations it has looked at."""

from collections.abc import Callable, Iterator
from dataclasses import field

from headway.kinds import FloatArray
from headway.models.sizing.choices import Columns
from headway.models.sizing.judge import Chance, Judge, Verdict, joined
from headway.models.structure.model import Model
from headway.models.structure.network_kind import NetworkKind
from headway.records import dataclass

Progress = Callable[[str, float], None]
"""Called with what was done, and its share of the most that there is to do."""

_LAYERED, _SLOWER, _QUICK = 64, 512, 8192  # configurations between two reports


@dataclass(frozen=True, eq=False)
class Watched:
    """Judges as another judge does, some configurations at a time, and tells how many they were.

    Parameters
    ----------
    judge
        The judge.
    progress
        What is told; it does not change the verdict.
    most
        Number of configurations that are offered.
    part
        Configurations judged between two reports.
    done
        How many were judged until now.
    """

    judge: Judge
    progress: Progress
    most: int
    part: int
    done: list[int] = field(default_factory=lambda: [0], repr=False)

    def __call__(self, columns: Columns) -> Verdict:
        """Judge configurations; those given by their axes all at once."""
        if any(column.ndim != 1 for column in columns.values()):
            return self._counted(columns)
        return joined([self._counted(part) for part in self._parts(columns)])

    def _counted(self, columns: Columns) -> Verdict:
        verdict = self.judge(columns)
        self.done[0] = min(self.done[0] + verdict.met.size, self.most)
        seen = f"{self.done[0]:,} of {self.most:,} configurations"
        self.progress(seen, self.done[0] / self.most)
        return verdict

    def _parts(self, columns: Columns) -> Iterator[Columns]:
        size = next(iter(columns.values())).size
        for start in range(0, max(size, 1), self.part):
            yield {name: c[start : start + self.part] for name, c in columns.items()}

    def measures(self, columns: Columns) -> FloatArray:
        """The ranking measure alone."""
        return self.judge.measures(columns)

    def full(self) -> Judge:
        """Judge without shortcuts and reports, for configurations that are shown."""
        return self.judge.full()

    @property
    def along_axes(self) -> bool:
        """As the judge."""
        return self.judge.along_axes

    @property
    def at_once(self) -> bool:
        """As the judge."""
        return self.judge.at_once

    @property
    def is_slow(self) -> bool:
        """As the judge."""
        return self.judge.is_slow

    @property
    def chance(self) -> Chance | None:
        """As the judge."""
        return self.judge.chance


def watched(judge: Judge, model: Model, progress: Progress | None, most: int) -> Judge:
    """A judge that tells how far it is, the more often the longer its configurations take.

    Parameters
    ----------
    judge, model
        The judge, and the model that it solves.
    progress
        What is told; None for nothing.
    most
        Number of configurations that are offered.

    Examples
    --------
    >>> import numpy as np
    >>> from headway.models import catalogue_model
    >>> from headway.models.analysis.goals import Goal
    >>> from headway.models.sizing.judge import ByModel
    >>> model = catalogue_model("server-single").at(delay="1 ms", arrival_rate=500)
    >>> judge = ByModel(model, (Goal("response_time", "<=", 0.0025),))
    >>> told = watched(judge, model, lambda seen, _: print(seen), 3)
    >>> told({"service_time": np.array([0.0005, 0.001, 0.002])}).met.tolist()
    3 of 3 configurations
    [True, False, False]
    """
    if progress is None:
        return judge
    part = _QUICK
    if judge.is_slow:
        part = 1
    elif model.graph.layers:
        part = _LAYERED
    elif judge.chance or model.network_kind is not NetworkKind.OPEN:
        part = _SLOWER
    return Watched(judge, progress, most, part)
