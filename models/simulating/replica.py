"""One replica: simulate past its warm-up, and collect results."""

from math import nan
from time import perf_counter

from headway.models.simulating.plan import Blueprint, SimulatedStation
from headway.models.simulating.planning import Schedule
from headway.models.simulating.playing.run import Run
from headway.models.simulating.scoring import score_of
from headway.models.structure.outputs import percentile_name
from headway.models.structure.parts.keys import of_class
from headway.queueing.playing.rows import RowArray
from headway.queueing.playing.times import Times

PILOT = 20_000
"""Number of events in a short run that measures the speed of simulation."""

Replica = dict[str, float]
"""Values by name; NaN without jobs."""


def replica(
    plan: Blueprint, planned: Schedule, percentiles: tuple[float, ...], seed: int, number: int
) -> Replica:
    """Simulate once.

    Parameters
    ----------
    plan, planned
        The plan, and the length of the replica.
    percentiles
        Requested percentiles of the response time.
    seed, number
        Seed of all replicas, and the number of this one.
    """
    run = Run(score_of(plan), seed, number, kept=bool(percentiles))
    run.play(planned.warm_up)
    run.begin()
    run.play(planned.horizon)
    results = _system(plan, run, planned.window, percentiles) | _stations(plan, run, planned.window)
    return results | _regions(plan, run, planned.window)


def seconds_an_event(plan: Blueprint, planned: Schedule, seed: int) -> float:
    """Time to simulate an event on this machine, measured by a short run [s]."""
    run = Run(score_of(plan), seed, 0, kept=False)
    began = perf_counter()
    run.play(min(1.0, PILOT / planned.events) * planned.horizon)
    return (perf_counter() - began) / max(run.events, 1)


def _system(plan: Blueprint, run: Run, window: float, percentiles: tuple[float, ...]) -> Replica:
    """Results of all jobs, and of each class."""
    crowds = run.state.crowds
    results = _journeys(crowds, run.times(), plan, window, percentiles)
    if plan.loses:
        lost, ended = int(crowds["lost"].sum()), int(crowds["ended"].sum())
        results["loss_probability"] = lost / max(lost + ended, 1)
    for c, jobs in enumerate(plan.classes) if name_classes(plan) else ():
        own = _journeys(crowds[c : c + 1], run.times(c), plan, window, percentiles)
        results |= {of_class(jobs.name, part): value for part, value in own.items()}
    return results


def name_classes(plan: Blueprint) -> bool:
    """Whether jobs have classes."""
    return bool(plan.classes[0].name)


def _journeys(
    crowds: RowArray,
    times: Times,
    plan: Blueprint,
    window: float,
    percentiles: tuple[float, ...],
) -> Replica:
    """Results of the journeys of some classes; with their times where percentiles are wanted."""
    ended = int(crowds["ended"].sum())
    mean = float(crowds["taken"].sum()) / ended + plan.beyond if ended else nan
    results = {"throughput": ended / window, "response_time": mean}
    for percent in percentiles:
        results[percentile_name(percent)] = times.percentile(percent) + plan.beyond
    return results


def _stations(plan: Blueprint, run: Run, window: float) -> Replica:
    results: Replica = {}
    further = len(plan.places)  # queues of forks' own stand after the stations of the plan
    for k, place in enumerate(plan.places):
        queues = run.state.queues[run.score.home == k]
        numbers = _station(place, queues, window)
        if place.serving.needed and not place.branches:  # as busy as the queues of its parts
            parts = run.state.queues[run.score.home == further]
            numbers["utilisation"] = _utilisation(place, parts, window)
            further += 1
        if plan.blocks:
            held = float(queues["held_area"].sum()) / place.serving.servers
            numbers["blocked"] = held / window / len(queues)
        for part, value in numbers.items():
            results[f"{place.name}.{part}"] = value
    return results


def _station(place: SimulatedStation, queues: RowArray, window: float) -> Replica:
    served = int(queues["served"].sum())
    return {
        "utilisation": _utilisation(place, queues, window),
        "response_time": float(queues["stayed"].sum()) / served if served else nan,
        "queue_length": float(queues["present_area"].sum()) / window,
        "throughput": served / window,
    }


def _utilisation(place: SimulatedStation, queues: RowArray, window: float) -> float:
    """Share of its servers that serve, or of its quota that is allotted; blocked ones do not."""
    serving = place.serving
    if serving.budget is not None:
        return float(queues["allotted"].sum()) / serving.budget[0] / window
    if not serving.crew:
        return 0.0
    used = queues["used_area"].sum() / serving.crew - queues["held_area"].sum() / serving.servers
    return float(used) / window / len(queues)


def _regions(plan: Blueprint, run: Run, window: float) -> Replica:
    """Results of regions, and of jobs that wait outside."""
    results: Replica = {}
    for region, gate in zip(plan.regions, run.state.gates, strict=True):
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
