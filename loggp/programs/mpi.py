"""MPI messages on LogGP: start-up and bandwidth in two regimes, and their changes.

Source: Martin's thesis, section 2.3.2; Hockney's (T_0, R_inf) characterisation.
"""

from typing import Any, cast

from headway.kinds import Amount, Quantity, apply, check_count, check_not_negative, check_positive
from headway.loggp.machine.messages import FRAGMENT
from headway.records import dataclass

CONTROL_MESSAGES = 3
"""Small messages per MPI message of the NAS programs (Table 4.1)."""


@dataclass(frozen=True)
class MessageLine:
    """Time of a message, linear in its size: T_0 + n / R_inf.

    Parameters
    ----------
    startup
        T_0, half a ping-pong of zero bytes, extrapolated [s], 0 or more.
    bandwidth
        R_inf, bandwidth of an infinitely long message [B/s], positive.

    Examples
    --------
    >>> round(MessageLine(20e-6, 38e6).time(3800) * 1e6, 9)
    120.0
    """

    startup: Quantity
    bandwidth: Quantity

    def __post_init__(self) -> None:
        check_not_negative("startup", self.startup)
        check_positive("bandwidth", self.bandwidth)

    def time(self, size: Quantity) -> Amount:
        """Time of a message of ``size`` bytes [s]."""
        check_count("size", size)
        return self.startup + size / self.bandwidth

    def delivered_bandwidth(self, size: Quantity) -> Amount:
        """Bandwidth of a message: n / T(n) [B/s]."""
        return size / self.time(size)


@dataclass(frozen=True)
class MpiMessages:
    """MPI messages in two regimes: one fragment, and rendezvous with many fragments.

    Parameters
    ----------
    short, long
        The measured line of each regime.
    threshold
        Largest size of a short message, and size of a fragment of a long one [B].

    Examples
    --------
    >>> mpi = MpiMessages(MessageLine(20e-6, 38e6), MessageLine(80e-6, 38e6))
    >>> round((mpi.time(8192, added_overhead=10e-6) - mpi.time(8192)) * 1e6, 9)
    60.0

    References
    ----------
    Martin 1999, section 2.3.2, which adds one overhead per fragment in the text; its Table 4.2
    needs two (a fragment has a reply), see `mpi_overhead_run_time`.
    """

    short: MessageLine
    long: MessageLine
    threshold: Quantity = FRAGMENT

    def __post_init__(self) -> None:
        check_count("threshold", self.threshold)

    def time(
        self,
        size: Quantity,
        added_overhead: Quantity = 0.0,
        added_latency: Quantity = 0.0,
        added_gap_per_byte: Quantity = 0.0,
    ) -> Amount:
        """Time of a message on a slower network [s].

        Up to the threshold: T_0 + do + n (1/R + dG). Above it: T_0 + 4 do + 2 dL, do for
        each fragment, and n (1/R + dG). An added gap per message does not count in either.

        Parameters
        ----------
        size
            Bytes n of the message, 1 or more.
        added_overhead, added_latency
            Additions to overhead and latency [s], 0 or more.
        added_gap_per_byte
            Addition to G [s/B], 0 or more.
        """
        check_not_negative("added_overhead", added_overhead)
        check_not_negative("added_latency", added_latency)
        check_not_negative("added_gap_per_byte", added_gap_per_byte)
        fragments = apply("ceil", size / self.threshold)
        short = self.short.time(size) + added_overhead
        handshake = (4 + fragments) * added_overhead + 2 * added_latency
        long = self.long.time(size) + handshake
        return (
            apply("where", cast(Any, size) <= self.threshold, short, long)
            + size * added_gap_per_byte
        )


def small_messages(mpi_messages: Quantity) -> Amount:
    """Small active messages of MPI messages: 3 M.

    Examples
    --------
    >>> small_messages(660)
    1980

    References
    ----------
    Derived from Martin 1999, Table 4.1, where it is exact for FT, IS and MG.
    """
    check_not_negative("mpi_messages", mpi_messages)
    return CONTROL_MESSAGES * mpi_messages


def full_fragments(sent_bytes: Quantity, fragment: Quantity = FRAGMENT) -> Amount:
    """Full fragments in the bytes a processor sends: floor(B / F).

    Examples
    --------
    >>> full_fragments(27570880)
    6731.0

    References
    ----------
    Derived from Martin 1999, Table 4.1, where it is exact for FT, IS and MG.
    """
    check_not_negative("sent_bytes", sent_bytes)
    check_count("fragment", fragment)
    return apply("floor", sent_bytes / fragment)
