"""Replicas of a pool under Kubernetes' autoscaler, simulated: many days side by side.

The number of jobs is played event by event, all days by one clock that is fast enough for each
(uniformisation): at each tick a job comes, a job goes, or nothing happens. Each day has replicas of
its own, set by the rule as Kubernetes' documentation states it, from what happened since the last
look. Start delays are whole numbers of intervals.
"""

import math

import numpy as np


class Pods:
    """One day's replicas: for each the look from which on it is ready."""

    def __init__(self, count, law):
        self.ready_from, self.law = [0] * count, law
        self.recommended, self.history = [(0, count)], []

    def ready(self, look):
        return sum(since <= look for since in self.ready_from)

    def look(self, number, metric):
        """The rule, at a look by its number."""
        law, now = self.law, len(self.ready_from)
        ready, usage = self.ready(number - 1), metric / law["target"]
        if usage > 1 and ready < now:  # pods that start count as idle
            usage = metric * ready / now / law["target"]
            if usage < 1:
                usage = 1.0
        desired = now if abs(usage - 1) <= law["tolerance"] else math.ceil(now * usage - 1e-9)
        self.recommended.append((number, desired))
        if desired < now:
            recent = [n for k, n in self.recommended if k > number - law["window"]]
            desired = min(max(recent), now)
        grown = max(now + 4, 2 * now)  # Kubernetes' default, of one period: that of the looks
        desired = max(law["minimum"], min(desired, grown, law["maximum"]))
        del self.ready_from[desired:]
        self.ready_from += [number + law["delay"]] * (desired - now)


def simulated(rates, step, law, time, count, runs, seed, start=None):
    """Play days.

    Parameters
    ----------
    rates
        Of arrivals in each interval between looks [1/s].
    step
        The interval [s].
    law
        ``target``, ``tolerance``, ``minimum``, ``maximum``; ``window`` and ``delay`` in intervals.
    time
        Mean service time [s].
    count, runs, seed
        Replicas at first, days, and the seed.
    start
        Jobs at first; left out, those of infinitely many servers at the first rate.

    Returns
    -------
    By interval and day: utilisation seen at its end, replicas, arrivals, sums of the response
    times that they expect, and for how long somebody waited in it who has ever since the start [s].
    """
    draw = np.random.default_rng(seed)
    pods = [Pods(count, law) for _ in range(runs)]
    jobs = draw.poisson(rates[0] * time, runs) if start is None else np.full(runs, start)
    behind = np.ones(runs, bool)
    found = []
    for place, rate in enumerate(rates):
        if place:
            for day, metric in zip(pods, found[-1][0], strict=True):
                day.look(place, metric)
        servers = np.array([day.ready(place) for day in pods])
        clock = rate + servers.max() / time
        ticks = draw.poisson(clock * step)
        chances = draw.random((ticks, runs))
        comes, goes = rate / clock, 1 / time / clock
        busy, came, waits, backlog = np.zeros((4, runs))
        for chance in chances:
            behind &= jobs > servers
            backlog += behind
            serving = np.minimum(jobs, servers)
            busy += serving
            arrival = chance < comes
            came += arrival
            waits += arrival * (1 + np.maximum(jobs - servers + 1, 0) / servers)
            jobs = jobs + arrival - (~arrival & (chance < comes + goes * serving))
        whole = [len(day.ready_from) for day in pods]
        backlog *= step / max(ticks, 1)
        usage = busy / servers / max(ticks, 1)
        found.append((usage, np.array(whole), came, time * waits, backlog))
    return [np.array(each) for each in zip(*found, strict=True)]
