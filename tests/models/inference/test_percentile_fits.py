"""Fits to percentiles, alone and with means: what they find, and what they predict."""

import csv
import json
from functools import cache

import numpy as np
import pytest

from headway.errors import GraphError, MeasurementError
from headway.models import Measurements, catalogue_model
from headway.models.inference.form_curve import curve_for_forms
from headway.models.inference.forms import listed_forms
from headway.models.inference.server import choose_form
from headway.models.solving.response_times import percentiles
from headway.models.solving.response_times.percentiles import search_percentile
from tests.campaigns.percentile_fits import (
    DELAY,
    LOADS,
    SERVICE,
    SIMULATED,
    exact,
    fit_model,
    fitted,
    holds,
    made,
    table,
    text,
)
from tests.oracles.published import DATA
from tests.support.command import headway, refusal

CIW = DATA / "percentiles" / "mg1_ciw.csv"


def test_the_only_column_of_times_is_taken_though_it_holds_percentiles():
    """Means come before it; of two columns of percentiles, none is taken."""
    points = "throughput_ops_s,p99_ms\n100,7.3\n500,11.5\n900,49\n"
    alone = Measurements.parse(points, "own.csv")
    comparison = catalogue_model("server-single").compare(alone)
    assert (comparison.output, comparison.measured.header) == ("response_time_p99", "p99_ms")
    assert curve_for_forms(alone, None, None, listed_forms()).columns == (
        "throughput_ops_s",
        ["p99_ms"],
    )

    beside = Measurements.parse("throughput_ops_s,response_ms,p99_ms\n100,2,7\n", "own.csv")
    assert catalogue_model("server-single").compare(beside).output == "response_time"
    both = Measurements.parse("throughput_ops_s,p50_ms,p99_ms\n100,2,7\n", "own.csv")
    with pytest.raises(MeasurementError, match="no column 'response_time'"):
        catalogue_model("server-single").compare(both)


@pytest.mark.parametrize("percent", [50, 99, 99.9])
@pytest.mark.parametrize("scv", [0.01, 0.3, 1.0, 10.0])
def test_search_percentiles_are_those_that_take_their_time(percent, scv):
    model = catalogue_model("server-general").at(delay=DELAY, service_time=SERVICE, scv=scv)
    solution = model.solve([5.0, 500.0, 950.0, 1100.0])
    alone = percentiles._one_by_one(solution, [percent / 100])[0][0][""]
    # Tolerance: the promise of 1e-6, of a tail of 1e-3 some 5e-6 of the time.
    assert search_percentile(solution, percent) == pytest.approx(alone, rel=5e-6)
    assert np.isinf(alone[-1])


def test_what_is_next_to_constant_counts_as_an_scv_of_a_hundredth():
    model = catalogue_model("server-general").at(
        delay=DELAY, service_time=SERVICE, arrival_rate=500
    )
    values = [float(search_percentile(model.at(scv=scv).solve(), 99)) for scv in (0.0, 1e-6, 0.01)]
    assert values == [values[-1]] * 3


@pytest.mark.slow
def test_mean_and_percentile_together_find_what_a_curve_was_made_with():
    mean, tail = exact(2.0)
    result = fitted(table(LOADS, mean, tail), starts=12)
    # Tolerance: six digits of the curve, and the 1e-6 of what searches.
    assert result.values["scv"] == pytest.approx(2.0, rel=2e-5)
    assert result.values["service_time"] == pytest.approx(SERVICE, rel=2e-6)
    assert result.problem.outputs == ("response_time", "response_time_p99")
    alone = fitted(table(LOADS, mean, tail), y="p99_ms")
    assert alone.comparison.output == "response_time_p99"
    assert alone.values["scv"] == pytest.approx(2.0, rel=1e-4)


def test_percentiles_narrow_the_variation_that_means_hardly_tell():
    measurements, _ = made(3)
    kept = measurements.only(LOADS <= 650)
    both, means = fitted(kept), fitted(kept, y="response_ms")

    def reach(fit):
        low, high = fit.ci95["scv"]
        return high / low if low > 0 else np.inf

    assert reach(both) < 1.5 < 5 < reach(means)
    assert not both.identified.sentences
    assert any("scv is poorly determined" in words for words in means.identified.sentences)


@pytest.mark.parametrize(("curves", "least"), [(2, 1), pytest.param(5, 4, marks=pytest.mark.slow)])
def test_intervals_hold_the_variation_of_nearly_all_curves(curves, least):
    """A slice; of 200 curves (``python -m tests.campaigns.percentile_fits 200``) 192 do."""
    assert sum(map(holds, range(curves))) >= least


def test_simulated_by_ciw_the_variation_lies_within_its_interval():
    fit = fit_model(
        catalogue_model("server-general").at(delay=0, service_time=1e-3, scv=1.0),
        Measurements.read(CIW),
        ["service_time", "scv"],
        y="response_ms,p99_ms",
        starts=1,
    )
    for name, value in (("service_time", SIMULATED["service"]), ("scv", SIMULATED["scv"])):
        low, high = fit.ci95[name]
        assert low <= value <= high, name
        assert high / low < 1.5


@pytest.mark.slow
def test_predictions_hold_the_percentiles_that_were_fitted():
    measurements, scv = made(3)
    fit = fitted(measurements)
    predictions = fit.predict([LOADS[-1], 900.0])
    assert list(predictions.percentiles) == ["response_time_p99"]
    low, middle, high = predictions.percentiles["response_time_p99"]
    model = catalogue_model("server-general").at(delay=DELAY, service_time=SERVICE, scv=scv)
    truth = model.solve([LOADS[-1], 900.0])["response_time_p99"]
    assert ((low < truth) & (truth < high)).all()
    assert ((low < middle) & (middle < high)).all()
    assert middle[0] == pytest.approx(fit.model.solve(LOADS[-1])["response_time_p99"], rel=1e-5)
    assert not fit.predict([900.0], []).percentiles
    with pytest.raises(GraphError, match="percentiles"):
        catalogue_model("server-cache").at(delay=DELAY, service_time=SERVICE).fit(
            measurements, ["service_time"], y="response_ms"
        ).predict([900.0], [90])  # the 99th was measured


def test_predictions_of_percentiles_in_every_form(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text(text(LOADS, *exact(2.0)))
    arguments = (
        *("fit", "server-general", "--data", path, "--free", "service_time", "--set", "scv=2"),
        *("--set", "delay=1ms", "--y", "response_ms", "--at", "900", "--percentile", "95,99"),
    )
    (row,) = json.loads(headway(*arguments, "--json").out)["predictions"]
    truth = catalogue_model("server-general").at(delay=DELAY, service_time=SERVICE, scv=2.0)
    for name in ("response_time_p95", "response_time_p99"):
        wanted = truth.solve(900.0)[name]
        assert row[name]["value"] == pytest.approx(wanted, rel=1e-3)
        assert row[name]["ci95"][0] < wanted < row[name]["ci95"][1]
    assert "response_time_p99_low_s" in headway(*arguments, "--csv").out
    assert " p99 " in headway(*arguments).out
    assert "needs --at" in refusal(*arguments[:-4], "--percentile", "99")
    assert "between 0 and 100" in refusal(*arguments[:-1], "100")


FORMS = ["server-single", "server-batching", "server-cache"]
"""The first has a law of the response time; the others' formulas are of what has none."""


@cache
def single_curve(noise, seed=3):
    """A curve of an M/M/1 up to 70%, which some forms make."""
    random, loads = np.random.default_rng(seed), np.arange(100, 800, 100)
    times = (2 + 1 / (1 - loads / 1000)) * np.exp(noise * random.standard_normal(loads.size))
    rows = [f"{load},{time:.4f}\n" for load, time in zip(loads, times, strict=True)]
    return "".join(["throughput_ops_s,response_ms\n", *rows])


def test_percentiles_of_forms_come_from_those_that_have_a_law_and_name_the_others():
    curve = Measurements.parse(single_curve(0.02), "made.csv")
    every = choose_form(curve, forms=FORMS)
    assert [form.model for form, _ in every.plausible] == FORMS
    predictions = every.predict([500.0, 700.0], [95, 99])
    assert predictions.without_percentiles == ("server-batching", "server-cache")
    alone = choose_form(curve, forms=FORMS[:1]).predict([500.0, 700.0], [95, 99])
    assert alone.without_percentiles == ()
    for name in ("response_time_p95", "response_time_p99"):
        np.testing.assert_array_equal(predictions.percentiles[name], alone.percentiles[name])
    assert not every.predict([500.0]).without_percentiles


@pytest.mark.slow
def test_forms_without_percentiles_are_named_in_every_form(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text(single_curve(0.02))
    arguments = ("fit", "server", "--data", path, "--forms", ",".join(FORMS), "--at", "500")
    assert "without_percentiles" not in json.loads(headway(*arguments, "--json").out)
    arguments = (*arguments, "--percentile", "99")
    text = " ".join(headway(*arguments).out.split())
    assert "p99: from the plausible forms that provide it; server-batching, server-cache" in text
    document = json.loads(headway(*arguments, "--json").out)
    assert document["without_percentiles"] == ["server-batching", "server-cache"]
    assert document["predictions"][0]["response_time_p99"]["value"] > 0
    (row,) = csv.DictReader(headway(*arguments, "--csv").out.splitlines())
    assert row["without_percentiles"] == "server-batching; server-cache"


def test_percentiles_are_refused_where_the_form_that_was_chosen_has_none():
    curve = Measurements.parse(single_curve(0.02), "made.csv")
    server = choose_form(curve, forms=FORMS[1:])
    with pytest.raises(
        GraphError, match=f"{server.form.model}: .* which is the chosen form; name others"
    ):
        server.predict([500.0], [99])


def test_percentiles_at_a_throughput_that_a_closed_model_paces_itself_to_are_refused():
    model = catalogue_model("server-closed").at(
        population=20, service_time="1 ms", think_time="10 ms", delay="1 ms"
    )
    data = Measurements.parse("throughput_ops_s,response_ms\n500,2.9\n700,4\n900,8\n", "own.csv")
    fit = model.fit(data, ["service_time"])
    assert fit.load == "throughput"
    with pytest.raises(GraphError, match="population"):
        fit.predict([800.0], [99])


@cache
def single_tails():
    """Means and 99th percentiles of an M/M/1 behind a delay, 1% off and back in turns."""
    model = catalogue_model("server-single").at(delay=2e-3, service_time=1e-3)
    solution, off = model.solve(LOADS), 1 + 0.01 * np.array([1, -1, -1, 1, 1, -1, -1, 1])
    return text(LOADS, solution.response_time * off, solution["response_time_p99"] * off)


@pytest.mark.parametrize("y", ["p99_ms", "response_ms,p99_ms"])
def test_forms_are_chosen_by_percentiles_if_they_have_a_law(y):
    curve = Measurements.parse(single_tails(), "made.csv")
    server = choose_form(curve, y=y, forms=FORMS)
    assert server.form.model == "server-single"
    assert str(server.best.comparison.axes) == f"{y.replace(',', ', ')} over throughput_ops_s"
    # Tolerance: the 1% of the curve.
    assert server.best.values["service_time"] == pytest.approx(1e-3, rel=0.01)
    assert server.best.values["delay"] == pytest.approx(2e-3, rel=0.05)
    assert [form.model for form, _ in server.left_out] == ["server-cache", "server-batching"]
    assert all("its answer is a formula for the mean only" in why for _, why in server.left_out)
    assert not choose_form(curve, y="response_ms", forms=FORMS).left_out


@pytest.mark.slow
def test_forms_left_out_of_a_fit_to_percentiles_are_named(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text(single_tails())
    arguments = ("fit", "server", "--data", path, "--y", "p99_ms", "--forms", ",".join(FORMS))
    text = " ".join(headway(*arguments, "--at", "500").out.split())
    assert "left out: server-cache (no delay), server-batching (no delay); they have no" in text
    assert " base response time p99 " in text
    document = json.loads(headway(*arguments, "--json").out)
    assert [one["form"] for one in document["left_out"]] == [
        "server-cache (no delay)",
        "server-batching (no delay)",
    ]
    assert "server-cache predicts none" in refusal(*arguments[:-1], "server-cache,server-batching")
    path.write_text("clients,p99_ms\n1,5\n2,6\n3,8\n4,11\n5,15\n")
    assert "fit one model with --free" in refusal(*arguments)
