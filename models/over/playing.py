"""A load over time, simulated job by job on several replicas of the day."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.models.over.capacity import day_plan
from headway.models.over.changing import (
    Autoscaling,
    Changes,
    Scaled,
    Schedule,
    SimulatedDay,
    course_of,
)
from headway.models.over.timeline import Periods, Timeline
from headway.models.simulating.plan import BREAKS, Blueprint
from headway.models.simulating.playing.run import Counts, Run
from headway.models.simulating.replica import Results, of_clients, results_of
from headway.models.simulating.scoring import score_of
from headway.models.simulating.streams import Stream
from headway.numerals import four_digits, significant
from headway.queueing.flows.courses import RateTable
from headway.queueing.playing.rows import RowArray
from headway.queueing.playing.times import Times
from headway.queueing.transient.network import TimedNetwork
from headway.queueing.transient.scaled import Course

if TYPE_CHECKING:
    from headway.models.structure.model import Model

REPLICAS = 20
"""Number of days simulated: a mean then has about a fifth of the standard error of one day. Chosen.
"""

WARM_UP = 0.25
"""Time simulated at the first rate before a day that starts in a steady state, as a share of the
day. Chosen."""

SEED = 1


def played(
    model: "Model",
    network: TimedNetwork,
    edges: tuple[FloatArray, FloatArray],
    target: float | None,
    percentiles: tuple[float, ...],
    scaled: Scaled | None = None,
) -> tuple[Timeline, Course | None]:
    """Simulate a model over a day.

    Parameters
    ----------
    model, network
        The model, and its network over time.
    edges
        Edges of the periods, and of the shorter parts one of which is the worst [s].
    target, percentiles
        As `headway.models.over.over.over_model` takes them.
    scaled
        The station that an autoscaler scales, if any.

    Returns
    -------
    The answer, and what the autoscaler did.

    Raises
    ------
    GraphError
        For anything but servers that follows time, and for servers at a station without a single
        line of its own.
    """
    plan, before = _arriving(day_plan(model), network)
    _check_changes(network, plan)
    days = _Days(network, plan, before, scaled, edges[1])
    several, whole, parts = map(days.between, (edges[0], edges[0][[0, -1]], edges[1]))
    course = None if scaled is None else course_of(network, scaled, days.autoscalings)
    asked = course, target, percentiles
    fine = _periods(network, plan, edges[1], parts, *asked)
    worst = int(np.nanargmax(np.where(np.isnan(fine.response_time), -1.0, fine.response_time)))
    timeline = Timeline(
        model,
        _periods(network, plan, edges[0], several, *asked),
        _periods(network, plan, edges[0][[0, -1]], whole, *asked),
        _one_period(fine, worst),
        "simulation",
        _error(several),
        target,
        network.start,
        notes=tuple(_notes(network, plan, whole)),
    )
    return timeline, course


def _notes(network: TimedNetwork, plan: Blueprint, whole: "list[list[_Played]]") -> Iterator[str]:
    """What a reader must know about simulated days; each day is one period."""
    times = "times are of requests done in each period"
    if plan.gives_up:
        times = "times are of requests answered in time in each period"
    since = ", those of the backlog since the start" if network.start else ""
    yield f"simulated: {REPLICAS} days, seed {SEED}; {times}{since}"
    if any(jobs.breaks for jobs in plan.classes):
        yield BREAKS
    if plan.gives_up:
        best = [day[0].results["goodput"] for day in whole]
        least, most = four_digits(min(best)), four_digits(max(best))
        yield f"goodput of a whole day: {least} to {most} /s in these days"


def _arriving(plan: Blueprint, network: TimedNetwork) -> tuple[Blueprint, float]:
    """The plan with arrivals that follow the day, and the time before it at its first rate [s]."""
    first, last = float(network.edges[0]), float(network.edges[-1])
    before = WARM_UP * (last - first) if network.start is None else 0.0
    held = np.flatnonzero(np.diff(network.rates, prepend=-1.0))  # where the rate is another
    starts, rates = network.edges[held] - first + before, network.rates[held]
    starts[0] = 0.0  # the first rate also before the day
    table = RateTable(tuple(starts.tolist()), tuple(rates.tolist()), before + last - first)
    streams = tuple(
        Stream(k, table.mean * station.entry, 1.0, changing=table.times(station.entry))
        for k, station in enumerate(network.stations)
        if station.entry
    )
    (jobs,) = plan.classes
    jobs = replace(jobs, streams=streams, arrival_rate=table.mean)
    return replace(plan, classes=(jobs,)), before


def _check_changes(network: TimedNetwork, plan: Blueprint) -> None:
    """Refuse stations where something follows time that a simulation cannot change."""
    for station, place in zip(network.stations, plan.places, strict=True):
        first, serving = station.services[0], place.serving
        if all(service == first for service in station.services):
            continue
        alike = all(replace(s, servers=first.servers) == first for s in station.services)
        plain = not (place.shared or serving.paces or serving.speeds or serving.budget)
        if not (alike and plain and serving.queues == 1):
            msg = (
                f"{station.name}: only servers may follow time in a simulation, of one line "
                "that they serve job by job; use method forward, or make nothing else follow t"
            )
            raise GraphError(msg)


def _servers(network: TimedNetwork, part: int) -> dict[int, int]:
    """Servers of each station whose number follows time, in one part of it."""
    return {
        k: round(network.service(station, part).servers)
        for k, station in enumerate(network.stations)
        if len(station.services) > 1 and not station.is_delay
    }


def _schedule(network: TimedNetwork, before: float) -> Schedule:
    """When the servers of a network change, counted from `before` seconds before its day."""
    moved = np.flatnonzero(np.diff(network.which, prepend=network.which[0] - 1))
    times = network.edges[moved] - network.edges[0] + before
    times[0] = 0.0
    return Schedule(times.tolist(), [_servers(network, part) for part in moved.tolist()])


class _Played(NamedTuple):
    """A simulated period of a day: results, times of journeys, and counts by class."""

    results: Results
    times: Times
    crowds: RowArray


class _Part(NamedTuple):
    """A simulated part of a day: what was counted, and how long the servers were busy."""

    counts: Counts
    busy: dict[int, float]


class _Days:
    """The simulated days of a network, part by part; consecutive parts can be added up.

    Parameters
    ----------
    network, plan, before
        The network, its plan, and how long it is played before the day [s].
    scaled
        The station that an autoscaler scales, if any.
    edges
        Edges of the parts [s].
    """

    def __init__(
        self,
        network: TimedNetwork,
        plan: Blueprint,
        before: float,
        scaled: Scaled | None,
        edges: FloatArray,
    ) -> None:
        self.network, self.plan, self.before, self.scaled = network, plan, before, scaled
        self.score, self.edges = score_of(plan), edges
        self.changes = [self._changes(number) for number in range(REPLICAS)]
        self.days = [list(self._day(number)) for number in range(REPLICAS)]

    def between(self, edges: FloatArray) -> list[list[_Played]]:
        """Results of each period of each day; edges of periods are among those of the parts."""
        places = np.searchsorted(self.edges, edges - 1e-9 * (edges[-1] - edges[0])).tolist()
        lengths = np.diff(edges).tolist()
        periods = list(zip(pairwise(places), lengths, strict=True))
        return [
            [self._together(day[a:b], length) for (a, b), length in periods] for day in self.days
        ]

    @property
    def autoscalings(self) -> list[Autoscaling]:
        """The autoscaler on each of the days."""
        return [each for each in self.changes if isinstance(each, Autoscaling)]

    def _changes(self, number: int) -> Changes:
        if self.scaled is None:
            return _schedule(self.network, self.before)
        return Autoscaling(self.scaled, self.network.edges[0], self.before, (SEED, number))

    def _day(self, number: int) -> Iterator[_Part]:
        run = Run(self.score, SEED, number, kept=True)
        day = SimulatedDay(run, self.network.start or 0, self.changes[number])
        day.play(self.before)
        for end in self.edges[1:].tolist():
            day.begin()
            day.play(self.before + end - float(self.network.edges[0]))
            yield _Part(run.counts, day.busy)

    def _together(self, parts: list[_Part], length: float) -> _Played:
        counts = Counts.of_all([part.counts for part in parts])
        found = results_of(self.plan, counts, length, ())
        for k in parts[0].busy:
            busy = sum(part.busy[k] for part in parts)
            found[f"{self.plan.places[k].name}.utilisation"] = busy / length
        return _Played(found, counts.times(), counts.crowds)


def _error(days: list[list[_Played]]) -> str:
    """Confidence interval of periods' mean response times, from how they differ between days."""
    from scipy.special import stdtrit

    found = np.array([[one.results["response_time"] for one in day] for day in days])
    count = np.isfinite(found).sum(axis=0)
    known, count = found[:, count > 1], count[count > 1]
    if not len(count):
        return "simulation: too few jobs are done to tell how far mean response times are off"
    half = stdtrit(count - 1, 0.975) * np.nanstd(known, axis=0, ddof=1) / np.sqrt(count)
    most = float(np.max(half / np.nanmean(known, axis=0)))
    return f"simulation: mean response times within {significant(100 * most, 2)}% (95%)"


def _periods(
    network: TimedNetwork,
    plan: Blueprint,
    edges: FloatArray,
    days: list[list[_Played]],
    course: Course | None,
    target: float | None,
    percentiles: tuple[float, ...],
) -> Periods:
    """Answers of the periods between edges, over all days."""
    together, means = _times_by_period(days), _means(days)
    queues = [network.stations[k].name for k in network.queues]
    names = [station.name for station in network.stations]
    here = np.zeros(len(edges) - 1)
    breakers = sum(jobs.breaks for jobs in plan.classes)
    clients = _clients(days, edges, breakers) if plan.gives_up else {}
    over = None
    if target is not None:
        over = np.array([_share_over(times, target - plan.beyond) for times in together])
        if clients:  # requests that are never answered exceed any target
            over = clients["abandonment"] + (1 - clients["abandonment"]) * np.nan_to_num(over)
    return Periods(
        edges[:-1],
        edges[1:],
        _mean_over(network, network.rates, edges),
        means["throughput"],
        np.array([_mean(times) for times in together]) + plan.beyond,
        sum((means[f"{name}.queue_length"] for name in names), here),
        np.max([means[f"{name}.utilisation"] for name in queues or names], axis=0),
        means.get("loss_probability", here),
        _mean_over(network, _crowd(network) if course is None else course.servers, edges),
        {p: np.array([t.percentile(p) + plan.beyond for t in together]) for p in percentiles},
        over,
        None if course is None else _mean_over(network, course.replicas, edges),
        clients,
    )


def _clients(days: list[list[_Played]], edges: FloatArray, breakers: int) -> dict[str, FloatArray]:
    """What becomes of the requests in each period, all days counted together."""
    lengths = (REPLICAS * np.diff(edges)).tolist()
    crowds = [np.concatenate([one.crowds for one in each]) for each in zip(*days, strict=True)]
    rows = [of_clients(*each, breakers) for each in zip(crowds, lengths, strict=True)]
    found = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    begun, gone = (
        np.array([sum(each[name].sum() for name in names) for each in crowds])
        for names in (("requests",), ("ended", "given_up"))
    )
    of_none = {"attempts": begun == 0, "abandonment": gone == 0, "breaker_refusals": begun == 0}
    of_none = {name: none for name, none in of_none.items() if name in found}
    return found | {name: np.where(none, np.nan, found[name]) for name, none in of_none.items()}


def _times_by_period(days: list[list[_Played]]) -> list[Times]:
    """Times of journeys in each period, all days together."""
    return [Times.of_all(one.times for one in each) for each in zip(*days, strict=True)]


def _means(days: list[list[_Played]]) -> dict[str, FloatArray]:
    """Mean over the days of each result, by period."""
    periods = list(zip(*days, strict=True))
    return {
        name: np.array([np.mean([one.results.get(name, 0.0) for one in each]) for each in periods])
        for name in days[0][0].results
    }


def _mean(times: Times) -> float:
    return float(times.sums.sum()) / times.count if times.count else float("nan")


def _crowd(network: TimedNetwork) -> FloatArray:
    """Servers at the only queue in each part; NaN where there are several."""
    if len(network.queues) != 1:
        return np.full(len(network.rates), np.nan)
    parts = range(len(network.rates))
    return np.array([network.service(network.queue, part).crowd for part in parts])


def _mean_over(network: TimedNetwork, values: FloatArray, edges: FloatArray) -> FloatArray:
    """Time averages between edges of a value that each part has."""
    places = np.searchsorted(network.edges, edges - 1e-9 * (edges[-1] - edges[0]))
    sums = np.add.reduceat((values * network.lengths)[: places[-1]], places[:-1])
    return np.asarray(sums / np.diff(edges))


def events_of(network: TimedNetwork) -> float:
    """Approximate number of events of the simulated days: arrivals and departures."""
    jobs = float(network.rates @ network.lengths)
    return REPLICAS * jobs * (1 + float(network.visits.sum()))


def _share_over(times: Times, target: float) -> float:
    """Share of journeys that take longer than a target, by the means of their bins."""
    if not times.count:
        return float("nan")
    return float(times.counts[times.sums > target * times.counts].sum() / times.count)


def _one_period(periods: Periods, place: int) -> Periods:
    """One of several periods, on its own."""
    here = slice(place, place + 1)
    kept: dict[str, Any] = {
        name: value[here] for name, value in vars(periods).items() if isinstance(value, np.ndarray)
    }
    for name in ("percentiles", "clients"):
        kept[name] = {key: values[here] for key, values in getattr(periods, name).items()}
    return replace(periods, **kept)
