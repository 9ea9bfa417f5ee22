"""What k6, JMeter, Locust and Gatling wrote: cells equal what they print."""

import csv
import json
import re

import numpy as np
import pytest

from headway.errors import MeasurementError
from headway.models.measured.tools.jmeter import jtl_point
from headway.models.measured.tools.k6 import k6_log_point
from headway.models.reading.loadtest import points_of
from tests.support.tool_files import TOOLS, kind, points, refused, sample, survives, while_sending

KINDS = {
    "k6/closed-handle.json": "k6",
    "k6/open-summary.json": "k6",
    "k6/k6-reporter.json": "k6",
    "k6/points.ndjson": "k6 (NDJSON)",
    "jmeter/jmeter-2.1.xml": "JMeter",
    "jmeter/jmeter-5.6.3.xml": "JMeter",
    "jmeter/jmeter-5.6.3.csv": "JMeter",
    "locust/stats.csv": "Locust",
    "locust/stats_history.csv": "Locust (history)",
    "gatling/open.log": "Gatling",
    "gatling/closed.log": "Gatling",
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "known"), KINDS.items())
def test_files_are_recognised_and_spoilt_ones_are_read_or_refused(name, known):
    text = sample(name)
    assert kind(text) == known
    assert survives(shorter(text)) < 200


def shorter(text):
    """A text as it is, or the first of XML, whole."""
    if "<testResults" not in text:
        return text
    return f"{text[: text.index('<', 4000)]}</testResults>"


def summary(name):
    metrics = json.loads(sample("k6", name))["metrics"]
    return {key: metric.get("values", metric) for key, metric in metrics.items()}


@pytest.mark.parametrize("name", ["closed-summary.json", "closed-handle.json", "k6-reporter.json"])
def test_cells_of_a_summary_of_k6_with_failures(name):
    result, (point,) = summary(name), points(f"k6/{name}")
    failed, good = (result["http_req_failed"][key] for key in ("passes", "fails"))
    times = result["http_req_duration{expected_response:true}"]
    assert (point.tool, point.loop) == ("k6", "closed")
    assert point.population == result["vus"]["max"]
    assert (point.errors, point.samples) == (failed, good)
    share = good / (good + failed)
    assert point.throughput == pytest.approx(result["http_reqs"]["rate"] * share, rel=1e-12)
    assert point.response_time == pytest.approx(times["avg"] * 1e-3, rel=1e-12)
    assert point.percentiles[90.0] == pytest.approx(times["p(90)"] * 1e-3, rel=1e-12)
    assert point.percentiles[50.0] == pytest.approx(times["med"] * 1e-3, rel=1e-12)
    assert (99.0 in point.percentiles) == ("p(99)" in times)


def test_a_closed_test_of_k6_tells_its_think_time():
    """Users that iterate N = X (R + Z): the script slept 10 ms after each request."""
    result, (point,) = summary("closed-summary.json"), points("k6/closed-summary.json")
    assert point.think_time == pytest.approx(0.011, abs=2e-4)
    busy = result["iterations"]["rate"] * result["iteration_duration"]["avg"] * 1e-3
    assert busy == pytest.approx(point.population, rel=2e-2)


def test_an_open_test_of_k6_offers_what_it_sent():
    (point,) = points("k6/open-summary.json")
    assert (point.loop, point.population) == ("open", None)
    assert point.offered_rate == pytest.approx(200, rel=1e-3)
    assert point.offered_rate == summary("open-summary.json")["http_reqs"]["rate"]


def test_iterations_that_k6_dropped_are_offered_too():
    (point,) = points("k6/over-handle.json")
    assert (point.loop, point.errors) == ("open", 0)
    assert point.offered_rate == pytest.approx(2000, rel=3e-3)
    assert point.throughput == summary("over-handle.json")["http_reqs"]["rate"]
    assert any("ran out of virtual users (8) and dropped 64.4%" in note for note in point.notes)


def test_points_of_k6_sum_up_to_its_summary():
    """Times agree to rounding; rates to 2%, as k6 divides by the whole run."""
    (log,), (text,) = points("k6/points.ndjson"), points("k6/points-summary.json")
    assert log.response_time == pytest.approx(text.response_time, rel=1e-9)
    for percent, value in text.percentiles.items():
        assert log.percentiles[percent] == pytest.approx(value, rel=1e-9)
    assert (log.errors, log.samples, log.loop) == (text.errors, text.samples, text.loop)
    assert log.throughput == pytest.approx(text.throughput, rel=2e-2)
    assert log.offered_rate == pytest.approx(text.offered_rate, rel=3e-2)


def test_empty_and_cut_files_of_k6_are_refused():
    document = json.loads(sample("k6", "open-summary.json"))
    document["metrics"]["http_req_failed"] |= {"passes": 1201, "fails": 0}
    with pytest.raises(MeasurementError, match=r"^x: none of 1201 requests succeeded"):
        points_of(json.dumps(document), "x")
    document["metrics"].pop("http_reqs")
    with pytest.raises(MeasurementError, match="x: this test sent no request"):
        points_of(json.dumps(document), "x")
    log = sample("k6", "points.ndjson")
    number = log[:20000].count("\n") + 1
    with pytest.raises(MeasurementError, match=f"x:{number}: this line is invalid or truncated"):
        points_of(log[:20000], "x")


def samples_of(name):
    """Requests of a JTL: stamp, elapsed, success and thread, read in another way."""
    text = sample("jmeter", name)
    if name.endswith(".csv"):
        rows = [r for r in csv.DictReader(text.splitlines()) if r["label"] != "visit"]
        return [(int(r["timeStamp"]), int(r["elapsed"]), r["success"] == "true") for r in rows]
    matches = re.findall(r'<httpSample t="(\d+)".*? ts="(\d+)" s="(true|false)"', text)
    return [(int(stamp), int(elapsed), good == "true") for elapsed, stamp, good in matches]


@pytest.mark.parametrize(
    ("name", "users", "ends"),
    [("jmeter-2.1.xml", 3, True), ("jmeter-5.6.3.xml", 6, False), ("jmeter-5.6.3.csv", 6, False)],
)
def test_cells_of_a_log_of_jmeter(name, users, ends):
    result, (point,) = samples_of(name), points(f"jmeter/{name}")
    times = [elapsed for _, elapsed, good in result if good]
    starts = [stamp - elapsed * ends for stamp, elapsed, _ in result]
    rate, span = while_sending([(s, *each[1:]) for s, each in zip(starts, result, strict=True)])
    assert (point.loop, point.population) == ("closed", users)
    assert (point.samples, point.errors) == (len(times), len(result) - len(times))
    assert point.duration == pytest.approx(span * 1e-3, rel=1e-12)
    assert point.throughput == pytest.approx(rate * 1e3, rel=1e-12)
    assert point.response_time == pytest.approx(np.mean(times) * 1e-3, rel=1e-12)
    assert point.percentiles[95.0] == pytest.approx(np.percentile(times, 95) * 1e-3, rel=1e-12)
    assert ("its time stamps mark the ends of samples" in point.notes) == ends


def test_a_long_log_is_read_line_by_line():
    """Nothing of a row is kept but its time, so a generator without end can be read."""
    rows = (f"{1700000000000 + 10 * i},10,/,200,OK,one 1-1,text,true,9" for i in range(3000))
    point = jtl_point(rows, "long.jtl")
    assert (point.throughput, point.response_time, point.population) == (100.0, 0.01, 1.0)
    with (TOOLS / "k6" / "points.ndjson").open(encoding="utf-8") as lines:
        assert k6_log_point(lines, "points.ndjson").samples == 72


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1700000000000,12,200\n", "x:2: this row has 3 cells instead of 4; if the log was cut"),
        ("2026/01/31 12:00:00,1,true,a\n", "x:2: '2026/01/31 12:00:00'; it needs"),
        ("1700000000000,1,yes,a\n", "x:2: 'yes'; it needs"),
        ("1700000000000,1,false,a\n", "x: none of 1 requests succeeded"),
        ("1700000009000,1,true,a\n1700000000000,1,true,a\n", "x:3: the clock goes back by 9000 ms"),
        ("", "x: this JMeter log has no samples"),
    ],
)
def test_spoilt_logs_of_jmeter_are_refused(rows, message):
    with pytest.raises(MeasurementError) as refused:
        points_of(f"timeStamp,elapsed,success,threadName\n{rows}", "x")
    assert message in str(refused.value)


def test_a_cut_log_of_jmeter_in_xml_is_refused_with_its_line():
    text = sample("jmeter", "jmeter-2.1.xml")[:5000]
    line = text.count("\n") + 1
    with pytest.raises(MeasurementError, match=rf"^x:{line}: this XML is invalid or truncated"):
        points_of(text, "x")
    with pytest.raises(MeasurementError, match="x:3: this XML declares entities"):
        points_of('<?xml version="1.0"?>\n<testResults>\n<!DOCTYPE x>', "x")


def test_cells_of_totals_of_locust():
    (point,) = points("locust/stats.csv")
    *_, row = csv.DictReader(sample("locust", "stats.csv").splitlines())
    rates = float(row["Requests/s"]), float(row["Failures/s"])
    assert (point.samples, point.errors) == (1229, 25)
    assert point.throughput == rates[0] - rates[1]
    assert point.response_time == pytest.approx(float(row["Average Response Time"]) * 1e-3)
    assert point.percentiles == {
        float(key[:-1]): pytest.approx(float(row[key]) * 1e-3)
        for key in row
        if key.endswith("%") and key != "100%"
    }


def test_the_history_of_locust_gives_a_point_for_each_stay():
    text = sample("locust", "stats_history.csv")
    rows = [r for r in csv.DictReader(text.splitlines()) if r["Name"] == "Aggregated"]
    rows = [row for row in rows if row["User Count"] == "8"]
    count = [int(row["Total Request Count"]) for row in (rows[0], rows[-1])]
    total = [float(row["Total Average Response Time"]) for row in (rows[0], rows[-1])]
    (point,) = points("locust/stats_history.csv")
    assert (point.population, point.loop, point.duration) == (8, "closed", len(rows) - 1)
    assert point.samples == count[1] - count[0]
    mean = (count[1] * total[1] - count[0] * total[0]) / point.samples
    assert point.response_time == pytest.approx(mean * 1e-3, rel=1e-12)
    with pytest.raises(
        MeasurementError, match="x: no request succeeded while the number of users was constant"
    ):
        points_of("\n".join(text.splitlines()[:8]), "x")


def test_an_empty_run_of_locust_is_refused():
    head = sample("locust", "stats.csv").splitlines()[0]
    cells = ",".join(["0"] * (len(head.split(",")) - 2))
    with pytest.raises(MeasurementError, match="x:2: none of 0 requests succeeded"):
        points_of(f"{head}\n,Aggregated,{cells}\n", "x")


@pytest.mark.parametrize(
    ("name", "loop", "users", "good"), [("open", "open", None, 394), ("closed", "closed", 6, 560)]
)
def test_cells_of_a_log_of_gatling(name, loop, users, good):
    text, (point,) = sample("gatling", f"{name}.log"), points(f"gatling/{name}.log")
    matches = re.findall(r"^REQUEST\t.*\t(\d+)\t(\d+)\t(OK|KO)", text, re.MULTILINE)
    times = [int(end) - int(start) for start, end, state in matches if state == "OK"]
    rate, _ = while_sending([(int(a), int(b) - int(a), state == "OK") for a, b, state in matches])
    assert (point.loop, point.population) == (loop, users)
    assert (point.samples, point.errors) == (good, len(matches) - good)
    assert point.response_time == pytest.approx(np.mean(times) * 1e-3, rel=1e-12)
    assert point.throughput == pytest.approx(rate * 1e3, rel=1e-12)


def test_a_cut_log_of_gatling_is_refused_with_its_line():
    text = sample("gatling", "open.log")
    cut = text[: text.index("\tOK", 9000)]
    with pytest.raises(MeasurementError, match=rf"^x:{len(cut.splitlines())}: this request has no"):
        points_of(cut, "x")


@pytest.mark.parametrize(
    ("name", "loop", "users", "good", "bad"),
    [("open-3.13", "open", None, 200, 200), ("closed-3.13", "closed", 6, 240, 0)],
)
def test_gatling_of_today_counts_as_it_prints(name, loop, users, good, bad):
    """Its own summary of these runs: 400 requests, 200 OK; 240 requests, all OK."""
    (point,) = points(f"gatling/{name}.log")
    assert (point.tool, point.loop, point.population) == ("Gatling", loop, users)
    assert (point.samples, point.errors) == (good, bad)
    assert point.throughput == pytest.approx(good / point.duration, rel=1e-2)
    assert 0.004 < point.response_time < 0.1  # the server's own times have a mean of 4 ms


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-3], "the file ends within a record"),
        (lambda text: text[:700] + "\7" + text[701:], "byte [0-9]+: "),
        (lambda text: text[:60], "none of 0 requests succeeded"),
    ],
)
def test_spoilt_bytes_of_gatling_are_refused(change, message):
    refused(change(sample("gatling/open-3.13.log")), message, "x")
