"""M/M/m+M against its closed law, its whole chain, and the limits in which it is another queue."""

import mpmath
import numpy as np
import pytest
from scipy.stats import poisson

from headway.errors import InvalidParameter
from headway.queueing import erlang_a, erlang_b, erlang_c

POINTS = [
    (1, 0.5, 1.0),
    (1, 3.0, 0.1),
    (2, 1.8, 4.0),
    (10, 12.0, 2.0),
    (50, 45.0, 0.3),
    (100, 130.0, 20.0),
    (400, 400.0, 1000.0),
    (3, 1e-6, 5.0),
]


def closed(servers, load, patience):
    """The law by an incomplete gamma function (Garnett, Mandelbaum and Reiman, 2002), 60 digits."""
    with mpmath.workdps(60):
        load, patience = mpmath.mpf(load), mpmath.mpf(patience)
        x, y = load * patience, servers * patience
        a = y * mpmath.exp(x) / x**y * mpmath.gammainc(y, 0, x)
        states = sum(
            mpmath.exp(k * mpmath.log(load) - mpmath.loggamma(k + 1)) for k in range(servers + 1)
        )
        b = mpmath.exp(servers * mpmath.log(load) - mpmath.loggamma(servers + 1)) / states
        waits = a * b / (1 + (a - 1) * b)
        busy = load / servers
        leaves = waits * (1 / (busy * a) + 1 - 1 / busy)
        return float(waits), float(leaves), float(leaves * patience)


@pytest.mark.parametrize(("servers", "load", "patience"), POINTS)
def test_its_closed_law(servers, load, patience):
    found = erlang_a(servers, load, patience)
    numbers = (found.waiting_probability, found.abandonment, found.waiting_time)
    assert numbers == pytest.approx(closed(servers, load, patience), rel=1e-10)


@pytest.mark.parametrize(
    ("servers", "load", "patience"), [(1, 0.5, 1.0), (2, 1.8, 4.0), (4, 9.0, 0.5)]
)
def test_its_whole_chain(servers, load, patience):
    """Chances by linear equations over 200 jobs, whose ends have no weight."""
    count = np.arange(200)
    down = np.minimum(count, servers) + np.maximum(count - servers, 0) / patience
    flow = np.diag(np.full(199, load), -1) + np.diag(down[1:], 1)
    balance = flow - np.diag(flow.sum(axis=0))
    balance[0] = 1.0
    chances = np.linalg.solve(balance, np.eye(1, 200).ravel())
    found = erlang_a(servers, load, patience)
    waiting = chances @ np.maximum(count - servers, 0)
    carried = chances @ np.minimum(count, servers)
    assert found.waiting_probability == pytest.approx(chances[servers:].sum(), rel=1e-9)
    assert found.waiting_time == pytest.approx(waiting / load, rel=1e-9)
    assert found.abandonment == pytest.approx(1 - carried / load, rel=1e-9, abs=1e-12)


def test_patience_of_a_service_time_makes_the_number_poisson():
    """Every job leaves at the same rate, served or not: M/M/inf."""
    found = erlang_a(7, 5.0, 1.0)
    assert found.waiting_probability == pytest.approx(poisson.sf(6, 5.0), rel=1e-12)


def test_no_patience_and_endless_patience():
    """Those who never wait are lost, as at M/M/m/m; those who always wait stay, as at M/M/m."""
    assert erlang_a(4, 3.0, 1e-9).abandonment == pytest.approx(erlang_b(4, 3.0), rel=1e-8)
    patient = erlang_a(4, 3.0, 3e6)
    assert patient.waiting_probability == pytest.approx(erlang_c(4, 3.0), rel=1e-5)
    assert patient.waiting_time == pytest.approx(erlang_c(4, 3.0) / (4 - 3.0), rel=1e-5)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((1.5, 1.0, 1.0), "servers is 1.5"),
        ((1, 0.0, 1.0), "offered_load is 0"),
        ((1, 1.0, -2.0), "patience is -2"),
        ((1, 1e4, 1e4), "1e7 at most; give a shorter patience"),
    ],
)
def test_numbers_outside_its_domain(given, words):
    with pytest.raises(InvalidParameter, match=words):
        erlang_a(*given)
