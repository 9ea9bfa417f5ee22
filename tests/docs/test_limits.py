"""Limits on time count work and waiting, not what other programs take."""

import re
import signal
import time

import pytest

from tests.support import limits
from tests.support.limits import limited_time
from tests.support.places import TESTS


def work():
    while True:
        pass


def test_no_test_gives_up_before_a_busy_machine_does():
    """Limits on the clock are `HANGS`, and what waits to be ended waits longer.

    The timeout of a model's clients is no limit.
    """
    numbers = [
        (path.name, number)
        for path in TESTS.rglob("*.py")
        for number in re.findall(
            r"(?<!Clients\()\b(?:timeout|seconds|SOON)=([0-9.]+)", path.read_text()
        )
    ]
    assert [each for each in numbers if float(each[1]) < limits.HANGS] == []


def test_ctrl_c_reaches_tests_that_run_in_the_background():
    """Also the processes that they start: a handler is not inherited, what is ignored is."""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_work_is_stopped():
    with pytest.raises(TimeoutError, match=r"longer than 0.05 s"), limited_time(0.05, TimeoutError):
        work()


def test_waiting_is_stopped_later(monkeypatch):
    patience = [(name, timer, min(times, 2)) for name, timer, times in limits._TIMERS]
    monkeypatch.setattr(limits, "_TIMERS", patience)
    with pytest.raises(TimeoutError), limited_time(0.05, TimeoutError):
        time.sleep(3600)


def test_what_is_over_is_left_alone():
    with limited_time(10.0, TimeoutError):
        pass

    assert signal.getitimer(signal.ITIMER_REAL) == signal.getitimer(signal.ITIMER_PROF) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
