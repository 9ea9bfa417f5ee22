"""Inside a run, what changes is found with its size and its time, and steady queues are left."""

import numpy as np
import pytest

from headway.models.analysis.audit import audit
from headway.models.auditing.within import change_of, stalls_of
from headway.models.measured.course import Course
from headway.models.measured.points import Loop, Point
from headway.models.reading.loadtest import LoadTest
from tests.campaigns import steady_runs
from tests.campaigns.steady_runs import course, single
from tests.support import command


def findings_of(*courses):
    points = [
        Point("JMeter", Loop.CLOSED, population=8.0 * (k + 1), response_time=0.1, course=each)
        for k, each in enumerate(courses)
    ]
    return {each.kind: each for each in audit(LoadTest(tuple(points))).findings}


def log(path, mean_at, stall=None, length=60.0, clients=8):
    """A closed test whose response times have a mean by time; a stall holds all answers back."""
    random = np.random.default_rng(31)
    rows, ready = [], [0.0] * clients
    while min(ready) < length:
        client = int(np.argmin(ready))
        sent = ready[client]
        done = sent + mean_at(sent) * random.gamma(4) / 4
        if stall is not None and done > stall[0]:
            done = max(done, done - done % stall[0] + stall[1])
        ready[client] = done
        rows.append((round(1000 * sent), round(1000 * (done - sent)), client))
    text = "timeStamp,elapsed,label,responseCode,threadName,success,bytes,allThreads\n"
    cells = (f"{1700000000000 + t},{e},page,200,user {c},true,512,8\n" for t, e, c in sorted(rows))
    path.write_text(text + "".join(cells))
    return path


@pytest.mark.parametrize(
    ("mean_at", "kind", "words"),
    [
        (lambda t: 0.04 * (1 + 9 * np.exp(-t / 4)), "warm up", "second half"),
        (lambda t: 0.04 if t < 30 else 0.12, "change within run", "29.97 s after the start"),
        (lambda t: 0.04 if not 20 <= t < 35 else 0.12, "change within run", "before and after"),
        (lambda t: 0.04 * (1 + t / 30), "trend within run", "drifts from"),
    ],
    ids=["warm-up", "step", "patch", "drift"],
)
def test_a_log_that_changes_is_said_to(tmp_path, mean_at, kind, words):
    out = " ".join(command.headway("audit", log(tmp_path / "run.jtl", mean_at)).out.split())
    assert kind in out
    assert words in out


def test_a_log_of_a_steady_server_is_left_alone(tmp_path):
    out = command.headway("audit", log(tmp_path / "run.jtl", lambda _: 0.04)).out
    assert "warning" not in out


def test_the_part_after_a_warm_up_is_steady(tmp_path):
    path = log(tmp_path / "run.jtl", lambda t: 0.04 * (1 + 9 * np.exp(-t / 4)))
    assert "warm up" not in command.headway("audit", path, "--skip", "25s").out


def test_a_warm_up_is_told_with_its_length_and_both_means():
    """360 ms more at first, which decay by 3 s: 52 ms in the mean instead of 40 ms."""
    time = (np.arange(64) + 0.5) * 60 / 64
    means = 0.04 + 0.2 * np.exp(-time / 3) + 0.001 * np.cos(np.arange(64) * 2.4)
    warm_up = findings_of(Course(60.0, (100.0,) * 64, tuple(100 * means)))["warm_up"]
    assert 6 < warm_up.value < 20
    early, late, whole = (seconds for _, seconds in warm_up.times)
    assert late == pytest.approx(0.04, rel=0.01)
    assert whole == pytest.approx(means.mean(), rel=1e-9)
    assert early > 0.06


def test_a_step_is_told_with_its_time_and_its_size():
    means = 0.04 + 0.001 * np.cos(np.arange(64) * 2.4) + 0.08 * (np.arange(64) >= 40)
    change = findings_of(Course(64.0, (100.0,) * 64, tuple(100 * means)))["change_within_run"]
    assert "40 s after the start" in change.text
    assert change.value == pytest.approx(3, rel=0.01)


def test_a_drift_is_told_with_both_ends():
    means = 0.04 * (1 + 2 * (np.arange(64) + 0.5) / 64) + 0.001 * np.cos(np.arange(64) * 2.4)
    trend = findings_of(Course(64.0, (100.0,) * 64, tuple(100 * means)))["trend_within_run"]
    assert [seconds for _, seconds in trend.times] == pytest.approx([0.04, 0.12], rel=0.02)


def test_stalls_are_told_with_their_number_their_length_and_their_distance(tmp_path):
    path = log(tmp_path / "run.jtl", lambda _: 0.04, (15.0, 1.5))
    out = " ".join(command.headway("audit", path).out.split())
    assert "1.4" in out or "1.5" in out
    assert "although up to 8 requests waited, 3 times, every 15" in out


def test_silences_as_long_as_slow_responses_are_no_stalls():
    """Two clients who wait ten times as long at first: nothing stops, it is slow."""
    random = np.random.default_rng(3)
    took = np.where(np.arange(2400) < 20, 0.4, 0.04) * random.gamma(4, 0.25, 2400)
    sent = np.concatenate([np.cumsum(each) - each for each in (took[::2], took[1::2])])
    order = np.argsort(sent)
    each = course((sent[order], np.concatenate([took[::2], took[1::2]])[order]))
    assert stalls_of(each) == ()


def test_of_several_runs_the_worst_is_named():
    flat = np.full(64, 4.0)
    steps = [Course(60.0, (100.0,) * 64, tuple(flat + a * (np.arange(64) > 31))) for a in (4, 12)]
    change = findings_of(*steps, Course(60.0, (100.0,) * 64, tuple(flat)))["change_within_run"]
    assert change.points == (0, 1)
    assert "(the worst of 2 points)" in change.text
    assert change.value == pytest.approx(4)


@pytest.mark.parametrize("name", steady_runs.STEADY)
def test_steady_queues_are_seldom_said_to_change(name):
    """Of 40 runs of 4,000 requests at most 5%, give or take chance; none stalls."""
    changes, stalls = steady_runs.shares(name, 4000, "", 10 if "client" in name else 20)
    assert changes <= 0.15
    assert stalls == 0


@pytest.mark.parametrize("change", [*steady_runs.CHANGED, "stalls"])
def test_runs_that_change_are_mostly_found(change):
    hits = steady_runs.shares("M/M/1, load 0.5", 4000, change, 10)
    assert hits[change == "stalls"] >= 0.8


def test_few_requests_tell_nothing():
    assert change_of(course(single(np.random.default_rng(1), 200))) is None
    assert stalls_of(Course(60.0, (1.0,) * 64, (1.0,) * 64)) == ()
