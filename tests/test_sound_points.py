"""Every measured point is looked at, whoever made it: what cannot be is refused."""

import math

import pytest

from headway import read
from headway.errors import MeasurementError
from headway.models import Measurements
from headway.models.analysis.audit import audit
from headway.models.measured.points import Point
from tests.tool_files import refused, sample

IMPOSSIBLE = {
    "throughput is -5; it cannot be negative": {"throughput": -5.0},
    "response time is nan, which is not a number": {"response_time": math.nan},
    "duration is inf, which is not a number": {"duration": math.inf},
    "p99 is -0.1; it cannot be negative": {"percentiles": {99.0: -0.1}},
    "schedule_lag_s is -1; it cannot be negative": {"more": {"schedule_lag_s": -1.0}},
    "dropped is 1.5; a share cannot exceed 1": {"dropped": 1.5},
    "utilisation of cpu is 55; it cannot exceed 1": {"utilisation": {"cpu": 55.0}},
    "throughput is 0 although 40 requests were": {"throughput": 0.0, "samples": 50.0, "errors": 10},
}


@pytest.mark.parametrize("message", IMPOSSIBLE)
def test_a_point_that_cannot_be_is_refused(message):
    with pytest.raises(MeasurementError, match=f"^{message}"):
        Point("load", **IMPOSSIBLE[message])


def test_a_process_may_keep_several_cores_busy():
    assert Point("pidstat", utilisation={"cpu": 1.9}, more={"cores": 2.0}).utilisation["cpu"] == 1.9


@pytest.mark.parametrize(
    ("sample_of", "printed", "spoilt"),
    [
        (("wrk", "latency.txt"), "Requests/sec:   ", "Requests/sec: -"),
        (("pgbench", "tpcb_15.txt"), "latency average = ", "latency average = -"),
        (("vegeta", "by_hand.json"), '"mean": ', '"mean": -'),
    ],
)
def test_tools_that_print_the_impossible_are_refused_by_name(sample_of, printed, spoilt):
    refused(sample(*sample_of).replace(printed, spoilt), "^run: .* it cannot be negative$")


def test_rows_are_refused_with_their_line(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("clients,rps,samples\n1,9,50\n2,18,-50\n")
    with pytest.raises(MeasurementError, match=r"own\.csv:3: samples is -50; it cannot be neg"):
        read(path)


def test_columns_made_in_python_are_refused_too():
    table = Measurements.from_columns([10.0, 20.0], [0.1, 0.2], errors=[0, -3])
    with pytest.raises(MeasurementError, match="columns:2: errors is -3; it cannot be negative"):
        audit(table)
