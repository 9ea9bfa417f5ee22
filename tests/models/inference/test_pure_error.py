"""Repeats in a fit: their scatter, and the test of the model against it."""

import json

import numpy as np
import pytest

from headway.models import Measurements, catalogue_model
from tests.support.command import headway

LOADS = np.repeat(np.linspace(100, 800, 8), 3)
SERVER = catalogue_model("server-single").at(delay="2 ms", service_time="1 ms")
FREE = ["delay", "service_time"]


def repeated(seed, noise=0.03, bump=0.0):
    times = np.asarray(SERVER.solve(arrival_rate=LOADS).response_time)
    times = times * (1 + bump * (LOADS > 350) * (LOADS < 650))
    times = times * np.exp(noise * np.random.default_rng(seed).standard_normal(LOADS.size))
    rows = "\n".join(f"{x!r},{r!r}" for x, r in zip(LOADS.tolist(), times.tolist(), strict=True))
    return f"throughput_ops_s,response_s\n{rows}\n"


def fitted(seed, **how):
    return SERVER.fit(Measurements.parse(repeated(seed, **how), "own.csv"), FREE)


def test_scatter_is_that_of_repeats_about_their_means():
    scatter = fitted(1).pure_error
    logs = np.log(Measurements.parse(repeated(1), "own").column("response").values).reshape(8, 3)
    expected = np.sqrt(((logs - logs.mean(axis=1, keepdims=True)) ** 2).sum() / 16)

    assert (scatter.loads, scatter.freedom) == (8, 16)
    assert scatter.scatter == pytest.approx({"response_time": expected})


@pytest.mark.slow
def test_chances_are_even_where_the_model_is_right():
    """F(6, 16) holds: of 200 tests 5% are below 0.05, within three standard deviations."""
    chances = np.array([fitted(seed).pure_error.misfit.p for seed in range(200)])

    assert 1 <= (chances < 0.05).sum() <= 20
    assert abs(chances.mean() - 0.5) < 3 / np.sqrt(12 * 200)


def test_a_model_that_misses_is_told(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(repeated(2, bump=0.3))
    arguments = ["fit", "server-single", "--free", "delay,service_time", "--data", str(path)]

    document = json.loads(headway(*arguments, "--json").out)
    shown = " ".join(headway(*arguments).out.split())

    assert document["lack_of_fit"]["detected"]
    assert document["lack_of_fit"]["p"] < 0.001
    assert document["lack_of_fit"]["repeated_loads"] == 8
    assert "pure error of repeats at 8 loads: response time" in shown
    assert "the model misses the means of repeated loads by up to" in shown
    right = fitted(2)
    assert not right.pure_error.misfit.is_lack_of_fit
    assert not any("repeated loads" in text for text in right.warnings)


def test_nothing_is_told_where_nothing_was_repeated():
    text = "\n".join(repeated(1).splitlines()[::3])
    fit = SERVER.fit(Measurements.parse(f"throughput_ops_s,response_s\n{text[27:]}", "o"), FREE)

    assert fit.pure_error is None
