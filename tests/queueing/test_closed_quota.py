"""Closed networks with a server that may work a share of each period only: an approximation."""

import csv
import io
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError, InvalidParameter
from headway.models import ModelGraph
from headway.queueing import MM1, Delay, Method, MMm, Quota, solve_closed
from tests.campaigns.closed_quota_errors import errors, simulate, summary_rows
from tests.support.command import headway
from tests.support.pages import accuracy

share = st.floats(0.05, 1.0)
period = st.floats(1e-3, 1e4)
jobs = st.integers(1, 64)
think = st.one_of(st.just(0.0), st.floats(0.01, 1e3))
other = st.one_of(st.just(0.0), st.floats(0.01, 10.0))


@given(share, period, jobs, think, other)
def test_throughput_lies_between_its_exact_bounds(quota, length, population, rest, demand):
    beside = [MM1(demand), Delay(0.5)]
    solution = solve_closed([Quota(1.0, quota, length), *beside], [1, 1, 1], population, rest)
    slow = solve_closed([MM1(1 / quota), *beside], [1, 1, 1], population, rest)
    free = solve_closed([MM1(1.0), *beside], [1, 1, 1], population, rest)

    # Tolerance: rounding of the mixture.
    assert solution.throughput >= slow.throughput * (1 - 1e-12)
    assert solution.throughput <= min(quota, free.throughput) * (1 + 1e-12)
    # Little's law, for the system and for each station.
    assert solution.throughput * (rest + solution.response_time) == pytest.approx(
        population, rel=1e-9
    )
    np.testing.assert_allclose(
        solution.queue_length,
        solution.station_throughput * solution.station_response_time,
        rtol=1e-9,
    )
    assert solution.utilisation[0] == pytest.approx(solution.throughput / quota, rel=1e-12)


@given(period, jobs, think, other)
def test_whole_quota_is_no_quota(length, population, rest, demand):
    whole = solve_closed([Quota(1.0, 1.0, length), MM1(demand)], [1, 1], population, rest)
    free = solve_closed([MM1(1.0), MM1(demand)], [1, 1], population, rest)

    assert whole.throughput == pytest.approx(free.throughput, rel=1e-9)
    np.testing.assert_allclose(whole.queue_length, free.queue_length, rtol=1e-9)


@pytest.mark.parametrize("population", [1, 2, 8, 64])
def test_short_and_long_periods_are_the_bounds(population):
    away = [Delay(12.0)]
    short, long = (
        solve_closed([Quota(1.0, 0.3, length), *away], [1, 1], population) for length in (1e-9, 1e9)
    )
    slow = solve_closed([MM1(1 / 0.3), *away], [1, 1], population).throughput
    free = solve_closed([MM1(1.0), *away], [1, 1], population).throughput

    # Tolerance: what is lost falls with the root of the period.
    assert short.throughput == pytest.approx(slow, rel=1e-3)
    assert long.throughput == pytest.approx(min(0.3, free), rel=1e-3)


def test_nfs_server_with_a_quota_saturates_at_its_share():
    # Delay 27.5 us, service 32.5 us, 60% of each 100 ms: saturates at 0.6 / S.
    clients = np.array([1, 2, 4, 16, 64])
    stations = [Quota(32.5e-6, 0.6, 0.1), Delay(27.5e-6)]
    solution = solve_closed(stations, [1, 1], clients)

    # One client asks for 54%: so long a period hardly limits it.
    assert solution.throughput[0] == pytest.approx(1 / 60e-6, rel=1e-3)
    np.testing.assert_allclose(solution.throughput[1:], 0.6 / 32.5e-6, rtol=1e-6)
    np.testing.assert_allclose(
        solution.response_time[1:], clients[1:] / (0.6 / 32.5e-6), rtol=1e-6
    )  # nobody thinks: N / X
    alone = [solve_closed(stations, [1, 1], n).throughput for n in clients]
    np.testing.assert_allclose(solution.throughput, alone, rtol=1e-12)


@given(share, period, think, other)
@settings(max_examples=50)
def test_more_jobs_hardly_ever_do_less(quota, length, rest, demand):
    stations = [Quota(1.0, quota, length), MM1(demand)]
    rates = solve_closed(stations, [1, 1], np.arange(1, 31), rest).throughput

    # Of an approximation no law says so: 1e-4 is far below the error that is stated.
    assert (np.diff(rates) >= -1e-4 * rates[1:]).all()


@pytest.mark.slow
def test_errors_are_those_stated():
    result = summary_rows(errors(cases=40, steps=12_000, seed=3))

    assert result[0][3] < 1.5  # the short simulation misses 1% itself
    assert result[0][2] < 6


def test_document_states_the_errors_that_answers_do():
    page = accuracy().partition("| error of |")[2]
    rate, time = (
        re.search(rf"^\| {kind} \| (\S+%) \| (\S+%)", page, re.MULTILINE).groups()
        for kind in ("throughput", "response time")
    )

    text = f"throughput {rate[0]}, response time {time[0]} (99 of 100 within {time[1]})"
    assert text in Quota.mixed_note


def test_witness_knows_a_network_without_a_quota():
    alone = np.full((1, 400), 1.0)
    numbers = [alone[0], alone[0] * 5.0, alone[0] * 3, alone[0] * 2.0, np.zeros((2, 400))]
    rate, response, _ = simulate(*numbers, 4000, np.random.default_rng(1))
    exact = solve_closed([MM1(1.0)], [1], 3, 2.0)

    # 400 runs together: half a percent.
    assert rate.mean() == pytest.approx(exact.throughput, rel=0.01)
    assert response.mean() == pytest.approx(exact.response_time, rel=0.02)


def node():
    graph = ModelGraph("node").declare("q").station("cpu", Quota(0.002, "q", 0.1))
    graph = graph.station("disk", MM1(0.001)).route("cpu", "disk")
    return graph.at(q=0.6).closed(np.array([1, 8]), 0.01)


def test_every_form_of_an_answer_says_so():
    solved = node().solve()
    document = json.loads(solved.to_json())
    rows = list(csv.DictReader(io.StringIO(solved.to_csv())))
    mixed_note = Quota.mixed_note

    assert solved.approximation == mixed_note
    assert "largest error measured: throughput" in mixed_note
    assert mixed_note in " ".join(str(solved).split())
    assert document["approximation"] == mixed_note
    assert {row["approximation"] for row in rows} == {mixed_note}
    assert solved["throughput"][1] <= 300
    assert float(solved.bounds()["asymptotic"].throughput_upper[1]) == pytest.approx(300)


@pytest.mark.parametrize("population", [0, 1, 5])
def test_methods_that_approximate_are_named_too(population):
    stations, visits = [Quota(1.0, 0.5, 10.0), MMm(1.0, 2)], [1, 2]
    exact = solve_closed(stations, visits, population, 1.0)
    near = solve_closed(stations, visits, population, 1.0, Method.LINEARIZER)

    assert near.throughput == pytest.approx(exact.throughput, rel=0.05)
    assert "Linearizer" in near.approximation
    assert Quota.mixed_note in near.approximation


def test_two_quotas_are_refused():
    with pytest.raises(GraphError, match="approximates at most one such station"):
        solve_closed([Quota(1.0, 0.5, 10.0), Quota(1.0, 0.5, 10.0)], [1, 1], 3)


def test_a_population_beyond_memory_is_refused():
    with pytest.raises(InvalidParameter, match="populations"):
        solve_closed([Quota(1.0, 0.5, 10.0)], [1], 10**9)


def test_lists_of_kinds_say_how_closed_networks_hold_it():
    listed = {
        row["kind"]: row for row in csv.DictReader(io.StringIO(headway("kinds", "--csv").out))
    }
    document = json.loads(headway("kinds", "--json").out)["stations"]

    assert [listed[kind]["closed"] for kind in ("MM1", "Quota", "MM1K")] == ["yes", "nearly", "no"]
    by_name = {row["kind"]: row["closed"] for row in document}
    assert [by_name[kind] for kind in ("MM1", "Quota", "MM1K")] == [True, True, False]
