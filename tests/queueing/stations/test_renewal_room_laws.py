"""What those who are let in find in GI/M/m/K, and how long they wait and stay."""

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from headway.models import catalogue_model
from headway.queueing.renewals.found import numbers_found
from headway.queueing.sojourn.percentiles import response_time_percentile
from headway.queueing.stations.finite import GIMmK, MMmK

ROOMS = [(1, 1, 0.7), (1, 4, 0.8), (1, 4, 2.5), (2, 2, 1.0), (3, 7, 2.4), (3, 7, 6.0), (8, 12, 7.0)]
COUNT = 60_000


def falling(servers, places):
    """Rates of the number of jobs without arrivals, with services of mean 1."""
    rates = np.minimum(np.arange(places + 1), servers).astype(float)
    return np.diag(rates[1:], -1) - np.diag(rates)


def stationary(moves):
    size = len(moves)
    equations = np.vstack([moves.T - np.eye(size), np.ones(size)])
    return np.linalg.lstsq(equations, np.append(np.zeros(size), 1.0), rcond=None)[0]


def regular(servers, places, load):
    """The chain at arrivals at equal intervals, by a matrix exponential."""
    gap = expm(falling(servers, places) / load)
    after = np.minimum(np.arange(places + 1) + 1, places)
    seen = stationary(gap[after])
    return seen[:places] / seen[:places].sum()


def in_stages(servers, places, load, stages):
    """The whole chain in time of Erlang arrivals, by stage and number; who arrives ends a stage."""
    size, rate = places + 1, stages * load
    down, pace = falling(servers, places), np.zeros((stages * size, stages * size))
    for k in range(stages):
        here = slice(k * size, (k + 1) * size)
        pace[here, here] += down
        for n in range(size):
            onward = (k + 1) * size + n if k + 1 < stages else min(n + 1, places)
            pace[k * size + n, onward] += rate
            pace[k * size + n, k * size + n] -= rate
    chances = stationary(np.eye(stages * size) + pace / np.abs(pace).max())
    seen = chances[-size:-1]  # in the last stage, with a place left
    return seen / seen.sum()


@pytest.mark.parametrize(("servers", "places", "load"), ROOMS)
def test_numbers_found_are_those_of_the_whole_chain(servers, places, load):
    """Digits of least squares over at most 52 states: to 1e-9."""
    found = {scv: numbers_found(servers, places, load, scv) for scv in (0.0, 0.5, 0.25)}
    np.testing.assert_allclose(found[0.0], regular(servers, places, load), atol=1e-9)
    np.testing.assert_allclose(found[0.5], in_stages(servers, places, load, 2), atol=1e-9)
    np.testing.assert_allclose(found[0.25], in_stages(servers, places, load, 4), atol=1e-9)


@given(
    st.integers(1, 20),
    st.integers(0, 60),
    st.floats(0.01, 3.0),
    st.sampled_from([0.0, 0.3, 1.0, 4.0, 30.0]),
)
def test_numbers_are_chances_and_those_of_a_birth_and_death_process_where_poisson(
    servers, queue, load, scv
):
    places = servers + queue
    found = numbers_found(servers, places, load * servers, scv)
    assert found.shape == (places,)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1, abs=1e-12)
    if scv == 1:
        busy = np.minimum(np.arange(1, places), servers)
        logs = np.append(0.0, np.cumsum(np.log(load * servers / busy)))
        chances = np.exp(logs - logs.max())
        np.testing.assert_allclose(found, chances / chances.sum(), atol=1e-12)


def simulated(servers, places, load, scv, seed=4):
    """Job by job: waits, and times until served, of those let in, services of mean 1."""
    chance = np.random.default_rng(seed)
    gaps = chance.gamma(1 / scv, scv / load, COUNT) if scv else np.full(COUNT, 1 / load)
    free, inside, waits, stays, now = [0.0] * servers, [], [], [], 0.0
    for gap, service in zip(gaps.tolist(), chance.exponential(1.0, COUNT).tolist(), strict=True):
        now += gap
        while inside and inside[0] <= now:
            heapq.heappop(inside)
        if len(inside) == places:
            continue
        start = max(now, heapq.heappop(free))
        heapq.heappush(free, start + service)
        heapq.heappush(inside, start + service)
        waits.append(start - now)
        stays.append(start + service - now)
    return np.array(waits[1000:]), np.array(stays[1000:])


def chance_of_less(times, limit):
    """A share of times, and its standard error from the means of 40 batches."""
    batches = (times[: times.size // 40 * 40] <= limit).reshape(40, -1).mean(axis=1)
    return batches.mean(), batches.std(ddof=1) / np.sqrt(40)


@pytest.mark.parametrize(
    ("servers", "places", "load", "scv"),
    [(1, 6, 0.8, 0.0), (1, 3, 1.5, 4.0), (2, 10, 1.7, 0.5), (4, 6, 3.6, 2.0), (3, 3, 2.0, 0.0)],
)
def test_percentiles_are_those_of_a_simulation(servers, places, load, scv):
    """The share of simulated times below each percentile is the percentile's, to 4.5 standard
    errors."""
    station = GIMmK(1.0, servers, places, scv)
    waits, stays = simulated(servers, places, load, scv)
    for share in (0.5, 0.9, 0.95, 0.99):
        below, error = chance_of_less(stays, response_time_percentile(station, load, share))
        assert below == pytest.approx(share, abs=4.5 * error)
    law = station.wait_law(load)
    for limit in (0.0, 0.3, 1.0):
        below, error = chance_of_less(waits, limit)
        assert below == pytest.approx(1 - law.longer(limit), abs=4.5 * error + 1e-12)


@pytest.mark.parametrize(("servers", "places", "load"), ROOMS)
def test_poisson_arrivals_have_the_law_of_the_finite_room(servers, places, load):
    """Two ways to the same law: digits of the inversion, 1e-8."""
    for share in (0.5, 0.95, 0.999):
        renewal, poisson = (
            response_time_percentile(station, load, share)
            for station in (GIMmK(1.0, servers, places, 1.0), MMmK(1.0, servers, places))
        )
        assert renewal == pytest.approx(poisson, rel=1e-8)


@pytest.mark.parametrize("load", [0.0, 1e-9, 1e-3, 1e4])
def test_hardly_any_and_far_too_many_arrivals(load):
    """Of few each is served at once; of too many each finds one place, behind K - 1 others."""
    station = GIMmK(1.0, 1, 3, 0.0)
    percentile = response_time_percentile(station, load, 0.95)
    alone, behind = 2.995732273553991, 6.295793622037137  # of 1 and 3 stages: -log 0.05, and Erlang
    assert percentile == pytest.approx(alone if load < 1 else behind, rel=1e-3)


def test_a_model_of_limited_room_has_percentiles_however_jobs_arrive():
    room = catalogue_model("server-room").at(service_time="10 ms", room=6, delay="1 ms")
    random, even = (room.arriving(scv).solve(arrival_rate=80.0) for scv in (1, 0))
    assert random["response_time_p95"] == pytest.approx(
        room.solve(arrival_rate=80.0)["response_time_p95"], rel=1e-8
    )
    station = GIMmK(0.01, 1, 6, 0.0)
    alone = response_time_percentile(station, 80.0, 0.95)
    assert even["response_time_p95"] == pytest.approx(1e-3 + alone, rel=1e-6)
