"""Conversions between the four meanings that "latency" has in LogGP tools.

All four agree on o_s, o_r, g and G, and on half the time of a one-byte ping-pong; they differ in
which part of it they call latency. With L as in the papers, it is::

    papers    L                     the network alone
    netgauge  L + o_s + o_r         half the round trip, including overheads
    plogp     L + o_s + o_r - g     half the round trip less the gap
    smpi      L + o_s - G           half the round trip less o_r, extrapolated to zero bytes

The SMPI row is for short (asynchronous) messages; above the rendezvous limit, SMPI defines latency
as half the ping-pong, like Netgauge.

Sources: Alexandrov et al., SPAA 1995 (papers); Kielmann, Bal and Verstoep, "Fast
measurement of LogP parameters for message passing platforms", 2000 (plogp); the source
code of Netgauge and the calibration procedure of SMPI.
"""

from dataclasses import replace
from typing import Any, cast

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import Amount, apply, is_symbolic
from headway.loggp.machine.parameters import Convention, LogGP
from headway.numerals import times

_ROUNDING = 1e-12  # share of the one-way time below which a negative latency counts as rounding


def _excess(machine: LogGP, convention: Convention) -> Amount:
    """Return the difference between a convention's latency and that of the papers [s]."""
    if convention is Convention.NETGAUGE:
        return machine.send_overhead + machine.receive_overhead
    if convention is Convention.PLOGP:
        return machine.send_overhead + machine.receive_overhead - machine.gap
    if convention is Convention.SMPI:
        return machine.send_overhead - machine.gap_per_byte
    return 0


def _refuse_clipped(machine: LogGP) -> None:
    """Refuse a parameterised-LogP latency of zero, which may have been truncated."""
    if is_symbolic(machine.latency) or np.all(np.asarray(machine.latency) > 0):
        return
    msg = (
        "latency is 0 in convention plogp, which truncates negative values, so it is not "
        "determined; give half the round trip in convention netgauge"
    )
    raise InvalidParameter(msg)


def _refuse_negative(latency: Amount, scale: Amount, machine: LogGP, target: Convention) -> Amount:
    """Refuse a latency below zero, except for rounding."""
    if is_symbolic(latency):
        return latency
    if np.any(np.asarray(latency) < -_ROUNDING * np.asarray(scale)):
        worst = float(np.min(latency))
        [shown] = times(worst)
        msg = (
            f"latency would be {shown} in convention {target}: these overheads and gap do "
            f"not determine it; check that they are in convention {machine.convention}"
        )
        raise InvalidParameter(msg)
    return apply("max", latency, 0.0)


def convert(machine: LogGP, convention: Convention) -> LogGP:
    """Convert a machine to another convention; only the value of the latency changes.

    Parameters
    ----------
    machine
        Parameters in any convention.
    convention
        The target convention.

    Raises
    ------
    InvalidParameter
        If the conversion is not determined: the latency would be negative, or it is a zero of
        parameterised LogP, which may have been truncated.

    Examples
    --------
    >>> from headway.loggp import PLATFORMS
    >>> netgauge = convert(PLATFORMS["now"], Convention.NETGAUGE)
    >>> round(netgauge.latency * 1e6, 9)
    10.8
    >>> round(convert(netgauge, Convention.PAPERS).latency * 1e6, 9)
    5.0
    """
    convention = Convention(convention)
    if machine.convention is convention:
        return machine
    if machine.convention is Convention.PLOGP:
        _refuse_clipped(machine)
    excess = _excess(machine, convention) - _excess(machine, machine.convention)
    scale = machine.latency + machine.send_overhead + machine.receive_overhead + machine.gap
    latency = _refuse_negative(machine.latency + excess, scale, machine, convention)
    return replace(machine, latency=latency, convention=convention)


def in_papers(machine: LogGP) -> LogGP:
    """Convert a machine to the convention of the papers, which all laws use.

    Examples
    --------
    >>> from headway.loggp import PLATFORMS
    >>> in_papers(PLATFORMS["now"]) is PLATFORMS["now"]
    True
    """
    return convert(machine, Convention.PAPERS)


def plain_numbers(machine: LogGP, what: str) -> tuple[float, float, float, float, int]:
    """Return L (of the papers), o_s, o_r, g and P as plain numbers.

    Raises
    ------
    InvalidParameter
        For symbols or arrays, for which the order of events is unknown; the message names ``what``.

    Examples
    --------
    >>> plain_numbers(LogGP(6, 2, 2, 4, 0, processors=8), "a broadcast tree")
    (6.0, 2.0, 2.0, 4.0, 8)
    """
    machine = in_papers(machine)
    times = (machine.latency, machine.send_overhead, machine.receive_overhead, machine.gap)
    values = (*times, machine.processors)
    if is_symbolic(*values) or any(np.ndim(cast(Any, value)) for value in values):
        msg = f"{what} needs plain numbers, because the order of events depends on them"
        raise InvalidParameter(msg)
    latency, send, receive, gap = (float(np.asarray(time)) for time in times)
    return latency, send, receive, gap, int(np.asarray(machine.processors))
