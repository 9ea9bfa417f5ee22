"""Repeats that are off together: a component between loads, in intervals, bands and words."""

import json
import re

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import t as student_t

from benchmarks.accuracy import CASES, RUNS, Runs, shifted, shifted_curve, started
from headway.errors import MeasurementError
from headway.models import Measurements, ModelGraph, fit_model
from headway.models.inference.server import fit_server
from headway.queueing import MMm
from tests.support.command import headway
from tests.support.pages import accuracy

CASE = CASES["single"]
PAGE = accuracy()


def fitted(shift, loads=10, seed=1):
    curve = shifted_curve(CASE, Runs(loads, shift), seed)
    return fit_model(started(CASE), curve, CASE.free)


def table(rows):
    text = "\n".join(f"{x!r},{y!r}" for x, y in rows)
    return Measurements.parse(f"throughput_ops_s,response_s\n{text}\n", "own.csv")


def test_intervals_are_those_of_the_means_of_loads():
    """Repeats that are all off by as much: a fit to one point a load says the same (1%)."""
    loads, off = np.linspace(100, 900, 8), np.random.default_rng(3).normal(0, 0.05, 8)
    times = np.asarray(CASE.model.solve(arrival_rate=loads).response_time) * np.exp(off)
    jitter = 1 + 1e-4 * np.array([-1, 0, 1])
    means = [(x, y) for x, y in zip(loads.tolist(), times.tolist(), strict=True)]
    repeats = [(x, y * float(j)) for x, y in means for j in jitter]

    one, three = (fit_model(started(CASE), table(rows), CASE.free) for rows in (means, repeats))

    assert three.uncertainty.degrees == one.uncertainty.degrees == 6
    assert three.uncertainty.shift.by_load
    for name in CASE.free:
        assert three.values[name] == pytest.approx(one.values[name], rel=1e-4)
        assert three.standard_errors[name] == pytest.approx(one.standard_errors[name], rel=0.01)
        assert three.ci95[name] == pytest.approx(one.ci95[name], rel=0.01)
    bands = [fit.predict([700.0, 950.0]).response_time for fit in (one, three)]
    widths = [np.log(band[2] / band[0]) for band in bands]
    # Knowing beforehand that errors are some 2% narrows bands of single points alone.
    assert widths[1] == pytest.approx(widths[0], rel=0.35)


def test_components_are_those_of_an_analysis_of_variance():
    shift = fitted(3.0).uncertainty.shift
    fit = fitted(3.0)
    residuals = fit.problem.residuals(fit.optimum.free).reshape(10, 3)

    between = 3 * (residuals.mean(axis=1) ** 2).sum()
    within = ((residuals - residuals.mean(axis=1, keepdims=True)) ** 2).sum()
    assert (shift.points, shift.loads) == (30, 10)
    assert shift.between == pytest.approx(between)
    assert shift.within == pytest.approx(within)
    # repeats weigh a little differently, as errors are relative to what was measured
    assert shift.repeats == pytest.approx(3, rel=0.01)
    size = 0.02 * np.sqrt((between / 8 - within / 20) / 3)
    assert shift.size == pytest.approx(size, rel=0.01)
    assert fit.uncertainty.variance == pytest.approx(between / 8, rel=0.01)


def test_degrees_are_those_of_the_wider_interval():
    """Without a shift all points count, or loads where they leave intervals wider."""
    for seed in range(20):
        shift = fitted(0.0, seed=seed).uncertainty.shift
        pooled = (shift.between + shift.within) / 28
        by_load = student_t.ppf(0.975, 8) ** 2 * shift.weight * shift.between / 8
        assert shift.by_load == (by_load > student_t.ppf(0.975, 28) ** 2 * pooled)
        assert shift.degrees == (8 if shift.by_load else 28)


@pytest.mark.slow
def test_a_load_of_many_repeats_counts_as_one_run():
    """One load has twenty repeats that are off together: it must not outvote five others.

    Of 15 curves 95% should hold; fewer than 11 would come up once in 1,000 times.
    """
    expected = 0
    for seed in range(15):
        random = np.random.default_rng(seed)
        loads = np.linspace(100, 900, 6)
        counts = np.array([1, 20, 1, 1, 2, 1])
        off = np.repeat(random.normal(0, 0.06, 6), counts)
        at = np.repeat(loads, counts)
        times = np.asarray(CASE.model.solve(arrival_rate=at).response_time)
        times = times * np.exp(off + random.normal(0, 0.01, at.size))
        rows = list(zip(at.tolist(), times.tolist(), strict=True))
        low, high = fit_model(started(CASE), table(rows), CASE.free).ci95["delay"]
        expected += low <= 2e-3 <= high
    assert expected >= 11


@pytest.mark.slow
@pytest.mark.parametrize("runs", RUNS, ids=lambda runs: runs.name)
def test_the_first_curves_agree_with_the_documented_shares(runs):
    """Ten curves of each row: no share so far off would come up once in ten thousand times."""
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {runs.name} |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    documented = [float(share) / 100 for share in re.findall(r"[\d.]+", cells[2])]

    count, kept_inside = shifted(runs, 10)

    assert count.curves == 10
    assert len(documented) == len(CASE.free)
    for share, hits in zip(
        [*documented, float(cells[3]) / 100], [*count.inside, kept_inside], strict=True
    ):
        assert 0.92 <= share <= 0.985
        assert binom.cdf(hits, 10, min(share + 0.005, 1)) > 1e-4


def test_what_is_known_is_said_in_table_and_json(tmp_path):
    """Drifting, alike, as many loads as parameters, and never repeated: a line each."""
    exact = np.asarray(CASE.model.solve(arrival_rate=np.array([100.0, 500.0])).response_time)
    few = [
        (x, y * j) for x, y in zip((100.0, 500.0), exact.tolist(), strict=True) for j in (1, 1.1)
    ]
    loads = np.linspace(100, 900, 6)
    once = np.asarray(CASE.model.solve(arrival_rate=loads).response_time) * 1.01
    drifting, single = fitted(3.0).examined(), list(zip(loads.tolist(), once.tolist(), strict=True))
    cases = {
        "intervals count 10 loads, not 30 points": drifting,
        "no more loads than free parameters": fit_model(started(CASE), table(few), CASE.free),
        "no load was repeated, ": fit_model(started(CASE), table(single), CASE.free),
    }
    known = [True, False, False]
    for (words, fit), text in zip(cases.items(), known, strict=True):
        document = json.loads(fit.examined().to_json())["common_shift"]
        assert words in " ".join(str(fit).split())
        assert words in document["statement"]
        assert document["known"] is text
        assert (document["size"] is None) == (not text)
    path = tmp_path / "once.csv"
    path.write_text("throughput_ops_s,response_s\n" + "\n".join(f"{x},{y}" for x, y in single))
    shown = headway("fit", "server", "--forms", "server-single", "--data", str(path)).out
    assert "run-to-run drift cannot be separated from model error" in " ".join(shown.split())


def test_forms_are_carried_by_loads_not_by_points():
    """Five points at two loads carry no form; eight at four the ones of two parameters."""
    five = [(100.0, 2e-3), (100.0, 2.1e-3), (200.0, 3e-3), (200.0, 3.1e-3), (200.0, 2.9e-3)]
    with pytest.raises(
        MeasurementError, match="5 points at 2 loads; the simplest server needs at least 4"
    ):
        fit_server(table(five))
    loads = np.repeat([100.0, 300.0, 500.0, 700.0], 2)
    times = np.asarray(CASE.model.solve(arrival_rate=loads).response_time) * np.tile(
        [0.99, 1.01], 4
    )

    server = fit_server(table(zip(loads.tolist(), times.tolist(), strict=True)))

    assert {len(fit.free) for _, fit in server.candidates} == {2}
    assert "server-cache (no delay)" in [form.name for form in server.untried]
    assert "8 points at 4 loads do not support 3 free parameters" in " ".join(str(server).split())
    assert "server" in json.loads(server.to_json())["untried"]


def test_the_slope_of_a_count_is_one_sided_where_a_side_is_lost():
    """One server less saturates: what one more changes is told whole, not by half."""
    pool = ModelGraph("pool").declare("s", "m").station("cpu", MMm("s", "m"))
    model = pool.at(s=1e-2, m=4.0)
    loads = np.array([50.0, 200.0, 350.0])  # three servers sustain 300

    times = np.asarray(model.solve(arrival_rate=loads).response_time)
    fit = fit_model(model, table(zip(loads.tolist(), times.tolist(), strict=True)), ["s", "m"])

    more = np.asarray(model.at(m=5.0).solve(arrival_rate=loads).response_time)
    column = fit.problem.slopes(np.array([1e-2, 4.0]))[:, 1]
    fewer = np.asarray(model.at(m=3.0).solve(arrival_rate=loads[:2]).response_time)
    assert column[2] == pytest.approx(more[2] - times[2])
    assert column[:2] == pytest.approx((more[:2] - fewer) / 2)
