"""The command ``headway fit``: answers, files, refusals."""

import json

import pytest

from headway.models import (
    parse_model,
    read_model,
)
from tests.support.command import headway, refusal
from tests.support.fit_data import FREE, ONE, RAID, SCSI, table

CURVE = "throughput_ops_s,response_ms\n"


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
    assert "bottleneck: " in str(scsi)
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CURVE + "100,3\n", "there is only one point"),
        (CURVE + "100,3\n100,4\n100,5\n", "all points are at one load"),
        (CURVE + "0,3\n100,4\n200,5\n", "contains a load of 0"),
        (CURVE + "100,4\n200,4\n300,4\n", "the same at every load"),
        (CURVE + "100,0\n200,4\n300,5\n", "must be above 0"),
        (CURVE + "100,1e-300\n200,4\n300,5\n", "goes from 1e-300 to 5 ms; check it"),
        ("throughput_ms,response_ms\n100,3\n200,4\n", "is in ms; it needs a unit like"),
        ("throughput_ops_s,response_kb\n100,3\n200,4\n", "it needs a unit like"),
        (CURVE + "100,3\n200,4\n", "at least as many different points, not 2"),
        ("gap_us,run_time_s\n1,2\n3,4\n", "there is no column"),
    ],
)
def test_bad_data_are_refused_in_one_line(tmp_path, text, words):
    path, out = tmp_path / "curve.csv", tmp_path / "out.toml"
    path.write_text(text)

    message = refusal(
        *("fit", "nfs-server", "--data", path, "--free", "delay,cpu_time,disk_time"),
        *("--out", out, "--plot", tmp_path / "x.svg"),
    )

    assert words in message
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--free", "cpu_tiem"], "did you mean cpu_time"),
        (["--free", "arrival_rate"], "is a column of the data"),
        (["--free", "delay,delay"], "named twice"),
        ([], "name the parameters to fit"),
        (
            ["--free", "delay", "--out", "fitted.json"],
            "--out fitted.json: the name of a model file must end in .toml",
        ),
        (["--free", "delay", "--bootstrap", "-1"], "must be between"),
        (["--free", "delay", "--bound", "delay=3"], "NAME=LOW:HIGH"),
        (["--free", "delay", "--bound", "delay=3ms:1ms"], "must be below"),
        (["--free", "delay", "--bound", "delay=3MB:4MB"], "needs time"),
        (["--free", "delay", "--data", str(RAID)], "one --data at a time"),
        (["--free", "delay", "--preset", "ide"], "has no preset"),
        (["--free", "delay", "--fix", "cpu_time=2ms"], "saturates below the highest"),
        (["--free", "delay", "--from", "5000"], "there is no load of 5000 op/s or more"),
        (["--free", "disks", "--set", "disks=1:3"], "needs a single value"),
    ],
)
def test_bad_options_are_refused_in_one_line(arguments, message):
    assert message in refusal("fit", "nfs-server", "--data", SCSI, *arguments)


def test_family_takes_no_settings():
    message = refusal("fit", "server", "--data", SCSI, "--fix", "servers=2")

    assert "needs --free" in message


def test_too_few_points_for_any_server(tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text(CURVE + "100,3\n200,4\n300,6\n")

    assert "needs at least 4 different loads" in refusal("fit", "server", "--data", path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CURVE + "0,3\n100,4\n200,5\n300,6\n", "contains a load of 0"),
        (CURVE + "100,4\n200,4\n300,4\n400,4\n", "the same at every load"),
        (CURVE + "100,3\n100,4\n100,5\n100,6\n", "at one load"),
        (CURVE + "100,0\n200,4\n300,5\n400,6\n", "must be above 0"),
    ],
)
def test_bad_curves_for_the_family(tmp_path, text, message):
    path = tmp_path / "curve.csv"
    path.write_text(text)

    assert message in refusal("fit", "server", "--data", path)


def test_unknown_loss_is_refused():
    with pytest.raises(Exception, match="did you mean cauchy"):
        ONE.at(s=1e-3).fit(table([1.0, 2, 3], [1e-3, 2e-3, 3e-3]), ["s"], loss="cauchi")


def test_a_fitted_model_stands_at_the_highest_measured_load(scsi):
    written = parse_model(scsi.to_toml("headway fit"), "fitted.toml")

    assert written.inputs["arrival_rate"] == 1053
    assert written.parameters["arrival_rate"].source == "highest measured load"


@pytest.mark.parametrize("at", ["0", "100,0", "-5", "0:100:10"])
def test_a_load_that_is_none_is_refused_before_the_fit(at):
    said = refusal("fit", "server", "--data", "not-there.csv", "--at", at)
    assert "a load to predict at must be above 0" in said
