"""Waiting of requests that come in bunches, and threads and work by rates where they do."""

from math import sqrt

import numpy as np
import pytest

from headway.kinds import FloatArray
from headway.models.tracing.bunches import MANY, Met, alone
from tests.campaigns.trace_bunches import Asked, held

BATCHES = {
    "pairs": np.array([0.0, 0.0, 1.0]),
    "one or five": np.array([0.0, 0.7, 0.0, 0.0, 0.0, 0.3]),
    "up to four": np.array([0.0, 0.4, 0.3, 0.2, 0.1]),
}
"""Probability of each number of requests that one trace makes at once."""


def met_of(sizes: FloatArray) -> Met:
    """What requests find of their own batch: the k before them."""
    mean = float(np.arange(len(sizes)) @ sizes)
    chance = np.array([sizes[k + 1 :].sum() for k in range(len(sizes) - 1)]) / mean
    return Met(chance, np.array([np.arange(len(chance)) @ chance]), np.ones(1))


def waiting_of_chain(sizes: FloatArray, threads: int, offered: float, most: int = 400) -> float:
    """W / H in M^X/M/m from its chain's balance equations, with at most so many requests.

    H is 1; batches come at the offered load over their mean size.
    """
    mean = float(np.arange(len(sizes)) @ sizes)
    rates = np.zeros((most + 1, most + 1))
    for n in range(most + 1):
        for size, chance in enumerate(sizes):
            rates[n, min(n + size, most)] += offered / mean * chance
        if n:
            rates[n, n - 1] += min(n, threads)
    np.fill_diagonal(rates, rates.diagonal() - rates.sum(axis=1))
    chances = np.linalg.solve(
        np.vstack([rates.T[:-1], np.ones(most + 1)]), np.append(np.zeros(most), 1.0)
    )
    return float(np.arange(most + 1) @ chances - offered) / offered


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("sizes", BATCHES.values(), ids=BATCHES)
def test_waiting_of_batches_is_that_of_their_chain(sizes: FloatArray, threads: int) -> None:
    for share in (0.2, 0.7):
        found = float(met_of(sizes).waiting(threads, np.array([share * threads]))[0])
        assert found == pytest.approx(waiting_of_chain(sizes, threads, share * threads), rel=1e-8)


def test_who_comes_alone_waits_by_erlangs_formula() -> None:
    offered = np.linspace(0.1, 2.9, 8)
    one_by_one = Met(np.array([1.0, 0.0]), np.zeros(1), np.ones(1))
    assert one_by_one.waiting(3, offered) == pytest.approx(alone(3, offered), rel=1e-9)
    assert Met.nobody().waiting(3, offered) == pytest.approx(alone(3, offered), rel=1e-12)


@pytest.mark.parametrize("pace", [[1.3, 0.9, 0.5, 0.0], [1.0, 1.2, 0.7], [0.8, 1.1] * 4 + [0.9]])
def test_waiting_by_how_many_are_there_is_that_of_the_chain(pace: list[float]) -> None:
    """Requests come the more or less often the more are there, and take the longer."""
    threads, offered, longer, most = 3, 1.4, 0.08, 300
    numbers = np.arange(most + 1)
    held = 1 + longer * (np.minimum(numbers, threads) - 1 - offered)
    comes = offered * np.append(pace, np.full(most, pace[-1]))[:most]
    goes = (np.minimum(numbers, threads) / held)[1:]
    chances = np.append(1.0, np.cumprod(comes / goes))
    busy, there = (chances @ each for each in (np.minimum(numbers, threads), numbers))
    met = Met(np.ones(1), np.zeros(1), np.array(pace))
    found = met.waiting(threads, np.array([offered]), longer=longer)
    assert found == pytest.approx([there / busy - 1], rel=1e-9)


def test_times_that_vary_less_wait_as_in_m_g_m() -> None:
    """With constant times nearly half as long; where few ask, by the same share of their waits."""
    few = Met(np.ones(1), np.zeros(1), np.array([1.1, 0.9, 0.4, 0.0]))
    offered = np.array([1.2])
    usual, steady = (alone(2, offered, scv) for scv in (1.0, 0.0))
    assert 0.5 < float(steady[0] / usual[0]) < 0.6
    assert few.waiting(2, offered, 0.0) / few.waiting(2, offered) == pytest.approx(steady / usual)
    assert Met.nobody().waiting(2, offered, 0.0) == pytest.approx(steady)


def test_of_many_threads_the_peakedness_says_nearly_as_much() -> None:
    """At the number up to which each bunch counts, both laws differ by less than the errors."""
    met = met_of(BATCHES["up to four"])
    offered = np.array([0.93, 0.97]) * MANY
    more = met.waiting(MANY + 1, offered * (MANY + 1) / MANY)
    assert more == pytest.approx(met.waiting(MANY, offered), rel=0.1)


def test_what_requests_find_of_their_own_trace_is_counted() -> None:
    draws = np.random.default_rng(5)
    came = np.sort(draws.uniform(0, 9, 60))
    answered, trace = came + draws.exponential(1.0, 60), draws.integers(0, 4, 60)
    found = [
        sum(trace[j] == trace[i] and answered[j] > came[i] for j in range(i)) for i in range(60)
    ]
    met = Met.of(came, answered, trace, np.ones(1))
    assert met.mean[0] == pytest.approx(np.mean(found))
    assert met.chance == pytest.approx(np.bincount(found) / 60)


def test_a_tenth_of_traces_shows_a_pool_that_each_asks_several_times_at_once() -> None:
    """Of 12 pools of up to four threads the intervals of threads and work hold 95%.

    They must to three standard errors. Without the law of bunches, a third to a half of the
    intervals held the work.
    """
    draws = np.random.default_rng(83)
    found = [held(draws, Asked(1 + k % 4, "fixed", 2 + k // 4), 4000) for k in range(12)]
    least = 0.95 - 3 * sqrt(0.95 * 0.05 / 12)
    assert np.mean([abs(each.work) < 1.96 for each in found]) > least
    assert np.mean([each.threads for each in found]) > least
