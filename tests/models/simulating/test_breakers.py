"""Circuit breakers of clients: a Markov renewal process, a simulation written apart, properties."""

import json
from dataclasses import replace
from math import exp

import numpy as np
import pytest

from headway.errors import GraphError, HeadwayError
from headway.models import ModelGraph, parse_model
from headway.models.analysis.retries import retries
from headway.models.over.days import Day
from headway.models.over.over import over_model
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.playing.rows import Breaker
from headway.models.simulating.playing.run import Run
from headway.models.simulating.playing.state import COUNTED
from headway.models.simulating.scoring import score_of
from headway.queueing import MM1, MMm, MMmK
from headway.queueing.playing.estimates import estimate
from tests.oracles.impatient_clients import Guarded, GuardedServer
from tests.support.cases import mostly_slow
from tests.support.command import headway, refusal

SURE = 0.999
"""Confidence of each interval, from fixed seeds."""


def breaker(failures, of, open_for, probes):
    numbers = {"failures": failures, "of": of, "open_for": open_for, "probes": probes}
    return {f"circuit_breaker_{part}": number for part, number in numbers.items()}


def desk(station, numbers, rate):
    graph = ModelGraph("desk").station("desk", station).impatient(numbers)
    return graph.at(arrival_rate=rate)


def run_of(model, until, seed=1):
    run = Run(score_of(blueprint(model)), seed, 0, kept=False)
    run.play(until)
    return run


# Laws


def closed_law(rate, open_for):
    """M/M/1/1, services of mean 1, a breaker that opens at each refusal and has one probe.

    At an opening the server is busy, and so it is for the probe with probability b; then it opens
    again. Else the probe is served, the server idle, and the next refusal takes (1 + rate) / rate
    arrivals at an idle server, each of them followed by an end of service or by an arrival.
    """
    b = exp(-open_for) * rate / (1 + rate)
    calm = (1 + rate) / rate * (1 / rate + 1 / (1 + rate))
    cycle = open_for + 1 / rate + (1 - b) * (1 + calm)
    barred = (open_for + (1 - b)) / cycle
    return open_for / cycle, barred, 1 / cycle, (1 - b) * (1 + (1 + rate) / rate) / cycle


@pytest.mark.parametrize(("rate", "open_for"), [(0.5, 2.0), (2.0, 0.3)])
def test_the_renewal_process_is_right_where_it_can_be_written(rate, open_for):
    found = GuardedServer(rate, 1, 1, 1, 1, open_for).law()
    assert found == pytest.approx(closed_law(rate, open_for), rel=1e-12)


@pytest.mark.parametrize(
    ("rate", "failures", "of", "open_for", "probes"),
    [(0.5, 1.0, 1, 2.0, 1), (1.0, 0.5, 4, 1.5, 3), (2.0, 2 / 3, 3, 0.3, 2), (1.0, 0.7, 5, 0.0, 1)],
)
def test_a_breaker_is_that_of_a_markov_renewal_process(rate, failures, of, open_for, probes):
    opens, reopens = (int(np.ceil(failures * n - 1e-9)) for n in (of, probes))
    law = GuardedServer(rate, of, opens, probes, reopens, open_for).law()
    numbers = breaker(failures, of, open_for, probes)
    found = desk(MMmK(1.0, 1, 1), numbers, rate).simulate(0.01)
    names = "breaker_open", "breaker_refusals", "breaker_openings", "goodput"
    for name, value in zip(names, law, strict=True):
        assert found[name].holds(value, SURE), (name, found[name], value)
    refused = found["loss_probability"].mean * (1 - law[1])
    assert law[3] / rate + law[1] + refused == pytest.approx(1.0, rel=0.01)


# A simulation written apart


@pytest.mark.parametrize(
    ("rate", "budget", "room", "open_for"),
    mostly_slow(
        [(1.5, np.inf, np.inf, 5.0), (1.5, 0.1, np.inf, 20.0), (2.5, np.inf, 6, 2.0)],
        {(1.5, np.inf, np.inf, 5.0)},
        tuples=True,
    ),
)
def test_a_breaker_is_that_of_a_simulation_written_apart(rate, budget, room, open_for):
    """Ratios of counts, of independent replicas of both: within four standard errors."""
    own = {"timeout": 4.0, "retries": 3, "backoff": 0.5, "backoff_factor": 2.0, "jitter": 0.5}
    own |= {"retry_budget": budget} if budget < np.inf else {}
    station = MMm(1.0, 2) if room == np.inf else MMmK(1.0, 2, room)
    found = desk(station, own | breaker(0.5, 10, open_for, 3), rate).simulate(0.02)
    until = 2400.0
    apart = [
        Guarded(seed, rate, 2, 4.0, 3, 0.5, budget, room=room, open_for=open_for).play(until)
        for seed in range(12)
    ]
    counted = until * 5 / 6
    pairs = {
        "attempts": [each["attempts"] / each["requests"] for each in apart],
        "abandonment": [each["given_up"] / each["requests"] for each in apart],
        "goodput": [each["answered"] / counted for each in apart],
        "breaker_refusals": [each["barred"] / each["attempts"] for each in apart],
        "breaker_openings": [each["openings"] / counted for each in apart],
        "breaker_open": [each["openings"] * open_for / counted for each in apart],
    }
    for name, values in pairs.items():
        other = estimate(values)
        apart_by = 4.0 * np.hypot(found[name].error, other.error)
        assert abs(found[name].mean - other.mean) < apart_by, (name, found[name], other)


# Properties


RETRIES = {"timeout": 3.0, "retries": 2, "backoff": 0.5}


def test_a_breaker_that_never_opens_changes_nothing():
    """With the same random numbers, every count is the same."""
    calm = RETRIES | breaker(1.0, 1000, 5.0, 2)
    one, other = (run_of(desk(MMm(1.0, 2), each, 0.6), 3000.0) for each in (RETRIES, calm))
    assert other.counts.crowds["openings"].sum() == 0
    for name, fields in COUNTED.items():
        for field in fields:
            assert (getattr(one.counts, name)[field] == getattr(other.counts, name)[field]).all()


def test_no_attempt_and_no_request_is_lost():
    """Each attempt is refused by the breaker or the server, ends, or is still there."""
    run = run_of(desk(MMmK(1.0, 2, 5), RETRIES | breaker(0.5, 4, 2.0, 3), 3.0), 2000.0)
    (crowd,), jobs = run.state.crowds, run.state.jobs
    there = int(run.state.queues["present"].sum())
    past = sum(int(crowd[name]) for name in ("refused", "lost", "ended", "late", "withdrawn"))
    assert crowd["refused"] > 0
    assert crowd["lost"] > 0
    assert crowd["attempts"] == past + there
    asking = int(np.isin(jobs["queue"], (-5, -6)).sum())
    assert crowd["requests"] == crowd["ended"] + crowd["given_up"] + asking


def test_it_is_open_for_as_long_as_it_says():
    run = run_of(desk(MMmK(1.0, 2, 5), RETRIES | breaker(0.5, 4, 2.0, 3), 3.0), 2000.0)
    (crowd,) = run.state.crowds
    left = max(crowd["until"] - 2000.0, 0.0) if crowd["breaker"] == Breaker.OPEN else 0.0
    assert crowd["open"] == pytest.approx(crowd["openings"] * 2.0 - left, rel=1e-9)


def test_each_class_has_a_breaker_of_its_own():
    graph = ModelGraph("two").job_class("web", arrival_rate=1.0).job_class("log", arrival_rate=0.5)
    graph = graph.job_class("batch", arrival_rate=0.1).station("cpu", MM1(0.6))
    graph = graph.impatient({"timeout": 1.0, **breaker(0.3, 5, 3.0, 2)}, "web")
    found = graph.impatient({"timeout": 30.0, **breaker(0.5, 5, 3.0, 2)}, "log").at().simulate(0.1)
    web, log = (found[f"class {name}.breaker_open"].mean for name in ("web", "log"))
    assert web > 0.05
    assert log < 0.01
    assert found["breaker_open"].mean == pytest.approx((web + log) / 2, rel=1e-9)
    assert "class batch.breaker_open" not in found.estimates


def test_the_breaker_keeps_a_server_up_that_retries_bring_down():
    """Of clients who ask at once again, 1.9 a second at two servers tip over without it."""
    numbers = {"timeout": 4.0, "retries": 3, **breaker(0.5, 10, 10.0, 3)}
    found = desk(MMm(1.0, 2), numbers, 1.9).simulate(0.1)
    assert found["desk.queue_length"].mean < 20


# Model files


TEXT = """
name = "desk"
[parameters]
arrival_rate = "4 /s"
limit = "300 ms"
[stations.desk]
kind = "MMm"
service_time = "0.5 s"
servers = 3
[arrivals]
desk = { timeout = "1 s", circuit_breaker = { BREAKER } }
"""
WHOLE = 'failures = "50%", of = 20, open_for = "limit", probes = 4'


def written(keys):
    return parse_model(TEXT.replace("BREAKER", keys))


def test_a_model_file_says_it():
    model = written(WHOLE)
    assert "circuit_breaker_open_for limit" in model.graph.clients[""].text
    assert parse_model(model.to_toml()).to_toml() == model.to_toml()
    found = model.simulate(0.1)
    assert 0 < found["breaker_open"].mean < 1
    assert any("share a circuit breaker" in note for note in found.notes)
    assert str(model.meaning("breaker_openings").unit) == "openings/s"


def test_of_and_probes_need_not_be_given():
    (clients,) = (
        jobs.clients for jobs in blueprint(written("failures = 0.1, open_for = 5")).classes
    )
    assert clients == replace(clients, circuit_breaker_of=100.0, circuit_breaker_probes=10.0)
    assert clients.breaks


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ('failures = 0, open_for = "5 s"', "failures is 0; it must be above 0 and up to 100%"),
        ('failures = "150%", open_for = "5 s"', "failures is 1.5; it must be above 0"),
        ('failures = 0.5, of = 0, open_for = "5 s"', "of is 0; it must be a whole number from 1"),
        ('failures = 0.5, of = 2.5, open_for = "5 s"', "of is 2.5; it must be a whole number"),
        ('failures = 0.5, of = 1e7, open_for = "5 s"', "from 1 to 1,000,000"),
        ('failures = 0.5, open_for = "-5 s"', "open_for is -5; it must be zero or more"),
        ('failures = 0.5, open_for = "5 s", probes = 0', "probes is 0; it must be a whole number"),
        ('failures = 0.5, open_for = "5 MB"', "MB"),
        ('open_for = "5 s"', "'failures' is missing"),
        ("failures = 0.5", "'open_for' is missing"),
        ('failures = 0.5, open_for = "5 s", of_last = 3', "unknown key of_last"),
    ],
)
def test_bad_input_is_refused_in_a_line(keys, why):
    with pytest.raises(HeadwayError) as refused:
        written(keys).simulate()
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_breaker_needs_something_that_can_fail():
    text = TEXT.replace('timeout = "1 s", ', "").replace("BREAKER", WHOLE)
    with pytest.raises(HeadwayError, match="circuit_breaker needs attempts that can fail"):
        parse_model(text)
    with pytest.raises(HeadwayError, match="must be a table"):
        parse_model(TEXT.replace("{ BREAKER }", "0.5"))
    endless = {"timeout": 1.0, "retries": np.inf, **breaker(0.5, 4, 1.0, 1)}
    with pytest.raises(HeadwayError, match="without end need a backoff where jobs are refused"):
        desk(MM1(0.5), endless, 1.0).simulate()


@pytest.mark.parametrize("method", ["auto", "attempts", "erlang-a", "retrials"])
def test_methods_without_chance_refuse_it(method):
    with pytest.raises(GraphError, match="a circuit breaker has no formula; simulate"):
        written(WHOLE).solve(method=method)
    with pytest.raises(GraphError, match="a circuit breaker has no formula; simulate"):
        retries(written(WHOLE))


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve",),
        ("solve", "--percentile", "95"),
        ("solve", "--queue-lengths", "desk"),
        ("retries",),
        ("sensitivity",),
        ("sweep", "--set", "arrival_rate=1:3:1", "--output", "goodput"),
        ("size", "--target", "goodput>=3/s", "--choose", "limit=1:4", "--cost", "limit"),
        ("check",),
        ("balance",),
    ],
)
def test_commands_refuse_it_by_name(arguments, tmp_path):
    path = tmp_path / "desk.toml"
    path.write_text(TEXT.replace("BREAKER", WHOLE))
    command, *options = arguments
    assert "a circuit breaker has no formula; simulate" in refusal(command, path, *options)


def test_its_numbers_have_units_in_every_form(tmp_path):
    path = tmp_path / "desk.toml"
    path.write_text(TEXT.replace("BREAKER", WHOLE))
    asked = "solve", path, "--method", "simulation", "--half-width", "20%"
    assert "openings/s" in headway(*asked).out
    assert "\nbreaker_openings,1/s," in headway(*asked, "--csv").out
    found = json.loads(headway(*asked, "--json").out)["points"][0]["outputs"]
    assert {"breaker_refusals", "breaker_open", "breaker_openings"} <= set(found)


def test_a_day_has_its_periods():
    """Open at most as long as it opens, and not at all while nothing comes."""
    model = written('failures = "50%", of = 20, open_for = "2 s", probes = 4')
    day = Day((0.0, 50.0, 100.0, 150.0), (4.0, 12.0, 0.0, 0.0))
    found = over_model(model, day, start="empty", every=50.0)
    assert found.method == "simulation"
    openings, share = found["breaker_openings"], found["breaker_open"]
    assert openings[1] > 0
    assert (share.cumsum() <= 2.0 * openings.cumsum() + 1e-9).all()
    assert share.sum() == pytest.approx(2.0 * openings.sum(), rel=1e-9)
    assert np.isnan(found["breaker_refusals"][2])
    assert any("share a circuit breaker" in note for note in found.notes)
