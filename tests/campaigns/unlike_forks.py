"""Errors of the law of a fork with unlike branches, by simulation of all its queues at once.

``python -m tests.campaigns.unlike_forks`` simulates again what `tests/data/unlike_forks.csv`
contains (minutes) and prints the table of docs/accuracy.md; the tests recompute the table from that
file.

Branches, the share of arrivals that fork, utilisations and the number of parts needed are drawn at
random. One server needs no events (Lindley); several hand each job to the first that is free, in
many blocks at once, each of which begins with free servers, early enough to have forgotten that.
Times are scaled by the ratio of the exact to the simulated means of branches; for an `MGm`, whose
mean is not known, by that of a single server as fast as all of its servers together that serves the
same jobs.

Constants or labels of `headway.queueing.forks.fork` rest on it.
"""

import csv
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np

from headway.errors import GraphError
from headway.queueing import MG1, MM1, Delay, Fork, MGm, MMm, Parallel, response_time_percentile
from tests.campaigns import stored_numbers

PAGE = Path("tests/data/unlike_forks.csv")
TITLES = ("case", "needed", "mean", "p50", "p99", "slowest")
SEED, CASES, REQUESTS, PARTED = 1717, 120, 1_500_000, 250_000
# requests to pools that are so busy, with an scv above 1 and unknown mean
LONGER, BUSY = 1_000_000, 0.75
BLOCK, BEFORE = 4_000, 5_000  # jobs of a block at a pool, and jobs before it with which it begins


def case(number):
    """A fork and its arrival rate, always the same for its number."""
    random = np.random.default_rng([SEED, number])
    count = int(random.choice([2, 2, 3, 4, 8]))
    busiest, shared = random.choice([0.3, 0.6, 0.8, 0.9]), random.choice([1.0, 1.0, 0.5, 0.2])
    loads = busiest * random.choice([1.0, 0.95, 0.8, 0.6, 0.3], count)
    loads[0] = busiest
    branches = [_branch(random, load) for load in loads]
    others = [(1 / shared - 1) if random.random() < 0.7 else 0.0 for _ in branches]
    slower = [
        type(b)(b.service_time / (1 + o), *_rest(b)) for b, o in zip(branches, others, strict=True)
    ]
    needed = int(random.choice([count, count, max(count - 1, 1), -(-count // 2), 1]))
    return Fork(tuple(slower), needed, tuple(others)), 1.0


def _branch(random, load):
    """A branch with a utilisation, at one arrival per second."""
    kind = random.choice(["MM1", "MM1", "MG1", "MG1", "MMm", "MGm", "Parallel", "Delay"])
    servers, scv = int(random.choice([2, 4])), float(random.choice([0.0, 0.25, 0.5, 2.0]))
    if kind == "Delay":
        return Delay(float(load * random.choice([0.5, 1, 3])))
    if kind in ("MM1", "MG1"):
        return MM1(load) if kind == "MM1" else MG1(load, scv)
    if kind == "MGm":
        return MGm(load * servers, servers, scv)
    return (MMm if kind == "MMm" else Parallel)(load * servers, servers)


def _rest(branch):
    return [value for name, value in vars(branch).items() if name != "service_time"]


def busiest(fork, rate):
    """Utilisation of the busiest branch."""
    pairs = zip(fork.branches, fork.others, strict=True)
    return max(branch.utilisation(rate * (1 + other)) for branch, other in pairs)


def simulated(number, most=REQUESTS):
    """Times of the k-th part of each request."""
    fork, rate = case(number)
    random = np.random.default_rng([SEED, number, 1])
    several = any(isinstance(b, MMm | MGm | Parallel) for b in fork.branches)
    varied = any(isinstance(b, MGm) and b.scv > 1 for b in fork.branches)
    longer = LONGER if varied and busiest(fork, rate) > BUSY else PARTED
    requests = min(longer if several else REQUESTS, most)
    arrivals = np.cumsum(random.exponential(1 / rate, requests))
    times, offs = [], []
    for branch, other in zip(fork.branches, fork.others, strict=True):
        extra = random.uniform(0, arrivals[-1], random.poisson(other * arrivals[-1]))
        merged = np.concatenate([arrivals, extra])
        order = np.argsort(merged, kind="stable")
        taken, known = _responses(branch, merged[order], random)
        place = np.argsort(order)[:requests][requests // 20 :]
        times.append(taken[place])
        if not isinstance(branch, Delay):
            alike = branch
            if isinstance(branch, MGm):
                alike = MG1(branch.service_time / branch.servers, branch.scv)
            offs.append((alike.response_time(rate + other), known[place].mean()))
    exact, result = np.sum(offs, axis=0) if offs else (1.0, 1.0)
    return exact / result * np.sort(times, axis=0)[int(fork.needed) - 1]


def _responses(branch, arrivals, random):
    """Response times of jobs with these arrivals, and of ones whose mean is known."""
    scv = branch.can.scv if not isinstance(branch.can.scv, str) else branch.scv
    time, size = branch.service_time, arrivals.size
    service = np.full(size, time) if scv == 0 else random.gamma(1 / scv, time * scv, size)
    if isinstance(branch, Delay):
        return service, service
    if isinstance(branch, Parallel):
        queue = random.integers(branch.servers, size=size)
        result = np.empty(size)
        for k in range(branch.servers):
            some = queue == k
            result[some] = _lindley(arrivals[some], service[some])
        return result, result
    if isinstance(branch, MGm):
        fast = _lindley(arrivals, service / branch.servers)
        return _several(arrivals, service, branch.servers), fast
    result = (
        _several(arrivals, service, branch.servers)
        if isinstance(branch, MMm)
        else _lindley(arrivals, service)
    )
    return result, result


def _lindley(arrivals, service):
    paths = np.concatenate([[0.0], np.cumsum(service[:-1] - np.diff(arrivals))])
    return paths - np.minimum.accumulate(paths) + service


def _several(arrivals, service, servers):
    index = np.arange(-BEFORE, BLOCK)[:, None] + np.arange(0, arrivals.size, BLOCK)
    inside, place = (index >= 0) & (index < arrivals.size), index.clip(0, arrivals.size - 1)
    came, takes = np.where(inside, arrivals[place], 0.0), np.where(inside, service[place], 0.0)
    free, rows = np.zeros((index.shape[1], servers)), np.arange(index.shape[1])
    for step, now in enumerate(came):
        first = free.argmin(axis=1)
        end = np.maximum(free[rows, first], now) + takes[step]
        free[rows, first] = end
        takes[step] = end - now
    return takes[BEFORE:].T.ravel()[: arrivals.size]


def stored():
    """The simulated numbers, shape (cases, titles)."""
    return stored_numbers(PAGE, TITLES)


def errors(actual):
    """Needed, branches, utilisation, and errors of mean, p50, p99, and mean over the slowest's."""
    rows = []
    for number, _, mean, half, most, slowest in actual:
        fork, rate = case(int(number))
        time = fork.response_time(rate)
        shares = [np.nan, np.nan]
        with suppress(GraphError):
            pairs = zip((0.5, 0.99), (half, most), strict=True)
            shares = [response_time_percentile(fork, rate, p) / t - 1 for p, t in pairs]
        shape = fork.needed, len(fork.branches), busiest(fork, rate)
        rows.append((*shape, time / mean - 1, *shares, (time - mean) / slowest))
    return np.array(rows)


GROUPS = {
    "all": lambda k, n: k == n,
    "more than half": lambda k, n: (k < n) & (2 * k > n),
    "half or fewer": lambda k, n: (k < n) & (2 * k <= n),
}
EDGES = (0.0, 0.5, 0.7, 1.0)


def summary_rows(actual):
    """Rows of the table: needed, utilisation, cases and the errors [%] of mean, p50 and p99."""
    needed, count, busy, *missed = errors(actual).T
    rows = []
    for group, belongs in GROUPS.items():
        for least, most in pairwise(EDGES):
            some = belongs(needed, count) & (busy > least) & (busy <= most)
            parts = 100 * np.abs(np.array(missed)[:, some])
            loads = sorted({f"{u:g}" for u in busy[some].round(6)})
            rows.append(
                (group, " to ".join(loads[:: max(len(loads) - 1, 1)]), int(some.sum()), parts)
            )
    return rows


def table(rows):
    """The rows as a page shows them: the largest error and, in brackets, the 95th percentile."""
    head = "| needed | utilisation | cases | mean | of the slowest's | p50 | p99 |\n"
    lines = [head + "|---|---|---|---|---|---|---|"]
    for *which, parts in rows:
        cells = [_cell(parts[k]) for k in (0, 3, 1, 2)]
        lines.append("| " + " | ".join(map(str, (*which, *cells))) + " |")
    return "\n".join(lines)


def _cell(part):
    if not np.isfinite(part).any():
        return "-"
    return f"{np.nanmax(part):.1f}% ({np.nanquantile(part, 0.95):.1f})"


def main():
    """Simulate again."""
    with PAGE.open("w", encoding="utf-8", newline="") as file:
        file.write("# Simulated by tests/campaigns/unlike_forks.py; one request a second.\n")
        written = csv.writer(file, lineterminator="\n")
        written.writerow(TITLES)
        for number in range(CASES):
            fork, rate = case(number)
            times = simulated(number)
            pairs = zip(fork.branches, fork.others, strict=True)
            slowest = max(branch.response_time(rate + other) for branch, other in pairs)
            numbers = times.mean(), *np.quantile(times, (0.5, 0.99)), slowest
            written.writerow([number, int(fork.needed), *(f"{x:.6g}" for x in numbers)])
    print(table(summary_rows(stored())))


if __name__ == "__main__":
    main()
