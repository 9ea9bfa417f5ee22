"""Effect of the precision of steps on the courses of an autoscaler.

``python -m tests.campaigns.autoscaled_steps --seed 1000 --count 6`` solves the random days of
`tests.campaigns.autoscaled` with headway's precision of steps, and with a hundred times that. It
prints the largest relative differences of the mean response times and replicas, of a minute and of
the day. `headway.queueing.transient.scaled.ERROR` states them.
"""

from unittest.mock import patch

import numpy as np

from headway.models.over.days import Day
from headway.models.over.over import over_model
from headway.queueing.transient import scaled
from tests import campaigns
from tests.campaigns import autoscaled

FINER = 100
NUMBERS = ("response_time", "replicas")


def answers(seed, error):
    """The numbers of each minute, and of the day."""
    _, rates, _ = autoscaled.random_day(seed)
    day = Day(tuple((60.0 * np.arange(len(rates) + 1)).tolist()), tuple(rates.tolist()))
    with patch.object(scaled, "ERROR", error):
        found = over_model(autoscaled.model(seed), day, every=60.0, percentiles=())
    return [(found[name], getattr(found.day, name)) for name in NUMBERS]


def differences(seed):
    """Largest relative differences of each number, for a minute and for the day."""
    pairs = zip(answers(seed, scaled.ERROR), answers(seed, scaled.ERROR / FINER), strict=True)
    return [
        [float(np.abs(one / other - 1).max()) for one, other in zip(*each, strict=True)]
        for each in pairs
    ]


def main():
    """Print the largest differences."""
    found = 100 * np.max(list(campaigns.seeded(differences, __doc__, 6)), axis=0)
    for name, (minute, day) in zip(NUMBERS, found, strict=True):
        print(f"{name}: largest of a minute {minute:.2g}%, of the day {day:.2g}%")


if __name__ == "__main__":
    campaigns.run(__spec__)
