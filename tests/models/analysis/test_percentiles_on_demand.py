"""Percentiles as outputs like any other: asked for by name, wherever an output is named."""

import json
import math

import numpy as np
import pytest

from headway.errors import InvalidParameter, UnknownParameter
from headway.models import ModelGraph, what_it_takes
from headway.models.analysis.sensitivity import sensitivity
from headway.models.solving.response_times import percentiles
from headway.queueing import MG1, MM1, MMm, MMmK
from tests.support.command import headway, refusal

SINGLE = ModelGraph("single").declare("s").station("cpu", MM1("s")).at(s=0.002, arrival_rate=300)
POOL = (
    ModelGraph("pool")
    .declare("s", "m")
    .station("cpu", MMm("s", "m"))
    .at(s=0.01, m=4, arrival_rate=350)
)


def of_single(share, s=0.002, rate=300.0):
    """Closed law of M/M/1: exponential with mean s / (1 - rate s)."""
    return -math.log(1 - share) * s / (1 - rate * s)


def test_any_percentile_is_an_answer_that_is_computed_when_asked(monkeypatch):
    solution = SINGLE.solve()
    assert "response_time_p99" not in solution.values
    assert solution.outputs == ("throughput", "response_time", "saturation_throughput")
    for name, share in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("p99.90", 0.999)):
        # Tolerance: what the percentile's own tests hold it to.
        assert solution[f"response_time_{name}"] == pytest.approx(of_single(share), rel=1e-9)

    def never(*_):
        raise AssertionError("nobody asked for a percentile")

    monkeypatch.setattr(percentiles, "_at_all_points", never)
    monkeypatch.setattr(percentiles, "_one_by_one", never)
    assert SINGLE.solve().response_time == pytest.approx(0.005)


def test_names_that_are_no_percentiles_are_refused():
    solution = SINGLE.solve()
    for name in ("response_time_p", "response_time_pabc", "class web.response_time_p99"):
        with pytest.raises(UnknownParameter, match="has no answer"):
            solution[name]
    for percent in (0, 100, 101):
        with pytest.raises(InvalidParameter, match="between 0 and 100"):
            solution[f"response_time_p{percent}"]


def test_a_target_of_a_percentile_is_met():
    target = what_it_takes(SINGLE, "response_time_p99", 0.01, "arrival_rate")
    # s / (1 - rate s) ln 100 = 10 ms
    assert target.value == pytest.approx((1 - 0.002 * math.log(100) / 0.01) / 0.002, rel=1e-9)
    assert target.solution["response_time_p99"] == pytest.approx(0.01, rel=1e-9)
    with pytest.raises(InvalidParameter, match="no output 'response_tme_p99'"):
        what_it_takes(SINGLE, "response_tme_p99", 0.01, "s")


def test_of_servers_the_fewest_that_meet_a_percentile():
    target = what_it_takes(POOL, "response_time_p99", 0.055, "m")
    beside = POOL.at(m=target.value - 1).solve()["response_time_p99"]
    assert target.solution["response_time_p99"] <= 0.055 < beside
    assert target.value == 5


def test_sensitivity_of_a_percentile_is_that_of_its_closed_law():
    derivatives = sensitivity(SINGLE, ["response_time_p99.90"])
    (effects,) = derivatives.effects.values()
    assert list(derivatives.effects) == ["response_time_p99.9"]
    # s / (1 - rate s): elasticities 1 / (1 - u) and u / (1 - u) at u = 0.6, to what a
    # percentile's precision of 2e-12 of a chance leaves of a difference over 4e-6.
    assert effects["s"].elasticity == pytest.approx(2.5, rel=1e-6)
    assert effects["arrival_rate"].elasticity == pytest.approx(1.5, rel=1e-6)


def test_several_percentiles_in_one_table_document_and_csv(tmp_path):
    path = tmp_path / "single.toml"
    path.write_text(SINGLE.to_toml())
    arguments = ("solve", path, "--set", "arrival_rate=100,300", "--percentile", "50,95,99.9")
    points = json.loads(headway(*arguments, "--json").out)["points"]
    rows = [point["outputs"] for point in points]
    for share, name in ((0.5, "p50"), (0.95, "p95"), (0.999, "p99.9")):
        got = [row[f"response_time_{name}"] for row in rows]
        wanted = [of_single(share, rate=rate) for rate in (100, 300)]
        assert got == pytest.approx(wanted, rel=1e-9)
    header = headway(*arguments, "--csv").out.splitlines()[0]
    assert "response_time_p99.9_s" in header
    assert headway(*arguments, "--plot", tmp_path / "a.svg").code == 0
    assert "p99.9" in (tmp_path / "a.svg").read_text()
    target = ("sensitivity", path, "--target", "response_time_p99=10ms", "--solve-for", "s")
    assert json.loads(headway(*target, "--json").out)["output"] == "response_time_p99"
    shown = headway("sensitivity", path, "--output", "response_time_p99").out
    assert "response time p99" in shown
    assert "response time   " not in shown


def test_bad_percentiles_are_refused_in_one_line(tmp_path):
    path = tmp_path / "single.toml"
    path.write_text(SINGLE.to_toml())
    for text in ("100", "0", "50,100"):
        assert "between 0 and 100" in refusal("solve", path, "--percentile", text)
    assert "'x' is not a finite number" in refusal("solve", path, "--percentile", "50,x")
    assert "between 0 and 100" in refusal("sensitivity", path, "--output", "response_time_p100")
    assert "no output" in refusal("sensitivity", path, "--output", "response")
    assert "cannot be combined" in refusal(
        *("sensitivity", path, "--output", "response_time"),
        *("--target", "response_time=1s", "--solve-for", "s"),
    )


def test_notes_are_said_once_for_several_percentiles():
    model = ModelGraph("g").station("cpu", MG1(0.1, 0.5)).at(arrival_rate=5).solve()
    twice = model.answering("response_time_p50", "response_time_p99", "response_time")
    assert twice.approximation == "M/G/1 service is assumed gamma-distributed"
    assert twice.outputs[-2:] == ("response_time_p50", "response_time_p99")


def test_each_class_has_percentiles_to_ask_for():
    graph = (
        ModelGraph("shop")
        .station("cpu", MM1(0.01))
        .job_class("web", arrival_rate=20)
        .job_class("batch", arrival_rate=30)
    )
    solution = graph.at().solve()
    assert solution["class web.response_time_p99"] == pytest.approx(0.02 * math.log(100))
    assert str(graph.at().meaning("class web.response_time_p99").unit) == "s"


def test_of_a_room_the_admitted_are_timed():
    room = ModelGraph("room").declare("k").station("cpu", MMmK(0.01, 2, "k")).at(k=3)
    times = room.solve(np.array([50.0, 400.0]))["response_time_p95"]
    assert times.shape == (2,)
    assert (np.diff(times) > 0).all()
