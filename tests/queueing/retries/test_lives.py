"""How long states last: simulated ones beside exact chains, and what was measured."""

import re
from dataclasses import replace
from math import ceil, inf

import numpy as np
import pytest
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from headway.queueing.flows.clients import Clients
from headway.queueing.retries.attempts import Stability, State, states
from headway.queueing.retries.lives import (
    FEWEST,
    LASTING_MEASURED,
    STAYING_MEASURED,
    Lives,
    bad_lives,
    brief,
    good_lives,
    lasting_up_to,
    staying_from,
)
from headway.queueing.retries.times import TimedQueue
from headway.queueing.retries.tipping import folds
from tests import campaigns
from tests.campaigns import lasting as campaign
from tests.campaigns import staying_loads, tipping_loads
from tests.support.places import ROOT

ROWS = campaigns.stored_rows(ROOT / staying_loads.PAGE)
LOADS = campaigns.stored_rows(ROOT / tipping_loads.PAGE)
PAGE = (ROOT / "docs/accuracy/retries.md").read_text(encoding="utf-8")
DROPPING = TimedQueue(1.0, 3, 5.0, oldest=5.0), Clients(timeout=5.0, retries=3)


def states_at(queue, asks, load):
    return states(load, asks, lambda rate: queue.at(rate).late, queue.saturation)


def bad_at(queue, asks, load, **given):
    return bad_lives(queue, asks, load, states_at(queue, asks, load), **given)


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
    lasted = bad_lives(queue, asks, load, tuple(found), enough=400)
    rate = ending_rate(load, 2, 0.9, backoff, most, 45)
    assert lasted.mean * rate == pytest.approx(1, abs=4 / lasted.ended**0.5)


LOSES = TimedQueue(1.0, 2, 15.0, places=2)
RETRIES = Clients(timeout=15.0, retries=inf, persistence=0.7, backoff=2.0, backoff_scv=1.0)


def refusing_chain(load, room, ends):
    """M/M/2/2 whose refused clients back off for 2 s, with probability 0.7, until an attempt ends.

    States are the jobs in service and the clients who back off. ``ends`` says whether an attempt
    that finds so many jobs and other clients away is the last. Returns the rates out of and, with
    a minus, into each state.
    """
    place = {state: k for k, state in enumerate(np.ndindex(3, room + 1))}
    system = np.zeros((len(place),) * 2)
    for (n, o), k in place.items():
        moves = [((n - 1, o), n)]
        for rate, others in ((load, o), (o / 2.0, o - 1)):
            if ends(n, others):
                moves.append((None, rate))
            elif n < 2:
                moves.append(((n + 1, others), rate))
            else:
                moves += [((n, min(others + 1, room)), 0.7 * rate), ((n, others), 0.3 * rate)]
        for to, rate in moves:
            system[k, k] += rate
            if to in place:
                system[k, place[to]] -= rate
    return system


def refusing_states(load, *away):
    """States of `LOSES` with so many clients away."""
    kinds = Stability.UNSTABLE, Stability.STABLE
    rates = [load + o / float(RETRIES.backoff) for o in away]
    return tuple(State(x, LOSES.at(x).late, k) for x, k in zip(rates, kinds, strict=False))


def test_good_states_of_servers_that_refuse_last_as_their_chain_says():
    """From an empty start until an attempt finds over (6 + 7) / 2 other clients away."""
    load = 1.4
    found = good_lives(LOSES, RETRIES, load, refusing_states(load, 6.0, 7.0), enough=800)
    system = refusing_chain(load, 40, lambda _, others: others >= 7)
    mean = np.linalg.solve(system, np.ones(len(system)))[0]
    assert found.mean / mean == pytest.approx(1, abs=4 / found.ended**0.5)


def test_bad_states_of_servers_that_refuse_last_as_their_chain_says():
    """Until an attempt finds a free server and at most 1 other client away, in the long run."""
    load = 4.0
    found = bad_lives(LOSES, RETRIES, load, refusing_states(load, 1.5, 8.0), enough=300)
    system = refusing_chain(load, 60, lambda jobs, others: jobs < 2 and others <= 1)
    rate = np.linalg.eigvals(system).real.min()
    assert found.mean * rate == pytest.approx(1, abs=4 / found.ended**0.5)


def test_a_budget_that_never_runs_out_changes_nothing():
    """Each request adds the token that its only retry takes, and as many may be kept as come."""
    queue, asks = TimedQueue(0.008, 2, 0.05), Clients(timeout=0.05, retries=1, backoff=0.01)
    held = replace(asks, retry_budget=1.0, retry_tokens=1e9)
    load = 0.97 * folds(queue, asks).tips
    one, other = (
        good_lives(queue, each, load, states_at(queue, each, load), enough=400)
        for each in (asks, held)
    )
    assert one.mean / other.mean == pytest.approx(1, abs=4 * (2 / 400) ** 0.5)


def test_without_tokens_nobody_retries():
    """So the good state lasts until the queue of M/M/2 alone has become so long."""
    queue = TimedQueue(1.0, 2, 0.2)
    never = Clients(timeout=0.2, retries=3, retry_budget=0.0, retry_tokens=1.0)
    alone = Clients(timeout=0.2, retries=3, persistence=0.0)
    bad = State(2.5, 1.0, Stability.STABLE, grows=True)
    found = State(1.95, 0.4, Stability.STABLE), State(1.98, 0.6, Stability.UNSTABLE), bad
    one, other = (good_lives(queue, each, 1.95, found, enough=400) for each in (never, alone))
    assert one.mean / other.mean == pytest.approx(1, abs=4 * (2 / 400) ** 0.5)


def test_a_good_state_lasts_shorter_at_higher_loads():
    queue, asks = DROPPING
    between = folds(queue, asks)
    loads = np.linspace(between.vanishes, between.tips, 8)[3:-1]
    good = [good_lives(queue, asks, load, states_at(queue, asks, load)) for load in loads]
    means = [each.time / max(each.ended, 1) for each in good]
    assert means == sorted(means, reverse=True)


def test_the_load_up_to_which_a_good_state_lasts_is_where_its_times_cross():
    queue, asks = TimedQueue(1.0, 2, 3.5), Clients(timeout=3.5, retries=3)
    between = folds(queue, asks)
    load = lasting_up_to(queue, asks, (between.vanishes, between.tips), 500)
    assert between.vanishes < load < between.tips
    found = good_lives(queue, asks, load, states_at(queue, asks, load))
    assert load * found.mean == pytest.approx(500, rel=0.5)


@pytest.mark.parametrize(("servers", "after", "end"), [(4, 14.0, 1), (1, 1.0, 0)])
def test_a_good_state_may_last_up_to_either_end_of_its_loads(servers, after, end):
    """Up to where no good one is left; or not longer than there is no bad one."""
    queue, asks = TimedQueue(1.0, servers, after), Clients(timeout=after, retries=3)
    between = folds(queue, asks)
    ends = between.vanishes, between.tips
    assert lasting_up_to(queue, asks, ends, 500) == ends[end]


def test_a_brief_state_is_one_above_the_load_up_to_which_states_last():
    queue, asks = TimedQueue(1.0, 2, 3.5), Clients(timeout=3.5, retries=3)
    between = folds(queue, asks)
    load = lasting_up_to(queue, asks, (between.vanishes, between.tips))
    assert brief(queue, asks, 1.05 * load).mean < 10_000 / load
    assert brief(queue, asks, 0.95 * load) is None
    assert f"it is {load / between.tips:.0%} of it" in PAGE


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
    found = bad_lives(queue, asks, 0.5, brief, enough=20)
    assert found.ended >= FEWEST
    assert found.mean < 4 * 2 * 40.0


def test_a_mean_needs_some_that_ended():
    assert Lives(100.0, FEWEST - 1).mean is None
    assert Lives(100.0, 0).error == inf
    assert Lives(100.0, 50).least < Lives(100.0, 50).mean
    queue, asks = DROPPING
    between = folds(queue, asks)
    few = bad_at(queue, asks, 0.9 * between.tips, most=20_000)
    assert few.mean is None
    assert few.least < few.time


# What was measured


def test_the_page_has_the_tables_of_the_rows():
    for line in (*staying_loads.table(ROWS), *tipping_loads.table(LOADS)):
        assert line in PAGE


@pytest.mark.parametrize(
    ("words", "off"),
    [
        (STAYING_MEASURED, staying_loads.errors(ROWS)),
        (LASTING_MEASURED, tipping_loads.errors(LOADS)),
    ],
)
def test_the_words_hold_what_was_measured(words, off):
    usual, largest = map(float, re.findall(r"within (\d+)%", words))
    assert (usual, largest) == (ceil(np.percentile(off, 90)), ceil(off.max()))


@pytest.mark.slow
def test_stored_loads_are_found_again():
    for row in ROWS[:2]:
        queue, clients, _, _ = campaign.drawn(campaign.DROPPING + int(row["seed"]))
        between = folds(queue, clients)
        load = staying_from(queue, clients, (between.vanishes, between.tips))
        assert load == pytest.approx(float(row["found"]), rel=0.02)
