"""HdrHistogram and bcc, Prometheus, OpenTelemetry and Jaeger, against what they print."""

import json
import re

import pytest

from headway.errors import MeasurementError
from headway.models.reading.loadtest import points_of
from tests.support.tool_files import kind, points, refused, sample, shown

KINDS = {
    "hdrhistogram/jHiccup-2.0.7S.logV2.hlog": "HdrHistogram log",
    "hdrhistogram/raphael.hlog": "HdrHistogram log",
    "hdrhistogram/tagged-Log.logV2.hlog": "HdrHistogram log",
    "hdrhistogram/percentiles.hgrm": "HdrHistogram percentiles",
    "hdrhistogram/percentiles.csv": "HdrHistogram percentiles",
    "bcc/biolatency.txt": "bcc histogram",
    "bcc/biolatency_intervals.txt": "bcc histogram",
    "bcc/funclatency.txt": "bcc histogram",
    "bcc/nfsdist.txt": "bcc histogram",
    "prometheus/histogram.json": "Prometheus range query",
    "prometheus/sums.json": "Prometheus range query",
    "prometheus/summary.json": "Prometheus range query",
    "prometheus/node_cpu.json": "Prometheus range query",
    "prometheus/rates.json": "Prometheus range query",
    "traces/otlp_trace.json": "OpenTelemetry traces",
    "traces/shop.jsonl": "OpenTelemetry traces",
    "traces/jaeger_trace.json": "Jaeger traces",
}


@pytest.mark.parametrize(("file", "known"), KINDS.items())
def test_each_is_known_by_its_content(file, known):
    assert kind(sample(file)) == known


def percentiles(*values):
    return shown(dict(zip((50, 90, 95, 99, 99.9), values, strict=True)))


def test_logs_are_as_the_python_library_reads_them():
    """Its sum of all intervals, in the resolution of the log (2 digits): hdrhistogram 0.10.8."""
    (point,) = points("hdrhistogram/jHiccup-2.0.7S.logV2.hlog")
    assert point.samples == 48761
    assert point.response_time == shown(67806930.72841e-9)
    assert point.percentiles == percentiles(
        344063e-9, 425983e-9, 629145599e-9, 1434451967e-9, 1753219071e-9
    )
    assert point.duration == shown(62.004)
    assert point.throughput == shown(48761 / 62.004)


def test_tags_are_points_apart():
    plain, tagged = points("hdrhistogram/tagged-Log.logV2.hlog")
    assert (plain.name, tagged.name) == ("", "A")
    for point in (plain, tagged):
        assert (point.samples, point.response_time) == (16145, shown(74889901.62650976e-9))
        assert point.percentiles == percentiles(
            360447e-9, 425983e-9, 746586111e-9, 1392508927e-9, 1543503871e-9
        )


def test_logs_of_the_first_version_are_read():
    """Its maximum, 189.792 ms, is in the last bucket, whose width is 1/128 at most."""
    (point,) = points("hdrhistogram/raphael.hlog")
    assert (point.samples, point.duration) == (140003, 63.182)
    assert point.percentiles[99.9] < 0.189792 * (1 + 1 / 128)


def test_percentile_files_give_the_next_row():
    """The library says 9423, 12231, 18591 and 26767 us; the rows that follow are a bit above."""
    for file in ("hdrhistogram/percentiles.hgrm", "hdrhistogram/percentiles.csv"):
        (point,) = points(file)
        assert point.percentiles == percentiles(0.002953, 0.009455, 0.012431, 0.018719, 0.026831)
        assert point.samples == 5000
    assert points("hdrhistogram/percentiles.hgrm")[0].response_time == shown(0.004032)
    assert points("hdrhistogram/percentiles.csv")[0].response_time is None


def test_powers_of_two_say_how_coarse_they_are():
    (point,) = points("bcc/biolatency.txt")
    counts = [1, 12, 15, 43, 52, 47, 52, 36, 15, 2, 2]
    least = sum(n * 2 ** (6 + i) for i, n in enumerate(counts)) * 1e-6 / sum(counts)
    assert point.samples == sum(counts)
    assert point.response_time == shown(1.5 * least)
    assert f"The mean is between {least:.4g} and {2 * least:.4g} s." in point.notes
    assert 2048e-6 < point.percentiles[50] < 4096e-6
    assert any("p99 between 0.03277 and 0.06554 s" in note for note in point.notes)
    assert (point.throughput, point.duration) == (None, None)


def test_a_printed_total_makes_the_mean_exact():
    (point,) = points("bcc/funclatency.txt")
    assert (point.response_time, point.samples) == (shown(6543360e-9 / 476), 476)
    assert "The mean is exact." in point.notes


def test_intervals_make_a_rate():
    (point,) = points("bcc/biolatency_intervals.txt")
    matches = re.findall(r": (\d+) +\|", sample("bcc/biolatency_intervals.txt"))
    assert point.samples == sum(map(int, matches))
    assert (point.duration, point.throughput) == (5.0, shown(point.samples / 5))


def test_operations_are_points_apart():
    assert [(p.name, p.samples) for p in points("bcc/nfsdist.txt")] == [
        ("read", 47975),
        ("write", 24456),
    ]


def test_prometheus_counts_what_rose():
    first, second = points("prometheus/sums.json")
    assert 'handler="/api/v1/query"' in first.name
    assert (first.samples, first.duration, first.throughput) == (40, 9.0, shown(40 / 9))
    assert first.response_time == shown((0.020833166 - 0.005008323) / 40)
    assert second.response_time == shown((0.022635056 - 0.006702531) / 9)
    histogram, _ = points("prometheus/histogram.json")
    assert histogram.response_time == first.response_time
    assert histogram.percentiles == {}  # all within its first bucket, to 0.1 s
    (summary,) = points("prometheus/summary.json")
    assert summary.percentiles == shown({50: 0.00003369, 90: 0.000065348, 99: 0.003423329})


def test_prometheus_tells_how_busy_cpus_were():
    (point,) = points("prometheus/node_cpu.json")
    assert (point.utilisation, point.duration) == ({"cpu": 1.0, "cpu_0": 1.0, "cpu_1": 1.0}, 12.0)
    idler = sample("prometheus/node_cpu.json").replace('"2533.75"]]', '"2536.75"]]')
    (point,) = points_of(idler, "a.json")
    assert point.utilisation == shown({"cpu": 0.875, "cpu_0": 1.0, "cpu_1": 0.75})


def series(name, values, **labels):
    pairs = [[1000 + 10 * i, str(value)] for i, value in enumerate(values)]
    return {"metric": {"__name__": name, **labels}, "values": pairs}


def answer(*actual):
    data = {"resultType": "matrix", "result": list(actual)}
    return json.dumps({"status": "success", "data": data})


def test_prometheus_buckets_are_interpolated_and_counters_may_begin_again():
    """100 requests: 40 to 0.1 s, 50 more to 0.2 s, 10 more to 0.4 s; the counter fell once."""
    text = answer(
        series("a_seconds_count", [70, 110, 60]),
        series("a_seconds_sum", [5.0, 11.0, 10.0]),
        series("a_seconds_bucket", [0, 40], le="0.1"),
        series("a_seconds_bucket", [0, 90], le="0.2"),
        series("a_seconds_bucket", [0, 100], le="0.4"),
        series("a_seconds_bucket", [0, 100], le="+Inf"),
    )
    (point,) = points_of(text, "a.json")
    assert (point.samples, point.throughput) == (100, 5.0)
    assert point.response_time == shown(0.16)
    assert point.percentiles == shown({50: 0.12, 90: 0.2, 95: 0.3, 99: 0.38})
    assert any("p99 0.2 to 0.4 s" in note for note in point.notes)


def test_a_trace_gives_a_point_a_service():
    front, store = points("traces/shop.jsonl")
    assert (front.name, front.samples, front.errors) == ("front", 20, 2)
    assert (store.name, store.samples, store.errors) == ("store", 20, 0)
    spans = re.findall(
        r'"kind":2,"startTimeUnixNano":"(\d+)","endTimeUnixNano":"(\d+)"',
        sample("traces/shop.jsonl").splitlines()[0],
    )
    lengths = sorted((int(end) - int(start)) * 1e-9 for start, end in spans)
    assert front.response_time == shown(sum(lengths) / 20)
    assert front.percentiles == shown({50: lengths[9]})  # fewer than ten lie beyond the others
    assert front.throughput == shown(18 / front.duration)
    assert front.response_time > store.response_time


def test_one_span_has_a_time_and_no_rate():
    (point,) = points("traces/otlp_trace.json")
    assert (point.name, point.response_time, point.throughput) == ("my.service", 1.0, None)
    first, second = points("traces/jaeger_trace.json")
    assert (first.name, first.errors) == ("16af988c443cff37", 0)
    assert (second.name, second.errors) == ("3c220036602f839e", 1)
    assert (first.response_time, second.response_time) == shown((0.267037, 0.032782))


def test_jaeger_traces_may_name_services_apart():
    """The same two spans in the form of Jaeger's page: services by the number of a process."""
    spans = json.loads(sample("traces/jaeger_trace.json"))
    processes = {f"p{i}": span.pop("process") for i, span in enumerate(spans)}
    for i, span in enumerate(spans):
        span["processID"] = f"p{i}"
    trace = {"traceID": spans[0]["traceID"], "spans": spans, "processes": processes}
    result = points_of(json.dumps({"data": [trace]}), "a.json")
    stored = points("traces/jaeger_trace.json")
    assert [(p.name, p.response_time) for p in result] == [
        (p.name, p.response_time) for p in stored
    ]


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("hdrhistogram/raphael.hlog", "HISTgg", "HISTga", r"hlog:4: the histogram is truncated or"),
        (
            "hdrhistogram/raphael.hlog",
            "189.792",
            "17.5",
            "maxima differ from those of its histograms",
        ),
        (
            "hdrhistogram/raphael.hlog",
            "1629447418.475,",
            "1629447418.475",
            "hlog:4: a row needs start",
        ),
        (
            "hdrhistogram/percentiles.csv",
            "28.895,1.0",
            "28.895,0.9",
            "the last percentile is missing",
        ),
        (
            "hdrhistogram/percentiles.csv",
            "0.410,",
            "nan,",
            "percentiles.csv:3: 'nan' is not a number",
        ),
        ("bcc/biolatency.txt", "2 -> 3        :", "2 -> 3", "txt:6: not a row of a histogram"),
        ("bcc/biolatency.txt", "usecs", "kbytes", "all its histograms of times are empty"),
        ("prometheus/sums.json", "success", "error", "Prometheus returned an error"),
        ("prometheus/sums.json", "matrix", "vector", "not a range query"),
        ("prometheus/sums.json", '"14"', '"x"', r"result\[0\]: its values are not a list"),
        ("traces/otlp_trace.json", "1544712661", "1544712659", "a span ends before it starts"),
        ("traces/otlp_trace.json", "startTimeUnixNano", "start", "has no startTimeUnixNano"),
        ("traces/jaeger_trace.json", '"serviceName"', '"name"', "serviceName is missing"),
        ("traces/shop.jsonl", '"status":{}}', '"status":{}', "jsonl:1: this JSON is invalid"),
    ],
)
def test_what_is_spoilt_is_refused_in_one_line(file, old, new, says):
    refused(sample(file).replace(old, new, 1), says, file)


EMPTY = '#[Histogram log format version 1.2]\n"StartTimestamp","Interval_Length"\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (EMPTY, "this log has no values"),
        ('{"resourceSpans": []}', "it has no spans"),
        (answer(), "there is none"),
        (sample("prometheus/rates.json"), "one without a name.*without rate"),
    ],
)
def test_what_is_empty_is_refused(text, says):
    with pytest.raises(MeasurementError, match=says):
        points_of(text, "a.txt")


def test_maps_of_bpftrace_are_points_by_name():
    linear, python, dd = points("bpftrace/read.txt")
    assert [p.name for p in (linear, python, dd)] == ["nsecs", "usecs[python]", "usecs[dd]"]
    counts = [90, 962, 175, 46, 192, 60, 10, 7, 7, 5, 0, 1]
    least = sum(n * 2 ** (3 + i) for i, n in enumerate(counts)) * 1e-6 / sum(counts)
    assert (python.samples, python.response_time) == (sum(counts), shown(1.5 * least))
    inside = (0.5 * sum(counts) - 90) / 962  # of the bucket from 16 to 32 us
    assert python.percentiles[50] == shown((16 + 16 * inside) * 1e-6)
    assert (dd.samples, python.throughput) == (4254, None)


def test_a_bucket_without_an_end_has_no_mean():
    """The last holds 27% of the values, so only the median is known; K is 1024."""
    linear = points("bpftrace/read.txt")[0]
    assert (linear.samples, linear.response_time) == (7797, None)
    assert linear.percentiles == {50: shown((16e3 + 2e3 * (7797 / 2 - 1248) / 3278) * 1e-9)}
    assert any("p99 20 us or more" in note for note in linear.notes)
    wide = "@ms: \n[2K, 4K)              10 |" + "@" * 52 + "|\n"
    assert points_of(wide, "w")[0].response_time == shown(3 * 1.024)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("@nsecs", "@sizes", "none"),
        ("[14000, 16000)", "[16000, 14000)", "read.txt:5: a time is negative, or its bucket"),
        ("[8, 16)", "[8; 16)", "read.txt:13: this is not a row of a histogram"),
    ],
)
def test_spoilt_maps_of_bpftrace_are_refused(old, new, says):
    text = sample("bpftrace/read.txt").replace(old, new, 1)
    if says == "none":
        text = text[: text.index("@usecs")]
        says = r"no histogram has times \(maps: '@sizes'"
    refused(text, says, "read.txt")
