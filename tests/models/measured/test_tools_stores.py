"""Summaries that load generators of stores and streams print, and tables of frameworks."""

import pytest

import headway
from headway.errors import MeasurementError
from headway.models.analysis.audit import audit
from headway.models.measured.points import LONGEST, Loop
from headway.models.reading.loadtest import points_of
from headway.models.reading.recognise import recognised
from tests.campaigns.spoilt_points import spoilt_file
from tests.models.measured.test_tools_summaries import (
    FOLDER,
    MS,
    only,
    percentiles,
    refused,
    text,
)
from tests.support.tool_files import TOOLS, sample


def test_cassandra_stress():
    """Its time is cut to seconds: 60000 operations at 21262/s took 2.82 s."""
    point = only(text("cassandra-stress.txt"))
    assert (point.loop, point.population, point.offered_rate) == (Loop.CLOSED, 15, None)
    assert (point.throughput, point.samples, point.errors) == (21262, 60000, 0)
    assert point.duration == pytest.approx(60000 / 21262)
    assert point.response_time == pytest.approx(0.7 * MS)
    assert percentiles(point) == {50: 0.6, 95: 1.5, 99: 2.8, 99.9: 12.6}
    assert point.more == pytest.approx({LONGEST: 31.9 * MS})


def test_cassandra_stress_of_several_threads_in_turn():
    """Each result has the threads of the line before it, and all the pace of the settings."""
    printed = text("cassandra-stress.txt").replace("OpsPer Sec: 0", "OpsPer Sec: 25000")
    result = printed.partition("Results:")[2]
    both = f"{printed}\nRunning with 24 threadCount\n\nResults:{result}"
    first, second = points_of(both, "run.txt")
    assert (first.population, second.population) == (15, 24)
    assert (first.offered_rate, second.offered_rate) == (25_000, 25_000)
    assert only(result).population is None
    assert "say neither threads nor a rate" in only(result).notes[0]
    refused(result.replace("00:00:02", "00:20:02"), "operations at 21,260/s take 2.82")


def test_cassandra_stress_before_its_units():
    old = "\n".join(
        line.partition("[")[0].replace(" ms", "").replace(" op/s", "").lower()
        for line in text("cassandra-stress.txt").partition("Results:")[2].splitlines()
    )
    assert only(old).response_time == pytest.approx(0.7 * MS)


def test_kafka_producer():
    """Of all records, in the last line; what it waits for is not known."""
    point = only(text("kafka-producer.txt"))
    assert (point.loop, point.population, point.samples) == (None, None, 80_000)
    assert (point.throughput, point.duration) == (4996.252811, pytest.approx(16.012))
    assert point.response_time == pytest.approx(3.52 * MS)
    assert percentiles(point) == {50: 2, 95: 7, 99: 46, 99.9: 201}
    assert point.more[LONGEST] == pytest.approx(0.288)
    assert point.more["bandwidth_bytes_s"] == pytest.approx(4.88 * 1024**2)


def test_kafka_producer_that_was_stopped_or_warmed_up():
    """Windows sum up to a point; after a warm-up only the records in steady state count."""
    printed = text("kafka-producer.txt")
    *windows, last = printed.splitlines()
    point = only("\n".join(windows))
    assert point.samples == 24901 + 25020 + 24998
    assert point.throughput == pytest.approx(
        74919 / (24901 / 4980.2 + 25020 / 5003 + 24998 / 4999.6)
    )
    assert "the last line, of all records, is missing" in point.notes[0]
    steady = last.replace("80000 records", "70000 steady state records").replace("3.52", "2.4")
    assert only(f"{printed}{steady}").response_time == pytest.approx(2.4 * MS)
    assert len(points_of(printed + printed, "run.txt")) == 2
    refused("\n".join(windows)[:-14], "run.txt:3: this line of records is cut")
    refused(
        "0 records sent, 0.0 records/sec (0.0 MB/sec), 0.0 ms avg latency, 0.0 ms max latency.",
        "no record succeeded",
    )


def test_nats_bench():
    point = only(text("nats-bench.txt"))
    assert (point.loop, point.population, point.samples) == (Loop.CLOSED, 4, 20_000)
    assert (point.throughput, point.name) == (4904, "jetstream synchronous publisher")
    assert point.response_time == pytest.approx(815.27e-6)
    assert percentiles(point) == {50: 0.77102, 90: 1.08, 99: 1.92, 99.9: 4.7}
    assert point.more["bandwidth_bytes_s"] == 613 * 1024


def test_nats_bench_before_its_times():
    """The line of both sides is their sum; subscribers each take all messages."""
    old = (
        "10:55:59 Starting Core NATS pub/sub benchmark [subject=foo, msgs=100,000, msgsize=16 B, "
        "pubs=2, subs=5]\n\nNATS Pub/Sub stats: 5,730,851 msgs/sec ~ 87.45 MB/sec\n"
        " Pub stats: 955,279 msgs/sec ~ 14.58 MB/sec\n"
        "  [1] 477,640 msgs/sec ~ 7.29 MB/sec (50000 msgs)\n"
        " Sub stats: 4,775,709 msgs/sec ~ 72.87 MB/sec\n"
    )
    publishers, subscribers = points_of(old, "run.txt")
    assert (publishers.population, publishers.samples, publishers.name) == (2, 1e5, "publishers")
    assert (subscribers.population, subscribers.samples) == (5, None)
    assert subscribers.response_time is None
    refused(old.replace(" Pub stats: 955,279", " Pub stats: 955x"), "'955x' is not a number")
    refused(old.replace("subs=5", "subs=five"), "run.txt:1: 'five' is not a number")


def test_nats_bench_whose_mean_is_that_of_its_rate():
    printed = "NATS Core NATS subscriber stats: 507,220 msgs/sec ~ 62 MiB/sec ~ 1.97us\n"
    point = only(printed)
    assert (point.population, point.mean_of_rate) == (None, True)
    assert point.response_time == pytest.approx(1.97e-6)
    refused(printed.replace("1.97us", "mean 1.97us"), "the times are not such as 'avg: 0.2us")


def test_scylla_bench():
    point = only(text("scylla-bench.txt"))
    assert (point.loop, point.population, point.offered_rate) == (Loop.CLOSED, 8, None)
    assert (point.samples, point.errors, point.duration) == (13_180, 0, 2.5063)
    assert point.throughput == 5258.747955
    assert point.response_time == pytest.approx(1.515927 * MS)
    assert percentiles(point)[99.9] == 8.028159


def test_scylla_bench_at_a_rate():
    """The times are those from when an operation was due; infinity is no rate."""
    printed = text("scylla-bench.txt").replace("unlimited", "6000 op/s")
    point = only(printed.replace("s:\t 5258.747955", "s:\t +Inf").replace("2.5063s", "1m2.5063s"))
    assert (point.loop, point.offered_rate, point.population) == (Loop.OPEN, 6000, 8)
    assert point.response_time == pytest.approx(1.542981 * MS)
    assert point.throughput == pytest.approx(13180 / 62.5063)
    failed = printed.replace("Total rows", "Total errors:\t 31\nTotal rows")
    assert only(failed.partition("Results")[2]).population is None
    assert only(failed).errors == 31
    old = printed.replace("raw latency :", "Latency:").partition("c-o")[0]
    assert only(old).response_time == pytest.approx(1.515927 * MS)
    refused(printed.replace("13180", "0"), "no operation succeeded")


def test_techempower():
    """A run without requests has no point; numbers of queries are asked by all connections."""
    points = {
        (p.name, p.population): p for p in points_of(text("techempower.json"), "results.json")
    }
    assert list(points) == [
        ("json alpha", 16), ("json alpha", 64), ("json beta", 16), ("plaintext alpha", 4096),
        ("query 1 alpha", 64), ("query 20 alpha", 64),
    ]  # fmt: skip
    point = points["json alpha", 64]
    assert (point.throughput, point.samples, point.errors) == (11_950, 179_250, 2)
    assert point.response_time == pytest.approx(5.29 * MS)
    assert point.more == pytest.approx({LONGEST: 44.02 * MS})
    assert points["json beta", 16].throughput == pytest.approx(3020 - 20)


def test_frameworks_are_curves_of_their_own():
    """As systems of a table: one is taken, and never all as one curve."""
    path = FOLDER / "techempower.json"
    one = headway.read(path, where={"system": "json alpha"})
    assert [point.population for point in one.points] == [16, 64]
    assert [point.name for point in one.points] == ["json alpha"] * 2
    assert "times are wrk's" in one.points[0].notes[0]
    with pytest.raises(MeasurementError, match="column system splits it into 5 systems"):
        audit(headway.read(path))


def test_damaged_results_of_techempower():
    printed = text("techempower.json")
    refused(printed.replace("1700000015", "1700000095"), r"json.alpha\[0\]: it took 95 s")
    refused(printed.replace('"1.93ms"', '"fast"'), r"latencyAvg: 'fast' is not a time")
    refused(printed.replace('"rawData"', '"data"'), "run.txt: rawData is missing")
    refused(printed.replace("totalRequests", "requests"), "no request succeeded")
    refused(printed.replace('"duration": 15', '"duration": 0'), "its duration is 0")
    refused(printed.replace(" 16,\n", ""), "it is not a list of at most 1 runs")


def test_wrk_without_its_first_line():
    """Without a calibration below the connections it is wrk's."""
    point = only(text("wrk-parts.txt"))
    assert (point.tool, point.loop, point.population) == ("wrk", Loop.CLOSED, 8)
    assert (point.samples, point.errors) == (8070, 70)
    assert point.throughput == pytest.approx(806.19 * 8000 / 8070)
    assert point.response_time == pytest.approx(9.91 * MS)
    assert percentiles(point) == {50: 9.5, 75: 11.21, 90: 13.02, 99: 19.88}
    assert point.more == pytest.approx({LONGEST: 61.2 * MS, "bandwidth_bytes_s": 134.01 * 1024})


def test_only_the_table_or_only_the_last_lines_of_wrk():
    table, _, rest = text("wrk-parts.txt").partition("  Latency Distribution\n")
    point = only(table.partition("connections\n")[2])
    assert (point.loop, point.population, point.throughput) == (None, None, None)
    assert point.response_time == pytest.approx(9.91 * MS)
    assert "the rate unknown: there is no line 'Requests/sec: ...'" in point.notes
    row = "Latency     9.91ms    3.02ms  61.20ms   89.41%\n"
    assert only(row).more[LONGEST] == pytest.approx(61.2 * MS)
    ends = "  8070 requests" + rest.partition("  8070 requests")[2]
    point = only(ends)
    assert (point.response_time, point.duration, point.errors) == (None, 10.01, 70)
    point = only(ends.partition("70\n")[2])
    assert (point.throughput, point.samples, point.errors) == (806.19, None, None)
    two = points_of(text("wrk-parts.txt") + text("wrk-parts.txt").replace("8 conn", "9 conn"), "a")
    assert [point.population for point in two] == [8, 9]
    calibrated = "connections\n  Thread calibration: mean lat.: 9.8ms\n"
    point = only(text("wrk-parts.txt").replace("connections\n", calibrated))
    assert (point.tool, point.loop, point.population) == ("wrk2", Loop.OPEN, 8)


def test_a_part_of_wrk_that_is_damaged():
    printed = text("wrk-parts.txt")
    refused(printed.replace("134.01KB", "KB"), "the transfer is not such as 240.11KB")
    refused(printed.replace("9.91ms", "9.91"), "'9.91' is not a time")
    refused(printed.replace("8070 requests in", "requests"), "beside its failures")


def test_ghz_says_its_options_in_json():
    """The same run as in its text, and how it sent."""
    printed, point = text("ghz.json"), only(text("ghz.json"))
    short = only(text("ghz.txt"))
    assert (point.loop, point.population, point.offered_rate) == (Loop.CLOSED, 5, None)
    assert (point.samples, point.errors, point.throughput) == (4000, 0, 399.2)
    assert point.response_time == pytest.approx(short.response_time, rel=1e-3)
    assert point.percentiles == pytest.approx(short.percentiles, rel=1e-3)
    paced = printed.replace('"concurrency":', '"rps": 400, "concurrency":')
    assert (only(paced).loop, only(paced).offered_rate) == (Loop.CLOSED, 400)
    sent = only(paced.replace('"async": false', '"async": true'))
    assert (sent.loop, sent.population, sent.offered_rate) == (Loop.OPEN, None, 400)
    failed = printed.replace('"OK": 4000', '"OK": 3000, "Unavailable": 1000')
    assert (only(failed).errors, only(failed).throughput) == (1000, 399.2 * 0.75)
    refused(failed.replace("1000", "100"), "its statuses are of 3100 calls, not 4000")


def test_artillery_in_json():
    """The same run as in its text, over the time from its first count to the last."""
    point, short = only(text("artillery.json")), only(text("artillery.txt"))
    assert (point.loop, point.duration) == (Loop.OPEN, 60.507)
    assert point.throughput == pytest.approx(1160 / 60.507)
    assert (point.samples, point.errors) == (short.samples, short.errors)
    assert point.response_time == short.response_time
    assert percentiles(point) == {
        50: 20.5, 75: 28.5, 90: 38.3, 95: 45.2, 99: 71.5, 99.9: 101.5
    }  # fmt: skip
    refused(text("artillery.json").replace("1773133261541", "1773133201034"), "is not after its f")
    refused(text("artillery.json").replace('"last', '"end'), "lastCounterAt is missing")


REAL = {
    "h2load/one-stream.txt": ("h2load", Loop.CLOSED, None, 4, 0),
    "h2load/five-streams.txt": ("h2load", Loop.CLOSED, None, None, 848),
    "httperf/rate.txt": ("httperf", Loop.OPEN, 100, None, 30),
    "httperf/in-turn.txt": ("httperf", Loop.CLOSED, None, 1, 0),
    "autocannon/latency.txt": ("autocannon (text)", Loop.CLOSED, None, 4, 170),
    "autocannon/statuses.txt": ("autocannon (text)", Loop.CLOSED, None, 8, 0),
    "loadtest/clients.txt": ("loadtest", Loop.CLOSED, None, 4, 154),
    "loadtest/rate.txt": ("loadtest", Loop.OPEN, 100, None, 0),
}
"""What runs at one server are: their kind, loop, offered rate, population and errors."""


@pytest.mark.parametrize(("name", "told"), REAL.items())
def test_runs_of_the_tools_themselves(name, told):
    """As they were asked for; of closed ones Little's law gives the population."""
    printed, (kind, *rest) = sample(name), told
    point = only(printed)
    assert recognised(printed)[0].kind == kind
    assert [point.loop, point.offered_rate, point.population, point.errors] == rest
    if point.loop is Loop.CLOSED:
        assert point.inside == pytest.approx(point.population or 4 * 5, rel=0.1)
    assert [str(each) for each in spoilt_file(TOOLS / name, name, 20) if not each.outcome] == []
