"""Routers that work on the network interface, and routers limited by their processor.

Source: Martin's thesis, section 6.2.
"""

from headway.kinds import Amount, Quantity, apply, check_not_negative, check_positive
from headway.loggp.machine.parameters import LogGP


def interface_gap(best_gap: Quantity, bubbles: Quantity) -> Amount:
    """Mean gap of a router whose interfaces do the work: best case plus bubbles [s].

    Packets arrive in bursts, and stages that wait for one another leave slots empty.

    Parameters
    ----------
    best_gap
        Smallest observed interval between packets [s], 0 or more.
    bubbles
        Mean idle time per packet [s], 0 or more.

    Examples
    --------
    >>> round(interface_gap(55e-6, 40e-6) * 1e6, 9)
    95.0

    References
    ----------
    Martin 1999, section 6.2.2 and Table 6.2.
    """
    check_not_negative("best_gap", best_gap)
    check_not_negative("bubbles", bubbles)
    return best_gap + bubbles


def forwarding_gap(machine: LogGP) -> Amount:
    """Interval between packets that a host forwards, one overhead each: max(g, o) [s].

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> forwarding_gap(LogGP(0.0, 80e-6, 80e-6, 80e-6, 0.0))
    8e-05

    References
    ----------
    Martin 1999, Table 6.2: a router limited by its processor has g = o.
    """
    return apply("max", machine.gap, machine.overhead)


def processor_left(machine: LogGP, packet_rate: Quantity) -> Amount:
    """Share of the host processor left when forwarding at a rate: 1 - o X, 0 or more.

    Moving packet work to the interface lowers o and raises g and L; it pays if this share is
    scarce.

    Parameters
    ----------
    packet_rate
        Packets forwarded per second [1/s], positive; at most 1 / max(g, o).

    Examples
    --------
    >>> from headway.loggp import PLATFORMS
    >>> processor_left(PLATFORMS["spine-router"], 10e3)
    1.0
    """
    check_positive("packet_rate", packet_rate)
    return apply("max", 1 - machine.overhead * packet_rate, 0.0)
