"""Judging configurations by the chance that all goals hold, where parameters are uncertain."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import FloatArray, check_domain
from headway.models.analysis.points import outputs_over
from headway.models.sizing.choices import Columns
from headway.models.sizing.judge import ByModel, Chance, Verdict, all_met
from headway.models.uncertain.sampling import draws

_FIRST_DRAWS, _LEAST_DRAWS = 64, 2048
_FAILURES = 20  # draws at least in which the least sure configuration that will do fails
_SUREST = 99.98
_SEED = 1
_ROUNDING = 1e-9
_MOST_POINTS = 262_144  # solved at once


@dataclass(frozen=True, eq=False)
class ByChance:
    """Judges by the share of draws of the uncertain parameters in which all goals hold.

    Most configurations fail in so many of the first draws that the others cannot save them; only
    those that may yet do are solved for all draws. The probability of the others is told from the
    draws that were solved.

    Parameters
    ----------
    certain
        Judges at the best values.
    samples
        Values drawn by parameter [SI], each of shape (draws,).
    confidence
        The least share of draws in which all goals must hold, above 0 and below 1.
    is_full
        Whether every configuration is solved for all draws, to be shown.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> from headway.models.analysis.goals import Goal
    >>> model = catalogue_model("server-single").at(delay=0.001, service_time=0.001)
    >>> certain = ByModel(model, (Goal("response_time", "<=", 0.004),))
    >>> samples = {"delay": np.linspace(0.0005, 0.0025, 1000)}
    >>> found = ByChance(certain, samples, 0.9)({"service_time": np.array([0.001, 0.0012])})
    >>> found.share.round(2).tolist(), found.met.tolist()
    ([0.75, 0.25], [False, False])
    """

    certain: ByModel
    samples: Mapping[str, FloatArray]
    confidence: float
    is_full: bool = False

    @property
    def is_slow(self) -> bool:
        """Whether percentiles are found configuration by configuration."""
        return self.certain.is_slow

    @property
    def chance(self) -> Chance:
        """What probabilities are of."""
        return Chance(self.confidence, self.count, tuple(self.samples))

    @property
    def count(self) -> int:
        """How many draws there are."""
        return next(iter(self.samples.values())).size

    @property
    def allowed(self) -> int:
        """In how many draws a configuration may fail."""
        return math.floor((1 - self.confidence) * self.count + _ROUNDING)

    def __call__(self, columns: Columns) -> Verdict:
        """Judge configurations."""
        known = self.certain(columns)
        failed, tried = self._failures(columns)
        share = 1 - failed / tried
        misses = self.confidence - share
        return Verdict(failed <= self.allowed, known.outputs, known.measure, misses, share)

    def full(self) -> "ByChance":
        """The same, with every configuration solved for all draws."""
        return replace(self, is_full=True)

    def measures(self, columns: Columns) -> FloatArray:
        """What configurations are ranked by alone, at the best values."""
        return self.certain.measures(columns)

    def _failures(self, columns: Columns) -> tuple[FloatArray, FloatArray]:
        """In how many draws a goal fails, by configuration, and of how many that were needed."""
        size = next(iter(columns.values())).size
        failed, tried = np.zeros(size), np.zeros(size)
        left = np.arange(size)
        for start, stop in self._batches():
            part = {name: column[left] for name, column in columns.items()}
            failed[left] += self._failures_of(part, slice(start, stop))
            tried[left] = stop
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

    def _failures_of(self, columns: Columns, draws: slice) -> FloatArray:
        """In how many of some draws each configuration misses a goal."""
        size = next(iter(columns.values())).size
        width = draws.stop - draws.start
        step = max(_MOST_POINTS // width, 1)
        parts = [self._met(columns, slice(a, a + step), draws) for a in range(0, size, step)]
        return np.asarray(width - np.concatenate([met.sum(axis=1) for met in parts], dtype=float))

    def _met(self, columns: Columns, some: slice, draws: slice) -> NDArray[np.bool_]:
        """Whether all goals hold, shape (configurations, draws)."""
        goals, width = self.certain.goals, draws.stop - draws.start
        chosen = {name: np.repeat(column[some], width) for name, column in columns.items()}
        rows = next(iter(chosen.values())).size // width
        drawn = {name: np.tile(values[draws], rows) for name, values in self.samples.items()}
        asked = [goal.output for goal in goals]
        found = outputs_over(self.certain.model, {**drawn, **chosen}, asked)
        return all_met(goals, found).reshape(rows, width)


def by_chance(certain: ByModel, confidence: float, chosen: Collection[str]) -> ByChance:
    """Judge by draws of the uncertain parameters of a model.

    Parameters
    ----------
    certain
        Judges at the best values.
    confidence
        The least probability with which all goals must hold [%].
    chosen
        Parameters that can be chosen, which are as they are chosen.

    Raises
    ------
    InvalidParameter
        For a confidence of 0, or of more than draws can tell, and where nothing is uncertain.
    """
    check_domain(
        "confidence",
        confidence,
        lambda c: (c > 0) & (c <= _SUREST),
        f"above 0 and at most {_SUREST}",
    )
    failing = 1 - confidence / 100
    count = max(_LEAST_DRAWS, 2 ** math.ceil(math.log2(_FAILURES / failing)))
    drawn = draws(certain.model, count, _SEED)
    samples = {name: values for name, values in drawn.items() if name not in chosen}
    if not samples:
        msg = f"{certain.model.name}: only the choices are uncertain; leave out the confidence"
        raise InvalidParameter(msg)
    return ByChance(certain, samples, confidence / 100)
