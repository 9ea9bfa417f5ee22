"""``headway solve --method simulation``: what it shows and writes, and what it refuses."""

import json

from headway.models.simulating.replica import replica
from tests.support.command import headway, refusal

SINGLE = ["server-single", "--set", "arrival_rate=500", "--set", "delay=1ms"]
SINGLE += ["--set", "service_time=1ms", "--half-width", "20%"]
SIMULATE = ["solve", *SINGLE, "--method", "simulation"]


def test_the_command_shows_intervals_and_says_that_it_simulated():
    result = headway(*SIMULATE, "--percentile", "50,95")
    assert result.code == 0, result.err
    assert "simulated: 10 replicas of" in result.out
    assert "response_time_p95" in result.out
    assert " ± " in result.out
    assert "seed 1" in result.out


def test_json_and_csv_have_values_and_intervals():
    document = json.loads(headway(*SIMULATE, "--seed", "3", "--json").out)
    (point,) = document["points"]
    assert (document["method"], document["seed"], document["half_width"]) == ("simulation", 3, 0.2)
    for number in (*point["outputs"].values(), *point["components"]["node"].values()):
        low, high = number["ci95"]
        assert low <= number["value"] <= high
    header, *rows = headway(*SIMULATE, "--seed", "3", "--csv").out.splitlines()
    assert header == "name,unit,value,ci95_low,ci95_high,method"
    name, unit, value, *_ = rows[1].split(",")
    assert (name, unit) == ("response_time", "s")
    assert float(value) == point["outputs"]["response_time"]["value"]


def test_a_picture_of_it_is_drawn(tmp_path):
    place = tmp_path / "times.svg"
    assert headway(*SIMULATE, "--percentile", "95", "--plot", place).code == 0
    assert "response_time_p95" in place.read_text()


def test_options_of_a_simulation_go_with_it_only():
    text = refusal("solve", *SINGLE)
    assert text == "--half-width needs --method simulation"


def test_the_command_refuses_an_unstable_network_by_its_station():
    text = refusal("solve", "server-single", "--set", "arrival_rate=2000", "--set", "delay=1ms",
                   "--set", "service_time=1ms", "--method", "simulation")  # fmt: skip
    assert text.startswith("node: utilisation 2.00; its queue grows without limit")


def test_the_command_gives_what_is_there_at_ctrl_c(monkeypatch):
    made = []

    def stopping(*requested):
        made.append(replica(*requested))
        if len(made) == 4:
            raise KeyboardInterrupt
        return made[-1]

    monkeypatch.setattr("headway.models.simulating.runs.replica", stopping)
    result = headway(*SIMULATE)
    assert result.code == 130
    assert "simulated: 3 replicas" in result.out
    assert "interrupted: intervals may be wider than the 20% requested" in result.out
