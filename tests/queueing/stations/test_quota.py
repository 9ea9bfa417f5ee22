"""A server that may work a share of each period only."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import InvalidParameter
from headway.models import ModelGraph
from headway.queueing import MM1, Quota
from tests.campaigns.quota_errors import errors, serve

share = st.floats(0.05, 1.0)
busy = st.floats(0.0, 0.99)
period = st.floats(1e-3, 1e4)


@given(share, busy, period)
def test_response_lies_between_its_exact_bounds(quota, load, length):
    station = Quota(2.0, quota, length)
    rate = load * quota / 2
    least, most = station.response_bounds(rate)

    assert least == pytest.approx(MM1(2.0).response_time(rate), rel=1e-9)
    assert most == pytest.approx(MM1(2 / quota).response_time(rate), rel=1e-9)
    assert least * (1 - 1e-9) <= station.response_time(rate) <= most * (1 + 1e-9)


@given(busy, period)
def test_whole_quota_is_no_quota(load, length):
    free = MM1(0.5).response_time(2 * load)
    assert Quota(0.5, 1.0, length).response_time(2 * load) == pytest.approx(free, rel=1e-9)


@given(share, busy)
def test_short_periods_are_a_slower_server(quota, load):
    rate = load * quota
    slow = MM1(1 / quota).response_time(rate)
    assert Quota(1.0, quota, 1e-8).response_time(rate) == pytest.approx(slow, rel=1e-6)


def test_long_periods_at_low_load_are_no_quota():
    assert Quota(1.0, 0.6, 1e4).response_time(0.3) == pytest.approx(1 / 0.7, rel=1e-9)


@pytest.mark.parametrize("quota", [0.2, 0.6, 0.9])
@pytest.mark.parametrize("length", [0.1, 1.0, 5.0, 30.0])
def test_single_job_against_its_exact_mean(quota, length):
    # Held from an exhausted budget until the next period, first and in every later one.
    budget = quota * length
    stop = np.exp(-budget)
    begins = (1 - quota) * stop + (1 - stop) / length
    value = stop * (1 - quota) ** 2 * length / 2
    value += (1 - quota) * length * begins * stop / (1 - stop)
    assert Quota(1.0, quota, length).response_time(0.0) == pytest.approx(1 + value, rel=0.05)


def test_capacity_and_utilisation_are_exact():
    station = Quota(0.002, 0.6, 0.1)
    assert station.capacity == pytest.approx(300, rel=1e-12)
    assert station.utilisation(150.0) == pytest.approx(0.5, rel=1e-12)
    assert station.response_time(300.0) == np.inf


def test_errors_of_the_response_are_those_declared():
    assert "10.2%" in Quota.approximation
    result = np.abs(errors(cases=150, jobs=10_000, seed=3))
    assert np.median(result) < 0.015  # 0.4% with 200,000 jobs each
    assert np.quantile(result, 0.95) < 0.08  # of which the short simulation misses a part


def test_witness_serves_the_budget_of_each_period():
    # 13 units of work from 1.0 on at 3 of 10 units: 3, 3, 3, 3 and 1 in the fifth period.
    ends = serve(*np.array([[1.0], [13.0], [0.0], [-1.0], [0.3], [10.0]]))
    assert [float(part[0]) for part in ends] == pytest.approx([41.0, 1.0, 4.0], rel=1e-12)


def test_answer_says_that_it_is_approximate():
    graph = ModelGraph("node").declare("q").station("cpu", Quota(0.002, "q", 0.1))
    solved = graph.at(q=0.6, arrival_rate=150.0).solve()
    assert "largest error measured" in solved.approximation
    assert solved.saturation_throughput == pytest.approx(300, rel=1e-9)
    formula = graph.closed_form("cpu.response_time")
    values = {symbol: {"q": 0.6}.get(symbol.name, 150.0) for symbol in formula.free_symbols}
    assert float(formula.subs(values)) == pytest.approx(float(solved.response_time), rel=1e-12)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((-1.0, 0.6, 0.1), "service_time is -1; it must be zero or more"),
        ((1.0, 0.0, 0.1), "quota is 0; it must be positive"),
        ((1.0, 60.0, 0.1), "quota is 60; it must be at most 1"),
        ((1.0, 0.6, -1.0), "period is -1; it must be positive"),
    ],
)
def test_bad_numbers_are_refused(numbers, words):
    with pytest.raises(InvalidParameter, match=words):
        Quota(*numbers)
