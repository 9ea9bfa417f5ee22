"""Percentiles that were measured correct those of a form, and say how far its law is off."""

import json

import numpy as np
import pytest

from headway.models import Measurements, read_model
from headway.models.inference.forecasting.tails import MeasuredTail, measured_percents
from headway.models.inference.server import choose_form
from tests.support.cases import mostly_slow
from tests.support.command import headway, refusal

SERVICE, DELAY = 10e-3, 2e-3
LOADS = np.array([10.0, 20, 30, 40, 50, 60, 70])
P99 = float(np.log(100))


def sweep(factor: float, seed: int = 1, scatter: float = 0.02) -> str:
    """M/M/1 behind a delay, whose p99 is some factor times that of its law."""
    random = np.random.default_rng(seed)
    rows = ["throughput_ops_s,response_s,p99_s"]
    for rate in LOADS:
        stay = SERVICE / (1 - rate * SERVICE)
        mean = (DELAY + stay) * random.lognormal(0, scatter)
        tail = factor * (DELAY + P99 * stay) * random.lognormal(0, scatter)
        rows.append(f"{rate},{mean:.8g},{tail:.8g}")
    return "\n".join(rows)


FORMS = ["server-single", "server-pool"]


def truth(factor: float, rate: float) -> float:
    return factor * (DELAY + P99 * SERVICE / (1 - rate * SERVICE))


@pytest.mark.parametrize("factor", mostly_slow([1.0, 0.6, 18.0], {0.6}))
def test_a_percentile_beyond_the_loads_is_predicted_as_measured(factor):
    fit = choose_form(Measurements.parse(sweep(factor), "sweep"), forms=FORMS)
    predictions = fit.predict([80.0])
    low, middle, high = predictions.percentiles["response_time_p99"][:, 0]
    assert low <= truth(factor, 80.0) <= high
    assert middle == pytest.approx(truth(factor, 80.0), rel=0.15)
    tail = predictions.measured_tails[0]
    assert tail.off_by == pytest.approx(factor, rel=0.15)
    assert tail.is_far_off == (factor != 1.0)


@pytest.mark.parametrize(
    ("sweeps", "least"), [(1, 1), pytest.param(30, 26, marks=pytest.mark.slow)]
)
def test_bands_of_measured_percentiles_hold(sweeps, least):
    """95% of sweeps hold a measurement at 1.14 times the highest load: at least 26 of 30."""
    held = 0
    for seed in range(sweeps):
        fit = choose_form(Measurements.parse(sweep(3.0, seed, 0.05), "sweep"), forms=FORMS)
        band = fit.predict([80.0], percentiles=[99.0]).percentiles["response_time_p99"][:, 0]
        again = truth(3.0, 80.0) * np.random.default_rng(seed + 1000).lognormal(0, 0.05)
        held += band[0] <= again <= band[2]
    assert held >= least


@pytest.mark.slow
def test_what_was_not_measured_is_by_the_law_of_the_form():
    fit = choose_form(Measurements.parse(sweep(1.0), "sweep"), forms=FORMS)
    predictions = fit.predict([80.0], percentiles=[90.0])
    assert not predictions.measured_tails
    stay = SERVICE / 0.2
    expected = DELAY + float(np.log(10)) * stay
    assert predictions.percentiles["response_time_p90"][1, 0] == pytest.approx(expected, rel=0.15)


def test_all_forms_of_an_answer_say_it(tmp_path):
    (tmp_path / "sweep.csv").write_text(sweep(18.0))
    given = (
        "fit",
        "server",
        "--data",
        str(tmp_path / "sweep.csv"),
        "--at",
        "80",
        "--forms",
        "server-single",
    )
    out = " ".join(headway(*given).out.split())
    assert "p99: " in out
    assert "times what its form predicts" in out
    answer = json.loads(headway(*given, "--json").out)
    assert answer["predictions"][0]["response_time_p99"]["value"] > 1.0
    tail = answer["measured_tails"][0]
    assert tail["percent"] == 99
    assert tail["off_by"] == pytest.approx(18, rel=0.15)


def test_too_few_loads_correct_nothing():
    text = "throughput_ops_s,response_ms,p50_ms,p99_ms\n1,2,2,9\n"
    assert measured_percents(Measurements.parse(text, "a.csv")) == (50.0, 99.0)
    tail = MeasuredTail(99.0, by_law=False, ratio=2.0, scatter=0.1, loads=4)
    assert tail.error == pytest.approx(0.1 * np.sqrt(1.25))
    assert not tail.is_far_off


@pytest.mark.parametrize("factor", mostly_slow([1.05, 18.0], {18.0}))
def test_a_fitted_file_says_how_far_its_law_is_off_or_refuses(tmp_path, factor):
    (tmp_path / "sweep.csv").write_text(sweep(factor))
    file = str(tmp_path / "model.toml")
    fitted = headway(
        "fit", "server", "--forms", ",".join(FORMS), "--data", tmp_path / "sweep.csv", "--out", file
    )
    assert fitted.code == 0
    assert read_model(file).tails[99.0] == pytest.approx(factor, rel=0.1)
    assert headway("solve", file).code == 0
    if factor > 2:
        words = refusal("solve", file, "--percentile", "99.9")
        assert "the p99 in the data that it was fitted to is" in words
        words = refusal("size", file, "--target", "response_time_p95<=1s", "--choose",
                        "service_time=1ms,2ms", "--cost", "1/service_time")  # fmt: skip
        assert "times what the model predicts" in words
        return
    answer = json.loads(headway("solve", file, "--percentile", "99", "--json").out)
    assert "times what the model predicts" in json.dumps(answer)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("p99 = 1.1", "p99 is not a percentage between 0 and 100"),
        ("100 = 1.1", "100 is not a percentage"),
        ("99 = 0", "99 is 0; a ratio of percentiles is above 0"),
    ],
)
def test_bad_tails_of_a_file_are_refused(tmp_path, line, words):
    text = """name = "one"
[parameters]
arrival_rate = 1
[stations.cpu]
kind = "MM1"
service_time = 0.1
[tails]
"""
    (tmp_path / "one.toml").write_text(text + line)
    assert words in refusal("solve", str(tmp_path / "one.toml"))
