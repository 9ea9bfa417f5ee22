"""One replica: simulated past its warm-up, and what it has seen."""

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
from headway.models.solving.solutions.asked import percentile_name
from headway.models.structure.parts.keys import of_class

PILOT = 2000
"""Events of a run that tells how fast they are simulated here."""

Replica = dict[str, float]
"""Values by name; NaN where nobody was seen."""


def replica(
    plan: Blueprint, planned: Schedule, key: tuple[int, int], percentiles: tuple[float, ...]
) -> Replica:
    """Simulate once.

    Parameters
    ----------
    plan, planned
        What, and how long.
    key
        Seed of all replicas, and the number of this one.
    percentiles
        Of the response time, to be told too.
    """
    with _seeded(key):
        run = Run(plan)
        run.simulate_until_max_time(planned.warm_up)
        run.begin()
        run.simulate_until_max_time(planned.horizon)
        run.end()
    found = _system(plan, run, planned.window, percentiles) | _stations(plan, run, planned.window)
    return found | _regions(plan, run, planned.window)


def seconds_an_event(plan: Blueprint, planned: Schedule, seed: int) -> float:
    """Time that an event takes to simulate on this machine, as a short run says [s]."""
    share = min(1.0, PILOT / planned.events)
    with _seeded((seed, 0)):
        run = Run(plan)
        began = perf_counter()
        run.simulate_until_max_time(share * planned.horizon)
        return (perf_counter() - began) / (share * planned.events)


@contextmanager
def _seeded(key: tuple[int, int]) -> Iterator[None]:
    """Seed Ciw's random numbers, and leave those of others as they were."""
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
    """What is seen of all jobs, and of each class."""
    of = {name: np.frombuffer(taken) for name, taken in run.journeys.items()}
    every = np.concatenate(list(of.values()))
    found = _journeys(every, window, percentiles)
    if plan.loses:
        lost = sum(run.lost.values())
        found["loss_probability"] = lost / max(lost + len(every), 1)
    for name, taken in of.items() if name_classes(plan) else ():
        own = _journeys(taken, window, percentiles)
        found |= {of_class(name, part): value for part, value in own.items()}
    return found


def name_classes(plan: Blueprint) -> bool:
    """Whether jobs have classes."""
    return bool(plan.classes[0].name)


def _journeys(taken: FloatArray, window: float, percentiles: tuple[float, ...]) -> Replica:
    some = len(taken) > 0
    found = {
        "throughput": len(taken) / window,
        "response_time": float(taken.mean()) if some else nan,
    }
    for percent in percentiles:
        value = float(np.percentile(taken, percent)) if some else nan
        found[percentile_name(percent)] = value
    return found


def _stations(plan: Blueprint, run: Run, window: float) -> Replica:
    found: Replica = {}
    for k, place in enumerate(plan.places):
        seen = [node.tally for node in run.queues_of(k)]
        told = _station(seen[:1] if place.serving.needed else seen, window)
        if place.serving.needed and not place.branches:  # as busy as the queues of its parts
            told["utilisation"] = _station(seen[1:], window)["utilisation"]
        if plan.blocks:
            told["blocked"] = sum(each.held for each in seen) / window / len(seen)
        for part, value in told.items():
            found[f"{place.name}.{part}"] = value
    return found


def _regions(plan: Blueprint, run: Run, window: float) -> Replica:
    """What is seen of regions and those who wait outside."""
    found: Replica = {}
    for region, gate in zip(plan.regions, run.gates, strict=True):
        told = {
            "throughput": gate.entered / window,
            "utilisation": gate.tally.used / window,
            "full": gate.full / window,
            "queue_length": gate.tally.present / window,
            "waiting_time": gate.tally.present / gate.entered if gate.entered else nan,
        }
        found |= {f"{region.name}.{part}": value for part, value in told.items()}
    return found


def _station(visits: list[Any], window: float) -> Replica:
    served = sum(each.served for each in visits)
    return {
        "utilisation": sum(each.used for each in visits) / window / len(visits),
        "response_time": sum(each.stayed for each in visits) / served if served else nan,
        "queue_length": sum(each.present for each in visits) / window,
        "throughput": served / window,
    }
