"""Percentiles along sweeps are those found point by point, for the price of some hundred."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.models import ModelGraph
from headway.queueing import MG1, MM1, Delay, MMm
from headway.queueing.sojourn import interpolated_percentiles as sweeping
from headway.queueing.sojourn.feed_forward import FeedForwardLaw, FeedForwardNetwork
from headway.queueing.sojourn.feed_forward_percentiles import feed_forward_percentiles
from headway.queueing.sojourn.interpolated_percentiles import interpolated_percentiles


def alone(tail):
    """What a sweep and a point by itself may differ by: each is told to 2e-12 of a chance."""
    return max(1e-11, 4 * 2e-12 / tail)


@pytest.fixture
def solved_alone(monkeypatch):
    """How many points are found by inversion."""
    counted = []

    def counting(network, share):
        counted.append(network.rates.shape[1])
        return feed_forward_percentiles(network, share)

    monkeypatch.setattr(sweeping, "feed_forward_percentiles", counting)
    return counted


def tandem(times, rates):
    ones = np.ones_like(rates)
    stations = (Delay(1e-4), MM1(times[0]), MMm(2 * times[1], 2), MG1(times[2], 0.5))
    entries = np.array([ones, 0 * ones, 0 * ones, 0 * ones])
    onward = {(k, k + 1): ones for k in range(3)}
    return FeedForwardNetwork(stations, np.array([rates] * 4), entries, onward)


@given(
    times=st.lists(st.floats(0.05, 1), min_size=3, max_size=3),
    share=st.sampled_from([0.5, 0.95, 0.99, 0.999]),
)
@settings(max_examples=5)
def test_a_sweep_is_what_its_points_are_alone(times, share):
    network = tandem(times, np.linspace(0, 0.98 / max(times), 400))
    some = np.arange(7, 400, 39)

    percentiles = interpolated_percentiles(network, share)

    one_by_one = feed_forward_percentiles(network.at(some), share)
    assert percentiles[some] == pytest.approx(one_by_one, rel=alone(1 - share))


@pytest.mark.parametrize("share", [0.5, 0.99])
def test_a_hundred_thousand_points_take_some_hundred(solved_alone, share):
    rates = np.linspace(0, 0.95, 10**5)

    times = interpolated_percentiles(tandem([1, 0.8, 0.5], rates), share)

    assert times.shape == (10**5,)
    assert (np.diff(times) > 0).all()
    assert sum(solved_alone) < 500


def test_times_that_vary_with_the_load_are_a_sweep_in_their_own_units(solved_alone):
    rng = np.random.default_rng(1)
    times, busy = rng.uniform(1, 3, 5000), rng.uniform(0, 0.95, 5000)
    one = np.ones((1, 5000))
    network = FeedForwardNetwork((MMm(4 * times, 4),), busy[None] / times, one, {})

    percentiles = interpolated_percentiles(network, 0.99)

    assert sum(solved_alone) < 500
    some = np.arange(3, 5000, 499)
    alike = feed_forward_percentiles(network.at(some), 0.99)
    assert percentiles[some] == pytest.approx(alike, rel=alone(0.01))


def test_counts_are_swept_one_by_one(solved_alone):
    counts, rates = (a.ravel() for a in np.meshgrid([1, 2, 5], np.linspace(0, 0.9, 500)))
    one = np.ones((1, counts.size))
    network = FeedForwardNetwork((MMm(1.0, counts),), (rates * counts)[None], one, {})

    times = interpolated_percentiles(network, 0.95)

    assert sum(solved_alone) < 500
    some = np.arange(5, counts.size, 101)
    alike = feed_forward_percentiles(network.at(some), 0.95)
    assert times[some] == pytest.approx(alike, rel=alone(0.05))


def test_points_without_a_line_are_found_alone(solved_alone):
    rng = np.random.default_rng(2)
    times = tuple(MM1(rng.uniform(0.5, 1, 200)) for _ in range(2))
    rates = rng.uniform(0, 0.9, (2, 200))
    entries = np.array([np.ones(200), np.zeros(200)])
    network = FeedForwardNetwork(times, rates, entries, {(0, 1): np.ones(200)})

    interpolated_percentiles(network, 0.95)

    assert solved_alone == [200]


def test_a_percentile_that_jumps_off_the_constant_is_told_on_both_sides(solved_alone):
    """Some go on to a queue: where few do, the percentile is the constant time."""
    chance = np.linspace(0.0, 0.2, 1001)
    entries = np.array([np.ones(1001), np.zeros(1001)])
    rates = np.array([np.full(1001, 0.5), 0.5 * chance])
    network = FeedForwardNetwork((Delay(1.0), MM1(1.0)), rates, entries, {(0, 1): chance})

    times = interpolated_percentiles(network, 0.95)

    assert sum(solved_alone) < 1001
    # P(T > 1 + t) = p exp(-(1 - p / 2) t): the law itself.
    with np.errstate(divide="ignore"):
        wanted = 1 + np.maximum(np.log(chance / 0.05), 0) / (1 - 0.5 * chance)
    assert times == pytest.approx(wanted, rel=2e-9)


def test_points_all_alike_are_one(solved_alone):
    model = ModelGraph("one").declare("unused").station("cpu", MM1(0.5)).at(arrival_rate=1.0)

    solved = model.solve(unused=np.linspace(0, 1, 1000)).with_percentile(95)

    assert solved["response_time_p95"] == pytest.approx(-np.log(0.05), rel=1e-10)
    assert sum(solved_alone) < 100


@pytest.mark.parametrize("share", [0.5, 0.99, 0.999])
def test_a_point_takes_few_terms_of_its_transform(monkeypatch, share):
    """Some coarse steps of 60 terms and one of the full series, of 160: less than 420."""
    counted = []
    plain = FeedForwardLaw.transform

    def counting(law, s):
        counted.append(s.size)
        return plain(law, s)

    monkeypatch.setattr(FeedForwardLaw, "transform", counting)
    busy, one = np.linspace(0.05, 0.95, 100), np.ones((1, 100))

    feed_forward_percentiles(FeedForwardNetwork((MG1(1.0, 0.5),), busy[None], one, {}), share)

    assert sum(counted) < 420 * 100


def test_a_tail_too_deep_for_newtons_steps_is_enclosed():
    """With shares next to 1, rounding hides the slope; the law of M/M/1 is known."""
    busy, one = np.linspace(0.05, 0.95, 19), np.ones((1, 19))
    network = FeedForwardNetwork((MM1(1.0),), busy[None], one, {})

    result = feed_forward_percentiles(network, 1 - 1e-10)

    assert result * (1 - busy) == pytest.approx(-np.log(1e-10), rel=2e-12 / 1e-10)
