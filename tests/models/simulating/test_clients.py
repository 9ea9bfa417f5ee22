"""Clients that give up and ask again: closed laws, whole chains, and a simulation written apart."""

from math import exp, inf

import numpy as np
import pytest

from headway.errors import GraphError, HeadwayError, Saturated
from headway.models import ModelGraph, parse_model
from headway.models.simulating.playing.run import Run
from headway.queueing import MM1, Delay, MMm, MMmK
from headway.queueing.erlang.impatience import erlang_a
from headway.queueing.playing.estimates import estimate, together
from tests.oracles.impatient_clients import Apart, orbit_chain
from tests.support.cases import mostly_slow
from tests.support.played import PLAYED

SURE = 0.999
"""Confidence of each interval, from fixed seeds."""


def desk(station, numbers, rate, **message):
    notices = message.pop("server_notices", False)
    graph = ModelGraph("desk").station("desk", station, **message)
    return graph.impatient(numbers, server_notices=notices).at(arrival_rate=rate)


# Laws


@pytest.mark.parametrize(
    ("servers", "rate", "patience"), [(1, 0.8, 1.0), (3, 4.5, 0.5), (10, 12.0, 2.0)]
)
@pytest.mark.parametrize("seed", mostly_slow([1, 2, 3], 1))
def test_exponential_patience_is_that_of_erlang_a(servers, rate, patience, seed):
    law = erlang_a(servers, rate, patience)
    found = desk(MMm(1.0, servers), {"patience": patience}, rate).simulate(0.02, seed)
    assert found["abandonment"].holds(law.abandonment, together(0.99, 9))
    served = rate * (1 - law.abandonment)
    assert found["goodput"].holds(served, together(0.99, 9))
    assert found["desk.queue_length"].holds(rate * law.waiting_time + served, SURE)


@pytest.mark.parametrize("rate", [0.7, 1.3])
def test_constant_patience_is_that_of_barrer(rate):
    """M/M/1+D: the unfinished work has density P0 rate exp(-(1 - rate) x) up to T, then falls as
    exp(-x); who finds more than T leaves (Barrer, Operations Research 5, 1957)."""
    most = 2.0
    below = (1 - exp(-(1 - rate) * most)) / (1 - rate)
    idle = 1 / (1 + rate * below + rate * exp(-(1 - rate) * most))
    leave = idle * rate * exp(-(1 - rate) * most)
    found = desk(MM1(1.0), {"patience": most, "patience_scv": 0.0}, rate).simulate(0.01)
    assert found["abandonment"].holds(leave, SURE)


@pytest.mark.parametrize("discipline", ["fcfs", "siro", "lcfs", "ps"])
def test_noticed_timeouts_leave_a_delay_alone(discipline):
    """Exponential service of mean 1, as many servers as jobs: P(S > T) = exp(-T) give up."""
    numbers = {"timeout": 1.5}
    found = desk(MMm(1.0, 400), numbers, 20.0, discipline=discipline, server_notices=True)
    found = found.simulate(0.01)
    assert found["abandonment"].holds(exp(-1.5), SURE)
    # the work that is done is min(S, T), of mean 1 - exp(-T); useful is S where S < T
    useful = 1 - exp(-1.5) - 1.5 * exp(-1.5)
    assert found["wasted_work"].holds(1 - useful / (1 - exp(-1.5)), SURE)
    assert found["desk.queue_length"].holds(20 * (1 - exp(-1.5)), SURE)


def test_work_for_nobody_goes_on_to_the_end():
    numbers = {"timeout": 1.5, "retries": 2}
    found = desk(MMm(1.0, 400), numbers, 20.0).simulate(0.01)
    late = exp(-1.5)
    attempts = 1 + late + late**2
    assert found["attempts"].holds(attempts, SURE)
    assert found["abandonment"].holds(late**3, SURE)
    assert found["throughput"].holds(20 * attempts, SURE)
    assert found["goodput"].holds(20 * (1 - late**3), SURE)
    # of the work of each attempt, that of services below T is useful
    assert found["wasted_work"].holds(2.5 * exp(-1.5), SURE)


def test_a_simulation_waits_for_those_who_come_back_late():
    """Backoffs of 60 s and 120 s beside services of 1 s: replicas begin once both are over."""
    numbers = {"timeout": 1.5, "retries": 2, "backoff": 60.0, "backoff_factor": 2.0}
    found = desk(MMm(1.0, 400), numbers, 20.0).simulate(0.02)
    late = exp(-1.5)
    attempts = 1 + late + late**2
    assert found["attempts"].holds(attempts, SURE)
    assert found["throughput"].holds(20 * attempts, SURE)
    # who is answered at the second or third attempt has waited for the timeouts and backoffs
    in_time = 1 - (1 + 1.5) * late
    waited = in_time * attempts + (1 - late) * (late * 61.5 + late**2 * (61.5 + 121.5))
    assert found["response_time"].holds(waited / (1 - late**3), SURE)


def test_a_delay_is_no_work():
    """Constant 0.4 s on the wire, exponential 0.5 s at a server: in time if that is below 0.6 s."""
    graph = ModelGraph("far").station("wire", Delay(0.4)).station("cpu", MMm(0.5, 50))
    graph = graph.route("wire", "cpu").impatient({"timeout": 1.0})
    found = graph.at(arrival_rate=5.0).simulate(0.02)
    late = exp(-0.6 / 0.5)
    assert found["abandonment"].holds(late, SURE)
    assert found["wasted_work"].holds(late * (1 + 0.6 / 0.5), SURE)


# Whole chains


@pytest.mark.parametrize(
    ("rate", "servers", "room", "persistence", "backoff", "patience"),
    [(1.5, 2, 3, 0.7, 2.0, inf), (2.5, 2, 2, 0.5, 0.5, inf), (1.8, 2, 12, 0.8, 1.5, 0.7)],
)
def test_who_comes_back_is_in_the_orbit_of_the_chain(
    rate, servers, room, persistence, backoff, patience
):
    jobs, away, served = orbit_chain(rate, servers, room, persistence, backoff, patience)
    numbers = {"retries": 1e9, "persistence": persistence, "backoff": backoff, "backoff_scv": 1.0}
    numbers |= {"patience": patience} if patience < inf else {}
    found = desk(MMmK(1.0, servers, room), numbers, rate).simulate(0.01)
    assert found["goodput"].holds(served, SURE)
    assert found["desk.queue_length"].holds(jobs, SURE)
    assert found["abandonment"].holds(1 - served / rate, SURE)
    # each retry has spent one backoff in the orbit: Little's law
    assert found["attempts"].holds(1 + away / backoff / rate, SURE)


# A simulation written apart


@pytest.mark.parametrize(
    ("rate", "retries", "budget", "oldest"),
    mostly_slow(
        [(0.9, 1, inf, inf), (1.3, 3, 0.1, inf), (1.3, 3, inf, 3.0), (1.3, 3, 0.2, 2.0)],
        {(0.9, 1, inf, inf), (1.3, 3, 0.2, 2.0)},
        tuples=True,
    ),
)
def test_ghosts_and_retries_are_those_of_a_simulation_written_apart(rate, retries, budget, oldest):
    """Ratios of counts, of independent replicas of both: within four standard errors."""
    own = {"timeout": 4.0, "retries": retries, "backoff": 0.5, "backoff_factor": 2.0, "jitter": 0.5}
    own |= {"retry_budget": budget} if budget < inf else {}
    message = {"drop_older_than": oldest} if oldest < inf else {}
    found = desk(MMm(1.0, 2), own, rate, **message).simulate(0.02)
    apart = [
        Apart(seed, rate, 2, 4.0, retries, 0.5, budget, oldest).play(6000.0) for seed in range(12)
    ]
    for name, top, bottom in (
        ("attempts", "attempts", "requests"),
        ("abandonment", "given_up", "requests"),
    ):
        other = estimate([each[top] / each[bottom] for each in apart])
        assert abs(found[name].mean - other.mean) < 4.0 * np.hypot(found[name].error, other.error)
    wasted = estimate([1 - each["useful"] / each["work"] for each in apart])
    apart_by = 4.0 * np.hypot(found["wasted_work"].error, wasted.error)
    assert abs(found["wasted_work"].mean - wasted.mean) < apart_by


# What is played, and what is refused


def test_all_that_clients_do_is_played_by_kernel_and_twin():
    """The networks whose states are compared bit for bit do all of it."""
    told = dict.fromkeys(
        (
            *("requests", "attempts", "withdrawn", "late", "given_up", "useful", "wasted", "lost"),
            *("openings", "refused", "open"),
        ),
        0,
    )
    for make in PLAYED.values():
        what = make()
        if not what.classes["asks"].any():
            continue
        run = Run(what, 7, 3, kept=False)
        run.play(200.0)
        for name in told:
            told[name] += run.state.crowds[name].sum()
        assert run.state.crowds["attempts"].sum() > 0
    assert all(told.values()), told


TEXT = """
name = "desk"
[parameters]
arrival_rate = "4 /s"
limit = "300 ms"
[stations.desk]
kind = "MMm"
service_time = "0.5 s"
servers = 3
drop_older_than = "2 s"
[arrivals]
desk = { KEYS }
"""


def written(keys):
    return parse_model(TEXT.replace("KEYS", keys))


def test_a_model_file_says_all_of_it():
    keys = (
        'patience = { mean = "2 s", scv = 0.5 }, timeout = "limit", server_notices = true, '
        'retries = 3, persistence = 0.9, backoff = "50 ms", backoff_factor = 2, jitter = 0.5, '
        'retry_budget = "10%", retry_tokens = 20'
    )
    model = written(keys)
    text = model.graph.clients[""].text
    assert "timeout limit" in text
    assert "retry_budget 0.1" in text
    assert "server notices" in text
    assert parse_model(model.to_toml()).to_toml() == model.to_toml()
    assert "timeout limit" in str(model)


def test_clients_of_a_class():
    model = parse_model("""
        name = "two"
        [classes.web]
        arrival_rate = 1.0
        timeout = "1 s"
        retries = 1
        [classes.batch]
        arrival_rate = 0.1
        [stations.cpu]
        kind = "MM1"
        service_time = "0.4 s"
    """)
    assert parse_model(model.to_toml()).to_toml() == model.to_toml()
    found = model.simulate(0.1)
    assert found["class web.attempts"].mean > 1.01
    assert "class batch.attempts" not in found.estimates or found["class batch.attempts"].mean == 1


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ('patience = "-1 s"', "patience is -1; it must be above 0"),
        ("retries = 2", "retries need a timeout"),
        ('timeout = "1 s", retries = 1.5', "retries is 1.5; it must be a whole number"),
        ('timeout = "1 s", retry_budget = "120%"', "retry_budget is 1.2; it must be from 0 to"),
        ('timeout = "1 s", backoff = "-1 ms"', "backoff is -0.001"),
        ('timeout = "1 s", jitter = 2', "jitter is 2; it must be from 0 to 1"),
        ('timeout = "1 s", server_notices = 1', "must be true or false"),
        ('timeout = "1 s", patiense = 1', "unknown key patiense"),
        ('patience = { median = "1 s" }', "{ mean = time, scv = number }"),
        ('timeout = "5 MB"', "MB"),
    ],
)
def test_bad_input_is_refused_in_a_line(keys, why):
    text = TEXT.replace('drop_older_than = "2 s"\n', "")
    with pytest.raises(HeadwayError) as refused:
        parse_model(text.replace("KEYS", keys)).simulate()
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_retries_without_end_or_pause_are_refused():
    with pytest.raises(HeadwayError, match="need a backoff"):
        desk(MMmK(1.0, 1, 2), {"retries": inf}, 1.0).simulate()


def test_a_queue_of_ghosts_that_only_grows_is_refused():
    numbers = {"timeout": 4.0, "retries": 3}
    with pytest.raises(Saturated, match="clients who ask again tip it over"):
        desk(MMm(1.0, 2), numbers, 1.9).simulate()


def test_what_is_not_known_is_refused():
    numbers = {"timeout": 1.0}
    graph = ModelGraph("one").station("cpu", MM1(0.1)).impatient(numbers)
    with pytest.raises(GraphError, match="give up"):
        graph.at(arrival_rate=1.0).closed(3, 1.0).simulate()
    with pytest.raises(GraphError, match="regions"):
        graph.region("lock", ["cpu"], 1).at(arrival_rate=1.0).simulate()
    with pytest.raises(GraphError, match="closed class"):
        ModelGraph("one").job_class("a", population=3).impatient(numbers, "a")
    with pytest.raises(GraphError, match="no class"):
        ModelGraph("one").impatient(numbers, "a")
    with pytest.raises(GraphError, match="differs by station"):
        graph.impatient({"timeout": 2.0})
    with pytest.raises(GraphError, match="no 'pacience'"):
        graph.impatient({"pacience": 2.0})


def test_stations_drop_old_requests_of_clients_that_wait():
    """M/M/1 with service for who waited less than T only, first come first served: as M/M/1+D."""
    rate, most = 0.9, 2.0
    below = (1 - exp(-(1 - rate) * most)) / (1 - rate)
    idle = 1 / (1 + rate * below + rate * exp(-(1 - rate) * most))
    leave = idle * rate * exp(-(1 - rate) * most)
    model = ModelGraph("old").station("cpu", MM1(1.0), drop_older_than=most)
    found = model.at(arrival_rate=rate).simulate(0.01)
    assert found["loss_probability"].holds(leave, SURE)
