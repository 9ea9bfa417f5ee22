"""What a program that communicates loses on a slower network: one law per LogGP parameter.

All of them add a cost per event to a measured base run time, and so suppose that what they
add is not hidden by other work. Source: Martin's thesis, chapters 3 and 4.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from headway.errors import InvalidParameter
from headway.kinds import Quantity, apply, check_domain, check_not_negative, check_positive

SHORT_MESSAGE = 28
"""Bytes of a short message: six words and a header word (thesis, section 3.1.2)."""


def overhead_run_time(base_run_time: Quantity, messages: Quantity, added_overhead: Quantity) -> Any:
    """Run time of a program with a greater overhead: r + 2 m do [s].

    Each of the m messages is one of a request and reply, and pays at both ends; the
    processor with the most messages sets the pace.

    Parameters
    ----------
    base_run_time
        Run time r without the addition [s], 0 or more.
    messages
        Messages m of the busiest processor, 0 or more.
    added_overhead
        Addition do to send and receive overhead alike [s], 0 or more.

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
    Martin 1999, sections 3.2.1 and 3.3.1, Table 3.3. Too low where messages of one
    processor hold up the others (`serialization_time`).
    """
    _check(base_run_time=base_run_time, messages=messages, added_overhead=added_overhead)
    return base_run_time + 2 * messages * added_overhead


def serialization_time(serial_messages: Quantity, added_overhead: Quantity) -> Any:
    """Time that messages which hold up all processors add: n do [s].

    Add it to `overhead_run_time` for phases in which a processor that is not the busiest
    keeps the others waiting; a shift through all P processors adds P do.

    Parameters
    ----------
    serial_messages
        Messages n of such a phase, 0 or more.
    added_overhead
        Addition do to the overhead [s], 0 or more.

    Examples
    --------
    >>> round(serialization_time(32, 100e-6), 9)
    0.0032

    References
    ----------
    Martin 1999, section 3.2.1. A constant n does not describe Radix, whose excess over
    Table 3.3 grows faster than the overhead.
    """
    _check(serial_messages=serial_messages, added_overhead=added_overhead)
    return serial_messages * added_overhead


def burst_gap_run_time(base_run_time: Quantity, messages: Quantity, added_gap: Quantity) -> Any:
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
) -> Any:
    """Run time with a greater gap if messages leave evenly: r + m max(0, g + dg - I) [s].

    A message pays only what the gap exceeds the interval I by.

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
        Mean interval I between messages of a processor [s], positive; below g it counts
        as g, since no message leaves sooner.

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
    slack = apply("max", message_interval - gap, 0)
    return base_run_time + messages * apply("max", added_gap - slack, 0)


def mixed_gap_run_time(
    base_run_time: Quantity,
    messages: Quantity,
    added_gap: Quantity,
    gap: Quantity,
    message_interval: Quantity,
    burstiness: Quantity,
) -> Any:
    """Run time with a greater gap if a share b of the messages leaves in bursts [s].

    r + m (b dg + (1 - b) max(0, g + dg - I)): messages in bursts pay the whole addition, the
    others pay only what the gap exceeds the interval by. b = 1 is `burst_gap_run_time`,
    b = 0 is `uniform_gap_run_time`.

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
    The thesis has the two extremes only. I is the program's mean interval for whatever
    share is even: with the intervals of the bursts taken out of the mean (which makes the
    rest more widely spaced) the law fits Table 3.4 less well, as do slacks with an
    exponential or gamma distribution.
    """
    check_domain("burstiness", burstiness, lambda b: (b >= 0) & (b <= 1), "between 0 and 1")
    even = uniform_gap_run_time(base_run_time, messages, added_gap, gap, message_interval)
    burst = burst_gap_run_time(base_run_time, messages, added_gap)
    return burstiness * burst + (1 - burstiness) * even


def read_latency_run_time(base_run_time: Quantity, reads: Quantity, added_latency: Quantity) -> Any:
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
) -> Any:
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
) -> Any:
    """Run time of an MPI program with a greater overhead: r + do (4 M + 2 F) [s].

    A long message costs a round trip, four overheads; each of its fragments is a request
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
    Martin 1999, Table 4.2; the text of section 2.3.2 has one overhead per fragment, with
    which the table does not reproduce.
    """
    _check(base_run_time=base_run_time, messages=messages, added_overhead=added_overhead)
    check_not_negative("fragments", fragments)
    return base_run_time + added_overhead * (4 * messages + 2 * fragments)


def slowdown(run_time: Quantity, base_run_time: Quantity) -> Any:
    """Run time over base run time: r / r0.

    Examples
    --------
    >>> slowdown(30.0, 10.0)
    3.0
    """
    check_positive("base_run_time", base_run_time)
    return run_time / base_run_time


def _check(**values: object) -> None:
    """Refuse negative values, by the names of the law's arguments."""
    for name, value in values.items():
        check_not_negative(name, value)


def message_interval(messages: Quantity, run_time: Quantity) -> Any:
    """Mean interval between messages of a processor: run time over messages [s].

    Examples
    --------
    >>> round(message_interval(1015894, 13.235) * 1e6, 1)
    13.0

    References
    ----------
    Martin 1999, Table 3.2, which has the mean number of messages.
    """
    check_positive("messages", messages)
    return run_time / messages


def small_message_traffic(
    message_rate: Quantity, bulk_share: Quantity, size: Quantity = SHORT_MESSAGE
) -> Any:
    """Bytes per second that short messages make: rate (1 - bulk share) size [B/s].

    Parameters
    ----------
    message_rate
        Messages per second of a processor [1/s], 0 or more.
    bulk_share
        Share of the messages that are bulk transfers, 0 to 1.
    size
        Bytes of a short message.

    Examples
    --------
    >>> round(small_message_traffic(164.76e3, 0.0001) / 1e3, 1)
    4612.8

    References
    ----------
    Martin 1999, Table 3.2 (size derived from it).
    """
    check_not_negative("message_rate", message_rate)
    check_domain("bulk_share", bulk_share, lambda b: (b >= 0) & (b <= 1), "between 0 and 1")
    return message_rate * (1 - bulk_share) * size


def communication_balance(message_matrix: ArrayLike) -> float:
    """Most messages that a processor sends over the mean of all; 1 is balanced.

    Parameters
    ----------
    message_matrix
        Counts, shape (senders, receivers), 0 or more.

    Raises
    ------
    InvalidParameter
        For a matrix that is not square, holds negative counts, or no messages at all.

    Examples
    --------
    >>> communication_balance([[0, 3], [1, 0]])
    1.5

    References
    ----------
    Martin 1999, section 3.1.2.
    """
    counts = np.asarray(message_matrix, dtype=float)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        msg = f"message_matrix has shape {counts.shape}; give one row and one column a processor"
        raise InvalidParameter(msg)
    check_not_negative("message_matrix", counts)
    sent = counts.sum(axis=1)
    if not sent.any():
        msg = "message_matrix holds no messages; the balance of nothing is not defined"
        raise InvalidParameter(msg)
    return float(sent.max() / sent.mean())


def byte_imbalance(sent_bytes: ArrayLike) -> float:
    """Spread of the bytes that processors send, as a share of the most: (max - min) / max.

    Examples
    --------
    >>> byte_imbalance([100.0, 83.0])
    0.17

    References
    ----------
    Martin 1999, Table 4.1.
    """
    sent = np.asarray(sent_bytes, dtype=float)
    check_not_negative("sent_bytes", sent)
    check_positive("largest of sent_bytes", sent.max(initial=0.0))
    return float((sent.max() - sent.min()) / sent.max())
