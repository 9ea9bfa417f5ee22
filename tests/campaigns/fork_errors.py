"""Errors of the law of a fork, by simulation of all its queues at once.

``python -m tests.campaigns.fork_errors`` simulates again what `tests/data/fork_errors.csv` contains
(minutes) and prints the table of docs/accuracy.md; the tests recompute the table from that file.
The cases of `tests/data/fork_errors_fresh.csv` were simulated after the law was made, and changed
nothing in it.

A queue in order of arrival needs no events: the next wait is max(wait + service - gap, 0)
(Lindley), and all n queues have the same gaps. Times are scaled by the ratio of Pollaczek and
Khinchine's exact mean to the mean of a branch.

Constants or labels of `headway.queueing.order_statistics.alike` and
`headway.queueing.order_statistics.gamma_mixture` rest on it.
"""

import csv
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from headway.queueing import MG1, ForkJoin
from headway.queueing.sojourn.feed_forward import FeedForwardNetwork
from headway.queueing.sojourn.feed_forward_percentiles import (
    Precision,
    feed_forward_percentiles,
)
from tests.campaigns import stored_numbers

PAGE = Path("tests/data/fork_errors.csv")
FRESH = Path("tests/data/fork_errors_fresh.csv")
TITLES = ("branches", "needed", "scv", "utilisation", "mean", "p50", "p99")
BRANCHES = (2, 3, 5, 8, 16, 64)
SPREADS = (0.1, 0.25, 0.5, 1.0, 2.0)
SERVICES = {0.1: 8e6, 0.3: 8e6, 0.5: 8e6, 0.7: 12e6, 0.9: 32e6, 0.95: 100e6}
MOST, SEED = 8_000_000, 17
FRESH_SEED = 20261123
CASES = (  # of FRESH: branches, scv, utilisation and requests
    (4, 0.7, 0.2, 600_000),
    (6, 1.5, 0.4, 500_000),
    (12, 0.35, 0.6, 600_000),
    (24, 0.8, 0.15, 300_000),
    (24, 1.4, 0.55, 300_000),
    (32, 0.2, 0.8, 400_000),
    (48, 0.6, 0.35, 200_000),
    (40, 1.0, 0.75, 300_000),
    (10, 0.15, 0.88, 1_200_000),
    (20, 1.8, 0.85, 900_000),
    (56, 0.45, 0.9, 600_000),
)
# services simulated at a time; one request in so many is kept for percentiles
_BLOCK, _KEPT = 200_000, 8


def needed_of(branches):
    """The numbers k of parts that are examined: some of the first, half, and more."""
    some = {1, -(-branches // 4), -(-branches // 2), -(-3 * branches // 4), branches - 1, branches}
    return sorted(k for k in some if k >= 1)


def others_of(branches):
    """The numbers k of FRESH."""
    return sorted({-(-branches // 2), -(-5 * branches // 8), branches - 2, branches})


def responses(branches, scv, busy, requests, random):
    """Times in all queues of consecutive requests, shape (requests, branches); services of 1."""
    waits, done = np.zeros(branches), 0
    block = max(_BLOCK // branches, 1)
    while done < requests:
        service = random.gamma(1 / scv, scv, (block, branches))
        steps = service - random.exponential(1 / busy, (block, 1))
        paths = np.vstack([np.zeros(branches), np.cumsum(steps, axis=0)])
        after = paths - np.minimum(np.minimum.accumulate(paths, axis=0), -waits)
        yield after[:-1] + service
        waits, done = after[-1], done + block


def simulate(branches, scv, busy, requests, random, needed=needed_of, kept_each=_KEPT):
    """Rows of the file: the time of the k-th of n."""
    places = np.array(needed(branches)) - 1
    total, all_of_them, kept, count = 0.0, 0.0, [], 0
    for k, times in enumerate(responses(branches, scv, busy, requests, random)):
        if k * len(times) < requests // 20:
            continue
        value = np.sort(times, axis=1)[:, places]
        total, all_of_them = total + value.sum(axis=0), all_of_them + times.sum() / branches
        kept.append(value[::kept_each].astype(np.float32))
        count += len(times)
    scale = MG1(1.0, scv).response_time(busy) / (all_of_them / count)
    result = np.quantile(np.concatenate(kept), (0.5, 0.99), axis=0)
    columns = scale * np.vstack([total / count, result])
    return [(branches, k + 1, scv, busy, *col) for k, col in zip(places, columns.T, strict=True)]


def stored(page=PAGE):
    """The simulated numbers, shape (cases, titles)."""
    return stored_numbers(page, TITLES)


def percentiles(actual, share):
    """The law's percentiles for each case; a tolerance of 1e-5 is enough here."""
    branches, needed, scv, busy = actual[:, :4].T
    one = np.ones((1, len(actual)))
    fork = ForkJoin(one[0], branches, needed, scv)
    network = FeedForwardNetwork((fork,), busy[None], one, {})
    return feed_forward_percentiles(network, share, precision=Precision.SEARCH)


def errors(actual):
    """Relative errors of mean, p50 and p99, and that of the mean over one branch's mean."""
    branches, needed, scv, busy, mean, *simulated = actual.T
    off = ForkJoin(1.0, branches, needed, scv).response_time(busy) - mean
    missed = np.full((2, len(actual)), np.nan)
    some = 2 * needed >= branches
    for row, share, times in zip(missed, (0.5, 0.99), simulated, strict=True):
        row[some] = percentiles(actual[some], share) / times[some] - 1
    one = MG1(1.0, scv).response_time(busy)
    return np.abs(np.array([off / mean, *missed, off / one]).T)


GROUPS = {
    "all": lambda n, k: k == n,
    "half or more": lambda n, k: (k < n) & (2 * k >= n),
    "fewer": lambda n, k: 2 * k < n,
}
EDGES = (0.0, 0.6, 0.92, 1.0)
WIDTHS = {"below 1": (0, 0.9), "1": (0.9, 1.1), "above 1": (1.1, 9)}


def summary_rows(actual):
    """Rows of the table: needed, scv, utilisation, cases and the errors [%]."""
    missed, rows = 100 * errors(actual), []
    branches, needed, scv, busy = actual[:, :4].T
    for group, belongs in GROUPS.items():
        for width, (low, high) in WIDTHS.items():
            for least, most in pairwise(EDGES):
                some = belongs(branches, needed) & (scv > low) & (scv <= high)
                some &= (busy > least) & (busy <= most)
                loads = f"{busy[some].min():g} to {busy[some].max():g}"
                part = missed[some]
                largest = part.max(axis=0)
                rows.append(
                    (group, width, loads, len(part), largest, np.quantile(part, 0.95, axis=0))
                )
    return rows


def table(rows):
    """The rows as a page shows them: the largest error and, in brackets, the 95th percentile."""
    head = (
        "| needed | `scv` | utilisation | cases | mean | of one branch's | p50 | p99 |\n"
        "|---|---|---|---|---|---|---|---|\n"
    )
    lines = []
    for *case, largest, most in rows:
        cells = [
            "-" if np.isnan(largest[k]) else f"{largest[k]:.1f}% ({most[k]:.1f})"
            for k in (0, 3, 1, 2)
        ]
        lines.append("| " + " | ".join(str(cell) for cell in (*case, *cells)) + " |")
    return head + "\n".join(lines)


def write(page, cases):
    """Write a file of simulated numbers."""
    with page.open("w", encoding="utf-8", newline="") as file:
        file.write("# Simulated by tests/campaigns/fork_errors.py; service takes 1 on average.\n")
        written = csv.writer(file, lineterminator="\n")
        written.writerow(TITLES)
        for rows in cases:
            written.writerows([f"{x:.6g}" for x in row] for row in rows)


if __name__ == "__main__":
    random, fresh = np.random.default_rng(SEED), np.random.default_rng(FRESH_SEED)
    each = product(BRANCHES, SPREADS, SERVICES.items())
    write(PAGE, (simulate(n, c, u, min(MOST, int(s / n)), random) for n, c, (u, s) in each))
    write(FRESH, (simulate(*case, fresh, others_of, 1) for case in CASES))
    print(table(summary_rows(stored())))
