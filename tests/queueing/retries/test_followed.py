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
from headway.queueing.retries.followed import _moments_by_jobs_met, _unanswered, followed
from headway.queueing.retries.methods import (
    ATTEMPTS_ERROR,
    DROPPING_ERROR,
    SHORT_DROPPING_ERROR,
)
from headway.queueing.retries.times import TimedQueue
from tests import campaigns
from tests.campaigns import attempts
from tests.oracles.impatient_clients import Apart
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
    for met in range(most):
        begin = np.zeros(len(states))
        begin[place[max(met + 1 - servers, 0), met + 1]] = 1
        end = begin @ expm(generator * timeout)
        left = [sum(end[k] for (_, n), k in place.items() if n == jobs) for jobs in range(most + 1)]
        found = _unanswered(np.eye(most + 1)[met], rates, TimedQueue(1.0, servers, timeout))
        assert found == pytest.approx(left, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize(("servers", "rate"), [(1, 0.6), (4, 3.0)])
def test_without_retries_it_is_the_law_of_a_poisson_stream(servers, rate):
    queue = TimedQueue(1.0, servers, 2.0)
    found, law = followed(queue, Clients(timeout=queue.timeout), rate), queue.at(rate)
    assert found.late == pytest.approx(law.late, rel=1e-9)
    assert found.wasted == pytest.approx(law.late_work, rel=1e-9)
    assert found.time == pytest.approx(law.time_in_time / (1 - law.late), rel=1e-9)
    assert found.queue_length == pytest.approx(law.queue_length, rel=1e-9)


def test_an_attempt_that_meets_few_is_served_at_once():
    late, in_time, wasted = _moments_by_jobs_met(TimedQueue(1.0, 2, 0.7), np.arange(4))
    gone = np.exp(-0.7)
    assert late[:2] == pytest.approx(gone, rel=1e-12)
    assert in_time[:2] == pytest.approx(1 - 1.7 * gone, rel=1e-12)
    assert wasted[:2] == pytest.approx(1.7 * gone, rel=1e-12)
    assert (np.diff(late[1:]) > 0).all()


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
    said = "server: at 130 /s its attempts meet too many jobs"
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
    ("old", "low", "high", "label"),
    [
        (False, 0.0, np.inf, ATTEMPTS_ERROR),
        (True, 0.0, attempts.SHORT, SHORT_DROPPING_ERROR),
        (True, attempts.SHORT, np.inf, DROPPING_ERROR),
    ],
)
def test_labels_hold_what_was_measured(old, low, high, label):
    rows = [row for row in attempts.dropping(ROWS, old=old) if low <= float(row["timeout"]) < high]
    most = {name: attempts.errors(rows, name).max() for name in attempts.NUMBERS}
    assert most["throughput"] <= label.throughput <= 1.1 * most["throughput"]
    assert most["response_time"] <= label.response_time <= 1.1 * most["response_time"]
    stated, usual = map(
        float, re.search(r"goodput (.*?)%; 90 of 100 within (.*?)%", label.region).groups()
    )
    assert most["goodput"] <= stated <= 1.1 * most["goodput"]
    judged = ("throughput", "goodput", "response_time")
    ninety = max(np.percentile(attempts.errors(rows, name), 90) for name in judged)
    assert ninety <= usual <= 1.1 * ninety


def test_stored_figures_are_found_again():
    seed = ROWS[4]["seed"]
    stored = [float(row["found"]) for row in ROWS if row["seed"] == seed]
    assert attempts.numbers_of(attempts.model(int(seed)).solve()) == pytest.approx(stored, rel=1e-4)
