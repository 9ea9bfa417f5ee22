"""Forward equations against scipy's integrators and closed laws, and what arrivals wait."""

from math import inf

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from headway.errors import InvalidParameter
from headway.queueing.transient.drain import drain
from headway.queueing.transient.forward import Numbers, Piece, exactly, forward, steady
from headway.queueing.transient.pade import pade
from headway.queueing.transient.service import Service
from headway.queueing.transient.systems import step
from tests.support.cases import mostly_slow

DAYS = 50
CLOSE = 1e-6


def random_day(seed):
    """Pieces of a small queue, some above capacity, and a start."""
    draw = np.random.default_rng(seed)
    servers, places = int(draw.integers(1, 6)), int(draw.integers(6, 40))
    time = float(draw.choice([0.01, 1.0, 30.0]))
    pieces = []
    for _ in range(4):
        own = int(draw.integers(1, servers + 1))
        speeds = tuple(np.sort(draw.uniform(0.2, own, 5)) / time) if seed % 3 == 0 else ()
        service = Service(time, own, places, speeds)
        rate = float(draw.uniform(0, 1.6)) * service.fastest
        pieces.append(Piece(float(draw.uniform(0.1, 40)) * time, rate, service))
    return pieces, int(draw.integers(0, places + 1))


def integrated(pieces, start, places):
    """Probabilities at the end, and mean number times time, by another integrator."""
    number = np.arange(places + 1.0)
    state = np.zeros(places + 2)
    state[start] = 1.0
    for piece in pieces:
        served, came = piece.service.rates(number), np.full(places + 1, piece.rate)
        came[-1] = 0.0

        def change(_time, state, served=served, came=came):
            p = state[:-1]
            slope = -(served + came) * p
            slope[:-1] += (served * p)[1:]
            slope[1:] += (came * p)[:-1]
            return np.append(slope, number @ p)

        solved = solve_ivp(change, (0, piece.length), state, "LSODA", rtol=1e-10, atol=1e-13)
        state = solved.y[:, -1]
    return state[:-1], state[-1]


@pytest.mark.parametrize("part", mostly_slow(range(5), 1))
def test_random_days_are_as_another_integrator_has_them(part):
    for seed in range(part, DAYS, 5):
        pieces, start = random_day(seed)
        places = int(pieces[0].service.places)
        steps = list(forward(pieces, exactly(start)))
        exact, area = integrated(pieces, start, places)
        found = steps[-1].end.within(0, places + 1).chances
        assert np.abs(found - exact).sum() < CLOSE
        assert sum(step.spent.mean for step in steps) == pytest.approx(area, rel=CLOSE)
        time = sum(piece.length for piece in pieces)
        assert sum(step.spent.chances.sum() for step in steps) == pytest.approx(time, rel=1e-7)


def test_a_queue_that_grows_without_limit_keeps_its_balance():
    """E[N] grows by lambda - m mu (1 - idle): beyond capacity for long, by their difference."""
    pieces = [Piece(30.0, 150.0, Service(0.01, 1))]
    *_, last = forward(pieces, exactly(100))
    assert last.end.mean == pytest.approx(100 + 30 * 50, rel=1e-6)
    spread = (last.end.numbers**2) @ last.end.chances - last.end.mean**2
    assert spread == pytest.approx(30 * 250, rel=1e-4)  # independent Poisson flows


def test_long_pieces_end_in_the_steady_state():
    for service, rate in (
        (Service(0.1, 1), 9.0),
        (Service(1.0, 5), 4.0),
        (Service(1.0, 2, 7), 3.0),
    ):
        law = steady(rate, service)
        *_, last = forward([Piece(5000 * service.time, rate, service)], exactly(0))
        top = len(law.chances)
        assert np.abs(last.end.within(0, top).chances - law.chances).sum() < CLOSE


def test_a_steady_state_has_the_law_of_m_m_1():
    law = steady(8.0, Service(0.1))
    assert law.chances[:40] == pytest.approx(0.2 * 0.8 ** np.arange(40), rel=1e-9)
    assert steady(10.0, Service(0.1)) is None
    assert steady(0.0, Service(0.1)).mean == 0


@pytest.mark.parametrize("degree", range(1, 6))
def test_approximants_have_their_order(degree):
    by = pade(degree)
    assert sum(by.weights / -by.poles).real == pytest.approx(1, abs=1e-11)
    errors = [abs(sum(by.weights / (z - by.poles)).real - np.exp(z)) for z in (-0.4, -0.2)]
    assert errors[1] < max(errors[0] / 2 ** (2 * degree - 0.5), 1e-11)


def test_moments_of_a_time_average_are_as_the_exponential_of_their_blocks():
    """The busy share and the number of arrivals over a step, where the queue then is so long."""
    draw = np.random.default_rng(3)
    states = 9
    came, served = draw.uniform(0, 3, (2, states))
    came[-1] = served[0] = 0.0
    rates = np.diag(came[:-1], -1) + np.diag(served[1:], 1) - np.diag(came + served)
    busy, jumps = draw.uniform(0, 1, states), came / 7
    seen, none = np.diag(busy) + np.diag(jumps[:-1], -1), 0 * rates
    each = np.diag(jumps[:-1] / 7, -1)
    whole = np.block([[rates, none, none], [seen, rates, none], [each, 2 * seen, rates]])
    starts = draw.uniform(0, 1, (states, 2))
    state = np.zeros((states, 3, 2))
    state[:, 0] = starts
    end, _, spent = step(came, served, 0.4, state, np.array([[busy, jumps, jumps / 7]]))
    exact = expm(0.4 * whole) @ np.concatenate([starts, 0 * starts, 0 * starts])
    assert np.abs(end - exact.reshape(3, states, 2).transpose(1, 0, 2)).max() < CLOSE
    assert spent.sum(axis=0) == pytest.approx(0.4 * starts.sum(axis=0), rel=1e-9)


@pytest.mark.parametrize("servers", [1, 2, 7])
@pytest.mark.parametrize("met", [0, 3, 25])
def test_arrivals_wait_as_their_own_chain_does(servers, met):
    """One that meets n is served after n - m + 1 departures at rate m / S: a chain of phases."""
    ahead = max(met - servers + 1, 0)
    phases = np.diag([-float(servers)] * ahead + [-1.0])
    phases += np.diag([float(servers)] * ahead, 1)
    service = Service(1.0, servers)
    for time in (0.0, 0.3, 2.0, 9.0):
        exact = expm(phases * time)[0].sum()
        assert service.tails(met, met, time)[0] == pytest.approx(exact, abs=1e-10)
    mean = np.linalg.solve(-phases, np.ones(ahead + 1))[0]
    assert service.mean_times(np.array([float(met)]))[0] == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize(
    ("jobs", "rate", "servers"), [(101, 5.0, 1), (2000, 350.0, 4), (30, 0.0, 3)]
)
def test_a_backlog_lasts_as_busy_periods_do(jobs, rate, servers):
    """From n to m: mean (n - m) / (m mu - lambda), variance (n - m) (m mu + lambda) / (...)^3."""
    service = Service(0.1 if servers == 1 else 0.01, servers)
    free = service.fastest - rate
    mean, spread = (jobs - servers) / free, (jobs - servers) * (service.fastest + rate) / free**3
    law = drain([Piece(10 * mean, rate, service)], exactly(jobs), servers)
    assert law.mean == pytest.approx(mean, rel=2e-4)
    middle, low, high = (law.percentile(p) for p in (50, 2.5, 97.5))
    skew = 0.05 * (high - low)
    assert abs(middle - mean) < skew + 0.1 * np.sqrt(spread)
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(spread), rel=0.05)


def test_a_backlog_above_capacity_lasts_to_the_end():
    law = drain([Piece(10.0, 200.0, Service(0.01, 1))], exactly(500), 1)
    assert law.percentile(50) == inf
    assert law.left[-1] > 0.999


def test_places_may_become_fewer_only_below_what_is_there():
    many, few = Service(0.01, 60, places=81), Service(0.01, 2, places=23)

    def end(rate):
        pieces = [Piece(1.0, rate, many), Piece(1.0, rate, few)]
        return [step.end for step in forward(pieces, exactly(0)) if step.is_last][-1]

    kept = end(100.0)  # about one job, then M/M/2/23
    same = steady(100.0, few).within(kept.first, kept.first + len(kept.chances))
    assert kept.chances == pytest.approx(same.chances, abs=1e-6)
    with pytest.raises(InvalidParameter, match="its places become 23 while more jobs"):
        end(9000.0)


def test_numbers_are_cut_and_widened():
    numbers = Numbers(3, np.array([0.5, 0.5]))
    assert numbers.within(4, 6).chances.tolist() == [0.5, 0.0]
    assert numbers.mean == 3.5
