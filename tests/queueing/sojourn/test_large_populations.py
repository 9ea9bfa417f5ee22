"""Percentiles of closed networks of many jobs against sums of exponential times."""

import numpy as np
import pytest
from scipy.stats import gamma, poisson

from headway.models import ModelGraph
from headway.queueing import MM1, MMm
from headway.queueing.passages.laws import APART, after_start
from headway.queueing.times.laws import exponential, repeated


def times(graph, population, think_time, *percents):
    solution = graph.at().solve(population=population, think_time=think_time)
    solution = solution.with_percentiles(percents)
    assert solution.approximation == ""
    return [float(solution[f"response_time_p{percent:g}"]) for percent in percents]


@pytest.mark.parametrize("jobs", [2, 300, 5000])
def test_two_alike_servers_take_one_service_a_job_and_one_more(jobs):
    """Whichever of them the others are at, T has N + 1 phases; inversion errs by 1e-9 of chances.

    A chance moves by 1 over some deviations of T, which are sqrt(N + 1) services of N + 1: the
    transform rounds to 1e-12.
    """
    graph = ModelGraph("pair").station("a", MM1(0.004)).station("b", MM1(0.004)).route("a", "b")
    for percent, time in zip((5, 50, 99), times(graph, jobs, 0.0, 5, 50, 99), strict=True):
        late = gamma.sf(time, jobs + 1, scale=0.004)
        assert late == pytest.approx(1 - percent / 100, abs=1e-8)


@pytest.mark.parametrize(("jobs", "servers"), [(40, 3), (3000, 1), (3000, 8)])
def test_a_pool_that_many_return_to_after_thinking(jobs, servers):
    """A job that finds n takes n - m + 1 departures and its service; P(n) ~ f(n) Poisson's."""
    think, service = 10.0, 0.02
    graph = ModelGraph("pool").station("pool", MMm(service, servers))
    (time,) = times(graph, jobs, think, 90)
    n = np.arange(jobs)
    logs = np.cumsum(np.log(service / np.minimum(np.maximum(n, 1), servers))) - np.log(service)
    logs += poisson.logpmf(jobs - 1 - n, think)
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    grid = (np.arange(4000) + 0.5) / 4000 * 40 * service  # of the job's own service
    density = np.exp(-grid / service) / service * (grid[1] - grid[0])
    late = 0.0
    for number in np.flatnonzero(chances > 1e-12):
        ahead = number - servers + 1
        if ahead < 1:
            late += chances[number] * np.exp(-time / service)
        else:
            rest = gamma.sf(time - grid, ahead, scale=service / servers)
            late += chances[number] * float(density @ rest)
    assert late == pytest.approx(0.1, abs=2e-5)  # what so many steps of the sum leave


@pytest.mark.parametrize("jobs", [1000, 1_000_000])
def test_a_job_that_returns_between_equal_queues_of_very_many(jobs):
    """A turn of both takes N + 1 services whatever is where, and its like follows by a chance.

    Between two turns hardly any time is likely; `APART` has the errors.
    """
    graph = ModelGraph("pair").station("a", MM1(1 / jobs)).station("b", MM1(1 / jobs))
    model = graph.route("a", "b").route("b", "a", 0.5).at().closed(jobs, 0.0)
    percents, turns = (45, 55, 95, 99, 99.9), np.array([1, 2, 5, 7, 10])
    solution = model.solve().with_percentiles(percents)
    if jobs > 1000:
        assert solution.approximation.startswith(APART)
    times = np.array([float(solution[f"response_time_p{percent:g}"]) for percent in percents])
    errors = np.abs(times / turns - 1)
    assert (errors < [0.55, 0.55, 0.08, 0.08, 0.12]).all()


def test_a_start_leaves_chances_as_they_are():
    law = repeated(exponential(0.01), 500)
    later = after_start(law)
    s = np.array([0.5 + 1j, 3.0 - 20j])

    assert later.pieces[0].shift > 2.7
    np.testing.assert_allclose(later.transform(s), law.transform(s), rtol=1e-12)


def test_times_that_vary_widely_keep_their_start():
    law = exponential(1.0)
    assert after_start(law) is law
