"""A throughput falls where it does so by more than it scatters, and not elsewhere."""

import numpy as np
import pytest

from headway.models.auditing.runs import falls
from headway.models.measured.points import Loop, Point
from tests.campaigns import false_falls

CLIENTS = (1, 2, 3, 4, 6, 8, 12, 16, 24)


def sweep(rates, clients=CLIENTS, **more):
    return false_falls.sweep(rates, clients, **more)


def found(points):
    return list(falls(points))


def test_noise_is_no_overload():
    """A quota of processor time, as memtier measured it: up and down by factors."""
    rates = [13651, 1296, 13751, 7963, 17427, 28214, 7462, 17924, 10480]
    assert found(sweep(rates)) == []


@pytest.mark.parametrize(
    ("rates", "fall"),
    [
        ([100, 190, 270, 330, 400, 380, 330, 280, 200], 0.5),
        ([100, 190, 270, 330, 400, 394, 384, 366, 340], 0.15),
        ([50, 90, 60], 1 / 3),
    ],
)
def test_a_fall_is_found_with_its_size_and_its_points(rates, fall):
    (finding,) = found(sweep(rates))
    assert finding.value == pytest.approx(fall, rel=1e-6)
    peak = max(rates)
    past = [k for k, rate in enumerate(rates) if k > rates.index(peak) and rate < 0.95 * peak]
    assert list(finding.points) == past


def test_repeats_show_the_scatter():
    """The same fall of a fifth: beside repeats that agree, and beside some that do not."""
    clients, rates = (1, 2, 4, 8, 16), (100, 180, 300, 400, 320)
    for spread, count in ((0.01, 1), (0.4, 0)):
        ends = [rate * (1 + part) for rate in rates for part in (-spread, 0.0, spread)]
        assert len(found(sweep(ends, np.repeat(clients, 3)))) == count


def test_few_requests_scatter_by_their_number():
    rates = (100, 180, 300, 400, 320)
    assert found(sweep(rates, samples=400.0)) == []
    assert len(found(sweep(rates, samples=40_000.0))) == 1


def test_clients_that_give_up_make_no_server_slower():
    """Successes fall to a third, but as many requests finish: those that timed out count."""
    done = ((100, 0), (196, 0), (66, 230))
    points = [
        Point("vegeta", Loop.OPEN, rate, throughput=x, errors=4.0 * bad, duration=4.0, samples=1e4)
        for rate, (x, bad) in zip((100.0, 200.0, 300.0), done, strict=True)
    ]
    assert found(points) == []


@pytest.mark.parametrize("count", [5, 9])
@pytest.mark.parametrize("scatter", [0.03, 0.05])
def test_curves_that_do_not_fall_are_seldom_said_to(count, scatter):
    """Flat, saturating, or with a knee: a slice of the table of docs/accuracy/fits.md."""
    assert false_falls.alarms(count, scatter, 60) <= 0.04
