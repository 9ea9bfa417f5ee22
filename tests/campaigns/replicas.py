"""How many replicas a simulation makes beyond those needed, and how often its interval is right.

``python -m tests.campaigns.replicas`` runs the rule of `headway.models.simulating.runs` on replicas
that are normal numbers with known mean and spread: a number of windows of the first length are
needed, and a warm-up is a tenth of a window. For several constants of the rule it prints the
simulated time over that of the windows needed, as mean and ninth decile, and the coverage of 95%
intervals.

Constants of `headway.models.simulating.runs` rest on it.
"""

from contextlib import ExitStack
from math import inf
from unittest.mock import patch

import numpy as np

from headway.models.simulating import runs
from headway.models.simulating.game import Game
from headway.models.simulating.planning import Schedule
from headway.models.simulating.replica import Replica

MEAN, WIDTH, WARM_UP = 100.0, 0.01, 0.1
NEEDED = (30, 60, 150, 600)
RULES = ((20, 32, 40, 1.0), (20, 64, 100, 1.0), (20, 32, 40, 0.5), (20, 64, 100, 0.5))


def played(needed, seed):
    """Simulated time over that needed, and whether the interval contains the mean."""
    spread, taken = WIDTH * MEAN * needed**0.5 / 1.96, []

    def replica(planned, _percentiles, seed, number):
        taken.append(planned.warm_up + planned.window)
        chance = np.random.default_rng((seed, number, len(taken)))
        found = chance.normal(MEAN, spread / planned.window**0.5)
        return Replica({"response_time": found}, 1)

    game = Game(replica, Schedule(WARM_UP, 1.0, 1.0))
    series = runs._Series(game, game.planned, seed, (), runs._Bar(None))
    runs._until(series, runs.Aim(WIDTH, inf))
    return sum(taken) / needed, series.estimates["response_time"].holds(MEAN)


def measured(needed, count, first=0):
    """Mean and ninth decile of the time, and the share of intervals that contain the mean."""
    times, held = zip(*(played(needed, first + k) for k in range(count)), strict=True)
    return float(np.mean(times)), float(np.quantile(times, 0.9)), float(np.mean(held))


def main():
    """Print a row for each rule and number of windows needed."""
    print("| few, enough, many, step | windows needed | time, mean | nine of ten | held |")
    print("|---|---|---|---|---|")
    for rule in RULES:
        with ExitStack() as patches:
            for name, value in zip(("FEW", "ENOUGH", "MANY", "STEP"), rule, strict=True):
                patches.enter_context(patch.object(runs, name, value))
            for needed in NEEDED:
                mean, most, held = measured(needed, 1000)
                shown = ", ".join(map(str, rule))
                print(f"| {shown} | {needed} | {mean:.2f} | {most:.2f} | {held:.3f} |", flush=True)


if __name__ == "__main__":
    main()
