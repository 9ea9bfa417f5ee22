"""Every measured point is looked at, whoever made it: what cannot be is refused, or a finding."""

import math

import numpy as np
import pytest

from headway import read
from headway.errors import MeasurementError
from headway.models import Measurements
from headway.models.analysis.audit import audit
from headway.models.auditing.contradictions import CONTRADICTIONS
from headway.models.measured.points import Loop, Point
from headway.models.measured.tools.kit.sending import UNTIL_THE_LAST, Sending
from headway.models.reading.loadtest import LoadTest, points_of
from tests.support.command import headway
from tests.support.tool_files import only, points, refused, sample, samples

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
    refused(sample(*sample_of).replace(printed, spoilt), r"^run.* negative")


def test_rows_are_refused_with_their_line(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("clients,rps,samples\n1,9,50\n2,18,-50\n")
    with pytest.raises(MeasurementError, match=r"own\.csv:3: samples is -50; it cannot be neg"):
        read(path)


def test_columns_made_in_python_are_refused_too():
    table = Measurements.from_columns([10.0, 20.0], [0.1, 0.2], errors=[0, -3])
    with pytest.raises(MeasurementError, match="columns:2: errors is -3; it cannot be negative"):
        audit(table)


def found(*some):
    """Findings in points by kind, and their sentences."""
    return {each.kind: each for each in audit(LoadTest(some)).findings}


def kinds_of(*some):
    return found(*some).keys() & {kind.name for kind in CONTRADICTIONS}


# What is wrong with a point, its number, and words of the sentence.
WRONG = [
    (
        Point("CSV", percentiles={50.0: 0.858, 95.0: 2.766, 99.0: 1.639}),
        ("times_out_of_order", 1.639, "p99 (1.639 s) is below p95 (2.766 s), which is impossible"),
    ),
    (
        Point("CSV", response_time=0.02, percentiles={50.0: 0.5, 90.0: 0.6}),
        ("times_out_of_order", 0.02, "the mean (20 ms) is impossible"),
    ),
    (
        Point("wrk", response_time=3.0, more={"response_time_max_s": 2.0}),
        ("times_out_of_order", 3.0, "the mean (3 s) is impossible: 2.101 s is the greatest"),
    ),
    (
        Point("fio", response_time=41.0, percentiles={50.0: 17.1, 99.0: 17.113, 99.99: 17.113}),
        ("mean_above_tail", 41.0, "the mean (41 s) is above p99.99 (17.11 s): the 0.01% of"),
    ),
    (
        Point("ab", Loop.CLOSED, population=8, throughput=100.0, response_time=0.08,
              percentiles={50.0: 0.03, 99.0: 0.06}, mean_of_rate=True),
        ("cycle_above_tail", 0.08, "8 clients sends a request every 80 ms (N/X), which is above"),
    ),
    (
        Point("hey", Loop.CLOSED, throughput=152_300.0, duration=10.0, samples=1e6),
        ("counts_differ", 1.523e6, "1,523,000 requests, but 1,000,000 were counted, 34% fewer, so"),
    ),
    (
        Point("wrk", Loop.CLOSED, throughput=0.001, duration=1e13, samples=38_000.0),
        ("counts_differ", 1e10, "but 38,000 were counted, 100% fewer"),
    ),
    (
        Point("CSV", Loop.CLOSED, duration=10.0, percentiles={99.0: 400.0}),
        ("longer_than_test", 400.0, "p99 (400 s) is longer than the test (10 s)"),
    ),
    (
        Point("vegeta", Loop.OPEN, throughput=10.0, duration=180.0, more={"drain_s": 169.0}),
        ("drain", 169.0, "the last answer came 169 s after the last request, which were sent for"),
    ),
    (
        Point("wrk2", Loop.OPEN, None, 5000, None, 87_500.0, 7.5, {99.0: 14.85, 100.0: 15.0},
              duration=120.0),
        ("clients_busy", 656_250.0, "651,200 waited in the generator; at least about 100,000 op/s"),
    ),
    (
        Point("YCSB", Loop.CLOSED, 117_000.0, 400, None, 115_141.0, 3.5e-3),
        ("clients_busy", 402.99, "403 requests due and unanswered, but there are 400 clients:"),
    ),
    (
        Point("pgbench", Loop.OPEN, response_time=0.675, more={"schedule_lag_s": 0.52}),
        ("waited_for_client", 0.52, "waited 520 ms on average for a free client, of a response"),
    ),
    (
        Point("YCSB", Loop.CLOSED, 100.0, 8, None, 70.0, 1e-3),
        ("below_asked_rate", 0.3, "throughput is 70 op/s, but 100 were asked for"),
    ),
    (
        Point("CSV", offered_rate=100.0, throughput=150.0),
        ("above_offered_rate", 0.5, "throughput (150 op/s) exceeds the offered 100 op/s"),
    ),
    (
        Point("iostat", name="sda", utilisation={"sda": 1.0}, more={"queue": 0.23}),
        ("queue_contradicts", 0.23, "requests in sda is 0.23, but it was busy for 100% of the"),
    ),
    (
        Point("iostat", None, None, None, None, 100.0, 0.2, name="sda", more={"queue": 2.0}),
        ("queue_contradicts", 2.0, "is 2, but throughput times response time is 20"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("point", "expected"), WRONG, ids=lambda each: str(each)[:40])
def test_what_contradicts_itself_is_a_finding_with_its_number(point, expected):
    kind, value, words = expected
    finding = found(point)[kind]
    assert finding.value == pytest.approx(value, rel=1e-4)
    assert words in " ".join(finding.text.split())


def test_every_kind_of_contradiction_has_an_example():
    assert {kind for _, (kind, _, _) in WRONG} == {kind.name for kind in CONTRADICTIONS}


SOUND = [
    Point(
        "memtier", percentiles={50.0: 0.00806, 99.9: 0.01}, more={"response_time_max_s": 0.00998}
    ),
    Point("Locust", response_time=0.1049, percentiles={50.0: 0.11, 90.0: 0.11, 99.0: 0.11}),
    Point("ab", response_time=0.0006, percentiles={50.0: 0.001, 90.0: 0.001, 99.0: 0.001}),
    Point("siege", response_time=0.012, more={"response_time_max_s": 0.01}, coarseness=0.5),
    Point("Prometheus", response_time=1.05, percentiles={50.0: 1.7, 90.0: 2.3}, coarseness=1.5),
    Point("CSV", response_time=0.6, percentiles={50.0: 0.001, 90.0: 0.001}),
    Point("wrk2", Loop.OPEN, None, 64, None, 280.0, 0.04, duration=4.0, samples=1109.0),
    Point("hey", Loop.CLOSED, None, 500, None, 100.0, 4.5, duration=10.0, samples=1400.0),
    Point("bcc", duration=16.0, percentiles={99.0: 33.0}),
    Point("k6", Loop.OPEN, 9.0, throughput=10.5, duration=10.0),
    Point("iostat", name="sda", utilisation={"sda": 0.01}, more={"queue": 0.0}),
    Point("vegeta", Loop.OPEN, throughput=10.0, duration=4.0, samples=41, more={"drain_s": 0.1}),
    Point("oha", throughput=90.0, duration=10.0, samples=1000.0, errors=100.0),
    Point("oha", throughput=90.0, duration=10.0, samples=900.0, errors=100.0),
]


@pytest.mark.parametrize("point", SOUND, ids=lambda each: each.tool)
def test_what_rounding_chance_and_ways_to_count_explain_is_no_finding(point):
    assert kinds_of(point) == set()


# The samples that contradict themselves: two were altered by their owner, so that no machine shows.
KNOWN = {
    "ab/perfkit.txt": {"cycle_above_tail"},
    "wrk2/wrk2_output.txt": {"times_out_of_order"},
    "pgbench/rate_15.txt": {"waited_for_client"},
    "vdbench/by_hand.html": {"clients_busy"},
}


def test_outputs_of_tools_do_not_contradict_themselves():
    loud = {}
    for name in samples():
        try:
            loud[name] = kinds_of(*points_of(sample(name), name))
        except MeasurementError:  # other tests say which
            continue
    assert {name: kinds for name, kinds in loud.items() if kinds} == KNOWN


def test_reading_a_test_says_what_contradicts_itself(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("clients,rps,p95_ms,p99_ms\n1,9,2766,1639\n")
    said = "error of the test: the point at 1 client: p99 (1.639 s) is below p95 (2.766 s)"
    assert said in " ".join(headway("read", path).out.split())
    assert said in " ".join(str(read(path)).split())


def test_a_test_that_fell_behind_is_not_told_to_run_longer():
    behind = found(WRONG[9][0])
    assert "short_run" not in behind
    assert "exclude this point" in behind["clients_busy"].text
    assert behind["clients_busy"].severity == "error"


def test_a_clock_that_broke_is_refused():
    text = sample("wrk", "latency.txt").replace("in 5.04s", "in 307445734491.24m")
    refused(text.replace("1456.14", "0.00"), "run: throughput is 0 although 7342 requests were ans")


def test_ends_of_response_times_are_columns_too(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("clients,rps,latency_ms,min_ms,Max latency [ms]\n1,9,20,30,40\n2,9,20,10,40\n")
    test = read(path)
    assert test.points[0].more == {"response_time_min_s": 0.03, "response_time_max_s": 0.04}
    finding = found(*test.points)["times_out_of_order"]
    assert (finding.points, finding.value) == ((0,), 0.02)
    assert "shortest response time from min_ms" in headway("audit", path).out.replace("\n", " ")


@pytest.mark.parametrize("title", ["mean_ms", "avg_ms", "Average [ms]"])
def test_a_mean_beside_percentiles_is_the_response_time(tmp_path, title):
    path = tmp_path / "own.csv"
    path.write_text(f"threads,throughput_per_s,{title},p99_ms\n10,99,101,300\n20,180,111,340\n")
    assert [point.response_time for point in read(path).points] == pytest.approx([0.101, 0.111])
    table = Measurements.read(path)
    assert table.column(title).role == "response_time"
    other = Measurements.read(path, role={title: "none"})
    assert other.column(title).role == "none"


def test_a_mean_beside_a_response_time_or_two_is_not_guessed(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("threads,mean_ms,avg_ms,p99_ms\n10,99,101,300\n")
    assert read(path).points[0].response_time is None
    path.write_text("threads,mean_ms,latency_ms,p99_ms\n10,99,101,300\n")
    assert read(path).points[0].response_time == pytest.approx(0.101)
    chosen = Measurements.read(path, role={"mean_ms": "response_time", "latency_ms": "none"})
    assert chosen.column("mean_ms").role == "response_time"


def test_the_rate_of_a_log_is_that_of_the_time_in_which_it_sends():
    """1800 requests at 10/s of 40 ms, three of which take 170 s: not 5.158/s."""
    rows = (
        f"{1700000000000 + 100 * i},{170_000 if i in (900, 901, 902) else 40},true"
        for i in range(1800)
    )
    (point,) = points_of("timeStamp,elapsed,success\n" + "\n".join(rows), "run.jtl")
    assert point.throughput == pytest.approx(10, rel=2e-3)
    assert point.duration == pytest.approx(179.9)
    assert point.more["drain_s"] == pytest.approx(90.2 + 170 - 179.9)
    assert found(point)["drain"].value == point.more["drain_s"]


def test_a_burst_has_no_time_of_sending():
    burst = Sending()
    burst.extend(np.arange(10.0), np.full(10, 1000.0), np.ones(10, bool))
    assert burst.rate == pytest.approx(10 / 1009)
    assert burst.notes == (UNTIL_THE_LAST,)


def test_memtier_prints_whole_milliseconds_beside_an_exact_sum():
    text = sample("memtier", "redis.json")
    new = text.replace(
        '"Average Latency": 0.355', '"Average Latency": 0.0, "Accumulated Latency": 36077000'
    )
    assert only("memtier", "redis.json").response_time == pytest.approx(0.355e-3)
    (point,) = points_of(new, "redis.json")
    assert point.response_time == pytest.approx(36077000e-3 / 71924614)


def test_times_of_vegeta_include_failures():
    text = sample("vegeta", "by_hand.json").replace('"200": 100', '"200": 70, "503": 30')
    (point,) = points_of(text, "x")
    assert (point.with_failures, point.errors) == (True, 30)
    assert "vegeta includes them in its times" in found(point)["errors"].text
    assert "long if they time out" in found(point)["errors"].text


DUE = """[OVERALL], RunTime(ms), 60000
[OVERALL], Throughput(ops/sec), 1000.0
[READ], Operations, 60000
[READ], AverageLatency(us), 3500.0
[READ], 99thPercentileLatency(us), 9000
[READ], Return=OK, 60000
[Intended-READ], Operations, 60000
[Intended-READ], AverageLatency(us), 15000000.0
[Intended-READ], 99thPercentileLatency(us), 30000000
"""


def test_ycsb_from_the_intended_start_stands_beside_its_latency():
    (point,) = points_of(DUE, "ycsb.txt")
    assert point.response_time == pytest.approx(3.5e-3)
    assert point.more["intended_response_time_s"] == 15.0
    assert point.more["read_intended_p99_s"] == 30.0
    assert point.lateness == pytest.approx(14.9965)
    assert any("(Intended), operations took 15 s on average" in note for note in point.notes)
    assert "sent_late" in found(point)


def test_monitors_of_a_busy_disk_with_no_queue_are_told():
    spoilt = sample("iostat", "extended.txt")
    assert kinds_of(*points_of(spoilt, "x")) == set()
    assert points("iostat", "extended.txt")[0].more["queue"] >= 0
