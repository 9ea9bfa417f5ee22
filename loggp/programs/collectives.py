"""Collective operations of P processors under LogGP: broadcast, reduction, exchange, barrier.

The schedules are for small messages. Broadcast and reduction trees are optimal; the tree depends on
the parameters, so they accept only plain numbers.

Source: Karp, Sahay, Santos and Schauser, "Optimal broadcast and summation in the LogP
model", SPAA 1993; Culler et al., "LogP: towards a realistic model of parallel
computation", PPoPP 1993.
"""

import heapq
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import Amount, apply, check_not_negative, is_symbolic
from headway.loggp.machine.conventions import in_papers, plain_numbers
from headway.loggp.machine.messages import one_message_time
from headway.loggp.machine.parameters import LogGP
from headway.records import dataclass


@dataclass(frozen=True)
class BroadcastTree:
    """Senders and times of a broadcast from processor 0.

    Parameters
    ----------
    sender
        For each processor, the index of its sender; -1 for the root.
    informed
        Time at which each processor has received the message [s]; 0 for the root.
    """

    sender: tuple[int, ...]
    informed: tuple[float, ...]

    @property
    def time(self) -> float:
        """Time until all processors have the message [s]."""
        return max(self.informed)


def broadcast_tree(machine: LogGP) -> BroadcastTree:
    """Optimal broadcast of one small message: every informed processor sends as early as possible.

    Each informed processor sends again every max(g, o_s); its message has been received o_s + L +
    o_r after the send began. Always taking the earliest of these times is optimal, because waiting
    gains nothing.

    Parameters
    ----------
    machine
        Plain numbers; P is at most a few million.

    Raises
    ------
    InvalidParameter
        For symbols or arrays.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> tree = broadcast_tree(LogGP(6, 2, 2, 4, 0, processors=8))
    >>> tree.time, tree.sender
    (24.0, (-1, 0, 0, 0, 1, 0, 1, 2))

    References
    ----------
    Karp et al. 1993; Culler et al. 1993 (figure of the tree for P = 8, L = 6, g = 4, o = 2).
    """
    latency, send, receive, gap, processors = plain_numbers(machine, "a broadcast tree")
    flight, interval = send + latency + receive, max(gap, send)
    sender, informed = [-1], [0.0]
    offers = [(flight, 0)]
    while len(informed) < processors:
        time, source = offers[0]
        heapq.heapreplace(offers, (time + interval, source))
        heapq.heappush(offers, (time + flight, len(informed)))
        sender.append(source)
        informed.append(time)
    return BroadcastTree(tuple(sender), tuple(informed))


def broadcast_time(machine: LogGP) -> float:
    """Time of the optimal broadcast of one small message to P processors [s].

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> broadcast_time(LogGP(6, 2, 2, 4, 0, processors=8))
    24.0
    """
    return broadcast_tree(machine).time


def reduction_time(machine: LogGP, combine_time: float = 0.0) -> float:
    """Time to combine one value of each processor into one, with the optimal tree [s].

    A reduction run backwards is a broadcast in which receiving takes o_s, and sending takes
    o_r and the time to combine.

    Parameters
    ----------
    machine
        Plain numbers.
    combine_time
        Time to combine two values [s], 0 or more.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> reduction_time(LogGP(6, 2, 2, 4, 0, processors=8), combine_time=1)
    26.0

    References
    ----------
    Karp et al. 1993.
    """
    check_not_negative("combine_time", combine_time)
    machine = in_papers(machine)
    backwards = replace(
        machine,
        send_overhead=machine.receive_overhead + combine_time,
        receive_overhead=machine.send_overhead,
    )
    return broadcast_time(backwards)


def _exchange_order(messages: int, ahead: int) -> Iterable[bool]:
    """Order of one processor's tasks, True for a send: sends, then alternating, then receives."""
    yield from (True for _ in range(ahead))
    for _ in range(messages - ahead):
        yield False
        yield True
    yield from (False for _ in range(ahead))


def _exchange_time(
    order: Iterable[bool], latency: float, send: float, receive: float, gap: float
) -> float:
    """Time of an exchange in which all processors work through the same order of tasks."""
    now, next_send, next_receive = 0.0, 0.0, 0.0
    arrivals: list[float] = []
    received = 0
    for is_send in order:
        if is_send:
            start = max(now, next_send)
            now, next_send = start + send, start + gap
            arrivals.append(now + latency)
        else:
            start = max(now, next_receive, arrivals[received])
            now, next_receive = start + receive, start + gap
            received += 1
    return now


def all_to_all_time(machine: LogGP) -> float:
    """Time in which every processor sends one small message to every other [s].

    Processor i sends to i + 1, i + 2, ... (modulo P), so that no two send to the same one at once.
    Each sends some messages ahead, then receives and sends alternately, then receives the rest; the
    best number ahead, at most those that fit in flight, is found by search. The tests search all
    orders that are the same in every processor, for P up to 8, and find none better; optimality for
    every P is not proven.

    Parameters
    ----------
    machine
        Plain numbers; P of 2 or more gives a positive time.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> all_to_all_time(LogGP(6, 2, 2, 4, 0, processors=8))
    36.0

    References
    ----------
    Culler et al. 1993 (staggered schedule of the remap).
    """
    *parts, processors = plain_numbers(machine, "an all-to-all schedule")
    messages = processors - 1
    if messages == 0:
        return 0.0
    return min(
        _exchange_time(_exchange_order(messages, ahead), *parts)
        for ahead in range(1, min(messages, _most_ahead(*parts)) + 1)
    )


def _most_ahead(latency: float, send: float, receive: float, gap: float) -> int:
    """Messages worth sending ahead: those in flight, at the first send or the last.

    The first message is in flight while the next are sent; the last is in flight while earlier ones
    are received. One more allows for rounding.
    """
    pace = min(max(gap, send), max(gap, receive))
    return int((send + latency + receive) / pace) + 2 if pace > 0 else sys.maxsize


def all_to_all_steady_time(machine: LogGP) -> Amount:
    """Estimate the all-to-all in closed form, as if each step had a send and a receive [s].

    o_s + L + o_r + (P - 2) max(g, o_s + o_r)

    Exact if sends and receives interleave; `all_to_all_time` is exact otherwise. Takes symbols and
    arrays; for P of 2 or more.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> all_to_all_steady_time(LogGP(6, 2, 2, 4, 0, processors=8))
    34
    """
    pace = apply("max", machine.gap, machine.send_overhead + machine.receive_overhead)
    return one_message_time(machine) + (machine.processors - 2) * pace


def barrier_time(machine: LogGP) -> Amount:
    """Time of a dissemination barrier: ceil(log2 P) rounds of one message each [s].

    (R - 1) max(g, o_s + L + o_r) + o_s + L + o_r with R = ceil(log2 P), and 0 for P = 1.

    Parameters
    ----------
    machine
        Parameters of any kind; P is a plain number.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> barrier_time(LogGP(6, 2, 2, 4, 0, processors=8))
    30

    References
    ----------
    Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988.
    """
    processors = machine.processors
    if is_symbolic(processors) or np.ndim(cast(Any, processors)):
        msg = "barrier_time needs a plain number of processors, because it counts rounds"
        raise InvalidParameter(msg)
    rounds = (int(np.asarray(processors)) - 1).bit_length()  # exact, unlike a logarithm
    if rounds == 0:
        return 0.0
    message = one_message_time(machine)
    return message + (rounds - 1) * apply("max", machine.gap, message)
