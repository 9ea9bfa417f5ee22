"""Measured percentiles compared with those of a fitted form, by its law or its mean.

A form is fitted to means. Its law of response times is an assumption, which measured percentiles
can check. If t_k is the measured percentile at load k and b_k that of the form, the mean of log(t_k
/ b_k) corrects the form's percentile at other loads, and the scatter over the loads is the error of
a further one. b is the percentile by the form's law, or its mean response time if the form has no
law or the mean follows the percentile more closely.
"""

import math
from collections.abc import Sequence

import numpy as np

from headway.errors import HeadwayError
from headway.kinds import FloatArray
from headway.models.inference.certainty.draws import Draws
from headway.models.inference.forecasting.elsewhere import Elsewhere
from headway.models.language.units import unit
from headway.models.measured.measurements import Measurements
from headway.models.measured.statistic import percentile_of
from headway.numerals import digits, significant
from headway.records import dataclass

FEWEST = 3
"""Fewest loads with a measured percentile from which its scatter is known."""

_FAR = 1.25  # ratio to the law's percentile that is reported, without effect on any answer
_MOST_CLIENTS = 256.0  # most clients for which the law is used, for speed
_DRAWS = 16  # draws of a form whose median is compared, for speed


@dataclass(frozen=True)
class MeasuredTail:
    """How measured percentiles compare with those of a form.

    Parameters
    ----------
    percent
        The percentage.
    by_law
        Whether the form's law is corrected; otherwise its mean response time.
    ratio
        Geometric mean of measured percentiles over the form's percentile or mean.
    scatter
        Standard deviation of the logarithm of these ratios.
    loads
        Number of loads at which it was measured.
    off_by
        The mean ratio to the form's law; None if it has none.

    Examples
    --------
    >>> str(MeasuredTail(99.0, by_law=True, ratio=1.1, scatter=0.05, loads=8, off_by=1.1))
    'p99: 1.1 times what its form predicts, as measured at 8 loads (scatter 5%)'
    """

    percent: float
    by_law: bool
    ratio: float
    scatter: float
    loads: int
    off_by: float | None = None

    @property
    def error(self) -> float:
        """Relative error of a further percentile: that of the ratio, and of one measurement."""
        return self.scatter * math.sqrt(1 + 1 / self.loads)

    @property
    def is_far_off(self) -> bool:
        """Whether the form's law is off by more than a quarter."""
        return self.off_by is not None and abs(math.log(self.off_by)) > math.log(_FAR)

    def __str__(self) -> str:
        base = "what its form predicts" if self.by_law else "the mean"
        return (
            f"p{digits(self.percent)}: {significant(self.ratio, 3)} times {base}, as measured at "
            f"{self.loads} loads (scatter {self.scatter:.0%})"
        )


def measured_percents(table: Measurements) -> tuple[float, ...]:
    r"""Percentages of the percentiles in a table, each once.

    Examples
    --------
    >>> text = "load_ops_s,response_ms,p50_ms,p99_ms\n1,2,2,9\n"
    >>> measured_percents(Measurements.parse(text, "a.csv"))
    (50.0, 99.0)
    """
    return tuple(_columns(table))


def _columns(table: Measurements) -> dict[float, FloatArray]:
    """Measured percentiles [s] by percentage."""
    found: dict[float, FloatArray] = {}
    for column in table.columns.values():
        if column.unit.dimension != unit("s").dimension:
            continue
        try:
            percent = percentile_of(table.source, column)
        except HeadwayError:
            continue
        if percent is not None:
            found.setdefault(percent, column.values)
    return dict(sorted(found.items()))


def tail_of(draws: Draws, table: Measurements, percent: float) -> MeasuredTail | None:
    """How a measured percentile compares with that of a form; None with too few measurements.

    Parameters
    ----------
    draws
        Plausible values of the form.
    table
        The rows to which it was fitted.
    percent
        The percentage.
    """
    measured = _columns(table).get(percent)
    loads = _loads(draws)
    if measured is None or loads is None or measured.shape != loads.shape:
        return None
    known = np.isfinite(measured) & (measured > 0) & (loads > 0)
    if np.unique(loads[known]).size < FEWEST:
        return None
    there = Elsewhere(draws.problem, loads[known])
    free = draws.free[:: max(1, len(draws.free) // _DRAWS)]
    by_mean = _ratio(measured[known], there.response_time(free))
    by_law = _ratio(measured[known], _law(there, free, percent))
    count = int(np.unique(loads[known]).size)
    if by_mean is None and by_law is None:
        return None
    off_by = None if by_law is None else by_law[0]
    is_law = by_law is not None and (by_mean is None or by_law[1] <= by_mean[1])
    ratio, scatter = (by_law if is_law else by_mean) or (math.nan, math.nan)
    return MeasuredTail(percent, is_law, ratio, scatter, count, off_by)


def _loads(draws: Draws) -> FloatArray | None:
    """Loads of the rows that were fitted, as they drive the form."""
    there = Elsewhere(draws.problem, np.ones(1))
    if there.load not in ("arrival_rate", "population"):
        return None
    return np.atleast_1d(np.asarray(draws.problem.model.inputs[there.load], float))


def _law(there: Elsewhere, free: FloatArray, percent: float) -> FloatArray | None:
    """Percentiles by the form's law; none for large populations, where each takes a long chain."""
    is_long = there.load == "population" and there.loads.max() > _MOST_CLIENTS
    if is_long or there.refusal(percent) is not None:
        return None
    return there.percentile(free, percent)


def _ratio(measured: FloatArray, by_form: FloatArray | None) -> tuple[float, float] | None:
    """Geometric mean of measured values over a form's, and the scatter of their logarithms."""
    if by_form is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.median(np.where(np.isfinite(by_form), by_form, np.nan), axis=0)
        apart = np.log(measured / middle)
    apart = apart[np.isfinite(apart)]
    if apart.size < FEWEST:
        return None
    return float(np.exp(apart.mean())), float(apart.std(ddof=1))


def tails_of(
    draws: Sequence[Draws], table: Measurements | None, percents: Sequence[float]
) -> list[dict[float, MeasuredTail]]:
    """The tails of each form, by percentage.

    Parameters
    ----------
    draws
        Plausible values of each form.
    table
        The rows to which they were fitted; None if these are not known.
    percents
        The percentages wanted.
    """
    if table is None:
        return [{} for _ in draws]
    found = ([(p, tail_of(one, table, p)) for p in percents] for one in draws)
    return [{p: tail for p, tail in each if tail is not None} for each in found]
