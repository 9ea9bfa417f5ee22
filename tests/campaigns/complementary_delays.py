"""Closed networks with forks by complementary delays, as an alternative to mean value analysis.

Heidelberger and Trivedi, "Analytic queueing models for programs with internal concurrency", IEEE
Trans. Computers 32(1), 1983: the jobs circulate through the processor and a delay as long as the
fork takes, and the parts of each branch, as many as jobs, through that branch and a delay as long
as the rest of a round. The time of the fork follows from the times of the branches, taken as
independent and exponential (as published), or as `Fork` takes them. All is repeated until it
converges.

``python -m tests.campaigns.complementary_delays`` prints the figures of docs/accuracy/forks.md.

No constant or label names it.
"""

import numpy as np

from headway.queueing import MG1, MM1, MMm
from headway.queueing.forks.branches import branch_time
from headway.queueing.forks.kth import kth
from headway.queueing.forks.queue import ForkQueue
from tests.campaigns.closed_forks import Case, stored

ONE = np.ones(1)
ROUNDS, NEAR = 200, 1e-5  # rounds of the iteration, and relative tolerance of a fork's time


def alone(station, jobs, think):
    """Throughput and response time of one station whose jobs are otherwise in a delay."""
    queue, rate, time = ForkQueue(station, ONE), 0.0, 0.0
    for n in range(1, jobs + 1):
        time = float(queue.response()[0])
        rate = min(n / (think + time), float(queue.most[0]))
        time = max(time, n / rate - think)
        queue.add(rate * ONE, time * ONE, ONE)
    return rate, time


def solve(case, *, sharing):
    """Throughput and response time of a case, starting from mean value analysis."""
    branches = [MG1(t, c) if m == 1 else MMm(t, m) for t, c, m in case.branches]
    kinds = branches[:1] if case.alike else branches
    begun = case.model().solve()
    fork = float(begun["fork.residence_time"])
    times = [float(kind.service_time) for kind in kinds]
    for _ in range(ROUNDS):
        cpu = alone(MM1(case.cpu), case.population, case.think + fork)
        rate = cpu[0] if case.cpu else case.population / (case.think + fork)
        cycle = case.population / rate
        each = zip(kinds, times, strict=True)
        times = [alone(one, case.population, max(cycle - time, 0.0))[1] for one, time in each]
        result = joined(branches, kinds, times, rate, sharing=sharing)
        if abs(result - fork) < NEAR * fork:
            break
        fork = (fork + result) / 2
    most = min(float(np.asarray(one.capacity)) for one in branches)
    rate = min(rate, most)
    return rate, case.population / rate - case.think


def joined(branches, kinds, times, rate, *, sharing):
    """Mean time until all parts are done."""
    own = []
    for one in kinds:
        busy = min(rate, 0.999 * float(np.asarray(one.capacity)))
        own.append(float(branch_time(one, busy, busy).own) if sharing else 1.0)
    rows = (np.full((len(branches), 1), np.reshape(x, (-1, 1))) for x in (times, own))
    return float(kth(*rows, np.array([len(branches)]))[0][0])


def errors(*, sharing, actual=None):
    """Largest errors of throughput and response time over the cases that need all branches [%]."""
    missed = []
    for number, rate, time in stored() if actual is None else actual:
        case = Case(int(number))
        if case.needed == len(case.branches):
            solution = solve(case, sharing=sharing)
            missed.append((solution[0] / rate - 1, solution[1] / time - 1))
    return 100 * np.abs(missed).max(axis=0)


def sentence():
    """The sentence of the page."""
    (rate, time), (other, longer) = errors(sharing=False), errors(sharing=True)
    return (
        f"throughput by up to {rate:.1f}% and response time by up to {time:.0f}% with "
        f"independent exponential times as published, and by {other:.1f}% and {longer:.1f}% with "
        "the times that `Fork` takes"
    )


if __name__ == "__main__":
    print(sentence())
