"""How long a good state lasts: the chain beside laws and simulations, and what was measured."""

import re

import numpy as np
import pytest

from headway.queueing.flows.clients import Clients
from headway.queueing.retries.attempts import Stability, State, states
from headway.queueing.retries.lasting import (
    LOADS_MEASURED,
    MEASURED,
    _passage,
    lasting,
    lasting_at_least,
    lasting_up_to,
)
from headway.queueing.retries.times import TimedQueue
from headway.queueing.retries.tipping import folds, time_to
from tests import campaigns
from tests.campaigns import lasting as campaign
from tests.campaigns import tipping_loads
from tests.support.places import ROOT

ROWS = campaigns.stored_rows(ROOT / campaign.PAGE)
LOADS = campaigns.stored_rows(ROOT / tipping_loads.PAGE)
PAGE = (ROOT / "docs/accuracy/retries.md").read_text(encoding="utf-8")


def test_clients_who_never_come_back_leave_a_queue_alone():
    """Then the least and the most are the times of M/M/m to one job more than m + w and m + 2 w."""
    after = 1.5
    queue, gone = TimedQueue(1.0, 2, after), Clients(timeout=after, retries=2, persistence=0.0)
    threshold = State(2.0, 0.3, Stability.UNSTABLE)
    found = lasting(queue, gone, 1.6, (threshold,))
    assert found == pytest.approx([time_to(queue, 1.6, 8), time_to(queue, 1.6, 13)], rel=1e-9)


def test_the_chain_is_that_of_a_dense_one():
    """States (n, o) one by one, with all their moves written out."""
    load, delay, away = 1.3, 2.5, 4
    first, again = np.array([0.1, 0.4, 0.9]), np.array([0.05, 0.2, 0.5])
    departs = np.array([0.0, 1.0, 2.0])
    places = {(n, o): n * (away + 1) + o for n in range(3) for o in range(away + 1)}
    generator = np.zeros((len(places), len(places)))

    def move(place, state, rate):
        generator[place, place] -= rate
        if state in places:
            generator[place, places[state]] += rate

    for (n, o), place in places.items():
        room = o < away
        move(place, (n + 1, o + 1), load * first[n] * room)
        move(place, (n + 1, o), load * (1 - first[n] * room) + again[n] * o / delay)
        move(place, (n + 1, o - 1), (1 - again[n]) * o / delay)
        move(place, (n - 1, o), departs[n])
    times = np.linalg.solve(generator, -np.ones(len(places)))
    assert _passage(load, first, again, departs, delay, away) == pytest.approx(times[0], rel=1e-9)


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


def test_the_load_up_to_which_a_state_lasts_is_where_its_times_cross():
    queue, asks = TimedQueue(1.0, 2, 3.5), Clients(timeout=3.5, retries=3)
    between = folds(queue, asks)
    load = lasting_up_to(queue, asks, (between.vanishes, between.tips), 500)
    assert between.vanishes < load < between.tips
    found = states(load, asks, lambda rate: queue.at(rate).late, queue.saturation)
    assert load * lasting_at_least(queue, asks, load, found) == pytest.approx(500, rel=5e-3)


@pytest.mark.parametrize(("servers", "after", "end"), [(4, 14.0, 1), (1, 1.0, 0)])
def test_a_state_may_last_up_to_either_end_of_its_loads(servers, after, end):
    """Up to where no good one is left; or not longer than there is no bad one."""
    queue, asks = TimedQueue(1.0, servers, after), Clients(timeout=after, retries=3)
    between = folds(queue, asks)
    ends = between.vanishes, between.tips
    assert lasting_up_to(queue, asks, ends, 500) == ends[end]


# What was measured


def test_the_page_has_the_tables_of_the_rows():
    for line in (*campaign.table(ROWS), *tipping_loads.table(LOADS)):
        assert line in PAGE


def test_the_words_hold_what_was_measured():
    usual, largest = map(float, re.findall(r"of (\d+\.\d)", MEASURED))
    off = campaign.factors(ROWS)
    assert np.percentile(off, 90) <= usual <= 1.1 * np.percentile(off, 90)
    assert off.max() <= largest <= 1.1 * off.max()


def test_the_words_on_loads_hold_what_was_measured():
    usual, largest = map(float, re.findall(r"within (\d+)%", LOADS_MEASURED))
    off = tipping_loads.errors(LOADS, 0.0, 20.0)
    assert np.percentile(off, 90) <= usual <= 1.1 * np.percentile(off, 90)
    assert off.max() <= largest <= 1.1 * off.max()


def test_stored_figures_are_found_again():
    for row in ROWS[:3]:
        queue, clients, _, load = campaign.drawn(int(row["seed"]))
        found = campaign.stated(queue, clients, load)
        assert found == pytest.approx([float(row["least"]), float(row["most"])], rel=1e-3)
