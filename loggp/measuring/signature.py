"""The predicted LogP signature: the cost of issuing a request, by burst size and delay.

The benchmark issues M requests in a row, computes for a time D after each, and stops the
clock; each request is answered. Source: Culler, Liu, Martin and Yoshikawa, *Assessing
Network Interfaces*, 1996, section "Microbenchmark"; Martin's thesis, section 2.3.1.
"""

import math
from collections import deque
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from headway.kinds import Amount, FloatArray, Quantity, apply, check_count, check_not_negative
from headway.loggp.machine.conventions import plain_numbers
from headway.loggp.machine.messages import request_reply_time, windowed_gap
from headway.loggp.machine.parameters import LogGP

WINDOW = 4
"""Messages that may be outstanding in each direction (thesis, Table 2.2)."""

_FOLLOWED = 100_000  # requests of a burst simulated one by one; more cost as the last: for speed
_ROUNDING = 1e-12  # relative, of arrival times of replies that coincide with a send


class Regime(StrEnum):
    """The part of the signature in which a burst lies."""

    SEND_ONLY = "send only"
    TRANSITION = "transition"
    STEADY = "steady state"


def steady_issue_cost(machine: LogGP, delay: Quantity = 0.0, window: Quantity = WINDOW) -> Amount:
    """Cost of a request in a long burst: max(g, o_s + o_r + D, (o_s + L + o_r) / W) [s].

    Parameters
    ----------
    delay
        Computation D after each request [s], 0 or more.
    window
        Messages W outstanding in each direction, 1 or more.

    Examples
    --------
    >>> from headway.loggp import PLATFORMS
    >>> paragon = PLATFORMS["paragon-1996"]
    >>> [round(steady_issue_cost(paragon, delay) * 1e6, 9) for delay in (0.0, 16e-6)]
    [7.6, 19.6]

    References
    ----------
    Culler et al. 1996, section "Microbenchmark"; Martin 1999, Table 2.2.
    """
    check_not_negative("delay", delay)
    busy = machine.send_overhead + machine.receive_overhead + delay
    return apply("max", windowed_gap(machine, window), busy)


def issue_times(
    machine: LogGP, burst: int, delay: float = 0.0, window: int | None = WINDOW
) -> FloatArray:
    """Clock after each request of one burst and the computation that follows it [s].

    A discrete model of the benchmark. For each request, the requester receives one reply if one has
    arrived (o_r), and waits for it if 2 W requests are unanswered; it then issues the request (o_s)
    and computes (D). Requests enter the network at least g apart; the other end receives and
    answers them at least max(g, o_s + o_r) apart.

    Parameters
    ----------
    machine
        Plain numbers.
    burst
        Requests M in the burst, 1 or more.
    delay
        Computation D after each request [s], 0 or more.
    window
        Messages W that may be outstanding in each direction, so that a request and its
        reply together make room for 2 W requests; ``None`` for no limit.

    Returns
    -------
    Times of shape (burst,); those of a shorter burst are its first entries.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> issue_times(LogGP(100.0, 2.0, 3.0, 6.0, 0.0), 3).tolist()
    [2.0, 4.0, 6.0]
    """
    latency, send, receive, gap, _ = plain_numbers(machine, "a signature")
    check_count("burst", burst)
    check_not_negative("delay", delay)
    outstanding = _outstanding(window)
    service = max(gap, send + receive)
    now, departure, served = 0.0, -math.inf, -math.inf
    replies: deque[float] = deque()
    times = np.empty(burst)
    for request in range(burst):
        if replies and (_is_there(replies[0], now) or len(replies) >= outstanding):
            now = max(now, replies.popleft()) + receive
        now += send
        departure = max(now, departure + gap)
        # service starts are spaced: early arrivals wait their turn
        served = max(departure + latency, served + service)
        replies.append(served + receive + send + latency)
        now += delay
        times[request] = now
    return times


def _outstanding(window: int | None) -> float:
    """Most unanswered requests: the windows of both directions together."""
    if window is None:
        return math.inf
    check_count("window", window)
    return 2 * window


def _is_there(arrival: float, now: float) -> bool:
    """Whether a reply has arrived; one that arrives at this moment counts."""
    return arrival <= now * (1 + _ROUNDING)


def issue_cost(
    machine: LogGP, burst_size: ArrayLike, delay: ArrayLike = 0.0, window: int | None = WINDOW
) -> FloatArray:
    """Mean cost of issuing a request, by burst size and delay [s]: the signature.

    Parameters
    ----------
    machine
        Plain numbers.
    burst_size
        Requests M in a burst, whole numbers of 1 or more.
    delay
        Computation D after each request [s], 0 or more; broadcasts with ``burst_size``.
    window
        As for `issue_times`.

    Returns
    -------
    Cost in the broadcast shape of burst size and delay.

    Examples
    --------
    >>> from headway.loggp import PLATFORMS
    >>> cost = issue_cost(PLATFORMS["paragon-1996"], [1, 2, 4, 128])
    >>> (cost * 1e6).round(2).tolist()
    [1.4, 1.4, 1.4, 7.23]
    """
    check_count("burst_size", burst_size)
    bursts, delays = np.broadcast_arrays(np.asarray(burst_size, float), np.asarray(delay, float))
    cost = np.empty(bursts.shape)
    for value in np.unique(delays):
        chosen = delays == value
        longest = int(min(bursts[chosen].max(), _FOLLOWED))
        times = issue_times(machine, longest, float(value), window)
        cost[chosen] = _burst_time(times, bursts[chosen]) / bursts[chosen]
    return cost


def _burst_time(times: FloatArray, burst: FloatArray) -> Amount:
    """Time of bursts; beyond the simulated ones, each request costs as much as the last ones."""
    followed = np.minimum(burst, times.size).astype(int)
    steady = (times[-1] - times[times.size // 2]) / max(times.size - 1 - times.size // 2, 1)
    return times[followed - 1] + (burst - followed) * steady


def regime(machine: LogGP, burst_size: int, window: int = WINDOW) -> Regime:
    """Find the regime of a burst in the signature without delay.

    Send only while no reply has arrived and the window is open: M below both RTT / o_s and 2 W.
    Steady once another request costs the same as in the long run.

    Examples
    --------
    >>> from headway.loggp import LogGP
    >>> machine = LogGP(5e-6, 2.9e-6, 2.9e-6, 7.5e-6, 0.0)
    >>> [str(regime(machine, burst)) for burst in (4, 9, 64)]
    ['send only', 'transition', 'steady state']
    """
    check_count("burst_size", burst_size)
    round_trip, send = request_reply_time(machine), machine.send_overhead
    if burst_size <= 2 * window and burst_size * send < round_trip:
        return Regime.SEND_ONLY
    times = issue_times(machine, burst_size + 2 * window, 0.0, window)
    marginal = (times[-1] - times[burst_size - 1]) / (2 * window)
    steady = steady_issue_cost(machine, 0.0, window)
    if abs(marginal - steady) <= 1e-9 * steady:
        return Regime.STEADY
    return Regime.TRANSITION
