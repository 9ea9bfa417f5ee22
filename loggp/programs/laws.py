"""Slowdown of communicating programs on a slower network: one law per LogGP parameter.

Each adds a cost per event to a measured base run time, and so assumes that no other work hides it.
Source: Martin's thesis, chapters 3 and 4.
"""

from headway.kinds import Amount, Quantity, apply, check_domain, check_not_negative, check_positive


def overhead_run_time(
    base_run_time: Quantity,
    messages: Quantity,
    added_overhead: Quantity,
    serial_messages: Quantity = 0,
) -> Amount:
    """Run time of a program with a greater overhead: r + (2 m + n) do [s].

    Each of the m messages is a request or a reply, and costs overhead at both ends; the processor
    with the most messages determines the run time.

    Parameters
    ----------
    base_run_time
        Run time r without the addition [s], 0 or more.
    messages
        Messages m of the busiest processor, 0 or more.
    added_overhead
        Addition do to send and receive overhead alike [s], 0 or more.
    serial_messages
        Messages n during which all other processors wait (`serialisation_time`), 0 or more.

    Raises
    ------
    InvalidParameter
        For a value outside its domain.

    Examples
    --------
    >>> round(overhead_run_time(7.76, 1279018, 100e-6), 1)
    263.6

    References
    ----------
    Martin 1999, sections 3.2.1 and 3.3.1, Table 3.3, with n = 0. Too low if messages of one
    processor delay the others.
    """
    _check(base_run_time=base_run_time, messages=messages, added_overhead=added_overhead)
    _check(serial_messages=serial_messages)
    return base_run_time + (2 * messages + serial_messages) * added_overhead


def serialisation_time(serial_messages: Quantity, added_overhead: Quantity) -> Amount:
    """Time added by messages that delay all processors: n do [s].

    `overhead_run_time` includes it for phases in which a processor other than the busiest keeps the
    rest waiting; a shift through all P processors adds P do.

    Parameters
    ----------
    serial_messages
        Messages n of such a phase, 0 or more.
    added_overhead
        Addition do to the overhead [s], 0 or more.

    Examples
    --------
    >>> round(serialisation_time(32, 100e-6), 9)
    0.0032

    References
    ----------
    Martin 1999, section 3.2.1. A constant n does not describe Radix, whose excess over
    Table 3.3 grows faster than the overhead.
    """
    _check(serial_messages=serial_messages, added_overhead=added_overhead)
    return serial_messages * added_overhead


def burst_gap_run_time(base_run_time: Quantity, messages: Quantity, added_gap: Quantity) -> Amount:
    """Run time with a greater gap if all messages leave in bursts: r + m dg [s].

    Parameters
    ----------
    base_run_time
        Run time r without the addition [s], 0 or more.
    messages
        Messages m of the busiest processor, 0 or more.
    added_gap
        Addition dg to the gap [s], 0 or more.

    Examples
    --------
    >>> round(burst_gap_run_time(13.23, 1294967, 100e-6), 1)
    142.7

    References
    ----------
    Martin 1999, sections 3.2.2 and 3.3.2, Table 3.4. Usually too high.
    """
    _check(base_run_time=base_run_time, messages=messages, added_gap=added_gap)
    return base_run_time + messages * added_gap


def uniform_gap_run_time(
    base_run_time: Quantity,
    messages: Quantity,
    added_gap: Quantity,
    gap: Quantity,
    message_interval: Quantity,
) -> Amount:
    """Run time with a greater gap if messages leave evenly: r + m max(0, g + dg - I) [s].

    A message is delayed only by the excess of the gap over the interval I.

    Parameters
    ----------
    base_run_time
        Run time r without the addition [s], 0 or more.
    messages
        Messages m of the busiest processor, 0 or more.
    added_gap
        Addition dg to the gap [s], 0 or more.
    gap
        Gap g of the machine on which r was measured [s], 0 or more.
    message_interval
        Mean interval I between messages of a processor [s], positive; below g it counts as g,
        because no message leaves sooner.

    Examples
    --------
    >>> round(uniform_gap_run_time(37.98, 4765319, 100e-6, 5.8e-6, 8e-6), 1)
    504.0

    References
    ----------
    Martin 1999, section 3.2.2. Usually too low.
    """
    _check(base_run_time=base_run_time, messages=messages, added_gap=added_gap, gap=gap)
    check_positive("message_interval", message_interval)
    return base_run_time + messages * _even_cost(added_gap, gap, message_interval)


def mixed_gap_run_time(
    base_run_time: Quantity,
    messages: Quantity,
    added_gap: Quantity,
    gap: Quantity,
    message_interval: Quantity,
    burstiness: Quantity,
) -> Amount:
    """Run time with a greater gap if a share b of the messages leaves in bursts [s].

    r + m (b dg + (1 - b) max(0, g + dg - I)): messages in bursts are delayed by the whole addition,
    the others only by the excess of the gap over the interval. b = 1 is `burst_gap_run_time`, b = 0
    is `uniform_gap_run_time`.

    Parameters
    ----------
    base_run_time, messages, added_gap, gap, message_interval
        As for `uniform_gap_run_time`.
    burstiness
        Share b of the messages, 0 to 1.

    Examples
    --------
    >>> round(mixed_gap_run_time(13.23, 1294967, 100e-6, 5.8e-6, 13e-6, 0.7), 2)
    139.93

    Notes
    -----
    A message that could leave a time x later without harm (its slack) is delayed by max(0, dg - x).
    The mean over all messages is the law: a share b has no slack, the rest has I - g each. The
    program's mean interval is still I: the time that bursts save, b m (I - g) in total, is
    uninterrupted computation between bursts, which hides one added gap rather than one for each
    message. The thesis has only the two extremes. If that time were spread over the even share
    instead, its interval would be longer than I; that fits Table 3.4 less well.
    """
    check_domain("burstiness", burstiness, lambda b: (b >= 0) & (b <= 1), "between 0 and 1")
    _check(base_run_time=base_run_time, messages=messages, added_gap=added_gap, gap=gap)
    check_positive("message_interval", message_interval)
    even = _even_cost(added_gap, gap, message_interval)
    return base_run_time + messages * (burstiness * added_gap + (1 - burstiness) * even)


def read_latency_run_time(
    base_run_time: Quantity, reads: Quantity, added_latency: Quantity
) -> Amount:
    """Run time of a program that waits for its reads on a longer network: r + 2 R dL [s].

    Parameters
    ----------
    base_run_time
        Run time r without the addition [s], 0 or more.
    reads
        Blocking reads R of a processor, 0 or more (half of its read messages, if requests
        and replies are both counted).
    added_latency
        Addition dL to the latency [s], 0 or more.

    Examples
    --------
    >>> round(read_latency_run_time(114.0, 4.006e6, 25e-6), 1)
    314.3

    References
    ----------
    Martin 1999, section 3.2.3.
    """
    _check(base_run_time=base_run_time, reads=reads, added_latency=added_latency)
    return base_run_time + 2 * reads * added_latency


def bulk_gap_run_time(
    base_run_time: Quantity, sent_bytes: Quantity, bandwidth: Quantity, base_bandwidth: Quantity
) -> Amount:
    """Run time of a program that sends B bytes on a narrower network: r + B (1/W - 1/W0) [s].

    Parameters
    ----------
    base_run_time
        Run time r at the base bandwidth [s], 0 or more.
    sent_bytes
        Bytes B that a processor sends, 0 or more.
    bandwidth, base_bandwidth
        Bandwidth W = 1/G and that of the base run W0 [B/s], positive.

    Examples
    --------
    >>> round(bulk_gap_run_time(17.8, 27570880, 1.19e6, 37.5e6), 1)
    40.2

    References
    ----------
    Martin 1999, sections 2.3.2 and 4.2.4, Table 4.3. No overlap, no contention.
    """
    _check(base_run_time=base_run_time, sent_bytes=sent_bytes)
    check_positive("bandwidth", bandwidth)
    check_positive("base_bandwidth", base_bandwidth)
    return base_run_time + sent_bytes * (1 / bandwidth - 1 / base_bandwidth)


def mpi_overhead_run_time(
    base_run_time: Quantity, messages: Quantity, fragments: Quantity, added_overhead: Quantity
) -> Amount:
    """Run time of an MPI program with a greater overhead: r + do (4 M + 2 F) [s].

    A long message costs a round trip, that is four overheads; each of its fragments is a request
    with a reply.

    Parameters
    ----------
    base_run_time
        Run time r without the addition [s], 0 or more.
    messages, fragments
        MPI messages M and full fragments F of a processor, 0 or more.
    added_overhead
        Addition do to the overhead [s], 0 or more.

    Examples
    --------
    >>> round(mpi_overhead_run_time(173.16, 660, 79360, 100e-6), 1)
    189.3

    References
    ----------
    Martin 1999, Table 4.2; the text of section 2.3.2 has one overhead per fragment, which does not
    reproduce the table.
    """
    _check(base_run_time=base_run_time, messages=messages, added_overhead=added_overhead)
    _check(fragments=fragments)
    return base_run_time + added_overhead * (4 * messages + 2 * fragments)


def _check(**values: object) -> None:
    """Refuse negative values; names the argument of the law."""
    for name, value in values.items():
        check_not_negative(name, value)


def _even_cost(added_gap: Quantity, gap: Quantity, message_interval: Quantity) -> Amount:
    """Delay of a message in an even stream by an added gap: max(0, g + dg - I) [s]."""
    slack = apply("max", message_interval - gap, 0)
    return apply("max", added_gap - slack, 0)
