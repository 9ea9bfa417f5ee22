"""Errors of the approximate response time of a server under a quota, by simulation.

``python -m tests.campaigns.quota_errors`` recomputes the figures of docs/accuracy.md;
`tests/queueing/stations/test_quota.py` a part of them.

Constants or labels of `headway.queueing.stations.quota` rest on it.
"""

import numpy as np

from headway.queueing import Quota

JOBS, CASES, SEED = 200_000, 400, 14


def draw(cases, random):
    """Quotas 0.1 to 0.95, utilisations 0.01 to 0.95, and P / S log-uniform from 0.1 to 10,000."""
    busy = random.uniform(0.01, 0.95, cases)
    return random.uniform(0.1, 0.95, cases), busy, 10 ** random.uniform(-1, 4, cases)


def simulate(quota, busy, period, jobs, random):
    """Mean response times of servers (S = 1), job by job in order of arrival.

    The same jobs go to servers without a quota and to servers of speed q, whose means are known:
    the simulated mean is placed between their exact means as it was between their simulated ones.
    """
    free = slow = done = now = used = np.zeros(len(quota))
    last = np.full(len(quota), -1.0)
    sums = np.zeros((3, len(quota)))
    for _ in range(jobs):
        now = now + random.exponential(1 / (quota * busy))
        work = random.exponential(size=len(quota))
        free, slow = np.maximum(free, now) + work, np.maximum(slow, now) + work / quota
        done, used, last = serve(np.maximum(done, now), work, used, last, quota, period)
        sums += [free - now, done - now, slow - now]
    least, mean, most = sums / jobs
    known = 1 / (1 - quota * busy), 1 / (quota - quota * busy)
    return known[0] + (mean - least) / (most - least) * (known[1] - known[0])


def serve(start, work, used, last, quota, period):
    """When a job ends that may start now, the budget used in its period, and that period."""
    current = np.maximum(np.floor(start / period), last)
    used = np.where(current > last, 0.0, used)
    left = np.maximum(np.minimum(quota * period - used, (current + 1) * period - start), 0)
    over = work > left
    rest = work - left
    whole = np.maximum(np.ceil(rest / (quota * period)) - 1, 0)
    rest = rest - whole * quota * period
    later = current + 1 + whole
    return (
        np.where(over, later * period + rest, start + work),
        np.where(over, rest, used + work),
        np.where(over, later, current),
    )


def errors(cases=CASES, jobs=JOBS, seed=SEED):
    """Relative errors of the formula against the simulation."""
    random = np.random.default_rng(seed)
    quota, busy, period = draw(cases, random)
    near = Quota(1.0, quota, period).response_time(quota * busy)
    return near / simulate(quota, busy, period, jobs, random) - 1


if __name__ == "__main__":
    misses = np.abs(errors())
    figures = [
        100 * value for value in (misses.max(), np.quantile(misses, 0.95), np.median(misses))
    ]
    print("largest {:.1f}%, 95 of 100 within {:.1f}%, median {:.2f}%".format(*figures))
