"""What load generators print by default, and people paste."""

import pytest

from headway.errors import MeasurementError
from headway.models.measured.points import DRAIN, LONGEST, Loop
from headway.models.reading.loadtest import points_of, read_load_test
from headway.models.reading.recognise import recognised
from tests.support.tool_files import TOOLS

FOLDER = TOOLS / "printed"
KINDS = {
    "fio.txt": "fio (text)",
    "gatling.txt": "Gatling (console)",
    "jmeter-summariser.txt": "JMeter (summariser)",
    "jmeter-aggregate.csv": "JMeter (report table)",
    "k6.txt": "k6 (text)",
    "memtier.txt": "memtier_benchmark (text)",
    "vegeta.txt": "vegeta (text)",
    "r100.hdr": "vegeta (hdrplot)",
    "vllm.json": "vllm bench (JSON)",
    "vllm.txt": "vllm bench (text)",
    "autocannon.json": "autocannon",
}
MS = 1e-3


def text(name):
    return (FOLDER / name).read_text(encoding="utf-8")


def only(name):
    [point] = points_of(text(name), name)
    return point


def percentiles(point):
    return {percent: round(time / MS, 6) for percent, time in point.percentiles.items()}


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_its_kind_shows_in_its_content(name, kind):
    """Also with the ends of lines of another system, and behind what a shell prints before."""
    assert recognised(text(name))[0].kind == kind
    assert recognised(text(name).replace("\n", "\r\n"))[0].kind == kind
    if name.endswith(".txt"):
        assert recognised("$ cd runs\n+ ./run.sh 8\n" + text(name))[0].kind == kind


CUT = {
    "fio.txt": "no job of this fio run finished an I/O",
    "gatling.txt": "no line such as '> request count",
    "jmeter-aggregate.csv": "there is no complete row of totals",
    "memtier.txt": "no line such as 'Totals",
    "vegeta.txt": "no line such as 'Status Codes",
    "vllm.json": "invalid or truncated",
    "autocannon.json": "invalid or truncated",
}
"""What is missing of an output of which only the first lines, or half of a line, are left."""


@pytest.mark.parametrize(("name", "words"), CUT.items())
def test_a_cut_output_is_refused_in_one_line(name, words):
    lines = text(name).splitlines(keepends=True)
    ends = {
        "fio.txt": 5,
        "gatling.txt": 2,
        "jmeter-aggregate.csv": 0,
        "memtier.txt": 9,
        "vegeta.txt": 5,
    }
    cut = "".join(lines[: ends.get(name, 8)]) if len(lines) > 3 else text(name)[:400]
    if name == "jmeter-aggregate.csv":
        cut = "".join(lines)[:-30]
    with pytest.raises(MeasurementError, match=words) as refused:
        points_of(cut, name)
    assert "\n" not in str(refused.value)
    assert name in str(refused.value)


def test_lines_of_another_system_read_alike():
    for name in KINDS:
        assert points_of(text(name).replace("\n", "\r\n"), name) == points_of(text(name), name)


def test_fio():
    point = only("fio.txt")
    assert (point.tool, point.loop, point.population) == ("fio", Loop.CLOSED, 8)
    assert point.throughput == 59_900
    assert point.response_time == pytest.approx(133.2e-6)
    assert percentiles(point) == {
        1: 0.07, 5: 0.075, 10: 0.078, 50: 0.12, 90: 0.18, 95: 0.21, 99: 0.31, 99.9: 0.9,
    }  # fmt: skip
    assert point.inside == pytest.approx(8, rel=0.01)


def test_gatling():
    point = only("gatling.txt")
    assert (point.throughput, point.samples, point.errors, point.duration) == (8, 960, 0, 120)
    assert point.response_time == pytest.approx(0.03)
    assert percentiles(point) == {50: 37, 75: 39, 95: 41, 99: 60}


def test_gatling_since_its_columns():
    """Gatling 3.13 parts total, successes and failures by bars."""
    new = """
---- Global Information --------------------------------|---Total---|-----OK----|----KO----
> request count                                         |     1,000 |       990 |        10
> min response time (ms)                                |        20 |        20 |        35
> max response time (ms)                                |       900 |       710 |       900
> mean response time (ms)                               |        40 |        38 |       300
> response time std deviation (ms)                      |         9 |         9 |         -
> response time 50th percentile (ms)                    |        37 |        36 |       290
> response time 99th percentile (ms)                    |        90 |        80 |       880
> mean throughput (rps)                                 |        50 |      49.5 |       0.5
"""
    [point] = points_of(new, "new.txt")
    assert (point.throughput, point.samples, point.errors) == (49.5, 990, 10)
    assert point.response_time == pytest.approx(0.038)
    assert percentiles(point) == {50: 36, 99: 80}


def test_jmeter_on_the_console():
    point = only("jmeter-summariser.txt")
    assert (point.loop, point.population, point.throughput) == (Loop.CLOSED, 100, 125)
    assert (point.samples, point.duration, point.errors) == (10_000, 80, 0)
    assert point.response_time == pytest.approx(0.775)
    assert point.more[LONGEST] == pytest.approx(5.847)


def test_jmeter_as_a_table():
    """Of the totals; 6.25% of 20,000 samples failed."""
    point = only("jmeter-aggregate.csv")
    assert (point.samples, point.errors) == (20_000, 1250)
    assert point.throughput == pytest.approx(250.6 * (1 - 0.0625))
    assert point.response_time == pytest.approx(0.55)


def test_k6():
    point = only("k6.txt")
    assert (point.loop, point.population, point.throughput) == (Loop.CLOSED, 10, 40)
    assert (point.samples, point.errors, point.duration) == (1200, 0, 30)
    assert point.response_time == pytest.approx(0.25)
    assert point.think_time == pytest.approx(0.2 * MS)
    assert percentiles(point) == {50: 240, 90: 320.1, 95: 401.2}


def test_k6_that_failed_and_dropped():
    """Since version 1: counted failures, times of expected responses, dropped iterations."""
    new = """
    HTTP
    http_req_duration..............: avg=100ms min=1ms med=90ms max=2s p(90)=180ms p(99)=900ms
      { expected_response:true }...: avg=110ms min=50ms med=95ms max=2s p(90)=190ms p(99)=950ms
    http_req_failed................: 25.00% 300 out of 1200
    http_reqs......................: 1200   40.0/s

    EXECUTION
    dropped_iterations.............: 600    20.0/s
    iteration_duration.............: avg=110ms min=1ms med=100ms max=2.1s p(90)=190ms p(99)=910ms
    iterations.....................: 1200   40.0/s
    vus............................: 10     min=10      max=10
    vus_max........................: 10     min=10      max=10
"""
    [point] = points_of(new, "new.txt")
    assert (point.loop, point.offered_rate, point.throughput) == (Loop.OPEN, 60, 30)
    assert point.dropped == pytest.approx(1 / 3)
    assert (point.samples, point.errors) == (900, 300)
    assert point.response_time == pytest.approx(0.11)
    assert percentiles(point) == {50: 95, 90: 190, 99: 950}


def test_memtier_says_the_same_in_text_and_in_json():
    [json] = points_of(text("memtier.json"), "memtier.json")
    point = only("memtier.txt")
    assert (point.loop, point.population) == (Loop.CLOSED, json.population)
    assert point.throughput == pytest.approx(json.throughput)
    assert point.response_time == pytest.approx(json.response_time, rel=1e-3)
    assert percentiles(point) == percentiles(json)


def test_the_time_that_memtier_was_given_is_no_duration():
    """Its text has the 3 s that were asked for; runs of 2.0 to 4.0 s had the same line."""
    assert "3         Seconds" in text("memtier.txt")
    assert only("memtier.txt").duration is None


def test_memtier_before_its_percentiles():
    old = "Type        Ops/sec     Hits/sec   Misses/sec      Latency       KB/sec\n---\n"
    old += "Totals     66000.00     59990.00        10.00      3.02500      7037.40\n"
    [point] = points_of(old, "old.txt")
    assert (point.throughput, point.population) == (66_000, None)
    assert point.response_time == pytest.approx(3.025 * MS)


def test_vegeta():
    point = only("vegeta.txt")
    assert (point.loop, point.offered_rate, point.throughput) == (Loop.OPEN, 100.03, 93.4)
    assert (point.samples, point.errors, point.duration) == (3000, 195, 29.99)
    assert point.response_time == pytest.approx(46.31 * MS)
    assert point.more[DRAIN] == pytest.approx(64.1 * MS)
    assert percentiles(point) == {50: 41.04, 90: 80.1, 95: 97.8, 99: 128.54}


def test_vegeta_before_it_printed_a_throughput():
    """The throughput is successes over the time until the last answer: 2805 in 30.05 s."""
    old = text("vegeta.txt").replace(", throughput]", "]").replace(", 93.40\n", "\n")
    [point] = points_of(old.replace("30.05s", "1m0.1s"), "old.txt")
    assert point.throughput == pytest.approx(2805 / 60.1)


def test_percentiles_of_vegeta_for_plots():
    point = only("r100.hdr")
    assert (point.samples, point.throughput) == (400, None)
    assert point.percentiles[50.0] == pytest.approx(4.558663 * MS)
    assert max(point.percentiles) <= 99.75  # of 400 requests


def test_two_outputs_of_a_run_of_vegeta_are_one(tmp_path):
    for name in ("r100.hdr", "r100.json"):
        (tmp_path / name).write_text(text(name))
    [point] = read_load_test([str(tmp_path)]).points
    assert point.file.endswith("r100.json")
    assert point.offered_rate == pytest.approx(100.25, rel=0.01)
    assert len(point.percentiles) > 40


@pytest.mark.parametrize(
    ("name", "clients", "rate"), [("vllm.json", 64, 32.26), ("vllm.txt", 10, 6.21)]
)
def test_vllm(name, clients, rate):
    point = only(name)
    assert (point.loop, point.population, point.throughput) == (Loop.CLOSED, clients, rate)
    assert 0.95 < point.inside / clients < 1
    assert point.more["time_to_first_token_s"] == pytest.approx(
        {"vllm.json": 0.1201, "vllm.txt": 1.0731}[name]
    )


def test_vllm_at_a_rate_of_its_own():
    [point] = points_of(text("vllm.json").replace('"inf"', "40.0"), "rate.json")
    assert (point.loop, point.offered_rate, point.population) == (Loop.OPEN, 40, None)


def test_sglang_appends_a_line_a_run():
    line = text("vllm.json").strip().replace("{", '{"backend": "sglang", ', 1)
    line = line.replace("mean_e2el_ms", "mean_e2e_latency_ms")
    points = points_of(f"{line}\n{line.replace(': 64,', ': 8,')}\n", "runs.jsonl")
    assert [point.population for point in points] == [64, 8]
    assert [point.response_time for point in points] == [pytest.approx(1.942)] * 2


def test_autocannon():
    point = only("autocannon.json")
    assert (point.loop, point.population, point.samples) == (Loop.CLOSED, 4, 509)
    assert point.throughput == pytest.approx(509 / 3.01)
    assert point.response_time == pytest.approx(22.96 * MS)
    assert percentiles(point)[97.5] == 58


def test_oha():
    """Version 1 as text; 3 of 403 requests were cut off by the end of the test."""
    printed = """Summary:
  Success rate:\t100.00%
  Total:\t5.0021 secs
  Slowest:\t0.0420 secs
  Fastest:\t0.0011 secs
  Average:\t0.0098 secs
  Requests/sec:\t80.5661

Response time distribution:
  10.00% in 0.0021 secs
  50.00% in 0.0091 secs
  99.00% in 0.0310 secs

Status code distribution:
  [200] 390 responses
  [503] 10 responses

Error distribution:
  [3] aborted due to deadline
"""
    [point] = points_of(printed, "oha.txt")
    assert (point.loop, point.samples, point.errors) == (Loop.CLOSED, 400, 10)
    assert point.throughput == pytest.approx(80.5661 * 390 / 403)
    assert point.response_time == pytest.approx(9.8 * MS)
    assert percentiles(point) == {10: 2.1, 50: 9.1, 99: 31}


def test_a_table_in_markdown():
    points = points_of(
        "| Concurrency | latency_ms | rps |\n|---|:-:|--:|\n"
        "| 1 | 10 | 100 |\n| `8` | **20** | 400 |\n"
        "\nMeasured in May.\n",
        "table.md",
    )
    assert [(p.population, p.throughput, p.response_time) for p in points] == [
        (1, 100, 0.01),
        (8, 400, 0.02),
    ]
    with pytest.raises(MeasurementError, match=r"table.md:4: 2 cells, but the header names 3"):
        points_of("| a | latency_ms | rps |\n|---|---|---|\n\n| 1 | 2 |\n", "table.md")
