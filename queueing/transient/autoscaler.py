"""How many replicas an autoscaler asks for: the rule of Kubernetes' HorizontalPodAutoscaler.

At each look at its metric there are c replicas, of which r were ready since the last look. With x
the metric, the mean of these over that time, and x* its target, the ratio y = x / x* asks for

    n = ceil(c y),   or c where |y - 1| <= tolerance.                                        (1)

Where y > 1 while others start, these count as if they did nothing: y becomes x r / (c x*),
and n is c as well where that is no longer above 1. Fewer replicas are wanted only as far as no look
of the window of stabilisation asked for more,

    n <- min(c, max of the n of the window)   if n < c.                                      (2)

With p the replicas at the start of the period of limits, which holds its changes, it then adds and
removes no more than the larger of a number and a share allows,

    n <= max(p + k+, ceil(p (1 + s+))),   n >= min(p - k-, floor(p (1 - s-))),               (3)

and stays from its minimum to its maximum. What is removed first is what was added last.

Source: Kubernetes documentation, *Horizontal Pod Autoscaling*, sections Algorithm details, Scaling
policies, Stabilization window, Default behavior; the defaults are those of its controller.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import ceil, floor, inf

import numpy as np

from headway.errors import InvalidParameter, nearest
from headway.kinds import check_domain, check_not_negative
from headway.numerals import digits


@dataclass(frozen=True)
class Seen:
    """What an autoscaler sees, on average over a time.

    Parameters
    ----------
    busy
        Share of the servers of ready replicas that is busy.
    number, rate
        Jobs there, and jobs that come [1/s].
    ready
        Replicas that are ready.
    """

    busy: float
    number: float
    rate: float
    ready: int


METRICS: dict[str, Callable[[Seen], float]] = {
    "utilisation": lambda seen: seen.busy,
    "queue": lambda seen: seen.number / seen.ready,
    "rate": lambda seen: seen.rate / seen.ready,
}
"""What it may look at, the mean over ready replicas: busy servers, jobs there, jobs that come."""

_NEAR = 1e-9
"""Share of an interval by which times that are equal may differ."""


@dataclass(frozen=True)
class Autoscaler:
    """An autoscaler by its numbers; those left out are Kubernetes' own.

    Parameters
    ----------
    metric
        One of `METRICS`.
    target
        What the metric is to be, above 0.
    maximum, minimum
        Most and fewest replicas, whole numbers of 1 or more.
    interval
        From one look to the next [s], above 0.
    tolerance
        Share by which the metric may differ from its target without a change, 0 or more.
    stabilisation
        For how long a look that asked for more keeps replicas [s], 0 or more.
    start_delay
        From when a replica is asked for until it is ready [s], 0 or more.
    warm_up, warm_up_speed
        For how long it then is slower [s], 0 or more, and how fast it is meanwhile, above 0, at
        most 1.
    add_most, add_share, remove_most, remove_share
        Replicas and share of them that are added and removed at most in each ``limit_period``,
        whichever is more; 0 or more.
    limit_period
        Of these limits [s], above 0.
    price
        Of a replica for an hour, 0 or more.

    Raises
    ------
    InvalidParameter
        For numbers outside their domain, and a minimum above the maximum.

    Examples
    --------
    >>> Autoscaler("utilisation", 0.7, maximum=3, minimum=5)
    Traceback (most recent call last):
    headway.errors.InvalidParameter: minimum is 5, above the maximum of 3; swap them
    """

    metric: str
    target: float
    maximum: float
    minimum: float = 1.0
    interval: float = 15.0
    tolerance: float = 0.1
    stabilisation: float = 300.0
    start_delay: float = 0.0
    warm_up: float = 0.0
    warm_up_speed: float = 0.5
    add_most: float = 4.0
    add_share: float = 1.0
    remove_most: float = 0.0
    remove_share: float = 1.0
    limit_period: float = 15.0
    price: float = 0.0

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            near = nearest(self.metric, METRICS) or f"; it must be {', '.join(METRICS)}"
            msg = f"metric is {self.metric!r}{near}"
            raise InvalidParameter(msg)
        for name in ("target", "interval", "limit_period"):
            check_domain(name, getattr(self, name), lambda x: 0 < x < inf, "above 0")
        for name in ("tolerance", "stabilisation", "start_delay", "warm_up", "price"):
            check_not_negative(name, getattr(self, name))
        for name in ("add_most", "add_share", "remove_most", "remove_share"):
            check_domain(name, getattr(self, name), lambda x: 0 <= x < inf, "0 or more")
        speed = self.warm_up_speed
        check_domain("warm_up_speed", speed, lambda x: 0 < x <= 1, "above 0 and at most 1")
        for name in ("minimum", "maximum"):
            check_domain(
                name, getattr(self, name), lambda x: x >= 1 and x % 1 == 0, "1 or more, and whole"
            )
        if self.minimum > self.maximum:
            low, high = digits(self.minimum), digits(self.maximum)
            msg = f"minimum is {low}, above the maximum of {high}; swap them"
            raise InvalidParameter(msg)

    @property
    def reaction(self) -> float:
        """From a change of the load until what it asks for is there at the latest [s]."""
        return self.interval + self.start_delay + self.warm_up

    def within(self, count: float) -> int:
        """The nearest number of replicas from the minimum to the maximum."""
        return int(min(max(count, self.minimum), self.maximum))


NUMBERS = tuple(each.name for each in fields(Autoscaler) if each.name != "metric")
"""Names of its numbers."""


class Replicas:
    """Replicas under an autoscaler, from look to look.

    Parameters
    ----------
    law
        The autoscaler.
    count
        Replicas at first, all of them ready.
    time
        When that is [s].

    Examples
    --------
    >>> pods = Replicas(Autoscaler("utilisation", 0.5, maximum=10, start_delay=30.0), 2, 0.0)
    >>> pods.look(15.0, 0.9), pods.ready(15.0), pods.ready(45.0)
    (4, (2, 0), (4, 0))
    >>> pods.look(60.0, 0.2), pods.look(345.0, 0.2)  # less only after 5 minutes
    (4, 2)
    """

    def __init__(self, law: Autoscaler, count: int, time: float) -> None:
        self.law = law
        self.near = _NEAR * law.interval
        self.asked = [-inf] * count  # when each was, the oldest first
        self.wanted = [(time, count)]
        self.changes: list[tuple[float, int]] = []

    def ready(self, time: float) -> tuple[int, int]:
        """How many are ready, at full speed and still warming up."""
        law = self.law
        at = np.array(self.asked) + law.start_delay - self.near
        warm = int((at + law.warm_up <= time).sum())
        return warm, int((at <= time).sum()) - warm

    def look(self, time: float, metric: float) -> int:
        """See the mean metric of the ready replicas, and ask for as many as the rule says."""
        count = len(self.asked)
        ready = sum(self.ready(time - self.law.interval))  # all the time since the last look
        wanted = self._wanted(metric / self.law.target, ready, count)
        self.wanted = [*self._since(self.wanted, time, self.law.stabilisation), (time, wanted)]
        if wanted < count:
            wanted = min(count, max(number for _, number in self.wanted))  # (2)
        new = self._limited(wanted, count, time)
        if new != count:
            self.changes.append((time, new - count))
            self.asked = self.asked[:new] + [time] * (new - count)
        return new

    def _wanted(self, ratio: float, ready: int, count: int) -> int:
        """Equation (1)."""
        law = self.law
        if ratio > 1 and ready < count:
            ratio = max(ratio * ready / count, 1.0)  # not less than 1: that would turn it around
        if abs(ratio - 1) <= law.tolerance * (1 + _NEAR):
            return count
        return ceil(count * ratio * (1 - _NEAR))

    def _limited(self, wanted: int, count: int, time: float) -> int:
        """Equation (3)."""
        law = self.law
        self.changes = self._since(self.changes, time, law.limit_period)
        before = count - sum(change for _, change in self.changes)
        most = max(before + law.add_most, ceil(before * (1 + law.add_share) * (1 - _NEAR)), count)
        fewest = min(
            before - law.remove_most, floor(before * (1 - law.remove_share) + _NEAR), count
        )
        return law.within(min(max(wanted, fewest), most))

    def _since(
        self, events: list[tuple[float, int]], time: float, window: float
    ) -> list[tuple[float, int]]:
        return [(at, number) for at, number in events if at > time - window + self.near]
