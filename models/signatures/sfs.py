"""The signature of an SFS curve: response time against throughput in eight numbers.

Source: Martin's thesis, section 5.2; SPEC SFS 97 run rules for the overall response time.
"""

import math
from dataclasses import asdict, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.models.language.digits import with_unit
from headway.models.language.units import Unit, unit
from headway.models.measured.cells import Observed
from headway.models.measured.columns import (
    Axes,
    find,
    is_population,
    load_column,
    response_column,
    wrong_unit,
)
from headway.models.measured.measurements import Measurements
from headway.models.measured.regression import regression_line
from headway.models.measured.roles import DELIVERED
from headway.models.measured.statistic import percentile_of
from headway.models.tables.shown import Answer
from headway.numerals import digits
from headway.queueing.flows.laws import littles_law
from headway.records import dataclass


@dataclass(frozen=True)
class SfsSignature:
    """An SFS curve in eight numbers, all SI.

    Parameters
    ----------
    base_response_time
        Lowest mean response time in the range [s].
    slope, intercept, r_squared
        Line through the range: rise of response time per op/s [s per 1/s], at no load [s].
    saturation_throughput
        Largest throughput reached [1/s].
    overall_response_time
        Area under the curve from the origin to the peak, over the peak [s].
    peak_response_time
        Response time at the peak throughput [s].
    outstanding_requests
        Outstanding requests at the peak, by Little's law.

    Examples
    --------
    >>> rate = np.array([100.0, 200.0, 300.0])
    >>> answer = sfs_signature(rate, 0.001 + 1e-5 * rate)
    >>> answer.saturation_throughput, round(answer.slope, 12), round(answer.intercept, 12)
    (300.0, 1e-05, 0.001)
    """

    base_response_time: float
    slope: float
    intercept: float
    r_squared: float
    saturation_throughput: float
    overall_response_time: float
    peak_response_time: float
    outstanding_requests: float

    def document(self) -> dict[str, float]:
        """The SFS object of the JSON format.

        Examples
        --------
        >>> rate = np.array([100.0, 200.0, 300.0])
        >>> sfs_signature(rate, 0.001 + 1e-5 * rate).document()["peak_response_time"]
        0.004
        """
        return asdict(self)


@dataclass(frozen=True)
class Range:
    """A range of load, including both ends [1/s].

    Examples
    --------
    >>> Range(low=100.0)
    Range(low=100.0, high=inf)
    """

    low: float = -math.inf
    high: float = math.inf

    def holds(self, load: FloatArray) -> NDArray[np.bool_]:
        """Whether loads lie in the range.

        Examples
        --------
        >>> Range(100.0, 200.0).holds(np.array([99.0, 100.0, 200.0, 201.0])).tolist()
        [False, True, True, False]
        """
        inside: NDArray[np.bool_] = (load >= self.low) & (load <= self.high)
        return inside

    def words(self, shown: Unit) -> str:
        """The range in words, in a unit.

        Examples
        --------
        >>> from headway.models.language.units import unit
        >>> Range(1e4, 2e4).words(unit("op/s")), Range(low=2.0).words(unit("op/s"))
        ('from 10,000 to 20,000 op/s', 'of 2 op/s or more')
        """
        low, high = (with_unit(digits(end / shown.scale), shown) for end in (self.low, self.high))
        if math.isinf(self.high):
            return f"of {low} or more"
        first = digits(self.low / shown.scale)
        return f"of {high} or less" if math.isinf(self.low) else f"from {first} to {high}"


ALL = Range()


class Start(StrEnum):
    """Where the area under a curve begins: SFS takes the origin, SPECstorage the first point."""

    ORIGIN = "origin"
    FIRST_POINT = "first point"


def overall_response_time(
    throughput: FloatArray, response_time: FloatArray, start: Start = Start.ORIGIN
) -> float:
    """Area under the rising branch, from its start to the peak, over its width [s].

    By trapezoids from (0, 0), or from the first point; a falling branch after the peak does not
    count.

    Parameters
    ----------
    throughput, response_time
        Points of the curve in the order of load [1/s] and [s].
    start
        The rule: of SFS 97, 97_R1 and 2008, or of SPECstorage 2020 (for two points at least).

    Examples
    --------
    >>> rate, time = np.array([100.0, 200.0]), np.array([1.0, 2.0])
    >>> overall_response_time(rate, time), overall_response_time(rate, time, Start.FIRST_POINT)
    (1.0, 1.5)
    """
    peak = int(np.argmax(throughput))
    order = np.argsort(throughput[: peak + 1], kind="stable")
    x, y = throughput[: peak + 1][order], response_time[: peak + 1][order]
    if start is Start.ORIGIN or x.size == 1:
        x, y = np.concatenate([[0.0], x]), np.concatenate([[0.0], y])
    return float(np.trapezoid(y, x) / (x[-1] - x[0]))


def sfs_signature(
    throughput: FloatArray,
    response_time: FloatArray,
    within: Range = ALL,
    load: FloatArray | None = None,
    source: str = "data",
) -> SfsSignature:
    """Derive the signature of a curve.

    Parameters
    ----------
    throughput, response_time
        Points of the curve, in the order of load; above 0 and finite [1/s] and [s].
    within
        Range of load for the line and the base.
    load
        Load for the line, if not the throughput: for example the requested load [1/s].
    source
        Source of the points, for messages.

    Raises
    ------
    MeasurementError
        For fewer than three points in the range, or a throughput that is not above 0.

    Examples
    --------
    >>> rate = np.array([100.0, 200.0, 300.0])
    >>> sfs_signature(rate, 0.001 + 1e-5 * rate).outstanding_requests
    1.2
    """
    if not (throughput > 0).all():
        msg = f"{source}: throughput must be above 0; remove other points"
        raise MeasurementError(msg)
    load = throughput if load is None else load
    inside = within.holds(load)
    line = regression_line(load[inside], response_time[inside], source)
    peak = int(np.argmax(throughput))
    return SfsSignature(
        base_response_time=float(response_time[inside].min()),
        slope=line.slope,
        intercept=line.intercept,
        r_squared=line.r_squared,
        saturation_throughput=float(throughput[peak]),
        overall_response_time=overall_response_time(throughput, response_time),
        peak_response_time=float(response_time[peak]),
        outstanding_requests=float(littles_law(throughput[peak], response_time[peak])),
    )


@dataclass(frozen=True)
class Curve:
    """Throughput, response time and load, of complete observations."""

    source: str
    throughput: Observed
    response_time: Observed
    load: Observed
    start: Start = Start.ORIGIN
    invalid: int = 0

    @property
    def axes(self) -> Axes:
        """The columns used: ``response_ms over throughput_ops_s``."""
        return Axes.of(self.load, self.response_time)

    def signature(self, within: Range = ALL) -> SfsSignature:
        """The signature of the curve over a range of load."""
        rate, time = self.throughput.values, self.response_time.values
        signature = sfs_signature(rate, time, within, self.load.values, self.source)
        return replace(
            signature, overall_response_time=overall_response_time(rate, time, self.start)
        )


def curve(measurements: Measurements, x: str | None = None, y: str | None = None) -> Curve:
    r"""Find the columns of an SFS curve.

    Parameters
    ----------
    measurements
        With columns for throughput and response time.
    x, y
        Columns for load and response time with other than the usual names; the throughput is the
        delivered one if there is such a column.

    Raises
    ------
    MeasurementError
        If a column is missing, has another dimension or is not a mean, if the load is a population,
        or if no row is complete.

    Examples
    --------
    >>> text = "throughput_ops_s,response_ms\n100,2\n200,3\n300,\n"
    >>> answer = curve(Measurements.parse(text, "curve.csv"))
    >>> answer.throughput.values.tolist(), answer.response_time.values.tolist()
    ([100.0, 200.0], [0.002, 0.003])
    """
    load, response = load_column(measurements, x), response_column(measurements, y)
    _check_open(measurements, load)
    _check_mean(measurements.source, response)
    delivered = find(measurements, DELIVERED) or load
    _check_dimension(measurements.source, load, "op/s")
    _check_dimension(measurements.source, response, "ms")
    together = np.stack([load.values, response.values, delivered.values])
    complete = np.asarray(np.isfinite(together).all(axis=0))
    if not complete.any():
        msg = f"{measurements.source}: no row has both {load.header} and {response.header}"
        raise MeasurementError(msg)
    kept = measurements.only(complete)
    load, response, delivered = (kept.column(c.header) for c in (load, response, delivered))
    start = Start.FIRST_POINT if measurements.find(["business_metric"]) else Start.ORIGIN
    return Curve(measurements.source, delivered, response, load, start, kept.invalid)


def _check_open(measurements: Measurements, load: Observed) -> None:
    if is_population(load):
        rate = find(measurements, DELIVERED)
        how = f"; --x {rate.header} uses the throughput" if rate else ""
        msg = (
            f"{measurements.source}: the load is a population ({load.header}), so the test was "
            f"closed and this is not a curve over a rate{how}"
        )
        raise MeasurementError(msg)


def _check_mean(source: str, response: Observed) -> None:
    if percentile_of(source, response) is not None:
        msg = f"{source}: column {response.header} contains percentiles; a signature needs means"
        raise MeasurementError(msg)


def _check_dimension(source: str, column: Observed, wanted: str) -> None:
    if column.unit.dimension[:2] != unit(wanted).dimension[:2]:
        raise wrong_unit(source, column, f"a unit like {wanted}")


@dataclass(frozen=True)
class MeasuredSignature(Answer):
    """A curve, the range of load used, and its signature."""

    curve: Curve
    within: Range
    signature: SfsSignature

    @classmethod
    def of(cls, curve: Curve, within: Range = ALL) -> "MeasuredSignature":
        """Read the signature off a curve."""
        return cls(curve, within, curve.signature(within))

    def __repr__(self) -> str:
        return f"MeasuredSignature({self.curve.source}, {len(self.curve.load.values)} points)"
