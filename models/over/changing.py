"""Servers that change while a simulated day is played: by a schedule, or by an autoscaler."""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Protocol

import numpy as np

from headway.kinds import FloatArray
from headway.models.simulating.playing.changes import await_arrivals, let_come, set_servers
from headway.models.simulating.playing.run import Run
from headway.queueing.playing.rows import RowArray
from headway.queueing.transient.autoscaler import Autoscaler, Rule
from headway.queueing.transient.network import TimedNetwork
from headway.queueing.transient.scaled import Course
from headway.records import dataclass

Servers = dict[int, int]
"""Number of servers of each station where it changes, by position of the station."""

_COUNTED = {
    "utilisation": ("used_area",),
    "queue": ("present_area",),
    "rate": ("served", "present"),
}
"""What each metric of an autoscaler accumulates, as fields of a station's queues: the time that
servers are busy, the time that jobs are present, and the number of arrivals."""


class Changes(Protocol):
    """Changes of servers on a day."""

    @property
    def crowd(self) -> Servers:
        """Servers at the start, for all stations where they change."""

    @property
    def at(self) -> float:
        """When the next change is, since the run began [s]; infinite if there is none."""

    def servers(self, seen: Mapping[str, float]) -> Servers:
        """Make the next change, and return the servers after it.

        Parameters
        ----------
        seen
            What the station has counted so far, by metric.
        """


class Schedule:
    """Servers that follow a timetable.

    Parameters
    ----------
    times, servers
        When each change is, since the run began [s], and the servers from then on.
    """

    def __init__(self, times: list[float], servers: list[Servers]) -> None:
        self.ahead, self.crowd = list(zip(times, servers, strict=True)), servers[0]

    @property
    def at(self) -> float:
        """When the next change is [s]."""
        return self.ahead[0][0] if self.ahead else inf

    def servers(self, seen: Mapping[str, float]) -> Servers:
        """The servers from the next change on."""
        del seen
        return self.ahead.pop(0)[1]


@dataclass(frozen=True, eq=False)
class Scaled:
    """A station whose servers an autoscaler sets.

    Parameters
    ----------
    law, count
        The autoscaler, and the number of replicas at the start.
    station
        Position of the station.
    serves
        Servers that a number of replicas has.
    looks, needed
        When the autoscaler looks, in the day's own time [s]; and the replicas that the load needs
        at the start and at each look.
    """

    law: Autoscaler
    count: int
    station: int
    serves: Callable[[int], int]
    looks: FloatArray
    needed: FloatArray


class Autoscaling:
    """An autoscaler at work during a simulated day.

    Parameters
    ----------
    scaled
        The station that it scales.
    first, before
        When the day begins, in its own time, and how long the run was played before that [s].
    seed
        Seed of the random start delays.
    """

    def __init__(self, scaled: Scaled, first: float, before: float, seed: tuple[int, ...]) -> None:
        self.scaled, self.first, self.before = scaled, first, before
        self.rule, self.draw = Rule(scaled.law), np.random.default_rng(seed)
        self.pods = self.rule.begin(scaled.count, first)
        self.crowd = {scaled.station: scaled.serves(scaled.count)}
        self.due = [first, *scaled.looks.tolist()]
        self.now, self.look, self.ready = first, 0, scaled.count
        self.next = self._next()
        self.seen, self.metric = 0.0, 0.0
        self.numbers: list[int] = []
        self.there: list[tuple[float, int]] = [(first, scaled.count)]
        self.above = np.zeros(len(scaled.looks))
        self.changes = self.needless = 0

    def _next(self) -> float:
        """When it next begins, looks, or has replicas become ready, in the day's own time [s]."""
        due = self.due[self.look] if self.look < len(self.due) else inf
        return min([due, *self.rule.changing(self.pods, self.now, due)])

    @property
    def at(self) -> float:
        """When the next change is, since the run began [s]."""
        return self.next - self.first + self.before

    def servers(self, seen: Mapping[str, float]) -> Servers:
        """The servers after a look, or after replicas have become ready."""
        now = self.next
        self._count(seen[self.scaled.law.metric], now - self.now)
        self.now = now
        if now in self.due[self.look : self.look + 1]:
            if self.look:
                self._looks(self.metric / self.scaled.law.interval)
            self.look, self.metric = self.look + 1, 0.0
        self.ready = max(sum(self.rule.ready(self.pods, now)), 1)
        self.there.append((now, self.ready))
        self.next = self._next()
        return {self.scaled.station: self.scaled.serves(self.ready)}

    def _count(self, seen: float, length: float) -> None:
        """Add what the metric gained since the last event, with the replicas ready until now."""
        gained, self.seen = seen - self.seen, seen
        # jobs still in service at servers that were removed do not count
        if self.scaled.law.metric == "utilisation":
            self.metric += min(gained / self.scaled.serves(self.ready), length)
        else:
            self.metric += gained / self.ready

    def _looks(self, metric: float) -> None:
        """Read the metric, and ask for as many replicas as the rule says."""
        law, rule, needed = self.scaled.law, self.rule, self.scaled.needed
        ready = max(sum(rule.ready(self.pods, self.now - law.interval)), 1)
        risen = bool(needed[self.look] > needed[self.look - 1])
        wanted = rule.wanted(metric / law.target, ready, self.pods.number)
        old = rule.at(self.pods, self.now)
        new = rule.asked(old, wanted, self._delay(), risen=risen)
        self.above[self.look - 1] = metric > law.target * (1 + law.tolerance)
        self.changes += new.number != old.number
        self.needless += new.number > old.number and self.pods.fell
        self.numbers.append(new.number)
        self.pods = new

    def _delay(self) -> float:
        law = self.scaled.law
        if not law.start_delay * law.start_delay_scv:
            return law.start_delay
        shape = 1 / law.start_delay_scv
        return float(self.draw.gamma(shape, law.start_delay / shape))


def course_of(network: TimedNetwork, scaled: Scaled, days: Sequence["Autoscaling"]) -> Course:
    """What an autoscaler did on simulated days, averaged over them.

    Parameters
    ----------
    network
        The network, whose edges include the times of the looks.
    scaled, days
        The scaled station, and its autoscaler on each of the days.
    """
    numbers = np.array([[scaled.count, *day.numbers] for day in days], float)
    near = 1e-9 * scaled.law.interval
    look = np.searchsorted(scaled.looks, network.edges[:-1] + near, side="right")
    replicas = numbers[:, look]
    low, high = np.percentile(replicas, [5, 95], axis=0, method="inverted_cdf")
    return Course(
        replicas.mean(axis=0),
        np.mean([_mean_servers(network.edges, scaled, day.there) for day in days], axis=0),
        low,
        high,
        scaled.looks,
        np.mean([day.above for day in days], axis=0),
        float(np.mean([day.changes for day in days])),
        float(np.mean([day.needless for day in days])),
        np.empty(0),
    )


def _mean_servers(
    edges: FloatArray, scaled: Scaled, there: Sequence[tuple[float, int]]
) -> FloatArray:
    """Mean servers between edges, from the replicas that are ready from each time on."""
    times = np.array([at for at, _ in there] + [edges[-1]])
    counts = np.array([scaled.serves(ready) for _, ready in there], float)
    spent = np.concatenate([[0.0], np.cumsum(counts * np.diff(times))])
    return np.asarray(np.diff(np.interp(edges, times, spent)) / np.diff(edges))


class SimulatedDay:
    """A day that is being simulated, with servers that change.

    Parameters
    ----------
    run, start
        The run to play, and the number of jobs present at its start.
    changes
        The changes of its servers.
    """

    def __init__(self, run: Run, start: int, changes: Changes) -> None:
        self.run, self.changes, self.crowd = run, changes, dict(changes.crowd)
        self.fields = {k: self._fields(k) for k in self.crowd}
        self.now, self.counted = 0.0, {k: dict.fromkeys(_COUNTED, 0.0) for k in self.crowd}
        self.marks = {k: self._counts(k) for k in self.crowd}
        self.busy = dict.fromkeys(self.crowd, 0.0)
        await_arrivals(run)
        if start:
            let_come(run, start)

    def play(self, until: float) -> None:
        """Play until a time since its start [s]; a change at that very time is made next."""
        while self.crowd and self.changes.at < until:
            self._on(self.changes.at)
            servers = self.changes.servers(self.counted[next(iter(self.crowd))])
            if servers != self.crowd:
                set_servers(self.run, servers)
                self.crowd = servers
        self._on(until)

    def begin(self) -> None:
        """Start counting anew; `busy` is then the time that each station's servers are busy."""
        self.run.begin()
        self.marks = {k: self._counts(k) for k in self.crowd}
        self.busy = dict.fromkeys(self.crowd, 0.0)

    def _on(self, until: float) -> None:
        self.run.play(until)
        length, self.now = until - self.now, until
        for k, servers in self.crowd.items():
            counts, marks, counted = self._counts(k), self.marks[k], self.counted[k]
            for name, count in counts.items():
                counted[name] += count - marks[name]
            used = counts["utilisation"] - marks["utilisation"]
            self.busy[k] += min(used / max(servers, 1), length)
            self.marks[k] = counts

    def _fields(self, station: int) -> dict[str, list[RowArray]]:
        """Where the queues of a station count each metric: views, as a run keeps its queues."""
        own = np.flatnonzero(self.run.score.home == station)
        queues = self.run.state.queues[own[0] : own[-1] + 1]  # stand side by side
        return {name: [queues[field] for field in fields] for name, fields in _COUNTED.items()}

    def _counts(self, station: int) -> dict[str, float]:
        return {
            name: float(sum(sum(field.tolist()) for field in fields))
            for name, fields in self.fields[station].items()
        }
