"""``headway solve --method simulation``: what it shows and writes, and what it refuses."""

import json
import re

import pytest

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


def test_layered_services_are_simulated_as_precisely_as_asked(tmp_path):
    """A closed M/M/1//3, S = Z = 1: p0 = 1 / 16, X = 15 / 16."""
    path = tmp_path / "three.toml"
    path.write_text(
        'name = "three"\n[processors.cpu]\n[tasks.users]\nprocessor = "cpu"\npopulation = 3\n'
        "think_time = 1\n[tasks.users.entries.use]\ndemand = 1\n"
    )
    asked = ("solve", str(path), "--method", "simulation", "--half-width", "3%", "--json")
    (point,) = json.loads(headway(*asked).out)["points"]
    number = point["outputs"]["throughput"]
    low, high = number["ci95"]
    assert abs(number["value"] - 15 / 16) < 2 * (high - low)


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


CPU = '[stations.cpu]\nkind = "MM1"\nservice_time = "1 ms"\n'
BAD = {
    "a population of 10^9": (
        f'[parameters]\npopulation = 1000000000\nthink_time = "10 s"\n{CPU}',
        r"bad: headway simulates up to 1,000,000 jobs, not 1,000,000,000, which would take "
        r"2\.4e\+11 events or more; give it a smaller population, or solve it",
    ),
    "no time in the only station": (
        "[parameters]\npopulation = 2\n" + CPU.replace("1 ms", "0 s"),
        "bad: its jobs take no time, so there is nothing to simulate; give it service times",
    ),
    "a loop that no job leaves": (
        'routes = [{ from = "cpu", to = "cpu" }]\n[parameters]\narrival_rate = 1\n' + CPU,
        "no job leaves the loop of cpu; lower a probability in it below 1",
    ),
    "repeated service in no time": (
        'routes = [{ from = "cpu", to = "disk" }]\n[parameters]\narrival_rate = 1\n'
        '[stations.cpu]\nkind = "MM1K"\nservice_time = 0\ncapacity = 2\nblocking = "repetitive"\n'
        '[stations.disk]\nkind = "MM1K"\nservice_time = 1\ncapacity = 1\nblocking = "repetitive"\n',
        "jobs circulate without end in no time; give them service times",
    ),
    "shares of arrivals that are all zero": (
        f"{CPU}[classes.web]\narrival_rate = 1\narrives = {{ cpu = 0 }}\n",
        r".*class web: all shares of arrives are 0; give one station a share above 0",
    ),
    "arrival rates that are all zero": (
        f"{CPU}[arrivals]\ncpu = 0\n",
        "bad: no jobs arrive, so there is nothing to simulate; give it an arrival rate or a "
        "population",
    ),
    "sizes of batches without chances": (
        f"{CPU}[arrivals]\ncpu = {{ rate = 1, batch = {{ 1 = 0.0, 2 = 0.0 }} }}\n",
        "arrivals at cpu: probabilities of the sizes of a batch sum to 0; make them sum to 1",
    ),
    "no replicas": (
        f'[parameters]\narrival_rate = 1\n{CPU}replicas = 0\nroute = "shortest"\n',
        r".*: cpu: replicas is 0; it must be a whole number of 1 or more",
    ),
    "nobody there": (
        f"[parameters]\npopulation = 0\n{CPU}",
        "bad: no jobs arrive, so there is nothing to simulate; give it an arrival rate or a "
        "population",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_simulation_of_bad_input_is_refused_in_one_line(case, tmp_path):
    text, reason = BAD[case]
    place = tmp_path / "bad.toml"
    place.write_text(f'name = "bad"\n{text}')
    assert re.fullmatch(reason, refusal("solve", place, "--method", "simulation"))


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--half-width", "0", "half_width is 0; it must be between 0 and 1"),
        ("--seed", "-1", "seed is -1; it must be a whole number of 0 or more"),
        ("--at-most", "0", "at_most is 0; it must be positive"),
        ("--workers", "0", "0 workers: give 1 to 1024, or none for this process only"),
        ("--percentile", "100", "percentile is 100; it must be between 0 and 100"),
    ],
)
def test_bad_wishes_of_a_simulation_are_refused_in_one_line(option, value, reason):
    given = [word for word in SIMULATE if word not in ("--half-width", "20%")]
    assert refusal(*given, option, value) == reason
