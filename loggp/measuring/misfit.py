"""Lack of fit: whether lines or laws miss measurements by more than the scatter of repeats.

Source: Draper and Smith, *Applied Regression Analysis*, section 2.1 (lack of fit and pure error),
on relative residuals; for a different scatter at each place, S. Johansen, "The Welch-James
approximation to the distribution of the residual sum of squares in a weighted linear regression",
Biometrika 67, 1980, and, for its p-value with few repeats, Krishnamoorthy, Lu and Mathew, "A
parametric bootstrap approach for ANOVA with unequal variances", Computational Statistics & Data
Analysis 51, 2007.
"""

import math
from collections.abc import Sequence

import numpy as np

from headway.errors import MeasurementError
from headway.kinds import FloatArray, check_not_negative, check_positive
from headway.loggp.measuring.sizefit import SizeFit, SizeLine
from headway.loggp.measuring.sizes import SizeSeries
from headway.numerals import four_digits, significant, times
from headway.records import dataclass

SIGNIFICANT = 0.01
"""Level of the F test: a misfit less probable is not explained by the scatter of repeats. Chosen;
`tests/models/signatures/test_signature_logp.py` holds that at 2 and 8% noise fewer than 5 of 100
warnings are false."""

SMALL = 0.05
"""Relative misfit that is too small to report, however significant. Chosen."""

LARGE = 0.25
"""Relative misfit that counts without repeats. Chosen."""

_DEVIATIONS = 4.0  # of the worst place: a normal one of 100 is beyond it in 0.6% of cases
_FAR = 3.0  # standard deviations beyond which a place is listed as missed: chosen, for words only
_CLOCK = 1e-9  # relative deviation at least: repeats that agree leave the rounding of their clock
_KNOWN_OF_REPEATS = 0.37  # asymptotic efficiency of a median absolute deviation, normal law
_DRAWS = 4999  # of the simulated distribution: p of 1% is known to 0.14%
_SAME_DIRECTION = 1e-9  # of the largest singular value: smaller ones are rounding


@dataclass(frozen=True)
class Misfit:
    """How far predictions miss the means or medians of repeated measurements.

    Parameters
    ----------
    f, p
        Mean square of the misfit over that of the repeats, and the probability of as much without a
        lack of fit; ``None`` without repeats or degrees of freedom.
    worst
        Index of the place with the largest ratio.
    measured, predicted
        Mean or median measured there, and the prediction [s].
    scatter
        Relative standard deviation of the measurement there, 0 if unknown.
    missed
        Places missed by more than chance explains: three deviations.

    Examples
    --------
    >>> Misfit(None, None, 0, 2e-6, 1e-6, 0.01).factor
    2.0
    """

    f: float | None
    p: float | None
    worst: int
    measured: float
    predicted: float
    scatter: float
    missed: tuple[int, ...] = ()

    @property
    def factor(self) -> float:
        """Ratio of prediction and measurement at the worst place, 1 or more."""
        if self.predicted <= 0:
            return math.inf
        ratio = self.measured / self.predicted
        return max(ratio, 1 / ratio)

    @property
    def is_lack_of_fit(self) -> bool:
        """Whether the misfit exceeds scatter and is large enough to matter."""
        if self.p is None:
            return math.log(self.factor) > max(math.log(1 + LARGE), _DEVIATIONS * self.scatter)
        return self.p < SIGNIFICANT and self.factor > 1 + SMALL

    def document(self) -> dict[str, float | bool | None]:
        """Whether there is a lack of fit, its test and its size, for JSON."""
        factor = self.factor if math.isfinite(self.factor) else None
        return {"detected": self.is_lack_of_fit, "f": self.f, "p": self.p, "factor": factor}

    @property
    def words(self) -> str:
        """Describe its size and the test."""
        many = f"a factor of {four_digits(self.factor)}"
        by = many if self.factor > 2 else f"{self.factor - 1:.0%}"
        measured, predicted = times(self.measured, self.predicted)
        values = f"{measured} measured, {predicted} predicted"
        test = (
            ""
            if self.p is None or self.f is None
            else f"; F = {significant(self.f, 3)}, p = {significant(self.p, 1)}"
        )
        return f"by {by} ({values}{test})"


def misfit(
    measured: FloatArray,
    predicted: FloatArray,
    deviation: FloatArray,
    slopes: FloatArray,
    freedom: float | FloatArray,
) -> Misfit:
    r"""Test predictions against the scatter of repeats.

    F = (sum over places of (ln(m/p) / s)^2) / (places - parameters), with the distribution F(places
    - parameters, freedom) without a lack of fit. First, the part that other values of the
    parameters would explain, to first order, is removed: an estimate other than least squares is
    not a lack of fit.

    Parameters
    ----------
    measured
        Mean or median m of the measurements at each place [s], positive, shape (n,), one or more.
    predicted
        Prediction p at each place [s], 0 or more.
    deviation
        Relative standard deviation s of each; 0 if unknown.
    slopes
        Derivative of ln p by each parameter that was fitted, shape (n, parameters).
    freedom
        Degrees of freedom of the repeats, 0 without repeats; one for each place, shape (n,), if
        each has its own deviation. Then F is that of Welch and James, Q / (q (1 + 2 (q - 1) A / (q
        (q + 2)))) with Q the sum of squares, q places less parameters and A the sum of (1 -
        leverage)^2 / freedom; its distribution fails with few repeats, so the p-value comes from
        4999 draws, in which the deviation of every place is drawn too.

    Raises
    ------
    MeasurementError
        For no measurement.

    Examples
    --------
    >>> import numpy as np
    >>> times, far = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0])
    >>> misfit(times, far, np.full(3, 0.01), np.ones((3, 1)), 9).is_lack_of_fit
    True
    """
    check_positive("measured", measured)
    check_not_negative("predicted", predicted)
    if measured.size == 0:
        raise MeasurementError("no measurement to compare with the prediction; give at least one")
    with np.errstate(divide="ignore"):
        missed = np.log(measured) - np.log(predicted)
    worst = int(np.argmax(np.abs(missed)))
    statistic, chance = _f_test(missed, deviation, slopes, freedom)
    at_worst = [float(part[worst]) for part in (measured, predicted, deviation)]
    least = np.log1p(np.where(deviation > 0, SMALL, LARGE))
    far = np.flatnonzero(np.abs(missed) > np.maximum(least, _FAR * deviation))
    return Misfit(
        statistic, chance, worst, at_worst[0], at_worst[1], at_worst[2], tuple(far.tolist())
    )


def _f_test(
    missed: FloatArray, deviation: FloatArray, slopes: FloatArray, freedom: float | FloatArray
) -> tuple[float | None, float | None]:
    """F and its p-value; None without repeats, or with more parameters than measurements."""
    if np.min(freedom) < 1 or not np.isfinite(missed).all():
        return None, None
    scale = np.maximum(deviation, _CLOCK)
    directions, sizes, _ = np.linalg.svd(slopes / scale[:, None], full_matrices=False)
    directions = directions[:, sizes > _SAME_DIRECTION * sizes.max(initial=0.0)]
    left = missed.size - directions.shape[1]
    if left < 1:
        return None, None
    standard = missed / scale
    unexplained = standard - directions @ (directions.T @ standard)
    square = float((unexplained**2).sum()) / left
    if np.ndim(freedom) == 0:
        from scipy.special import fdtrc

        return square, float(fdtrc(left, freedom, square))
    free = 1 - (directions**2).sum(axis=1)
    spread = float((free**2 / freedom).sum())
    inflated = square / (1 + 2 * (left - 1) / (left * (left + 2)) * spread)
    return inflated, _chance(square * left, directions, np.asarray(freedom))


def _chance(misfit: float, directions: FloatArray, freedom: FloatArray) -> float:
    """p-value by simulation: the share of draws without a lack of fit that miss as much."""
    random = np.random.default_rng(0)
    shape = (_DRAWS, freedom.size)
    missed = random.standard_normal(shape)
    weight = freedom / random.chisquare(freedom, shape)
    along = (weight * missed) @ directions
    inner = np.einsum("kp,bk,kq->bpq", directions, weight, directions, optimize=True)
    explained = (along * np.linalg.solve(inner, along[..., None])[..., 0]).sum(axis=1)
    more = (weight * missed**2).sum(axis=1) - explained >= misfit
    return float((1 + more.sum()) / (1 + _DRAWS))


def line_misfits(series: Sequence[SizeSeries], fit: SizeFit) -> dict[str, Misfit]:
    """Compare the lines of each series with its medians, by name.

    Parameters
    ----------
    series
        The measured series.
    fit
        Result of `headway.loggp.measuring.sizefit.fit_sizes` for these series.

    Examples
    --------
    >>> import numpy as np
    >>> from headway.loggp import fit_sizes, size_series
    >>> size = 2.0 ** np.arange(12)
    >>> series = [size_series("gap", size, 5e-6 + 1e-9 * size)]
    >>> line_misfits(series, fit_sizes(series))["gap"].is_lack_of_fit
    False
    """
    return {one.name: _line_misfit(one, fit.lines[one.name]) for one in series}


def _line_misfit(one: SizeSeries, lines: Sequence[SizeLine]) -> Misfit:
    on = [(one.size >= line.first_size) & (one.size <= line.last_size) for line in lines]
    predicted = np.zeros(one.size.size)
    for here, line in zip(on, lines, strict=True):
        predicted[here] = line.time(one.size[here])
    parts = [column for here in on for column in (here / predicted, here * one.size / predicted)]
    slopes = np.stack(parts, axis=1)
    return misfit(one.median, predicted, one.relative_error, slopes, _freedom(one))


def _freedom(one: SizeSeries) -> float | FloatArray:
    """Degrees of freedom: of each place if errors are given, otherwise of all repeats together."""
    if one.error is not None:
        return np.asarray(one.repeats - 1.0)
    has_counts = one.counts is not None
    return 0.0 if has_counts else _KNOWN_OF_REPEATS * float((one.repeats - 1).sum())
