"""Chances back from transforms, against laws in closed form, far into the tail."""

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import gamma as gamma_law

from headway.queueing import MD1, MM1, MMm, StationVisits, path_percentile, response_time_percentile
from headway.queueing.times.inversion import percentile_of
from headway.queueing.times.laws import (
    Piece,
    TimeLaw,
    after_waiting,
    exponential,
    in_series,
    poisson_wait,
    repeated,
)
from headway.queueing.times.uniformisation import law_of_steps
from tests.oracles.time_oracles import crommelin, hypoexponential, pooled

TAIL = {0.5: 1e-11, 0.99: 1e-9, 0.999: 1e-8, 0.9999: 1e-7}
"""Relative error of the chance of being exceeded, ten times what was measured, by share."""

shares = pytest.mark.parametrize("share", TAIL)


def holds(chance, share):
    assert chance == pytest.approx(1 - share, rel=TAIL[share])


@shares
@pytest.mark.parametrize("count", [1, 3, 50, 5000])
def test_erlang_times(count, share):
    holds(gamma_law.sf(percentile_of(repeated(exponential(1.0), count), share), count), share)


@shares
def test_a_geometric_number_of_steps_is_exponential(share):
    """With steps at the rate 3, of which each is the last with the chance 0.3."""
    law = law_of_steps(3.0, 0.3 * 0.7 ** np.arange(60))
    holds(np.exp(-0.9 * percentile_of(law, share)), share)
    later = in_series(exponential(2.0), law)  # by its transform
    time = percentile_of(later, share)
    holds((2.0 * np.exp(-time / 2.0) - np.exp(-0.9 * time) / 0.9) / (2.0 - 1 / 0.9), share)


@pytest.mark.parametrize("count", [100, 100_000])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.99, 0.9995])
def test_times_in_narrow_steps(count, share):
    """A geometric number of turns, each of very many services: hardly any time is between."""
    turn = repeated(exponential(1 / count), count).pieces[0].transform
    law = TimeLaw((Piece(0.0, lambda s: 0.5 * turn(s) / (1 - 0.5 * turn(s))),), 2.0)
    time, turns = percentile_of(law, share), np.arange(1, 60)
    late = 0.5**turns @ gamma_law.sf(time, count * turns, scale=1 / count)
    assert late == pytest.approx(1 - share, abs=1e-9)


def either(chance, first, second):
    """Transform and mean of one of two exponential times."""
    mean = chance * first + (1 - chance) * second
    return lambda s: chance / (1 + s * first) + (1 - chance) / (1 + s * second), mean


@shares
@pytest.mark.parametrize("times", [(0.9, 1.0, 10.0), (0.99, 1.0, 100.0), (0.5, 0.01, 3.0)])
def test_hyperexponential_times(times, share):
    chance, first, second = times
    transform, mean = either(*times)
    time = percentile_of(TimeLaw((Piece(0.0, transform),), mean), share)
    holds(chance * np.exp(-time / first) + (1 - chance) * np.exp(-time / second), share)


def residues(rate, chance, first, second, at):
    """Chance of more than a time in M/H2/1, by the three poles of its transform, in 50 digits."""
    p, a, b, rate = (mp.mpf(each) for each in (chance, first, second, rate))
    mean = p * a + (1 - p) * b
    poles = [a * b, a + b - rate * a * b, 1 - rate * (a + b) + rate * (p * b + (1 - p) * a)]
    total = mp.mpf(0)
    for pole in mp.polyroots(poles, extraprec=100):
        top = (1 - rate * mean) * (p * (1 + pole * b) + (1 - p) * (1 + pole * a))
        slope = 2 * poles[0] * pole + poles[1]
        total -= top / slope * mp.exp(pole * at) / pole
    return float(total)


@shares
@pytest.mark.parametrize("times", [(0.9, 0.5, 3.0), (0.99, 0.5, 20.0)])
def test_a_queue_of_hyperexponential_services(times, share):
    service, mean = either(*times)
    chance, first, second = times
    scv = 2 * (chance * first**2 + (1 - chance) * second**2) / mean**2 - 1
    wait = poisson_wait(0.8 / mean, service, mean, scv)
    time = percentile_of(after_waiting(wait, service, mean), share)
    holds(residues(0.8 / mean, *times, time), share)


@shares
@pytest.mark.parametrize("busy", [0.05, 0.6, 0.89, 0.91, 0.95])
def test_constant_services(busy, share):
    time = response_time_percentile(MD1(1.0), busy, share)
    if time > 1 + 1e-9:  # else the jump of those who find nobody holds the percentile
        with mp.workdps(300):
            holds(crommelin(busy, 1.0, time), share)


@shares
@pytest.mark.parametrize(
    ("servers", "load"), [(1, 0.3), (2, 1.7), (8, 4.0), (30, 28.2), (200, 190)]
)
def test_pools(servers, load, share):
    time = response_time_percentile(MMm(1.0, servers), load, share)
    holds(pooled(servers, load, time), share)


@shares
def test_lines_of_unlike_servers(share):
    means = (0.1, 0.7, 1.0, 3.0)
    time = path_percentile([StationVisits(1, MM1(mean), 0.0) for mean in means], share)
    holds(hypoexponential(means, time), share)
