"""The ten names of `headway` work with one another, without anything from the rooms below."""

import pytest

import headway
from headway.errors import MeasurementError
from headway.models import Measurements, data_path

CURVE = "network_sensitivity/table_a_5_raid_performance.csv"
FREE = ["delay", "cpu_time", "touched_per_load"]


@pytest.fixture(scope="module")
def raid():
    return headway.load("nfs-server").with_preset("raid")


def test_what_is_read_is_fitted_compared_and_reported(raid):
    measured = headway.read(CURVE)
    table = Measurements.read(data_path(CURVE))
    fit = headway.fit(raid, measured, FREE)
    assert fit.ci95 == headway.fit(raid, table, FREE).ci95  # the printed digits count
    own, other = (headway.compare(raid, some) for some in (measured, table))
    assert own.summary == other.summary
    page = headway.report(raid, measured)
    assert page.comparison.summary == own.summary


def test_verbs_of_a_model_take_what_is_read(raid):
    measured = headway.read(CURVE)
    assert raid.compare(measured).summary == headway.compare(raid, measured).summary
    assert raid.fit(measured, FREE).values == headway.fit(raid, measured, FREE).values


def test_a_load_test_becomes_the_model_of_a_server():
    test = headway.read("load_tests/wrk")
    assert headway.audit(test).findings == headway.audit(test.measurements).findings
    fit = headway.fit_server(test, y="throughput", forms=["server-pool"])
    server = fit.best.model.at(population=32)
    sized = headway.size(server, ["response_time<=50ms"], {"servers": range(4, 17)}, "servers")
    assert sized.best is not None


def test_a_table_keeps_all_its_columns():
    table = data_path("network_sensitivity/table_a_1_scsi_performance.csv")
    assert str(headway.read(table).measurements.columns) == str(Measurements.read(table).columns)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("curve.csv", "curve.csv"),
        (None, "is not measurements"),
    ],
)
def test_what_is_no_measurements_is_refused(raid, given, words):
    for take in (
        lambda: headway.fit(raid, given, FREE),
        lambda: headway.compare(raid, given),
        lambda: headway.fit_server(given),
        lambda: headway.audit(given),
        lambda: headway.report(raid, given or 7),
    ):
        with pytest.raises(MeasurementError, match=words):
            take()
