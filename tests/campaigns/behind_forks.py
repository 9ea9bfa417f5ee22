"""Errors at a station behind a fork, because joins are taken as a Poisson process.

``python -m tests.campaigns.behind_forks`` simulates again what `tests/data/behind_forks.csv`
contains (minutes) and prints the table of docs/accuracy/forks.md; the tests recompute the table
from that file.

Joins come in the order of their forks, as each queue serves in order of arrival. So branches and
the station behind are simulated by Lindley's recursion. Times are scaled by the ratio of M/M/1's
exact mean to the mean with the same services and Poisson arrivals of the requests themselves.

No constant or label names it; docs/accuracy/forks.md has its figures.
"""

import csv
from itertools import product
from pathlib import Path

import numpy as np

from tests.campaigns import stored_numbers

PAGE = Path("tests/data/behind_forks.csv")
TITLES = ("branches", "needed", "scv", "utilisation", "behind", "response")
BRANCHES, SPREADS, LOADS = (2, 8, 32), (0.25, 1.0, 2.0), (0.3, 0.6, 0.9)
REQUESTS, SEED = 1_000_000, 1719


def lindley(gaps, service):
    """Response times, in order of arrival."""
    paths = np.concatenate([[0.0], np.cumsum(service[:-1] - gaps[1:])])
    return paths - np.minimum.accumulate(paths) + service


def simulate(branches, scv, busy, requests, random):
    """Rows of the file: for all parts needed, and half; rates set a branch's utilisation."""
    gaps = random.exponential(1 / busy, requests)
    times = np.empty((branches, requests), np.float32)
    for row in times:
        row[:] = lindley(gaps, random.gamma(1 / scv, scv, requests))
    work, rows = random.exponential(1 / busy, requests), []
    for needed in (branches, branches // 2):
        kth = np.partition(times, needed - 1, axis=0)[needed - 1]
        joins = np.diff(np.cumsum(gaps) + kth, prepend=0.0)
        for behind in LOADS:
            some = slice(requests // 20, None)
            result, known = (lindley(g, behind * work)[some].mean() for g in (joins, gaps))
            exact = behind / busy / (1 - behind)
            rows.append((branches, needed, scv, busy, behind, result * exact / known))
    return rows


def stored():
    """The simulated numbers, shape (cases, titles)."""
    return stored_numbers(PAGE, TITLES)


def errors(actual):
    """Relative errors of M/M/1's mean response."""
    _, _, _, busy, behind, mean = actual.T
    return behind / busy / (1 - behind) / mean - 1


def summary_rows(actual):
    """Rows of the table: needed, scv, branches, and errors [%] by their utilisation."""
    missed, rows = 100 * np.abs(errors(actual)), []
    branches, needed, scv, busy = actual[:, :4].T
    for whole, spread, count in product((True, False), SPREADS, BRANCHES):
        some = ((needed == branches) == whole) & (scv == spread) & (branches == count)
        parts = [missed[some & (busy == load)].max() for load in LOADS]
        rows.append(("all" if whole else "half", spread, count, parts))
    return rows


def table(rows):
    """The rows as a page shows them: the largest errors."""
    head = " | ".join(f"{100 * load:.0f}% busy" for load in LOADS)
    lines = [f"| needed | `scv` | branches | {head} |", "|---" * (3 + len(LOADS)) + "|"]
    for needed, scv, count, parts in rows:
        cells = [f"{part:.0f}%" for part in parts]
        lines.append("| " + " | ".join([needed, f"{scv:g}", str(count), *cells]) + " |")
    return "\n".join(lines)


def main():
    """Simulate again."""
    with PAGE.open("w", encoding="utf-8", newline="") as file:
        file.write(
            "# Simulated by tests/campaigns/behind_forks.py; each branch's service takes 1.\n"
        )
        written = csv.writer(file, lineterminator="\n")
        written.writerow(TITLES)
        for case in product(BRANCHES, SPREADS, LOADS):
            random = np.random.default_rng([SEED, *(int(100 * part) for part in case)])
            rows = simulate(*case, REQUESTS, random)
            written.writerows([f"{x:.6g}" for x in row] for row in rows)
            file.flush()
    print(table(summary_rows(stored())))


if __name__ == "__main__":
    main()
