"""The event loop held to networks of all kinds whose answers are exact (`tests.support`).

Each interval is one of 99%, so a truth lies outside of one in a hundred. Values of a network move
together, at most as if they were one, so the share outside is held to a binomial law of as many
trials as there are simulations: within what chance exceeds in one of a thousand tests at each end.
Seeds are fixed; other seeds show the same shares.
"""

import functools
import operator
from math import inf

import pytest
from scipy.stats import binom

from tests.support.exact_networks import LAWS, PERCENTS, networks

SURE, CHANCE = 0.99, 0.001


def outside(known, seed, half_width):
    """Whether the truth is outside the interval, for each value of a network."""
    percents = PERCENTS if any("_p" in name for name in known.truth) else ()
    found = known.model.simulate(half_width, seed, percents, at_most=inf)
    names = [name for name in known.truth if name in found.estimates]
    assert names
    return [not found[name].holds(known.truth[name], SURE) for name in names]


@pytest.mark.parametrize(
    ("seeds", "half_width", "step"),
    [(range(1, 2), 0.3, 3), pytest.param(range(2, 12), 0.1, 1, marks=pytest.mark.slow)],
    ids=["a seed, of each third network", "ten seeds, narrower"],
)
def test_truths_are_outside_one_interval_of_a_hundred(seeds, half_width, step):
    made = [outside(known, seed, half_width) for known in networks(step) for seed in seeds]
    values = functools.reduce(operator.iadd, made, [])
    share, trials = sum(values) / len(values), len(made)
    assert trials >= 60 // step * len(seeds)
    low, high = (binom.ppf(p, trials, 1 - SURE) / trials for p in (CHANCE, 1 - CHANCE))
    assert low <= share <= high


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_every_law_that_is_wanted_is_known(step):
    """Means of every network, percentiles of a dozen, losses of three."""
    known = {each.name: each.truth for each in networks(step)}
    assert {*[*LAWS][step // 2 :: step]} < {*known}
    assert sum("response_time_p99" in truth for truth in known.values()) >= 12 // step
    assert sum("loss_probability" in truth for truth in known.values()) >= 3 // step
    assert all(len(truth) > 1 for truth in known.values())
