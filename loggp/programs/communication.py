"""Measures of how a program communicates, and how much a slower network slows it down.

Source: Martin's thesis, sections 3.1 and 4.1.
"""

import numpy as np
from numpy.typing import ArrayLike

from headway.errors import InvalidParameter
from headway.kinds import Amount, Quantity, check_domain, check_not_negative, check_positive
from headway.loggp.measuring.estimates import weighted_line

SHORT_MESSAGE = 28
"""Bytes of a short message: six words and a header word (thesis, section 3.1.2)."""


def slowdown(run_time: Quantity, base_run_time: Quantity) -> Amount:
    """Run time over base run time: r / r0.

    Examples
    --------
    >>> slowdown(30.0, 10.0)
    3.0
    """
    check_positive("base_run_time", base_run_time)
    return run_time / base_run_time


def sensitivity(level: ArrayLike, run_time: ArrayLike) -> float:
    """Slope of slowdown against the factor by which a LogGP parameter grows, by least squares.

    Parameters
    ----------
    level, run_time
        Parameter and run time [s] of each run, positive, same length; the run with the
        lowest level is the base.

    Raises
    ------
    InvalidParameter
        For fewer than two levels, lengths that differ, or values that are not positive.

    Examples
    --------
    >>> round(sensitivity([2.9, 29.0], [10.0, 55.0]), 9)
    0.5

    References
    ----------
    Martin 1999, sections 3.1 and 7.3.
    """
    levels, times = np.asarray(level, float), np.asarray(run_time, float)
    check_positive("level", levels)
    check_positive("run_time", times)
    if levels.shape != times.shape or np.unique(levels).size < 2:
        msg = (
            f"{levels.size} levels but {times.size} run times; give at least two levels with a "
            "time each"
        )
        raise InvalidParameter(msg)
    base = levels.argmin()
    factor, slower = levels / levels[base], times / times[base]
    return weighted_line(factor, slower, np.ones_like(factor))[1]


def message_interval(messages: Quantity, run_time: Quantity) -> Amount:
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
) -> Amount:
    """Traffic of short messages: rate (1 - bulk share) size [B/s].

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
    """Largest number of messages that a processor sends, over the mean; 1 is balanced.

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
        msg = f"message_matrix has shape {counts.shape}; give one row and one column per processor"
        raise InvalidParameter(msg)
    check_not_negative("message_matrix", counts)
    sent = counts.sum(axis=1)
    if not sent.any():
        msg = "message_matrix contains no messages, so the balance is undefined; give at least one"
        raise InvalidParameter(msg)
    return float(sent.max() / sent.mean())


def byte_imbalance(sent_bytes: ArrayLike) -> float:
    """Spread of the bytes that processors send, as a share of the largest: (max - min) / max.

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
