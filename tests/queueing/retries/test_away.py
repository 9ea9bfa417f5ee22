"""The chain of jobs and clients away: beside a dense one, and what attempts meet beside its law."""

import numpy as np
import pytest

from headway.queueing.retries.away import Asking, Meeting, meeting, passage
from headway.queueing.retries.times import TimedQueue


def test_the_chain_is_that_of_a_dense_one():
    """States (n, o) one by one, with all their moves written out; it ends where both are many."""
    load, delay, most, away = 1.3, 2.5, 3, 4
    served, late = np.array([1.0, 1.0, 0.7, 0.0]), np.array([0.1, 0.4, 0.9, 1.0])
    departs, h, q = np.array([0.0, 1.0, 2.0, 2.0]), 0.9, 0.6
    places = {(n, o): n * (away + 1) + o for n in range(most + 1) for o in range(away + 1)}
    ends = {state for state in places if state[0] >= 2 and state[1] >= 3}

    def moves(n, o):
        a, fails, joins, back = served[n], late[n], h * (o < away), o / delay
        yield (n + 1, o), load * a * (1 - joins * fails) + back * a * q * fails
        yield (n + 1, o + 1), load * joins * a * fails
        yield (n, o + 1), load * joins * (1 - a)
        yield (n + 1, o - 1), back * a * (1 - q * fails)
        yield (n, o - 1), back * (1 - a) * (1 - q)
        yield (n - 1, o), departs[n]

    generator = -np.eye(len(places))
    for state in places.keys() - ends:
        rates = {place: rate for place, rate in moves(*state) if rate}
        generator[places[state], places[state]] = -sum(rates.values())
        for place, rate in rates.items():
            generator[places[state], places[place]] += rate
    times = np.linalg.solve(generator, [0.0 if state in ends else -1.0 for state in places])
    over = np.array([[(n, o) in ends for n in range(most + 1)] for o in range(away + 1)])
    meet, asks = Meeting(served, late, departs), Asking(load, h, q, delay)
    for o, n in ((0, 0), (4, 1)):
        assert passage(meet, asks, over, (o, n)) == pytest.approx(times[places[n, o]], rel=1e-9)


@pytest.mark.parametrize(("servers", "oldest"), [(1, 7.0), (4, 5.6), (8, 1.4)])
def test_jobs_that_drop_fail_as_in_their_queue(servers, oldest):
    """The chain's turns have one size, so it is near M/M/m+D at one rate: within 0.05 in all."""
    queue = TimedQueue(1.0, servers, 6.0, oldest)
    meet = meeting(queue, 10**6)
    for rate in (0.8 * servers, 1.2 * servers, 3.0 * servers):
        chances = np.cumprod(np.r_[1.0, rate * meet.served[:-1] / meet.departs[1:]])
        fails = chances @ (1 - meet.served * (1 - meet.late)) / chances.sum()
        assert fails == pytest.approx(queue.at(rate).late, abs=0.05)


def test_a_queue_that_drops_nothing_takes_all():
    meet = meeting(TimedQueue(1.0, 2, 3.0), 9)
    assert meet.served.tolist() == [1.0] * 10
    assert meet.late[0] == pytest.approx(np.exp(-3.0))
