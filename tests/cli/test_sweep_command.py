"""``headway sweep``: tables, JSON, CSV, files, and what it refuses."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from headway.cli import main as main_module
from headway.models import catalogue_model
from tests.support.command import headway, refusal
from tests.support.limits import HANGS

GRID = ("sweep", "nfs-server", "--preset", "raid", "--set", "arrival_rate=100:1500:10")


def test_the_table_says_what_was_kept():
    printed = headway(*GRID, "--set", "disks=8:48", "--reduce", "exceeds(response_time, 20ms)")
    assert "5,781 points of arrival_rate, disks" in printed.out
    rates, disks = np.meshgrid(np.arange(100.0, 1501, 10), np.arange(8.0, 49))
    model = catalogue_model("nfs-server").with_preset("raid")
    times = model.at(arrival_rate=rates.ravel(), disks=disks.ravel()).solve().response_time
    assert f"{np.count_nonzero(times > 0.02):,}" in printed.out
    assert f"{100 * np.mean(times > 0.02):.4g}%" in printed.out
    assert "5,781 points in" in printed.err
    assert "points/s a core" in printed.err


def test_units_are_one_an_output_and_infinite_points_are_told():
    printed = headway(*GRID, "--set", "disks=8", "--reduce", "quantiles=p1,p99.9")
    units = {line.split()[-1] for line in printed.out.splitlines() if " p1 " in line}
    assert units == {"ms"}
    assert "∞" in printed.out
    assert "of the points saturate" in printed.out


def test_json_and_csv_say_the_same():
    arguments = (*GRID, "--reduce", "top(response_time, 2)", "--reduce", "moments(cpu.utilisation)")
    document = json.loads(headway(*arguments, "--json").out)
    assert document["points"] == 141
    assert document["space"]["kind"] == "grid"
    rows = list(csv.DictReader(io.StringIO(headway(*arguments, "--csv").out)))
    assert [row["statistic"] for row in rows] == [r["statistic"] for r in document["results"]]
    values = [result["value"] for result in document["results"]]
    assert [float(row["value"]) for row in rows] == values
    assert rows[0]["arrival_rate_ops_per_s"] == "1500.0"


def test_rows_of_points_say_which_in_any_order():
    """Of four at 5, 1, 9 and 8, say: not those at 5 to 8."""
    model = catalogue_model("server-single")
    rates = [3.0, 9.0, 5.0, 2.0, 1.0, 10.0, 4.0, 6.0, 7.0, 8.0]
    swept = model.sweep({"arrival_rate": rates}, reduce=["top(response_time, 4)"])
    assert [row["point"] for row in swept.rows()] == [5, 1, 9, 8]
    expected = [10.0, 9.0, 8.0, 7.0]
    assert [row["inputs"] for row in swept.rows()] == [{"arrival_rate": r} for r in expected]
    assert all(f"arrival_rate {rate:g} op/s" in str(swept) for rate in expected)
    rows = list(csv.DictReader(io.StringIO(swept.to_csv())))
    assert [float(row["arrival_rate_ops_per_s"]) for row in rows] == expected


def test_bins_and_indices_have_columns_of_their_own():
    bins = headway(*GRID, "--reduce", "histogram(response_time, 5ms, 9ms)", "--csv").out
    ends = [(row["from"], row["to"]) for row in csv.DictReader(io.StringIO(bins))]
    assert ends[:2] == [("", "0.005"), ("0.005", "0.009")]
    sampled = ("--set", "arrival_rate=300:900", "--global", "--sample", "256", "--csv")
    printed = headway("sensitivity", "server-single", *sampled).out
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert {(row["parameter"], row["index"]) for row in rows} == {
        ("arrival_rate", "first"),
        ("arrival_rate", "total"),
    }


def test_a_sample_has_intervals_and_a_grid_has_none():
    sampled = ("sweep", "nfs-server", "--set", "arrival_rate=100:900", "--sample", "4096")
    for kind in ("sobol", "latin", "random"):
        printed = headway(*sampled, "--kind", kind, "--reduce", "moments").out
        assert "95% interval" in printed
    assert "95% interval" not in headway(*GRID, "--reduce", "moments").out


def test_a_closed_model_and_percentiles_can_be_swept():
    closed = headway(
        "sweep", "nfs-server", "--closed", "45", "--set", "cpu_time=500:700:50us",
        "--output", "throughput", "--reduce", "least", "--json",
    )  # fmt: skip
    (row,) = json.loads(closed.out)["results"]
    assert row["output"] == "throughput"
    assert row["point"] == 4
    late = headway(*GRID, "--output", "response_time_p99", "--reduce", "exceeds=50ms", "--json")
    count, share = json.loads(late.out)["results"]
    assert 0 < count["value"] < 141
    assert share["value"] == pytest.approx(count["value"] / 141)


def test_a_file_of_points(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text("arrival_rate_ops_per_s,cpu_time_us\n500,600\n600,650\n")
    printed = headway("sweep", "nfs-server", "--points", file, "--reduce", "points", "--csv").out
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [float(row["arrival_rate_ops_per_s"]) for row in rows] == [500, 600]
    assert [float(row["cpu_time_s"]) for row in rows] == [600e-6, 650e-6]


def test_a_sweep_goes_on_from_its_file(tmp_path):
    path = tmp_path / "sweep.npz"
    whole = json.loads(headway(*GRID, "--out", path, "--json").out)
    again = json.loads(headway(*GRID, "--out", path, "--resume", "--json").out)
    assert again["results"] == whole["results"]
    with np.load(path) as arrays:
        assert arrays["statistic"].tolist()[:2] == ["finite points", "mean"]
    other = refusal(*GRID, "--set", "disks=4,8", "--out", path, "--resume")
    assert "contains a sweep with another space" in other


EAGER = "import conftest; from headway.models.sweeping import sweeping; sweeping.SAVED_EVERY = 0.0"
ENDLESS = ("--set", "arrival_rate=1:1e9", "--set", "disks=1:1e6", "--reduce", "moments")


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another thing there")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_what_ends_a_sweep_keeps_what_is_done(tmp_path, name, code):
    """Ctrl-C, or a batch system; and says so: the file goes on, and no semaphore is left."""
    path = tmp_path / "sweep.npz"
    call = f"{EAGER}; from headway.cli.main import main; main()"
    command = [sys.executable, "-c", call, "sweep", "nfs-server", *ENDLESS, "--workers", "1"]
    process = subprocess.Popen(
        [*command, "--out", path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "80"},
        start_new_session=True,
    )
    while not path.exists():
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, getattr(signal, name))
    out, err = process.communicate(timeout=HANGS)
    assert process.returncode == code, err
    assert "interrupted: of the first" in " ".join(out.split())
    assert len(err.splitlines()) == 1, err
    assert [each.name for each in tmp_path.iterdir()] == ["sweep.npz"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals there")
def test_a_signal_that_the_caller_ignores_stays_ignored(monkeypatch):
    """As nohup does; others end the command as Ctrl-C does."""
    taken = {}
    before = {signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_IGN}
    monkeypatch.setattr(signal, "getsignal", before.get)
    monkeypatch.setattr(signal, "signal", taken.__setitem__)
    main_module._hear()
    assert list(taken) == [signal.SIGTERM]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--reduce", "median"), "there is no reduction 'median'"),
        (("--reduce", "(response_time)"), "has no name"),
        (("--reduce", "quantiles=p100"), "percentile is 100"),
        (("--reduce", "exceeds(response_time, 3 kg)"), "kg"),
        (
            ("--set", "disks=1:1e15", "--set", "nvram=1:1e5", "--reduce", "points"),
            "points(response_time): 1.41e+22 points exceed the limit of 10,000,000",
        ),
        (("--workers", "0"), "0 workers"),
        (("--workers", "2", "--cluster", "tcp://a:1"), "not both"),
        (("--resume",), "--out FILE"),
        (("--out", "sweep.csv"), ".npz or .parquet"),
        (("--out", "nowhere/sweep.npz"), "there is no folder nowhere"),
        (("--sample", "0"), "sample is 0"),
        (("--output", "respons_time"), "did you mean response_time"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(arguments, message):
    assert message in refusal(*GRID, *arguments)


def test_nothing_to_sweep_is_refused():
    assert "nothing to sweep" in refusal("sweep", "nfs-server")


def test_kinds_of_reductions_are_listed():
    listed = json.loads(headway("kinds", "--json").out)["reductions"]
    assert {"moments(OUTPUT)", "exceeds(OUTPUT, LIMIT)"} <= {each["pattern"] for each in listed}
    assert "top(OUTPUT, 10)" in headway("kinds", "--reductions").out
