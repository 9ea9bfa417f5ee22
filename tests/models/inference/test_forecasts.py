"""Predictions outside the data, by all forms that fit, and advice on what to measure next."""

import json

import numpy as np
import pytest

from headway.errors import InvalidParameter
from headway.models import Measurements, catalogue_model
from headway.models.files.shipped import data_path
from headway.models.inference.certainty.tempering import tempered
from headway.models.inference.server import choose_form, fit_server
from tests.campaigns.extrapolations import curves, stored, summary, tried
from tests.campaigns.next_runs import RUNS, compared
from tests.support.cases import mostly_slow
from tests.support.command import headway, refusal
from tests.support.pages import accuracy

PAGE = accuracy()
CURVE = data_path("sfs_results/curves/storage2020-20250929-00140.csv")


def test_bands_from_low_loads_hold_the_high_ones():
    """The 24 curves below 70% of their peaks: the whole table, as the page has it.

    Aims: 90 to 98% of the points in the band (99.0%: one point of 96 more), median error at
    most 18%.
    """
    result = summary(stored())

    for what, value in result.items():
        assert f"| {what} | {value} |" in PAGE
    assert float(result["in the 95% band"].removesuffix("%")) >= 90
    assert float(result["median error"].removesuffix("%")) <= 18


@pytest.mark.parametrize("number", mostly_slow([0, 9, 17], 1))
def test_curves_fitted_anew_say_what_is_stored(number):
    """Ends of bands are draws, and digits of other processors may choose others: within 2%."""
    here, there = tried(curves()[number]), stored()[number]

    assert (here.name, here.determined) == (there.name, there.determined)
    np.testing.assert_allclose(here.measured, there.measured, rtol=1e-5)
    np.testing.assert_allclose(here.band, there.band, rtol=0.02)
    assert here.limit == pytest.approx(there.limit, rel=0.02)


@pytest.mark.slow
def test_bands_hold_where_a_form_is_right():
    """24 servers with 2% noise, 9 points to 75% of saturation, asked at 88%: 95% ± 3 errors."""
    model = catalogue_model("server").at(delay="1 ms", service_time="2 ms", servers=4)
    loads, random, inside = np.linspace(200, 1500, 9), np.random.default_rng(4), 0
    truth = float(model.solve(1760).response_time)
    for _ in range(24):
        times = model.solve(loads).response_time * np.exp(0.02 * random.standard_normal(9))
        rows = "\n".join(f"{x},{1e3 * y:.6f}" for x, y in zip(loads, times, strict=True))
        server = choose_form(Measurements.parse(f"throughput_ops_s,response_ms\n{rows}\n", "sim"))
        low, _, high = server.predict([1760]).response_time[:, 0]
        again = truth * np.exp(0.02 * random.standard_normal())
        inside += bool(low <= again <= high)
    assert inside >= 20


@pytest.mark.parametrize("servers", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_half_of_the_runs_tell_as_much(servers):
    """The first servers of the page's 200; there the median is half of the runs."""
    runs = [compared(seed) for seed in range(servers)]

    assert np.median(runs) <= RUNS / 2 + 1
    assert "| runs as advised, median | 6 |" in PAGE
    assert max(runs) <= RUNS


def test_draws_follow_a_curved_density():
    """A banana: y given x about x squared; means and spreads of x to 0.1."""
    first = np.random.default_rng(3).normal(0, 3, (4000, 2))

    def guess(points):
        return -0.5 * (points**2).sum(axis=1) / 9

    def data(points):
        x, y = points.T
        return -0.5 * (x - 1) ** 2 / 0.25 - 0.5 * (y - x**2) ** 2 / 0.01

    x, y = tempered(guess, data, first, 1000).T
    assert np.std(y - x**2) == pytest.approx(0.1, abs=0.02)
    assert np.mean(x) == pytest.approx(0.9, abs=0.1)  # the guess pulls it in: y = x^2 counts
    assert 0.35 < np.std(x) < 0.6


def test_impossible_data_leave_no_draws():
    first = np.zeros((100, 1))
    assert tempered(lambda x: 0 * x[:, 0], lambda x: 0 * x[:, 0] - np.inf, first, 10).size == 0


def test_a_command_predicts_and_says_where_to_measure():
    document = json.loads(
        headway("fit", "server", "--data", CURVE, "--to", "700000", "--at", "500000,1500000",
               "--next", "--json").out
    )  # fmt: skip
    near, far = document["predictions"]

    assert near["load"] == near["throughput"] == 500000
    assert near["ci95"][0] < near["response_time"] < near["ci95"][1]
    assert near["sustained"] > 0.99
    assert far["sustained"] < near["sustained"]
    limit = document["saturation_throughput"]
    assert limit["determined"] is False
    assert limit["value"] is limit["ci95"][1] is None
    assert document["next"]["quantity"] == "saturation_throughput"
    first, before = document["next"]["runs"][0], document["next"]["factor"]
    assert first["load"] > 700000
    assert first["expected_factor"] < before


@pytest.mark.slow
def test_the_table_says_at_least_and_where_to_look():
    printed = headway("fit", "server", "--data", CURVE, "--to", "700000").out
    printed = " ".join(printed.split())

    assert "not determined: at least" in printed
    assert "to know more, measure at" in printed


def test_a_closed_fit_is_predicted_at_populations():
    model = catalogue_model("server-single").at(delay="1 ms", service_time="2 ms")
    jobs = np.array([1, 2, 4, 8, 16])
    solved = model.closed(jobs).solve()
    columns = zip(jobs, solved.throughput, 1e3 * solved.response_time, strict=True)
    rows = "\n".join(f"{n},{x:.6f},{r:.6f}" for n, x, r in columns)
    table = Measurements.parse(f"clients,throughput_ops_s,response_ms\n{rows}\n", "closed")
    fit = model.at(delay="0.5 ms", service_time="1 ms").fit(table, ["delay", "service_time"])
    predictions = fit.predict([32])

    exact = model.closed(32).solve()
    assert predictions.throughput[1] == pytest.approx(exact.throughput, rel=1e-4)
    assert predictions.response_time[1] == pytest.approx(exact.response_time, rel=1e-4)
    assert (predictions.throughput[0] < predictions.throughput[2]).all()
    with pytest.raises(InvalidParameter, match="whole number"):
        fit.predict([2.5])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--at", "0"], "above 0"),
        (["--at", "1e999"], "--at"),
        (["--next", "gap"], "no further load can determine 'gap'"),
        (["--data", CURVE, "--at", "5"], "give one --data"),
    ],
)
def test_what_cannot_be_predicted_is_refused_in_one_line(options, why):
    given = ("fit", "server", "--forms", "server-single", "--data", CURVE)
    assert why in refusal(*given, *options)


def test_a_quantity_that_nothing_tells_is_refused():
    server = fit_server(Measurements.read(CURVE), high=700_000)
    with pytest.raises(InvalidParameter, match="no plausible fit determines"):
        server.next_loads("response_time@1e9")


@pytest.mark.parametrize("seed", range(3))
def test_draws_find_a_server_measured_close_to_saturation(seed):
    """Its values lie in a place so small that none of the first draws is there.

    Tolerance: 1%, as 95% intervals of three seeds need not all contain the truth.
    """
    server = catalogue_model("server").at(delay=39.5e-3, service_time=1.76e-3, servers=0.3815)
    loads = np.array([40, 80, 110, 140, 160, 175, 215.6])  # it saturates at 216.8
    scatter = 1 + 0.02 * np.random.default_rng(seed).standard_normal(loads.size)
    times = scatter * np.asarray(server.solve(arrival_rate=loads).response_time)
    rows = "\n".join(f"{x},{1e3 * y:.5g}" for x, y in zip(loads, times, strict=True))
    table = Measurements.parse(f"throughput_ops_s,response_ms\n{rows}\n", "curve")

    low, _, high = (
        fit_server(table, forms="server,server-contention")
        .highest_load("response_time<=80ms", budget=0)
        .highest
    )

    truth = (1 - 1.76 / (80 - 39.5)) * 0.3815 / 1.76e-3  # where 39.5 + 1.76 / (1 - u) is 80 ms
    assert 0.99 * low <= truth <= 1.01 * high
    assert high < 1.08 * low  # it was 181 op/s to infinity
