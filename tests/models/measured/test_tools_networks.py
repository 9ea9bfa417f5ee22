"""What benchmarks of networks and of message passing wrote: cells equal what they print."""

import json
import re

import numpy as np
import pytest

from headway.models.reading.loadtest import points_of
from tests.support.places import DATA
from tests.support.tool_files import only, points, refused, sample

PARSED = DATA / "tools_parsed"


def parsed(*path):
    """What PerfKitBenchmarker parses of a sample."""
    return json.loads(PARSED.joinpath(*path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["latency", "multi_lat", "put_latency"])
def test_latencies_of_osu_are_those_that_their_owner_parses(name):
    points = points_of(sample("osu", f"{name}.txt"), name)
    rows = parsed("osu", f"{name}.json")
    assert [point.name for point in points] == [f"{row['size']} bytes" for row in rows]
    for point, row in zip(points, rows, strict=True):
        assert point.response_time == pytest.approx(row["latency"] * 1e-6, rel=1e-12)
        assert point.more == {"message_size_bytes": row["size"]}
        assert point.loop == "closed"
        assert point.notes == (() if "put" in name else ("latency is half the round trip",))


def test_bandwidth_of_osu_is_what_its_owner_parses():
    points = points_of(sample("osu", "bw.txt"), "bw")
    for point, row in zip(points, parsed("osu", "bw.json"), strict=True):
        assert point.response_time is None
        assert point.more == {
            "message_size_bytes": row["size"],
            "bandwidth_bytes_s": pytest.approx(row["bandwidth"] * 1e6, rel=1e-12),
        }


def test_large_sizes_are_named_in_full():
    (point,) = points_of(
        "# OSU MPI Latency Test v7.5\n# Size   Latency (us)\n4194304  584.22\n", "x"
    )
    assert point.name == "4194304 bytes"


def test_tests_of_one_file_of_osu_are_named():
    text = sample("osu", "latency.txt") + sample("osu", "bw.txt")
    names = [point.name for point in points_of(text, "both")]
    assert names[1:3] == ["OSU MPI Latency Test, 8 bytes", "OSU MPI Bandwidth Test, 4 bytes"]


FULL = """# OSU MPI Allreduce Latency Test v7.5
# Datatype: MPI_INT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                      10.05              9.05             12.50        1000
# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.2
# [ pairs: 1 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
1                       7.79        7790845.03
# OSU MPI Barrier Latency Test v5.8
# Avg Latency(us)
             2.25
"""


def test_other_tables_of_osu():
    reduced, rate, barrier = points_of(FULL, "full")
    assert reduced.samples == 1000
    assert reduced.more["response_time_max_s"] == pytest.approx(12.5e-6, rel=1e-12)
    assert rate.throughput == 7790845.03
    assert rate.more["bandwidth_bytes_s"] == pytest.approx(7.79e6, rel=1e-12)
    assert (barrier.name, barrier.response_time) == ("OSU MPI Barrier Latency Test", 2.25e-6)


PERCENTS = (10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99)


@pytest.mark.parametrize("name", ["latencies", "pingpong"])
def test_cells_of_imb_are_those_that_their_owner_parses(name):
    points = points_of(sample("imb", f"{name}.txt"), name)
    (table,) = parsed("imb", f"{name}.json")
    for point, row in zip(points, table["data"], strict=True):
        cells = row["data"]
        assert point.name == f"{row['bytes']} bytes"
        assert (point.loop, point.samples) == ("closed", row["repetitions"])
        assert point.response_time == pytest.approx(cells["time_avg"] * 1e-6, rel=1e-12)
        least, most = (cells.get(f"latency_{e}", cells[f"time_{e}"]) for e in ("min", "max"))
        assert point.more == {
            "message_size_bytes": row["bytes"],
            "bandwidth_bytes_s": pytest.approx(cells["throughput"] * 1e6, rel=1e-12),
            "response_time_min_s": pytest.approx(least * 1e-6, rel=1e-12),
            "response_time_max_s": pytest.approx(most * 1e-6, rel=1e-12),
        }
        expected = {p: cells[f"latency_p{p:g}"] * 1e-6 for p in PERCENTS if "latency_p50" in cells}
        assert point.percentiles == pytest.approx(expected, rel=1e-12)
        assert point.notes == ("time is half the round trip",)


OLD = """# Intel (R) MPI Benchmark Suite V3.2, MPI-1 part
# Benchmarking Sendrecv
# #processes = 4
# ( 12 additional processes waiting in MPI_Barrier)
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            0         1000         1.45         1.45         1.45         0.00
      1048576           40      1000.00      1000.00      1000.00      2000.00
# Benchmarking Barrier
# #processes = 4
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         4.10         4.20         4.15
"""


def test_megabytes_of_old_imb_are_binary_and_its_tables_are_named():
    _, large, barrier = points_of(OLD, "old")
    assert large.more["bandwidth_bytes_s"] == 2000 * 2**20
    assert large.name == "Sendrecv, 4 processes, 1048576 bytes"
    assert barrier.name == "Barrier, 4 processes"
    assert barrier.response_time == pytest.approx(4.15e-6, rel=1e-12)


def test_cells_of_netperf_that_counts_transactions():
    point = only("netperf", "udp_rr_histogram.csv")
    assert (point.loop, point.population, point.throughput) == ("closed", 1, 2217.06)
    expected = {50: 442e-6, 90: 487e-6, 99: 589e-6}
    assert point.percentiles == pytest.approx(expected, rel=1e-12)
    assert point.more == {
        "response_time_min_s": pytest.approx(361e-6, rel=1e-12),
        "response_time_max_s": pytest.approx(9688e-6, rel=1e-12),
        "response_time_deviation_s": pytest.approx(81.26e-6, rel=1e-12),
    }
    assert (point.response_time, point.samples) == (None, 133024)


def test_every_form_of_netperf():
    table = only("netperf", "tcp_rr.txt")
    assert (table.throughput, table.duration, table.population) == (43324.48, 2.0, 1)
    assert table.utilisation == {"client_cpu": 1.0, "server_cpu": 1.0}
    keys, omni = only("netperf", "tcp_rr_keys.txt"), only("netperf", "tcp_rr_omni.csv")
    assert (keys.throughput, keys.duration) == (48489.68, 1.0)
    assert keys.response_time == pytest.approx(20.58e-6, rel=1e-12)
    assert keys.percentiles == {99: pytest.approx(38e-6, rel=1e-12)}
    assert (omni.throughput, omni.duration, omni.utilisation) == (33605.26, 2.0, {})
    assert omni.response_time == pytest.approx(29.71e-6, rel=1e-12)
    assert omni.inside == pytest.approx(1, rel=5e-3)  # one transaction at a time


def test_streams_of_netperf():
    point = only("netperf", "tcp_stream.txt")
    assert (point.throughput, point.duration) == (None, 2.0)
    assert point.more == {"bandwidth_bytes_s": pytest.approx(9504.91e6 / 8, rel=1e-12)}
    point = only("netperf", "udp_stream.txt")
    assert point.more == {
        "bandwidth_bytes_s": pytest.approx(532.04e6 / 8, rel=1e-12),
        "sent_bandwidth_bytes_s": pytest.approx(945.13e6 / 8, rel=1e-12),
    }
    assert (point.errors, point.loop) == (0, None)


def test_tests_of_one_file_of_netperf_are_named():
    text = sample("netperf", "tcp_rr.txt") + sample("netperf", "tcp_stream.txt")
    rr, stream = points_of(text, "both")
    assert (rr.name, rr.throughput) == ("TCP Request/Response", 43324.48)
    assert (stream.name, stream.throughput) == ("TCP Stream", None)


def test_cells_of_iperf3():
    tcp, udp = only("iperf3", "tcp.json"), only("iperf3", "udp.json")
    end = json.loads(sample("iperf3", "tcp.json"))["end"]
    assert (tcp.loop, tcp.population, tcp.throughput) == ("closed", 2, None)
    assert tcp.more == {
        "bandwidth_bytes_s": end["sum_received"]["bits_per_second"] / 8,
        "sent_bandwidth_bytes_s": end["sum_sent"]["bits_per_second"] / 8,
        "retransmits": 2,
        "round_trip_s": pytest.approx((755e-6 + 815e-6) / 2, rel=1e-12),
    }
    assert tcp.utilisation["client_cpu"] == pytest.approx(0.25596004, abs=5e-9)
    assert (udp.loop, udp.errors, udp.samples) == ("open", 77, 20805)
    assert udp.more["target_bandwidth_bytes_s"] == 100e6 / 8
    assert udp.more["bandwidth_bytes_s"] == 99256234.6649215 / 8
    assert udp.more["jitter_s"] == pytest.approx(0.0058666957921453865e-3, rel=1e-12)
    both = points_of(sample("iperf3", "bidir.json"), "bidir")
    assert [point.name for point in both] == ["forward", "reverse"]


def test_cells_of_sockperf():
    point = only("sockperf", "ping-pong.txt")
    assert (point.loop, point.errors, point.samples, point.duration) == ("closed", 0, 89108, 1.55)
    assert point.response_time == pytest.approx(8.689e-6, rel=1e-12)
    assert point.percentiles[99.9] == pytest.approx(348.673e-6, rel=1e-12)
    assert point.more["response_time_deviation_s"] == pytest.approx(43.484e-6, rel=1e-12)
    assert point.notes[0] == "latency is half the round trip"
    # one message at a time: its rate times the round trip is one
    assert 2 * point.inside == pytest.approx(1, rel=2e-3)
    full = only("sockperf", "full-rtt.txt")
    assert full.response_time == pytest.approx(17.161e-6, rel=1e-12)
    assert full.inside == pytest.approx(1, rel=2e-3)


def test_sockperf_under_load_and_one_way():
    point = only("sockperf", "under-load.txt")
    assert (point.loop, point.throughput, point.samples) == ("open", None, 30)
    assert point.offered_rate == pytest.approx(2000, rel=1e-3)  # as --mps asked for
    point = only("sockperf", "throughput.txt")
    assert (point.throughput, point.response_time, point.samples) == (959862, None, 960335)
    # 1000 bytes a message, in MBps of 2**20
    assert point.more["bandwidth_bytes_s"] == pytest.approx(959862e3, rel=1e-5)


def numbers(name):
    """Rows of Netgauge's numbers, read in another way."""
    lines = (line for line in sample("netgauge", name).splitlines() if line[0] != "#")
    return [
        [float(word) for word in re.findall(r"-?(?:nan|inf|[\d.]+)", line) if word != "-"]
        for line in lines
    ]


def test_cells_of_netgauge_that_fits_loggp():
    measured = points("netgauge", "loggp.out")
    for point, row in zip(measured, numbers("loggp.out"), strict=True):
        size, count, single, train, spaced, latency, send, receive, gap, per_byte, _ = row
        assert point.name == f"{size:g} bytes"
        assert point.response_time == pytest.approx(single * 1e-6, rel=1e-12)
        by_name = {
            "train_round_trip_s": train, "spaced_train_round_trip_s": spaced, "latency_s": latency,
            "send_overhead_s": send, "receive_overhead_s": receive, "gap_s": gap,
            "gap_per_byte_s": per_byte,
        }  # fmt: skip
        expected = {name: value * 1e-6 for name, value in by_name.items() if value >= 0}
        expected |= {"message_size_bytes": size, "train_messages": count}
        assert point.more == pytest.approx(expected, rel=1e-12)
    assert (measured[0].loop, "gap_s" in measured[0].more) == ("closed", False)  # printed as -nan


def test_cells_of_netgauge_of_pairs():
    for point, row in zip(points("netgauge", "one_one.out"), numbers("one_one.out"), strict=True):
        assert point.response_time == pytest.approx(row[8] * 1e-6, rel=1e-12)
        assert point.percentiles == {50: pytest.approx(row[9] * 1e-6, rel=1e-12)}
        assert point.more == pytest.approx(
            {
                "message_size_bytes": row[0],
                "bandwidth_bytes_s": row[14] * 1e6 / 8,
                "response_time_min_s": row[7] * 1e-6,
                "response_time_max_s": row[10] * 1e-6,
                "response_time_deviation_s": row[11] * 1e-6,
                "send_time_s": row[2] * 1e-6,
            },
            rel=1e-12,
        )
        assert point.notes == ("latency is half the round trip",)


def test_calls_of_a_calibration_of_simgrid():
    rows = [line.split(",") for line in sample("simgrid", "PingPong.csv").splitlines()]
    by_name = {point.name: point for point in points("simgrid", "PingPong.csv")}
    assert len(by_name) == 2 * 5
    times = [float(row[3]) for row in rows if row[:2] == ["MPI_Send", "16384"]]
    point = by_name["MPI_Send, 16384 bytes"]
    assert (point.samples, point.more["message_size_bytes"]) == (len(times), 16384)
    assert point.response_time == pytest.approx(np.mean(times), rel=1e-12)
    assert point.percentiles == {50: pytest.approx(np.median(times), rel=1e-12)}
    deviation = point.more["response_time_deviation_s"]
    assert deviation == pytest.approx(np.std(times, ddof=1), rel=1e-12)
    assert (point.more["response_time_min_s"], point.throughput) == (min(times), None)
    wtime = only("simgrid", "Wtime.csv")
    assert (wtime.name, "message_size_bytes" in wtime.more) == ("MPI_Wtime", False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (sample("osu", "latency.txt")[:560], "run:11: there is no row below its title"),
        (sample("osu", "latency.txt").replace("25.03", "25.03 Fail"), "run:14: 3 cells under"),
        (sample("osu", "latency.txt").replace("25.03", "25,x3"), "run:14: Latency .us.: '25,x3'"),
        (sample("osu", "latency.txt").replace("25.03", "nan"), "run:14: Latency .us.: 'nan'"),
        (sample("imb", "pingpong.txt")[:1000], "run:3[0-9]: there is no row below the title"),
        (sample("imb", "pingpong.txt").replace("  66.40", ""), "run:40: 5 cells under 6"),
        (sample("imb", "latencies.txt").replace(", 50.00", ""), "run:36: 11 numbers in a"),
        (sample("netperf", "tcp_rr.txt")[:200], "run:[0-9]: there is no result of this test"),
        (sample("netperf", "tcp_rr.txt").replace("43324.48", "0.00"), "run:7: no transfer"),
        (
            sample("netperf", "tcp_stream.txt").replace("9504.91", "95x"),
            "run:7: there is no result",
        ),
        (sample("iperf3", "tcp.json")[:900], "run:[0-9]+: this JSON is invalid or truncated"),
        (sample("iperf3", "refused.json"), "run: iperf3 says 'unable to connect to server"),
        (sample("netgauge", "loggp.out")[:400], "run:6: 6 cells under 11 titles"),
        (sample("netgauge", "loggp.out")[:160], "run:3: there is no row below its titles"),
        (sample("netgauge", "one_one.out")[:-20], "run:61: [0-9]+ cells under 17"),
        (sample("simgrid", "Isend.csv")[:-9], "run:50: this is not a call of MPI"),
        (sample("sockperf", "refused.txt"), "run:2: sockperf says Can`t connect socket"),
        (sample("sockperf", "ping-pong.txt")[:500], "run:[0-9]+: there is no valid duration"),
    ],
)
def test_bad_runs_are_refused_in_one_line(text, message):
    refused(text, rf"\A{message}")
