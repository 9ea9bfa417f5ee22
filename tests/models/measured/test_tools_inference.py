"""What load generators of inference servers wrote: cells equal what they print."""

import json

import pytest

from headway.errors import MeasurementError
from headway.models.reading.loadtest import points_of
from headway.models.reading.recognise import recognised
from tests.support.tool_files import only, refused, sample, survives

STAGES = ("stage_0", "stage_2", "stage_6")


def stage(name):
    return sample("inference_perf", f"{name}_lifecycle_metrics.json")


@pytest.mark.parametrize("name", STAGES)
def test_cells_of_a_stage_of_inference_perf(name):
    text = stage(name)
    document = json.loads(text)
    (point,) = points_of(text, name)
    latency = document["successes"]["latency"]
    assert (point.tool, point.loop) == ("inference-perf", "open")
    assert point.offered_rate == document["load_summary"]["requested_rate"]
    assert point.throughput == document["successes"]["throughput"]["requests_per_sec"]
    assert point.response_time == latency["request_latency"]["mean"]
    assert (point.errors, point.samples) == (0.0, document["successes"]["count"])
    assert point.duration == document["load_summary"]["send_duration"]
    cells = latency["request_latency"]
    named = {float(key[1:]): value for key, value in cells.items() if key[0] == "p"}
    assert point.percentiles == named | {50.0: cells["median"]}
    assert point.more["time_to_first_token_s"] == latency["time_to_first_token"]["mean"]
    assert point.more["time_per_output_token_s"] == latency["time_per_output_token"]["mean"]
    assert point.more["inter_token_latency_p99_s"] == latency["inter_token_latency"]["p99"]
    assert point.more["sent_rate_ops_s"] == document["load_summary"]["achieved_rate"]


def test_a_client_that_falls_behind_is_noted():
    (point,) = points_of(stage("stage_6"), "6")
    assert point.offered_rate == 183.38
    assert point.throughput == pytest.approx(103.078, abs=5e-4)
    assert point.more["schedule_delay_s"] == pytest.approx(19.92, abs=0.005)
    assert "sent 19.92 s after they were due" in point.notes[0]


def test_a_stage_in_which_nothing_succeeded_is_refused():
    document = json.loads(stage("stage_0"))
    document["failures"]["count"] = document["successes"].pop("count")
    document["successes"] = {"count": 0, "latency": {}, "throughput": {}}
    with pytest.raises(MeasurementError, match=r"empty\.json: no request succeeded"):
        points_of(json.dumps(document), "empty.json")


def test_a_stage_cut_short_is_refused():
    with pytest.raises(MeasurementError, match=r"cut\.json:1: this JSON is invalid or truncated"):
        points_of(stage("stage_0")[:2500], "cut.json")


def test_spoilt_stages_are_read_or_refused():
    assert recognised(stage("stage_0"))[0].kind == "inference-perf"
    assert 0 < survives(stage("stage_2")) < 200


@pytest.mark.parametrize(
    ("name", "loop", "offered", "streams"),
    [("concurrent", "closed", [None] * 2, [2, 8]), ("constant", "open", [20, 60], [None] * 2)],
)
def test_cells_of_guidellm(name, loop, offered, streams):
    text = sample("guidellm", f"{name}.json")
    points = points_of(text, name)
    assert recognised(text)[0].kind == "guidellm"
    assert [point.offered_rate for point in points] == offered
    assert [point.population for point in points] == streams
    for point, stated in zip(points, json.loads(text)["benchmarks"], strict=True):
        cells = {key: metric["successful"] for key, metric in stated["metrics"].items()}
        latency = cells["request_latency"]
        assert (point.tool, point.loop) == ("guidellm", loop)
        assert point.throughput == cells["requests_per_second"]["mean"]
        assert (point.response_time, point.duration) == (latency["mean"], stated["duration"])
        assert point.percentiles[99.9] == latency["percentiles"]["p999"]
        assert point.percentiles[0.1] == latency["percentiles"]["p001"]
        assert point.percentiles[5.0] == latency["percentiles"]["p05"]
        assert point.samples == stated["request_totals"]["successful"]
        first = cells["time_to_first_token_ms"]["mean"]
        assert point.more["time_to_first_token_s"] == pytest.approx(first * 1e-3, rel=1e-12)


def test_spoilt_files_of_guidellm_are_read_or_refused():
    document = json.loads(sample("guidellm", "concurrent.json"))
    document["benchmarks"] = document["benchmarks"][:1]
    for name in set(document["benchmarks"][0]["metrics"]) - {
        "requests_per_second",
        "request_latency",
    }:
        document["benchmarks"][0]["metrics"].pop(name)
    assert 0 < survives(json.dumps(document)) < 200
    document["benchmarks"][0]["request_totals"]["successful"] = 0
    with pytest.raises(MeasurementError, match="x: benchmark 1: no request succeeded"):
        points_of(json.dumps(document), "x")


@pytest.mark.parametrize(
    ("name", "loop", "offered", "clients"),
    [("concurrency", "closed", None, 4), ("request_rate", "open", 20, None)],
)
def test_cells_of_genai_perf(name, loop, offered, clients):
    document = json.loads(sample("genai_perf", f"{name}.json"))
    point = only("genai_perf", f"{name}.json")
    latency = document["request_latency"]
    assert (point.tool, point.loop, point.samples) == ("genai-perf", loop, 60)
    assert (point.offered_rate, point.population) == (offered, clients)
    assert point.throughput == document["request_throughput"]["avg"]
    assert point.response_time == pytest.approx(latency["avg"] * 1e-3, rel=1e-12)
    for percent in (1, 50, 99):
        expected = latency[f"p{percent}"] * 1e-3
        assert point.percentiles[percent] == pytest.approx(expected, rel=1e-12)
    first = document["time_to_first_token"]["avg"] * 1e-3
    assert point.more["time_to_first_token_s"] == pytest.approx(first, rel=1e-12)
    assert point.more["output_tokens_per_s"] == document["output_token_throughput"]["avg"]


def test_the_csv_of_genai_perf_has_the_same_numbers_to_two_decimals():
    whole = only("genai_perf", "concurrency.json")
    point = only("genai_perf", "concurrency.csv")
    assert (point.throughput, point.samples, point.loop) == (37.88, 60, None)
    assert point.response_time == pytest.approx(whole.response_time, abs=5.1e-6)
    assert point.percentiles == pytest.approx(whole.percentiles, abs=5.1e-6)
    assert point.more == pytest.approx(whole.more, abs=5.1e-3)


def test_spoilt_files_of_genai_perf_are_refused():
    document = json.loads(sample("genai_perf", "concurrency.json"))
    refused(json.dumps(document)[:900], "run:1: this JSON is invalid or truncated")
    document["request_latency"]["unit"] = "furlongs"
    refused(
        json.dumps(document), "run: request_latency is in 'furlongs', which is not a unit of time"
    )
    document["request_throughput"]["avg"] = 0.0
    refused(json.dumps(document | {"request_latency": {"unit": "ms"}}), "run: no request succeeded")
    refused(sample("genai_perf", "concurrency.csv")[:300], "run:4: [0-9]+ cells under 13")
