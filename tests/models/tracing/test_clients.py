"""Clients who wait for answers in place of requests from outside: in models and beside traces."""

import re
from pathlib import Path

import numpy as np
import pytest

import headway
from headway.errors import HeadwayError
from headway.models.files.reading import parse_model
from headway.models.reading.traces import traces_at
from headway.models.tracing.clients import Clients, clients_of
from headway.models.tracing.traced import TracedModel, model_read, model_traces
from tests.oracles.traced_services import Played, PlayedEntry, play
from tests.support.command import refusal
from tests.support.traced import read_of

OPEN = """
name = "pair"
[parameters]
arrival_rate = "20 /s"
share = { value = 0.25, min = 0, max = 1 }
[processors.cpu]
[tasks.web]
processor = "cpu"
[tasks.web.entries.page]
demand = "20 ms"
arrival_rate = "arrival_rate * (1 - share)"
[tasks.web.entries.form]
demand = "20 ms"
arrival_rate = "arrival_rate * share"
[presets.night]
arrival_rate = 2
share = 0.5
"""
BY_HAND = """
name = "pair"
[parameters]
share = { value = 0.25, min = 0, max = 1 }
[processors.cpu]
[tasks.users]
population = 7
think_time = "0.1 s"
[tasks.users.entries.visit]
flow = [{ choice = [["1 - share", "a"], ["share", "b"]] }]
activities.a = { fixed = true, calls = { page = 1 } }
activities.b = { fixed = true, calls = { form = 1 } }
[tasks.web]
processor = "cpu"
entries.page = { demand = "20 ms" }
entries.form = { demand = "20 ms" }
"""


@pytest.fixture(scope="module")
def shop() -> TracedModel:
    return model_traces(["traces/*.jsonl.gz"], "shop", clients={"closed-16": 16}, think_time=0.05)


def repaired(clients: int, think: float, demand: float) -> float:
    """Response time of clients at one exponential server, by the recursion of mean values."""
    inside = response = 0.0
    for n in range(1, clients + 1):
        response = demand * (1 + inside)
        inside = n * response / (think + response)
    return response


@pytest.mark.parametrize("population", [1, 3, 20])
def test_one_server_answers_its_clients_as_a_machine_is_repaired(population: int) -> None:
    """Both entries take as long, so their thread is the machine repair model: exact to 1e-9."""
    closed = parse_model(OPEN, "pair").closed(population, "0.1 s")
    answer = closed.solve()
    truth = repaired(population, 0.1, 0.02)
    assert float(answer.response_time) == pytest.approx(truth, rel=1e-9)
    assert float(answer.throughput) == pytest.approx(population / (0.1 + truth), rel=1e-9)


def test_it_is_the_reference_task_that_one_would_write() -> None:
    closed, written = parse_model(OPEN, "pair").closed(7, 0.1), parse_model(BY_HAND, "pair")
    assert "arrival_rate" not in closed.parameters
    for share in (0.0, 0.25, 0.8):
        ours, theirs = (each.at(share=share).solve() for each in (closed, written))
        assert float(ours.response_time) == pytest.approx(float(theirs.response_time), rel=1e-9)


def test_it_takes_other_numbers_presets_and_files() -> None:
    closed = parse_model(OPEN, "pair").closed(7, 0.1)
    assert closed.with_preset("night").inputs["share"] == 0.5
    assert closed.closed(3).inputs["population"] == 3
    again = parse_model(closed.to_toml(), "pair")
    times = [float(each.solve().response_time) for each in (closed, again)]
    assert times[0] == pytest.approx(times[1], rel=1e-9)
    rows = closed.at(population=np.array([1.0, 7.0])).solve().response_time
    assert float(rows[1]) == pytest.approx(times[0], rel=1e-9)


def test_services_that_have_clients_get_no_others() -> None:
    with pytest.raises(HeadwayError, match=r"pair cannot be closed: it has clients; set users_"):
        parse_model(BY_HAND, "pair").closed(3)


def test_requests_are_at_random_unless_somebody_says_who_sent_them(shop: TracedModel) -> None:
    """The page says what the model would say without; its clients are told in every form."""
    at_random = float(shop.model.with_preset("closed_16").solve().response_time)
    page = Path("docs/how-to/from-traces-to-a-model.md").read_text()
    assert re.search(rf"it would\s+say {1000 * at_random:.2f} ms", page)
    closed = shop.compared[-1]
    assert closed.clients == Clients(16, 0.05)
    assert abs(closed.difference or 1.0) < 0.1 < at_random / closed.load.response_time - 1
    assert "closed-16: 16 clients, think time 50 ms" in str(shop)
    assert '"population": 16' in shop.to_json()


def test_a_closed_load_near_saturation_is_predicted() -> None:
    """Simulated at random up to 70%; 40 clients keep the server 96% busy, where R is N / X - Z."""
    one = Played({"web": 4.0}, {"page": PlayedEntry("web", 0.02)}, {"page": 1.0})
    loads = [play(one, share * 200, 2000, 60 + k) for k, share in enumerate((0.3, 0.5, 0.7))]
    model = model_read(read_of(loads), "one").model
    answer = float(model.closed(40, 0.15).solve().response_time)
    assert answer == pytest.approx(_of_machines(40, 4, 0.15, 0.02), rel=0.1)


def _of_machines(clients: int, servers: int, think: float, demand: float) -> float:
    """Mean response time in M/M/m with a finite population, by its birth and death equations."""
    logs = [0.0]
    for n in range(1, clients + 1):
        logs.append(logs[-1] + np.log((clients - n + 1) / think * demand / min(n, servers)))
    chance = np.exp(np.array(logs) - max(logs))
    chance /= chance.sum()
    inside = float(chance @ np.arange(clients + 1))
    return inside / ((clients - inside) / think)


def test_traces_are_compared_with_clients(shop: TracedModel) -> None:
    traces = traces_at(["traces/closed-16.otlp.jsonl.gz@population=16,think_time=50ms"])
    assert traces is not None
    beside = headway.compare(shop.model, traces)
    ours, theirs = beside.parts[0].predicted, shop.compared[-1].response_time
    assert ours == pytest.approx(theirs, rel=1e-5)  # shares of the file have six digits
    assert "closed-16: 16 clients, think time 50 ms" in beside.notes


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["--clients", "closed=16"], "there is no load 'closed'; did you mean closed-16?"),
        (["--clients", "closed-16=-1"], "population of clients is -1; give a whole number"),
        (["--clients", "1.5"], "population of clients is 1.5; give a whole number of 1 or more"),
        (["--clients", "0"], "population of clients is 0; give a whole number of 1 or more"),
        (["--clients", "closed-16=many"], "'many'"),
        (["--clients", "16", "--clients", "8"], "give one number, or LOAD=NUMBER once"),
        (["--think", "50ms"], "add --clients"),
        (["--clients", "closed-16=16", "--think", "-1s"], "think_time is -1 s"),
    ],
)
def test_impossible_clients_are_refused_in_one_line(command: list[str], message: str) -> None:
    assert message in refusal("model", "traces/closed-16.otlp.jsonl.gz", *command)


def test_a_think_time_alone_is_refused() -> None:
    with pytest.raises(HeadwayError, match="give their number too"):
        clients_of({"think_time": "5 ms"})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"population": "16", "arrival_rate": "100/s"}, "population and arrival_rate are both"),
        ({"population": "2.5"}, "population of clients is 2.5; give a whole number"),
        ({"population": "3", "think_time": "-2 ms"}, r"think_time is -2 ms; it must be 0 s or"),
    ],
)
def test_impossible_clients_of_a_file_are_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(HeadwayError, match=message):
        clients_of(settings)


def test_traces_beside_a_model_have_no_picture(shop: TracedModel, tmp_path: Path) -> None:
    model = tmp_path / "shop.toml"
    model.write_text(shop.text)
    of = ["traces/closed-16.otlp.jsonl.gz@population=16,think_time=50ms"]
    asked = ["compare", str(model), "--data", *of, "--plot", str(tmp_path / "shop.svg")]
    assert "there is no picture of this answer; leave it out" in refusal(*asked)
