"""LogGP parameters near a message size, from lines through times, or why they are unknown."""

from collections.abc import Callable

from headway.errors import MeasurementError
from headway.kinds import check_positive
from headway.loggp.machine.parameters import LogGP
from headway.loggp.measuring.sizefit import LineParameter, SizeFit, SizeLine
from headway.numerals import data_size, times

TOGETHER = "it includes both overheads and the latency and cannot separate them"

_ORDER = ("send_overhead", "receive_overhead", "gap", "gap_per_byte", "latency")


def numbers_at(fit: SizeFit, size: float = 1.0) -> dict[str, float | str]:
    """Derive the parameters of a machine near a message size, as far as lines determine them.

    o_s and o_r come from their lines at the size, g and G from that of the gap, g + (s - 1) G;
    without it, G is the slope of the one-way time, and L = one-way time - o_s - o_r - (s - 1) G.

    Parameters
    ----------
    fit
        Lines of some of the series ``send_overhead``, ``receive_overhead``, ``gap`` (time per
        message of a saturated sender), ``round_trip`` and ``one_way`` (of a ping-pong).
    size
        Message size s [B], 1 or more.

    Returns
    -------
    By name of a LogGP parameter: its value [s], [s/B], or why these data do not determine it.

    Examples
    --------
    >>> import numpy as np
    >>> from headway.loggp import fit_sizes, size_series
    >>> size = 2.0 ** np.arange(12)
    >>> answer = numbers_at(fit_sizes([size_series("one_way", size, 20e-6 + 1e-9 * size)]))
    >>> round(answer["gap_per_byte"] * 1e9, 9), answer["gap"]
    (1.0, "there are no measurements of 'gap', only of: one_way")
    """
    return {
        "send_overhead": _or_reason(lambda: float(fit.line("send_overhead", size).time(size))),
        "receive_overhead": _or_reason(
            lambda: float(fit.line("receive_overhead", size).time(size))
        ),
        "gap": _or_reason(lambda: _gap(fit, size)),
        "gap_per_byte": _or_reason(lambda: _per_byte(fit, size)),
        "latency": _or_reason(lambda: _latency(fit, size)),
    }


def _or_reason(read: Callable[[], float]) -> float | str:
    try:
        return read()
    except MeasurementError as error:
        return str(error)


def _determined(line: SizeLine, name: str, part: str) -> float:
    """Return a line's intercept or slope, or refuse one that the data do not determine."""
    parameter: LineParameter = getattr(line, part)
    if not parameter.determined:
        where = f"between {data_size(line.first_size)} and {data_size(line.last_size)}"
        msg = f"{part} of {name} {where} is {parameter!r}"
        raise MeasurementError(msg)
    return parameter.value


def _gap(fit: SizeFit, size: float) -> float:
    line = fit.line("gap", size)
    per_byte = _determined(line, "gap", "slope")
    return _determined(line, "gap", "intercept") + per_byte


def _per_byte(fit: SizeFit, size: float) -> float:
    if "gap" in fit.lines or not fit.lines.keys() & _PING_PONG.keys():
        return _determined(fit.line("gap", size), "gap", "slope")
    name, share = _ping_pong(fit)
    return share * _determined(fit.line(name, size), name, "slope")


_PING_PONG = {"round_trip": 0.5, "one_way": 1.0}  # one-way share


def _ping_pong(fit: SizeFit) -> tuple[str, float]:
    """The series of a ping-pong, and its one-way share."""
    known = (pair for pair in _PING_PONG.items() if pair[0] in fit.lines)
    return next(known, ("round_trip", _PING_PONG["round_trip"]))


def _latency(fit: SizeFit, size: float) -> float:
    name, share = _ping_pong(fit)
    one_way = share * float(fit.line(name, size).time(size))
    sides = [side for side in ("send_overhead", "receive_overhead") if side not in fit.lines]
    if sides:
        msg = (
            f"a ping-pong of {data_size(size)} takes {times(one_way)[0]} one way: {TOGETHER}; "
            f"measure {' and '.join(sides)} too"
        )
        raise MeasurementError(msg)
    overheads = sum(float(fit.line(side, size).time(size)) for side in _ORDER[:2])
    latency = one_way - overheads - (size - 1) * _per_byte(fit, size)
    if latency < 0:
        more, half = times(-latency, one_way)
        msg = (
            f"these data do not determine the latency at {data_size(size)}: overheads and bytes "
            f"take {more} more than half the round trip, {half}; repeat the measurements"
        )
        raise MeasurementError(msg)
    return latency


def machine_from_sizes(fit: SizeFit, size: float = 1.0, processors: int = 2) -> LogGP:
    """Make the LogGP machine for sizes near a message size; see `numbers_at`.

    Parameters
    ----------
    fit
        Lines of the series of `numbers_at`, including those of the overheads and the gap.
    size
        Message size s [B], 1 or more.
    processors
        Number of processors for the machine.

    Raises
    ------
    MeasurementError
        If a series is missing, or the data do not determine a parameter.

    Examples
    --------
    >>> import numpy as np
    >>> from headway.loggp import fit_sizes, size_series
    >>> size = 2.0 ** np.arange(12)
    >>> one_way = 3e-6 + 10e-6 + 4e-6 + 1e-9 * (size - 1)
    >>> series = [
    ...     size_series("send_overhead", size, np.full(12, 3e-6)),
    ...     size_series("receive_overhead", size, np.full(12, 4e-6)),
    ...     size_series("gap", size, 5e-6 + 1e-9 * (size - 1)),
    ...     size_series("round_trip", size, 2 * one_way),
    ... ]
    >>> round(machine_from_sizes(fit_sizes(series)).latency * 1e6, 6)
    10.0
    """
    numbers = numbers_at(fit, size)
    why = next((text for name in _ORDER if isinstance(text := numbers[name], str)), None)
    if why is not None:
        raise MeasurementError(why)
    check_positive("gap", numbers["gap"])
    send, receive, gap, per_byte, latency = (float(numbers[name]) for name in _ORDER)
    return LogGP(latency, send, receive, gap, per_byte, processors)
