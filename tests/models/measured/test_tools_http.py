"""What HTTP load generators wrote: cells as the tools print them; spoilt texts refused."""

import re
from dataclasses import fields

import pytest

from headway.models.measured.points import Loop
from headway.models.reading.loadtest import points_of
from tests.oracles.http_cells import PRINTED
from tests.support.tool_files import kind, refused, sample, samples, while_sending

SAMPLES = samples("wrk", "wrk2", "ab", "siege", "hey", "bombardier", "vegeta", "oha")
MEASURED = [f.name for f in fields(PRINTED["ab/ab.txt"]) if f.name not in {"notes", "file"}]


def only(text, source="run"):
    (point,) = points_of(text, source)
    return point


@pytest.mark.parametrize("file", PRINTED)
def test_cells_are_what_the_tool_prints(file):
    """To the last digit: 1e-12 is what a change of unit may round."""
    point, printed = only(sample(file)), PRINTED[file]

    for name in MEASURED:
        expected = getattr(printed, name)
        near = expected if expected is None or isinstance(expected, str) else pytest.approx(
            dict(expected) if hasattr(expected, "items") else expected, rel=1e-12
        )  # fmt: skip
        cell = getattr(point, name)
        assert (dict(cell) if hasattr(cell, "items") else cell) == near, name


def test_wrk2_keeps_the_units_of_its_summary_and_fills_in_from_its_spectrum():
    """One file prints us, s and m in its summary, beside a spectrum in ms."""
    point = only(sample("wrk2/wrk2_output.txt"))

    assert (point.tool, point.loop, point.population, point.offered_rate) == (
        "wrk2",
        "open",
        2,
        None,
    )
    assert (point.throughput, point.samples, point.duration, point.errors) == (10, 600, 60, 0)
    assert point.response_time == pytest.approx(58.33e-3)
    summary = {50: 53.31e-6, 75: 56.99e-3, 90: 62.62e-3, 99: 223.23e-3, 99.9: 244.22e-3,
               99.99: 244.22e-3, 99.999: 36.0, 100: 54.0}  # fmt: skip
    assert {percent: point.percentiles[percent] for percent in summary} == pytest.approx(summary)
    spectrum = {10: 48.671e-3, 55: 53.983e-3, 87.5: 60.799e-3, 95: 72.127e-3, 97.5: 126.911e-3}
    assert {percent: point.percentiles[percent] for percent in spectrum} == pytest.approx(spectrum)
    assert not {0, 98.9062} & point.percentiles.keys()
    assert any("500 requests, after" in note for note in point.notes)


def test_answers_that_are_errors_are_no_throughput():
    some, every = (only(sample(f"wrk2/wrk2_output_{n}.txt")) for n in ("errors", "all_error"))

    assert (some.errors, some.samples) == (14, 600)
    assert some.throughput == pytest.approx(10.0 * 586 / 600)
    assert (every.errors, every.samples, every.throughput) == (451, 451, None)
    assert "no request succeeded" in every.notes[-1]


def test_uncorrected_times_of_wrk2_are_left_out():
    text = sample("wrk2/wrk2_output.txt")
    both = text.replace(
        "-" * 58,
        "  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking"
        " delayed starts into account))\n 50.000%    9.00ms\n" + "-" * 58,
    )
    assert both != text
    assert only(both).percentiles == only(text).percentiles


def test_socket_errors_of_wrk_are_errors_but_no_answers():
    lost = "  Socket errors: connect 1, read 2, write 3, timeout 4\nRequests/sec"
    point = only(sample("wrk/latency.txt").replace("Requests/sec:", lost + ":"))

    assert (point.errors, point.throughput) == (10, 1456.14)


def test_lengths_that_differ_are_no_errors_of_ab():
    """ab compares with the first answer, so that pages that change are all called failed."""
    dynamic = sample("ab/busy.txt").replace("Non-2xx responses:      56\n", "")
    point = only(dynamic)

    assert (point.errors, point.throughput) == (0, 1133.09)
    assert any(
        "56 answers that ab counts as failed only differ in length" in n for n in point.notes
    )


def test_microseconds_of_ab_stand_in_its_csv():
    point = only(sample("ab/percentiles.csv"))
    rows = dict(line.split(",") for line in sample("ab/percentiles.csv").splitlines()[1:])

    assert (point.tool, point.throughput, point.population) == ("ab", None, None)
    assert point.percentiles == pytest.approx(
        {p: float(rows[f"{p}"]) / 1e3 for p in (50, 66, 75, 80, 90, 95, 98, 99)}
    )


def test_rows_of_hey_are_counted():
    text = sample("hey/requests.csv")
    rows = [line.split(",") for line in text.splitlines()[1:]]
    point = only(text)
    rate, end = while_sending([(float(row[7]), float(row[0]), True) for row in rows])

    assert (point.samples, point.errors, point.duration) == (200, 0, pytest.approx(end))
    assert point.throughput == pytest.approx(rate)
    assert point.response_time == pytest.approx(sum(float(row[0]) for row in rows) / 200)
    assert point.percentiles[50] == sorted(float(row[0]) for row in rows)[99]

    half = "\n".join(
        line.replace(",200,", ",503,") if number % 2 else line
        for number, line in enumerate(text.splitlines())
    )
    assert (only(half).errors, only(half).samples) == (100, 200)
    assert only(half).throughput == pytest.approx(rate / 2, rel=0.05)
    assert only(text.replace(",200,", ",503,")).throughput is None


def test_older_hey_prints_one_percent_sign():
    text = sample("hey/hey.txt")

    assert only(text.replace("%%", "%")) == only(text)


def test_bombardier_with_a_rate_is_open_and_its_banner_is_no_json():
    plain = sample("bombardier/by_hand.json")
    result = plain.replace('"client": "fasthttp"', '"client": "fasthttp", "rate": 500')
    point = only(f"Bombarding http://localhost for 10s using 64 connection(s)\nDone!\n{result}")

    assert (point.loop, point.offered_rate, point.population) == (Loop.OPEN, 500, 64)
    failed = only(plain.replace('"others": 0', '"others": 80000'))
    assert (failed.errors, failed.samples) == (80000, 160000)
    assert failed.throughput == pytest.approx(80000 / 10.0005)


def test_requests_under_way_when_oha_ends_are_no_errors():
    """oha counts them in its rate and among its errors; 7272 answers of 4 s remain."""
    point = only(sample("oha/busy.json"))

    assert point.throughput == pytest.approx(7272 / 4.001567729, rel=1e-12)
    assert any("8 requests were in progress" in note for note in point.notes)


def test_failures_of_vegeta_have_status_0():
    text = sample("vegeta/by_hand.json").replace('"200": 100', '"0": 3, "200": 90, "500": 7')

    assert only(text).errors == 10


@pytest.mark.parametrize("file", ["wrk/latency.txt", "ab/ab.txt", "hey/hey.txt"])
def test_runs_that_follow_each_other_are_points(file):
    text = sample(file)

    assert points_of(f"a sweep\n{text}\n{text}", "a.txt") == points_of(text, "a.txt") * 2


@pytest.mark.parametrize("file", SAMPLES)
def test_each_file_is_recognised_as_its_own(file):
    tool = kind(sample(file))

    assert tool.split(" ")[0] == file.split("/")[0]


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        (
            "wrk/latency.txt",
            lambda t: t[: t.index("Requests/sec")],
            "run:11: no line such as 'Requests/sec",
        ),
        (
            "wrk/latency.txt",
            lambda t: t.replace("8.40ms", "8.40mx"),
            "run:4: '8.40mx' is not a time",
        ),
        ("wrk/latency.txt", lambda t: t.replace("7342", "0"), "run:11: no request was answered"),
        ("wrk2/wrk2_output.txt", lambda t: t[:3000], "run:66: no line"),
        ("ab/ab.txt", lambda t: t[: t.index("Requests per")], "run:20: no line"),
        (
            "ab/ab.txt",
            lambda t: t[: t.index(" 100%")],
            "run:41: no line such as '100% 224",
        ),
        ("ab/percentiles.csv", lambda t: t[: t.index("\n99,")], "run:100: its percentages end"),
        (
            "siege/siege.json",
            lambda t: t[: t.index('"longest')],
            "'Longest transaction' is missing",
        ),
        ("siege/siege.txt", lambda t: t.replace("3286", "0").replace("359", "0"), "no request was"),
        ("hey/hey.txt", lambda t: t[: t.index("Status")], "no line such as 'Status code"),
        (
            "hey/requests.csv",
            lambda t: t[:-20],
            "run:201: this row does not have hey's eight columns",
        ),
        ("hey/requests.csv", lambda t: t[: t.index("\n")], "run:1: no request was answered"),
        ("bombardier/by_hand.json", lambda t: t[:300], "run:15: this JSON is invalid"),
        ("bombardier/by_hand.json", lambda t: t.replace('"req4xx": 0', '"req4xx": "x"'), "req4xx"),
        ("oha/oha.json", lambda t: t[:900], "this JSON is invalid or truncated"),
        ("oha/oha.json", lambda t: t.replace('"200": 400', ""), "no request was answered"),
        ("vegeta/by_hand.json", lambda t: t[:600], "this JSON is invalid or truncated"),
        (
            "vegeta/by_hand.json",
            lambda t: t.replace('"rate"', '"pace"'),
            "the number rate is missing",
        ),
        (
            "vegeta/by_hand.json",
            lambda t: t.replace('{\n    "200": 100\n  }', "3"),
            "not an object",
        ),
    ],
)
def test_spoilt_files_are_refused_in_one_line(file, change, message):
    refused(change(sample(file)), re.escape(message))


def test_corrected_times_of_wrk2_stand_before_uncorrected_ones():
    """From when requests were due 49.76 ms at the median, from when they were sent less."""
    text = sample("wrk2/u_latency.txt")
    point = only(text)
    assert "Uncorrected" in text
    assert point.percentiles[50] == pytest.approx(49.76e-3)
    assert point.percentiles[99] == pytest.approx(71.87e-3)
    assert (point.loop, point.throughput, point.samples) == ("open", 79.81, 1117)
