"""Errors of approximate closed networks with a server under a quota, by simulation.

``python -m tests.campaigns.closed_quota_errors`` recomputes the figures of docs/accuracy.md;
`tests/queueing/test_closed_quota.py` a part of them.

Constants or labels of `headway.queueing.stations.quota` rest on it.
"""

import numpy as np

from headway.queueing import MM1, Quota, solve_closed

STEPS, CASES, SEED = 300_000, 400, 14
_WARM_UP = 0.1


def draw(cases, random):
    """Quotas q, periods P, jobs N, think times Z and demands of two other servers (S = 1).

    Other servers take at most 1.5 / q, and nothing with probability 1/2; Z is 0 with probability
    1/8, otherwise such that N / (Z + 1) is 0.2 to 4 times the capacity.
    """
    quota, period = random.uniform(0.1, 0.95, cases), 10 ** random.uniform(-0.5, 3.5, cases)
    jobs = np.floor(2 ** random.uniform(0, 6.02, cases))
    others = random.uniform(0, 1.5, (2, cases)) / quota * (random.random((2, cases)) < 0.5)
    think = np.maximum(jobs / quota * 5.0 ** random.uniform(-0.86, 1, cases) - 1, 0.05)
    return quota, period, jobs, think * (random.random(cases) > 0.125), others


def simulate(quota, period, jobs, think, others, steps, random):
    """Throughput and response times, also at the server under quota, of cyclic networks (S = 1).

    Times are exponential. All networks are simulated at once, event by event: a job moves, a budget
    is used up, or a period ends. The next event is drawn again each time, as exponential times have
    no memory.
    """
    cases, every = len(quota), np.arange(len(quota))
    here = np.zeros((4, cases))  # thinking, at the other servers, under quota
    here[0] = jobs
    pace = 1 / np.maximum(np.vstack([think, others]), 1e-9)
    used = passed = np.zeros(cases)
    sums = np.zeros((4, cases))
    for step in range(steps):
        works = (here[3] > 0) & (used < quota * period)
        rates = np.vstack([here[0] * pace[0], (here[1:3] > 0) * pace[1:], works])
        ends = np.cumsum(rates, axis=0)
        move = random.exponential(size=cases) / np.maximum(ends[-1], 1e-300)
        budget = np.where(works, quota * period - used, np.inf)
        stop = np.minimum(budget, period - passed)
        moves, length = move < stop, np.minimum(move, stop)
        if step >= _WARM_UP * steps:
            sums += length * np.vstack([np.ones(cases), works, jobs - here[0], here[3]])
        used, passed = used + length * works, passed + length
        used = np.where(~moves & works & (budget <= period - passed + length), quota * period, used)
        over = ~moves & (period - passed <= 1e-12 * period)
        used, passed = np.where(over, 0.0, used), np.where(over, 0.0, passed)
        which = (random.random(cases) * ends[-1] >= ends[:-1]).sum(axis=0)
        here[which, every] -= moves
        here[(which + 1) % 4, every] += moves
    return sums[1] / sums[0], sums[2] / sums[1], sums[3] / sums[1]


def errors(cases=CASES, steps=STEPS, seed=SEED):
    """Relative errors of throughput and response time against the simulation, by case."""
    random = np.random.default_rng(seed)
    quota, period, jobs, think, others = draw(cases, random)
    server = Quota(np.ones(cases), quota, period)
    near = solve_closed([server, *map(MM1, others)], [1, 1, 1], jobs, think)
    answers = [near.throughput, near.response_time, near.station_response_time[0]]
    return np.divide(answers, simulate(quota, period, jobs, think, others, steps, random)) - 1


def summary_rows(actual):
    """Largest, 99th and 95th percentile, and median error [%], by kind of answer."""
    return [
        [100 * float(np.quantile(one, part)) for part in (1, 0.99, 0.95, 0.5)]
        for one in np.abs(actual)
    ]


if __name__ == "__main__":
    print("| error of | largest | 99 of 100 | 95 of 100 | median |\n|---|---|---|---|---|")
    kinds = "throughput", "response time", "time under the quota"
    for kind, row in zip(kinds, summary_rows(errors()), strict=True):
        print(f"| {kind} | " + " | ".join(f"{value:.2g}%" for value in row) + " |")
