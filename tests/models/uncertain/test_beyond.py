"""Loads beyond the highest that was measured: bands and sizes widen from there on."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from headway.models import Measurements, ModelGraph, parse_model, size_model
from headway.models.inference.server import choose_form
from headway.models.uncertain.beyond import (
    SPREAD,
    acting_load,
    acting_rate,
    further_weights,
    share_of_measured,
)
from headway.queueing import MM1, MMm
from tests.support.command import headway, refusal

ONE = (
    ModelGraph("one")
    .declare("s")
    .station("cpu", MM1("s"))
    .at(s=1e-3, arrival_rate=500.0)
    .uncertain({"s": (0.99e-3, 1.01e-3)})
)
MEASURED = replace(ONE, measured_to={"arrival_rate": 600.0})
SURE = {"s": (1e-3 * (1 - 1e-9), 1e-3 * (1 + 1e-9))}
"""An interval without width: what is left is what lies beyond."""


@given(st.floats(0, 5), st.floats(0.1, 5), st.floats(0.1, 4), st.floats(0, 1))
def test_a_load_acts_as_itself_up_to_the_measured_one(load, measured, weight, more):
    acting = [
        float(acting_load(np.array(x), measured, np.array(weight))) for x in (load, load + more)
    ]

    assert acting[0] <= acting[1] + 1e-12  # more load never acts as less
    if load <= measured:
        assert acting[0] == load
    else:
        assert acting[0] == pytest.approx(measured + weight * (load - measured), rel=1e-12)


def test_weights_are_those_of_a_normal_logarithm():
    weights = np.log(further_weights(4001, 3))

    assert np.quantile(weights, 0.95) == pytest.approx(SPREAD * norm.ppf(0.95), rel=2e-3)
    assert np.mean(weights) == pytest.approx(0.0, abs=1e-9)


def test_the_share_is_of_one_replica():
    share = share_of_measured(
        MEASURED.at(arrival_rate=1500), {"replicas": np.array([1.0, 2.0, 3.0])}
    )

    assert share.tolist() == pytest.approx([2.5, 1.25, 1500 / 1800])


def test_the_measured_load_grows_with_the_servers():
    """Twice the servers are as busy at twice the load."""
    graph = ModelGraph("pool").declare("s", "m").station("cpu", MMm("s", "m"))
    pool = replace(graph.at(s=0.01, m=4, arrival_rate=300), measured_to={"arrival_rate": 300.0})

    assert float(share_of_measured(pool.at(m=8, arrival_rate=900), {})) == pytest.approx(1.5)
    assert float(share_of_measured(pool, {"m": np.array(2.0)})) == pytest.approx(2.0)


def test_a_model_that_was_not_fitted_has_no_measured_load():
    assert share_of_measured(ONE, {}) == 0.0
    assert acting_rate(ONE, {}, np.ones(3)) is None
    assert acting_rate(MEASURED, {}, np.ones(3)) is None  # 500 of 600 op/s


def test_bands_widen_beyond_it_by_the_law():
    """The band's ends are R at x_h + (x - x_h) f with f at the ends of its law."""
    model = MEASURED.uncertain(SURE).at(arrival_rate=[550.0, 660.0])

    bands = model.propagate(draws=4000)
    low, high = bands.band("response_time")

    ends = np.exp(SPREAD * norm.ppf([0.025, 0.975]))
    times = 1e-3 / (1 - 1e-3 * (600 + 60 * ends))
    # the ends of 4,000 draws are 0.2% of a logarithm off, and near saturation a time is more so
    assert low == pytest.approx([1e-3 / 0.45, times[0]], rel=1e-2)
    assert high == pytest.approx([1e-3 / 0.45, times[1]], rel=1e-2)
    assert bands.band("throughput")[1].tolist() == [550, 660]
    said = " ".join(str(bands).split())
    assert "measured only up to 600 1/s, but this needs 660 1/s" in said


def test_a_size_allows_for_what_was_not_measured():
    targets, choose = ["response_time<=5.001ms"], {"replicas": range(1, 20)}
    known = ONE.uncertain(SURE).at(arrival_rate=4500)
    model = MEASURED.uncertain(SURE).at(arrival_rate=4500)

    certain = size_model(known, targets, choose, "replicas", 95).best
    allowed = size_model(model, targets, choose, "replicas", 95)

    # R <= 5.001 ms: rate just above 800; beyond 600 so that 600 + (rate - 600) f95 <= 800
    most = 600 + 200.04 / np.exp(SPREAD * norm.ppf(0.95))
    assert certain.values["replicas"] == 6
    assert allowed.best.values["replicas"] == np.ceil(4500 / most)
    said = " ".join(str(allowed).split())
    assert "measure up to 642.9" in said
    assert "98% of the sizes found for a mean at 95% met the target" in said
    assert json.loads(allowed.to_json())["caution"] == allowed.caution
    assert not size_model(known, targets, choose, "replicas", 95).caution


def test_a_file_keeps_the_measured_load(tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(MEASURED.to_toml())

    assert parse_model(path.read_text()) == MEASURED
    document = json.loads(headway("solve", path, "--json").out)
    assert document["measured_to"] == {"arrival_rate": 600.0}


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("arival_rate = 600", "no parameter 'arival_rate'"),
        ('arrival_rate = "3 ms"', "arrival_rate"),
    ],
)
def test_a_measured_load_that_is_none_is_refused(line, what, tmp_path):
    path = tmp_path / "wrong.toml"
    head, _ = MEASURED.to_toml().split("[measured]")
    path.write_text(f"{head}[measured]\n{line}\n")

    assert what in refusal("solve", path)


def test_forms_that_pace_themselves_to_a_throughput_are_asked_too():
    """A closed form among those of an open curve has no rate of arrivals."""
    rates = np.linspace(100, 800, 8)
    times = 2e-3 + 1e-3 / (1 - rates / 1000)
    rows = "\n".join(f"{x},{y!r}" for x, y in zip(rates, times.tolist(), strict=True))
    data = Measurements.parse(f"throughput_ops_s,response_s\n{rows}\n", "curve.csv")

    fit = choose_form(data, forms=["server-closed", "server-single"])
    model = fit.uncertain_model()

    assert fit.predict([900.0]).response_time[0, 0] > 0
    assert model.at(arrival_rate=900).name == "server-single"
