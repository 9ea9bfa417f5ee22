"""How long a good state lasts: the chain beside laws and simulations, and what was measured."""

import re
from dataclasses import replace

import numpy as np
import pytest

from headway.queueing.flows.clients import Clients
from headway.queueing.retries.attempts import Stability, State, states
from headway.queueing.retries.lasting import (
    DROPPING_MEASURED,
    MEASURED,
    lasting,
    lasting_at_least,
)
from headway.queueing.retries.times import TimedQueue
from headway.queueing.retries.tipping import folds, tipping
from tests import campaigns
from tests.campaigns import lasting as campaign
from tests.support.places import ROOT

ROWS = campaigns.stored_rows(ROOT / campaign.PAGE)
PAGE = (ROOT / "docs/accuracy/retries.md").read_text(encoding="utf-8")


def time_to(rate, jobs):
    """First passage of M/M/2 with services of 1 s from 0 jobs, by its linear equations."""
    n = np.arange(jobs)
    leaves = np.diag(rate + np.minimum(n, 2)) - np.diag(np.full(jobs - 1, rate), 1)
    return np.linalg.solve(leaves - np.diag(np.minimum(n[1:], 2), -1), np.ones(jobs))[0]


def test_clients_who_never_come_back_leave_a_queue_alone():
    """Then the least and the most are the times of M/M/m to one job more than m + w and m + 2 w."""
    after = 1.5
    queue, gone = TimedQueue(1.0, 2, after), Clients(timeout=after, retries=2, persistence=0.0)
    threshold = State(2.0, 0.3, Stability.UNSTABLE)
    found = lasting(queue, gone, 1.6, (threshold,))
    assert found == pytest.approx([time_to(1.6, 8), time_to(1.6, 13)], rel=1e-9)


def test_clients_who_ask_again_without_end_are_the_limit_of_those_with_many_retries():
    """At the threshold hardly any request has so many attempts; no work grows with the retries."""
    queue = TimedQueue(0.0081, 4, 0.1)

    def times(retries):
        asks = Clients(timeout=0.1, retries=retries)
        found = states(390.0, asks, lambda rate: queue.at(rate).late, queue.saturation)
        return lasting(queue, asks, 390.0, found)

    assert times(1e12) == pytest.approx(times(60), rel=1e-6)


def test_too_many_states_are_left_to_others():
    after = 12.0
    queue, asks = TimedQueue(1.0, 60, after), Clients(timeout=after, retries=3)
    found = states(55.0, asks, lambda rate: queue.at(rate).late, queue.saturation)
    assert lasting(queue, asks, 55.0, found) is None


def test_where_the_good_state_touches_the_bad_one_it_lasts_as_long_as_just_below():
    queue, asks = TimedQueue(0.008, 4, 0.1), Clients(timeout=0.1, retries=3)
    tips = folds(queue, asks).tips

    def times(load):
        return lasting(queue, asks, load, states(load, asks, late, queue.saturation))

    def late(rate):
        return queue.at(rate).late

    touching = states(tips, asks, late, queue.saturation)
    assert touching[0].stability is Stability.TOUCHES
    assert times(tips) == pytest.approx(times(0.9999 * tips), rel=0.02)


def test_a_threshold_that_no_number_tells_from_saturation_says_nothing():
    queue, asks = TimedQueue(1.0, 2, 1e3), Clients(timeout=1e3, retries=1)
    good, full = (State(1.5, 0.0, Stability.STABLE), State(3.0, 1.0, Stability.STABLE, grows=True))
    assert lasting(queue, asks, 1.5, (good, full)) is None


def test_a_budget_lets_a_good_state_last_at_least_as_long():
    """At 330 a second a good state lasts too long to be simulated."""
    queue, asks = TimedQueue(0.008, 4, 0.1), Clients(timeout=0.1, retries=3)
    free, held = (tipping(queue, replace(asks, retry_budget=b), 330.0) for b in (np.inf, 0.9))
    assert held.alone == (free.alone[0], np.inf)
    assert free.falls is held.falls is None


# Queues that drop what is old


def test_dropping_what_nobody_waits_for_any_more_changes_nothing():
    """A good state ends long before the queue is full."""
    queue, asks = TimedQueue(0.008, 4, 0.1), Clients(timeout=0.1, retries=3)
    late = TimedQueue(0.008, 4, 0.1, oldest=5.0)
    times = [lasting(each, asks, 440.0, states_at(each, asks, 440.0)) for each in (queue, late)]
    assert times[1] == pytest.approx(times[0], rel=0.05)


DROPPING = TimedQueue(1.0, 3, 5.0, oldest=5.0), Clients(timeout=5.0, retries=3)


def states_at(queue, asks, load):
    return states(load, asks, lambda rate: queue.at(rate).late, queue.saturation)


def test_a_good_state_lasts_shorter_at_higher_loads():
    queue, asks = DROPPING
    between = folds(queue, asks)
    loads = np.linspace(between.vanishes, between.tips, 6)[1:-1]
    good = [lasting_at_least(queue, asks, load, states_at(queue, asks, load)) for load in loads]
    assert good == sorted(good, reverse=True)


# What was measured


def test_the_page_has_the_table_of_the_rows():
    for line in campaign.table(ROWS):
        assert line in PAGE


KEEPING, OLD = campaign.keeping, campaign.dropping


@pytest.mark.parametrize(
    ("words", "rows"), [(MEASURED, KEEPING(ROWS)), (DROPPING_MEASURED, OLD(ROWS))]
)
def test_the_words_hold_what_was_measured(words, rows):
    usual, largest = map(float, re.findall(r"of (\d+\.\d)", words))
    off = campaign.factors(rows)
    assert np.percentile(off, 90) <= usual <= 1.1 * np.percentile(off, 90)
    assert off.max() <= largest <= 1.1 * off.max()


def test_stored_figures_are_found_again():
    for row in [*KEEPING(ROWS)[:3], *OLD(ROWS)[:3]]:
        queue, clients, _, load = campaign.drawn(int(row["seed"]))
        found = campaign.stated(queue, clients, load)
        assert found == pytest.approx([float(row["least"]), float(row["most"])], rel=1e-3)
