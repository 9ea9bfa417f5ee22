"""Simulate a layered system event by event: long-run means of one run, with standard errors.

The first tenth of the events is left out, and further windows after it as long as that narrows the
error of the mean number of requests (MSER: White, Simulation 69(6), 1997). The remaining windows
are batches: each mean is a ratio of two sums over them, with the standard error of a ratio.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, isfinite

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray, check_domain
from headway.queueing.layers.growth import piling_up
from headway.queueing.layers.loop import play_program
from headway.queueing.layers.score import LayeredScore, arguments, opening, score_of
from headway.queueing.layers.states.rows import Reason
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.playing.estimates import Estimate
from headway.queueing.playing.times import NONE as NO_TIMES
from headway.queueing.playing.times import Times
from headway.records import dataclass

PERCENTS = (50.0, 90.0, 95.0, 99.0)
"""Percentiles of response times that are reported [%]."""

SLICE = 2**18
"""Events played between two checks for Ctrl-C."""

WINDOWS = 40
"""Windows of a run; at most half of them are left out as the warm-up."""

PILOT = 0.1
"""Share of the events that is always left out."""

MOST_WAITING = 4_000_000
"""Requests and tokens in the system beyond which its queues are taken to grow without limit."""


@dataclass(frozen=True)
class EntryPlayed:
    """Means of the requests for an entry.

    Parameters
    ----------
    throughput
        Requests answered, or cycles of clients [1/s].
    waiting_time
        From the request until a thread takes it [s].
    first_phase
        From there to the answer [s]; for clients, a cycle without its think time.
    second_phase
        From the answer until the thread is free [s].
    busy
        Mean threads busy with requests for this entry.
    queue_length
        Mean requests that wait for a thread.
    """

    throughput: Estimate
    waiting_time: Estimate
    first_phase: Estimate
    second_phase: Estimate
    busy: Estimate
    queue_length: Estimate


@dataclass(frozen=True)
class TaskPlayed:
    """Means of a task.

    Parameters
    ----------
    throughput
        Requests answered, or cycles of clients [1/s].
    busy
        Mean busy threads; for clients, those who are not thinking.
    utilisation
        Share of all threads that is busy; 0 if their number is infinite.
    """

    throughput: Estimate
    busy: Estimate
    utilisation: Estimate


@dataclass(frozen=True)
class ProcessorPlayed:
    """Means of a processor.

    Parameters
    ----------
    busy
        Mean busy servers.
    utilisation
        Share of all servers that is busy; the mean busy servers if their number is infinite.
    by_task
        Mean busy servers by task.
    """

    busy: Estimate
    utilisation: Estimate
    by_task: Mapping[str, Estimate]


@dataclass(frozen=True)
class ResponsePlayed:
    """Response times of clients, or of requests from outside.

    Parameters
    ----------
    throughput
        Cycles or requests answered [1/s].
    response_time
        A cycle of clients without its think time, or the time from arrival to answer [s].
    percentiles
        Percentiles of the response time, by percent [s].
    times
        All response times, in bins.
    """

    throughput: Estimate
    response_time: Estimate
    percentiles: Mapping[float, Estimate]
    times: Times


@dataclass(frozen=True)
class Played:
    """The results of a simulation of a layered system.

    Parameters
    ----------
    system
        The system.
    entries, tasks, processors
        Means of each entry, task and processor, by name.
    clients
        Response times of clients, by task.
    arrivals
        Response times of requests from outside, by entry.
    events
        Number of events played.
    warm_up, time
        Time left out as warm-up, and time observed after it [s].
    piling_up
        An entry whose queue grows without limit, so that no long-run means exist; empty if none.
    """

    system: LayeredSystem
    entries: Mapping[str, EntryPlayed]
    tasks: Mapping[str, TaskPlayed]
    processors: Mapping[str, ProcessorPlayed]
    clients: Mapping[str, ResponsePlayed]
    arrivals: Mapping[str, ResponsePlayed]
    events: int
    warm_up: float
    time: float
    piling_up: str = ""


def play_layers(system: LayeredSystem, events: int, seed: int) -> Played:
    """Simulate a system for a number of events, and take long-run means.

    Parameters
    ----------
    system
        One operating point.
    events
        Approximate number of events, at least 1000.
    seed
        Seed of all random numbers, 0 or more; the same seed gives the same answer.

    Raises
    ------
    GraphError
        For disciplines that cannot be simulated, loops that take no time, and queues that grow
        without limit.
    InvalidParameter
        For several operating points, too many clients, or too few events.

    Examples
    --------
    >>> from headway.queueing.layers.flow import Step
    >>> from headway.queueing.layers.parts import Entry, Processor, Task
    >>> one = LayeredSystem(
    ...     "one",
    ...     {"here": Processor()},
    ...     {"users": Task("here", 2, 2.0, clients=True)},
    ...     {"use": Entry("users", Step("use", 0.5))},
    ... )
    >>> play_layers(one, 20_000, 1).tasks["users"].throughput.holds(10 / 13, 0.999)
    True
    """
    check_domain("events", events, lambda n: n >= 1000, "a whole number of 1000 or more")
    check_domain("seed", seed, lambda n: (n >= 0) & (n < 2**64), "a whole number of 0 or more")
    score = score_of(system)
    run = LayeredRun(system, score, int(seed), 0)
    run.play(inf, round(PILOT * events))
    pilot = run.now
    if not pilot > 0:
        msg = f"{system.name}: no time passes in {run.events:,} events; give more of them"
        raise GraphError(msg)
    each = pilot * (1 - PILOT) / PILOT / WINDOWS
    run.window()
    windows, waiting = [], []
    for n in range(WINDOWS):
        run.play(pilot + (n + 1) * each)
        waiting.append(run.waiting)
        windows.append(run.window())
    half = WINDOWS // 2
    begun = np.sum([window.counts[0] for window in windows[half:]], axis=0)
    grows = piling_up(system, waiting[half - 1], waiting[-1], begun)
    kept = windows[_warm_up([w.requests for w in windows]) :]
    warm_up = pilot + (WINDOWS - len(kept)) * each
    played = _played(system, score, kept, (run.events, warm_up, len(kept) * each))
    return replace(played, piling_up=grows)


@dataclass(frozen=True)
class Window:
    """What was observed in one window.

    Parameters
    ----------
    time
        Its length [s].
    counts
        Requests that began, were answered and ended, by entry, shape (3, entries).
    areas
        Integrals over the window of waiting requests, threads before the answer and threads after
        it, by entry, shape (3, entries) [s].
    worked
        Busy time of servers by task, shape (tasks,) [s].
    times
        Response times by entry.
    """

    time: float
    counts: FloatArray
    areas: FloatArray
    worked: FloatArray
    times: tuple[Times, ...]

    @property
    def requests(self) -> float:
        """Mean requests that wait or are served."""
        return float(self.areas.sum()) / self.time


class LayeredRun:
    """A layered system during its simulation.

    Parameters
    ----------
    system, score
        The system, and its arrays.
    seed, replica
        Seed and replica of the random numbers.
    """

    def __init__(self, system: LayeredSystem, score: LayeredScore, seed: int, replica: int) -> None:
        self.system, self.score = system, score
        self.state = opening(score, seed, replica)
        self._began = 0.0
        self._times = [NO_TIMES] * len(score.entries)

    @property
    def now(self) -> float:
        """The simulated time [s]."""
        return float(self.state.clock["now"][0])

    @property
    def events(self) -> int:
        """Number of events so far."""
        return int(self.state.clock["events"][0])

    @property
    def waiting(self) -> FloatArray:
        """Requests that wait for a thread now, by entry."""
        return np.array(self.state.tallies["waiting"], float)

    def play(self, until: float, most: float = inf) -> None:
        """Play until a time [s], or until ``most`` events have been played.

        Raises
        ------
        GraphError
            For loops that take no time, queues that grow without limit, and deadlocks of threads.
        """
        last = self.events + most
        while self.events < last:
            play_program(
                *arguments(self.score, self.state, until, int(min(SLICE, last - self.events)))
            )
            reason = Reason(int(self.state.clock["reason"][0]))
            self._collect()
            if reason is Reason.OVER:
                if not isfinite(until) or not self.state.clock["size"][0]:
                    msg = f"{self.system.name}: all threads wait for each other, for ever"
                    raise GraphError(msg)
                return
            if reason is Reason.ENDLESS:
                msg = (
                    f"{self.system.name}: requests take no time, without end; give a step a demand"
                )
                raise GraphError(msg)
            if reason is Reason.CROWDED:
                self._grow()

    def _grow(self) -> None:
        jobs, waiting = len(self.state.jobs), self.state.tallies["waiting"]
        if jobs > MOST_WAITING + 4 * sum(self.score.clients):
            name = list(self.system.entries)[int(waiting.argmax())]
            msg = (
                f"{self.system.name}: {waiting.max():,} requests wait for entry {name}, and more "
                "and more; give its task more threads, or requests less to do"
            )
            raise GraphError(msg)
        self.state.grow(jobs)

    def _collect(self) -> None:
        """Move the response times that have ended from the state to the window."""
        recorded = int(self.state.clock["recorded"][0])
        journeys = self.state.journeys[:recorded]
        for entry in np.unique(journeys["entry"]).tolist():
            own = Times.of(journeys["time"][journeys["entry"] == entry])
            self._times[entry] = Times.of_all([self._times[entry], own])
        self.state.clock["recorded"] = 0

    def window(self) -> Window:
        """The window since the last one, or since the start; the next window begins now."""
        tallies, tasks = self.state.tallies, len(self.system.tasks)
        window = Window(
            self.now - self._began,
            np.array([tallies[name] for name in ("begun", "answered", "ended")], float),
            np.array([tallies[f"{name}_area"] for name in ("waiting", "first", "second")]),
            self.state.queues["worked"][:tasks].copy(),
            tuple(self._times),
        )
        self.state.forget()
        self._began, self._times = self.now, [NO_TIMES] * len(self._times)
        return window


def _warm_up(course: Sequence[float]) -> int:
    """Number of first windows to leave out for the smallest error of the mean (MSER)."""
    rest = [np.asarray(course[n:]) for n in range(len(course) // 2 + 1)]
    return int(np.argmin([np.var(values) / len(values) for values in rest]))


def ratio(above: FloatArray, below: FloatArray) -> Estimate:
    """Estimate a ratio of two means from batches; 0 if the denominator is 0.

    Parameters
    ----------
    above, below
        Sums over each batch, shape (batches,).

    Examples
    --------
    >>> ratio(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
    Estimate(mean=2.0, error=0.0, replicas=2)
    """
    count = len(above)
    if not below.any():
        return Estimate(0.0, 0.0, count)
    mean = float(above.sum() / below.sum())
    error = np.std(above - mean * below, ddof=1) / below.mean() / count**0.5
    return Estimate(mean, float(error), count)


def _played(
    system: LayeredSystem,
    score: LayeredScore,
    windows: Sequence[Window],
    course: tuple[int, float, float],
) -> Played:
    time = np.array([window.time for window in windows])
    counts = np.array([window.counts for window in windows])
    areas = np.array([window.areas for window in windows])
    worked = np.array([window.worked for window in windows])
    place = {name: n for n, name in enumerate(system.entries)}
    entries = {name: _entry(time, counts[:, :, n], areas[:, :, n]) for name, n in place.items()}
    tasks = {}
    for name, task in system.tasks.items():
        own = [place[entry] for entry in system.holding[name]]
        busy = areas[:, 1:, own].sum(axis=(1, 2))
        threads = float(task.threads)
        rate = ratio(counts[:, 1, own].sum(axis=1), time)
        tasks[name] = TaskPlayed(rate, ratio(busy, time), ratio(busy / threads, time))
    processors = {name: _processor(system, name, time, worked) for name in system.processors}
    clients = {
        name: _responses(windows, place[system.entries_of[name][0]], time)
        for name, task in system.tasks.items()
        if task.clients
    }
    arrivals = {n: _responses(windows, k, time) for n, k in place.items() if score.rates[k]}
    return Played(system, entries, tasks, processors, clients, arrivals, *course)


def _processor(
    system: LayeredSystem, name: str, time: FloatArray, worked: FloatArray
) -> ProcessorPlayed:
    """Servers that its tasks keep busy."""
    on = {t: n for n, (t, task) in enumerate(system.tasks.items()) if task.processor == name}
    used = worked[:, list(on.values())].sum(axis=1)
    servers = float(system.processors[name].servers)
    share = used / servers if isfinite(servers) else used
    by_task = {t: ratio(worked[:, n], time) for t, n in on.items()}
    return ProcessorPlayed(ratio(used, time), ratio(share, time), by_task)


def _entry(time: FloatArray, counts: FloatArray, areas: FloatArray) -> EntryPlayed:
    """Times by Little's law: areas divided by the requests that began, were answered and ended."""
    throughput = ratio(counts[:, 1], time)
    waiting, first, second = (ratio(areas[:, n], counts[:, n]) for n in range(3))
    busy, queue_length = ratio(areas[:, 1] + areas[:, 2], time), ratio(areas[:, 0], time)
    return EntryPlayed(throughput, waiting, first, second, busy, queue_length)


def _responses(windows: Sequence[Window], entry: int, time: FloatArray) -> ResponsePlayed:
    each = [window.times[entry] for window in windows]
    counts = np.array([times.count for times in each], float)
    sums = np.array([times.sums.sum() for times in each])
    whole = Times.of_all(each)
    percentiles = {percent: _percentile(whole, each, percent) for percent in PERCENTS}
    return ResponsePlayed(ratio(counts, time), ratio(sums, counts), percentiles, whole)


def _percentile(whole: Times, each: Sequence[Times], percent: float) -> Estimate:
    """A percentile of all batches together, with an error from the percentiles of each batch."""
    own = np.array([times.percentile(percent) for times in each])
    error = float(np.std(own, ddof=1)) / len(own) ** 0.5
    return Estimate(whole.percentile(percent), error if isfinite(error) else inf, len(own))
