"""Replicas of a model's simulation as arrays, one value a replica: a witness for the solvers."""

import numpy as np

from headway.models.simulating.jobs import blueprint
from headway.models.simulating.planning import Schedule, schedule
from headway.models.simulating.replica import replica
from headway.models.simulating.scoring import score_of
from headway.queueing.playing.estimates import estimates, together

REPLICAS = 30
WARM_UP = 0.1
"""Share of the simulated time that is thrown away."""


def simulate(model, horizon, seed):
    """Simulate a model for so long in all; values of each replica by name."""
    plan, each = blueprint(model), horizon / REPLICAS
    planned = Schedule(WARM_UP * each, (1 - WARM_UP) * each, schedule(plan).events)
    played = [
        replica(plan, score_of(plan), planned, (), seed, number) for number in range(REPLICAS)
    ]
    made = [each.results for each in played]
    return {name: np.array([one[name] for one in made]) for name in made[0]}


def intervals(batches, confidence):
    """Intervals that all hold together with the given confidence (Bonferroni)."""
    one = together(confidence, len(batches))
    count = len(next(iter(batches.values())))
    replicas = [{name: values[k] for name, values in batches.items()} for k in range(count)]
    return {name: Interval(result, one) for name, result in estimates(replicas).items()}


class Interval:
    """An estimate at one confidence."""

    def __init__(self, estimate, confidence):
        self.mean, self.half_width = estimate.mean, estimate.half_width(confidence)
        self._estimate, self._confidence = estimate, confidence

    def holds(self, value):
        """Whether a value lies inside."""
        return self._estimate.holds(value, self._confidence)
