"""Checks: analytic and simulated answers side by side, and what is said where they differ.

Seeds are fixed; the intervals of a check hold together with 99%.
"""

import csv
import io
import json
import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from headway.errors import GraphError, Saturated
from headway.models import ModelGraph, catalogue_model
from headway.models.simulating.check import TOGETHER
from headway.queueing import MD1, MG1, MM1, MM1K, BatchK, Delay, LoadDependent, MGm, MMm, Quota
from headway.queueing.playing.estimates import together
from tests.support.command import headway, refusal


def checked(model, half_width=0.1, percentiles=(), seed=1):
    return model.check(percentiles, half_width, seed, math.inf)


def test_an_exact_network_is_inside_row_by_row():
    graph = ModelGraph("two").station("cpu", MM1(1.0)).station("disk", MMm(1.0, 2))
    model = graph.route("cpu", "disk").at(arrival_rate=0.5)
    check = checked(model, percentiles=(95,))

    parts = ("utilisation", "queue_length", "response_time")
    stations = [f"{station}.{part}" for station in ("cpu", "disk") for part in parts]
    system = ["throughput", "response_time", "response_time_p95"]
    assert [row.name for row in check.rows_checked] == system + stations
    assert check.outside == ()
    assert check["response_time_p95"].analytic == model.solve()["response_time_p95"]
    assert check["cpu.response_time"].analytic == pytest.approx(2.0, rel=1e-12)
    assert check["cpu.queue_length"].confidence == together(TOGETHER, len(check.rows_checked))
    assert "all 9 analytic answers lie within their intervals" in str(check)


def test_a_wrong_law_is_found_out():
    """Constant service that is taken for exponential: waiting times are half."""
    graph = ModelGraph("one").station("disk", MD1(1.0))
    right = checked(graph.at(arrival_rate=0.7), 0.05)
    wrong = ModelGraph("one").station("disk", MM1(1.0)).at(arrival_rate=0.7).solve()
    row = right["response_time"]
    assert row.inside
    assert not row.simulated.holds(wrong["response_time"], row.confidence)


def test_what_an_approximation_says_of_itself_stands_beside_what_it_misses_here():
    """Two moments do not tell that a busy server behind a slower steady one hardly waits."""
    graph = ModelGraph("row").station("first", MGm(2.0, 2, 0.0)).station("second", MD1(0.95))
    check = checked(graph.route("first", "second").at(arrival_rate=0.8), 0.03)

    assert check.outside
    assert "second.queue_length" in check.outside
    assert check["second.queue_length"].difference > 0.2
    text = " ".join(str(check).split())
    assert "approximated by two moments (QNA); largest error measured" in text
    assert f"outside: {', '.join(check.outside)}" in text
    most = check.largest
    assert f"so the approximation is off here by at most {most.name}" in text
    assert abs(most.difference) == max(abs(r.difference or 0) for r in check.rows_checked)


@pytest.mark.slow
def test_a_quota_is_within_what_it_says_of_itself():
    """Its approximation says that it misses 10.2% at most; the interval has 5% more."""
    model = ModelGraph("q").station("cpu", Quota(1.0, 0.6, 20.0)).at(arrival_rate=0.4)
    check = checked(model, 0.05)
    assert abs(check["response_time"].difference) < 0.102 + 0.05
    assert "largest error measured: 10.2%" in " ".join(str(check).split())
    assert check["cpu.utilisation"].inside


def test_a_percentile_without_a_law_is_simulated_all_the_same():
    graph = ModelGraph("closed").station("cpu", MG1(0.1, 0.5)).station("wire", Delay(0.2))
    model = graph.route("cpu", "wire").at(arrival_rate=4.0)
    check = checked(model, 0.1, (90,))
    assert check["response_time_p90"].analytic is not None
    quota = ModelGraph("q").station("cpu", Quota(1.0, 0.6, 2.0)).at(arrival_rate=0.2)
    unknown = checked(quota, 0.2, (90,))
    row = unknown["response_time_p90"]
    assert (row.analytic, row.difference, row.inside) == (None, None, None)
    assert "without an analytic answer: response_time_p90: q: the response time of Quota" in (
        " ".join(str(unknown).split())
    )
    assert json.loads(unknown.to_json())["rows"][2]["analytic"] is None


def test_losses_are_checked_too():
    model = ModelGraph("room").station("engine", BatchK(1.0, 0.1, 4, 6)).at(arrival_rate=3.0)
    check = checked(model)
    assert check["loss_probability"].inside
    assert check.outside == ()


def test_closed_classes_are_checked_each():
    graph = (
        ModelGraph("two")
        .job_class("web", population=3, think_time=2.0)
        .job_class("batch", population=1)
        .station("cpu", MM1(1.0), service_times={"web": 0.3, "batch": 0.6}, discipline="ps")
    )
    check = checked(graph.at(), 0.05)
    assert {"class web.response_time", "class batch.throughput"} <= {
        row.name for row in check.rows_checked
    }
    assert check.outside == ()


def test_what_is_not_solved_or_not_simulated_is_refused():
    with pytest.raises(Saturated, match="cpu: utilisation 1.20"):
        ModelGraph("one").station("cpu", MM1(1.0)).at(arrival_rate=1.2).check()
    closed = ModelGraph("one").station("cpu", MM1K(1.0, 2)).at().closed(3)
    with pytest.raises(GraphError, match="no closed product form"):
        closed.check()


def test_a_percentile_that_only_the_simulation_knows_has_no_analytic_answer():
    model = ModelGraph("one").station("cpu", LoadDependent((1.0, 2.0))).at(arrival_rate=0.5)
    check = model.check(percentiles=(95,), half_width=0.2)
    assert check["response_time_p95"].analytic is None
    assert "rates do not determine which job is served" in check.unknown


NFS = ["check", "nfs-server", "--preset", "raid", "--half-width", "20%"]


def test_the_command_shows_both_answers():
    result = headway(*NFS, "--set", "arrival_rate=500", "--percentile", "95")
    assert result.code == 0, result.err
    for word in ("analytic", "simulated", "difference", "response_time_p95", "disks.utilisation"):
        assert word in result.out
    assert "analytic answers lie within their intervals (jointly 99%)" in result.out


def test_the_exit_code_says_nothing_of_the_difference():
    """A check answers a question; what is outside is in the answer, as an approximation may be."""
    result = headway(*NFS, "--closed", "20", "--think", "10ms", "--json")
    assert result.code == 0
    document = json.loads(result.out)
    assert document["simulation"]["seed"] == 1
    assert document["confidence"] == 0.99
    for row in document["rows"]:
        low, high = row["interval"]
        assert low <= row["simulated"] <= high
        assert (row["name"] in document["outside"]) == (row["inside"] is False)


def test_csv_has_a_row_an_answer():
    text = headway(*NFS, "--csv").out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [*rows[0]] == ["name", "unit", "analytic", "simulated", "low", "high", "difference",
                          "inside", "approximation"]  # fmt: skip
    response = rows[1]
    assert (response["name"], response["unit"], response["inside"]) == ("response_time", "s", "yes")
    solved = catalogue_model("nfs-server").with_preset("raid").solve()
    assert float(response["analytic"]) == float(solved.response_time)


def test_workers_give_the_same_answer():
    model = catalogue_model("nfs-server").with_preset("raid")
    with ThreadPoolExecutor(2) as several:
        shared = model.check([95], half_width=0.05, executor=several)
    assert shared.rows_checked == model.check([95], half_width=0.05).rows_checked


def test_a_picture_is_drawn(tmp_path):
    place = tmp_path / "check.svg"
    assert headway(*NFS, "--plot", place).code == 0
    text = place.read_text()
    assert "cpu.queue_length" in text
    assert "difference from the simulated mean" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "arrival_rate=100:200:50"], "one simulation is of one operating point"),
        (["--percentile", "100"], "between 0 and 100"),
        (["--half-width", "0%"], "half_width is 0; it must be between 0 and 1"),
        (["--at-most", "0"], "at_most is 0; it must be positive"),
        (["--set", "arrival_rate=5000"], "it saturates at"),
        (["--closed", "5", "--half-width", "0.01%", "--at-most", "1e4"], "would take about"),
        (["--at-most", "10min"], "--at-most is '10min', which is time"),
    ],
)
def test_the_command_refuses_in_one_line(options, words):
    assert words in refusal("check", "nfs-server", "--preset", "raid", *options)
