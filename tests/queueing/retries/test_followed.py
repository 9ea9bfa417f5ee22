"""Requests followed through their attempts: transients, and answers beside simulations."""

import json
import re

import numpy as np
import pytest
from scipy.linalg import expm

from headway.errors import GraphError
from headway.models import ModelGraph
from headway.queueing import MMm
from headway.queueing.flows.clients import Clients
from headway.queueing.retries.followed import _unanswered, followed
from headway.queueing.retries.met import met
from headway.queueing.retries.methods import (
    ATTEMPTS_ERROR,
    DROPPING_ERROR,
    SHEDDING_ERROR,
    SHORT_DROPPING_ERROR,
)
from headway.queueing.retries.times import TimedQueue
from tests import campaigns
from tests.campaigns import attempts
from tests.oracles.impatient_clients import Apart
from tests.support.cases import mostly_slow
from tests.support.places import ROOT

ROWS = campaigns.stored_rows(ROOT / attempts.PAGE)
PAGE = (ROOT / "docs/accuracy/retries.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("servers", "timeout"), [(1, 0.3), (2, 1.5), (3, 4.0)])
def test_what_is_left_of_an_attempt_is_that_of_a_dense_chain(servers, timeout):
    """States (ahead, all there), ahead = 0 in service, of a generator written out; matrix exp."""
    most = 9
    rates = np.linspace(0.8, 1.6, most + 1)
    states = [(a, n) for n in range(1, most + 1) for a in range(max(n - servers, 0) + 1)]
    place = {state: k for k, state in enumerate(states)}
    generator = np.zeros((len(states), len(states)))
    for (ahead, n), k in place.items():
        moves = {}
        if n < most:
            moves[ahead, n + 1] = rates[n]
        if ahead:
            moves[ahead - 1, n - 1] = float(servers)
        elif n > 1:
            moves[0, n - 1] = float(min(n - 1, servers - 1))
        for state, rate in moves.items():
            if rate:
                generator[k, place[state]] += rate
        generator[k, k] = -sum(moves.values()) - (0 if ahead else 1)
    for there in range(most):
        begin = np.zeros(len(states))
        begin[place[max(there + 1 - servers, 0), there + 1]] = 1
        end = begin @ expm(generator * timeout)
        left = [sum(end[k] for (_, n), k in place.items() if n == jobs) for jobs in range(most + 1)]
        found = _unanswered(np.eye(most + 1)[there], rates, TimedQueue(1.0, servers, timeout))
        assert found == pytest.approx(left, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize(("servers", "rate"), [(1, 0.6), (4, 3.0)])
def test_without_retries_it_is_the_law_of_a_poisson_stream(servers, rate):
    queue = TimedQueue(1.0, servers, 2.0)
    found, law = followed(queue, Clients(timeout=queue.timeout), rate), queue.at(rate)
    assert found.late == pytest.approx(law.late, rel=1e-9)
    assert found.wasted == pytest.approx(law.late_work, rel=1e-9)
    assert found.time == pytest.approx(law.time_in_time / (1 - law.late), rel=1e-9)
    assert found.queue_length == pytest.approx(law.queue_length, rel=1e-9)


@pytest.mark.parametrize(("servers", "places", "rate"), [(1, 1, 2.0), (3, 9, 3.6)])
def test_without_retries_a_limited_room_is_the_law_of_a_poisson_stream(servers, places, rate):
    queue = TimedQueue(1.0, servers, 2.0, places=places)
    found, law = followed(queue, Clients(timeout=2.0), rate, alone=True), queue.at(rate)
    assert found.late == pytest.approx(law.late, rel=1e-9)
    assert found.served == pytest.approx(rate * (1 - law.dropped), rel=1e-9)
    assert found.wasted == pytest.approx(law.late_work / (1 - law.dropped), rel=1e-9)
    assert found.time == pytest.approx(law.time_in_time / (1 - law.late), rel=1e-9)
    assert found.queue_length == pytest.approx(law.queue_length, rel=1e-9)


@pytest.mark.parametrize("rate", [0.4, 1.7])
def test_who_is_refused_and_asks_again_at_once_is_refused_again(rate):
    """M/M/1/1 with a timeout of 1: who times out finds its own job there, so no retry is served."""
    queue, asks = TimedQueue(1.0, 1, 1.0, places=1), Clients(timeout=1.0, retries=3)
    found = followed(queue, asks, rate, alone=True)
    full, late = rate / (1 + rate), np.exp(-1.0)
    assert found.served == pytest.approx(rate * (1 - full), rel=1e-6)
    assert found.answered == pytest.approx((1 - full) * (1 - late), rel=1e-6)
    assert found.rate == pytest.approx(rate * (1 + 3 * (full + (1 - full) * late)), rel=1e-6)
    assert found.time == pytest.approx((1 - 2 * late) / (1 - late), rel=1e-6)


@pytest.mark.parametrize(
    ("servers", "places", "rate", "backoff"),
    mostly_slow([(2, 5, 2.4, 0.4), (4, 12, 3.4, 0.0), (3, 3, 2.0, 2.0)], 1, tuples=True),
)
def test_retries_find_the_limited_room_of_a_simulation_written_apart(
    servers, places, rate, backoff
):
    """A timeout of 2 and two retries after backoffs that double: 8% or 0.03 off twelve runs."""
    asks = Clients(timeout=2.0, retries=2, backoff=backoff, backoff_factor=2.0, jitter=0.5)
    runs = [
        Apart(seed, rate, servers, 2.0, 2, backoff, room=places).play(2000.0) for seed in range(12)
    ]
    found = followed(TimedQueue(1.0, servers, 2.0, places=places), asks, rate, alone=True)
    requests = np.array([each["requests"] for each in runs])
    for name, exact in (
        ("given_up", 1 - found.answered),
        ("attempts", found.rate / rate),
        ("refused", (found.rate - found.served) / rate),
        ("work", found.served / rate),
    ):
        shares = np.array([each[name] for each in runs]) / requests
        assert shares.mean() == pytest.approx(exact, rel=0.08, abs=0.03)


def test_an_attempt_that_meets_few_is_served_at_once():
    found, gone = met(1.0, 2, 0.7, np.arange(4)), np.exp(-0.7)
    assert found.late[:2] == pytest.approx(gone, rel=1e-12)
    assert found.in_time[:2] == pytest.approx(1 - 1.7 * gone, rel=1e-12)
    assert found.wasted[:2] == pytest.approx(1.7 * gone, rel=1e-12)
    assert (np.diff(found.late[1:]) > 0).all()


def test_a_timeout_of_half_a_service_is_near_a_simulation_written_apart():
    """M/M/4 at a quarter of its load: a Poisson stream of attempts would answer 72%, not 50%."""
    runs = [Apart(seed, 1.0, 4, 0.5, 2, 0.0).play(1500.0) for seed in range(8)]
    good = np.array([1 - each["given_up"] / each["requests"] for each in runs])
    queue = TimedQueue(1.0, 4, 0.5)
    found = followed(queue, Clients(timeout=queue.timeout, retries=2), 1.0)
    assert abs(found.answered - good.mean()) < 0.01 + 4 * good.std(ddof=1) / len(good) ** 0.5
    assert found.answered < 0.6


def test_a_state_that_hardly_lasts_is_no_answer():
    """At 250/s a simulation tips over after seconds."""
    graph = ModelGraph("server").station("server", MMm(0.01, 4))
    model = graph.impatient({"timeout": 0.025, "retries": 1})
    over = model.at(arrival_rate=250.0).solve()
    assert over["goodput"] == 0
    assert "a good state lasts" in over.saturation_message


def test_points_that_are_not_solved_are_unknown_and_the_others_are_kept():
    """At 130/s attempts meet more jobs than can be followed."""
    graph = ModelGraph("server").station("server", MMm(0.0081, 4))
    model = graph.impatient({"timeout": 0.005, "retries": 2})
    found = model.at(arrival_rate=[100.0, 130.0, 190.0]).solve()
    assert np.isnan(found["goodput"]).tolist() == [False, True, False]
    assert found["goodput"][0] == model.at(arrival_rate=100.0).solve()["goodput"]
    assert found.saturated.tolist() == [False, False, True]
    said = "server: at 130 /s its attempts meet more jobs"
    assert f"not solved: {said}" in " ".join(str(found).split())
    assert json.loads(found.to_json())["unsolved"].startswith(said)
    with pytest.raises(GraphError, match=said):
        model.at(arrival_rate=130.0).solve()


def test_a_budget_and_a_varied_backoff_are_kept_to():
    queue = TimedQueue(1.0, 3, 1.0)
    asks = {"timeout": 1.0, "retries": 3, "backoff": 0.5, "backoff_scv": 1.0, "jitter": 0.5}
    found = followed(queue, Clients(**asks, retry_budget=0.1), 1.5)
    assert found.rate == pytest.approx(1.1 * 1.5, rel=1e-4)
    assert found.rate < followed(queue, Clients(**asks), 1.5).rate


# What was measured


def test_the_page_has_the_table_of_the_rows():
    for line in attempts.table(ROWS):
        assert line in PAGE


@pytest.mark.parametrize(
    ("kept", "low", "high", "label"),
    [
        (attempts.plainly, 0.0, np.inf, ATTEMPTS_ERROR),
        (attempts.dropping, 0.0, attempts.SHORT, SHORT_DROPPING_ERROR),
        (attempts.dropping, attempts.SHORT, np.inf, DROPPING_ERROR),
        (attempts.refusing, 0.0, np.inf, SHEDDING_ERROR),
    ],
)
def test_labels_hold_what_was_measured(kept, low, high, label):
    rows = [row for row in kept(ROWS) if low <= float(row["timeout"]) < high]
    most = {name: attempts.errors(rows, name).max() for name in attempts.NUMBERS}
    assert most["throughput"] <= label.throughput <= 1.1 * most["throughput"]
    assert most["response_time"] <= label.response_time <= 1.1 * most["response_time"]
    stated, usual = map(
        float, re.search(r"goodput (.*?)%; each within (.*?)% in 90 of 100", label.region).groups()
    )
    assert most["goodput"] <= stated <= 1.1 * most["goodput"]
    judged = ("throughput", "goodput", "response_time")
    ninety = max(np.percentile(attempts.errors(rows, name), 90) for name in judged)
    assert ninety <= usual <= 1.1 * ninety


def test_stored_figures_are_found_again():
    seed = ROWS[4]["seed"]
    stored = [float(row["found"]) for row in ROWS if row["seed"] == seed]
    assert attempts.numbers_of(attempts.model(int(seed)).solve()) == pytest.approx(stored, rel=1e-4)
