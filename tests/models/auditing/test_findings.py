"""Fits, comparisons and reports say what an audit finds that touches the points they use."""

import json

import pytest

from headway.models import Measurements, catalogue_model, compare
from headway.models.auditing.generators import sent_late
from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.measured.points import Point
from headway.models.reports.report import measured_report
from headway.models.showing.audits import finding_lines
from tests.support.command import headway

CLEAN = "requested_ops_s,throughput_ops_s,response_ms\n20,20,12.5\n40,40,16.7\n60,60,25\n"
LIMITED = CLEAN + "120,80,500\n160,80,500\n"
SINGLE = catalogue_model("server-single").at(delay="0 ms", service_time="10 ms")


def file(tmp_path, text):
    path = tmp_path / "runs.csv"
    path.write_text(text)
    return path


def test_a_comparison_says_what_touches_its_points(tmp_path):
    path = file(tmp_path, LIMITED)
    values = ("--set", "delay=0ms", "--set", "service_time=10ms")
    arguments = ("compare", "server-single", *values, "--data", path)
    assert "error of the test: throughput times response time levels off" in headway(*arguments).out
    (finding,) = json.loads(headway(*arguments, "--json").out)["findings"]
    assert (finding["kind"], finding["value"], finding["points"]) == (
        "hidden_closed_loop",
        40,
        [3, 4],
    )


def test_points_out_of_range_do_not_matter(tmp_path):
    path = file(tmp_path, LIMITED)
    values = ("--set", "delay=0ms", "--set", "service_time=10ms", "--to", "70")
    printed = headway("compare", "server-single", *values, "--data", path, "--json")
    assert json.loads(printed.out)["findings"] == []


@pytest.mark.parametrize("text", [CLEAN, CLEAN.replace("requested_ops_s", "tag")])
def test_nothing_is_said_of_a_clean_test(text):
    assert compare(SINGLE, Measurements.parse(text, "runs.csv")).findings == ()


def test_fits_say_it_too(tmp_path):
    path = file(tmp_path, LIMITED)
    one = ("fit", "server-single", "--free", "service_time", "--set", "delay=0ms", "--data", path)
    assert "error of the test" in headway(*one).out
    for arguments in (one, ("fit", "server", "--forms", "server-single", "--data", path)):
        kinds = [f["kind"] for f in json.loads(headway(*arguments, "--json").out)["findings"]]
        assert kinds == ["hidden_closed_loop"]


def test_a_report_says_what_was_found_where_it_says_how_sure_it_is():
    page = measured_report(SINGLE, Measurements.parse(LIMITED, "runs.csv")).to_html()
    assert '<section id="trust">' in page
    assert '<a href="#trust">' in page
    assert "levels off at 40" in page
    clean = measured_report(SINGLE, Measurements.parse(CLEAN, "runs.csv")).to_html()
    assert "levels off" not in clean


def test_a_time_in_a_finding_has_the_unit_of_the_answer():
    """A test in seconds, touched by an answer whose times are in ms."""
    points = [Point("k6", response_time=time, lateness=late) for time, late in ((2, 0.4), (3, 2.5))]
    [finding] = sent_late(points)
    scale = Scale.of([(0.004, unit("s"))])

    assert "up to 2.5 s late" in finding.text
    assert finding.text_in(scale) == finding.text.replace("2.5 s", "2500 ms")
    assert finding.text_in(scale) in finding_lines([finding], scale)[0]


def test_points_of_tools_keep_what_no_column_holds(tmp_path):
    """That a test was a closed one is known of the file, and stands in no column."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for clients in (1, 2, 4, 8):
        (folder / f"{clients}.txt").write_text(WRK.format(clients=clients, rate=100.0 * clients))
    printed = headway("compare", "server-single", "--data", folder, "--json")
    (finding,) = json.loads(printed.out)["findings"]
    assert finding["kind"] == "errors"
    assert finding["points"] == [0, 1, 2, 3]


WRK = """Running 10s test @ http://localhost:8080/
  1 threads and {clients} connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    10.00ms    1.00ms  20.00ms   90.00%
    Req/Sec   100.00      1.00   110.00     90.00%
  {clients}000 requests in 10.00s, 1.00MB read
  Non-2xx or 3xx responses: {clients}00
Requests/sec: {rate}
Transfer/sec:      0.10MB
"""
