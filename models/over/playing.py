"""A load over time, simulated: replicas of the day, job by job."""

from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.models.over.capacity import day_plan
from headway.models.over.timeline import Periods, Timeline
from headway.models.simulating.plan import Blueprint
from headway.models.simulating.playing.run import Run
from headway.models.simulating.replica import Replica, results_of
from headway.models.simulating.scoring import score_of
from headway.models.simulating.streams import Stream
from headway.numerals import significant
from headway.queueing.flows.courses import RateTable
from headway.queueing.playing.times import NONE, Times
from headway.queueing.transient.network import TimedNetwork

if TYPE_CHECKING:
    from headway.models.structure.model import Model

REPLICAS = 20
"""Days that are simulated: a mean has then a standard error of a fifth of a day's own; chosen."""

WARM_UP = 0.25
"""Time at the first rate before a day that starts in a steady state, as a share of it; chosen."""

SEED = 1


def played(
    model: "Model",
    network: TimedNetwork,
    edges: tuple[FloatArray, FloatArray],
    target: float | None,
    percentiles: tuple[float, ...],
) -> Timeline:
    """Simulate a model over a day.

    Parameters
    ----------
    model, network
        The model, and its load over time.
    edges
        Of periods, and of the shorter parts one of which is the worst.
    target, percentiles
        As `headway.models.over.over.over_model` takes them.

    Raises
    ------
    GraphError
        For a capacity that follows time, and a backlog at the start.
    """
    if len(network.stations) and any(len(s.services) > 1 for s in network.stations):
        msg = f"{model.name}: its capacity follows time, which is not simulated; use method forward"
        raise GraphError(msg)
    if network.start:
        msg = "a simulation starts empty or steady, not with a backlog; use method forward"
        raise GraphError(msg)
    plan, before = _arriving(day_plan(model), network)
    periods = _periods(network, plan, edges[0], before, target, percentiles)
    day = _periods(network, plan, edges[0][[0, -1]], before, target, percentiles)
    fine = _periods(network, plan, edges[1], before, target, percentiles)
    worst = int(np.nanargmax(np.where(np.isnan(fine.response_time), -1.0, fine.response_time)))
    most = float(np.nanmax(_spread(network, plan, edges[0], before)))
    note = f"simulated: {REPLICAS} days, seed {SEED}; times are of requests done in each period"
    return Timeline(
        model,
        periods,
        day,
        _only(fine, worst),
        "simulation",
        f"simulation: mean response times within {significant(100 * most, 2)}% (95%)",
        target,
        network.start,
        notes=(note,),
    )


def _arriving(plan: Blueprint, network: TimedNetwork) -> tuple[Blueprint, float]:
    """The plan with arrivals that follow the day, after a time at its first rate."""
    first, last = float(network.edges[0]), float(network.edges[-1])
    before = 0.0 if network.start == 0 else WARM_UP * (last - first)
    starts = tuple((network.edges[:-1] - first + before).tolist())
    rates = tuple(network.rates.tolist())
    if before:
        starts, rates = (0.0, *starts), (rates[0], *rates)
    table = RateTable(starts, rates, before + last - first)
    streams = tuple(
        Stream(k, table.mean * station.entry, 1.0, changing=table.times(station.entry))
        for k, station in enumerate(network.stations)
        if station.entry
    )
    (jobs,) = plan.classes
    jobs = replace(jobs, streams=streams, arrival_rate=table.mean)
    return replace(plan, classes=(jobs,)), before


def _days(
    network: TimedNetwork, plan: Blueprint, edges: FloatArray, before: float, *, kept: bool
) -> list[list[tuple[Replica, Times]]]:
    """Results of each period of each day."""
    score = score_of(plan)
    days = []
    for number in range(REPLICAS):
        run, each = Run(score, SEED, number, kept=kept), []
        run.play(before)
        for start, end in pairwise(edges):
            run.begin()
            run.play(before + float(end - network.edges[0]))
            each.append((results_of(plan, run, float(end - start), ()), run.times()))
        days.append(each)
    return days


def _spread(network: TimedNetwork, plan: Blueprint, edges: FloatArray, before: float) -> FloatArray:
    """Relative half widths of the mean response times of periods, at 95%."""
    from scipy.stats import t

    days = _days(network, plan, edges, before, kept=False)
    found = np.array([[one["response_time"] for one, _ in day] for day in days])
    half = t.ppf(0.975, REPLICAS - 1) * np.nanstd(found, axis=0, ddof=1) / np.sqrt(REPLICAS)
    return np.asarray(half / np.nanmean(found, axis=0))


def _periods(
    network: TimedNetwork,
    plan: Blueprint,
    edges: FloatArray,
    before: float,
    target: float | None,
    percentiles: tuple[float, ...],
) -> Periods:
    """Answers of the periods between edges, over all days."""
    days = _days(network, plan, edges, before, kept=True)
    together, means = _of_all(days), _means(days)
    queues = [network.stations[k].name for k in network.queues]
    names = [station.name for station in network.stations]
    here = np.zeros(len(edges) - 1)
    over = None
    if target is not None:
        over = np.array([_share_over(times, target - plan.beyond) for times in together])
    return Periods(
        edges[:-1],
        edges[1:],
        _arrivals(network, edges),
        means["throughput"],
        np.array([_mean(times) for times in together]) + plan.beyond,
        sum((means[f"{name}.queue_length"] for name in names), here),
        np.max([means[f"{name}.utilisation"] for name in queues or names], axis=0),
        means.get("loss_probability", here),
        here + (network.queue.services[0].crowd if len(queues) == 1 else np.nan),
        {p: np.array([t.percentile(p) + plan.beyond for t in together]) for p in percentiles},
        over,
    )


def _of_all(days: list[list[tuple[Replica, Times]]]) -> list[Times]:
    """Times of each period, those of all days together."""
    periods = zip(*days, strict=True)
    return [reduce(Times.and_those, (times for _, times in each), NONE) for each in periods]


def _means(days: list[list[tuple[Replica, Times]]]) -> dict[str, FloatArray]:
    """Means over days of each number, by period."""
    periods = list(zip(*days, strict=True))
    return {
        name: np.array([np.mean([one.get(name, 0.0) for one, _ in each]) for each in periods])
        for name in days[0][0][0]
    }


def _mean(times: Times) -> float:
    return float(times.sums.sum()) / times.count if times.count else float("nan")


def _arrivals(network: TimedNetwork, edges: FloatArray) -> FloatArray:
    """Mean arrival rate between edges [1/s]."""
    places = np.searchsorted(network.edges, edges - 1e-9 * (edges[-1] - edges[0]))
    came = np.add.reduceat((network.rates * network.lengths)[: places[-1]], places[:-1])
    return np.asarray(came / np.diff(edges))


def _share_over(times: Times, target: float) -> float:
    """Share of journeys that take longer, by the means of their bins."""
    if not times.count:
        return float("nan")
    return float(times.counts[times.sums > target * times.counts].sum() / times.count)


def _only(periods: Periods, place: int) -> Periods:
    """One of some periods."""
    here = slice(place, place + 1)
    kept = {
        name: value[here] for name, value in vars(periods).items() if isinstance(value, np.ndarray)
    }
    percentiles = {p: values[here] for p, values in periods.percentiles.items()}
    return replace(periods, **kept, percentiles=percentiles)
