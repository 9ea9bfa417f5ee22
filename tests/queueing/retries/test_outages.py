"""How long a bad state lasts: simulated ones beside an exact chain, and what was measured."""

import re
from math import ceil, inf

import numpy as np
import pytest
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from headway.queueing.flows.clients import Clients
from headway.queueing.retries.attempts import Stability, State, states
from headway.queueing.retries.outages import FEWEST, LOADS_MEASURED, Outages, outages, staying_from
from headway.queueing.retries.times import TimedQueue
from headway.queueing.retries.tipping import folds
from tests import campaigns
from tests.campaigns import lasting as campaign
from tests.campaigns import staying_loads
from tests.support.places import ROOT

ROWS = campaigns.stored_rows(ROOT / staying_loads.PAGE)
PAGE = (ROOT / "docs/accuracy/retries.md").read_text(encoding="utf-8")
DROPPING = TimedQueue(1.0, 3, 5.0, oldest=5.0), Clients(timeout=5.0, retries=3)


def states_at(queue, asks, load):
    return states(load, asks, lambda rate: queue.at(rate).late, queue.saturation)


def bad_at(queue, asks, load, **given):
    return outages(queue, asks, load, states_at(queue, asks, load), **given)


def ending_rate(load, servers, again, backoff, most, room):
    """Rate at which an attempt meets a free server with so few others away, in the long run.

    With all servers busy, attempts wait until the next service ends, and are dropped then; their
    clients back off for an exponential time with probability ``again``. States are the jobs in
    service, attempts that wait, and clients that back off. The rate is the least eigenvalue of the
    chain without the states beyond, by inverse iteration.
    """
    kept = [(n, 0, o) for n in range(servers) for o in range(room)]
    kept += [(servers, w, o) for w in range(room) for o in range(room - w)]
    place, moves = {state: k for k, state in enumerate(kept)}, []

    def move(state, to, rate):
        """Beyond the room nothing happens; endings have no place."""
        if to is None or to in place:
            moves.append((place[state], place[state], rate))
            if to is not None:
                moves.append((place[state], place[to], -rate))

    for state in kept:
        n, w, o = state
        for rate, left in ((load, o), (o / backoff, o - 1)):
            if n < servers:
                move(state, (n + 1, 0, left) if left > most else None, rate)
            else:
                move(state, (n, w + 1, left), rate * again)
                move(state, (n, w, left), rate * (1 - again))
        move(state, (n - 1, 0, o + w), n)
    rows, columns, rates = zip(*moves, strict=True)
    system = splu(csc_array((rates, (rows, columns)), (len(kept),) * 2))
    x = np.ones(len(kept))
    for _ in range(100):
        after = system.solve(x)
        x, rate = after / after.max(), 1 / after.max()
    return rate


def test_states_of_servers_that_let_nobody_wait_last_as_their_chain_says():
    load, backoff, timeout, most = 2.5, 2.0, 20.0, 1.5
    asks = Clients(timeout=timeout, retries=inf, persistence=0.9, backoff=backoff, backoff_scv=1.0)
    away = ((Stability.UNSTABLE, most), (Stability.STABLE, 12.0))
    found = [State(load + o / (timeout + backoff), 0.5, kind) for kind, o in away]
    queue = TimedQueue(1.0, 2, timeout, oldest=0.0)
    lasted = outages(queue, asks, load, tuple(found), enough=400)
    rate = ending_rate(load, 2, 0.9, backoff, most, 45)
    assert lasted.mean * rate == pytest.approx(1, abs=4 / lasted.ended**0.5)


def test_a_bad_state_lasts_longer_at_higher_loads():
    queue, asks = DROPPING
    between = folds(queue, asks)
    loads = np.linspace(between.vanishes, between.tips, 8)[1:5]
    times = [bad_at(queue, asks, load, enough=30) for load in loads]
    means = [each.time / each.ended for each in times]
    assert means == sorted(means)


def test_the_load_from_which_a_bad_state_lasts_is_where_its_times_cross():
    queue, asks = DROPPING
    between = folds(queue, asks)
    load = staying_from(queue, asks, (between.vanishes, between.tips), 1000)
    assert between.vanishes < load < between.tips
    found = bad_at(queue, asks, load)
    assert load * found.mean == pytest.approx(1000, rel=0.5)


def test_a_bad_state_may_last_for_few_requests_at_all_loads_or_for_some_at_all():
    queue, asks = DROPPING
    between = folds(queue, asks)
    ends = between.vanishes, 1.02 * between.vanishes
    assert staying_from(queue, asks, ends, 1) == ends[0]
    assert staying_from(queue, asks, ends, 800) == ends[1]


def test_a_bad_state_that_grows_has_no_such_time():
    queue, asks = TimedQueue(1.0, 2, 3.0), Clients(timeout=3.0, retries=3)
    assert bad_at(queue, asks, 0.6) is None
    assert staying_from(queue, asks, (0.5, 1.0)) is None


def test_crowds_are_left_to_others():
    """A hundred thousand clients away for an hour are more than is simulated."""
    queue = TimedQueue(1.0, 1000, 60.0, oldest=60.0)
    asks = Clients(timeout=60.0, retries=3, backoff=3600.0)
    assert bad_at(queue, asks, 900.0) is None
    assert staying_from(queue, asks, (900.0, 950.0)) is None


def test_what_few_attempts_do_not_tell_is_not_said():
    queue, asks = DROPPING
    assert bad_at(queue, asks, 1.8, most=100) is None
    assert staying_from(queue, asks, (1.8, 2.4), 1e9) is None


def test_states_that_do_not_outlast_their_rush_count_from_it():
    queue, asks = TimedQueue(1.0, 2, 40.0, oldest=0.0), Clients(timeout=40.0, retries=1)
    brief = State(1.5, 0.5, Stability.UNSTABLE), State(1.6, 0.9, Stability.STABLE)
    found = outages(queue, asks, 0.5, brief, enough=20)
    assert found.ended >= FEWEST
    assert found.mean < 4 * 2 * 40.0


def test_a_mean_needs_some_that_ended():
    assert Outages(100.0, FEWEST - 1).mean is None
    assert Outages(100.0, 0).error == inf
    assert Outages(100.0, 50).least < Outages(100.0, 50).mean
    queue, asks = DROPPING
    between = folds(queue, asks)
    few = bad_at(queue, asks, 0.9 * between.tips, most=20_000)
    assert few.mean is None
    assert few.least < few.time


# What was measured


def test_the_page_has_the_table_of_the_rows():
    for line in staying_loads.table(ROWS):
        assert line in PAGE


def test_the_words_hold_what_was_measured():
    off = staying_loads.errors(ROWS)
    usual, largest = map(float, re.findall(r"within (\d+)%", LOADS_MEASURED))
    assert (usual, largest) == (ceil(np.percentile(off, 90)), ceil(off.max()))


@pytest.mark.slow
def test_stored_loads_are_found_again():
    for row in ROWS[:2]:
        queue, clients, _, _ = campaign.drawn(campaign.DROPPING + int(row["seed"]))
        between = folds(queue, clients)
        load = staying_from(queue, clients, (between.vanishes, between.tips))
        assert load == pytest.approx(float(row["found"]), rel=0.02)
