"""Simulated servers that no form describes agree with exact laws where there are any."""

import math

import numpy as np
import pytest

from tests.support.cases import mostly_slow
from tests.support.strange_servers import (
    TRIED,
    Ageing,
    Connections,
    Convoy,
    Crowding,
    Fork,
    Pausing,
    Pool,
    Priorities,
    SlowStart,
    poisson,
    saturated_rate,
)

REQUESTS, BATCHES, DEVIATIONS = 150_000, 30, 4
"""A mean lies within 4 of its own standard errors; seeds are fixed."""

SERVICE, MORE = 1.0, 0.4
"""Of a request; and what is added to it."""


def assert_mean(server, rate, law):
    random = np.random.default_rng(5)
    times = server.responses(poisson(rate, REQUESTS, random), random)[REQUESTS // 50 :]
    means = [part.mean() for part in np.array_split(times, BATCHES)]
    error = np.std(means, ddof=1) / BATCHES**0.5
    assert error < 0.04 * law
    assert abs(times.mean() - law) < DEVIATIONS * error


def pool_time(rate, service, workers):
    """Mean response time of M/M/m (Erlang, 1917)."""
    offered = rate * service
    terms = [offered**n / math.factorial(n) for n in range(workers)]
    last = offered**workers / math.factorial(workers) / (1 - offered / workers)
    return service + last / (sum(terms) + last) * service / (workers - offered)


def mixed_wait(rate, first, second):
    """Mean wait of M/G/1 by two moments of its times (Pollaczek and Khinchine)."""
    return rate * second / 2 / (1 - rate * first)


def exceptional_time(rate, first, usual):
    """Mean response time of M/G/1 whose busy periods begin with another time (Welch, 1964)."""
    (f, f2), (u, u2) = first, usual
    share = rate * f / (1 - rate * u + rate * f)  # of requests that find the server busy
    wait = rate * u2 / 2 / (1 - rate * u) + rate * (f2 - u2) / 2 / (1 - rate * u + rate * f)
    return wait + (1 - share) * f + share * u


POOLS = {
    "itself": Pool(3, SERVICE),
    "no pauses": Pausing(3, SERVICE, 1e15, 0.0),
    "no lock": Convoy(3, SERVICE, 0.0, 0.0),
    "equal classes": Priorities(3, SERVICE, SERVICE, 0.4, only_low=False),
    "entries that never expire": Ageing(3, SERVICE, 1, 5.0, 10, 1e15),
    "never slower": SlowStart(3, SERVICE, 0.0, 1.0),
    "one backend that takes no time": Fork((3, 2), (SERVICE, 0.0)),
    "one tier that takes no time": Connections(100, (3, 2), (SERVICE, 0.0)),
    "no more connections than workers": Connections(3, (5, 5), (SERVICE, 0.0)),
    "sharing without overhead": Crowding(3, SERVICE, 0.0, 500),
    "as many threads as processors": Crowding(3, SERVICE, 0.7, 3),
}


@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize("load", mostly_slow([0.3, 0.8], {0.8}))
def test_each_is_a_pool_where_its_mechanism_is_absent(name, load):
    rate = 3 * load / SERVICE
    assert_mean(POOLS[name], rate, pool_time(rate, SERVICE, 3))


@pytest.mark.parametrize("rate", [0.2, 0.6])
def test_pauses_of_one_worker(rate):
    """Completion times, and the rest of a pause met (Avi-Itzhak and Naor, 1963)."""
    server = Pausing(1, SERVICE, 40.0, 8.0)
    slower = 1 + server.pause / server.interval
    second = 2 * (SERVICE * slower) ** 2 + SERVICE * server.pause**2 / server.interval
    met = server.pause**2 / 2 / (server.interval + server.pause)
    law = SERVICE * slower + mixed_wait(rate, SERVICE * slower, second) + met
    assert server.capacity == pytest.approx(1 / (SERVICE * slower))
    assert_mean(server, rate, law)


@pytest.mark.parametrize("rate", [0.2, 0.6])
def test_a_lock_that_is_all_there_is(rate):
    """Only requests that waited for it take the time of a hand-over."""
    handed = SERVICE + MORE, 2 * SERVICE**2 + 2 * SERVICE * MORE + MORE**2
    server = Convoy(10_000, 0.0, SERVICE, MORE)
    assert_mean(server, rate, exceptional_time(rate, (SERVICE, 2 * SERVICE**2), handed))


@pytest.mark.parametrize("rate", [0.2, 0.6])
def test_a_worker_that_cools_at_once(rate):
    cold = SERVICE * (1 + MORE)
    server = SlowStart(1, SERVICE, MORE, 1e-9)
    assert_mean(server, rate, exceptional_time(rate, (cold, 2 * cold**2), (1.0, 2.0)))


def test_the_low_class_waits_for_the_high():
    """One worker, no pre-emption (Cobham, 1954)."""
    high, rate = 0.5, 0.9
    server = Priorities(1, high, SERVICE, 0.4, only_low=True)
    before, all_busy = rate * 0.4 * high, rate * (0.4 * high + 0.6 * SERVICE)
    left = rate * (0.4 * high**2 + 0.6 * SERVICE**2)
    assert server.capacity == pytest.approx(rate / all_busy)
    assert_mean(server, rate, SERVICE + left / (1 - before) / (1 - all_busy))


def test_a_cache_whose_entries_expire_at_once_sends_all_to_the_disks():
    rate = 1.5
    law = pool_time(rate, SERVICE, 3) + pool_time(rate, 1.1, 2)  # Jackson, 1957
    assert_mean(Ageing(3, SERVICE, 2, 1.1, 100, 0.0), rate, law)


def test_misses_are_one_in_a_lifetime():
    """A key is fetched, lives, and is missed by the next request: a renewal process."""
    server, rate = Ageing(500, SERVICE, 500, 5.0, 50, 20.0), 4.0
    assert_mean(server, rate, SERVICE + 5.0 * server.missing(rate) / rate)


@pytest.mark.parametrize("load", [0.3, 0.8])
def test_a_fork_of_two_equal_servers(load):
    """Nelson and Tantawi, 1988."""
    law = (12 - load) / 8 * SERVICE / (1 - load)
    assert_mean(Fork((1, 1), (SERVICE, SERVICE)), load / SERVICE, law)


def test_connections_enough_make_two_tiers_in_turn():
    rate = 0.7
    law = pool_time(rate, SERVICE, 1) + pool_time(rate, 2.0, 2)
    assert_mean(Connections(10_000, (1, 2), (SERVICE, 2.0)), rate, law)


def test_one_connection_makes_both_tiers_one_server():
    rate, other = 0.4, 0.7
    mean = SERVICE + other
    law = mean + mixed_wait(rate, mean, mean**2 + SERVICE**2 + other**2)
    assert_mean(Connections(1, (2, 2), (SERVICE, other)), rate, law)


def test_sharing_with_overhead_is_a_birth_and_death_chain():
    server, rate = Crowding(2, SERVICE, 0.1, 8), 0.9
    steps = np.append(server.rates()[1:], np.full(2000, server.capacity))
    weights = np.append(1.0, np.cumprod(rate / steps))
    inside = weights @ np.arange(len(weights)) / weights.sum()
    assert server.capacity == pytest.approx(2 / SERVICE / 1.6)
    assert_mean(server, rate, inside / rate)


def test_saturated_rates():
    """Of a contended lock, and of two single servers among which three jobs go round."""
    assert saturated_rate(Convoy(9, 0.0, SERVICE, MORE)) == pytest.approx(1 / 1.4, rel=0.02)
    held = Connections(3, (1, 1), (SERVICE, SERVICE))
    assert saturated_rate(held) == pytest.approx(3 / 4 / SERVICE, rel=0.02)


@pytest.mark.parametrize("kind", TRIED)
def test_each_kind_keeps_up_to_its_capacity(kind):
    """Below it, a run lasts hardly longer than its arrivals; above, as long as the work does."""
    for seed in range(3):
        server = TRIED[kind].drawn(np.random.default_rng(seed))
        random = np.random.default_rng(seed)
        arrivals = poisson(1.25 * server.capacity, 30_000, random)
        times = server.responses(arrivals, random)
        if len(times) == len(arrivals):  # else only some are measured
            last = float((arrivals + times).max())
            assert len(arrivals) / last == pytest.approx(server.capacity, rel=0.1)
        arrivals = poisson(0.5 * server.capacity, 30_000, random)
        assert server.responses(arrivals, random).max() < 0.2 * arrivals[-1]
