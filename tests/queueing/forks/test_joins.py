"""The law of the time of a fork of alike branches: what it is made of, and its limits."""

import pickle

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator
from scipy.special import gammainc
from scipy.stats import beta, gamma

from headway.queueing import ForkJoin, response_time_percentile
from headway.queueing.order_statistics.alike import moments
from headway.queueing.order_statistics.common_factor import conditional_law
from headway.queueing.order_statistics.gamma_mixture import gamma_mixture, has_mixture, mixture_law
from headway.queueing.sojourn.feed_forward import FeedForwardNetwork
from headway.queueing.sojourn.feed_forward_percentiles import Precision, feed_forward_percentiles
from headway.queueing.times.inversion import percentile_of

LOADS = (0.05, 0.3, 0.6, 0.85, 0.95)
SHARES = np.array([0.1, 0.5, 0.9, 0.99])


def mean_of(logs, chances):
    times = np.exp(logs)
    return times[0] + np.trapezoid((1 - chances) * times, logs)


def percentiles(logs, chances):
    fine = np.linspace(logs[0], logs[-1], 4000)
    return np.exp(np.interp(SHARES, PchipInterpolator(logs, chances)(fine), fine))


@pytest.mark.parametrize(
    ("branches", "needed", "scv", "near"),
    [(2, 2, 1.0, 0.005), (8, 6, 0.2, 0.005), (64, 32, 2.0, 0.01), (64, 48, 0.25, 0.02)],
)
def test_the_mixture_is_the_law_that_it_stands_for(branches, needed, scv, near):
    """Percentiles in means, of chances that are integrated over what branches share."""
    law, of_all = conditional_law(scv, LOADS), gamma_mixture(branches, needed, scv)
    for busy, chances in zip(LOADS, law.kth(branches, needed), strict=True):
        exact = percentiles(law.logs, np.round(chances, 12)) / mean_of(law.logs, chances)
        weights = np.polynomial.chebyshev.chebval(2 * busy - 1, of_all.series)
        logs, shape = np.linspace(-3, 3.5, 300), 2**of_all.doublings
        done = gammainc(shape, shape * np.exp(logs)[:, None] / of_all.times) @ weights
        mixed = percentiles(logs, done) / (of_all.times @ weights)
        np.testing.assert_allclose(mixed, exact, rtol=near)


def test_two_exponential_branches_share_what_nelson_and_tantawi_say():
    """Their mean within 1%, and that of one branch of Pollaczek and Khinchine within 1%."""
    law = conditional_law(1.0, LOADS)
    for busy, one, two in zip(LOADS, law.kth(1, 1), law.kth(2, 2), strict=True):
        alone, both = mean_of(law.logs, one), mean_of(law.logs, two)
        assert alone == pytest.approx(1 / (1 - busy), rel=0.01)
        assert both == pytest.approx((12 - busy) / 8 / (1 - busy), rel=0.01)


@pytest.mark.parametrize(("branches", "needed", "scv"), [(2, 1, 0.25), (8, 8, 0.25), (64, 64, 2.0)])
def test_at_no_load_it_is_the_order_statistic_of_services(branches, needed, scv):
    """Percentiles within 2%."""
    times = [
        response_time_percentile(ForkJoin(1.0, branches, needed, scv), 0.0, share)
        for share in SHARES
    ]
    done = beta.ppf(SHARES, needed, branches - needed + 1)
    np.testing.assert_allclose(times, gamma.ppf(done, 1 / scv, scale=scv), rtol=0.02)


def test_it_has_the_stated_mean():
    for busy in LOADS:
        law = ForkJoin(0.2, 8, 6, 0.5).time_law(5 * busy)
        step = 1e-6
        slope = (1 - law.transform(np.array([step + 0j])).real[0]) / step
        assert slope == pytest.approx(law.mean, rel=1e-4)
        first, _ = moments(8, 6, 0.5, busy)
        assert law.mean == pytest.approx(0.2 * first * (1 - busy / 4) / (1 - busy))


def test_points_of_all_kinds_have_the_laws_that_they_have_alone():
    """Of steady, many, one and no branches that take time, in one array."""
    branches, needed = np.array([2, 4, 1, 200, 4, 4]), np.array([2, 3, 1, 150, 4, 4])
    scv, times = np.array([1.0, 0.5, 0.3, 1.0, 0.02, 1.0]), np.array([1, 1, 1, 1, 1, 0.0])
    rates = np.array([0.3, 0.6, 0.5, 0.4, 0.7, 0.1])
    law = ForkJoin(times, branches, needed, scv).time_law(rates)
    s = np.array([[0.3 + 0.2j], [2.0 + 1.0j]])
    for point, values in enumerate(law.transform(s * np.ones(6)).T):
        n, k = int(branches[point]), int(needed[point])
        alone = ForkJoin(times[point], n, k, scv[point]).time_law(rates[point])
        np.testing.assert_allclose(values, alone.transform(s[:, 0]), rtol=1e-12)


@pytest.mark.slow
def test_between_scvs_that_have_a_law_it_is_nearly_their_own():
    """Percentiles within 0.5%, so that a sweep over the scv needs few laws."""
    own = gamma_mixture(8, 6, 0.6).law(0.7, 1.0)
    for share in (0.5, 0.99):
        between = percentile_of(mixture_law((8, 6, 0.6), 0.7, 1.0), share)
        assert between == pytest.approx(percentile_of(own, share), rel=0.005)
    gamma_mixture.cache_clear()
    scvs = np.linspace(0.5, 1.0, 400)
    mixture_law((2, 2, scvs), np.full(400, 0.5), np.ones(400))
    assert gamma_mixture.cache_info().misses == 9


def test_what_is_known_of_all_loads_is_a_value():
    law = gamma_mixture(8, 6, 0.5)
    copy = pickle.loads(pickle.dumps(law))  # noqa: S301 - its own bytes
    np.testing.assert_array_equal(copy.series, law.series)
    assert has_mixture(np.array([1, 2, 128, 129]), 1.0).tolist() == [False, True, True, False]


@pytest.mark.parametrize(("branches", "scv"), [(2, 8.0), (128, 0.25)])
def test_far_from_what_was_measured_percentiles_still_rise(branches, scv):
    fork = ForkJoin(1.0, branches, (branches + 1) // 2, scv)
    law = FeedForwardNetwork((fork,), np.array([[0.0, 0.5, 0.99]]), np.ones((1, 3)), {})
    rows = np.array(
        [
            feed_forward_percentiles(law, share, precision=Precision.SEARCH)
            for share in (0.5, 0.9, 0.99)
        ]
    )
    assert (np.diff(rows, axis=0) > 0).all()


@pytest.mark.parametrize(("needed", "scv", "share"), [(32, 0.5, 0.99), (32, 0.25, 0.5)])
def test_swift_percentiles_of_forks_are_those_of_the_whole_series(needed, scv, share):
    """Some branches of many steady ones needed: 39% off before series told of their own error."""
    busy, fork = np.array([[0.3, 0.95]]), ForkJoin(1.0, 64, needed, scv)
    network = FeedForwardNetwork((fork,), busy, np.ones_like(busy), {})
    # Tolerance: the 1e-6 of a chance, near narrow peaks some 5e-6 of the time.
    exact = feed_forward_percentiles(network, share)
    searched = feed_forward_percentiles(network, share, precision=Precision.SEARCH)
    np.testing.assert_allclose(searched, exact, rtol=1e-5)
