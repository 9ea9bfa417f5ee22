"""Cost of messages under LogGP, for one processor or one pair.

Source: Martin's thesis, sections 2.2, 2.3 and 3.2.4; Culler, Liu, Martin and Yoshikawa,
*Assessing Network Interfaces*, 1996; Alexandrov et al., "LogGP", SPAA 1995.
"""

import numpy as np

from headway.kinds import (
    Amount,
    Quantity,
    apply,
    check_count,
    check_not_negative,
    check_positive,
    is_symbolic,
    plain,
)
from headway.loggp.machine.conventions import in_papers
from headway.loggp.machine.parameters import LogGP

FRAGMENT = 4096
"""Bytes in a full fragment of a bulk transfer (thesis, section 2.3.2)."""


def one_message_time(machine: LogGP) -> Amount:
    """Time of one small message from end to end: o_s + L + o_r [s].

    Examples
    --------
    >>> from headway.loggp import PLATFORMS
    >>> round(one_message_time(PLATFORMS["now"]) * 1e6, 9)
    10.8
    """
    machine = in_papers(machine)
    return machine.send_overhead + machine.latency + machine.receive_overhead


def request_reply_time(machine: LogGP) -> Amount:
    """Time of a request and its reply, as of a blocking read: 2 (o_s + L + o_r) [s].

    Examples
    --------
    >>> from headway.loggp import PLATFORMS
    >>> round(request_reply_time(PLATFORMS["now"]) * 1e6, 9)
    21.6
    """
    return 2 * one_message_time(machine)


def message_rate(machine: LogGP) -> Amount:
    """Most messages a processor can send: 1/g [1/s]; infinite for a gap of zero.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> message_rate(LogGP(5.0, 2.0, 2.0, 4.0, 0.0))
    0.25
    """
    return _inverse(machine.gap)


def bulk_bandwidth(machine: LogGP) -> Amount:
    """Bandwidth of a long message: 1/G [B/s]; infinite if bytes cost nothing.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> bulk_bandwidth(LogGP(5.0, 2.0, 2.0, 4.0, 0.0))
    inf
    """
    return _inverse(machine.gap_per_byte)


def _inverse(time: Amount) -> Amount:
    """Return the rate for an interval: infinite for zero."""
    if is_symbolic(time):
        return 1 / time
    intervals = np.asarray(time, float)
    rates = np.full(intervals.shape, np.inf)
    return plain(np.divide(1.0, intervals, out=rates, where=intervals > 0))


def long_message_time(machine: LogGP, size: Quantity) -> Amount:
    """Time of one message of s bytes from end to end: o_s + (s - 1) G + L + o_r [s].

    Parameters
    ----------
    size
        Bytes s in the message, 1 or more.

    Raises
    ------
    InvalidParameter
        For a size below one byte.

    Examples
    --------
    >>> from headway.loggp import PLATFORMS
    >>> round(long_message_time(PLATFORMS["now"], 3801) * 1e6, 9)
    110.8

    References
    ----------
    Alexandrov et al., SPAA 1995.
    """
    check_count("size", size)
    return one_message_time(machine) + (size - 1) * machine.gap_per_byte


def train_time(machine: LogGP, messages: Quantity) -> Amount:
    """Time until the last of n small messages to one receiver has been received [s].

    o_s + L + o_r + (n - 1) max(g, o_s, o_r): the slowest of network, sender and receiver
    sets the pace.

    Parameters
    ----------
    messages
        Number n of messages, 1 or more.

    Examples
    --------
    >>> from headway.loggp import PLATFORMS
    >>> round(train_time(PLATFORMS["now"], 11) * 1e6, 9)
    68.8

    References
    ----------
    Culler et al. 1996, section "LogP model", which has o <= g.
    """
    check_count("messages", messages)
    pace = apply("max", machine.gap, machine.send_overhead, machine.receive_overhead)
    return one_message_time(machine) + (messages - 1) * pace


def bulk_transfer_time(machine: LogGP, size: Quantity, fragment: Quantity = FRAGMENT) -> Amount:
    """Time a bulk transfer costs its sender: o_s for each fragment and G for each byte [s].

    ceil(s / F) o_s + s G.

    Parameters
    ----------
    size
        Bytes s to transfer, 1 or more.
    fragment
        Bytes F in a full fragment, 1 or more.

    Examples
    --------
    >>> from headway.loggp import PLATFORMS
    >>> round(bulk_transfer_time(PLATFORMS["now"], 38000) * 1e6, 9)
    1029.0

    References
    ----------
    Martin 1999, section 3.2.4.
    """
    check_count("size", size)
    check_count("fragment", fragment)
    fragments = apply("ceil", size / fragment)
    return fragments * machine.send_overhead + size * machine.gap_per_byte


def capacity(machine: LogGP) -> Amount:
    """Most messages in transit from or to one processor: ceil(L/g), at least 1.

    Infinite if the gap is zero and the latency is not.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> capacity(LogGP(105.5e-6, 2.9e-6, 2.9e-6, 5.8e-6, 0))
    19.0

    References
    ----------
    Martin 1999, section 2.2; at least 1, because otherwise no message could leave.
    """
    machine = in_papers(machine)
    if is_symbolic(machine.latency, machine.gap):
        return apply("max", 1, apply("ceil", machine.latency / machine.gap))
    latency, gap = np.asarray(machine.latency, float), np.asarray(machine.gap, float)
    ratio = latency / np.where(gap > 0, gap, 1.0)
    ratio = np.where((gap == 0) & (latency > 0), np.inf, ratio)
    return apply("max", 1.0, apply("ceil", ratio))


def effective_gap(machine: LogGP) -> Amount:
    """Interval between requests when each is answered: max(g, o_s + o_r) [s].

    With o > g/2 the processor, not the network, sets the interval.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> round(effective_gap(LogGP(5e-6, 103e-6, 103e-6, 5.8e-6, 0)) * 1e6, 9)
    206.0

    References
    ----------
    Martin 1999, Table 2.2 and section 2.3.1.
    """
    return apply("max", machine.gap, machine.send_overhead + machine.receive_overhead)


def windowed_gap(machine: LogGP, window: Quantity = 4) -> Amount:
    """Interval between requests when a fixed window limits them as well [s].

    max(g, o_s + o_r, (o_s + L + o_r) / W)

    Parameters
    ----------
    window
        Messages W that may be outstanding in each direction, 1 or more.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> round(windowed_gap(LogGP(105.5e-6, 3e-6, 3e-6, 5.8e-6, 0)) * 1e6, 3)
    27.875

    References
    ----------
    Martin 1999, Table 2.2, gives W = 4 but no formula; with W for each direction, this one is
    within 0.2 us of the table from L = 55 us on, and up to 1.2 us too low at the knee.
    """
    check_count("window", window)
    return apply("max", effective_gap(machine), one_message_time(machine) / window)


def many_to_one_gap(machine: LogGP, senders: Quantity) -> Amount:
    """Interval between messages of each of k senders to one receiver: k g [s].

    Examples
    --------
    >>> from headway.loggp import PLATFORMS
    >>> round(many_to_one_gap(PLATFORMS["paragon"], 7) * 1e6, 9)
    53.2

    References
    ----------
    Culler et al. 1996, section "LogP model" and Table 5 (measured: within 14%).
    """
    check_count("senders", senders)
    return senders * machine.gap


def overhead_from_round_trip(round_trip: Quantity, latency: Quantity) -> Amount:
    """Overhead of a message from the round trip of a request and its reply [s].

    o = (RTT - 2 L) / 4

    Parameters
    ----------
    round_trip
        Measured time RTT of request and reply [s], positive.
    latency
        Latency L of the network [s], at most half of the round trip.

    Raises
    ------
    InvalidParameter
        For times outside their domain.

    Examples
    --------
    >>> round(overhead_from_round_trip(340e-6, 5e-6) * 1e6, 9)
    82.5

    References
    ----------
    Martin 1999, section 2.3.3.
    """
    check_positive("round_trip", round_trip)
    check_not_negative("latency", latency)
    overhead = (round_trip - 2 * latency) / 4
    check_not_negative("overhead, (round_trip - 2 * latency) / 4,", overhead)
    return overhead


def overlap_share(overhead: Quantity, transfer_time: Quantity) -> Amount:
    """Share of a bulk transfer that computation can overlap: 1 - o(n) / T(n).

    Parameters
    ----------
    overhead
        Processor time o(n) of the transfer [s], 0 or more; at most its time.
    transfer_time
        Time T(n) of the transfer [s], positive.

    Examples
    --------
    >>> round(overlap_share(143e-6, 298e-6), 2)
    0.52

    References
    ----------
    Culler et al. 1996, section "Bulk-transfer overhead" (4 KB on Myrinet).
    """
    check_not_negative("overhead", overhead)
    check_positive("transfer_time", transfer_time)
    share = 1 - overhead / transfer_time
    check_not_negative("overlap, 1 - overhead / transfer_time,", share)
    return share
