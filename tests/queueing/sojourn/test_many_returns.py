"""One exponential server to which jobs come back very often: as exact as few passes, and quick."""

import mpmath
import numpy as np
import pytest

from headway.models import parse_model
from headway.queueing.times.feedback import Feedback, _nodes
from headway.queueing.times.laws import gamma
from tests.support.cases import mostly_slow

EXACT = 1e-12


def by_passes(queue, s):
    """E[exp(-s T)] pass by pass with forty digits, from what is ahead after each."""
    with mpmath.workdps(40):
        p, busy = mpmath.mpf(queue.chance), mpmath.mpf(queue.arrival_rate * queue.mean)
        busy, x = busy / (1 - p), mpmath.mpc(s) * queue.mean
        before, now, total = 1 - busy, 1 + x - busy, mpmath.mpc(0)
        share = (1 - p) * (1 - busy)
        for _ in range(int(-45 / mpmath.log(p))):
            total += share / now
            share *= p
            after = (1 + p + x + busy * (1 - p)) * now - (p * (1 + x) + busy * (1 - p)) * before
            before, now = now, after
        return complex(total)


@pytest.mark.parametrize("chance", mostly_slow([0.3, 0.95, 0.99], 2))
@pytest.mark.parametrize("busy", [0.2, 0.999])
def test_any_number_of_passes_is_summed_exactly(chance, busy):
    queue = Feedback(busy * (1 - chance), chance, gamma(1.0, 1.0), 1.0, 1.0)
    size = 1 / queue.mean_time
    points = size * np.array([1e-3, 1 + 1j, 2 + 40j, 2 + 900j]) + 0j
    right = [by_passes(queue, s) for s in points]
    assert queue.transform(points) == pytest.approx(np.array(right), rel=EXACT)
    assert queue.transform(points) == pytest.approx(sum(queue._passes(points)), rel=1e-11)


def test_thirty_thousand_passes_take_some_hundred_nodes():
    """The p99 of a server 99.9% busy to which 999 of 1,000 come back took 38 s."""
    nodes = [passes for passes, _ in _nodes(32_000, 1e-3)]
    assert sum(map(len, nodes)) < 600


def test_percentiles_where_nearly_all_come_back_are_those_of_shared_servers():
    """A job that comes back ever so often shares the server; 1% at 999 returns on average."""
    text = (
        'name = "loop"\n[parameters]\narrival_rate = {rate}\n[stations.q]\nkind = "MM1"\n'
        "service_time = {time}\n"
    )
    back = '[[routes]]\nfrom = "q"\nto = "q"\nprobability = 0.999\n'
    often = parse_model(text.format(rate=0.8, time=0.001) + back)
    shared = parse_model(text.format(rate=0.8, time=1.0) + 'discipline = "ps"\n')
    name = "response_time_p99"
    result, right = (model.solve().answering(name)[name] for model in (often, shared))
    assert result == pytest.approx(float(right), rel=0.01)
