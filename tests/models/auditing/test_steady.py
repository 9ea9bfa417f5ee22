"""Rates within a run, against arrivals whose rate is known."""

import numpy as np
import pytest

from headway.models.auditing.steady import unsteady


def arrivals(counts, lengths, seed):
    """So many requests in each part of so many seconds, at random within it."""
    rng = np.random.default_rng(seed)
    ends = np.cumsum(lengths)
    parts = zip(ends - lengths, ends, counts, strict=True)
    return np.sort(np.concatenate([rng.uniform(a, b, n) for a, b, n in parts]))


@pytest.mark.parametrize("count", [300, 1000, 5000])
def test_steady_rates_are_not_said_to_change(count):
    """Neither those of Poisson arrivals, nor those of bunches of five on average."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        bunches = rng.geometric(0.2, count // 5)
        times = np.repeat(np.cumsum(rng.exponential(5.0, count // 5)), bunches)
        assert not list(unsteady(np.cumsum(rng.exponential(1.0, count)), "run", 3))
        assert not list(unsteady(times, "run", 3))


@pytest.mark.parametrize(
    ("counts", "lengths", "factor", "said"),
    [
        ((1000, 2000), (10.0, 10.0), 2.0, "changes after"),
        ((1500, 3000, 1500), (10.0, 5.0, 10.0), 4.0, "otherwise"),
        ((400, 600, 800, 1000, 1200, 1400, 1600, 1800), (5.0,) * 8, 1700 / 500, "drifts from"),
    ],
    ids=["step", "patch", "line"],
)
def test_rates_that_change_are_said_by_how_much(counts, lengths, factor, said):
    for seed in range(10):
        [found] = unsteady(arrivals(counts, np.array(lengths), seed), "run")
        assert said in found.text
        assert found.value == pytest.approx(factor, rel=0.15)


def test_small_changes_do_not_matter():
    assert not list(unsteady(arrivals((20_000, 23_000), np.array([10.0, 10.0]), 1), "run"))
