"""LogGP numbers near a message size, off lines through times: each, or why it is not known."""

from collections.abc import Callable

from headway.errors import MeasurementError
from headway.kinds import check_positive
from headway.loggp.machine.parameters import LogGP
from headway.loggp.measuring.sizefit import LineParameter, SizeFit, SizeLine

TOGETHER = "both overheads and the latency are in it together, and it does not tell them apart"

_ORDER = ("send_overhead", "receive_overhead", "gap", "gap_per_byte", "latency")


def numbers_at(fit: SizeFit, size: float = 1.0) -> dict[str, float | str]:
    """Read off lines what they tell of a machine near a message size, and no more.

    o_s and o_r are read off their lines at the size, g and G off that of the gap, g + (s - 1) G;
    without it G is the slope of the one-way time, and
    L = one-way time - o_s - o_r - (s - 1) G.

    Parameters
    ----------
    fit
        Lines of some of the series ``send_overhead``, ``receive_overhead``, ``gap`` (time per
        message of a saturated sender), ``round_trip`` and ``one_way`` (of a ping-pong).
    size
        Message size s [B], 1 or more.

    Returns
    -------
    By the name of a LogGP parameter its value [s], [s/B], or why these data do not tell it.

    Examples
    --------
    >>> import numpy as np
    >>> from headway.loggp import fit_sizes, size_series
    >>> size = 2.0 ** np.arange(12)
    >>> found = numbers_at(fit_sizes([size_series("one_way", size, 20e-6 + 1e-9 * size)]))
    >>> round(found["gap_per_byte"] * 1e9, 9), found["gap"]
    (1.0, "no series 'gap' was measured; there are: one_way")
    """
    return {
        "send_overhead": _told(lambda: float(fit.line("send_overhead", size).time(size))),
        "receive_overhead": _told(lambda: float(fit.line("receive_overhead", size).time(size))),
        "gap": _told(lambda: _gap(fit, size)),
        "gap_per_byte": _told(lambda: _per_byte(fit, size)),
        "latency": _told(lambda: _latency(fit, size)),
    }


def _told(read: Callable[[], float]) -> float | str:
    try:
        return read()
    except MeasurementError as error:
        return str(error)


def _determined(line: SizeLine, name: str, part: str) -> float:
    """Give a line's intercept or slope, or refuse one that the data do not determine."""
    parameter: LineParameter = getattr(line, part)
    if not parameter.determined:
        where = f"between {line.first_size:g} and {line.last_size:g} bytes"
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


_PING_PONG = {"round_trip": 0.5, "one_way": 1.0}  # share of it that is one way


def _ping_pong(fit: SizeFit) -> tuple[str, float]:
    """The series of a ping-pong, and the share of it that is one way."""
    known = (pair for pair in _PING_PONG.items() if pair[0] in fit.lines)
    return next(known, ("round_trip", _PING_PONG["round_trip"]))


def _latency(fit: SizeFit, size: float) -> float:
    name, share = _ping_pong(fit)
    one_way = share * float(fit.line(name, size).time(size))
    sides = [side for side in ("send_overhead", "receive_overhead") if side not in fit.lines]
    if sides:
        msg = (
            f"a ping-pong of {size:g} bytes takes {one_way * 1e6:.4g} us one way: {TOGETHER}; "
            f"measure {' and '.join(sides)} too"
        )
        raise MeasurementError(msg)
    overheads = sum(float(fit.line(side, size).time(size)) for side in _ORDER[:2])
    latency = one_way - overheads - (size - 1) * _per_byte(fit, size)
    if latency < 0:
        msg = (
            f"latency at {size:g} bytes is not determined by this data: half the round trip is "
            f"{one_way:.3g} s, and overheads and bytes take {-latency:.3g} s more"
        )
        raise MeasurementError(msg)
    return latency


def machine_from_sizes(fit: SizeFit, size: float = 1.0, processors: int = 2) -> LogGP:
    """Make the LogGP machine that holds near a message size; see `numbers_at`.

    Parameters
    ----------
    fit
        Lines of the series of `numbers_at`, those of the overheads and the gap among them.
    size
        Message size s [B], 1 or more.
    processors
        Number of processors for the machine.

    Raises
    ------
    MeasurementError
        Where a series is missing, or a parameter is not determined by the data.

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
    found = numbers_at(fit, size)
    why = next((text for name in _ORDER if isinstance(text := found[name], str)), None)
    if why is not None:
        raise MeasurementError(why)
    check_positive("gap", found["gap"])
    send, receive, gap, per_byte, latency = (float(found[name]) for name in _ORDER)
    return LogGP(latency, send, receive, gap, per_byte, processors)
