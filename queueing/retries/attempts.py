"""The rate of attempts at a queue whose clients retry: all fixed points.

Requests arrive at a rate lambda. Each makes a first attempt, and after a failed attempt another
with probability h, up to r retries. If attempts form a Poisson stream of rate x, each fails with
probability p(x), and the rate of attempts is

    F(x) = lambda g(x),   g(x) = sum over k = 0..r of (h p(x))^k,

or lambda (1 + b) if a retry budget allows b retries for each first attempt and g(x) is more. A
steady state has x = F(x). It is stable where F crosses the diagonal from above, as a higher rate of
attempts then falls back, and unstable where F crosses from below. If x = lambda g(1) exceeds the
capacity of the servers, that is a steady state as well, in which the queue grows and every attempt
fails.

As p never decreases, neither does F. So an interval [u, v] with F(u) > v or F(v) < u has no fixed
point; halving intervals and dropping these leaves all fixed points.

Every state is a point of the curve lambda(x) = x / g(x): a load has as many states as the curve has
points at its height, and it tips over where the curve turns.
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
"""Width of the intervals in which fixed points are told apart, relative to the rate of attempts."""

_MOST = 4000
"""Number of intervals of one width above which fixed points are no longer told apart: near a
load where two of them meet, the function hardly differs from the diagonal.
"""


class Stability(StrEnum):
    """What happens to a state after a small disturbance."""

    STABLE = "stable"
    UNSTABLE = "unstable"
    TOUCHES = "touches"


@dataclass(frozen=True)
class State:
    """A steady state.

    Parameters
    ----------
    rate
        Attempts x [1/s].
    late
        Probability p that an attempt fails.
    stability
        Whether it returns to this state after a small disturbance.
    grows
        Whether the queue grows without limit.
    """

    rate: float
    late: float
    stability: Stability
    grows: bool = False


def per_request(clients: Clients, late: float) -> float:
    """Mean attempts g per request, if each fails with probability ``late``.

    Examples
    --------
    >>> per_request(Clients(timeout=1.0, retries=3), 0.5)
    1.875
    >>> per_request(Clients(timeout=1.0, retries=3, retry_budget=0.1), 0.5)
    1.1
    """
    more = _further(float(clients.persistence) * late, float(clients.retries))
    return 1 + min(more, float(clients.retry_budget))


def square_per_request(clients: Clients, late: float) -> float:
    """Mean square of the attempts of a request; with a budget used up, the square of their mean.

    It is the sum over k = 0..r of (2 k + 1) z^k, with z = h p.

    Examples
    --------
    >>> square_per_request(Clients(timeout=1.0, retries=3), 1.0)
    16.0
    >>> round(square_per_request(Clients(timeout=1.0, retries=1), 0.5), 12)  # 1/2 + 4/2
    2.5
    """
    ratio, retries = float(clients.persistence) * late, float(clients.retries)
    mean = 1 + _further(ratio, retries)
    if mean > 1 + float(clients.retry_budget) or ratio >= 1:
        return per_request(clients, late) ** 2
    beyond = retries * ratio ** (retries + 1) if retries < inf else 0.0
    return mean + 2 * (mean - 1 - beyond) / (1 - ratio)


def _further(ratio: float, retries: float) -> float:
    """Mean retries per request, if each attempt is retried with probability ``ratio``."""
    if ratio <= 0:
        return 0.0
    if ratio >= 1:
        return retries
    return float(ratio * -expm1(retries * log(ratio)) / (1 - ratio))


def follows(clients: Clients, late: float) -> float:
    """Probability that an attempt fails and is retried: h p, or less with a retry budget.

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
    """Share of requests whose client gives up: the last attempt fails and is not retried.

    With z = h p from `follows`, it is (p - z)(1 + z + ... + z^(r-1)) + p z^r.

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
    """All steady states at a load, in the order of their attempts.

    Parameters
    ----------
    load
        Requests lambda [1/s], above 0.
    clients
        How clients retry.
    late
        The probability p that an attempt fails, by the rate of attempts; it must not decrease.
    saturation
        Rate of attempts above which the queue grows [1/s]; infinite if it never does.

    Raises
    ------
    GraphError
        If every failed attempt is retried without end.

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
    found = _fixed_points(comes, load, top * (1 - 1e-12) if top < most else top)
    made = [State(x, late(x), s) for x, s in found]
    if most >= saturation:
        made.append(State(most, 1.0, Stability.STABLE, grows=True))
    return tuple(made)


def _fixed_points(
    comes: Callable[[float], float], low: float, high: float
) -> list[tuple[float, Stability]]:
    """Fixed points of a non-decreasing function, and whether they are stable."""
    if high <= low:
        return [(low, Stability.STABLE)] if comes(low) <= high * (1 + 1e-12) else []
    at = cache(comes)
    open_, left = [(low, high)], []
    while open_:
        kept = [(u, v) for u, v in open_ if at(u) <= v and at(v) >= u]
        least = 1.0 if len(kept) > _MOST else _NARROW  # fixed points meet, or nearly so
        left += [(u, v) for u, v in kept if v - u <= least * v]
        halves = [(u, (u + v) / 2, v) for u, v in kept if v - u > least * v]
        open_ = [half for u, middle, v in halves for half in ((u, middle), (middle, v))]
    return [_root(comes, *each) for each in _merged(left)]


def _merged(left: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Merge adjacent intervals."""
    joined: list[tuple[float, float]] = []
    for u, v in sorted(left):
        if joined and u - joined[-1][1] <= _NARROW * v:
            joined[-1] = joined[-1][0], v
        else:
            joined.append((u, v))
    return joined


def _root(comes: Callable[[float], float], u: float, v: float) -> tuple[float, Stability]:
    """The fixed point in a narrow interval; its stability follows from the function at the ends."""
    wide = _NARROW * v

    def excess(rate: float) -> float:
        return comes(rate) - rate

    first = u if excess(u) else u - wide  # a root at an end lies inside the wider interval
    last = v if excess(v) else v + wide
    before, after = excess(first), excess(last)
    if before > 0 > after:
        return brentq(excess, first, last), Stability.STABLE
    if before < 0 < after:
        return brentq(excess, first, last), Stability.UNSTABLE
    return (u + v) / 2, Stability.TOUCHES
