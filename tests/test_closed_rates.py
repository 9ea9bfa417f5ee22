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
    assert solved["pool.utilisation"] == pytest.approx(solved.throughput / 5, rel=1e-12)
    assert solved.saturation_throughput == 5.0
    assert solved.knee_population == pytest.approx(1.01 * 5, rel=1e-12)
    assert str(solved.bottleneck) == "pool"
    bounds = solved.bounds()["asymptotic"]
    assert bounds.throughput_lower <= solved.throughput <= bounds.throughput_upper <= 5.0
    assert "4.80" in str(solved) or "4.81" in str(solved)


def test_rates_that_do_not_occur_do_not_count():
    solved = two([1.0, 2.0, 50.0]).solve(population=np.array([1, 2, 3]))

    assert solved.saturation_throughput.tolist() == [1.0, 2.0, 50.0]
    assert (solved["pool.utilisation"] <= 1).all()


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
    assert solved.throughput <= solved.saturation_throughput * (1 + 1e-12)


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
