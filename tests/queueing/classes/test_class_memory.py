"""Several classes whose populations, or servers, are many: what memory they take."""

import tracemalloc

import numpy as np
import pytest
from scipy.stats import poisson

from headway.errors import InvalidParameter
from headway.queueing import Method, solve_multiclass
from headway.queueing.classes import lattice_convolution
from headway.queueing.classes.lattice import convolution_bytes
from headway.queueing.classes.lattice_mva import lattice_mva
from tests.support.class_networks import closed, opened, shared


def test_large_lattice_is_refused_with_its_size_and_auto_says_what_it_took():
    stations = [shared(f"s{k}", [0.1 * (k + 1)] * 5) for k in range(3)]
    classes = [closed(160, 1.0) for _ in range(5)]

    with pytest.raises(InvalidParameter, match="1.082e.11 populations .32.45 GB.; use method"):
        solve_multiclass(stations, classes, Method.EXACT)
    solution = solve_multiclass(stations, classes)

    assert solution.method is Method.LINEARIZER
    assert solution.approximation.startswith("Linearizer")
    # The bottleneck is saturated by 800 jobs.
    assert solution.throughput.sum() == pytest.approx(1 / 0.3, rel=1e-3)


@pytest.mark.parametrize(
    ("jobs", "stations", "servers", "points"),
    [((100, 100), 8, 8, 1), ((20, 20, 20), 4, 3, 20), ((8,) * 4, 4, 3, 10), ((30, 30), 2, 3, 100)],
)
def test_memory_of_a_convolution_is_what_was_estimated(jobs, stations, servers, points):
    times = np.random.default_rng(0).uniform(0.1, 1, (stations, len(jobs), points))
    places = [shared(str(k), list(times[k]), servers) for k in range(stations)]

    solve_multiclass(places, [closed(1) for _ in jobs], Method.CONVOLUTION)  # imports
    tracemalloc.start()
    solve_multiclass(places, [closed(n, 1.0) for n in jobs], Method.CONVOLUTION)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    # Temporary arrays that overlap are not followed one by one.
    assert 0.7 < peak / convolution_bytes([n + 1 for n in jobs], stations, points) < 1.3


def test_pools_are_refused_before_they_fill_the_memory():
    stations = [shared(f"s{k}", [0.1] * 4, 8) for k in range(12)]
    classes = [closed(46, 1.0) for _ in range(4)]

    with pytest.raises(InvalidParameter, match=r"4,880,000 populations .1.483 GB.; use meth"):
        solve_multiclass(stations, classes, Method.EXACT)


def test_more_servers_than_jobs_cost_nothing():
    many, few = (shared("pool", [1.0, 2.0], m) for m in (10**9, 5))
    classes, one = [closed(3, 1.0), closed(2)], shared("one", [0.2, 0.1])
    for method in (Method.EXACT, Method.LINEARIZER):
        solution = solve_multiclass([many, one], classes, method)

        assert solution.throughput == pytest.approx(
            solve_multiclass([few, one], classes, method).throughput, rel=1e-12
        )


@pytest.mark.parametrize(("servers", "load"), [(10**5, 99_990.0), (10**6, 999_000.0)])
def test_a_million_servers_are_shared_with_open_classes(servers, load):
    pool = shared("pool", [1.0, 1.0], servers)

    solution = solve_multiclass([pool], [closed(1, 2.0), opened(load)])

    # A lone job finds what open ones alone leave: it waits C(m, u) S / (m - u).
    loss = poisson.pmf(servers, load) / poisson.cdf(servers, load)
    waits = loss / (1 - load / servers * (1 - loss)) / (servers - load)
    # Tolerance: scipy's chances have some twelve digits.
    assert solution.throughput[0] == pytest.approx(1 / (2 + 1 + waits), rel=1e-11)
    assert not solution.approximation


def test_a_long_line_of_one_class_is_what_its_planes_give(monkeypatch):
    one = np.ones((1, 2))
    network = lattice_convolution.Speeds(
        demand=np.array([[[0.005, 0.002], [0.001, 0.003]]]),
        speeds=(np.array([[1.0, 1.0], [2.0, 2.0]]), one),
        open_load=np.array([[0.15, 0.0], [0.03, 0.2]]),
        think_time=one,
        population=1200 * one,
        guess=np.array([[350.0, 280.0]]),
    )
    by_filter = lattice_convolution.lattice_convolution(network)

    monkeypatch.setattr(lattice_convolution, "_LONG", 10_000)
    by_planes = lattice_convolution.lattice_convolution(network)

    # Tolerance: the same sums, some of them in another order.
    for result, wanted in zip(by_filter, by_planes, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-11)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_a_lattice_is_laid_out_without_its_largest_class_wherever_it_stands(order):
    jobs, times = np.array([3, 4, 2000])[list(order)], np.array([0.1, 0.4, 0.2])[list(order)]
    demand, think_time = np.stack([times, times[::-1]], 1)[..., None], np.ones((3, 1))

    tracemalloc.start()
    rate, _ = lattice_mva(demand, np.ones((2, 1)), think_time, jobs[:, None])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert rate[:, 0] @ times <= 1
    assert peak < 100e3  # 20 cells; 10 004 of them took 1.8 MB


@pytest.mark.parametrize("servers", [1, 2])
@pytest.mark.parametrize("jobs", [1e6, 1e7])
def test_a_million_jobs_beside_open_ones_go_round_at_what_these_leave(servers, jobs):
    pool = shared("cpu", [0.005, 0.005], servers)

    solution = solve_multiclass([pool], [opened(30.0), closed(jobs, 1.0)])

    # Open jobs hold 0.15 servers; the others never stand still.
    rate = (servers - 0.15) / 0.005
    assert solution.throughput[1] == pytest.approx(rate, rel=1e-5)
    assert solution.response_time[1] == pytest.approx(jobs / rate - 1, rel=1e-5)
    assert bool(solution.approximation) == solution.method.approximate


def test_a_convolution_of_hours_is_refused_with_its_time():
    pool = shared("cpu", [0.005, 0.005], 500_000)

    with pytest.raises(InvalidParameter, match=r"convolution needs about 1.\d+ h; use method"):
        solve_multiclass([pool], [opened(30.0), closed(1e6, 1.0)], Method.EXACT)
