"""Errors of the laws of several servers with general service times, by simulation.

``python -m tests.campaigns.general_pools`` simulates again what `tests/data/general_pools.csv`
contains (some minutes) and prints the table of docs/accuracy.md; the tests recompute the table from
that file.

No constant or label names it; docs/accuracy/stations.md has its figures.
"""

import csv
from pathlib import Path

import numpy as np

from headway.numerals import significant
from headway.queueing import GGm, MGm
from tests.campaigns import stored_numbers

PAGE = Path("tests/data/general_pools.csv")
TITLES = ("servers", "utilisation", "arrival_scv", "scv", "waiting_time", "standard_error")
CASES, JOBS, SEED = 240, 3_000_000, 15
MOST_SERVERS = 16
_BLOCK, _BATCHES = 2000, 20
SURE = 0.02
"""Standard error, relative to the mean wait, up to which a case counts in errors of waits."""


def cases(random, poisson):
    """Servers, utilisation, scv of interarrival times and of service; mean service is 1."""
    spreads = [0, 0.25, 0.5, 1, 2, 4]
    for _ in range(CASES // 2):
        arrivals = 1.0 if poisson else float(random.choice(spreads))
        service = float(random.choice([*spreads, 8]))
        yield int(random.integers(1, 17)), random.uniform(0.3, 0.95), arrivals, service


def times(random, scv, other, count):
    """Times with mean 1: gamma, or otherwise hyperexponential or lognormal."""
    if scv == 0:
        return np.ones(count)
    if scv == 1 or not other:
        return random.gamma(1 / scv, scv, count)
    if scv < 1:
        width = np.log1p(scv)
        return random.lognormal(-width / 2, width**0.5, count)
    share = 0.5 * (1 + ((scv - 1) / (scv + 1)) ** 0.5)
    often = random.random(count) < share
    return random.exponential(np.where(often, 0.5 / share, 0.5 / (1 - share)))


def simulate(cases, jobs, random):
    """Mean wait and its standard error by case: each job takes the server that is free first."""
    servers, busy = (np.array(column) for column in list(zip(*cases, strict=True))[:2])
    free = np.where(np.arange(MOST_SERVERS) < servers[:, None], 0.0, np.inf)
    other = random.random((2, len(cases))) < 0.5
    means = []
    for _ in range(jobs // _BLOCK):
        gaps = [times(random, c[2], o, _BLOCK) for c, o in zip(cases, other[0], strict=True)]
        takes = [times(random, c[3], o, _BLOCK) for c, o in zip(cases, other[1], strict=True)]
        gaps = np.transpose(gaps) / (servers * busy)
        total = np.zeros(len(cases))
        for gap, take in zip(gaps, np.transpose(takes), strict=True):
            total += free[:, 0]
            free[:, 0] += take
            free.sort(axis=1)
            free = np.maximum(free - gap[:, None], 0)
        means.append(total / _BLOCK)
    kept = np.array(means[len(means) // 10 :])
    batches = np.array([part.mean(axis=0) for part in np.array_split(kept, _BATCHES)])
    return batches.mean(axis=0), batches.std(axis=0, ddof=1) / _BATCHES**0.5


def stored():
    """The simulated cases, shape (cases, titles)."""
    return stored_numbers(PAGE, TITLES)


def summary_rows(actual):
    """Rows of the table: law, quantity, and largest, 95th percentile and median error [%]."""
    poisson, rows = actual[:, 2] == 1, []
    for name, some in (("MGm", actual[poisson]), ("GGm", actual[~poisson])):
        law = np.array([_wait(name, *case[:4]) for case in some])
        wait = some[:, 4]
        sure = (wait > 0) & (some[:, 5] <= SURE * wait)
        off = np.abs(law - wait)
        for what, part in (("waiting", off[sure] / wait[sure]), ("response", off / (1 + wait))):
            errors = [100 * float(np.quantile(part, q)) for q in (1, 0.95, 0.5)]
            rows.append((name, f"{what} time", len(part), *errors))
    return rows


def _wait(name, servers, busy, arrival_scv, scv):
    general = GGm(1.0, servers, arrival_scv, scv)
    law = MGm(1.0, servers, scv) if name == "MGm" else general
    return float(law.waiting_time(busy * servers))


def table(rows):
    """The rows as a page shows them."""
    head = "| law | error of | cases | largest | 95 of 100 | median |\n|---|---|---|---|---|---|\n"
    lines = (
        f"| `{name}` | {what} | {n} | {'% | '.join(significant(e, 2) for e in errors)}% |"
        for name, what, n, *errors in rows
    )
    return head + "\n".join(lines)


if __name__ == "__main__":
    random = np.random.default_rng(SEED)
    drawn = [*cases(random, poisson=True), *cases(random, poisson=False)]
    wait, error = simulate(drawn, JOBS, random)
    with PAGE.open("w", encoding="utf-8", newline="") as file:
        file.write("# Simulated by tests/campaigns/general_pools.py; service takes 1 on average.\n")
        written = csv.writer(file, lineterminator="\n")
        written.writerow(TITLES)
        written.writerows(
            [f"{x:.6g}" for x in (*case, w, e)]
            for case, w, e in zip(drawn, wait, error, strict=True)
        )
    print(table(summary_rows(stored())))
