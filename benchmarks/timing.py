"""How long a call takes, for benchmarks that compare within one run."""

import time

import numpy as np

ROUNDS = 15


def timed(function):
    """What it takes from beginning to end [s]."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def median(function, rounds=ROUNDS):
    """Median time of a call [s], after one that warms up."""
    function()
    return float(np.median([timed(function) for _ in range(rounds)]))


def least(function, rounds=ROUNDS):
    """Least processor time of a call [s], after one that warms up."""
    function()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)
