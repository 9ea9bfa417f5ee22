"""What mpstat, iostat, sar, vmstat and pidstat wrote, against what they print."""

import pytest

from headway.errors import MeasurementError
from headway.models.reading.loadtest import points_of
from tests.support.tool_files import kind, points, refused, sample, samples, shown

MONITORS = ("mpstat", "iostat", "sar", "vmstat", "pidstat")
SAMPLES = samples(*MONITORS)


@pytest.mark.parametrize("file", SAMPLES)
def test_a_monitor_knows_its_own_files(file):
    assert kind(sample(file)).removesuffix(" (JSON)") == file.partition("/")[0]
    assert all(point.tool == file.partition("/")[0] for point in points(file))


def test_mpstat_as_perfkit_has_it():
    """Its two samples: all CPUs idle 49.98 and 49.98%, the second 99.98 and 99.97%."""
    (point,) = points("mpstat/perfkit.json")
    assert point.utilisation == shown({"cpu": 0.5002, "cpu_0": 1.0, "cpu_1": 0.00025})
    assert (point.duration, point.more) == (120.0, {"cores": 2.0})


def test_mpstat_of_text_gives_each_cpu():
    (point,) = points("mpstat/each.txt")
    assert point.utilisation == shown({"cpu": 1.0, "cpu_0": 1.0, "cpu_1": 1.0})
    assert (point.duration, point.more) == (3.0, {"cores": 2.0})
    assert points("mpstat/all.txt")[0].duration == 4.0
    assert points("mpstat/all.json")[0].duration == 3.0


TITLES = "03:03:16     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal   %idle\n"
BANNER = "Linux 6.1.0 (host) \t2026-11-22 \t_x86_64_\t(2 CPU)\n\n"


def mpstat_row(time, cpu, idle, waiting=0.0):
    used = 100 - idle - waiting
    shares = (used, 0, 0, waiting, 0, 0, 0, idle)
    return f"{time}   {cpu}   " + "   ".join(f"{share:.2f}" for share in shares) + "\n"


@pytest.mark.parametrize(
    ("rows", "cpu", "duration"),
    [
        (mpstat_row("03:03:17", "all", 25, 5) + mpstat_row("03:03:18", "all", 35, 5), 0.65, 2.0),
        (mpstat_row("03:03:16", "all", 90) + mpstat_row("03:03:18", "all", 50), 0.5, 2.0),
        (mpstat_row("03:03:16", "all", 90), 0.1, None),
        (mpstat_row("Average:", "all", 75), 0.25, None),
        (mpstat_row("03:03:17", "all", 25).replace(".", ","), 0.75, 1.0),
        (mpstat_row("03:03:17", "all", 25) + mpstat_row("03:03:12", "all", 35), 0.7, None),
    ],
    ids=["mean", "since boot", "only since boot", "average", "decimal comma", "clock set back"],
)
def test_mpstat_counts_intervals(rows, cpu, duration):
    (point,) = points_of(BANNER + TITLES + rows, "a.txt")
    assert point.utilisation == shown({"cpu": cpu})
    assert point.duration == duration


def test_a_cpu_that_is_switched_off_is_not_busy():
    off = mpstat_row("03:03:17", "1", 100).replace("100.00", "0.00")
    (point,) = points_of(BANNER + TITLES + mpstat_row("03:03:17", "all", 40) + off, "a.txt")
    assert point.utilisation == shown({"cpu": 0.6})


def test_iostat_as_perfkit_has_it():
    """The second of its samples: 4 writes of 0.25 ms and 4 flushes of 0 a second on sda."""
    first, second, third = points("iostat/perfkit.json")
    assert [p.name for p in (first, second, third)] == ["dm-0", "dm-1", "sda"]
    assert (first.throughput, first.response_time) == (2.0, None)
    assert (second.throughput, second.response_time) == (0.0, None)
    assert (third.throughput, third.response_time) == shown((8.0, 0.000125))
    assert third.utilisation == shown({"cpu": 0.0711, "sda": 0.014})
    assert (third.duration, third.more["cores"]) == (1.0, 24.0)
    assert any("first sample" in note for note in third.notes)
    assert any("printed as 0" in note for note in first.notes)


def test_iostat_weights_times_by_rates():
    """25.74 reads of 1.50 ms and 44.55 writes of 0.80 ms, then 41 writes of 0.29 ms, a second."""
    (point,) = points("iostat/extended.txt")
    rate = (25.74 + 44.55 + 41.00) / 2
    assert point.throughput == shown(rate)
    assert point.response_time == shown(
        (25.74 * 1.50 + 44.55 * 0.80 + 41.00 * 0.29) / (2 * rate) * 1e-3
    )
    assert point.utilisation == shown({"cpu": 1.0, "vda": 0.0119})
    assert point.more == shown(
        {
            "queue": 0.04,
            "read_bytes_s": 146.53 * 1024 / 2,
            "write_bytes_s": (14712.87 + 8560.00) * 1024 / 2,
            "cores": 2.0,
        }
    )
    assert point.duration == 2.0


def test_iostat_without_times_gives_a_rate():
    (plain,) = points("iostat/plain.txt")
    assert (plain.throughput, plain.response_time) == (shown((69.31 + 41.58) / 2), None)
    assert plain.utilisation == shown({"cpu": 1.0})
    (disk,) = points("iostat/disks.txt")
    assert disk.utilisation == shown({"vda": 0.062})
    assert disk.response_time == shown((7.00 * 0.21 + 21.50 * 3.67) / 28.5 * 1e-3)
    (json,) = points("iostat/extended.json")
    assert json.throughput == shown((13.86 + 43.56 + 39.60) / 2)


def test_sar_as_perfkit_has_it():
    (point,) = points("sar/perfkit.txt")
    assert point.utilisation == shown({"cpu": 1.0})
    assert (point.duration, point.more) == (300.0, {"cores": 8.0})


def test_sar_gives_disks_and_networks():
    (point,) = points("sar/three.txt")
    networks = {"lo": 0.0, "ifb0": 0.0, "ifb1": 0.0, "eth0": 0.0}
    assert point.utilisation == shown({"cpu": 1.0, "vda": 0.01195, **networks})
    assert point.duration == 2.0
    assert list(points("sar/each.txt")[0].utilisation) == ["cpu", "cpu_0", "cpu_1"]


def test_vmstat_leaves_the_sample_since_boot_out():
    (plain,) = points("vmstat/plain.txt")
    assert plain.utilisation == shown({"cpu": 1.0})
    assert plain.more == shown(
        {
            "runnable": 16.0,
            "blocked": 0.0,
            "interrupts_s": (1319 + 1274 + 1291) / 3,
            "context_switches_s": (15351 + 21161 + 13706) / 3,
        }
    )
    assert plain.duration is None
    assert any("excluded" in note for note in plain.notes)
    (wide,) = points("vmstat/wide.txt")
    assert (wide.duration, wide.more["runnable"]) == (2.0, 17.0)


def test_vmstat_does_not_count_waiting_as_busy():
    rows = " 2  0      0 100 20 30    0    0  1   1  9  9 30 10 40 20  0\n"
    head = sample("vmstat/plain.txt").splitlines(keepends=True)
    (point,) = points_of("".join(head[:3]) + rows, "a.txt")
    assert point.utilisation == shown({"cpu": 0.4})
    (only,) = points_of("".join(head[:2]) + rows, "a.txt")
    assert only.utilisation == shown({"cpu": 0.4})
    assert any("only sample" in note for note in only.notes)


def test_pidstat_gives_a_point_a_process():
    by_name = {point.name: point for point in points("pidstat/cpu.txt")}
    assert by_name["redis-server 11288"].utilisation == shown({"cpu": (12.93 + 16 + 16) / 300})
    assert by_name["python 25715"].duration == 3.0
    disk = {point.name: point for point in points("pidstat/disk.txt")}
    assert disk["java 10684"].more == shown(
        {"read_bytes_s": 0.0, "write_bytes_s": (8644.83 + 8325.49) * 1024 / 2, "cores": 2.0}
    )
    assert disk["java 10684"].utilisation == shown({"cpu": (27.59 + 26.47) / 200})


@pytest.mark.parametrize(
    ("file", "keep", "says"),
    [
        (
            "mpstat/each.txt",
            9,
            "mpstat/each.txt:7: 4 cells under 11 titles; the file may be truncated",
        ),
        ("mpstat/all.json", 14, "mpstat/all.json:14: this JSON is invalid or truncated"),
        ("iostat/extended.txt", 4, "no samples"),
        ("sar/perfkit.txt", 3, "no table has utilisations"),
        ("vmstat/plain.txt", 2, "no samples"),
        ("pidstat/cpu.txt", 3, "no processes"),
    ],
)
def test_what_is_cut_or_empty_is_refused(file, keep, says):
    lines = sample(file).splitlines()[:keep]
    if "cells" in says:
        lines = [*lines[:6], "03:03:17       1   13.00   72.00   14.00"]
    refused("\n".join(lines), "(?s)" + says.replace("(", r"\("), file)


@pytest.mark.parametrize("number", ["nan", "-7.00", "1e999", "x", "430.00"])
def test_shares_are_shares(number):
    text = sample("sar/perfkit.txt").replace("0.00\nAverage", f"{number}\nAverage")
    with pytest.raises(MeasurementError, match=r"sar/perfkit.txt:13: %idle"):
        points_of(text, "sar/perfkit.txt")


def test_sar_as_json_gives_what_its_text_does():
    """Three samples: idle 38.97, 43.88 and 36.50%; the disk busy 1.20% in the third."""
    (point,) = points("sar/each.json")
    idle = (38.97 + 43.88 + 36.50) / 3
    assert point.utilisation["cpu"] == shown(1 - idle / 100)
    assert point.utilisation["cpu_1"] == shown(1 - (17.17 + 19.00 + 0.00) / 300)
    assert point.utilisation["vda"] == shown(0.0120 / 3)
    assert (point.utilisation["eth0"], point.duration) == (0.0, 3.0)
    assert point.more == {"cores": 2.0}
    assert points("sar/cpu.json")[0].utilisation == {"cpu": shown(1 - idle / 100)}


def test_sar_as_json_without_shares_is_refused():
    refused(sample("sar/cpu.json").replace("cpu-load", "queue"), "no table has utilisations", "a")
