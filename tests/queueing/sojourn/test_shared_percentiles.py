"""Percentiles where all who are at a station share its servers."""

import cmath

import numpy as np
import pytest
from scipy.integrate import quad

from headway.models import ModelGraph
from headway.queueing import MM1, Delay, MMm
from headway.queueing.times.inversion import percentile_of
from headway.queueing.times.processor_sharing import exponential
from headway.queueing.times.processor_sharing.exponential import exponential_sharing_law
from tests.campaigns.percentile_errors import SHARING, sharing_errors
from tests.oracles.passage_chain import shared_percentiles
from tests.queueing.sojourn.test_closed_percentiles import stated


def coffman(busy, s):
    """E[exp(-s T)] of M/M/1 with shared server and mean 1: their transform given the service."""
    whole = busy + 1 + s
    root = (whole - cmath.sqrt(whole * whole - 4 * busy)) / (2 * busy)

    def given(x):
        top = (1 - busy) * (1 - busy * root**2) * cmath.exp(-(busy * (1 - root) + s) * x)
        fall = cmath.exp(-(1 / root - busy * root) * x)
        below = (1 - busy * root) ** 2 - busy * (1 - root) ** 2 * fall
        return (top / below).real * np.exp(-x)

    return quad(given, 0, 60, epsabs=1e-13, epsrel=1e-13, limit=500)[0]


@pytest.mark.parametrize("busy", [0.3, 0.8, 0.95])
def test_one_server_has_the_transform_of_coffman_muntz_and_trotter(busy):
    law = exponential_sharing_law(busy, 1.0, 1.0, 1)
    for s in (0.01, 0.5, 3.0):
        real = complex(law.transform(np.array([s + 0j]))[0]).real
        assert real == pytest.approx(coffman(busy, s), rel=1e-12)
    assert law.mean == pytest.approx(1 / (1 - busy), rel=1e-11)


def test_moments_of_one_server():
    """Variance over squared mean is (2 + U) / (2 - U)."""
    law, h = exponential_sharing_law(0.8, 1.0, 1.0, 1), 1e-4
    low, mid, high = law.transform(np.array([0.0, h, 2 * h]) + 0j).real
    second = (high - 2 * mid + low) / h**2
    assert second / law.mean**2 - 1 == pytest.approx(2.8 / 1.2, rel=0.02)


def test_classes_of_one_time_have_the_law_of_one_class():
    def shop(**given):
        return ModelGraph("shop").station("cpu", MMm(0.1, 2), visits=1, discipline="ps", **given)

    two = shop().job_class("a", arrival_rate=6.0).job_class("b", arrival_rate=8.0).at().solve()
    one = ModelGraph("one").station("cpu", MMm(0.1, 2), discipline="ps").at(arrival_rate=14.0)
    alone = one.solve()
    expected = percentile_of(exponential_sharing_law(14.0, 0.1, 0.1, 2), 0.99)
    for answer in (two["class a.response_time_p99"], alone["response_time_p99"]):
        assert answer == pytest.approx(expected, rel=1e-9)
    assert alone.with_percentile(99).approximation == ""


def test_who_shares_waits_longer_in_the_tail_than_in_order():
    def p99(discipline):
        graph = (
            ModelGraph("web")
            .station("net", Delay(0.1))
            .station("cpu", MM1(0.1), discipline=discipline)
        )
        return graph.route("net", "cpu").at(arrival_rate=8.0).solve()["response_time_p99"]

    assert p99("ps") == pytest.approx(
        0.1 + percentile_of(exponential_sharing_law(8.0, 0.1, 0.1, 1), 0.99)
    )
    assert p99("ps") > p99("fcfs")


def test_classes_of_other_times_are_within_what_is_said():
    text = stated()[SHARING]
    worst = 100 * np.abs(sharing_errors(3)).max(axis=0)
    assert (worst <= np.array(text) + 0.005).all()


def test_two_kinds_of_jobs_have_the_law_of_the_whole_chain():
    """The chain is cut where 1e-5 of the chance is left."""
    rates, times = np.array([0.3, 0.05]), np.array([1.0, 5.0])
    law = exponential_sharing_law(rates, times, 1.0, 1)
    exact = shared_percentiles(rates, times, 1, (0.5, 0.95, 0.99, 0.999))
    values = [percentile_of(law, share) for share in (0.5, 0.95, 0.99, 0.999)]
    assert values == pytest.approx(exact, rel=1e-4)
    assert law.mean == pytest.approx(1 / (1 - 0.55), rel=1e-7)
    assert law.notes == ()


def test_many_kinds_count_as_fewer_near_saturation(monkeypatch):
    """Less than 1% off where the nearest are joined, as is said."""
    rates, times = np.array([0.1, 0.05, 0.02]), np.array([1.0, 2.0, 8.0])
    exact = exponential_sharing_law(rates, times, 1.0, 1)
    monkeypatch.setattr(exponential, "_STATES", 2000)
    joined = exponential_sharing_law(rates, times, 1.0, 1)
    assert (exact.notes, joined.notes) == ((), (exponential.NEAREST,))
    for share in (0.5, 0.95, 0.99, 0.999):
        assert percentile_of(joined, share) == pytest.approx(percentile_of(exact, share), rel=0.01)
    monkeypatch.setattr(exponential, "_STATES", 0)
    assert exponential_sharing_law(rates, times, 1.0, 1).notes == (exponential.AS_ONE,)


def looped(chance, time):
    graph = ModelGraph("loop").station("cpu", MM1(time), discipline="ps")
    return graph.route("cpu", "cpu", chance) if chance else graph


def test_who_comes_straight_back_to_shared_servers_stays():
    """Visits that follow each other are one of their sum, which is exponential too."""
    again, once = looped(0.75, 0.1), looped(0, 0.4)
    name = "response_time_p99"
    assert again.at(arrival_rate=2.0).solve()[name] == pytest.approx(
        once.at(arrival_rate=2.0).solve()[name], rel=1e-9
    )
    assert again.at(arrival_rate=2.0).solve().with_percentile(99).approximation == ""
    assert again.at().closed(5, 1.0).solve()[name] == pytest.approx(
        once.at().closed(5, 1.0).solve()[name], rel=1e-9
    )


def test_classes_that_come_straight_back_to_shared_servers_stay():
    def classes(graph):
        graph = graph.job_class("a", arrival_rate=1.0).job_class("b", arrival_rate=0.5)
        return graph.at().solve()["class b.response_time_p99"]

    assert classes(looped(0.75, 0.1)) == pytest.approx(classes(looped(0, 0.4)), rel=1e-9)
