"""How many attempts a second come of requests whose clients ask again: all fixed points.

Of lambda requests a second each has a first attempt, and after one that failed another with chance
h, r times at most. If attempts come at rate x, as a Poisson stream, each fails with probability
p(x). Then they come at the rate

    F(x) = lambda g(x),   g(x) = sum over k = 0..r of (h p(x))^k,

or lambda (1 + b) where a budget allows b retries for each first attempt and g(x) is more. A state
that lasts has x = F(x). It is stable where F crosses the diagonal from above, since more attempts
than there fall back, and unstable where it crosses from below. If x = lambda g(1) is more than the
servers can do, that is a state as well: the queue grows, and every attempt fails.

As p never falls, neither does F. So there is no fixed point in an interval [u, v] with F(u) > v or
F(v) < u: whatever is left after halving is all of them.

Every state is a point of the curve lambda(x) = x / g(x). A load has as many states as the curve has
points at its height; it tips where the curve turns.
"""

from collections.abc import Callable
from enum import StrEnum
from functools import cache
from math import expm1, inf, log

from scipy.optimize import brentq

from headway.errors import GraphError
from headway.queueing.flows.clients import Clients
from headway.records import dataclass

_NARROW = 1e-7
"""Width of the intervals in which fixed points are told apart, over the rate."""

_MOST = 4000
"""Intervals of the same width from which on fixed points in them are not told apart: near a load at
which two of them meet, where the function hardly leaves the diagonal."""


class Stability(StrEnum):
    """What becomes of a state after a small push."""

    STABLE = "stable"
    UNSTABLE = "unstable"
    TOUCHES = "touches"


@dataclass(frozen=True)
class State:
    """A state that lasts.

    Parameters
    ----------
    rate
        Attempts x [1/s].
    late
        Chance p that an attempt fails.
    stability
        What becomes of it after a small push.
    grows
        Whether its queue grows without limit.
    """

    rate: float
    late: float
    stability: Stability
    grows: bool = False


def per_request(clients: Clients, late: float) -> float:
    """Attempts of a request g, if each fails with a probability.

    Examples
    --------
    >>> per_request(Clients(timeout=1.0, retries=3), 0.5)
    1.875
    >>> per_request(Clients(timeout=1.0, retries=3, retry_budget=0.1), 0.5)
    1.1
    """
    more = _further(float(clients.persistence) * late, float(clients.retries))
    return 1 + min(more, float(clients.retry_budget))


def _further(ratio: float, retries: float) -> float:
    """Retries of a request, if each attempt is followed by another with a probability."""
    if ratio <= 0:
        return 0.0
    if ratio >= 1:
        return retries
    return float(ratio * -expm1(retries * log(ratio)) / (1 - ratio))


def follows(clients: Clients, late: float) -> float:
    """Chance that an attempt fails and its client asks again: h p, or less by a budget.

    Examples
    --------
    >>> follows(Clients(timeout=1.0, retries=1), 0.5)
    0.5
    >>> round(follows(Clients(timeout=1.0, retries=1, retry_budget=0.1), 0.5), 12)
    0.1
    """
    ratio, retries = float(clients.persistence) * late, float(clients.retries)
    budget = float(clients.retry_budget)
    if _further(ratio, retries) <= budget:
        return ratio
    return float(brentq(lambda x: _further(x, retries) - budget, 0.0, min(ratio, 1 - 1e-15)))


def given_up(clients: Clients, late: float) -> float:
    """Share of the requests whose clients give up: those that fail and have no other attempt.

    With z = h p of `follows`, (p - z)(1 + z + ... + z^(r-1)) + p z^r.

    Examples
    --------
    >>> given_up(Clients(timeout=1.0, retries=1), 0.5)
    0.25
    """
    again, retries = follows(clients, late), float(clients.retries)
    if retries == inf:
        return (late - again) * (1 + _further(again, retries))
    before = 1 + _further(again, retries - 1) if retries else 0.0
    return float((late - again) * before + late * again**retries)


def states(
    load: float, clients: Clients, late: Callable[[float], float], saturation: float
) -> tuple[State, ...]:
    """All states that last at a load, those with fewer attempts first.

    Parameters
    ----------
    load
        Requests lambda [1/s], above 0.
    clients
        How they ask again.
    late
        The chance p that an attempt fails, at a rate of attempts; it never falls with the rate.
    saturation
        Rate of attempts from which on the queue grows [1/s]; infinite if it never does.

    Raises
    ------
    GraphError
        For endless retries of all that fail.

    Examples
    --------
    >>> from headway.queueing.retries.times import TimedQueue
    >>> queue, asks = TimedQueue(0.008, 4, 0.1), Clients(timeout=0.1, retries=3)
    >>> found = states(400.0, asks, lambda rate: queue.at(rate).late, queue.saturation)
    >>> [(round(one.rate, 1), one.stability.value, one.grows) for one in found]
    [(400.1, 'stable', False), (481.5, 'unstable', False), (1600.0, 'stable', True)]
    """
    most = load * per_request(clients, 1.0)
    if most == inf:
        raise GraphError("retries without end need a persistence below 1; give retries")

    def comes(rate: float) -> float:
        return load * per_request(clients, late(rate))

    top = min(most, saturation)
    found = _between(comes, load, top * (1 - 1e-12) if top < most else top)
    made = [State(x, late(x), s) for x, s in found]
    if most >= saturation:
        made.append(State(most, 1.0, Stability.STABLE, grows=True))
    return tuple(made)


def _between(
    comes: Callable[[float], float], low: float, high: float
) -> list[tuple[float, Stability]]:
    """Fixed points of a function that never falls, and whether they are stable."""
    if high <= low:
        return [(low, Stability.STABLE)] if comes(low) <= high * (1 + 1e-12) else []
    at = cache(comes)
    open_, left = [(low, high)], []
    while open_:
        kept = [(u, v) for u, v in open_ if at(u) <= v and at(v) >= u]
        least = 1.0 if len(kept) > _MOST else _NARROW  # or they touch, or nearly so
        left += [(u, v) for u, v in kept if v - u <= least * v]
        halves = [(u, (u + v) / 2, v) for u, v in kept if v - u > least * v]
        open_ = [half for u, middle, v in halves for half in ((u, middle), (middle, v))]
    return [_root(comes, *each) for each in _joined(left)]


def _joined(left: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Intervals that follow on one another, as one."""
    joined: list[tuple[float, float]] = []
    for u, v in sorted(left):
        if joined and u - joined[-1][1] <= _NARROW * v:
            joined[-1] = joined[-1][0], v
        else:
            joined.append((u, v))
    return joined


def _root(comes: Callable[[float], float], u: float, v: float) -> tuple[float, Stability]:
    """The fixed point in a narrow interval, by where the function leaves it."""
    wide = _NARROW * v

    def excess(rate: float) -> float:
        return comes(rate) - rate

    first = u if excess(u) else u - wide  # a root at an end is inside the wider interval
    last = v if excess(v) else v + wide
    before, after = excess(first), excess(last)
    if before > 0 > after:
        return brentq(excess, first, last), Stability.STABLE
    if before < 0 < after:
        return brentq(excess, first, last), Stability.UNSTABLE
    return (u + v) / 2, Stability.TOUCHES
