"""A limit on the time that something takes, whatever else the machine does."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

HANGS = 900.0
"""Seconds after which a test takes it that a process hangs: a busy machine takes far less."""
PATIENCE = 30
"""Seconds on the clock for each of processor time: for what waits without working."""

_TIMERS = (
    (signal.SIGPROF, signal.ITIMER_PROF, 1),
    (signal.SIGALRM, signal.ITIMER_REAL, PATIENCE),
)


@contextmanager
def limited_time(seconds: float, error: type[BaseException]) -> Iterator[None]:
    """Raise an error in what takes more processor time; it is not seen in another process.

    Parameters
    ----------
    seconds
        Of processor time; `PATIENCE` times as many on the clock.
    error
        Raised with the limit in words.
    """

    def stop(*_: Any) -> None:
        msg = f"longer than {seconds:g} s"
        raise error(msg)

    before = [signal.signal(name, stop) for name, _, _ in _TIMERS]
    try:
        for _, timer, times in _TIMERS:
            signal.setitimer(timer, times * seconds)
        yield
    finally:
        for (name, timer, _), handler in zip(_TIMERS, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(name, handler)
