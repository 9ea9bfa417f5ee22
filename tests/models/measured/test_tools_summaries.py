"""Summaries that load generators print, of tools that have no other output or are pasted so."""

import pytest

from headway.errors import MeasurementError
from headway.models.measured.points import LAG, LONGEST, SHORTEST, Loop
from headway.models.reading.loadtest import points_of
from headway.models.reading.recognise import decoded, recognised
from tests.campaigns.spoilt_points import spoilt_file
from tests.support.cases import mostly_slow
from tests.support.tool_files import TOOLS, survives

FOLDER = TOOLS / "printed"
KINDS = {
    "h2load.txt": "h2load",
    "autocannon.txt": "autocannon (text)",
    "ghz.json": "ghz",
    "ghz.txt": "ghz (text)",
    "artillery.json": "artillery",
    "artillery.txt": "artillery (text)",
    "httperf.txt": "httperf",
    "loadtest.txt": "loadtest",
    "cassandra-stress.txt": "cassandra-stress",
    "kafka-producer.txt": "kafka-producer-perf-test",
    "nats-bench.txt": "nats bench",
    "scylla-bench.txt": "scylla-bench",
    "techempower.json": "TechEmpower",
    "wrk-parts.txt": "wrk (part)",
    "vegeta.csv": "vegeta (CSV)",
    "vegeta.jsonl": "vegeta (JSON lines)",
    "pgbench_log.9968": "pgbench (log)",
    "pgbench_log.9976": "pgbench (log)",
}
MS = 1e-3


def text(name):
    return (FOLDER / name).read_text(encoding="utf-8")


def only(printed, name="run.txt"):
    [point] = points_of(printed, name)
    return point


def percentiles(point):
    return {percent: round(time / MS, 6) for percent, time in point.percentiles.items()}


def refused(printed, words):
    """Assert that a text is refused in one line with its file."""
    with pytest.raises(MeasurementError, match=words) as result:
        points_of(printed, "run.txt")
    assert "\n" not in str(result.value)
    assert str(result.value).startswith("run.txt")


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_its_kind_shows_in_its_content(name, kind):
    """Also with the ends of lines of another system, and behind what a shell prints before."""
    printed = text(name)
    assert recognised(printed)[0].kind == kind
    assert points_of(printed.replace("\n", "\r\n"), name) == points_of(printed, name)
    if name.endswith(".txt"):
        assert recognised("$ cd runs\n+ ./run.sh 8\n" + printed)[0].kind == kind


@pytest.mark.parametrize(
    "name", mostly_slow(KINDS, {"h2load.txt", "vegeta.jsonl", "techempower.json"})
)
def test_a_spoilt_number_is_found_or_refused(name):
    assert [str(each) for each in spoilt_file(FOLDER / name, name, 40) if not each.outcome] == []


@pytest.mark.parametrize("name", mostly_slow(KINDS, {"h2load.txt", "vegeta.csv"}))
def test_a_spoilt_text_is_read_or_refused_in_one_line(name):
    assert 0 < survives(text(name), 60) < 60


CUT = {
    "h2load.txt": ("requests:", "no line such as 'requests: 900 total"),
    "autocannon.txt": ("8k requests", "no line such as '9k requests in 10.02s"),
    "artillery.txt": (
        "http.requests: ................................................................. 12",
        "there is no http.requests",
    ),
    "httperf.txt": ("Errors: fd", "no line such as 'Errors: fd-unavail 0"),
    "loadtest.txt": ("88 ms", "the time has no unit of ms"),
    "cassandra-stress.txt": ("Total operation", "no line such as 'Total operation time'"),
    "kafka-producer.txt": (" 46 ms", "this line of records ends within its percentiles"),
    "scylla-bench.txt": ("Operations/s", "no line such as 'Operations/s"),
    "techempower.json": ('"rawData"', "this JSON is invalid or truncated"),
    "ghz.txt": ("Status code", "no line such as 'Status code distribution:'"),
}
"""Where an output is cut, and what is missed of it then."""


@pytest.mark.parametrize(("name", "cut"), CUT.items())
def test_a_cut_output_is_refused_in_one_line(name, cut):
    mark, words = cut
    refused(text(name).partition(mark)[0], words)


def test_h2load():
    """60 of 6000 answers had an error status."""
    point = only(text("h2load.txt"))
    assert (point.loop, point.population, point.samples) == (Loop.CLOSED, 8, 6000)
    assert (point.errors, point.duration) == (60, 15.11)
    assert point.throughput == pytest.approx(397.09 * 0.99)
    assert point.response_time == pytest.approx(20.07 * MS)
    assert point.more == pytest.approx({SHORTEST: 6.12 * MS, LONGEST: 101.4 * MS})


def test_h2load_with_several_streams_or_without_its_first_lines():
    """It prints clients and no streams: 397/s of 160 ms are 64 requests outstanding."""
    printed = text("h2load.txt").replace("20.07ms", "90.07ms")
    assert only(printed).population is None
    assert "its 8 clients had several requests outstanding each" in only(printed).notes[0]
    assert only(text("h2load.txt").partition("done\n\n")[2]).population is None


def test_h2load_without_answers():
    lost = "requests: 900 total, 900 started, 900 done, 0 succeeded, 900 failed, 900 errored"
    printed = f"finished in 1.20s, 0.00 req/s, 0B/s\n{lost}, 0 timeout\n"
    point = only(printed)
    assert (point.throughput, point.response_time, point.errors) == (None, None, 900)
    refused(text("h2load.txt").partition("finished")[0], "there is no line 'finished in")
    refused(printed.replace("900", "0"), "no request was answered")


def test_h2load_with_percentiles():
    printed = text("h2load.txt").replace(
        "min         max         mean ", "min         max  median    p95    p99    mean "
    )
    printed = printed.replace("101.40ms ", "101.40ms 19.1ms 31.2ms 48.1ms ")
    assert percentiles(only(printed)) == {50: 19.1, 95: 31.2, 99: 48.1}
    refused(printed.replace("48.1ms ", ""), "8 cells under 9 titles|7 cells under 8 titles")


def test_autocannon_in_boxes():
    """7920 of 8082 answers in 20 s were good; 3 requests had none."""
    point = only(text("autocannon.txt"))
    assert (point.loop, point.population, point.samples) == (Loop.CLOSED, 16, 8082)
    assert (point.errors, point.duration) == (165, 20.03)
    assert point.throughput == pytest.approx(396)
    assert point.response_time == pytest.approx(39.21 * MS)
    assert percentiles(point) == {50: 36, 97.5: 81, 99: 104}
    assert point.more == pytest.approx({LONGEST: 212 * MS})


def test_autocannon_rounds_its_number_of_requests():
    """Its own rate over its own samples says how many; a count that contradicts it is refused."""
    plain = text("autocannon.txt").replace("7920 2xx responses, 162 non 2xx responses\n", "")
    plain = plain.replace("3 errors (3 timeouts)\n", "")
    assert (only(plain).samples, only(plain).errors) == (8082, 0)
    refused(plain.replace("8k requests", "80k requests"), "80k requests contradict 8082 answers")
    refused(plain.replace("404.1 ", "many"), "'many' is not a number")


def test_autocannon_with_latency_and_without_its_first_lines():
    table = "│ Percentile │ Latency (ms) │\n│ 2.5        │ 21           │\n│ 99.99 │ 199 │\n"
    printed = text("autocannon.txt").partition("factor\n")[2] + table
    assert only(printed).population is None
    assert percentiles(only(printed)) == {50: 36, 97.5: 81, 99: 104, 99.99: 199}


def test_autocannon_with_its_statuses_or_a_number_of_requests():
    """The table of statuses counts exactly; times of a number of requests end with a second."""
    plain = text("autocannon.txt").replace("7920 2xx responses, 162 non 2xx responses\n", "")
    table = "│ Code │ Count │\n│ 200  │ 8079  │\n"
    point = only(plain + table)
    assert (point.samples, percentiles(point)) == (8079, {50: 36, 97.5: 81, 99: 104})
    asked = only(plain.replace("Running 20s test", "Running 8085 requests test"))
    assert any("so its rate is too low" in note for note in asked.notes)


def test_autocannon_before_its_boxes():
    printed = (
        "Running 10s test @ http://localhost:3000\n20 connections\n\n"
        "Stat         Avg     Stdev  Max\nLatency (ms) 51.7    8.15   231.2\n"
        "Req/Sec      386.6   12.36  409\nBytes/Sec    43.3 kB 1.2 kB 45.8 kB\n\n"
        "4k requests in 10s, 433 kB read\n"
    )
    point = only(printed)
    assert (recognised(printed)[0].kind, point.population) == ("autocannon (text)", 20)
    assert (point.throughput, point.samples) == (386.6, 3866)
    assert point.response_time == pytest.approx(51.7 * MS)


def test_autocannon_without_answers():
    """What it measured of errors is no time."""
    printed = text("autocannon.txt").replace("404.1 ", "0     ").replace("7920 2xx", "0 2xx")
    printed = printed.replace(", 162 non", ", 0 non").replace("3 errors", "8k errors")
    point = only(printed)
    assert (point.throughput, point.response_time, point.errors) == (None, None, 8000)


def test_ghz():
    point = only(text("ghz.txt"))
    assert (point.tool, point.loop, point.samples, point.errors) == ("ghz", Loop.CLOSED, 4000, 0)
    assert (point.throughput, point.duration) == (399.2, 10.02)
    assert point.response_time == pytest.approx(12.47 * MS)
    assert percentiles(point) == {
        10: 6.4, 25: 8.9, 50: 12.1, 75: 15.7, 90: 18.2, 95: 19.6, 99: 33.9
    }  # fmt: skip
    assert point.more == pytest.approx({SHORTEST: 2.31 * MS, LONGEST: 61.2 * MS})


def test_ghz_of_calls_that_failed():
    """Its mean is of all calls, its other times of those that succeeded."""
    failing = "[OK]         3000 responses\n  [Unavailable]   1000 responses"
    printed = text("ghz.txt").replace("[OK]   4000 responses", failing)
    point = only(printed.replace("Summary:\n", "Summary:\n  Name:  canary\n"))
    assert (point.name, point.errors, point.with_failures) == ("canary", 1000, True)
    assert (point.throughput, point.more) == (399.2 * 0.75, {})
    assert "1000 of 4000 calls failed: the mean includes them" in point.notes[1]
    refused(printed.replace("1000 resp", "999 resp"), "its statuses are of 3999 calls, not 4000")


@pytest.mark.parametrize("name", ["vegeta.csv", "vegeta.jsonl"])
def test_vegeta_request_by_request(name):
    """20/s for 4 s: one answer has an error status, one request had none."""
    point = only(text(name))
    assert (point.tool, point.loop, point.samples, point.errors) == ("vegeta", Loop.OPEN, 78, 2)
    assert point.offered_rate == pytest.approx(20, rel=1e-3)
    assert point.duration == pytest.approx(79 * 0.05, rel=1e-3)
    rows = [row.split(",") for row in text("vegeta.csv").splitlines()]
    good = [float(row[2]) for row in rows if row[1] == "200"]
    assert point.response_time == pytest.approx(sum(good) / len(good) * 1e-9, rel=1e-9)
    sent = max(int(row[0]) for row in rows)
    done = sum(row[1] == "200" and int(row[0]) + int(row[2]) <= sent for row in rows)
    assert point.throughput == pytest.approx(done / point.duration, rel=1e-9)


def test_vegeta_rows_that_are_cut_or_no_numbers():
    printed = text("vegeta.csv")
    refused(printed[:-30], "run.txt:80: [5-9] cells, where rows have 12")
    refused(printed.replace(",200,", ",2e2,", 1), "'2e2' is neither whole nanoseconds nor a stat")
    refused(printed.replace(",0,6,", ',0,6,"', 1), "cannot be read .*; run vegeta attack with -max")
    refused(text("vegeta.jsonl").replace('"code":200', '"code":2.5', 1), "run.txt:1: no JSON with")
    refused(text("vegeta.jsonl").replace('"code":200', '"code":2000', 1), "2000 is not a status")


def test_vegeta_in_its_own_encoding_names_what_writes_text():
    sent = b"\xff\x96\x7f\x03\x01\x06Attack\x01\x0c\x00\x01\x03Seq\x01\x06\x00\x01\x04Code\x01"
    with pytest.raises(MeasurementError, match=r"run.bin: is vegeta's results .* vegeta encode"):
        decoded(sent, "run.bin")


def test_pgbench_transaction_by_transaction():
    """40 transactions of each of 3 clients; times are in microseconds."""
    point = only(text("pgbench_log.9968"))
    rows = [row.split() for row in text("pgbench_log.9968").splitlines()]
    assert (point.tool, point.loop, point.population) == ("pgbench", Loop.CLOSED, 3)
    assert (point.samples, point.errors, point.offered_rate) == (120, 0, None)
    assert point.response_time == pytest.approx(sum(int(row[2]) for row in rows) / 120e6)


def test_pgbench_at_a_rate():
    """pgbench printed a mean of 0.998 ms, of which a lag of 0.090 ms, and 60.96/s."""
    point = only(text("pgbench_log.9976"))
    assert (point.loop, point.population, point.samples) == (Loop.OPEN, 3, 182)
    assert point.response_time == pytest.approx(0.998 * MS, rel=1e-3)
    assert point.more[LAG] == pytest.approx(0.090 * MS, rel=5e-3)
    assert point.offered_rate == pytest.approx(60.96, rel=5e-3)


def test_pgbench_that_skipped_failed_or_tried_again():
    rows = text("pgbench_log.9976").splitlines()
    last = max(int(row.split()[1]) for row in rows if row[0] == "2")
    late = [f"2 {last + 1 + k} skipped {' '.join(rows[-1].split()[3:6])} 0" for k in (0, 1)]
    point = only("\n".join([*rows, *late]))
    assert (point.samples, point.dropped) == (182, pytest.approx(2 / 184))
    rows = text("pgbench_log.9968").splitlines()
    rows[7] = rows[7].replace(f" {rows[7].split()[2]} ", " deadlock ")
    assert (only("\n".join(rows)).samples, only("\n".join(rows)).errors) == (119, 1)
    tried = only("\n".join(f"{row} {k % 9 == 0:d}" for k, row in enumerate(rows)))
    assert (tried.loop, LAG in tried.more) == (Loop.CLOSED, False)


def test_a_log_of_pgbench_that_is_a_sample_or_damaged():
    rows = text("pgbench_log.9968").splitlines()
    refused("\n".join(rows[::2]), "of client . follows .*; log a whole run")
    refused("\n".join([*rows, "0 41 91 0 17"]), "run.txt:121: 5 cells, where rows have 6")
    refused("\n".join([*rows, "0 41 9.1 0 1795742491 303182"]), "'9.1' is not a whole number")
    long = "0 41 91000000 0 1795742491 403182"
    refused("\n".join([*rows, long]), "client 0 starts before it ended its last transaction")
    refused("1795742491 5601 1542744 483552416 61 2573\n", "without --aggregate-interval")


def test_artillery():
    """1160 of 1200 requests had a good answer in 62 s; times are of these."""
    point = only(text("artillery.txt"))
    assert (point.tool, point.loop, point.duration) == ("artillery", Loop.OPEN, 62)
    assert (point.samples, point.errors, point.with_failures) == (1160, 40, False)
    assert point.offered_rate == pytest.approx(1200 / 62)
    assert point.throughput == pytest.approx(1160 / 62)
    assert point.response_time == pytest.approx(23.4 * MS)
    assert percentiles(point) == {50: 20.5, 95: 45.2, 99: 71.5}
    assert point.more == pytest.approx({SHORTEST: 9 * MS, LONGEST: 117 * MS})


def test_artillery_without_its_total_time():
    """Only the rate of its periods is left; a total time in other words is refused."""
    total = "All VUs finished. Total time: 1 minute, 2 seconds\n"
    point = only(text("artillery.txt").replace(total, ""))
    assert (point.offered_rate, point.duration) == (20, None)
    assert point.throughput == pytest.approx(20 * 1160 / 1200)
    refused(text("artillery.txt").replace("1 minute,", "1:02 min,"), "run.txt:19: the total")


def test_artillery_before_version_2():
    """It prints no mean."""
    point = only(
        "All virtual users finished\nSummary report @ 18:15:06(+0200) 2020-04-01\n"
        "  Scenarios launched:  300\n  Scenarios completed: 298\n  Requests completed:  600\n"
        "  Mean response/sec: 9.8\n  Response time (msec):\n    min: 41\n    max: 233\n"
        "    median: 51\n    p95: 80\n    p99: 150\n  Scenario counts:\n    0: 300 (100%)\n"
        "  Codes:\n    200: 588\n    404: 12\n  Errors:\n    ECONNRESET: 2\n"
    )
    assert (point.samples, point.errors, point.response_time) == (600, 14, None)
    assert point.throughput == pytest.approx(9.8 * 588 / 600)
    assert percentiles(point) == {50: 51, 95: 80, 99: 150}


def test_httperf():
    """60 connections/s of two calls: 18 of 3588 replies were in error, 6 calls timed out."""
    point = only(text("httperf.txt"))
    assert (point.loop, point.offered_rate, point.duration) == (Loop.OPEN, 120, 30.041)
    assert (point.samples, point.errors, point.dropped) == (3588, 24, None)
    assert point.throughput == pytest.approx(3570 / 30.041)
    assert point.response_time == pytest.approx(24.6 * MS)
    assert "each connection sends 2 requests, one after the other's reply" in point.notes
    assert only(text("httperf.txt").replace("--", "\u2013")).offered_rate == 120


def test_httperf_without_a_rate_or_without_its_command_line():
    """One connection follows the other; without the command line that is not known."""
    printed = text("httperf.txt").replace("--rate=60 ", "").replace("<=9", "<=1")
    assert (only(printed).loop, only(printed).population) == (Loop.CLOSED, 1)
    assert only(printed.replace("<=1", "<=2")).population == 2
    rest = printed.partition("\n")[2].replace("httperf:", "")
    assert (only(rest).loop, only(rest).population) == (None, None)
    late = rest.replace("<=1", "<=9")
    assert (only(late).loop, only(late).offered_rate) == (Loop.OPEN, None)


def test_httperf_that_ran_out_of_descriptors():
    printed = text("httperf.txt").replace("total 6 client", "total 206 client")
    point = only(printed.replace("fd-unavail 0", "fd-unavail 200"))
    assert (point.errors, point.dropped) == (24, 0.1)
    refused(printed, "206 errors, but its kinds are 6")
    refused(text("httperf.txt").replace("30.041 s", "0.000 s"), "the test took no time")


def test_httperf_of_sessions():
    point = only(text("httperf.txt").replace("--num-conns=1800", "--wsess=900,4,1.0"))
    assert point.offered_rate == pytest.approx(3594 / 30.041)


def test_loadtest():
    point = only(text("loadtest.txt"))
    assert (point.loop, point.population, point.duration) == (Loop.CLOSED, 8, 15.004817331)
    assert (point.samples, point.errors) == (3660, 12)
    assert point.throughput == pytest.approx(3648 / 15.004817331)
    assert point.response_time == pytest.approx(32.6 * MS)
    assert percentiles(point) == {50: 30, 90: 48, 95: 57, 99: 88}
    assert point.more == pytest.approx({LONGEST: 173 * MS})


def test_loadtest_at_a_rate_and_in_the_words_of_version_8():
    """It sends at its rate whatever comes back: its clients are no population."""
    lines = [line.partition("INFO ")[2] for line in text("loadtest.txt").splitlines()]
    rate = "Target rps:          250\nAgent:"
    new = "\n".join(lines).replace("Requests per second:", "Effective rps:       ")
    new = new.replace("Agent:", rate).replace("Concurrency level:", "Concurrent clients: ")
    point = only(new)
    assert (point.loop, point.offered_rate, point.population) == (Loop.OPEN, 250, None)
    assert only(new.replace(rate, "Agent:")).population == 8
    refused(new.replace("       244", "       294"), "a rate of 294/s is not that of 3660 requests")
    refused(new.replace("errors:        12", "errors:        99999"), "99,999 errors of 3660")
    refused(new.replace("99%", "990%"), "a percentage exceeds 100")
