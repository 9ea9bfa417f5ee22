"""Judge configurations by the probability that all goals hold, for uncertain parameters."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import FloatArray, check_domain
from headway.models.analysis.points import outputs_over
from headway.models.sizing.choices import Columns
from headway.models.sizing.judge import ByModel, Chance, Verdict, all_met
from headway.models.structure.inputs import ARRIVAL_RATE
from headway.models.structure.model import Model
from headway.models.uncertain.beyond import acting_rate, is_time, of_load
from headway.models.uncertain.mixture import Member, mixture
from headway.records import dataclass

_FIRST_DRAWS, _LEAST_DRAWS = 64, 2048
_FAILURES = 20  # fewest draws in which the least certain acceptable configuration fails
_SUREST = 99.98
_SEED = 1
_ROUNDING = 1e-9
_MOST_POINTS = 262_144  # most points solved together


@dataclass(frozen=True, eq=False)
class ByChance:
    """Judges by the share of draws of the uncertain parameters in which all goals hold.

    Most configurations fail so many of the first draws that the rest cannot change the verdict;
    only the others are solved for all draws. A probability is the share of the draws that were
    solved.

    Parameters
    ----------
    certain
        Judges at the best values of the parameters.
    members
        Draws of the model and of its alternatives.
    confidence
        The least share of draws in which all goals must hold, above 0 and below 1.
    is_full
        Whether to solve every configuration for all draws, for display.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> from headway.models.analysis.goals import Goal
    >>> model = catalogue_model("server-single").at(delay=0.001, service_time=0.001)
    >>> certain = ByModel(model, (Goal("response_time", "<=", 0.004),))
    >>> drawn = Member(model, {"delay": np.linspace(0.0005, 0.0025, 1000)}, 1000, np.ones(1000))
    >>> answer = ByChance(certain, (drawn,), 0.9)({"service_time": np.array([0.001, 0.0012])})
    >>> answer.share.round(2).tolist(), answer.met.tolist()
    ([0.75, 0.25], [False, False])
    """

    certain: ByModel
    members: tuple[Member, ...]
    confidence: float
    is_full: bool = False

    @property
    def is_slow(self) -> bool:
        """Whether percentiles are computed for one configuration at a time."""
        return self.certain.is_slow

    @property
    def along_axes(self) -> bool:
        """Whether measures at the best values are quicker by the axes of a grid."""
        return self.certain.along_axes

    @property
    def at_once(self) -> bool:
        """Never: configurations share the draws, but are judged one by one."""
        return False

    @property
    def chance(self) -> Chance:
        """The definition of the probabilities."""
        names = dict.fromkeys(name for member in self.members for name in member.values)
        return Chance(self.confidence, self.count, tuple(names))

    @property
    def count(self) -> int:
        """Number of draws."""
        return sum(member.count for member in self.members)

    @property
    def allowed(self) -> int:
        """Most draws in which a configuration may fail."""
        return math.floor((1 - self.confidence) * self.count + _ROUNDING)

    def __call__(self, columns: Columns) -> Verdict:
        """Judge configurations."""
        known = self.certain(columns)
        failed, tried = self._failures(columns)
        share = 1 - failed / tried
        misses = self.confidence - share
        return Verdict(failed <= self.allowed, known.outputs, known.measure, misses, share)

    def full(self) -> "ByChance":
        """Judge with every configuration solved for all draws."""
        return replace(self, is_full=True)

    def measures(self, columns: Columns) -> FloatArray:
        """The ranking measure alone, at the best values."""
        return self.certain.measures(columns)

    def _failures(self, columns: Columns) -> tuple[FloatArray, FloatArray]:
        """Number of draws in which a goal fails, by configuration, and number of draws solved."""
        size = next(iter(columns.values())).size
        failed, tried = np.zeros(size), np.zeros(size)
        left = np.arange(size)
        for start, stop in self._batches():
            part = {name: column[left] for name, column in columns.items()}
            for member in self.members:
                some = slice(start * member.count // self.count, stop * member.count // self.count)
                if some.start < some.stop:
                    failed[left] += self._failures_of(part, member, some)
                    tried[left] += some.stop - some.start
            if not self.is_full:
                left = left[failed[left] <= self.allowed]
            if not left.size:
                break
        return failed, tried

    def _batches(self) -> Iterator[tuple[int, int]]:
        start, stop = 0, min(_FIRST_DRAWS, self.count)
        while start < self.count:
            yield start, stop
            start, stop = stop, min(4 * stop, self.count)

    def _failures_of(self, columns: Columns, member: Member, draws: slice) -> FloatArray:
        """Number of the given draws of a member in which each configuration misses a goal."""
        size = next(iter(columns.values())).size
        width = draws.stop - draws.start
        step = max(_MOST_POINTS // width, 1)
        parts = [
            self._met(columns, slice(a, a + step), member, draws) for a in range(0, size, step)
        ]
        return np.asarray(width - np.concatenate([met.sum(axis=1) for met in parts], dtype=float))

    def _met(
        self, columns: Columns, some: slice, member: Member, draws: slice
    ) -> NDArray[np.bool_]:
        """Whether all goals hold, shape (configurations, draws)."""
        names, width = [goal.output for goal in self.certain.goals], draws.stop - draws.start
        part = {name: column[some] for name, column in columns.items()}
        values = {name: drawn[draws] for name, drawn in member.values.items()}
        rows = next(iter(part.values())).size
        grid = {name: column[:, None] for name, column in part.items()}
        acting = acting_rate(member.model, {**of_load(values), **grid}, member.further[draws])
        every = {name: np.tile(drawn, rows) for name, drawn in values.items()}
        every |= {name: np.repeat(column, width) for name, column in part.items()}
        outputs = _outputs_at(member.model, every, names, acting)
        return all_met(self.certain.goals, outputs).reshape(rows, width)


def _outputs_at(
    model: Model, every: Columns, names: Sequence[str], acting: FloatArray | None
) -> FloatArray:
    """Outputs by row; times at the rate that acts on them, where it is another."""
    late = [k for k, name in enumerate(names) if acting is not None and is_time(name)]
    soon = [k for k in range(len(names)) if k not in late]
    outputs = np.empty((next(iter(every.values())).size, len(names)))
    if soon:
        outputs[:, soon] = outputs_over(model, every, [names[k] for k in soon])
    if acting is not None and late:
        at_rate = {**every, ARRIVAL_RATE: acting.ravel()}
        outputs[:, late] = outputs_over(model, at_rate, [names[k] for k in late])
    return outputs


def by_chance(
    certain: ByModel, model: Model, confidence: float, chosen: Collection[str]
) -> ByChance:
    """Judge by draws of the uncertain parameters of a model, and of its alternatives.

    Parameters
    ----------
    certain
        Judges at the best values of the parameters.
    model
        The model, with its alternatives.
    confidence
        The least probability with which all goals must hold [%].
    chosen
        Parameters that are chosen, which are then not uncertain.

    Raises
    ------
    InvalidParameter
        For a confidence of 0 or beyond the resolution of the draws, and if nothing is uncertain.
    """
    check_domain(
        "confidence",
        confidence,
        lambda c: (c > 0) & (c <= _SUREST),
        f"above 0 and at most {_SUREST}",
    )
    failing = 1 - confidence / 100
    count = max(_LEAST_DRAWS, 2 ** math.ceil(math.log2(_FAILURES / failing)))
    members = tuple(
        replace(member, values={n: v for n, v in member.values.items() if n not in chosen})
        for member in mixture(model, count, _SEED)
    )
    if not any(member.values for member in members) and len(members) == 1:
        msg = f"{model.name}: only the choices are uncertain; remove the confidence"
        raise InvalidParameter(msg)
    return ByChance(certain, members, confidence / 100)
