"""A part of a run counts, where every request of it has its time; nothing else can be cut."""

import pytest

import headway
from headway.errors import InvalidParameter, MeasurementError
from headway.models.measured.window import RunWindow, window_of
from headway.models.reading.loadtest import points_of
from tests.support import command
from tests.support.tool_files import TOOLS, sample

HEADER = "timeStamp,elapsed,label,responseCode,threadName,success,bytes,allThreads\n"
LOGS = (
    "jmeter/jmeter-5.6.3.csv", "jmeter/jmeter-5.6.3.xml", "k6/points.ndjson", "gatling/open.log",
    "hey/requests.csv", "printed/vegeta.csv", "printed/pgbench_log.9976",
)  # fmt: skip


@pytest.fixture
def log(tmp_path):
    """A request each 100 ms for a minute: 400 ms each until 10 s, then 40 ms."""
    path = tmp_path / "run.jtl"
    rows = (
        f"{1700000000000 + 100 * i},{400 if i < 100 else 40},page,200,user {i % 8},true,512,8\n"
        for i in range(600)
    )
    path.write_text(HEADER + "".join(rows))
    return path


@pytest.mark.parametrize(
    ("part", "samples", "mean"),
    [
        ({}, 600, 0.1),
        ({"skip": "10s"}, 500, 0.04),
        ({"skip": 10}, 500, 0.04),
        ({"window": "5s:15s"}, 100, 0.22),
        ({"window": ":10s"}, 100, 0.4),
        ({"window": "59.9 s:"}, 1, 0.04),
    ],
)
def test_requests_sent_within_the_window_count_and_no_others(log, part, samples, mean):
    (point,) = headway.read(log, **part).points
    assert point.samples == samples
    assert point.response_time == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("name", LOGS)
def test_both_parts_of_a_log_hold_all_its_requests(name):
    """Cut in the middle: the parts' numbers add up, and their means to the mean of the whole."""
    whole = points_of(sample(name), name)[0]
    middle = f"{whole.course.length / 2:.9f}s"
    parts = [
        headway.read(TOOLS / name, **part).points[0]
        for part in ({"skip": middle}, {"window": f"0s:{middle}"})
    ]
    assert sum(p.samples for p in parts) == whole.samples
    assert sum(p.errors for p in parts) == whole.errors
    good = [p.samples - p.errors * name.startswith("hey") for p in (*parts, whole)]
    mean = sum(n * p.response_time for n, p in zip(good, parts, strict=False)) / good[-1]
    assert mean == pytest.approx(whole.response_time, rel=1e-9)


def test_a_binary_log_is_cut_too():
    name = TOOLS / "gatling/open-3.13.log"
    whole = headway.read(name).points[0]
    part = headway.read(name, skip=whole.course.length / 2).points[0]
    assert 0 < part.samples < whole.samples


@pytest.mark.parametrize("command_line", ["read", "audit"])
def test_commands_cut(log, command_line):
    assert command.headway(command_line, log, "--skip", "10s").code == 0
    refused = command.headway(command_line, log, "--window", "2min:")
    assert (refused.code, refused.err) == (
        2,
        f"error: {log}: no request was sent from 120 s on; the run sent for 59.9 s\n",
    )


@pytest.mark.parametrize(
    "arguments",
    [("fit", "server"), ("compare", "server-single"), ("report", "--out", "x.html")],
)
def test_other_commands_cut(log, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = command.headway(*arguments, "--data", log, "--skip", "70s")
    assert refused.code == 2
    assert "no request was sent from 70 s on; the run sent for 59.9 s" in refused.err
    assert len(refused.err.splitlines()) == 1


@pytest.mark.parametrize("place", ["load_tests/wrk", "network_sensitivity"])
def test_what_has_no_time_for_each_request_cannot_be_cut(place):
    with pytest.raises(MeasurementError, match="--skip and --window need a log with the time of"):
        headway.read(place, skip="1s")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"skip": "1s", "window": "1s:2s"}, "not both"),
        ({"window": "3s:2s"}, "holds nothing"),
        ({"window": "0s:0s"}, "holds nothing"),
        ({"skip": "-1s"}, "holds nothing"),
        ({"window": "3s"}, "write two times"),
        ({"skip": "3 bananas"}, "unit"),
    ],
)
def test_windows_that_hold_nothing_are_refused(given, words):
    with pytest.raises((InvalidParameter, headway.errors.UnitError), match=words):
        window_of(**given)
    assert RunWindow().holds(0.0)
