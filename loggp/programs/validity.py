"""Limits of a prediction: which parameter determines it, and which is hidden.

Source: Martin's thesis, sections 2.2, 2.3.1 and 2.4; Table 2.2.
"""

from enum import StrEnum

from headway.kinds import Amount, Quantity, apply
from headway.loggp.machine.conventions import plain_numbers
from headway.loggp.machine.messages import effective_gap, one_message_time, windowed_gap
from headway.loggp.machine.parameters import LogGP
from headway.loggp.measuring.signature import WINDOW


class Limit(StrEnum):
    """A regime in which a LogGP prediction differs from what the parameters suggest."""

    OVERHEAD = "o_s + o_r > g: the processor sets the interval; added gap is hidden at first"
    WINDOW = "L past the window: the pipeline empties, and the interval grows with latency"
    NO_GAP = "g = 0: capacity is unlimited, and the processor alone limits the message rate"
    NO_GAP_PER_BYTE = "G = 0: a long message costs no more than a short one"
    NO_OVERHEAD = "o_s = o_r = 0: all communication can be overlapped with computation"
    NO_LATENCY = "L = 0: at most one message is in transit, and waiting costs overhead only"
    NOTHING_LIMITS = "g = o_s = o_r = L = 0: messages are free, and no interval is determined"


def hidden_gap(machine: LogGP) -> Amount:
    """Gap that can be added before requests leave more slowly: max(0, o_s + o_r - g) [s].

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> hidden_gap(LogGP(5.0, 10.0, 10.0, 6.0, 0.0))
    14.0
    """
    return effective_gap(machine) - machine.gap


def hidden_latency(machine: LogGP, window: Quantity = WINDOW) -> Amount:
    """Latency that can be added before the window empties the pipeline [s].

    max(0, W max(g, o_s + o_r) - (o_s + L + o_r))

    Examples
    --------
    >>> from headway.loggp import PLATFORMS
    >>> round(hidden_latency(PLATFORMS["now"]) * 1e6, 9)
    12.4
    """
    return apply("max", window * effective_gap(machine) - one_message_time(machine), 0.0)


def limits(machine: LogGP, window: int = WINDOW) -> tuple[Limit, ...]:
    """Return the limits that apply to a machine; empty if every parameter has its usual effect.

    Parameters
    ----------
    machine
        Plain numbers.
    window
        Messages that may be outstanding in each direction.

    Raises
    ------
    InvalidParameter
        For symbols or arrays.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> for limit in limits(LogGP(5.0, 10.0, 10.0, 6.0, 0.0)):
    ...     print(limit)
    o_s + o_r > g: the processor sets the interval; added gap is hidden at first
    G = 0: a long message costs no more than a short one
    """
    latency, send, receive, gap, _ = plain_numbers(machine, "the list of limits")
    if not any((latency, send, receive, gap)):
        return (Limit.NOTHING_LIMITS,)
    holds = {
        Limit.OVERHEAD: send + receive > gap,
        Limit.WINDOW: windowed_gap(machine, window) > effective_gap(machine),
        Limit.NO_GAP: gap == 0,
        Limit.NO_GAP_PER_BYTE: machine.gap_per_byte == 0,
        Limit.NO_OVERHEAD: send + receive == 0,
        Limit.NO_LATENCY: latency == 0,
    }
    return tuple(limit for limit, is_so in holds.items() if is_so)
