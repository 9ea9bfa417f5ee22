"""LogP parameters from a measured signature.

Source: Culler, Liu, Martin and Yoshikawa, *Assessing Network Interfaces*, 1996, section
"Small-message empirical results"; Martin's thesis, section 2.3.1. Both use costs; here slopes of
the burst's time are used, in which the send-only start of a burst cancels.
"""

from dataclasses import replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from headway.errors import MeasurementError
from headway.kinds import Amount, FloatArray, check_count, check_not_negative, check_positive
from headway.loggp.machine.messages import request_reply_time
from headway.loggp.machine.parameters import LogGP
from headway.loggp.measuring.estimates import (
    ONCE,
    Estimate,
    Repeated,
    estimate,
    pooled_deviation,
    weighted_line,
)
from headway.loggp.measuring.misfit import Misfit, misfit
from headway.loggp.measuring.signature import WINDOW, issue_cost
from headway.loggp.measuring.sizes import check_range
from headway.numerals import digits, times
from headway.records import dataclass

# A burst is refused as not steady if its last two slopes differ by more than a quarter and by more
# than three standard errors. Chosen.
_UNSTEADY, _DEVIATIONS = 0.25, 3.0
_STEP = 1e-6  # of the round trip, for difference quotients: digits only
_NEAR = 0.1  # of half the round trip: by how much measured parts may exceed it; chosen
_SAME = 0.02  # a gap this near to the limit of processor or window is set by them: chosen, a label


class GapLimit(StrEnum):
    """What limits the interval between requests in a long burst."""

    NETWORK = "network"
    OVERHEAD = "overhead"
    WINDOW = "window"


@dataclass(frozen=True)
class LogPEstimate:
    """LogP parameters from a signature [s].

    Parameters
    ----------
    send_overhead, receive_overhead, gap, latency
        Estimates, with intervals if measurements were repeated.
    limited_by
        What limits the gap. If that is not the network, the network's own gap is not determined,
        but at most the given value.
    excess
        Time by which the overheads exceed half the round trip [s]; the latency is then 0.
    """

    send_overhead: Estimate
    receive_overhead: Estimate
    gap: Estimate
    latency: Estimate
    limited_by: GapLimit
    excess: float = 0.0

    @property
    def overhead(self) -> float:
        """Mean of send and receive overhead [s]."""
        return (self.send_overhead.value + self.receive_overhead.value) / 2

    def machine(self, gap_per_byte: float = 0.0, processors: int = 2) -> LogGP:
        """Return the machine with these parameters; a signature does not determine G."""
        return LogGP(
            self.latency.value,
            self.send_overhead.value,
            self.receive_overhead.value,
            self.gap.value,
            gap_per_byte,
            processors,
        )


@dataclass(frozen=True)
class _Curve:
    """Bursts with one delay: time of the whole burst, and number of repeats."""

    delay: float
    burst: FloatArray
    time: FloatArray
    repeats: FloatArray


@dataclass(frozen=True)
class _Slope:
    """Time per request in the steady state, and its variance for unit relative variance."""

    delay: float
    value: float
    variance: float


def _check_rows(burst_size: ArrayLike, delay: ArrayLike, cost: ArrayLike) -> list[FloatArray]:
    """Return the three columns as arrays of one length, or refuse them."""
    check_count("burst_size", burst_size)
    check_not_negative("delay", delay)
    check_positive("cost", cost)
    columns = [np.atleast_1d(np.asarray(column, float)) for column in (burst_size, delay, cost)]
    if len({column.shape for column in columns}) > 1 or columns[0].ndim != 1:
        shapes = ", ".join(str(column.shape) for column in columns)
        msg = f"burst_size, delay and cost have shapes {shapes}; give one of each per measurement"
        raise MeasurementError(msg)
    check_range("burst_size", columns[0], "requests")
    check_range("cost", columns[2], "s")
    return columns


def _curves(columns: list[FloatArray], repeated: Repeated) -> tuple[list[_Curve], float, float]:
    """Group the measurements; also return the pooled relative deviation of repeats."""
    burst_size, delays, cost = columns
    counts, deviation, freedom = repeated.scatter(cost)
    curves, groups = [], []
    for delay in np.unique(delays):
        sizes = np.unique(burst_size[delays == delay])
        rows = [(delays == delay) & (burst_size == size) for size in sizes]
        groups += [cost[here] for here in rows]
        repeats = np.array([counts[here].sum() for here in rows])
        means = np.array([(counts[here] * cost[here]).sum() for here in rows]) / repeats
        curves.append(_Curve(float(delay), sizes, sizes * means, repeats))
    if repeated.deviation is None:
        deviation, freedom = pooled_deviation(groups)
    return curves, deviation, freedom


def _send_overhead(curve: _Curve, round_trip: float) -> tuple[float, float]:
    """Mean cost of bursts that end before any reply can arrive; and its variance.

    A burst of one always does: its reply comes afterwards.
    """
    alone = (curve.time <= round_trip / 2) | (curve.burst == 1)
    if curve.delay > 0 or not alone.any():
        msg = (
            "no burst without delay ends before the first reply can arrive, half a round trip "
            f"({times(round_trip / 2)[0]}) after its start; add delay 0 with burst_size 1"
        )
        raise MeasurementError(msg)
    weight = curve.repeats[alone]
    mean = float((weight * curve.time[alone] / curve.burst[alone]).sum() / weight.sum())
    if mean > (1 + _NEAR) * round_trip / 2:
        cost, half = times(mean, round_trip / 2)
        msg = (
            f"a request without delay costs {cost}, but half the round trip, which includes the "
            f"send overhead, is only {half}; check the round trip and the unit of the cost"
        )
        raise MeasurementError(msg)
    return mean, mean**2 / float(weight.sum())


def _long(curve: _Curve, round_trip: float) -> Amount:
    """Bursts that count as long: the longer half, or the two longest, if replies reach them."""
    late = curve.time >= round_trip
    half = late & (curve.burst >= curve.burst[-1] / 2)
    if half.sum() > 1:
        return half
    return late & (curve.burst >= curve.burst[-2:][0])


def _steady_slope(curve: _Curve, round_trip: float, deviation: float) -> _Slope:
    """Time per further request over the long bursts of one delay."""
    longest = curve.burst[-1]
    long = _long(curve, round_trip)
    where = f"at delay {times(curve.delay)[0]}"
    if long.sum() < 2:
        enough = int(np.ceil(2 * max(longest, round_trip / curve.time[0] * curve.burst[0])))
        msg = (
            f"bursts of {digits(longest)} {where} do not reach a steady state; add two longer "
            f"ones, such as burst_size {enough} and {2 * enough}"
        )
        raise MeasurementError(msg)
    burst, time, repeats = curve.burst[long], curve.time[long], curve.repeats[long]
    level, slope, variance = weighted_line(burst, time, repeats / time**2)
    if slope <= 0:
        msg = (
            f"the time of a burst falls with burst_size {where}; check whether the columns are "
            "swapped"
        )
        raise MeasurementError(msg)
    scatter = max(deviation, _scatter(time, level + slope * burst))
    _check_steady(curve, slope, scatter, float(np.sqrt(variance)), where)
    return _Slope(curve.delay, slope, variance)


def _scatter(time: FloatArray, line: FloatArray) -> float:
    """Relative deviation of times from the fitted line."""
    left = time.size - 2
    return float(np.sqrt((((time - line) / time) ** 2).sum() / left)) if left > 0 else 0.0


def _check_steady(curve: _Curve, slope: float, scatter: float, error: float, where: str) -> None:
    """Refuse a curve that still bends at its longest bursts by more than its scatter.

    ``error`` is that of the slope for a scatter of one; the two slopes may share a burst.
    """
    if curve.burst.size < 3:
        return
    burst, time, repeats = (part[-3:-1] for part in (curve.burst, curve.time, curve.repeats))
    before = float(np.diff(time)[0] / np.diff(burst)[0])
    both = scatter * (error + float(np.sqrt((time**2 / repeats).sum()) / np.diff(burst)[0]))
    if abs(before - slope) > max(_UNSTEADY * slope, _DEVIATIONS * both):
        first, last = times(before, slope)
        msg = (
            f"the time per request {where} still changes ({first} to {last}) at the "
            f"longest bursts; add burst_size {int(2 * curve.burst[-1])} and "
            f"{int(4 * curve.burst[-1])}"
        )
        raise MeasurementError(msg)


def _busy_time(
    curves: list[_Curve], gap: float, send: float, round_trip: float, deviation: float
) -> _Slope:
    """o_s + o_r: time per request less delay, if the delay makes the sender the bottleneck."""
    slow = [curve for curve in curves if curve.delay > 0 and curve.delay + send >= gap]
    if not slow:
        msg = (
            "receive_overhead is not determined; add bursts with a delay of at least "
            f"{times(gap - send)[0]}, so that the sender and not the gap is the limit"
        )
        raise MeasurementError(msg)
    slopes = [_steady_slope(curve, round_trip, deviation) for curve in slow]
    weight = np.array([1 / slope.variance for slope in slopes])
    busy = np.array([slope.value - slope.delay for slope in slopes])
    return _Slope(0.0, float((weight * busy).sum() / weight.sum()), float(1 / weight.sum()))


def _refuse_negative(name: str, value: float, remedy: str) -> None:
    """Refuse a parameter below zero, except for rounding."""
    if value < 0:
        msg = (
            f"these measurements do not determine {name} (it would be {times(value)[0]}); {remedy}"
        )
        raise MeasurementError(msg)


def _gap_limit(gap: float, busy: float, one_way: float, window: int) -> GapLimit:
    """Find what limits the interval between requests."""
    if busy >= gap * (1 - _SAME):
        return GapLimit.OVERHEAD
    if one_way / window >= gap * (1 - _SAME):
        return GapLimit.WINDOW
    return GapLimit.NETWORK


def read_signature(
    burst_size: ArrayLike,
    delay: ArrayLike,
    cost: ArrayLike,
    round_trip: ArrayLike,
    window: int = WINDOW,
    repeated: Repeated = ONCE,
) -> LogPEstimate:
    """Estimate LogP parameters from a measured signature.

    o_s is the cost of bursts too short for a reply to come back; g the time per further request of
    long bursts without delay; o_s + o_r the same with a delay D that makes the sender the
    bottleneck (D + o_s >= g), less D; L = RTT/2 - o_s - o_r. The longer half of the bursts counts
    as long, or the two longest. Because of measurement errors, overheads may exceed half the round
    trip by a tenth: the latency is then 0, and ``excess`` is the difference. Intervals assume that
    all measurements have the same relative error, estimated from the repeats.

    Parameters
    ----------
    burst_size, delay, cost
        One entry per measurement, shape (n,): requests in the burst, computation after each [s],
        and mean cost of a request with its computation [s]. Repeats are additional rows.
    round_trip
        Time of one request and its reply [s]; several are averaged.
    window
        Messages outstanding in each direction, to find what limits the gap. If the window does,
        choose bursts that are multiples of twice the window.
    repeated
        If rows are means: the number of measurements in each is its weight, and their relative
        deviations are pooled.

    Raises
    ------
    MeasurementError
        If bursts or delays do not suffice; says which measurements to add.

    Examples
    --------
    >>> import numpy as np
    >>> from headway.loggp import PLATFORMS, issue_cost
    >>> bursts, delays = np.tile([1, 2, 64, 128], 2), np.repeat([0.0, 16e-6], 4)
    >>> cost = issue_cost(PLATFORMS["paragon-1996"], bursts, delays)
    >>> answer = read_signature(bursts, delays, cost, 20.1e-6)
    >>> round(answer.receive_overhead.value * 1e6, 9), round(answer.latency.value * 1e6, 9)
    (2.2, 6.45)
    """
    trips = np.atleast_1d(np.asarray(round_trip, float))
    check_positive("round_trip", trips)
    check_count("window", window)
    trip = float(trips.mean())
    curves, deviation, freedom = _curves(_check_rows(burst_size, delay, cost), repeated)
    send, send_variance = _send_overhead(curves[0], trip)
    gap = _steady_slope(curves[0], trip, deviation)
    busy = _busy_time(curves, gap.value, send, trip, deviation)
    receive, latency = busy.value - send, trip / 2 - busy.value
    _refuse_negative("receive_overhead", receive, "repeat them, or use a smaller delay")
    excess = max(-latency, 0.0)
    if excess > _NEAR * trip / 2:
        _refuse_negative("latency", latency, "check round_trip, and repeat the measurements")
    trip_variance = float(trips.var(ddof=1)) / trips.size if trips.size > 1 else 0.0
    scale = deviation**2
    return LogPEstimate(
        estimate(send, scale * send_variance, freedom),
        estimate(receive, scale * (busy.variance + send_variance), freedom),
        estimate(gap.value, scale * gap.variance, freedom),
        estimate(max(latency, 0.0), scale * busy.variance + trip_variance / 4, freedom),
        _gap_limit(gap.value, busy.value, trip / 2, window),
        excess,
    )


def signature_misfit(
    estimate: LogPEstimate,
    burst_size: ArrayLike,
    delay: ArrayLike,
    cost: ArrayLike,
    window: int = WINDOW,
    repeated: Repeated = ONCE,
) -> Misfit:
    """Compare the discrete model with the estimated parameters to every measured burst.

    Parameters
    ----------
    estimate
        Result of `read_signature` for these measurements.
    burst_size, delay, cost, window, repeated
        As for `read_signature`.

    Examples
    --------
    >>> import numpy as np
    >>> from headway.loggp import PLATFORMS, issue_cost
    >>> bursts, delays = np.tile([1, 2, 64, 128], 2), np.repeat([0.0, 16e-6], 4)
    >>> cost = issue_cost(PLATFORMS["paragon-1996"], bursts, delays)
    >>> answer = read_signature(bursts, delays, cost, 20.1e-6)
    >>> signature_misfit(answer, bursts, delays, cost).is_lack_of_fit
    False
    """
    curves, deviation, freedom = _curves(_check_rows(burst_size, delay, cost), repeated)
    measured = np.concatenate([curve.time / curve.burst for curve in curves])
    repeats = np.concatenate([curve.repeats for curve in curves])
    machine = estimate.machine()
    predicted = _costs(machine, curves, window)
    step = _STEP * float(request_reply_time(machine))
    slopes = [
        (_costs(_more(machine, name, step), curves, window) / predicted - 1) / step
        for name in ("latency", "send_overhead", "receive_overhead", "gap")
    ]
    return misfit(
        measured, predicted, deviation / np.sqrt(repeats), np.stack(slopes, axis=1), freedom
    )


def _costs(machine: LogGP, curves: list[_Curve], window: int) -> FloatArray:
    """Predicted cost of a request in each burst of each curve [s]."""
    return np.concatenate([issue_cost(machine, c.burst, c.delay, window) for c in curves])


def _more(machine: LogGP, name: str, step: float) -> LogGP:
    """The machine with one parameter larger by a step."""
    return replace(machine, **{name: getattr(machine, name) + step})
