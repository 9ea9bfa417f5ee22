"""Tasks that the tests of crews give to workers: workers import them from here."""

import os
import threading
import time
from pathlib import Path

from tests.support.limits import HANGS


def doubled(number):
    return 2 * number


def slow_if_even(number):
    time.sleep(0.02 * (number % 2 == 0))
    return number


def where(_task):
    """This process, its threads, and what limits them."""
    import numpy as np

    np.linalg.inv(np.eye(200))
    return os.getpid(), len(os.listdir("/proc/self/task")), threading.active_count()  # noqa: PTH208


def dies_once(task):
    """End the worker at once, unless a mark says that it was done before."""
    number, mark = task
    if number == 3 and not Path(mark).exists():
        Path(mark).touch()
        _die()
    return number


def dies_always(number):
    if number == 2:
        _die()
    return number


def _die():
    """End this worker when nothing is being given out: Python 3.11's pool may fail at that."""
    time.sleep(0.2)
    os._exit(7)


def writes_its_process(folder):
    """Leave this process's number, and go on for longer than any test waits."""
    Path(folder, str(os.getpid())).touch()
    time.sleep(2 * HANGS)


def solved(rate):
    """Response time of a model, or its error."""
    from headway.models import catalogue_model

    model = catalogue_model("nfs-server").with_preset("raid")
    return float(model.solve(arrival_rate=rate).response_time)


class Odd(Exception):
    """An error that does not survive being pickled."""

    def __init__(self, first, second):
        super().__init__(f"{first} {second}")


def odd(_task):
    raise Odd("not", "well")
