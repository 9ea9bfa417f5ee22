"""Forks at many operating points in one array call: what each point alone gives."""

import numpy as np
import pytest

from headway.models import parse_model
from headway.queueing import MD1, MG1, MM1, Delay, Fork, MMm, Parallel, response_time_percentile
from headway.queueing.forks.along import FEWEST
from headway.queueing.sojourn.feed_forward import FeedForwardNetwork
from headway.queueing.sojourn.feed_forward_percentiles import (
    Precision,
    feed_forward_percentiles,
)
from headway.queueing.sojourn.interpolated_percentiles import interpolated_percentiles
from headway.queueing.stations.rows import in_a_row
from tests.queueing.forks.test_forks import FILE, ROUTE
from tests.support.cases import mostly_slow

SWEPT = {
    "all": (Fork((MM1(0.008), MG1(0.002, 0.5), MMm(0.01, 2)), 3, (0.0, 0.5, 0.0)), 1.0),
    "some": (Fork((MM1(0.008), MG1(0.002, 2.0), MMm(0.01, 2), Parallel(0.01, 2)), 2), 1.0),
    "constant": (Fork((MD1(0.008), MG1(0.007, 0.25), Delay(0.02)), 2), 1.0),
    "nearly alike": (Fork((MM1(0.008), MM1(0.008), MM1(0.0078)), 1), 1.0),
    "all busier": (Fork((MM1(0.008), MM1(0.008)), 2, (np.linspace(0, 2, 7)[:, None], 0.0)), 1.0),
}


@pytest.mark.parametrize("name", mostly_slow(SWEPT, set(SWEPT) - {"constant"}))
def test_a_long_array_gives_what_each_of_its_points_does(name):
    """Within 1e-9 relative: of points on a line most lie between others; half are saturated."""
    fork, scale = SWEPT[name]
    rates = scale * np.linspace(0.0, 250.0, 4 * FEWEST)
    value = np.broadcast_to(fork.response_time(rates), (7, rates.size))[-1]
    last = Fork(fork.branches, fork.needed, tuple(np.ravel(other)[-1] for other in fork.others))
    some = [0, 1, *range(7, rates.size, 61)]
    np.testing.assert_allclose(value[some], [last.response_time(r) for r in rates[some]], rtol=1e-9)
    assert np.isinf(value[-1])


def test_long_arrays_of_services_and_of_counts_give_what_their_points_do():
    times, counts = np.linspace(0.001, 0.006, 3 * FEWEST), np.arange(3 * FEWEST) % 3 + 1
    swept = Fork((MM1(0.008), MG1(times, 0.5), MM1(0.004)), 2).response_time(100.0)
    needed = Fork((MM1(0.008), MG1(0.003, 0.5), MM1(0.004)), counts).response_time(100.0)
    for k in range(0, times.size, 47):
        one = Fork((MM1(0.008), MG1(times[k], 0.5), MM1(0.004)), 2).response_time(100.0)
        assert swept[k] == pytest.approx(one, rel=1e-6)
        one = Fork((MM1(0.008), MG1(0.003, 0.5), MM1(0.004)), int(counts[k])).response_time(100.0)
        assert needed[k] == pytest.approx(one, rel=1e-9)


def test_a_long_sweep_over_a_service_time_asks_for_few_points(monkeypatch):
    """It went point by point, as grids of times that move made it rougher than 1e-10."""
    asked, response = [], Fork._response
    monkeypatch.setattr(
        Fork, "_response", lambda f, r: asked.append(f.branches[1]) or response(f, r)
    )
    times = np.linspace(0.003, 0.006, 2000)
    Fork((MM1(0.008), MG1(times, 0.5), MM1(0.004)), 2).response_time(100.0)
    assert sum(np.size(branch.service_time) for branch in asked) < 500


def test_a_long_sweep_of_a_model_gives_what_its_points_do():
    rates = np.linspace(1.0, 120.0, 2 * FEWEST)
    model = parse_model(f"{FILE}{ROUTE}needed = 1\n")
    swept = model.at(arrival_rate=rates).solve().response_time
    for k in (0, 77, 199):
        one = model.at(arrival_rate=float(rates[k])).solve().response_time
        assert swept[k] == pytest.approx(one, rel=1e-9)


def test_percentiles_of_long_sweeps_are_those_of_their_points():
    """Of unlike branches: arrays lie in them, which sweeps of over 96 points ended on."""
    rates, times = np.linspace(1.0, 90.0, 1200), np.linspace(0.004, 0.006, 1200)
    for second in (MG1(0.006, 0.2), MG1(times**2 / 0.006, 0.2)):
        fork = Fork((MG1(0.008, 0.3), second), 2)
        network = FeedForwardNetwork((fork,), rates[None], np.ones((1, rates.size)), {})
        some = np.array([0, 700, 1100])
        exact = response_time_percentile(_at(fork, some), rates[some], 0.95)
        # Tolerance: what a sweep and a search promise.
        np.testing.assert_allclose(interpolated_percentiles(network, 0.95)[some], exact, rtol=1e-8)
        searched = feed_forward_percentiles(network, 0.95, precision=Precision.SEARCH)
        np.testing.assert_allclose(searched[some], exact, rtol=1e-6)


def _at(fork, points):
    return in_a_row(fork, lambda row: row[points])
