"""One replica: simulate past its warm-up, and collect results."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from math import nan
from time import perf_counter
from typing import Any

import ciw
import numpy as np

from headway.kinds import FloatArray
from headway.models.simulating.network import Run
from headway.models.simulating.plan import Blueprint
from headway.models.simulating.planning import Schedule
from headway.models.structure.outputs import percentile_name
from headway.models.structure.parts.keys import of_class

PILOT = 2000
"""Number of events in a short run that measures the speed of simulation."""

Replica = dict[str, float]
"""Values by name; NaN without jobs."""


def replica(
    plan: Blueprint, planned: Schedule, key: tuple[int, int], percentiles: tuple[float, ...]
) -> Replica:
    """Simulate once.

    Parameters
    ----------
    plan, planned
        The plan, and the length of the replica.
    key
        Seed of all replicas, and the number of this one.
    percentiles
        Requested percentiles of the response time.
    """
    with _seeded(key):
        run = Run(plan)
        run.simulate_until_max_time(planned.warm_up)
        run.begin()
        run.simulate_until_max_time(planned.horizon)
        run.end()
    results = _system(plan, run, planned.window, percentiles) | _stations(plan, run, planned.window)
    return results | _regions(plan, run, planned.window)


def seconds_an_event(plan: Blueprint, planned: Schedule, seed: int) -> float:
    """Time to simulate an event on this machine, measured by a short run [s]."""
    share = min(1.0, PILOT / planned.events)
    with _seeded((seed, 0)):
        run = Run(plan)
        began = perf_counter()
        run.simulate_until_max_time(share * planned.horizon)
        return (perf_counter() - began) / (share * planned.events)


@contextmanager
def _seeded(key: tuple[int, int]) -> Iterator[None]:
    """Seed Ciw's random numbers, and restore the state of others."""
    seed, number = key
    before, generator = random.getstate(), ciw.rng
    state = np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(1, np.uint64)
    ciw.seed(int(state[0]))
    try:
        yield
    finally:
        random.setstate(before)
        ciw.rng = generator


def _system(plan: Blueprint, run: Run, window: float, percentiles: tuple[float, ...]) -> Replica:
    """Results of all jobs, and of each class."""
    of = {name: np.frombuffer(taken) for name, taken in run.journeys.items()}
    every = np.concatenate(list(of.values()))
    results = _journeys(every, window, percentiles)
    if plan.loses:
        lost = sum(run.lost.values())
        results["loss_probability"] = lost / max(lost + len(every), 1)
    for name, taken in of.items() if name_classes(plan) else ():
        own = _journeys(taken, window, percentiles)
        results |= {of_class(name, part): value for part, value in own.items()}
    return results


def name_classes(plan: Blueprint) -> bool:
    """Whether jobs have classes."""
    return bool(plan.classes[0].name)


def _journeys(taken: FloatArray, window: float, percentiles: tuple[float, ...]) -> Replica:
    some = len(taken) > 0
    results = {
        "throughput": len(taken) / window,
        "response_time": float(taken.mean()) if some else nan,
    }
    for percent in percentiles:
        value = float(np.percentile(taken, percent)) if some else nan
        results[percentile_name(percent)] = value
    return results


def _stations(plan: Blueprint, run: Run, window: float) -> Replica:
    results: Replica = {}
    for k, place in enumerate(plan.places):
        tallies = [node.tally for node in run.queues_of(k)]
        numbers = _station(tallies[:1] if place.serving.needed else tallies, window)
        if place.serving.needed and not place.branches:  # as busy as the queues of its parts
            numbers["utilisation"] = _station(tallies[1:], window)["utilisation"]
        if plan.blocks:
            numbers["blocked"] = sum(each.blocked for each in tallies) / window / len(tallies)
        for part, value in numbers.items():
            results[f"{place.name}.{part}"] = value
    return results


def _regions(plan: Blueprint, run: Run, window: float) -> Replica:
    """Results of regions, and of jobs that wait outside."""
    results: Replica = {}
    for region, gate in zip(plan.regions, run.gates, strict=True):
        numbers = {
            "throughput": gate.entered / window,
            "utilisation": gate.tally.used / window,
            "full": gate.full / window,
            "queue_length": gate.tally.present / window,
            "waiting_time": gate.tally.present / gate.entered if gate.entered else nan,
        }
        results |= {f"{region.name}.{part}": value for part, value in numbers.items()}
    return results


def _station(visits: list[Any], window: float) -> Replica:
    served = sum(each.served for each in visits)
    return {
        "utilisation": sum(each.used for each in visits) / window / len(visits),
        "response_time": sum(each.stayed for each in visits) / served if served else nan,
        "queue_length": sum(each.present for each in visits) / window,
        "throughput": served / window,
    }
