"""Tests that fell behind what they offered: a room that fills, fitted to X and R at that rate."""

import numpy as np
import pytest

from headway.models import Measurements, ModelGraph, catalogue_model
from headway.models.inference.server import fit_server
from headway.models.measured.matching import match
from headway.queueing import MM1K
from tests.support.command import refusal

ROOM = ModelGraph("room").declare("s", "places").station("cpu", MM1K("s", "places"))
TRUTH = ROOM.at(s=1e-2, places=12)
OFFERED = np.array([10.0, 40, 60, 80, 95, 110, 130, 180])
HEADER = "requested_ops_s,throughput_ops_s,response_ms"


def rows(noise=0.0, seed=0):
    solution = TRUTH.solve(arrival_rate=OFFERED)
    random = np.random.default_rng(seed)
    errs = np.exp(noise * random.standard_normal((2, OFFERED.size)))
    columns = zip(
        OFFERED.tolist(),
        (solution.throughput * errs[0]).tolist(),
        (1e3 * solution.response_time * errs[1]).tolist(),
        strict=True,
    )
    return "\n".join([HEADER, *(f"{a!r},{x!r},{r!r}" for a, x, r in columns)]) + "\n"


def table(**how):
    return Measurements.parse(rows(**how), "own.csv")


def test_a_room_is_fitted_to_what_came_through_of_what_was_offered():
    fit = ROOM.at(s=2e-3, places=40).fit(table(), ["s", "places"])

    assert fit.problem.outputs == ("response_time", "throughput")
    assert str(fit.comparison.axes).endswith("over requested_ops_s")
    # digits as Python prints them, and a count that is whole
    assert fit.values == pytest.approx({"s": 1e-2, "places": 12}, rel=1e-6)
    assert fit.points == 16


def test_models_that_let_all_through_keep_their_load():
    matched = match(catalogue_model("server-single"), table())

    assert matched.load.header == "throughput_ops_s"
    assert [one.output for one in matched.each] == ["response_time"]


def test_a_curve_that_fell_behind_is_tried_with_rooms_alone():
    server = fit_server(table(noise=0.01), forms=["server-room", "server-single", "server-closed"])

    assert {form.variant.load for form, _ in server.candidates} == {"offered"}
    assert server.best.values["room"] == 12
    errors = [one.summary["median_relative_error"] for one in server.best.comparison.each]
    assert max(errors) < 0.02


def test_more_than_was_offered_is_refused(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(f"{HEADER}\n100,95,5\n200,260,9\n300,280,12\n")
    arguments = ["fit", "server-single", "--free", "delay,service_time", "--data", str(path)]

    message = refusal(*arguments)
    assert f"{path}:3: throughput_ops_s of 260 op/s is more than the 200 op/s offered" in message
