"""The number of replicas that an autoscaler asks for: Kubernetes' HorizontalPodAutoscaler.

The autoscaler looks at its metric at regular intervals (a sync of its control loop). At a look
there are c replicas, of which r have been ready since the last look. Let x be the mean of the
metric over these and over that time, and x* its target. The ratio y = x / x* asks for

    n = ceil(c y),   or c where |y - 1| <= tolerance.                                        (1)

If y > 1 while other replicas are starting, those count as idle: y becomes x r / (c x*), and n = c
if that is no longer above 1. Replicas are removed only down to the largest number that any look of
the stabilisation window asked for,

    n <- min(c, max of the n of the window)   if n < c.                                      (2)

With p the number of replicas at the start of the limit period, looks of that period together add
and remove at most the larger of a number and a share,

    n <= max(p + k+, ceil(p (1 + s+))),   n >= min(p - k-, floor(p (1 - s-))),               (3)

and n stays between its minimum and maximum. Replicas added last are removed first.

Source: Kubernetes documentation, *Horizontal Pod Autoscaling*, sections Algorithm details, Scaling
policies, Stabilization window, Default behavior; the defaults are those of its controller.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import ceil, floor, inf
from typing import NamedTuple

import numpy as np

from headway.errors import InvalidParameter, nearest
from headway.kinds import FloatArray, check_domain, check_not_negative
from headway.numerals import digits

METRICS = ("utilisation", "queue", "rate")
"""What the metric is, as a mean over ready replicas: busy servers, jobs present, or arrivals."""

OwnRule = Callable[[FloatArray, int, int], FloatArray]
"""Replicas wanted, as a function of the metric, the ready replicas, and all replicas."""

_NEAR = 1e-9
"""Share of an interval within which times count as equal."""

_PARTS = 4
"""Number of start delays that stand for their law; chosen, as each multiplies the courses."""

_GRID = 4001
"""Points at which a user's own rule is evaluated."""


_MOST_NEXT = 10_000
"""Replicas whose next state is kept."""

MOST_REPLICAS = 10_000
"""Most replicas whose service is computed, which takes some seconds."""


@dataclass(frozen=True)
class Autoscaler:
    """An autoscaler's settings; the defaults are those of Kubernetes.

    Parameters
    ----------
    metric
        One of `METRICS`.
    target
        Target value of the metric, above 0.
    maximum, minimum
        Largest and smallest number of replicas, whole numbers from 1.
    interval
        Time between looks [s], above 0.
    tolerance
        Relative deviation of the metric from its target that causes no change, 0 or more.
    stabilisation
        Time for which the largest number asked for keeps replicas from being removed [s], 0 or
        more.
    start_delay
        Time from asking for a replica until it is ready [s], 0 or more.
    warm_up, warm_up_speed
        Time for which a new replica is slower [s], 0 or more, and its speed during that time, above
        0, at most 1.
    add_most, add_share, remove_most, remove_share
        Most replicas added and removed in each ``limit_period``, as a number and as a share of the
        replicas; the larger of the two counts; 0 or more.
    limit_period
        Length of the period that these limits apply to [s], above 0.
    price
        Price of a replica per hour, 0 or more.
    start_delay_scv
        Squared coefficient of variation of the start delay, 0 or more, with a gamma law; replicas
        asked for at once start together.
    rule
        Replicas wanted, in place of equation (1): a function of the metric (an array), the ready
        replicas, and all replicas; the result is rounded up.

    Raises
    ------
    InvalidParameter
        For numbers outside their domain, and for a minimum above the maximum.

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
    start_delay_scv: float = 0.0
    rule: "OwnRule | None" = None

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            near = nearest(self.metric, METRICS) or f"; it must be {', '.join(METRICS)}"
            msg = f"metric is {self.metric!r}{near}"
            raise InvalidParameter(msg)
        for name in ("target", "interval", "limit_period"):
            check_domain(name, getattr(self, name), lambda x: 0 < x < inf, "above 0")
        for name in (
            "tolerance",
            "stabilisation",
            "start_delay",
            "warm_up",
            "price",
            "start_delay_scv",
        ):
            check_not_negative(name, getattr(self, name))
        for name in ("add_most", "add_share", "remove_most", "remove_share"):
            check_domain(name, getattr(self, name), lambda x: 0 <= x < inf, "0 or more")
        speed = self.warm_up_speed
        check_domain("warm_up_speed", speed, lambda x: 0 < x <= 1, "above 0 and at most 1")
        for name in ("minimum", "maximum"):
            check_domain(
                name, getattr(self, name), lambda x: x >= 1 and x % 1 == 0, "1 or more, and whole"
            )
        self._check_ends()

    def _check_ends(self) -> None:
        low, high = digits(self.minimum), digits(self.maximum)
        if self.minimum > self.maximum:
            msg = f"minimum is {low}, above the maximum of {high}; swap them"
            raise InvalidParameter(msg)
        if self.maximum > MOST_REPLICAS:
            msg = f"maximum is {high}; headway follows {MOST_REPLICAS:,} replicas at most"
            raise InvalidParameter(msg)
        if self.metric == "utilisation" and self.target > 1 and self.rule is None:
            msg = (
                f"target is {digits(self.target)}; a utilisation is at most 1, so that nothing "
                "would be added"
            )
            raise InvalidParameter(msg)

    @property
    def delays(self) -> tuple[float, ...]:
        """Equally likely start delays [s]: the mean of each quarter of their law.

        Examples
        --------
        >>> Autoscaler("queue", 1.0, maximum=2, start_delay=60.0).delays
        (60.0,)
        >>> law = Autoscaler("queue", 1.0, maximum=2, start_delay=60.0, start_delay_scv=1.0)
        >>> [round(delay, 1) for delay in law.delays], round(sum(law.delays) / 4, 6)
        ([8.2, 28.6, 60.0, 143.2], 60.0)
        """
        if self.start_delay == 0 or self.start_delay_scv == 0:
            return (self.start_delay,)
        from scipy.special import gammainc, gammaincinv

        shape = 1 / self.start_delay_scv
        ends = gammaincinv(shape, np.arange(_PARTS + 1) / _PARTS)
        below = np.append(gammainc(shape + 1, ends[:-1]), 1.0)
        return tuple((self.start_delay * _PARTS * np.diff(below)).tolist())

    @property
    def reaction(self) -> float:
        """Longest time from a change of the load until the replicas for it are ready [s]."""
        return self.interval + self.delays[-1] + self.warm_up

    def within(self, count: float) -> int:
        """The nearest number of replicas between the minimum and the maximum."""
        return int(min(max(count, self.minimum), self.maximum))


NUMBERS = tuple(each.name for each in fields(Autoscaler) if each.name not in ("metric", "rule"))
"""Names of the numerical settings."""


class Replicas(NamedTuple):
    """The replicas under an autoscaler, and the part of their past that still counts.

    Parameters
    ----------
    settled
        Replicas that are ready and warm.
    starting
        When each of the other replicas is ready [s], in the order in which they were asked for.
    wanted
        Times and numbers wanted at looks of the window, without those that a later look matches or
        exceeds, as only the largest counts.
    changes
        Times and sizes of changes in the current limit period.
    fell
        Whether the last change removed replicas, for a load that has not grown since.
    """

    settled: int
    starting: tuple[float, ...] = ()
    wanted: tuple[tuple[float, int], ...] = ()
    changes: tuple[tuple[float, int], ...] = ()
    fell: bool = False

    @property
    def number(self) -> int:
        """All replicas, ready and starting."""
        return self.settled + len(self.starting)

    def aged(self, by: float) -> "Replicas":
        """The same, with times counted from so much later [s]."""
        wanted, changes = (
            tuple((at - by, number) for at, number in each) for each in (self.wanted, self.changes)
        )
        starting = tuple(at - by for at in self.starting)
        return Replicas(self.settled, starting, wanted, changes, self.fell)


class AtLook(NamedTuple):
    """What counts at a look, whatever number it then asks for.

    Parameters
    ----------
    pods, time
        The replicas, and the time of the look [s].
    number, most
        Number of replicas, and the largest number wanted at a look of the window.
    window, changes
        Looks of the window and changes of the limit period that still count at the next look.
    before
        Replicas at the start of the limit period.
    settled, starting
        Number of warm replicas, and the times when the others are ready.
    """

    pods: Replicas
    time: float
    number: int
    most: int
    window: tuple[tuple[float, int], ...]
    changes: tuple[tuple[float, int], ...]
    before: int
    settled: int
    starting: tuple[float, ...]


class Rule:
    """The rule of an autoscaler, applied from look to look.

    Parameters
    ----------
    law
        The settings of the autoscaler.

    Examples
    --------
    >>> rule = Rule(Autoscaler("utilisation", 0.5, maximum=10, start_delay=30.0))
    >>> pods = rule.look(rule.begin(2, 0.0), 15.0, 0.9)
    >>> pods.number, rule.ready(pods, 15.0), rule.ready(pods, 45.0)
    (4, (2, 0), (4, 0))
    >>> pods = rule.look(pods, 60.0, 0.2)  # less only after 5 minutes
    >>> pods.number, rule.look(pods, 345.0, 0.2).number
    (4, 2)
    """

    def __init__(self, law: Autoscaler) -> None:
        self.law, self.near = law, _NEAR * law.interval
        self.delays = law.delays
        self._steps: dict[tuple[int, int], tuple[FloatArray, list[int]]] = {}
        self._next: dict[tuple[Replicas, int, bool], tuple[Replicas, ...]] = {}

    def begin(self, count: int, time: float) -> Replicas:
        """The first replicas, all ready."""
        return Replicas(count, wanted=((time, count),))

    def ready(self, pods: Replicas, time: float) -> tuple[int, int]:
        """The number of ready replicas at full speed, and of those still warming up."""
        there = sum(at <= time + self.near for at in pods.starting)
        warm = sum(at + self.law.warm_up <= time + self.near for at in pods.starting)
        return pods.settled + warm, there - warm

    def changing(self, pods: Replicas, after: float, before: float) -> list[float]:
        """Times strictly between two others at which replicas become ready or warm."""
        times = {at + more for at in pods.starting for more in (0.0, self.law.warm_up)}
        return [at for at in times if after + self.near < at < before - self.near]

    def look(self, pods: Replicas, time: float, metric: float) -> Replicas:
        """The replicas after a look that sees this mean metric of the ready ones."""
        # those ready ever since the last look
        ready = sum(self.ready(pods, time - self.law.interval))
        wanted = self.wanted(metric / self.law.target, ready, pods.number)
        return self.asked(self.at(pods, time), wanted, self.delays[0])

    def wanted(self, ratio: float, ready: int, count: int) -> int:
        """Replicas wanted by equation (1), or by the user's own rule, from metric over target."""
        law = self.law
        if law.rule is not None:
            return self._by_own_rule(law.rule, np.array([ratio]), ready, count)[0]
        if ratio > 1 and ready < count:
            ratio = max(ratio * ready / count, 1.0)  # not below 1, which would reverse the change
        if abs(ratio - 1) <= law.tolerance * (1 + _NEAR):
            return count
        return min(ceil(count * ratio * (1 - _NEAR)), int(law.maximum) + count)

    def _by_own_rule(self, rule: OwnRule, ratios: FloatArray, ready: int, count: int) -> list[int]:
        found = np.broadcast_to(rule(ratios * self.law.target, ready, count), ratios.shape)
        if np.isnan(found).any():
            seen = digits(float(ratios[np.isnan(found)][0]) * self.law.target)
            msg = f"asks_for is not a number where {seen} is seen at {count} replicas"
            raise InvalidParameter(msg)
        whole = np.clip(np.ceil(found * (1 - _NEAR)), 0, self.law.maximum)
        return [int(number) for number in whole.tolist()]

    def steps(self, ready: int, count: int) -> tuple[FloatArray, list[int]]:
        """Replicas wanted as a step function of the ratio: its break points, and its values.

        Examples
        --------
        >>> places, wanted = Rule(Autoscaler("utilisation", 0.5, maximum=4)).steps(2, 2)
        >>> places.round(6).tolist(), wanted
        ([0.5, 1.1, 1.5], [1, 2, 3, 4])
        """
        if (ready, count) not in self._steps:
            self._steps[ready, count] = self._found_steps(ready, count)
        return self._steps[ready, count]

    def _found_steps(self, ready: int, count: int) -> tuple[FloatArray, list[int]]:
        law = self.law
        if law.rule is None:
            counts, whole = np.arange(1, law.maximum + count + 1), min(ready, count)
            ends = np.array([1 - law.tolerance, (1 + law.tolerance) * count / whole])
            places = np.unique(np.concatenate([counts / count, ends, counts / whole]))
        else:
            top = 1 / law.target if law.metric == "utilisation" else 4 * law.maximum
            places = np.linspace(0, top, _GRID)
        middles = np.concatenate([[places[0] / 2], (places[:-1] + places[1:]) / 2, places[-1:] * 2])
        if law.rule is None:
            most = int(law.maximum)
            wanted = [min(self.wanted(at, ready, count), most) for at in middles.tolist()]
        else:
            wanted = self._by_own_rule(law.rule, middles, ready, count)
        kept = np.flatnonzero(np.diff(wanted))
        return places[kept], [wanted[0], *(wanted[k + 1] for k in kept)]

    def at(self, pods: Replicas, time: float) -> AtLook:
        """What counts at a look at this time."""
        law, later, count = self.law, time + self.law.interval, pods.number
        window = self._since(pods.wanted, time, law.stabilisation)
        changes = self._since(pods.changes, time, law.limit_period)
        starting = tuple(at for at in pods.starting if at + law.warm_up > time + self.near)
        return AtLook(
            pods,
            time,
            count,
            max((number for _, number in window), default=0),
            self._since(window, later, law.stabilisation),
            self._since(changes, later, law.limit_period),
            count - sum(change for _, change in changes),
            count - len(starting),
            starting,
        )

    def asked(self, look: AtLook, wanted: int, delay: float, *, risen: bool = False) -> Replicas:
        """The replicas after a look that wants this number.

        Parameters
        ----------
        look, wanted
            What counts at the look, and the number wanted.
        delay
            Time until replicas that are added now are ready [s].
        risen
            Whether the load needs more than at the last look.
        """
        law, count, time = self.law, look.number, look.time
        aim = wanted if wanted >= count else min(count, max(wanted, look.most))  # (2)
        new = self._limited(aim, count, look.before)
        window, changes = look.window, look.changes
        if self.interval_within(law.stabilisation):
            window = (*window, (time, wanted))
        if new != count and self.interval_within(law.limit_period):
            changes = (*changes, (time, new - count))
        if new >= count:  # those added last are removed first
            settled, starting = look.settled, (*look.starting, *[time + delay] * (new - count))
        else:
            settled, starting = min(look.settled, new), look.starting[: max(new - look.settled, 0)]
        fell = look.pods.fell and not risen if new == count else new < count
        return Replicas(settled, starting, _outdoing(window, new), changes, fell)

    def after_look(self, pods: Replicas, wanted: int, *, risen: bool) -> tuple[Replicas, ...]:
        """The replicas after the next look, for each start delay; times are since the last look.

        So replicas with the same past are the same at every time of the day.

        Examples
        --------
        >>> rule = Rule(Autoscaler("utilisation", 0.5, maximum=10, start_delay=30.0))
        >>> rule.after_look(Replicas(2), 3, risen=False)[0].starting
        (30.0,)
        """
        key = pods, wanted, risen
        if key not in self._next:
            if len(self._next) >= _MOST_NEXT:
                self._next.clear()
            look = self.at(pods.aged(self.law.interval), 0.0)
            delays = self.delays if wanted > look.number else self.delays[:1]
            self._next[key] = tuple(self.asked(look, wanted, one, risen=risen) for one in delays)
        return self._next[key]

    def interval_within(self, window: float) -> bool:
        """Whether a look now still counts at the next look, for a window of this length."""
        return window - self.law.interval > self.near

    def _limited(self, wanted: int, count: int, before: int) -> int:
        """The number wanted within the limits (3), from ``before`` at the start of the period."""
        law = self.law
        most = max(before + law.add_most, ceil(before * (1 + law.add_share) * (1 - _NEAR)), count)
        fewest = min(
            before - law.remove_most, floor(before * (1 - law.remove_share) + _NEAR), count
        )
        return law.within(min(max(wanted, fewest), most))

    def _since(
        self, events: tuple[tuple[float, int], ...], time: float, window: float
    ) -> tuple[tuple[float, int], ...]:
        return tuple((at, number) for at, number in events if at > time - window + self.near)


def _outdoing(window: tuple[tuple[float, int], ...], count: int) -> tuple[tuple[float, int], ...]:
    """Looks of the window that no later look matches; numbers are capped at the replicas present.

    A number above those present matters only after a later look that wants as many.
    """
    kept: list[tuple[float, int]] = []
    for at, number in reversed(window):
        if not kept or min(number, count) > kept[-1][1]:
            kept.append((at, min(number, count)))
    return tuple(reversed(kept))
