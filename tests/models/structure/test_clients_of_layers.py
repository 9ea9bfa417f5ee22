"""Layered services closed by a task of clients: names of their own, shares of none, replicas."""

import json
from pathlib import Path

import pytest

from headway.errors import HeadwayError
from headway.models.files.reading import parse_model
from headway.models.structure.model import Model
from tests.support.command import headway, refusal

TWO = """
name = "two"
[parameters]
{own}
a = "10 /s"
b = "30 /s"
[processors.cpu]
[tasks.web]
processor = "cpu"
threads = {threads}
entries.page = {{ demand = "{demand}", arrival_rate = "a" }}
entries.form = {{ demand = "15 ms", arrival_rate = "{rate}" }}
"""


def _two(own: str = "", threads: str = "1", demand: str = "5 ms", rate: str = "b") -> Model:
    return parse_model(TWO.format(own=own, threads=threads, demand=demand, rate=rate), "two")


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (_two("population = 3", threads='"population"'), "population"),
        (_two('think_time = "5 ms"', demand="think_time"), "think_time"),
        (_two("population = 3", rate="b * population"), "population"),
        (
            _two('population = 3\nthink_time = "5 ms"', '"population"', "think_time"),
            "population and think_time",
        ),
    ],
)
def test_services_with_numbers_named_as_those_of_clients_are_not_closed(
    model: Model, names: str
) -> None:
    """Their own population is no number of clients: it would change threads, or times, unseen."""
    with pytest.raises(HeadwayError, match=f"its formulas use {names}, as clients would; rename"):
        model.closed(7, 0.1)


def test_a_population_of_which_only_rates_are_made_is_that_of_the_clients() -> None:
    """It cancels out of the mix, so that it may be the number of clients."""
    rates = {"own": "population = 100", "rate": "3 * population"}
    text = TWO.format(threads="1", demand="5 ms", **rates).replace('"a" }', '"population" }')
    closed = parse_model(text, "two").closed(7, 0.1)
    assert closed.inputs["population"] == 7
    written = float(_two().closed(7, 0.1).solve().response_time)
    assert float(closed.solve().response_time) == pytest.approx(written, rel=1e-9)


def test_replicas_that_clients_would_choose_are_refused() -> None:
    text = TWO.format(own="", threads="1\nreplicas = 2", demand="5 ms", rate="b")
    with pytest.raises(HeadwayError, match="web has replicas, of which clients choose; write"):
        parse_model(text, "two").closed(7)


def test_a_mix_of_no_requests_is_refused_in_words() -> None:
    closed = _two().closed(7, 0.1)
    with pytest.raises(HeadwayError, match=r"entry ask: .* is no probability .*; set a or b"):
        closed.at(a=0.0, b=0.0).solve()
    with pytest.raises(HeadwayError, match=r"entry ask: .* is no probability"):
        closed.at(a=[0.0, 1.0], b=0.0).solve()
    alone = float(closed.at(a=0.0).solve().response_time)  # all is asked of forms
    cycles = _recursion(7, 0.1, 0.015)
    assert alone == pytest.approx(cycles, rel=1e-9)


def _recursion(clients: int, think: float, demand: float) -> float:
    """Response time of clients at one exponential server, by the recursion of mean values."""
    inside = response = 0.0
    for n in range(1, clients + 1):
        response = demand * (1 + inside)
        inside = n * response / (think + response)
    return response


@pytest.mark.parametrize("setting", ["population=3", "think_time=1s"])
def test_clients_are_given_once(setting: str) -> None:
    message = refusal("solve", "nfs-server", "--preset", "raid", "--closed", "7", "--set", setting)
    assert "is what --closed and --think give; leave it out" in message


def test_a_rate_that_decides_the_mix_may_be_set_beside_clients(tmp_path: Path) -> None:
    """Rates a and b make the mix; of a lone rate nothing is left, so it is refused."""
    named = TWO.format(own="", threads="1", demand="5 ms", rate="b").replace(
        '"a"', '"arrival_rate"'
    )
    mixed = tmp_path / "mixed.toml"
    mixed.write_text(named.replace("a = ", "arrival_rate = "))
    settings = "--closed", "7", "--think", "100ms", "--set", "arrival_rate=30"
    answer = headway("solve", mixed, *settings, "--json")
    found = json.loads(answer.out)["points"][0]["outputs"]["response_time"]
    assert found == pytest.approx(float(_two().closed(7, 0.1).at(a=30).solve().response_time))
    alone = "solve", "nfs-server", "--preset", "raid", *settings
    assert "a population and arrival_rate are both given" in refusal(*alone)


CLOSED = """
name = "ours"
[parameters]
population = 20
think_time = "20 ms"
[stations.cpu]
kind = "MM1"
service_time = "5 ms"
"""


def test_clients_think_as_the_model_says_unless_told_otherwise(tmp_path: Path) -> None:
    """As `Model.closed` does."""
    model = tmp_path / "ours.toml"
    model.write_text(CLOSED)

    def time(*given: str) -> float:
        answer = headway("solve", model, "--closed", "9", *given, "--json")
        return float(json.loads(answer.out)["points"][0]["outputs"]["response_time"])

    assert time() == pytest.approx(_recursion(9, 0.02, 0.005), rel=1e-9)
    assert time("--think", "0") == pytest.approx(9 * 0.005, rel=1e-9)


def test_numbers_of_clients_are_swept_beside_others(tmp_path: Path) -> None:
    """Every number of clients with every share, also of a model with a single sweep."""
    model = tmp_path / "two.toml"
    model.write_text(TWO.format(own="", threads="1", demand="5 ms", rate="b"))
    both = headway("sweep", model, "--closed", "1:5", "--think", "1s", "--set", "a=10,30", "--json")
    assert json.loads(both.out)["points"] == 10
    alone = headway("sweep", model, "--closed", "2,5,9", "--json")
    assert json.loads(alone.out)["points"] == 3
    twice = refusal("sweep", model, "--closed", "3", "--set", "population=1:4")
    assert "population is given twice" in twice


def test_indices_are_of_numbers_of_clients_and_of_whole_threads(tmp_path: Path) -> None:
    """Threads that become parameters when they are asked for count too."""
    model = tmp_path / "two.toml"
    model.write_text(TWO.format(own="", threads="1", demand="5 ms", rate="b"))
    ranges = "--closed", "1:4", "--think", "10ms", "--set", "web_threads=1:3"
    answer = headway("sensitivity", model, *ranges, "--global", "--sample", "256", "--json")
    assert answer.code == 0
    assert '"web_threads"' in answer.out
    assert '"population"' in answer.out
    sampled = headway("sweep", model, *ranges, "--sample", "16", "--json")
    assert sampled.code == 0


def test_several_numbers_of_clients_are_not_checked_as_the_first(tmp_path: Path) -> None:
    """A check is of one point, for services as for stations."""
    model = tmp_path / "two.toml"
    model.write_text(TWO.format(own="", threads="1", demand="5 ms", rate="b"))
    message = refusal("check", model, "--closed", "1,5", "--think", "10ms")
    assert "one simulation is of one operating point" in message


def test_more_clients_than_memory_holds_are_refused(tmp_path: Path) -> None:
    model = tmp_path / "two.toml"
    model.write_text(TWO.format(own="", threads="2", demand="5 ms", rate="b"))
    message = refusal("solve", model, "--closed", "1e9", "--think", "1s")
    assert "population of clients is 1,000,000,000; it may be 10,000,000 at most" in message


def test_what_is_said_of_the_rate_ends_with_it() -> None:
    """A share that was correlated with the rate from outside stays uncertain, alone."""
    model = parse_model(
        """
name = "mixed"
[parameters]
arrival_rate = { value = "40 /s", ci95 = ["30 /s", "50 /s"] }
share = { value = 0.5, ci95 = [0.4, 0.6] }
[correlations]
"arrival_rate, share" = 0.5
[processors.cpu]
[tasks.web]
processor = "cpu"
entries.page = { demand = "5 ms", arrival_rate = "arrival_rate * share" }
entries.form = { demand = "15 ms", arrival_rate = "arrival_rate * (1 - share)" }
""",
        "mixed",
    )
    closed = model.closed(3, 0.1)
    assert not closed.correlations
    assert closed.parameters["share"].interval == (0.4, 0.6)
    assert "response_time" in str(closed.propagate(draws=100))
