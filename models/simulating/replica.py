"""One replica: simulate past its warm-up, and collect results."""

from collections.abc import Sequence
from math import nan

from headway.errors import Saturated
from headway.models.simulating.plan import Blueprint, Jobs, SimulatedStation
from headway.models.simulating.planning import Schedule
from headway.models.simulating.playing.run import Counts, Run
from headway.models.simulating.playing.score import Score
from headway.models.simulating.scoring import score_of
from headway.models.structure.outputs import percentile_name
from headway.models.structure.parts.keys import of_class
from headway.numerals import times
from headway.queueing.playing.rows import RowArray
from headway.queueing.playing.times import Times
from headway.records import dataclass

Results = dict[str, float]
"""Values by name; NaN without jobs."""


@dataclass(frozen=True)
class Replica:
    """What one run found.

    Parameters
    ----------
    results
        Values by name; NaN without jobs.
    events
        Number of events played, the warm-up included.
    """

    results: Results
    events: int


def replica(
    plan: Blueprint,
    score: Score,
    planned: Schedule,
    percentiles: tuple[float, ...],
    seed: int,
    number: int,
) -> Replica:
    """Simulate once.

    Parameters
    ----------
    plan, score, planned
        The plan, its score, and the length of the replica.
    percentiles
        Requested percentiles of the response time.
    seed, number
        Seed of all replicas, and the number of this one.
    """
    run = Run(score, seed, number, kept=bool(percentiles))
    run.play(planned.warm_up)
    run.begin()
    run.play(planned.horizon)
    return Replica(results_of(plan, run.counts, planned.window, percentiles), run.events)


def results_of(
    plan: Blueprint, counts: Counts, window: float, percentiles: tuple[float, ...]
) -> Results:
    """Results of what a run counted in a time [s]."""
    results = _system(plan, counts, window, percentiles) | _stations(plan, counts, window)
    return results | _regions(plan, counts, window)


MEASURED, DOUBLINGS = 20_000, 3
"""Journeys after which loads are measured, and how often as many follow as there were."""

_GROWN, _MORE = 6.0, 1.5  # deviations of a Poisson count, and ratio, beyond which a queue grows


def measured_loads(plan: Blueprint) -> dict[str, float]:
    """Measure the loads of stations and regions, where no law gives them, by 160,000 arrivals.

    Raises
    ------
    Saturated
        If a queue still grows in the last half: by more than six standard deviations of its
        arrivals, and by more than half of its length. Where clients give up, in any half.
    """
    rate = sum(jobs.arrival_rate for jobs in plan.classes)
    run, until = Run(score_of(plan), 0, 0, kept=False), MEASURED / rate
    run.play(until)
    run.begin()
    after = _lines(plan, run)
    for turn in range(DOUBLINGS):
        before, until = after, 2 * until
        run.play(until)
        after = _lines(plan, run)
        if turn + 1 == DOUBLINGS or plan.gives_up:  # their attempts would take long to play on
            _check_lines(plan, before, after, until)
    window = until - MEASURED / rate
    found = _stations(plan, run.counts, window) | _regions(plan, run.counts, window)
    parts = ("utilisation", "blocked")
    return {
        name: min(sum(found.get(f"{name}.{part}", 0.0) for part in parts), _BUSIEST)
        for name in after
    }


def _check_lines(
    plan: Blueprint, before: dict[str, int], after: dict[str, int], until: float
) -> None:
    """Refuse a queue that grew in the last half of a time [s]."""
    came = sum(jobs.arrival_rate for jobs in plan.classes) * until / 2
    name = max(after, key=lambda each: after[each] - before[each])
    if after[name] - before[name] > _GROWN * came**0.5 and after[name] > _MORE * before[name]:
        raise Saturated(_grown(plan, name, until))


def _grown(plan: Blueprint, name: str, until: float) -> str:
    """Why a queue that grew over half of a time cannot be simulated."""
    if any(jobs.clients is not None and jobs.clients.returns for jobs in plan.classes):
        return (
            f"{name}: within {times(until)[0]} clients who ask again tip it over, and its queue "
            "grows; reduce the load, or give a longer timeout, fewer retries, a retry_budget "
            "or a circuit_breaker; headway retries finds how long a good state lasts before that"
        )
    return (
        f"{name}: its queue grows without limit, so it cannot be simulated; reduce the load, or "
        "add capacity"
    )


_BUSIEST = 0.98  # load of a region or station that closed jobs may fill, to plan the length


def _lines(plan: Blueprint, run: Run) -> dict[str, int]:
    """Number of jobs waiting at each station, and outside each region."""
    queues = (
        (k, int(run.state.queues["present"][run.score.home == k].sum()))
        for k in range(len(plan.places))
    )
    gates = zip(plan.regions, run.state.gates, strict=True)
    there = {plan.places[k].name: present for k, present in queues}
    return there | {region.name: int(gate["waiting"]) for region, gate in gates}


def _system(
    plan: Blueprint, counts: Counts, window: float, percentiles: tuple[float, ...]
) -> Results:
    """Results of all jobs, and of each class."""
    crowds = counts.crowds
    results = _journeys(crowds, plan.classes, counts.times(), plan, window, percentiles)
    if plan.loses:
        lost = int(crowds["lost"].sum())
        others = sum(int(crowds[name].sum()) for name in ("ended", "late", "withdrawn"))
        results["loss_probability"] = lost / max(lost + others, 1)
    for c, jobs in enumerate(plan.classes) if name_classes(plan) else ():
        one = crowds[c : c + 1], (jobs,), counts.times(c)
        own = _journeys(*one, plan, window, percentiles)
        results |= {of_class(jobs.name, part): value for part, value in own.items()}
    return results


def name_classes(plan: Blueprint) -> bool:
    """Whether a simulation's jobs have classes."""
    return bool(plan.classes[0].name)


def _journeys(
    crowds: RowArray,
    classes: Sequence[Jobs],
    times: Times,
    plan: Blueprint,
    window: float,
    percentiles: tuple[float, ...],
) -> Results:
    """Results of the journeys of some classes; with their times where percentiles are wanted."""
    ended, late = int(crowds["ended"].sum()), int(crowds["late"].sum())
    mean = float(crowds["taken"].sum()) / ended + plan.beyond if ended else nan
    results = {"throughput": (ended + late) / window, "response_time": mean}
    if plan.gives_up:
        results |= of_clients(crowds, window, sum(jobs.breaks for jobs in classes))
    for percent in percentiles:
        results[percentile_name(percent)] = times.percentile(percent) + plan.beyond
    return results


def of_clients(crowds: RowArray, window: float, breakers: int) -> Results:
    """What becomes of the requests of some classes in a time, and of the work done for them.

    Parameters
    ----------
    crowds, window
        What was counted, by class, and in which time [s].
    breakers
        Number of these classes with a circuit breaker.
    """
    requests, attempts = int(crowds["requests"].sum()), int(crowds["attempts"].sum())
    ended, given_up = int(crowds["ended"].sum()), int(crowds["given_up"].sum())
    useful, wasted = float(crowds["useful"].sum()), float(crowds["wasted"].sum())
    results = {
        "goodput": ended / window,
        "attempts": attempts / requests if requests else 1.0,
        "abandonment": given_up / max(given_up + ended, 1),
        "wasted_work": wasted / (useful + wasted) if wasted else 0.0,
    }
    if breakers:
        results |= {
            "breaker_refusals": int(crowds["refused"].sum()) / max(attempts, 1),
            "breaker_open": float(crowds["open"].sum()) / breakers / window,
            "breaker_openings": int(crowds["openings"].sum()) / window,
        }
    return results


def _stations(plan: Blueprint, counts: Counts, window: float) -> Results:
    results: Results = {}
    further = len(plan.places)  # forks with queues of their own have rows after the plan's stations
    for k, place in enumerate(plan.places):
        queues = counts.queues[counts.home == k]
        numbers = _station(place, queues, window)
        if place.serving.needed and not place.branches:  # as busy as the queues of its parts
            parts = counts.queues[counts.home == further]
            numbers["utilisation"] = _utilisation(place, parts, window)
            further += 1
        if plan.blocks:
            held = float(queues["held_area"].sum()) / place.serving.servers
            numbers["blocked"] = held / window / len(queues)
        for part, value in numbers.items():
            results[f"{place.name}.{part}"] = value
    return results


def _station(place: SimulatedStation, queues: RowArray, window: float) -> Results:
    served = int(queues["served"].sum())
    return {
        "utilisation": _utilisation(place, queues, window),
        "response_time": float(queues["stayed"].sum()) / served if served else nan,
        "queue_length": float(queues["present_area"].sum()) / window,
        "throughput": served / window,
    }


def _utilisation(place: SimulatedStation, queues: RowArray, window: float) -> float:
    """Share of a station's servers that are busy (not blocked), or of its quota in use."""
    serving = place.serving
    if serving.budget is not None:
        return float(queues["allotted"].sum()) / serving.budget[0] / window
    if not serving.crew:
        return 0.0
    used = queues["used_area"].sum() / serving.crew - queues["held_area"].sum() / serving.servers
    return float(used) / window / len(queues)


def _regions(plan: Blueprint, counts: Counts, window: float) -> Results:
    """Results of regions, and of jobs that wait outside."""
    results: Results = {}
    for region, gate in zip(plan.regions, counts.gates, strict=True):
        entered, waited = int(gate["entered"]), float(gate["waiting_area"])
        numbers = {
            "throughput": entered / window,
            "utilisation": float(gate["inside_area"]) / region.limit / window,
            "full": float(gate["full"]) / window,
            "queue_length": waited / window,
            "waiting_time": waited / entered if entered else nan,
        }
        results |= {f"{region.name}.{part}": value for part, value in numbers.items()}
    return results
