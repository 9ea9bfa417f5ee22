"""``headway retries``: the states of a model, in every form, and beside servers that tip over."""

import json
from dataclasses import replace

import numpy as np
import pytest

from headway.errors import HeadwayError
from headway.models import ModelGraph, parse_model
from headway.models.analysis.retries import retries
from headway.models.files.writing import to_toml
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.playing.run import Run
from headway.models.simulating.scoring import score_of
from headway.queueing import MM1, Delay, MMm, MMmK
from headway.queueing.retries.lives import Lives

NUMBERS = {"timeout": 0.1, "retries": 3}


def server(load, numbers=NUMBERS, station=None, **message):
    graph = ModelGraph("server").station("server", station or MMm(0.008, 4), **message)
    return graph.impatient(numbers).at(arrival_rate=load)


def test_a_server_tips_by_itself_within_the_times_stated():
    """24 servers from an empty start until 250 jobs are there: mean within three standard errors.

    A backlog of 250 jobs grows by 1260 a second, so it adds less than a second to the times.
    """
    found, score = retries(server(440.0)).tipping, score_of(blueprint(server(440.0)))
    times = []
    for replica in range(24):
        run, until = Run(score, 1, replica, kept=False), 0.0
        while run.state.queues["present"][0] < 250:
            until += 0.5
            run.play(until)
        times.append(until)
    error = np.std(times, ddof=1) / len(times) ** 0.5
    least, most = found.alone
    assert least - 3 * error < np.mean(times) < most + 3 * error


@pytest.mark.parametrize("beside", [0.4, 1.5])
def test_a_pulse_tips_a_server_only_if_it_is_large_enough(beside):
    """At 300 a second, of six servers none tips after 0.4 of the pulse, and all do after 1.5."""
    model = server(300.0)
    pulse = retries(model).tipping.pulse
    size = round(beside * pulse)
    over = []
    for replica in range(6):
        run = Run(score_of(blueprint(model)), 2, replica, kept=False)
        run.play(1.0)
        run.state.left[0] = size  # all of them come with the next
        run.play(8.0)
        over.append(int(run.state.queues["present"][0]) > 500)
    assert over == [beside > 1] * 6


@pytest.mark.parametrize("beside", [0.4, 1.5])
def test_a_pulse_tips_a_server_that_refuses_as_well(beside):
    """At 300 a second and 100 places, of six servers none tips after 0.4 of it, all after 1.5."""
    model = server(300.0, station=MMmK(0.008, 4, 100))
    size = round(beside * retries(model).tipping.pulse)
    over = []
    for replica in range(6):
        run = Run(score_of(blueprint(model)), 2, replica, kept=False)
        run.play(1.0)
        run.state.left[0] = size
        run.play(8.0)
        over.append(int(run.state.queues["present"][0]) > 80)
    assert over == [beside > 1] * 6


def test_a_server_that_refuses_says_how_long_its_states_last():
    once = str(retries(server(300.0, NUMBERS, MMmK(0.008, 4, 100))))
    words = " ".join(once.split())
    assert "a client that is refused and retries at once is refused again" in words
    assert "mean time until it tips by chance, at least" in words
    assert "they last longer in 95 of 100 cases" in words
    assert "when the bad state ends: none ended" in words
    short = str(retries(server(300.0, {**NUMBERS, "backoff": 0.05}, MMmK(0.008, 4, 20))))
    assert "asks again at once" not in short
    assert "retries cannot tip it over" in short
    assert "tips by chance" not in short


def test_every_form_says_the_same():
    found = retries(server(400.0))
    document = json.loads(found.to_json())
    assert document["load"] == 400.0
    assert document["bad_state_from"] == pytest.approx(125.0)
    assert [one["state"] for one in document["states"]] == ["good", "threshold", "queue grows"]
    assert found.to_csv().splitlines()[0].startswith("state,stability,attempt_rate")
    assert "requests in a burst that tips it over" in str(found)
    assert repr(found) == "Retries(server, 3 states)"
    assert found.plot() is not None


def test_words_for_states():
    calm = retries(server(100.0))
    assert [one["state"] for one in json.loads(calm.to_json())["states"]] == ["good"]
    assert "no burst" in str(calm)
    assert "no good state" in str(retries(server(480.0)))
    dropping = retries(server(320.0, drop_older_than=0.1))
    names = [one["state"] for one in json.loads(dropping.to_json())["states"]]
    assert names == ["good", "threshold", "bad"]
    assert "mean time until the bad state ends by chance" in str(dropping)
    assert "the load above which the bad state lasts" in str(dropping)
    lasts = json.loads(dropping.to_json())
    assert lasts["bad_state_from"] < lasts["bad_lasting_from"] < lasts["good_state_up_to"]
    assert lasts["bad_ends_after"] > 0
    assert lasts["bad_lasts_at_least"] is None
    assert json.loads(calm.to_json())["bad_ends_after"] is None
    without = replace(dropping.tipping, recovers=Lives(3000.0, 0))
    long = replace(dropping, tipping=without)
    assert "mean duration of the bad state, at least" in str(long)
    assert "none ended" in str(long)
    lasts = json.loads(long.to_json())
    assert lasts["bad_ends_after"] is None
    assert lasts["bad_lasts_at_least"] > 100
    assert "only one state at each load: retries cannot" in str(
        retries(server(400.0, {"timeout": 0.1}))
    )


def test_what_has_tipped_over_is_not_said_to_tip():
    fallen = retries(server(480.0))
    assert "tips by chance" not in str(fallen)
    assert json.loads(fallen.to_json())["alone_from"] is None
    hopeless = str(retries(server(400.0, {"timeout": 1e-8, "retries": 3})))  # one state at any load
    assert "at this load the queue grows" in hopeless
    assert "cannot tip it over" not in hopeless


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (server([100.0, 200.0]), "one value"),
        (
            ModelGraph("calm").station("cpu", MM1(0.1)).at(arrival_rate=1.0),
            "its clients never give up",
        ),
        (server(100.0, {"patience": 0.1}), "timeout"),
        (server(100.0, station=Delay(0.1)), "one MM1"),
        (server(0.0), "no requests arrive"),
        (server(100.0, station=MMmK(0.008, 4, 20_000)), "up to 10,000 places"),
    ],
)
def test_what_has_no_states_is_refused_in_a_line(model, why):
    with pytest.raises(HeadwayError, match=why) as refused:
        retries(model)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("ever", ["inf", '"inf"'])
def test_retries_without_end_are_written_in_a_file(ever):
    """Away customers of M/M/1/1 with retrials: rho^2 / (1 - rho) + lambda / theta rho / (1 - rho).

    Falin and Templeton, *Retrial Queues* (1997), section 1.2.
    """
    text = (
        'name = "line"\n[parameters]\narrival_rate = 0.5\n[stations.line]\nkind = "MMmK"\n'
        'service_time = "1 s"\nservers = 1\ncapacity = 1\n[arrivals]\n'
        f'line = {{ retries = {ever}, backoff = {{ mean = "2 s", scv = 1 }} }}\n'
    )
    model = parse_model(text)
    found = model.solve()
    away = 0.25 / 0.5 + 2 * 0.5 * 0.5 / 0.5
    assert found["response_time"] == pytest.approx((away + 0.5) / 0.5, rel=1e-9)
    assert found["abandonment"] == 0
    again = parse_model(to_toml(model))
    assert again.solve()["response_time"] == pytest.approx(found["response_time"], rel=1e-12)
