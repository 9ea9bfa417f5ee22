"""Fits: the right values, honest uncertainty, and words where the data do not suffice."""

import contextlib
import json
import math
import re
import sys
from pathlib import Path

import iminuit
import lmfit
import numpy as np
import pytest

from headway.cli import fit_command
from headway.errors import MeasurementError
from headway.models import (
    Measurements,
    ModelGraph,
    catalogue_model,
    data_path,
    fit_model,
    parse_model,
    read_model,
)
from headway.models.fit_closed import clients_of
from headway.models.fit_paced import bent
from headway.queueing import MM1, Delay, MMm
from tests.command import headway, refusal

SCSI = data_path("network_sensitivity/table_a_1_scsi_performance.csv")
RAID = data_path("network_sensitivity/table_a_5_raid_performance.csv")
FREE = ["delay", "cpu_time", "disk_time", "touched_per_load"]

ONE = ModelGraph("one").declare("s").station("cpu", MM1("s"))
TWO = (
    ModelGraph("two")
    .declare("delay", "s")
    .station("wire", Delay("delay"))
    .station("cpu", MM1("s"))
    .route("wire", "cpu")
)
POOL = ModelGraph("pool").declare("s", "servers").station("cpu", MMm("s", "servers"))


def table(loads, times, header="throughput_ops_s,response_s"):
    rows = "\n".join(
        f"{x!r},{y!r}" for x, y in zip(map(float, loads), map(float, times), strict=True)
    )
    return Measurements.parse(f"{header}\n{rows}\n", "curve")


def noisy(model, loads, seed=0, noise=0.03):
    exact = np.asarray(model.solve(arrival_rate=loads).response_time)
    return table(
        loads, exact * (1 + noise * np.random.default_rng(seed).standard_normal(len(loads)))
    )


@pytest.fixture(scope="module")
def scsi():
    return catalogue_model("nfs-server").with_preset("scsi").fit(Measurements.read(SCSI), FREE)


def test_published_curve_to_three_percent(scsi):
    assert scsi.summary["max_relative_error"] < 0.03
    assert scsi.warnings == ()
    assert scsi.identified.undetermined == frozenset()
    assert scsi.problem.evaluate.smooth == set(FREE)


def test_exact_data_are_recovered():
    loads = np.linspace(100, 900, 9)
    true = TWO.at(delay=2e-3, s=1e-3)
    found = TWO.at(delay=1.0, s=1e-5).fit(noisy(true, loads, noise=0), ["delay", "s"])

    # the search ends at 1e-12 relative changes
    assert found.values == pytest.approx({"delay": 2e-3, "s": 1e-3}, rel=1e-7)
    assert found.leave_one_out_rms < 1e-6


def test_servers_are_found_as_a_whole_number():
    loads = np.linspace(500, 7800, 14)
    true = POOL.at(s=1e-3, servers=8)
    found = POOL.at(s=4e-3, servers=32).fit(noisy(true, loads, noise=1e-3), ["s", "servers"])

    assert found.values["servers"] == 8
    assert found.values["s"] == pytest.approx(1e-3, rel=0.01)  # noise 0.1 %


def test_jacobian_is_exact(scsi):
    problem, free = scsi.problem, scsi.found.free
    for k, name in enumerate(scsi.free):
        step = 1e-6 * free[k] * np.eye(len(free))[k]
        slope = (problem.residuals(free + step) - problem.residuals(free - step)) / (2 * step[k])
        # central differences of step h are good to h**2 and to rounding over h
        np.testing.assert_allclose(problem.jacobian(free)[:, k], slope, rtol=1e-5, err_msg=name)


def test_standard_errors_agree_with_two_other_programs():
    loads = np.linspace(100, 900, 12)
    data = noisy(TWO.at(delay=2e-3, s=1e-3), loads, seed=3)
    found = TWO.at(delay=1e-3, s=5e-4).fit(data, ["delay", "s"])
    rate, time = loads, data.column("response").values
    sigma = found.problem.sigma

    def predicted(delay, s):
        return delay + s / (1 - rate * s)

    parameters = lmfit.create_params(delay=1.5e-3, s={"value": 8e-4, "max": 1.1e-3})
    other = lmfit.minimize(
        lambda p: (predicted(p["delay"].value, p["s"].value) - time) / sigma, parameters
    )
    third = iminuit.Minuit(
        lambda delay, s: float(np.sum(((predicted(delay, s) - time) / sigma) ** 2)),
        delay=1.5e-3,
        s=8e-4,
    )
    third.migrad()
    third.hesse()
    scale = math.sqrt(found.known.variance)
    for name in ("delay", "s"):
        assert found.values[name] == pytest.approx(other.params[name].value, rel=1e-4)
        assert found.values[name] == pytest.approx(third.values[name], rel=1e-3)
        # they difference numerically
        assert found.standard_errors[name] == pytest.approx(other.params[name].stderr, rel=0.02)
        assert found.standard_errors[name] == pytest.approx(third.errors[name] * scale, rel=0.02)


@pytest.mark.slow
def test_two_hundred_starts_over_four_decades_find_the_optimum():
    loads = np.linspace(50, 950, 12)
    data = noisy(ONE.at(s=1e-3), loads, seed=1)
    starts = 10 ** np.random.default_rng(2).uniform(-5, -1, 200)

    found = [fit_model(ONE.at(s=start), data, ["s"], starts=1).values["s"] for start in starts]

    assert np.ptp(found) < 1e-8 * found[0]
    assert found[0] * loads.max() < 1


def test_saturation_stays_above_every_measured_load(scsi):
    limit = scsi.model.solve(arrival_rate=1053.0).saturation_throughput

    assert limit > 1053
    left_out = scsi.problem.without(np.arange(7) >= 4)
    assert np.isfinite(left_out.predict(scsi.found.free)).all()


def test_same_effect_is_told_before_and_after():
    model = catalogue_model("nfs-server").at(added_overhead="20us")
    found = model.fit(Measurements.read(RAID), ["delay", "cpu_time", "messages_per_operation"])

    assert found.identified.undetermined == {"cpu_time", "messages_per_operation"}
    assert "only a combination of" in found.warnings[0]
    document = json.loads(found.to_json())
    assert document["parameters"]["cpu_time"]["identifiable"] is False
    assert document["parameters"]["delay"]["identifiable"] is True
    assert document["parameters"]["cpu_time"]["standard_error"] is None


def test_what_has_no_effect_is_told():
    found = catalogue_model("nfs-server").fit(
        Measurements.read(RAID), ["delay", "messages_per_operation"]
    )

    assert "no prediction at these points depends on messages_per_operation" in found.warnings[0]


def test_advice_names_a_load_that_helps():
    loads = np.linspace(5, 30, 8)  # far below saturation at 1000
    true = TWO.at(delay=2e-3, s=1e-3)
    data = noisy(true, loads, seed=5)
    found = TWO.at(delay=1e-3, s=5e-4).fit(data, ["delay", "s"])

    assert found.identified.undetermined >= {"s"}
    assert "two points near" in " ".join(found.warnings)


def test_intervals_near_a_bound_are_not_symmetric():
    loads = np.linspace(100, 900, 10)
    data = noisy(ONE.at(s=1e-3), loads, seed=4)
    model = TWO.at(delay=1e-3, s=5e-4)
    found = model.fit(data, ["delay", "s"], bounds={"delay": (0.0, 1.0)})

    low, high = found.ci95["delay"]
    assert low <= 1e-9
    assert high > 0
    assert found.ci95["s"][0] < 1e-3 < found.ci95["s"][1]


def test_at_a_bound_says_so():
    model = catalogue_model("nfs-server").with_preset("scsi")
    found = model.fit(Measurements.read(SCSI), ["cpu_time"], bounds={"cpu_time": (0, 7e-4)})

    assert found.values["cpu_time"] == pytest.approx(7e-4)
    assert "upper bound, 700 us" in " ".join(found.warnings)


def test_worse_than_a_constant_says_so():
    data = table([100.0, 200, 300, 400, 500], [9e-3, 7e-3, 5e-3, 4e-3, 3e-3])
    found = ONE.at(s=1e-3).fit(data, ["s"])

    assert any("worse than a constant" in text for text in found.warnings)


def test_lack_of_fit_says_so():
    loads = np.linspace(50, 900, 16)
    data = table(loads, 1e-3 + 4e-6 * loads**1.0)
    found = TWO.at(delay=1e-3, s=5e-4).fit(data, ["delay", "s"])

    assert any("lack of fit" in text for text in found.warnings)


def test_robust_loss_resists_an_outlier():
    loads = np.linspace(100, 900, 12)
    data = noisy(TWO.at(delay=2e-3, s=1e-3), loads, noise=0.005)
    times = data.column("response").values.copy()
    times[4] *= 3
    spoilt = table(loads, times)
    model = TWO.at(delay=1e-3, s=5e-4)

    plain = model.fit(spoilt, ["delay", "s"]).values["delay"]
    robust = model.fit(spoilt, ["delay", "s"], loss="cauchy").values["delay"]

    assert abs(robust - 2e-3) < 0.05 * 2e-3 < abs(plain - 2e-3)


def test_bootstrap_agrees_with_t_intervals():
    data = noisy(TWO.at(delay=2e-3, s=1e-3), np.linspace(100, 900, 12), seed=7)
    model = TWO.at(delay=1e-3, s=5e-4)
    plain, again = model.fit(data, ["delay", "s"]), model.fit(data, ["delay", "s"], bootstrap=200)

    for name in ("delay", "s"):
        width = np.ptp(plain.ci95[name])
        # 200 rounds know a percentile to some 15 %, and t is wider than the normal by 14 %
        assert np.ptp(again.ci95[name]) == pytest.approx(width, rel=0.4)


def test_bands_widen_outside_the_data():
    data = noisy(TWO.at(delay=2e-3, s=1e-3), np.linspace(100, 600, 10), seed=8)
    found = TWO.at(delay=1e-3, s=5e-4).fit(data, ["delay", "s"])

    middle, low, high = found.predict(np.array([350.0, 900.0]))

    assert (low < middle).all()
    assert (middle < high).all()
    assert (high / low)[1] > 1.5 * (high / low)[0]


def test_resolution_weighs():
    """A point printed to one digit pulls less than one printed to three."""
    fine = "throughput_ops_s,response_ms\n100,1.11\n500,2.00\n"
    free = ["s"]
    both = Measurements.parse(fine + "800,9\n", "curve")
    alike = Measurements.parse(fine + "800,9.000\n", "curve")

    coarse = ONE.at(s=1e-3).fit(both, free).values["s"]
    exact = ONE.at(s=1e-3).fit(alike, free).values["s"]

    assert 1e-3 < coarse < exact


COVERED = {
    "M/M/1": (ONE.at(s=1e-3), ["s"], np.linspace(100, 930, 8)),
    "M/M/m": (POOL.at(s=4e-3, servers=4), ["s"], np.linspace(100, 930, 8)),
    "cache": (
        catalogue_model("nfs-server").with_preset("scsi"),
        ["delay", "cpu_time", "touched_per_load"],
        np.linspace(100, 1050, 12),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COVERED)
def test_intervals_cover_the_truth(name):
    """Of 400 intervals of 95 % between 92 and 98 % should hold the truth (standard error 1.1 %)."""
    model, free, loads = COVERED[name]
    truth = {parameter: model.parameters[parameter].value for parameter in free}
    hits = dict.fromkeys(free, 0)
    for seed in range(400):
        found = fit_model(model, noisy(model, loads, seed), free, starts=1)
        for parameter, (low, high) in found.ci95.items():
            hits[parameter] += low <= truth[parameter] <= high

    check_coverage(name, hits)


@pytest.mark.slow
def test_intervals_of_a_closed_model_cover_the_truth():
    model = catalogue_model("server-closed").at(
        population=40, delay=2e-3, service_time=1e-3, servers=1
    )
    loads = np.linspace(100, 950, 10)
    free = ["delay", "service_time"]
    exact = model.compare(table(loads, np.full(10, 5e-3))).predicted
    hits = dict.fromkeys(free, 0)
    for seed in range(400):
        times = exact * (1 + 0.03 * np.random.default_rng(seed).standard_normal(10))
        found = fit_model(model, table(loads, times), free, starts=1)
        for parameter, (low, high) in found.ci95.items():
            hits[parameter] += low <= model.parameters[parameter].value <= high

    check_coverage("closed", hits)


def check_coverage(name, hits):
    """Hold the counts against what is promised, and against what the documentation prints."""
    table = (Path(__file__).parent.parent / "docs/explanation/intervals.md").read_text()
    for parameter, count in hits.items():
        assert 0.92 <= count / 400 <= 0.98, (parameter, count)
        printed = re.search(rf"\| {name} \| `{parameter}` \| (\d+) \| ([\d.]+) %", table)
        # another machine's rounding may move an end or two across the truth
        assert abs(int(printed[1]) - count) <= 2, (parameter, count)
        assert float(printed[2]) == pytest.approx(int(printed[1]) / 4, abs=0.051)


def test_a_curve_that_bends_back_is_closed():
    rate = np.array([100.0, 300, 500, 700, 800, 850, 820, 780])
    time = np.array([2.1, 2.4, 3.0, 4.6, 8.0, 47.0, 48.8, 51.3]) * 1e-3
    data = table(rate, time)

    seen = clients_of(data)
    assert seen.bent.tolist() == [False] * 5 + [True] * 3
    assert seen.population == pytest.approx(40, rel=0.01)
    found = (
        catalogue_model("server-closed")
        .at(population=20)
        .fit(data, ["delay", "service_time", "population"])
    )
    assert found.values["population"] == 40
    bend = found.comparison.relative_error[5:]
    assert np.abs(bend).max() < 0.01  # Little's law; throughput is printed to three digits
    open_model = TWO.at(delay=1e-3, s=1e-3).fit(data, ["delay", "s"])
    assert any("the curve bends back" in text for text in open_model.warnings)


def test_throughput_behind_its_request_is_closed():
    text = "requested_ops_s,throughput_ops_s,response_ms\n100,100,2\n200,200,3\n400,300,100\n"
    seen = clients_of(Measurements.parse(text, "curve"))

    assert seen.behind.tolist() == [False, False, True]
    assert seen.population == pytest.approx(30)


def test_rising_curves_do_not_bend():
    assert not bent(np.array([1.0, 2, 3]), np.array([1.0, 1, 9])).any()


def test_pacing_agrees_with_the_solver():
    """The think times that pacing finds give back the measured throughput."""
    model = catalogue_model("server-closed").at(population=40, delay=2e-3, service_time=1e-3)
    loads = np.linspace(100, 900, 5)
    solution = model.compare(table(loads, np.full(5, 5e-3))).solution

    again = solution.model.solve(method="schweitzer")
    exact = solution.model.solve()

    # the fixed point is settled to 1e-12 of the population
    np.testing.assert_allclose(again.throughput, loads, rtol=1e-8)
    np.testing.assert_allclose(again.response_time, solution.response_time, rtol=1e-6)
    # Schweitzer's approximation is good to some percent below 80 % utilisation
    np.testing.assert_allclose(exact.response_time[:4], solution.response_time[:4], rtol=0.05)


def test_answers_go_out_in_every_form(scsi, tmp_path):
    document = json.loads(scsi.to_json())
    assert set(document) >= {"model", "parameters", "summary", "warnings"}
    entry = document["parameters"]["cpu_time"]
    assert set(entry) == {"value", "standard_error", "ci95", "initial", "free", "identifiable"}
    assert entry["ci95"][0] < entry["value"] < entry["ci95"][1]
    assert document["parameters"]["memory"]["free"] is False
    assert set(document["summary"]) >= {
        "rms_relative_error",
        "max_relative_error",
        "median_relative_error",
        "r_squared",
        "aicc",
        "points",
        "free_parameters",
        "leave_one_out_rms_relative_error",
    }
    assert scsi.to_csv().splitlines()[0].startswith("parameter,value,standard_error,low,high")
    assert "binds" in str(scsi)
    assert "<table" in scsi._repr_html_()
    assert scsi.plot().axes
    path = tmp_path / "fitted.toml"
    path.write_text(scsi.to_toml("headway fit"))
    again = read_model(path)
    assert again.inputs["cpu_time"] == scsi.values["cpu_time"]
    assert "sha256" in again.parameters["cpu_time"].source
    assert "headway fit" in again.source


def test_command_writes_the_fitted_model(tmp_path):
    out = tmp_path / "fitted.toml"
    result = headway(
        *("fit", "nfs-server", "--preset", "scsi", "--data", SCSI, "--free", ",".join(FREE)),
        *("--out", out, "--json", "--plot", tmp_path / "fit.svg"),
    )

    assert result.code == 0, result
    assert json.loads(result.out)["summary"]["max_relative_error"] < 0.03
    compared = headway("compare", out, "--data", SCSI, "--json")
    assert json.loads(compared.out)["summary"]["max_relative_error"] < 0.03
    assert (tmp_path / "fit.svg").read_text().startswith("<?xml")


CURVE = "throughput_ops_s,response_ms\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (CURVE + "100,3\n", "one point is no curve"),
        (CURVE + "100,3\n100,4\n100,5\n", "all points are at one load"),
        (CURVE + "0,3\n100,4\n200,5\n", "holds a load of 0"),
        (CURVE + "100,4\n200,4\n300,4\n", "the same at every load"),
        (CURVE + "100,0\n200,4\n300,5\n", "must be above 0"),
        ("throughput_ms,response_ms\n100,3\n200,4\n", "is in ms; it needs one like"),
        ("throughput_ops_s,response_kb\n100,3\n200,4\n", "it needs one like"),
        (CURVE + "100,3\n200,4\n", "3 free parameters but 2 different points"),
        ("gap_us,run_time_s\n1,2\n3,4\n", "there is no column"),
    ],
)
def test_bad_data_are_refused_in_one_line(tmp_path, text, told):
    path, out = tmp_path / "curve.csv", tmp_path / "out.toml"
    path.write_text(text)

    message = refusal(
        *("fit", "nfs-server", "--data", path, "--free", "delay,cpu_time,disk_time"),
        *("--out", out, "--plot", tmp_path / "x.svg"),
    )

    assert told in message
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--free", "cpu_tiem"], "did you mean cpu_time"),
        (["--free", "arrival_rate"], "is a column of the data"),
        (["--free", "delay,delay"], "named twice"),
        ([], "name the parameters to fit"),
        (["--free", "delay", "--out", "fitted.json"], "ends in .toml"),
        (["--free", "delay", "--bootstrap", "-1"], "must be between"),
        (["--free", "delay", "--bound", "delay=3"], "NAME=LOW:HIGH"),
        (["--free", "delay", "--bound", "delay=3ms:1ms"], "not below"),
        (["--free", "delay", "--bound", "delay=3MB:4MB"], "needs time"),
        (["--free", "delay", "--data", str(RAID)], "one --data at a time"),
        (["--free", "delay", "--preset", "ide"], "has no preset"),
        (["--free", "delay", "--fix", "cpu_time=2ms"], "saturates below the highest"),
        (["--free", "delay", "--from", "5000"], "no load lies between"),
        (["--free", "disks", "--set", "disks=1:3"], "no single value"),
    ],
)
def test_bad_options_are_refused_in_one_line(arguments, told):
    assert told in refusal("fit", "nfs-server", "--data", SCSI, *arguments)


def test_family_takes_no_settings():
    message = refusal("fit", "server", "--data", SCSI, "--fix", "servers=2")

    assert "goes with --free" in message


def test_too_few_points_for_any_server(tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text(CURVE + "100,3\n200,4\n300,6\n")

    assert "takes 4 different loads" in refusal("fit", "server", "--data", path)


def test_progress_shows_on_a_terminal_only(monkeypatch):
    seen = []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    assert isinstance(fit_command._progress(10), contextlib.nullcontext)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with fit_command._progress(3) as step:
        seen.extend(step() for _ in range(3))
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (CURVE + "0,3\n100,4\n200,5\n300,6\n", "holds a load of 0"),
        (CURVE + "100,4\n200,4\n300,4\n400,4\n", "the same at every load"),
        (CURVE + "100,3\n100,4\n100,5\n100,6\n", "at one load"),
        (CURVE + "100,0\n200,4\n300,5\n400,6\n", "must be above 0"),
    ],
)
def test_bad_curves_for_the_family(tmp_path, text, told):
    path = tmp_path / "curve.csv"
    path.write_text(text)

    assert told in refusal("fit", "server", "--data", path)


def test_unknown_loss_is_refused():
    with pytest.raises(Exception, match="did you mean cauchy"):
        ONE.at(s=1e-3).fit(table([1.0, 2, 3], [1e-3, 2e-3, 3e-3]), ["s"], loss="cauchi")


def test_a_model_of_a_program_is_fitted_too():
    program = parse_model(
        """
        name = "program"
        [parameters]
        base = { value = "1 s" }
        messages = { value = "10 message", min = 0 }
        overhead = { value = "0 us/message" }
        [outputs]
        run_time = { formula = "base + 2 * messages * overhead", unit = "s" }
        """
    )
    data = Measurements.parse(
        "overhead_us_per_message,run_time_s\n0,10.0\n10,11.1\n50,14.9\n100,20.1\n", "program"
    )

    found = program.fit(data, ["base", "messages"])

    assert found.values["base"] == pytest.approx(10, rel=0.01)
    assert found.values["messages"] == pytest.approx(5e4, rel=0.02)
    assert found.loads().size == 0
    assert found.plot().axes


def test_equal_rows_do_not_count_twice():
    model = TWO.at(delay=1e-3, s=1e-4).at(arrival_rate=1.0)
    data = table([1.0, 1, 1, 2], [1e-3, 1e-3, 1e-3, 2e-3])

    assert model.fit(data, ["delay", "s"]).points == 4
    with pytest.raises(MeasurementError, match="3 free parameters but 2 different points"):
        catalogue_model("nfs-server").fit(data, ["delay", "cpu_time", "disk_time"])


@pytest.mark.parametrize("seed", range(4))
def test_counts_that_fit_as_well_are_in_the_interval(seed):
    """Four servers of 2.2 ms behind 2 ms: three fit nearly as well, and one does not."""
    pool = catalogue_model("server-pool").at(delay=2e-3, service_time=2.2e-3, servers=4)
    loads = np.array([200, 400, 600, 800, 1000, 1200, 1400, 1500, 1600, 1700.0])
    found = pool.fit(noisy(pool, loads, seed, noise=0.02), ["delay", "service_time", "servers"])
    low, high = found.ci95["servers"]

    assert 1 < low <= 4 <= high
    assert any(f"servers of {low:g} to {high:g} fit about as well" in w for w in found.warnings)
