"""What benchmarks of databases and caches wrote: cells equal what they print."""

import csv
import json
import re

import pytest

from headway.models.measured.points import measurements_of
from headway.models.reading.loadtest import points_of
from tests.support.tool_files import only, refused, sample


def test_cells_of_pgbench_of_old():
    point = only("pgbench", "tpcb_9.txt")
    assert (point.loop, point.population, point.samples, point.duration) == ("closed", 16, 77, 5)
    assert point.throughput == 13.062579
    assert point.response_time == pytest.approx(1.108418, rel=1e-12)
    assert point.more == {
        "response_time_deviation_s": pytest.approx(0.760944, rel=1e-12),
        "throughput_with_connecting_ops_s": 12.580114,
    }
    assert (point.errors, point.notes) == (None, ())


def test_cells_of_pgbench_of_today():
    point = only("pgbench", "tpcb_15.txt")
    assert (point.population, point.throughput, point.samples) == (8, 2056.204544, 5923)
    assert point.response_time == pytest.approx(3.891e-3, rel=1e-12)
    assert (point.errors, point.duration) == (0, 3)
    assert point.more == {"connecting_s": pytest.approx(0.153793, rel=1e-12)}
    # the mean is the run time shared among the clients, so that X R is their number
    assert point.inside == pytest.approx(8, rel=1e-3)
    assert "Little's law checks nothing" in point.notes[0]
    assert only("pgbench", "progress_15.txt").notes == ()


def test_pgbench_with_a_rate_is_open():
    point = only("pgbench", "rate_15.txt")
    assert (point.loop, point.offered_rate, point.throughput) == ("open", None, 402.981055)
    assert point.more["schedule_lag_s"] == pytest.approx(1.069e-3, rel=1e-12)
    assert "latency starts when a transaction was due" in point.notes[0]
    assert point.notes[1] == "transactions skipped because they were already too late: 1"


def test_cells_of_sysbench():
    point = only("sysbench", "oltp_1.0.12.txt")
    assert (point.loop, point.population, point.throughput) == ("closed", 16, 986.49)
    assert point.response_time == pytest.approx(16.21e-3, rel=1e-12)
    assert point.percentiles == {100: pytest.approx(116.80e-3, rel=1e-12)}
    assert (point.errors, point.samples, point.duration) == (1, 29611, 30.0145)
    assert point.more == {
        "query_rate_ops_s": 19730.45,
        "response_time_min_s": pytest.approx(12.38e-3, rel=1e-12),
        "response_time_max_s": pytest.approx(115.78e-3, rel=1e-12),
    }


def test_sysbench_of_today_with_and_without_a_rate():
    point = only("sysbench", "oltp_1.0.20.txt")
    assert (point.throughput, point.errors) == (37.67, 3)
    assert point.percentiles == {95: pytest.approx(1013.60e-3, rel=1e-12)}
    point = only("sysbench", "rate_1.0.20.txt")
    assert (point.loop, point.offered_rate, point.throughput) == ("open", 50, 54.35)
    assert point.response_time == pytest.approx(2.22e-3, rel=1e-12)
    assert "includes its wait in the queue" in point.notes[0]


def test_sysbench_without_transactions():
    assert only("sysbench", "cpu_1.0.20.txt").throughput == 1527.49
    point = only("sysbench", "threads_1.0.20.txt")
    assert point.throughput == pytest.approx(662 / 2.0155, rel=1e-12)
    assert (point.errors, point.samples) == (None, 662)
    assert "prints no rate" in point.notes[0]


def test_cells_of_memtier():
    point = only("memtier", "redis.json")
    stats = json.loads(sample("memtier", "redis.json"))["ALL STATS"]
    assert (point.loop, point.population, point.throughput) == ("closed", 32, 90018.1)
    assert point.response_time == pytest.approx(0.355e-3, rel=1e-12)
    cells = stats["Totals"]["Percentile Latencies"]
    assert point.percentiles == {
        float(key[1:]): pytest.approx(value * 1e-3, rel=1e-12) for key, value in cells.items()
    }
    assert (point.samples, point.duration) == (71924614, pytest.approx(799.002, rel=1e-12))
    assert point.more["bandwidth_bytes_s"] == pytest.approx(28951.87 * 1024, rel=1e-12)
    assert point.more["get_throughput_ops_s"] == 81016.28
    assert point.more["set_response_time_s"] == pytest.approx(0.361e-3, rel=1e-12)
    assert point.more["set_p99_9_s"] == pytest.approx(2.591e-3, rel=1e-12)
    assert not any(name.startswith("wait") for name in point.more)


def test_pipelining_multiplies_what_memtier_has_outstanding():
    document = json.loads(sample("memtier", "redis.json"))
    document["configuration"]["pipeline"] = 10
    (point,) = points_of(json.dumps(document), "p")
    assert point.population == 320
    assert "each of 32 connections has 10 requests outstanding" in point.notes[0]


def test_cells_of_ycsb_of_old():
    point = only("ycsb", "hbase_0.1.txt")
    assert (point.loop, point.population, point.samples) == ("closed", 6, 2468054 + 2465984)
    assert (point.throughput, point.duration) == (2740.503428935472, 1800.413)
    spent = 2468054 * 2218.8513395574005 + 2465984 * 2148.281973443461
    assert point.response_time == pytest.approx(spent / 4934038 * 1e-6, rel=1e-12)
    assert point.more["update_response_time_s"] == pytest.approx(2218.8513395574005e-6, rel=1e-12)
    assert (point.more["read_p95_s"], point.more["update_p99_s"]) == (0.004, 0.007)
    assert point.errors is None  # reads return -1, which only the binding understands
    assert "percentiles are in whole milliseconds" in point.notes


def test_cells_of_ycsb_of_today():
    point = only("ycsb", "basic_a_0.18.txt")
    assert (point.population, point.throughput) == (8, 4801.920768307323)
    assert (point.errors, point.samples, point.duration) == (0, 4000, 0.833)
    assert point.more["read_p50_s"] == pytest.approx(2022e-6, rel=1e-12)
    point = only("ycsb", "basic_c_target_0.18.txt")
    assert (point.loop, point.offered_rate) == ("closed", 1000)
    assert point.response_time == pytest.approx(1601.0286666666666e-6, rel=1e-12)
    expected = {50: 2071e-6, 90: 3085e-6, 99: 3253e-6, 99.9: 4115e-6}
    assert point.percentiles == pytest.approx(expected, rel=1e-12)


def test_an_operation_that_modifies_is_counted_once():
    point = only("ycsb", "basic_f_0.18.txt")
    assert point.samples == 1000
    assert point.throughput == pytest.approx(1000 / 0.336, rel=1e-12)
    spent = 1000 * 746.07 + 482 * 626.48755186722
    assert point.response_time == pytest.approx(spent / 1000 * 1e-6, rel=1e-12)


FAILED = """[READ], Return=ERROR, 500
[READ-FAILED], Operations, 500
[READ-FAILED], AverageLatency(us), 6656781.1
"""


def test_failed_operations_of_ycsb_are_left_out_of_throughput():
    text = sample("ycsb", "basic_c_target_0.18.txt").replace(
        "[READ], Operations, 3000", f"{FAILED}[READ], Operations, 2500"
    )
    (point,) = points_of(text, "failed")
    assert (point.errors, point.samples) == (500, 2500)
    assert point.throughput == pytest.approx(2500 / 3.01, rel=1e-12)
    assert point.more["throughput_with_errors_ops_s"] == 996.6777408637873


def test_cells_of_redis_benchmark():
    points = points_of(sample("redis_benchmark", "c20.csv"), "c20.csv")
    rows = list(csv.DictReader(sample("redis_benchmark", "c20.csv").splitlines()))
    assert [point.name for point in points] == ["SET", "GET", "LPUSH"]
    for point, row in zip(points, rows, strict=True):
        assert (point.loop, point.population) == ("closed", None)
        assert point.throughput == float(row["rps"])
        assert 1e3 * point.response_time == pytest.approx(float(row["avg_latency_ms"]), rel=1e-12)
        expected = {p: float(row[f"p{p}_latency_ms"]) * 1e-3 for p in (50, 95, 99)}
        assert point.percentiles == pytest.approx(expected, rel=1e-12)
        assert point.more["response_time_max_s"] == float(row["max_latency_ms"]) * 1e-3


def test_reports_of_redis_benchmark():
    text = sample("redis_benchmark", "c20.txt")
    points = points_of(text, "c20.txt")
    matches = re.findall(r"summary: (\S+) r.*\n.*\n.*\n +(\S+) +(\S+) +(\S+) +(\S+) +(\S+)", text)
    assert [point.name for point in points] == ["SET", "GET", "LPUSH"]
    for point, (rate, mean, least, *percentiles) in zip(points, matches, strict=True):
        assert (point.loop, point.population, point.samples) == ("closed", 20, 20000)
        assert point.throughput == float(rate)
        assert point.response_time == pytest.approx(float(mean) * 1e-3, rel=1e-12)
        expected = dict(zip((50, 95, 99), [float(p) * 1e-3 for p in percentiles], strict=True))
        assert point.percentiles == pytest.approx(expected, rel=1e-12)
        assert point.more["response_time_min_s"] == float(least) * 1e-3
        assert point.duration == pytest.approx(20000 / float(rate), abs=0.005)
    # Minutes of progress, and lines as they were written: over and over in one.
    first, _, rest = text.partition("======")
    assert points_of(first.replace("\n", "\r") * 50 + "======" + rest, "c20.txt") == points


def test_points_make_a_table():
    table = measurements_of([only("ycsb", "basic_a_0.18.txt")], "run")
    assert table.column("read_p99").values.tolist() == pytest.approx([3107e-6], rel=1e-12)


REPORT = sample("redis_benchmark", "c20.txt")
NO_REQUEST = '"test","rps","avg_latency_ms"\n"GET","0.00","nan"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            sample("pgbench", "tpcb_15.txt")[:300],
            r"run:11: there is no tps; check that the file is complete",
        ),
        (
            sample("pgbench", "tpcb_15.txt")[:-70],
            r"run:13: there is no tps; check that the file is complete",
        ),
        (sample("pgbench", "tpcb_15.txt").replace("= 3.891", "= 3..8"), r"run:12: '3\.\.8' is no"),
        (REPORT[:1500], r"run:35: there is no throughput summary; check that the file is complete"),
        (
            REPORT[: REPORT.index("p50 ")],
            r"run:45: there is no latency summary; check that the file",
        ),
        (REPORT.replace("      p50", ""), r"run:45: 6 cells under 5 titles"),
        (sample("pgbench", "tpcb_15.txt").replace(": 5923", ": 0/10"), "run: no transaction succ"),
        (sample("sysbench", "oltp_1.0.20.txt").replace("120\n", "0\n"), "run: no event succeeded"),
        (sample("sysbench", "oltp_1.0.20.txt")[:850], "run:[0-9]+: there is no mean latency"),
        (sample("memtier", "redis.json")[:3000], "run:[0-9]+: this JSON is invalid or truncated"),
        (sample("memtier", "redis.json").replace("90018.1,", "0,"), "run: no request succeeded"),
        (sample("ycsb", "redis_0.9_broken.txt"), r"run:24: there is no \[OVERALL\] runtime"),
        (sample("ycsb", "basic_a_0.18.txt")[:400], r"run:\d: no operation succeeded"),
        (NO_REQUEST, "run:2: no request of 'GET' succeeded"),
        (NO_REQUEST[:40], "run:2: a quote is not closed; check that the file is complete"),
        (NO_REQUEST[:-7] + "\n", "run:2: 2 cells under 3 titles"),
        (NO_REQUEST[:30], "run:1: there is no test after the header"),
    ],
)
def test_bad_runs_are_refused_in_one_line(text, message):
    refused(text, rf"\A{message}")
