"""Threads and work by mean times and rates, and how sure they are."""

from dataclasses import replace
from math import exp, factorial, inf, sqrt

import numpy as np
import pytest

from headway.models.tracing.bunches import Met
from headway.models.tracing.callers import Callers
from headway.models.tracing.keys import keyed
from headway.models.tracing.peers import peers_of
from headway.models.tracing.rates import ROUGH, Seen, pool_by_rates
from headway.models.tracing.requests import requests_of
from headway.models.tracing.traced import model_read
from tests.oracles.traced_services import Played, PlayedEntry, Stage, play
from tests.support.traced import read_of


def wait(threads: int, rate: float, work: float) -> float:
    """Mean waiting in M/M/m by Erlang's sum."""
    a = rate * work
    tail = a**threads / factorial(threads) / (1 - a / threads)
    return tail / (sum(a**k / factorial(k) for k in range(threads)) + tail) * work / (threads - a)


def seen(rate: float, gap: float, error: float) -> Seen:
    return Seen(rate, 0.0, gap, error, 0.0, 0.0, 1.0, Met.nobody())


def drawn(draws: np.random.Generator) -> tuple[list[Seen], float, int]:
    """Three loads of a pool that is busy to any share at the highest, its work and its threads."""
    work, highest = draws.uniform(0.002, 0.02), draws.uniform(50, 400)
    offered = work * highest
    threads = int(np.ceil(offered / draws.uniform(0.05, 0.9)))
    common, bunched = ROUGH.common * draws.standard_normal(), draws.standard_normal()
    loads = []
    for share in (0.4, 0.7, 1.0):
        law = wait(threads, share * highest, work)
        free = ROUGH.bunched * (threads - share * offered) ** 2 / (2 * share * offered)
        apart = ROUGH.apart * draws.standard_normal()
        waits = law * exp(common + apart + free * bunched)
        error = 0.02 * work
        loads.append(seen(share * highest, work + waits + error * draws.standard_normal(), error))
    return loads, work, threads


@pytest.mark.slow
def test_intervals_hold_what_they_are_of_as_often_as_they_say() -> None:
    """Of 20 services whose waiting is as rough as measured: 95%, to three standard errors.

    Of the pools that are seen as many hold their threads, which the likeliest are in most.
    """
    draws = np.random.default_rng(38)
    held, inside, right = 0, [], []
    for _ in range(20):
        loads, work, threads = drawn(draws)
        found = pool_by_rates(loads, 1)
        own = 1 / sqrt(sum(each.error**-2 for each in loads))
        held += abs(found.work - work) < 1.96 * sqrt(own**2 + found.doubt**2)
        if found.pool.seen:
            inside.append(found.pool.low <= threads <= found.pool.high)
            right.append(found.pool.threads == threads)
    assert held / 20 > 0.95 - 3 * sqrt(0.95 * 0.05 / 20)
    assert np.mean(inside) > 0.95 - 3 * sqrt(0.95 * 0.05 / len(inside))
    assert np.mean(right) > 0.5


@pytest.mark.parametrize("threads", [1, 3, 6])
def test_threads_are_found_where_waiting_follows_the_law(threads: int) -> None:
    rates = [share * threads / 0.01 for share in (0.2, 0.6, 0.85)]
    loads = [seen(rate, 0.01 + wait(threads, rate, 0.01), 1e-5) for rate in rates]
    found = pool_by_rates(loads, 1)
    assert found.pool.threads == threads
    assert abs(found.work - 0.01) < 1.96 * found.doubt + 1e-6
    assert found.doubt < 0.0008


def test_one_load_shows_no_threads_and_leaves_waiting_open() -> None:
    """All that was measured is work; how much less it may be, M/M/1 says at the most."""
    found = pool_by_rates([seen(50.0, 0.01, 1e-4)], 1)
    assert found.pool.threads == inf
    assert found.work == pytest.approx(0.01, rel=1e-3)
    one_thread = 0.01 / (1 + 50 * 0.01)  # w of w / (1 - 50 w) = 0.01, one of many possibilities
    assert 0.3 * (0.01 - one_thread) < found.doubt < 0.01 - one_thread


BEHIND = Played(
    {"web": 90.0, "cart": 90.0, "rows": 90.0},
    {
        "page": PlayedEntry("web", 0.004, (Stage(("add",)), Stage(("row",)))),
        "add": PlayedEntry("cart", 0.003, (Stage(("row",), mean=3.0),)),
        "row": PlayedEntry("rows", 0.010),
    },
    {"page": 1.0},
)
"""Most of what cart takes is what it asks for."""


def test_sampled_requests_of_a_silent_service_leave_its_work_as_open_as_they_do() -> None:
    """Of 15 samples of a tenth each, 95% hold its work to three standard errors; no threads."""
    plays = [play(BEHIND, rate, 1200, k, silent=["cart"]) for k, rate in enumerate((40.0, 80.0))]
    work = BEHIND.entries["add"].work + 3 * BEHIND.network
    held = 0
    for seed in range(15):
        draws = np.random.default_rng(seed)
        kept = [
            replace(each, traces=tuple(t for t in each.traces if draws.random() < 0.1))
            for each in plays
        ]
        table = keyed([requests_of(spans) for spans in read_of(kept).loads], [0.1, 0.1])
        peers, pools = peers_of(table, Callers(table))
        [found] = peers.values()
        assert not pools
        held += abs(found.work - work) < 1.96 * found.error
    assert held / 15 > 0.95 - 3 * sqrt(0.95 * 0.05 / 15)


def test_a_backlog_in_a_part_of_the_traces_says_nothing_of_threads_or_work():
    """Three threads are asked for 1.3 times what they can do, so callers with 40 fill up in time.

    Whole loads show their work of 4 ms; of the overloaded one a quarter of the traces is known.
    """
    played = Played(
        {"web": 40.0, "stock": 3.0},
        {
            "page": PlayedEntry("web", 0.004, (Stage(("look",)),)),
            "look": PlayedEntry("stock", 0.01),
        },
        {"page": 1.0},
    )
    kept = {0.3: 1.0, 0.6: 1.0, 1.3: 0.25}
    loads = [play(played, x * 300, 2000, 80 + k, kept=kept[x]) for k, x in enumerate(kept)]

    found = model_read(read_of(loads), "pair", {"load2": 0.25})

    assert found.services.piling["web"] == "load2"
    assert not found.services.pools["web"].seen
    assert "waits_grow" in {finding.kind for finding in found.findings}
    [page] = [e for e in found.services.entries.values() if e.operation == "page"]
    assert abs(page.work - 0.004) < 4 * page.error < 0.1 * page.work
