"""Times by message size as people have them: columns by name, summed-up repeats, tools' files."""

import csv
import io
import json

import numpy as np
import pytest

from headway.errors import MeasurementError
from headway.loggp import fit_sizes, summed_up
from headway.loggp.measuring.misfit import line_misfits
from headway.models import MeasuredLogp, Measurements
from headway.models.signatures.loggp import MeasuredSizes, read_sizes
from tests.models.signatures.test_signature_logp import signature_text
from tests.support.command import headway, refusal
from tests.support.places import DATA

TOOLS = DATA / "tools"
SIZES = 2.0 ** np.arange(4, 20)
TRUTH = 10e-6 + 1e-9 * SIZES
SCATTER = np.where(np.arange(16) % 3 == 0, 0.08, 0.01)  # some sizes are noisy, most are not


def answer(path):
    return json.loads(headway("signature", "loggp", path, "--json").out)


def drawn(random, repeats, truth=TRUTH):
    """Means of repeats with their standard errors, each size with a scatter of its own."""
    times = truth[:, None] * (1 + SCATTER[:, None] * random.standard_normal((16, repeats)))
    error = times.std(axis=1, ddof=1) / np.sqrt(repeats)
    return summed_up("time", SIZES, times.mean(axis=1), error, np.full(16, repeats))


def test_columns_go_by_name_in_any_order_with_any_others(write):
    plain = [f"{int(s)},{1e6 * t:.9g}" for s, t in zip(SIZES, TRUTH, strict=True)]
    mixed = [f"node {k},{row.split(',')[1]},{k},{row.split(',')[0]}" for k, row in enumerate(plain)]

    first = answer(write("\n".join(["size_bytes,time_us", *plain]) + "\n", "a.csv"))
    text = "\n".join(["host,latency [us],run,message_size_bytes", *mixed]) + "\n"
    second = answer(write(text, "b.csv"))

    assert second == first
    assert second["series"]["time"]["lines"][0]["slope"]["value"] == pytest.approx(1e-9, rel=1e-6)


def test_named_columns_make_a_machine(write):
    rows = [
        f"{int(s)},{2 * (3 + 9 + 2 + 1e-3 * (s - 1)):.12g},{5 + 1e-3 * (s - 1):.12g},2,3"
        for s in SIZES
    ]
    head = "size_bytes,round_trip_us,gap_us,receive_overhead_us,send_overhead_us"
    (regime,) = answer(write("\n".join([head, *rows]) + "\n"))["regimes"]

    # twelve digits in the file
    assert regime["latency"] == pytest.approx(9e-6, rel=1e-8)
    assert regime["gap"] == pytest.approx(5e-6, rel=1e-8)
    assert regime["gap_per_byte"] == pytest.approx(1e-9, rel=1e-8)
    assert regime["not_determined"] is None
    assert regime["reasons"] == {}


def test_deviations_and_repeats_are_weights():
    """Weighted least squares by 1 over the variance of the mean, as NumPy does it."""
    random = np.random.default_rng(4)
    sd = TRUTH * SCATTER
    counts = random.integers(5, 40, 16)
    times = TRUTH + sd / np.sqrt(counts) * random.standard_normal(16)
    rows = zip(SIZES, times, sd, counts, strict=True)
    lines = [f"{int(s)},{1e6 * t:.9f},{1e6 * d:.9f},{n}" for s, t, d, n in rows]
    head = "size_bytes,time_us,sd_us,repeats"
    (one,) = read_sizes("\n".join([head, *lines]), "t.csv")

    (line,) = fit_sizes([one]).lines["time"]

    scale = np.sqrt(counts) / sd
    columns = np.stack([scale, SIZES * scale], axis=1)
    intercept, slope = np.linalg.lstsq(columns, times * scale)[0]
    # times are printed to 1e-15 s, which the weights take for an error of that size too
    assert line.intercept.value == pytest.approx(intercept, rel=1e-6)
    assert line.slope.value == pytest.approx(slope, rel=1e-6)
    assert one.notes == (
        "time: time_us, weighted by 1 over the variance of its mean, sd_us^2 / repeats",
    )


def test_medians_come_before_means_and_counts_weigh_alone():
    text = (
        "size_bytes,time_us,median_us,min_us,sd_us,repeats\n1,9,5,4,1,9\n2,9,6,4,1,9\n4,9,8,4,1,9\n"
    )
    (one,) = read_sizes(text, "t.csv")
    (counted,) = read_sizes("size_bytes,time_us,repeats\n1,5,1\n2,6,4\n4,8,4\n", "t.csv")
    (least,) = read_sizes("size_bytes,min_us\n1,5\n2,6\n4,8\n", "t.csv")

    assert one.median == pytest.approx([5e-6, 6e-6, 8e-6], rel=1e-12)
    # sd / sqrt(9), by sqrt(pi / 2) for a median; the rounding of whole us with it
    rounding = 0.5 / np.sqrt(3)
    wanted = np.hypot(np.sqrt(np.pi / 2) / 3, rounding)
    assert one.error == pytest.approx([wanted * 1e-6] * 3, rel=1e-12)
    assert "its median, sd_us^2 / repeats" in one.notes[0]
    assert counted.error is None
    assert counted.relative_error[0] == pytest.approx(2 * counted.relative_error[1], rel=1e-12)
    assert "weighted by repeats" in counted.notes[0]
    assert least.median[0] == 5e-6


@pytest.mark.slow
def test_summed_up_intervals_cover_and_the_test_keeps_its_level():
    """Of 60 right models with 5 repeats; 400 at 3, 5, 10 and 30 repeats gave 91 to 96% for the
    intervals, and 1.5 to 6% of p below 5%.
    """
    random = np.random.default_rng(1)
    covered, rejected = 0, 0
    for _ in range(60):
        one = drawn(random, 5)
        fit = fit_sizes([one])
        low, high = fit.lines["time"][0].slope.interval
        covered += low <= 1e-9 <= high
        rejected += line_misfits([one], fit)["time"].p < 0.05

    # 95% of 60 are 57 with a deviation of 1.7; 5% are 3
    assert covered >= 52
    assert rejected <= 8


@pytest.mark.slow
def test_raw_repeats_keep_their_level_too(monkeypatch):
    monkeypatch.setattr("headway.loggp.measuring.sizefit.SAMPLES", 1)  # no intervals are looked at
    random = np.random.default_rng(2)
    rejected = 0
    for _ in range(60):
        rows = [(s, t * (1 + 0.02 * z)) for s, t in zip(SIZES, TRUTH, strict=True)
                for z in random.standard_normal(5)]  # fmt: skip
        text = "\n".join(f"{int(s)},{1e6 * t:.9g}" for s, t in rows)
        (one,) = read_sizes("size_bytes,time_us\n" + text, "t.csv")
        fit = fit_sizes([one], seed=0)
        rejected += line_misfits([one], fit)["time"].p < 0.05

    # 2 to 4% over thousands: medians are tested, against a spread that is resistant too
    assert rejected <= 8


def test_changes_of_protocol_that_no_line_can_follow_are_detected(write):
    """Two sizes take half as long again: too few for a line of their own."""
    random = np.random.default_rng(3)
    truth = TRUTH * np.where(np.isin(SIZES, (256, 512)), 1.5, 1.0)
    expected = 0
    for _ in range(20):
        one = drawn(random, 5, truth)
        misfit = line_misfits([one], fit_sizes([one]))["time"]
        expected += misfit.is_lack_of_fit
    assert expected == 20

    rows = [f"{int(s)},{1e6 * t:.6f},{1e4 * t:.6f},10" for s, t in zip(SIZES, truth, strict=True)]
    path = write("\n".join(["size_bytes,time_us,sd_us,repeats", *rows]) + "\n")
    solution = answer(path)
    (warning,) = solution["warnings"]
    assert "at 256 B by 19%" in warning  # a line of its own begins beyond
    assert "others missed: 128 B" in warning
    assert "set a break with --pin SIZE" in warning
    test = solution["series"]["time"]["lack_of_fit"]
    table = headway("signature", "loggp", path).out
    assert f"F = {test['f']:.3g}, p = {test['p']:.2g}" in " ".join(table.split())
    (row, *_) = csv.DictReader(io.StringIO(headway("signature", "loggp", path, "--csv").out))
    assert float(row["lack_of_fit_p"]) == test["p"]
    assert row["lack_of_fit"] == "yes"


OSU = """# OSU MPI {test} v7.2
# Size          {title}
0                       1.10
"""


def osu_text(test, title, cell):
    rows = [f"{int(s):<20d}{cell(s):.6f}" for s in SIZES]
    return OSU.format(test=test, title=title) + "\n".join(rows) + "\n"


def test_a_ping_pong_alone_tells_no_overhead(write):
    path = write(osu_text("Latency Test", "Latency (us)", lambda s: 10 + s / 1000), "osu.txt")

    solution = answer(path)

    (regime,) = solution["regimes"]
    assert list(solution["series"]) == ["one_way"]
    assert regime["gap_per_byte"] == pytest.approx(1e-9, rel=1e-6)
    for name in ("latency", "send_overhead", "receive_overhead", "gap"):
        assert regime[name] is None
        assert regime["reasons"][name]
    assert (
        "includes both overheads and the latency and cannot separate them"
        in regime["reasons"]["latency"]
    )
    assert "one_way is half the round trip" in headway("signature", "loggp", path).out


def test_bandwidth_is_a_gap_per_byte(write):
    text = osu_text("Bandwidth Test", "Bandwidth (MB/s)", lambda s: s / (5 + s / 1000))
    (regime,) = answer(write(text, "bw.txt"))["regimes"]

    assert regime["gap"] == pytest.approx(5.001e-6, rel=1e-4)  # six decimals of MB/s
    assert regime["gap_per_byte"] == pytest.approx(1e-9, rel=1e-4)
    assert regime["latency"] is None
    both = text.replace("Bandwidth Test", "Bi-Directional Bandwidth Test")
    both = both.replace("  Bandwidth (", "  Bi-Bandwidth (")
    assert "contains no one-way times by message size" in refusal(
        "signature", "loggp", write(both, "bi.txt")
    )


def test_intel_ping_pongs_are_read_without_their_empty_message(write):
    head = (TOOLS / "imb/latencies.txt").read_text().split("       #bytes")[0]
    rows = [f"{int(s)} 100 {10 + s / 1000:.4f} {s / (10 + s / 1000):.2f}" for s in (0, *SIZES)]
    text = head + "       #bytes #repetitions      t[usec]   Mbytes/sec\n" + "\n".join(rows)

    (line,) = answer(write(text + "\n", "imb.txt"))["series"]["one_way"]["lines"]

    assert line["first_size"] == SIZES[0]
    assert line["slope"]["value"] == pytest.approx(1e-9, rel=1e-4)


def test_real_files_of_netgauge_and_simgrid():
    trains = answer(TOOLS / "netgauge/loggp.out")
    pairs = answer(TOOLS / "netgauge/one_one.out")
    calls = answer(TOOLS / "simgrid/PingPong.csv")
    sends = answer(TOOLS / "simgrid/Isend.csv")

    assert "these data do not determine the gap at 1025 B" in trains["series"]["gap"]["notes"][0]
    assert trains["regimes"][0]["latency"] > 0
    assert "as if measured once" in pairs["series"]["one_way"]["notes"][1]
    assert set(calls["series"]) == {"MPI_Send", "MPI_Recv", "round_trip"}
    trip = calls["series"]["round_trip"]["lines"][0]["slope"]["value"]
    assert calls["regimes"][0]["gap_per_byte"] == pytest.approx(trip / 2, rel=1e-12)
    assert 0.1e-6 < sends["regimes"][0]["send_overhead"] < 1e-6
    assert sends["regimes"][0]["latency"] is None
    refused = refusal("signature", "loggp", TOOLS / "simgrid/Wtime.csv")
    assert "contains no one-way times by message size" in refused


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time_us,repeats\n1,2\n", "it must be size_bytes and one of time_s"),
        ("size_bytes,sd_us\n1,2\n", "it must be size_bytes and one of time_s"),
        (
            "size_bytes,time_us,sd_bytes\n1,5,1\n2,6,1\n4,7,1\n",
            "column sd_bytes needs a unit of time",
        ),
        ("size_bytes,time_us,sd_us\n1,5,-1\n2,6,1\n4,7,1\n", "sd_us is -1"),
        ("size_bytes,time_us\n1,\n2,6\n4,7\n", "has 2 sizes; a line needs at least 3"),
    ],
)
def test_bad_columns(text, words, write):
    assert words in refusal("signature", "loggp", write(text, "t.csv"))


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("size,took\n{}", ("--unit", "size=B", "--unit", "took=us",
                          "--role", "took=response_time")),
        ("sent;mean of all\n{}", ("--unit", "sent=B", "--unit", "mean of all=us", "--decimal", ",",
                                 "--role", "mean of all=response_time")),
        ("size_bytes,time\n{}", ("--unit", "time=us")),
    ],
)  # fmt: skip
def test_columns_of_times_may_be_said(text, arguments, write):
    rows = [(2**k, 5 + 2**k * 1e-3) for k in range(14)]
    joined = "\n".join(f"{size},{time}" for size, time in rows)
    own = joined.replace(",", ";").replace(".", ",") if ";" in text else joined
    plain = headway(
        "signature", "loggp", write(f"size_bytes,time_us\n{joined}\n", "t.csv"), "--json"
    )
    hinted = headway("signature", "loggp", write(text.format(own), "t.csv"), *arguments, "--json")

    assert (hinted.code, hinted.err) == (0, "")
    assert json.loads(hinted.out) == json.loads(plain.out)


def test_what_is_said_of_no_column_is_refused(write):
    text = "size_bytes,time_us\n1,5\n2,6\n4,7\n"
    message = refusal("signature", "loggp", write(text, "t.csv"), "--unit", "tim=us")
    assert "there is no column" in message
    text = "size,took\n1,5\n2,6\n4,7\n"
    message = refusal("signature", "loggp", write(text, "t.csv"), "--unit", "took=us")
    assert "header is 'size,took'; it must be size_bytes and one of time_s" in message


def test_summed_up_costs_give_what_their_rows_gave():
    """Means, deviations and counts of repeats say all that the rows themselves do."""
    rows = Measurements.parse(signature_text(0.02, 5), "rows.csv")
    columns = [rows.column(name).values for name in ("burst_size", "delay", "cost")]
    lines = []
    for burst, delay in sorted(set(zip(*columns[:2], strict=True))):
        cost = columns[2][(columns[0] == burst) & (columns[1] == delay)] * 1e6
        settings = (cost.std(ddof=1), cost.mean(), cost.size, delay * 1e6, burst)
        lines.append("x," + ",".join(f"{number:.17g}" for number in settings))
    text = "host,cost_sd_us,cost_us,repeats,delay_us,burst_size\n" + "\n".join(lines) + "\n"
    summed = MeasuredLogp.of(Measurements.parse(text, "s.csv"), 20.1e-6)

    raw = MeasuredLogp.of(rows, 20.1e-6)

    for name, one in raw.estimates.items():
        # sums in another order
        assert summed.estimates[name].value == pytest.approx(one.value, rel=1e-9), name
        assert summed.estimates[name].interval == pytest.approx(one.interval, rel=1e-9), name
    assert summed.misfit.p == pytest.approx(raw.misfit.p, rel=1e-6)
    assert "cost_sd_us^2 / repeats; the deviations pooled" in summed.notes[0]


def test_times_that_fall_are_refused_with_weights_too():
    text = "size_bytes,time_us,sd_us\n" + "".join(f"{2**k},{99 - 6 * k},0.1\n" for k in range(12))
    series = read_sizes(text, "t.csv")

    with pytest.raises(MeasurementError, match="falls by"):
        MeasuredSizes.of(series, "t.csv")
