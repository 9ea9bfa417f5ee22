"""Run times in models related to LogGP: BSP, QSM and LoPC.

Source: Martin's thesis, section 2.5, for the costs in each model; each law names its original
paper.
"""

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import (
    Amount,
    Quantity,
    apply,
    check_domain,
    check_not_negative,
    check_positive,
    is_symbolic,
    plain,
)
from headway.records import dataclass

_HALVINGS = 60  # more than the 53 bits of a float


def bsp_superstep_time(
    work: Quantity, messages: Quantity, gap: Quantity, period: Quantity
) -> Amount:
    """Time of one BSP superstep: max(L, w + g h) [s].

    Multiply by the number of supersteps, or put different steps into a `Series`. BSP has
    neither overhead nor cost per byte; its L is the least time between barriers.

    Parameters
    ----------
    work
        Local computation w of the busiest processor [s], 0 or more.
    messages
        Most messages h that a processor sends or receives in the step, 0 or more.
    gap
        g, time between messages of a processor [s], 0 or more.
    period
        L, least length of a superstep [s], 0 or more.

    Examples
    --------
    >>> bsp_superstep_time(work=2.0, messages=10, gap=0.5, period=3.0)
    7.0

    References
    ----------
    Valiant, "A bridging model for parallel computation", 1990; Martin 1999, section 2.5.1.
    """
    check_not_negative("work", work)
    check_not_negative("messages", messages)
    check_not_negative("gap", gap)
    check_not_negative("period", period)
    return apply("max", period, work + gap * messages)


def qsm_phase_time(work: Quantity, accesses: Quantity, queue: Quantity, gap: Quantity) -> Amount:
    """Time of one phase of the queuing shared memory model: max(w, g m, g k) [s].

    This is the symmetric form described in the thesis, in which a location serves one access every
    g; QSM itself serves one per unit of time.

    Parameters
    ----------
    work
        Local computation w of the busiest processor [s], 0 or more.
    accesses
        Most words m of global memory that a processor reads or writes, 0 or more.
    queue
        Most accesses k to one location, 0 or more.
    gap
        g, time per word [s], 0 or more.

    Examples
    --------
    >>> qsm_phase_time(work=2.0, accesses=10, queue=32, gap=0.5)
    16.0

    References
    ----------
    Gibbons, Matias and Ramachandran, "Can a shared-memory model serve as a bridging model
    for parallel computation?", 1997; Martin 1999, section 2.5.2.
    """
    check_not_negative("work", work)
    check_not_negative("accesses", accesses)
    check_not_negative("queue", queue)
    check_not_negative("gap", gap)
    return apply("max", work, gap * accesses, gap * queue)


def _lopc_cycle(
    cycle: Amount, work: Amount, latency: Amount, handler: Amount, scv: Amount
) -> Amount:
    """Return the cycle time that follows from the queues at an assumed cycle time."""
    busy = handler / cycle
    # residual time of a running handler, beyond (or below) a whole one
    left = (scv - 1) / 2 * busy
    requests = busy * (1 + 2 * left + busy * (1 + left)) / (1 - busy - busy**2)
    replies = busy * (1 + requests + left)
    computing = (work + handler * (requests + left)) / (1 - busy)
    served = handler * (1 + requests + replies + 2 * left)
    answered = handler * (1 + requests + left)
    return computing + 2 * latency + served + answered


def lopc_cycle_time(
    work: Quantity, latency: Quantity, handler_time: Quantity, handler_scv: Quantity = 1.0
) -> Amount:
    """Time from one blocking request of a processor to the next, contention included [s].

    All processors compute for W, send a request to another one at random, and wait; handlers of
    requests and replies take S each and interrupt computation. Without contention a cycle takes W +
    2 L + 2 S. Here, by mean values, with u = S / R, d = u (c2 - 1) / 2, and mean numbers Q_q of
    requests and Q_y of replies at a processor, R solves

    R = (W + S (Q_q + d)) / (1 - u) + 2 L + S (1 + Q_q + Q_y + 2 d) + S (1 + Q_q + d),
    Q_q = u (1 + Q_q + Q_y + 2 d), Q_y = u (1 + Q_q + d)

    Parameters
    ----------
    work
        Computation W between requests, send overhead included [s], 0 or more.
    latency
        L, one way [s], 0 or more.
    handler_time
        S, processor time to receive and handle a message [s], positive.
    handler_scv
        Squared coefficient of variation c2 of handler times, 0 (constant) to 1 (exponential).

    Raises
    ------
    InvalidParameter
        For values outside their domain, or symbols: R is found by bisection.

    Examples
    --------
    >>> round(lopc_cycle_time(1000.0, 10.0, 1.0), 2)
    1022.98

    References
    ----------
    Frank, Agarwal and Vernon, "LoPC: modeling contention in parallel algorithms", PPoPP 1997, for
    the model; the equations are derived here from its assumptions, because the thesis prints none.
    An approximation: a simulation of 32 processors agrees within 11% with no computation at all,
    and within 5% when computing takes five handler times.
    """
    if is_symbolic(work, latency, handler_time, handler_scv):
        msg = "lopc_cycle_time has no closed form; give numbers"
        raise InvalidParameter(msg)
    check_not_negative("work", work)
    check_not_negative("latency", latency)
    check_positive("handler_time", handler_time)
    check_domain("handler_scv", handler_scv, lambda c: (c >= 0) & (c <= 1), "between 0 and 1")
    given = (work, latency, handler_time, handler_scv)
    parts = np.broadcast_arrays(*(np.asarray(part, float) for part in given))
    low = parts[0] + 2 * parts[1] + 2 * parts[2]
    high = _lopc_cycle(low, *parts)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_low = _lopc_cycle(middle, *parts) > middle
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return plain((low + high) / 2)


def lopc_run_time(
    requests: Quantity, work: Quantity, latency: Quantity, handler_time: Quantity
) -> Amount:
    """Run time of a program of n blocking requests under LoPC: n cycles [s].

    Parameters
    ----------
    requests
        Requests n of a processor, 0 or more.
    work, latency, handler_time
        As for `lopc_cycle_time`.

    Examples
    --------
    >>> round(lopc_run_time(10, 1000.0, 10.0, 1.0), 1)
    10229.8
    """
    check_not_negative("requests", requests)
    return requests * lopc_cycle_time(work, latency, handler_time)


@dataclass(frozen=True)
class BlockingRequests:
    """A processor's cycle of computing, requesting and waiting under LoPC.

    Parameters
    ----------
    work, latency, handler_time, handler_scv
        As for `lopc_cycle_time`.

    Examples
    --------
    >>> requests = BlockingRequests(1000.0, 10.0, 1.0)
    >>> requests.uncontended_time, round(requests.contention_time, 2)
    (1022.0, 0.98)
    """

    work: Quantity
    latency: Quantity
    handler_time: Quantity
    handler_scv: Quantity = 1.0

    @property
    def cycle_time(self) -> Amount:
        """Time from one request to the next, contention included [s]."""
        return lopc_cycle_time(self.work, self.latency, self.handler_time, self.handler_scv)

    @property
    def uncontended_time(self) -> Amount:
        """The same without waiting for handlers: W + 2 L + 2 S [s]."""
        return self.work + 2 * self.latency + 2 * self.handler_time

    @property
    def contention_time(self) -> Amount:
        """Time that contention adds to a cycle [s]."""
        return self.cycle_time - self.uncontended_time
