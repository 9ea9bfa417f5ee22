"""What makes a load test untrustworthy is found, with its number, and nothing else is."""

import json

import numpy as np
import pytest

from headway.models import data_path
from headway.models.analysis.audit import KINDS, audit
from headway.models.auditing.tails import percentile_interval
from headway.models.measured.points import Loop, Point
from headway.models.reading.loadtest import LoadTest, read_load_test
from tests.support.command import headway
from tests.support.load_tests import curve

INFERENCE = data_path("load_tests/inference")
CURVES = sorted(data_path("sfs_results").glob("curves/*.csv"))


def findings_of(*points):
    return {each.kind: each for each in audit(LoadTest(points)).findings}


def open_points(loads, **more):
    """An open test at 80 /s: requests wait outside once 40 are in."""
    return [
        Point("load", Loop.OPEN, rate, throughput=min(rate, 80.0), response_time=0.5, **more)
        for rate in loads
    ]


@pytest.mark.slow
def test_hidden_limits_are_found_and_no_others():
    """60 curves, half with a limit: 90% of those that reach it within 10%, 5% false alarms."""
    random = np.random.default_rng(2026)
    right, reached, false, free = 0, 0, 0, 0
    for number in range(60):
        test, limit, filled = curve(random, limited=number % 2 == 0)
        hidden = [f for f in audit(test).findings if f.kind == "hidden_closed_loop"]
        if not limit:
            free, false = free + 1, false + bool(hidden)
        elif filled:
            reached += 1
            right += bool(hidden) and abs(hidden[0].value / limit - 1) <= 0.1
    assert reached >= 12
    assert right >= 0.9 * reached
    assert false <= 0.05 * free


@pytest.mark.parametrize("server", ["vllm", "vllm_eagle", "vllm_quantization"])
def test_the_limit_of_an_inference_test_is_found(server):
    """44 workers of 10 requests at most: 440, though rates were offered (config.yaml there)."""
    text = audit(read_load_test([str(INFERENCE / server)])).findings[0]
    assert (text.kind, text.severity) == ("hidden_closed_loop", "error")
    assert text.value == pytest.approx(440, rel=0.1)
    assert text.ci95[0] < 440 < text.ci95[1]


@pytest.mark.parametrize("path", CURVES, ids=lambda path: path.stem)
def test_published_curves_are_not_called_closed(path):
    kinds = {each.kind for each in audit(read_load_test([str(path)])).findings}
    assert not kinds & {"hidden_closed_loop", "coordinated_omission", "errors"}


def test_there_are_24_published_curves():
    assert len(CURVES) == 24


def test_a_limit_is_told_with_its_interval_and_its_points():
    limit = findings_of(*open_points([40.0, 60.0, 100.0, 150.0]))["hidden_closed_loop"]
    assert limit.value == 40.0
    assert limit.ci95[0] < 40 < limit.ci95[1]
    assert limit.points == (2, 3)


def test_a_queue_that_grows_is_no_limit():
    """Twice the excess, twice as many inside: nobody holds requests back."""
    grows = [
        Point("load", Loop.OPEN, rate, throughput=80.0, response_time=(rate - 80) * 10 / 2 / 80)
        for rate in (100.0, 120.0, 160.0)
    ]
    kinds = findings_of(*grows)
    assert "fell_behind" in kinds
    assert "hidden_closed_loop" not in kinds


def test_a_test_that_filled_up_slowly_is_set_right():
    """N (1 - N / (2 D T)) is inside in the mean while N of them gather at the excess D."""
    limit, excess, length = 100.0, 10.0, 40.0
    inside = limit * (1 - limit / (2 * excess * length))
    one = Point("load", Loop.OPEN, 90.0, throughput=80.0, response_time=inside / 80, duration=40.0)
    two = Point("load", Loop.OPEN, 180.0, throughput=80.0, response_time=95 / 80, duration=40.0)
    hidden_closed_loop = findings_of(one, two)["hidden_closed_loop"]
    assert hidden_closed_loop.value == pytest.approx(100, rel=0.02)


def failing(rows, length=4.0, **more):
    """Points of a test in which requests fail: rate, successes and failures [1/s], mean time."""
    return [
        Point("vegeta", Loop.OPEN, rate, throughput=done, response_time=mean, errors=length * bad,
              samples=length * rate, duration=length, **more)
        for rate, done, bad, mean in rows
    ]  # fmt: skip


FULL = [(420, 418, 0, 0.018), (480, 441, 30, 0.056), (600, 447, 144, 0.064), (800, 437, 352, 0.05)]
"""A server that answers 503 when it holds 50 requests, under vegeta."""
TIMED_OUT = [(100, 100, 0, 0.008), (200, 196, 0, 0.045), (300, 66, 230, 0.177), (400, 0, 400, 0.2)]
"""Clients that give up after 200 ms, under vegeta."""


@pytest.mark.parametrize("rows", [FULL, TIMED_OUT], ids=["answers 503", "times out"])
@pytest.mark.parametrize("with_failures", [True, False])
def test_requests_that_fail_are_held_back_by_nobody(rows, with_failures):
    kinds = findings_of(*failing(rows, with_failures=with_failures))
    assert not {"hidden_closed_loop", "fell_behind", "throughput_falls"} & set(kinds)
    assert "errors" in kinds


def test_a_limit_is_found_although_some_requests_fail():
    """At most 40 are outstanding, and each tenth of them fails: X counts what finished."""
    rows = [(rate, min(rate, 80.0) * 0.9, min(rate, 80.0) * 0.1, 0.5) for rate in (60, 100, 150)]
    limit = findings_of(*failing(rows, 60.0, with_failures=True))["hidden_closed_loop"]
    assert limit.value == pytest.approx(40, rel=0.05)


@pytest.mark.parametrize(("response", "kind"), [(0.1, None), (0.08, "littles_law")])
def test_a_closed_test_holds_littles_law(response, kind):
    point = Point("wrk", Loop.CLOSED, population=10, throughput=100.0, response_time=response)
    assert ("littles_law" in findings_of(point)) == (kind is not None)


def test_parts_of_a_mix_hold_littles_law_together():
    reads = Point(
        "fio", Loop.CLOSED, population=8, throughput=600.0, response_time=0.01, name="read"
    )
    writes = Point(
        "fio", Loop.CLOSED, population=8, throughput=200.0, response_time=0.01, name="write"
    )
    assert "littles_law" not in findings_of(reads, writes)
    assert "littles_law" in findings_of(reads)


def test_errors_matter_by_their_share():
    few = Point("ab", errors=20, samples=1000)
    many = Point("ab", errors=500, samples=1000)
    assert findings_of(few)["errors"].severity == "warning"
    assert findings_of(many)["errors"].severity == "error"
    assert findings_of(many)["errors"].value == 0.5
    assert "errors" not in findings_of(Point("ab", errors=1, samples=1000))


def test_percentiles_need_samples():
    thin = Point("hey", samples=500, percentiles={50.0: 0.1, 90.0: 0.2, 99.9: 0.5})
    too_few_samples = findings_of(thin)["too_few_samples"]
    assert "p99.9" in too_few_samples.text
    assert "p90" not in too_few_samples.text
    assert "10000" in too_few_samples.text.replace(",", "")


def test_thin_percentiles_are_said_once_for_the_lowest():
    """A warning up to p99, which people quote; a note above, which tools print of any run."""
    sweep = [
        Point("wrk2", Loop.OPEN, 9.0 * k, samples=250.0 * k,
              percentiles={50.0: 0.1, 99.0: 0.2, 99.9: 0.5, 99.99: 0.6})
        for k in (1, 2, 8)
    ]  # fmt: skip
    (thin,) = [f for f in audit(LoadTest(tuple(sweep))).findings if f.kind == "too_few_samples"]
    assert "of 250 requests fewer than 10 lie beyond p99 and higher percentiles" in thin.text
    assert (thin.severity, thin.points) == ("warning", (0, 1, 2))
    assert findings_of(sweep[2])["too_few_samples"].severity == "note"


@pytest.mark.parametrize(("samples", "expected"), [(100.0, False), (1e6, True)])
def test_think_times_scatter_by_their_number(samples, expected):
    """Clients who think for 9 of 10 parts of their time: 8% more is chance for 100 requests."""
    point = Point("k6", Loop.CLOSED, None, 10, 0.9, 10.8, 0.1, samples=samples)
    assert ("littles_law" in findings_of(point)) == expected


def test_percentiles_of_a_closed_loop_are_marked():
    assert "coordinated_omission" in findings_of(Point("wrk", Loop.CLOSED, percentiles={99.0: 0.5}))
    assert "coordinated_omission" not in findings_of(
        Point("k6", Loop.OPEN, percentiles={99.0: 0.5})
    )


def test_short_runs_falls_drifts_and_mixtures():
    short = Point("k6", duration=5.0, response_time=1.0)
    assert "short_run" in findings_of(short)
    rising = [
        Point("wrk", population=n, throughput=x) for n, x in ((1, 50.0), (2, 90.0), (4, 60.0))
    ]
    assert findings_of(*rising)["throughput_falls"].value == pytest.approx(1 / 3)
    twice = [Point("k6", offered_rate=10.0, response_time=t) for t in (0.10, 0.13)]
    assert findings_of(*twice)["drift"].value == pytest.approx(0.3)
    assert "mixed" in findings_of(Point("k6", Loop.OPEN), Point("wrk", Loop.CLOSED))


def test_a_mean_made_of_the_rate_proves_nothing():
    """ab and old pgbench divide: X R is the population whatever happened."""
    made = Point("ab", Loop.CLOSED, None, 8, None, 100.0, 0.05, mean_of_rate=True)
    assert findings_of(made)["mean_of_rate"].severity == "note"
    assert "littles_law" not in findings_of(made)


def test_clients_that_keep_a_pace_need_not_hold_littles_law():
    result = Point("YCSB", Loop.CLOSED, 100.0, 8, None, 100.0, 0.01)
    assert "littles_law" not in findings_of(result)


def test_clients_that_may_think_are_a_note():
    """Nobody says whether they do: a warning only where the think time is known."""
    result = Point("locust", Loop.CLOSED, None, 8, None, 100.0, 0.01)
    known = Point("k6", Loop.CLOSED, None, 8, 0.01, 100.0, 0.01)
    assert findings_of(result)["littles_law"].severity == "note"
    assert findings_of(known)["littles_law"].severity == "warning"


def test_requests_that_failed_take_their_clients_time():
    failed = Point("k6", Loop.CLOSED, None, 8, 0.0, 90.0, 0.08, errors=100, samples=1000)
    assert "littles_law" not in findings_of(failed)


def test_requests_that_were_never_sent_are_an_error():
    dropped = Point("k6", Loop.OPEN, 100.0, throughput=88.0, response_time=0.1, dropped=0.12)
    ran_out_of_clients = findings_of(dropped)["ran_out_of_clients"]
    assert (ran_out_of_clients.severity, ran_out_of_clients.value) == ("error", 0.12)
    assert "12.0%" in ran_out_of_clients.text


@pytest.mark.parametrize(("late", "expected"), [(0.001, False), (0.05, True)])
def test_requests_sent_late_matter_by_their_response_time(late, expected):
    point = Point("inference-perf", Loop.OPEN, 10.0, response_time=0.1, lateness=late)
    assert ("sent_late" in findings_of(point)) == expected


def test_a_monitor_among_the_files_tells_of_a_full_generator():
    run = Point("wrk", Loop.CLOSED, population=8, throughput=100.0, response_time=0.08)
    full = Point("mpstat", utilisation={"cpu": 0.97}, file="mpstat.txt")
    own = Point("pidstat", utilisation={"cpu": 1.99}, name="wrk 4711", more={"cores": 2.0})
    assert findings_of(run, full)["generator_saturated"].severity == "warning"
    assert findings_of(run, own)["generator_saturated"].severity == "error"
    assert findings_of(full) == {}
    quiet = Point("mpstat", utilisation={"cpu": 0.5})
    other = Point("pidstat", utilisation={"cpu": 0.99}, name="nginx 1")
    assert findings_of(run, quiet, other) == {}


def test_intervals_of_percentiles_are_those_of_order_statistics():
    """Of 2000 exponential times, 400 times over: the interval holds the true p99 in 95%."""
    random = np.random.default_rng(11)
    inside = 0
    for _ in range(400):
        times = np.sort(random.exponential(1.0, 2000))
        known = {q: float(np.quantile(times, q / 100)) for q in (90, 95, 97, 98, 98.5, 99.5, 99.9)}
        known[99.0] = float(np.quantile(times, 0.99))
        low, high = percentile_interval(known, 99.0, 2000)
        inside += low <= np.log(100) <= high
    assert 0.93 <= inside / 400 <= 0.98


def test_a_wide_percentile_is_said_with_its_interval():
    known = {50.0: 0.01, 90.0: 0.05, 95.0: 0.10, 99.0: 0.40}
    text = findings_of(Point("hey", samples=400, percentiles=known))["percentile_interval"]
    assert text.value == 0.10
    assert text.ci95[0] < 0.10 < text.ci95[1]
    assert "percentile_interval" not in findings_of(Point("hey", samples=4e6, percentiles=known))
    assert percentile_interval({99.0: 0.4}, 99.0, 400) is None
    low, high = percentile_interval(known, 95.0, 1e270)  # a count that a slip of the keys makes
    assert low <= known[95.0] * 1.000001
    assert high < low * 1.000001


def test_repeats_tell_the_error_that_no_model_takes_away():
    """Two base runs of a database, 12.6% apart; chi-squared ends of their one degree."""
    runs = [Point("pgbench", population=8, response_time=t, samples=1e6) for t in (1.0, 1.126)]
    result = findings_of(*runs)
    assert result["drift"].value == pytest.approx(0.126)
    error = np.log(1.126) / np.sqrt(2)
    assert result["pure_error"].value == pytest.approx(error)
    assert result["pure_error"].ci95 == pytest.approx((error / 2.2414, error / 0.031338), rel=1e-4)


def test_repeats_of_few_requests_differ_by_chance():
    few = [Point("k6", Loop.OPEN, 9.0, None, None, 9.0, t, samples=900) for t in (1.0, 1.3)]
    assert "drift" not in findings_of(*few)


def test_operations_are_looked_at_apart():
    mix = [
        Point("ior", population=n, throughput=x, name=name)
        for n in (1, 2, 4)
        for name, x in (("write", 900.0 * n), ("read", 90.0 * n))
    ]
    assert "throughput_falls" not in findings_of(*mix)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_of_finding_says_what_it_means_and_what_to_do(kind):
    assert kind.means
    assert kind.remedy
    listed = json.loads(headway("kinds", "--json").out)["findings"]
    assert [one["means"] for one in listed if one["kind"] == kind.name] == [kind.means]


def test_nothing_is_said_of_a_sound_test():
    for rate in (20.0, 40.0, 60.0):
        counted = {"duration": 600.0, "samples": 600 * rate, "percentiles": {99.0: 1.0}}
        assert findings_of(*open_points([rate], **counted)) == {}


def test_the_command_says_that_nothing_was_found(tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text("offered_ops_s,throughput_ops_s,response_ms\n40,40,12\n50,50,13\n")
    assert "no problems found in this test" in headway("audit", file).out
    document = json.loads(headway("audit", file, "--json").out)
    roles = [each["role"] for each in document.pop("columns")]
    assert document == {"findings": [], "as_open": []}
    assert roles == ["offered rate", "throughput", "response time"]


def test_the_command_prints_findings(tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text(
        "offered_ops_s,throughput_ops_s,response_ms\n40,40,500\n100,80,500\n160,80,500\n"
    )
    table = headway("audit", file).out
    assert "hidden closed loop" in table
    document = json.loads(headway("audit", file, "--json").out)
    first = document["findings"][0]
    assert (first["kind"], first["severity"], first["value"]) == ("hidden_closed_loop", "error", 40)
    assert set(first) == {"kind", "severity", "text", "value", "ci95", "points"}
    assert "hidden_closed_loop" in headway("audit", file, "--csv").out


@pytest.mark.parametrize("duration", [1e5, 1e18, 1e308])
def test_a_limit_is_found_in_tests_of_any_length(duration):
    """X R = 40 past the limit; what a test of finite length holds less goes to nothing."""
    stages = (
        Point("t", Loop.OPEN, offered_rate=rate, throughput=100.0, response_time=0.4,
              duration=duration)
        for rate in (150.0, 200.0)
    )  # fmt: skip
    findings = audit(LoadTest(tuple(stages))).findings
    (limit,) = [each for each in findings if each.kind == "hidden_closed_loop"]
    assert limit.value == pytest.approx(40.0, rel=1e-4)


def test_a_percentile_of_no_time_has_no_interval():
    """A spoilt file may say 0 between others: nothing is relative to it."""
    percentiles = {50.0: 0.001, 90.0: 0.001, 99.0: 0.0, 99.9: 0.001}
    point = Point("t", samples=2000.0, percentiles=percentiles)
    kinds = {each.kind for each in audit(LoadTest((point,))).findings}
    assert "percentile_interval" not in kinds
