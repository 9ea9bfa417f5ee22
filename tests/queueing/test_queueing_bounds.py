"""Bounds hold exact solutions, are ordered, and name the bottleneck."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError, InvalidParameter
from headway.queueing import (
    MM1,
    MMm,
    asymptotic_bounds,
    balanced_job_bounds,
    bottleneck,
    geometric_bounds,
    solve_closed,
)

KINDS = [asymptotic_bounds, balanced_job_bounds, geometric_bounds]

demands = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6)
think_times = st.one_of(st.just(0.0), st.floats(1e-3, 1e4))


@given(demands, st.integers(1, 150), think_times)
@settings(deadline=None)
def test_exact_solution_lies_within_all_bounds(demand, population, think_time):
    exact = solve_closed([MM1(d) for d in demand], [1] * len(demand), population, think_time)

    for kind in KINDS:
        bounds = kind(demand, population, think_time)
        assert bounds.throughput_lower <= bounds.throughput_upper
        # Both sides carry a few hundred roundings.
        assert bounds.throughput_lower <= exact.throughput * (1 + 1e-11)
        assert exact.throughput <= bounds.throughput_upper * (1 + 1e-11)


@given(demands, st.integers(1, 150), think_times)
@settings(deadline=None)
def test_tighter_kinds_lie_within_the_asymptotes(demand, population, think_time):
    outer = asymptotic_bounds(demand, population, think_time)

    for kind in KINDS[1:]:
        inner = kind(demand, population, think_time)
        assert inner.throughput_lower >= outer.throughput_lower * (1 - 1e-12)
        assert inner.throughput_upper <= outer.throughput_upper * (1 + 1e-12)


@given(
    st.lists(st.tuples(st.floats(1e-2, 1e2), st.integers(1, 9)), min_size=1, max_size=4),
    st.integers(1, 60),
    think_times,
)
@settings(deadline=None)
def test_asymptotes_hold_pools(stations, population, think_time):
    demand, servers = zip(*stations, strict=True)
    exact = solve_closed(
        [MMm(*station) for station in stations], [1] * len(stations), population, think_time
    ).throughput

    bounds = asymptotic_bounds(demand, population, think_time, servers)

    assert bounds.throughput_lower <= exact * (1 + 1e-11)
    assert exact <= bounds.throughput_upper * (1 + 1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_are_the_scalars(kind):
    population = np.array([1, 5, 80])

    table = kind([0.3, np.array([[0.1], [0.7]])], population, 2.0)

    assert table.throughput_upper.shape == (2, 3)
    one = kind([0.3, 0.7], 5, 2.0)
    assert table.throughput_lower[1, 1] == pytest.approx(one.throughput_lower, rel=1e-12)
    assert table.response_time_upper[1, 1] == pytest.approx(one.response_time_upper, rel=1e-12)


def test_the_next_bottleneck():
    result = bottleneck([4.0, 3.0, 0.5], 1.0, servers=[8, 1, 1])

    assert result.station == 1
    assert result.order == (1, 0, 2)
    assert result.limits == (1 / 3, 2.0, 2.0)
    assert result.knee_population == pytest.approx(8.5 / 3)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([], 3), GraphError, "need a station"),
        (([1.0, np.nan], 3), InvalidParameter, "demand is nan"),
        (([0.0], 3), InvalidParameter, "all demands are 0"),
        (([1.0], 0), InvalidParameter, "population is 0"),
        (([1.0], 2, -1.0), InvalidParameter, "think_time is -1"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_bad_input(kind, arguments, error, message):
    with pytest.raises(error, match=message):
        kind(*arguments)
