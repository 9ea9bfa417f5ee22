"""What messages cost under LogGP.

Source: Martin's thesis, sections 2.2 and 3.2.4.
"""

from typing import Any

from headway.loggp.parameters import LogGP


def one_message_time(machine: LogGP) -> Any:
    """Time of one small message from end to end: o_s + L + o_r [s].

    Examples
    --------
    >>> from headway.loggp import PLATFORMS
    >>> round(one_message_time(PLATFORMS["now"]) * 1e6, 9)
    10.8
    """
    return machine.send_overhead + machine.latency + machine.receive_overhead


def request_reply_time(machine: LogGP) -> Any:
    """Time of a request and its reply, as of a blocking read: 2 (o_s + L + o_r) [s].

    Examples
    --------
    >>> from headway.loggp import PLATFORMS
    >>> round(request_reply_time(PLATFORMS["now"]) * 1e6, 9)
    21.6
    """
    return 2 * one_message_time(machine)


def message_rate(machine: LogGP) -> Any:
    """Most messages a processor can send: 1/g [1/s]."""
    return 1 / machine.gap


def bulk_bandwidth(machine: LogGP) -> Any:
    """Bandwidth of a long message: 1/G [B/s]."""
    return 1 / machine.gap_per_byte
