"""Closed networks with rates by number present: everything from the rates that occur."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.models.structure.graph import ModelGraph
from headway.queueing import MM1, Delay, LoadDependent, MMm, Parallel, network_bounds, solve_closed


def two(rates, service_time=0.01):
    graph = (
        ModelGraph("two").station("pool", LoadDependent(rates)).station("cpu", MM1(service_time))
    )
    return graph.route("pool", "cpu").at()


def cycle(rates, service_time, jobs):
    """Throughput of a cycle of two stations, by the chain of the number at the first."""
    weights = [1.0]
    for n in range(1, jobs + 1):
        weights.append(weights[-1] / service_time / rates[min(n, len(rates)) - 1])
    chances = np.array(weights) / sum(weights)
    return (1 - chances[-1]) / service_time


def test_the_issue_s_network():
    solved = two([1.0, 5.0, 1.0]).solve(population=2)

    # weights of 0, 1, 2 jobs at the pool: 1, 100, 100 * 100 / 5
    assert solved.throughput == pytest.approx((1 - 2000 / 2101) * 100, rel=1e-12)
    assert solved["pool.utilisation"] == pytest.approx(2100 / 2101, rel=1e-12)
    assert solved.saturation_throughput == 1.0  # of many jobs
    assert solved.knee_population == pytest.approx(1.01, rel=1e-12)
    assert str(solved.bottleneck) == "pool"
    bounds = solved.bounds()["asymptotic"]
    assert bounds.throughput_lower <= solved.throughput <= bounds.throughput_upper * (1 + 1e-12)
    assert bounds.throughput_upper <= 5.0
    assert "4.80" in str(solved) or "4.81" in str(solved)


def test_two_rates_like_a_single_server_s_at_both_ends_have_no_balanced_bounds():
    for rates, jobs in (((1.0, 4.0), 2), ((1.0, 0.9, 1.0), 10)):
        solved = two(rates, 1.0).solve(population=jobs)
        assert set(solved.bounds()) == {"asymptotic"}
        assert solved.throughput <= solved.bounds()["asymptotic"].throughput_upper * (1 + 1e-12)


def test_saturation_is_that_of_many_jobs():
    solved = two([1.0, 2.0, 50.0]).solve(population=np.array([1, 2, 3]))

    assert np.unique(solved.saturation_throughput).tolist() == [50.0]
    assert (solved["pool.utilisation"] <= 1).all()


def test_rates_of_servers_are_servers():
    pool = ModelGraph("one").station("s", LoadDependent((50.0, 100.0, 150.0, 200.0))).at()
    servers = ModelGraph("one").station("s", MMm(0.02, 4)).at()
    for jobs in (1, 2, 4, 9):
        listed, known = (one.solve(population=jobs, think_time=0.5) for one in (pool, servers))
        for name in ("s.utilisation", "saturation_throughput", "knee_population", "throughput"):
            assert listed[name] == pytest.approx(known[name], rel=1e-9), name
    assert listed.saturation_throughput == 200
    assert listed.knee_population == pytest.approx(104, rel=1e-12)


def test_a_station_that_slows_down_is_the_bottleneck():
    slow = LoadDependent((100.0, 80.0, 60.0))
    graph = ModelGraph("two").station("db", slow).station("web", MM1(0.0143)).route("db", "web")
    solved = graph.at().solve(population=30)

    # weights of n jobs at db, by balance between n - 1 and n
    weights = np.cumprod([1.0, *(1 / 0.0143 / np.array([100.0, 80.0, *[60.0] * 28]))])
    busy = 1 - weights[0] / weights.sum()
    assert solved["db.utilisation"] == pytest.approx(busy, rel=1e-9)
    assert busy > 0.99
    assert str(solved.bottleneck) == "db"
    assert solved.saturation_throughput == 60
    assert solved.bounds()["asymptotic"].throughput_upper == pytest.approx(
        solved.throughput, rel=1e-9
    )
    alone = ModelGraph("one").station("node", slow).at().solve(population=10)
    assert alone["node.utilisation"] == 1
    assert alone.bounds()["asymptotic"].throughput_upper == pytest.approx(60, rel=1e-12)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    st.lists(st.floats(0.2, 20), min_size=1, max_size=5),
    st.floats(0.01, 2),
    st.integers(1, 7),
)
def test_bounds_hold_whatever_the_rates(rates, service_time, jobs):
    solved = two(rates, service_time).solve(population=jobs)

    # Tolerance: the chain's and the convolution's rounding.
    assert solved.throughput == pytest.approx(cycle(rates, service_time, jobs), rel=1e-10)
    assert 0 <= solved["pool.utilisation"] <= 1 + 1e-12
    for bounds in solved.bounds().values():
        assert bounds.throughput_lower <= solved.throughput * (1 + 1e-12)
        assert solved.throughput <= bounds.throughput_upper * (1 + 1e-12)
    if np.all(np.diff(rates) >= 0):
        assert solved.throughput <= solved.saturation_throughput * (1 + 1e-12)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    st.lists(st.floats(0.2, 20), min_size=1, max_size=5),
    st.lists(st.floats(0.2, 20), min_size=1, max_size=3),
    st.floats(0, 3),
    st.integers(1, 12),
)
def test_bounds_by_slowing_stations_hold_among_others(rates, others, think, jobs):
    stations = [LoadDependent(rates), LoadDependent(others), MM1(0.3)]
    visits = [1.0, 0.7, 1.6]
    solved = solve_closed(stations, visits, jobs, think)
    bounds = network_bounds(stations, visits, jobs, think)["asymptotic"]
    assert bounds.throughput_lower <= solved.throughput * (1 + 1e-12)
    assert solved.throughput <= bounds.throughput_upper * (1 + 1e-12)


@pytest.mark.parametrize("service_time", [1 / 49, 0.1, 3.0])
def test_single_servers_have_all_bounds_whatever_rounding_does(service_time):
    stations = [MM1(service_time), Delay(1.0), Parallel(0.1, 1), LoadDependent((2.0,))]

    bounds = network_bounds(stations, [1.0, 2.0, 1.0, 0.5], 4)

    solved = solve_closed(stations, [1.0, 2.0, 1.0, 0.5], 4)
    assert set(bounds) == {"asymptotic", "balanced job", "proportional", "geometric"}
    for limit in bounds.values():
        assert limit.throughput_lower <= solved.throughput * (1 + 1e-12)
        assert solved.throughput <= limit.throughput_upper * (1 + 1e-12)


def test_pools_have_asymptotes_only():
    assert set(network_bounds([MMm(1.0, 2)], [1.0], 4)) == {"asymptotic"}
    assert network_bounds([Delay(1.0)], [1.0], 4) == {}
    assert network_bounds([MM1(0.0)], [1.0], 4, 1.0) == {}
