"""What a station behind a fork is told amiss, as joins are taken for a Poisson process.

``python -m tests.campaigns.behind_forks`` simulates anew what `tests/data/behind_forks.csv` holds
(minutes) and prints the table of docs/accuracy/forks.md; the tests recompute the table from that
file.

Joins come in the order of their forks, as each queue serves in order of arrival. So branches and
the station behind are simulated by Lindley's recursion. Its times are scaled by what the same
services miss of M/M/1's mean where the requests themselves, a Poisson process, come to them.

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
    """Rows of the file: all needed, and half; the rate is that at which a branch is so busy."""
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
    """What was simulated, shape (cases, titles)."""
    return stored_numbers(PAGE, TITLES)


def errors(actual):
    """Relative errors of M/M/1's mean response."""
    _, _, _, busy, behind, mean = actual.T
    return behind / busy / (1 - behind) / mean - 1


def summary_rows(actual):
    """Rows of the table: needed, scv, branches, and errors [%] by utilisation of these."""
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
    """Simulate anew."""
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
