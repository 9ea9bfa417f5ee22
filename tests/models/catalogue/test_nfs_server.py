"""The main job against the thesis's numbers."""

import json

import numpy as np
import pytest

from headway.errors import MeasurementError
from headway.models import Measurements, catalogue_model, curve, data_path
from headway.models.signatures.sfs import Range, overall_response_time
from tests.oracles.published import oracles
from tests.support.command import headway

TABLES = {
    "scsi": data_path("network_sensitivity/table_a_1_scsi_performance.csv"),
    "raid": data_path("network_sensitivity/table_a_5_raid_performance.csv"),
}
REQUESTED = {
    "scsi": (200, 400, 600, 800, 950, 1000, 1050),
    "raid": (300, 400, 500, 600, 700, 800, 900, 1000, 1200, 1300, 1400, 1500),
}
SCALES = {"ms": 1e-3, "us": 1e-6, "": 1.0}
ORACLES = oracles("nfs_server")


def with_requested_loads(preset, tmp_path):
    lines = TABLES[preset].read_text().splitlines()
    rows = [f"{line},{load}" for line, load in zip(lines[1:], REQUESTED[preset], strict=True)]
    path = tmp_path / "requested.csv"
    path.write_text("\n".join([lines[0] + ",requested_ops_s", *rows]) + "\n")
    return path


@pytest.mark.parametrize("preset", TABLES)
def test_predictions(preset):
    result = headway(
        "compare", "nfs-server", "--preset", preset, "--data", TABLES[preset], "--json"
    )

    document = json.loads(result.out)
    by_name = {p["inputs"]["arrival_rate"]: p["predicted"] for p in document["points"]}
    rows = [r for r in ORACLES if r["what"] == "predicted" and r["preset"] == preset]
    assert rows
    for row in rows:
        wanted, tolerance = float(row["value"]) * 1e-3, float(row["tolerance"]) * 1e-3
        assert by_name[float(row["key"])] == pytest.approx(wanted, abs=tolerance), row


@pytest.mark.parametrize("row", [r for r in ORACLES if r["what"] == "signature"], ids=str)
def test_signatures(row, tmp_path):
    requested = row["column"] == "requested"
    path = with_requested_loads(row["preset"], tmp_path) if requested else TABLES[row["preset"]]
    column = ["--x", "requested_ops_s"] if requested else []
    limits = ["--from", row["from_ops_s"], "--to", row["to_ops_s"]]

    result = headway("signature", "sfs", path, *limits, *column, "--json")

    value = json.loads(result.out)[row["key"]] / SCALES[row["unit"]]
    assert value == pytest.approx(float(row["value"]), abs=float(row["tolerance"]))


def test_largest_error_of_the_raid():
    data = Measurements.read(TABLES["raid"])

    comparison = catalogue_model("nfs-server").with_preset("raid").compare(data, low=490, high=1410)

    assert comparison.summary["max_relative_error"] == pytest.approx(0.27, abs=0.005)
    worst = np.argmax(np.where(comparison.counted, np.abs(comparison.relative_error), 0))
    assert comparison.load.values[worst] == 696


def test_saturation_and_its_naming():
    sweep = "arrival_rate=200:1600:100"
    result = headway("solve", "nfs-server", "--preset", "raid", "--set", sweep, "--json")

    points = json.loads(result.out, parse_constant=pytest.fail)["points"]
    assert [p["inputs"]["arrival_rate"] for p in points] == list(range(200, 1601, 100))
    assert [p["saturated"] for p in points] == [False] * 14 + [True]
    assert points[-1]["bottleneck"] == "cpu"
    assert points[-1]["outputs"]["response_time"] is None
    # 1 / 650 us; printed to a tenth.
    assert points[0]["outputs"]["saturation_throughput"] == pytest.approx(1538.5, abs=0.05)


@pytest.mark.parametrize(("added", "limit"), [("0us", 1538.5), ("100us", 1123.6)])
def test_overhead_lowers_saturation(added, limit):
    setting = f"added_overhead={added}"
    result = headway("solve", "nfs-server", "--preset", "raid", "--set", setting, "--json")

    outputs = json.loads(result.out)["points"][0]["outputs"]
    assert outputs["saturation_throughput"] == pytest.approx(limit, abs=0.05)


def test_added_latency_counts_twice():
    model = catalogue_model("nfs-server").with_preset("raid")

    base, more = (model.at(added_latency=x).solve(300.0).response_time for x in (0.0, 1e-3))

    assert more - base == pytest.approx(2e-3, rel=1e-9)


def test_predictions_beyond_saturation_are_not_counted():
    data = Measurements.parse(
        "throughput_ops_s,response_ms\n300,4\n600,5\n900,9\n1600,40\n", "curve.csv"
    )

    comparison = catalogue_model("nfs-server").with_preset("raid").compare(data)

    assert comparison.counted.tolist() == [True, True, True, False]
    assert "beyond saturation: cpu: utilisation 1.04" in str(comparison)
    assert json.loads(comparison.to_json())["points"][-1]["relative_error"] is None


def test_columns_that_bear_parameters_set_them():
    data = Measurements.parse(
        "throughput_ops_s,response_ms,added_overhead_us\n300,4,0\n300,5,500\n", "curve.csv"
    )

    comparison = catalogue_model("nfs-server").with_preset("raid").compare(data)

    assert comparison.model.inputs["added_overhead"].tolist() == [0.0, 5e-4]
    assert comparison.predicted[1] > comparison.predicted[0]
    assert comparison.signatures == {}


def test_overall_response_time_stops_at_the_peak():
    rate = np.array([100.0, 200.0, 150.0])
    time = np.array([1.0, 2.0, 9.0])

    assert overall_response_time(rate, time) == 1.0


def test_ranges_without_points_and_zero_throughput():
    data = Measurements.read(TABLES["raid"])
    with pytest.raises(MeasurementError, match="there is no load"):
        catalogue_model("nfs-server").compare(data, low=5000)
    with pytest.raises(MeasurementError, match="needs at least 3 points; this range has 1"):
        curve(data).signature(Range(290, 300))
    zero = Measurements.parse("throughput_ops_s,response_ms\n0,4\n1,5\n2,9\n", "curve.csv")
    with pytest.raises(MeasurementError, match="must be above 0"):
        curve(zero).signature()
