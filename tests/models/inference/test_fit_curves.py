"""Several curves of one system, told at which settings each was measured, in one fit."""

import json

import numpy as np
import pytest

from headway.errors import MeasurementError
from headway.models import Measurements, catalogue_model, data_path, fit_model, parse_model
from headway.models.published.studies.families import family
from headway.models.reading.curves import together
from headway.models.reading.loadtest import read as headway_read
from tests.support.command import headway, refusal

SERVER = catalogue_model("server-single").at(delay="2 ms", service_time="1 ms")
FREE = ["delay", "service_time"]
LOADS = np.linspace(100, 800, 8)
ADDED = {"delay": (2e-3, "+2ms"), "service_time": (2e-4, "+200us")}
TABLES = "network_sensitivity/table_{}.csv"
SCSI = [
    TABLES.format("a_1_scsi_performance") + "@latency=10us,overhead=80us,bandwidth=26MB/s",
    TABLES.format("b_10_sfs_latency_scsi") + "@overhead=80us,bandwidth=26MB/s",
]


def curve(source, noise=0.0, seed=0, **more):
    inputs = {name: SERVER.inputs[name] + extra for name, extra in more.items()}
    exact = np.asarray(SERVER.at(inputs).solve(arrival_rate=LOADS).response_time)
    times = exact * np.exp(noise * np.random.default_rng(seed).standard_normal(8))
    rows = "\n".join(f"{x!r},{r!r}" for x, r in zip(LOADS.tolist(), times.tolist(), strict=True))
    return Measurements.parse(f"throughput_ops_s,response_s\n{rows}\n", source)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A server as it is, with 2 ms more of delay, and with 200 us more of service."""
    monkeypatch.chdir(tmp_path)
    for name, more in {"base": {}, **{n: {n: extra} for n, (extra, _) in ADDED.items()}}.items():
        rows = curve(name, **more).column("response").values
        lines = [f"{x!r},{r!r}" for x, r in zip(LOADS.tolist(), rows.tolist(), strict=True)]
        text = "\n".join(["throughput_ops_s,response_s", *lines])
        (tmp_path / f"{name}.csv").write_text(text + "\n")
    values = [f"{name}.csv@{name}={more}" for name, (_, more) in ADDED.items()]
    return [f"--data={part}" for part in ("base.csv", *values)]


def test_what_was_added_to_a_free_parameter_is_told_apart(files):
    answer = headway("fit", "server-single", "--free", ",".join(FREE), *files, "--json")
    document = json.loads(answer.out)
    values = {name: document["parameters"][name]["value"] for name in FREE}

    assert document["data"] == (
        "base.csv and delay.csv@delay=+2ms and service_time.csv@service_time=+200us"
    )
    # digits as Python prints them; the search ends at 1e-12 relative changes
    assert values == pytest.approx({"delay": 2e-3, "service_time": 1e-3}, rel=1e-6)
    assert document["summary"]["points"] == 24
    lines = ["compare", "server-single", "--set", "delay=2ms", *files[:1],
            "--data=delay.csv@delay=4ms", "--json"]  # fmt: skip
    assert json.loads(headway(*lines).out)["summary"]["max_relative_error"] < 1e-9


def test_a_family_takes_curves_that_are_told_apart_as_one_server(files):
    document = json.loads(headway("fit", "server", *files, "--json").out)

    assert document["form"] == "server-single"
    assert document["parameters"]["service_time"]["value"] == pytest.approx(1e-3, rel=1e-5)


def test_notes_of_curves_are_kept_each_once(tmp_path, monkeypatch):
    """Both say that they are closed, of 1 to 16 clients and of 1 to 8."""
    monkeypatch.chdir(tmp_path)
    rows = ["outstanding,throughput_ops_s,response_ms", "1,100,10", "4,200,20.1", "16,220,72.5"]
    fewer = [*rows[:3], "8,210,38.2"]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    (tmp_path / "b.csv").write_text("\n".join(rows))
    (tmp_path / "c.csv").write_text("\n".join(fewer))
    tables = [headway_read(name).measurements for name in ("a.csv", "b.csv", "c.csv")]
    notes = [f"closed: 1 to {most} clients (from outstanding)" for most in (16, 8)]
    joined = together([tables[0], *(t.given({"delay": "+1ms"}) for t in tables[1:])])
    assert list(joined.notes) == notes


@pytest.mark.parametrize("closed", [False, True])
def test_derivatives_with_what_was_added_are_those_of_predictions(closed):
    tables = [curve("base"), curve("slow", delay=1e-3).given({"delay": "+1ms"})]
    data = together(tables)
    model = SERVER.closed(12) if closed else SERVER
    fit = fit_model(model, data, FREE)
    problem, free = fit.problem, fit.optimum.free

    for k in range(2):
        step = 1e-5 * free[k] * np.eye(2)[k]
        slope = (problem.predict(free + step) - problem.predict(free - step)) / (2 * step[k])
        # central differences of step h are good to h**2 and to rounding over h
        np.testing.assert_allclose(problem.slopes(free)[:, k], slope, rtol=1e-4)
    assert len(fit.plot().axes) == 2


def test_a_curve_at_stated_settings_narrows_what_the_base_leaves_open():
    base = curve("base", 0.05, 1)
    slow = curve("slow", 0.05, 2, delay=2e-3).given({"delay": "+2 ms"})
    model = SERVER.at(delay=1e-3, service_time=5e-4)

    alone, both = (fit_model(model, data, FREE) for data in (base, together([base, slow])))

    assert both.standard_errors["service_time"] < alone.standard_errors["service_time"]
    low, high = both.ci95["delay"]
    assert low < 2e-3 < high


def test_a_family_of_the_thesis_by_command():
    """Files told what their tables leave out are the tables that the study makes of them."""
    free = ["delay", "cpu_time", "disk_time", "touched_per_load"]
    arguments = ["--preset", "scsi", *(f"--data={each}" for each in SCSI), "--json"]
    model = catalogue_model("server-nfs").with_preset("scsi")
    data = family("scsi", "baseline", "latency")

    compared = json.loads(headway("compare", "server-nfs", *arguments).out)
    expected = model.compare(data)
    errors = [point["relative_error"] for point in compared["points"]]
    np.testing.assert_allclose(errors, expected.relative_error, rtol=1e-9)
    fitted = json.loads(headway("fit", "server-nfs", "--free", ",".join(free), *arguments).out)
    values = {name: fitted["parameters"][name]["value"] for name in free}
    assert values == pytest.approx(fit_model(model, data, free).values, rel=1e-6)


def test_titles_of_one_meaning_are_one_column():
    one = Measurements.parse("rps,latency_ms\n100,2\n", "a.csv")
    other = Measurements.parse("response_us,throughput_kops_s,note\n3000,0.2,x\n", "b.csv")

    both = together([one, other.given({"delay": "1ms"})])

    assert both.column("latency").values.tolist() == pytest.approx([2e-3, 3e-3])
    assert both.column("rps").values.tolist() == [100, 200]
    assert both.labels["note"] == ("", "x")
    assert both.only(np.array([False, True])).labels["measured curve"] == ("b.csv@delay=1ms",)


def test_a_fitted_file_of_several_curves_solves(files):
    answer = headway("fit", "server-single", "--free", ",".join(FREE), *files, "--out", "f.toml")

    assert answer.code == 0
    with open("f.toml") as stream:  # noqa: PTH123 - where the fixture stands
        assert parse_model(stream.read()).inputs["delay"] == pytest.approx(2e-3, rel=1e-6)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("delay", "'delay' has no value; write delay=1ms, or delay=+1ms"),
        ("delay=", "'delay=' has no value"),
        (
            "dely=+1ms",
            "server-single has no parameter 'dely', which is given for a curve; did you mean "
            "delay?",
        ),
        ("delay=1ms", "cannot be fitted as well; write NAME=+VALUE for what was added"),
        ("delay=+1", "+delay has no unit; it needs a unit like ms"),
        ("delay=soon", "delay is 'soon', not a finite number with a unit"),
        ("delay=+1ms,delay=2ms", "delay is given twice"),
        ("throughput_ops_s=+1/s", "no parameter 'throughput_ops_s'"),
        ("arrival_rate=5/s,delay=+1ms", "arrival_rate"),
    ],
)
def test_perturbations_that_say_too_little_are_refused(files, message, says):
    arguments = ["fit", "server-single", "--free", "delay,service_time", files[0]]

    assert says in refusal(*arguments, f"--data=delay.csv@{message}")


def test_curves_that_say_nothing_are_refused(files):
    arguments = ["server-single", files[0], "--data=delay.csv"]

    assert "or state what differed in each: delay.csv@NAME=+VALUE" in refusal(
        "fit", *arguments, "--free", "delay"
    )
    assert "none states what differed" in refusal("compare", *arguments)


def test_no_curve_is_lost_without_a_word():
    lacking = Measurements.parse("throughput_ops_s,p99_ms\n100,9\n", "b.csv").given(
        {"delay": "+1ms"}
    )
    with pytest.raises(MeasurementError, match=r"b.csv@delay=\+1ms: no row is complete"):
        SERVER.compare(together([curve("a.csv"), lacking]))
    with pytest.raises(MeasurementError, match="no curve"):
        together([])


def test_what_exists_as_it_is_written_is_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run@delay=1ms"
    path.write_text(data_path(TABLES.format("a_1_scsi_performance")).read_text())

    answer = headway("compare", "nfs-server", "--preset", "scsi", "--data", path.name, "--json")

    assert len(json.loads(answer.out)["points"]) == 7
