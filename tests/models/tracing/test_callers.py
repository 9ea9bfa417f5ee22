"""Waiting of requests whose callers have few threads, or that hold threads of others, by chains."""

from collections.abc import Iterator
from math import inf

import numpy as np
import pytest

from headway.kinds import FloatArray
from headway.models.tracing.bunches import Met
from headway.models.tracing.callers import Caller, Callers, pace_of
from headway.models.tracing.keys import keyed
from headway.models.tracing.rates import Seen, pool_by_rates
from headway.models.tracing.requests import requests_of
from headway.models.tracing.threads import threads_of
from tests.oracles.traced_services import Played, PlayedEntry, Stage, play
from tests.support.traced import read_of

State = tuple[int, int, int]


class Nested:
    """A pool whose requests ask another, as a Markov chain.

    Requests come to it at random; they work, then are answered or ask the other pool and work
    again. All times are exponential, and work takes 1 on average, so a request works 1 + asked.

    Parameters
    ----------
    rate, threads, asked
        Rate and threads of the first pool, and how often a request asks the other.
    below, time
        Threads of the other pool, and how long it works for a request.
    most
        Most requests that wait for the first pool.
    """

    def __init__(
        self, rate: float, threads: int, asked: float, below: int, time: float, most: int = 80
    ) -> None:
        self.rate, self.threads, self.asked, self.below, self.time = (
            rate,
            threads,
            asked,
            below,
            time,
        )
        states = [(0, there, n - there) for n in range(threads) for there in range(n + 1)]
        states += [(q, k, threads - k) for q in range(most + 1) for k in range(threads + 1)]
        number = {state: k for k, state in enumerate(states)}
        rates = np.zeros((len(states), len(states)))
        for state in states:
            for other, often in self.next(state):
                if other in number:
                    rates[number[state], number[other]] += often
        np.fill_diagonal(rates, rates.diagonal() - rates.sum(axis=1))
        balance, total = np.vstack([rates.T[:-1], np.ones(len(states))]), np.zeros(len(states))
        total[-1] = 1.0
        self.chance = np.linalg.solve(balance, total)
        self.waiting, self.there, self.elsewhere = np.array(states).T

    def next(self, state: State) -> Iterator[tuple[State, float]]:
        """States that may follow, and how often."""
        waiting, there, elsewhere = state
        full = there + elsewhere == self.threads
        yield (waiting + 1, there, elsewhere) if full else (0, there, elsewhere + 1), self.rate
        leaves = (waiting - 1, there, elsewhere) if waiting else (0, there, elsewhere - 1)
        if elsewhere:
            yield leaves, elsewhere / (1 + self.asked)
            asks = waiting, there + 1, elsewhere - 1
            yield asks, elsewhere * self.asked / (1 + self.asked)
        if there:
            yield (waiting, there - 1, elsewhere + 1), min(there, self.below) / self.time

    def mean(self, values: FloatArray) -> float:
        return float(values @ self.chance)

    @property
    def caller(self) -> Caller:
        """The first pool as it is measured, waiting for the other included."""
        return Caller(self.threads, self.mean(self.there), self.mean(self.elsewhere))

    def wait_below(self) -> float:
        """Mean waiting time at the other pool."""
        waiting = self.mean(np.maximum(self.there - self.below, 0))
        return waiting / (self.rate * self.asked)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_callers_ask_as_often_as_their_chain_where_nobody_waits(threads: int) -> None:
    """To half a percent: exactly where nobody waits for the callers, either."""
    nested = Nested(threads / 4, threads, 1.5, threads, 0.4)
    pace = pace_of([nested.caller], 0.0)
    often = []
    for n in range(threads):
        at = nested.there == n
        comes = nested.elsewhere[at] * nested.asked / (1 + nested.asked) @ nested.chance[at]
        often.append(comes / nested.chance[at].sum() / (nested.rate * nested.asked))
    assert pace == pytest.approx([*often, 0.0], rel=5e-3)


def test_many_callers_ask_at_random() -> None:
    assert pace_of([], 2.0).tolist() == [1.0]
    assert pace_of([Caller(60, 0.5, 1.0)], 0.0)[:8] == pytest.approx(1.0, rel=1e-9)
    with_others = pace_of([Caller(1, 0.2, 0.3)], 1.0)
    assert with_others[0] > 1 > with_others[-1] > 1.0 / 1.2


@pytest.mark.parametrize(("threads", "below"), [(2, 1), (3, 1), (4, 2), (6, 3)])
def test_waiting_for_a_pool_with_few_callers_is_that_of_the_chain(threads: int, below: int) -> None:
    """To 12%, and nearer than as if many asked."""
    for share in (0.35, 0.6):
        time = 1.2 * below / threads
        nested = Nested(share * threads / 3.2, threads, 1.0, below, time)
        offered = np.array([nested.rate * time])
        few = Met(np.ones(1), np.zeros(1), pace_of([nested.caller], 0.0))
        true = nested.wait_below() / time
        law, many = (float(each.waiting(below, offered)[0]) for each in (few, Met.nobody()))
        assert law == pytest.approx(true, rel=0.12)
        assert many > 1.12 * true


def waits_of(threads: int, rates: FloatArray) -> tuple[list[Seen], list[float], list[float]]:
    """A pool whose requests ask one thread: its loads as measured, the waits, and the rests."""
    loads, waits, rests = [], [], []
    for rate in rates.tolist():
        nested = Nested(rate, threads, 2.0, 1, 0.5)
        waits.append(nested.mean(nested.waiting) / rate)
        held = (nested.mean(nested.there) + nested.mean(nested.elsewhere)) / rate
        rests.append(held - 1.0)
        seen = Seen(rate, 0.0, 1 + waits[-1], 0.01, rests[-1], 0.01, 1.0, Met.nobody())
        loads.append(seen)
    return loads, waits, rests


def test_waiting_grows_with_what_threads_wait_for() -> None:
    """Of five threads that ask one: M/M/m is off by over half, the law by half of that, as logs.

    As threads wait for one thread that only they ask, times grow more than in proportion.
    """
    loads, waits, rests = waits_of(5, np.array([0.3, 0.45, 0.6]))
    found = Seen.columns(loads).wait(5, np.ones((3, 1))).ravel()
    alone = [
        float(Met.nobody().waiting(5, np.array([each.rate * (1 + rest)]))[0]) * (1 + rest)
        for each, rest in zip(loads, rests, strict=True)
    ]
    off, far = (np.log(np.array(waits) / law) for law in (found, np.array(alone)))
    assert (off > 0).all()
    assert (off < 0.63 * far).all()
    assert (far > 0.5).all()


@pytest.mark.parametrize("few", [True, False])
def test_threads_are_found_where_few_callers_make_requests_wait_less(few: bool) -> None:
    """Of one thread that two threads ask; as if many asked, there are two, and they work longer."""
    loads = []
    for rate in (0.1, 0.2, 0.3):
        nested = Nested(rate, 2, 2.0, 1, 1.0)
        gap = 1.0 + nested.wait_below()
        pace = pace_of([nested.caller] if few else [], 0.0)
        met = Met(np.ones(1), np.zeros(1), pace)
        loads.append(Seen(2 * rate, 0.0, gap, 0.002, 0.0, 0.0, 1.0, met))
    found = pool_by_rates(loads, 1)
    assert found.pool.threads == (1 if few else 2)
    assert (abs(found.work - 1) < 1.96 * found.doubt) == few


SHOP = Played(
    {"web": 3.0, "cart": 90.0, "rows": 1.0},
    {
        "page": PlayedEntry("web", 0.004, (Stage(("add",)),)),
        "add": PlayedEntry("cart", 0.003, (Stage(("row",), "geometric", 1.0),)),
        "row": PlayedEntry("rows", 0.004),
    },
    {"page": 1.0},
)


def test_who_asks_through_others_has_few_threads_too() -> None:
    """The pages' three threads are all that ask for rows, though the carts have 90."""
    loads = [play(SHOP, rate, 600, k) for k, rate in enumerate((60.0, 120.0))]
    table = keyed([requests_of(spans) for spans in read_of(loads).loads], [1.0, 1.0])
    found = threads_of(table)
    assert found.pools["web"].threads == 3
    assert found.pools["cart"].threads == inf
    rows = np.array([table.service_of(key) == "rows" for key in table.keys])
    calls = np.flatnonzero(rows[table.callee])
    asked = found.callers.asked(calls, 0, 600, 3.0)
    assert asked.most == 3
    assert asked.pace[3] == 0 < asked.pace[2] < asked.pace[0]
    nobody = Callers(table).asked(calls, 0, 600, 3.0)
    assert nobody.pace.tolist() == [1.0]
    assert nobody.most == inf
