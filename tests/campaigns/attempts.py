"""Errors of method attempts, compared with simulations of random servers whose clients retry.

``python -m tests.campaigns.attempts --seed 1000 --count 60`` draws servers of 1 to 8, timeouts of
0.1 to 15 service times (log-uniform), and 1 to 4 retries after a backoff of 0 to 2 timeouts, at 30%
to 90% of the load up to which a good state lasts, or at which all attempts together fill the
servers. Rows are stored in `tests/data/attempts.csv`: throughput, goodput, response time and queue
length, by headway and simulated. Left out are servers that method attempts refuses or says may tip
over, and those that tip over in their simulation or would take more than
1.5e8 events. The label of
`headway.queueing.retries.methods` rests on it, and the page docs/accuracy/retries.md. With ``--seed
2000`` or more, servers also drop requests older than 30% to 100% of the timeout, which has a label
of its own.

Seeds below 1000 had been looked at when the method was made.
"""

from math import inf
from pathlib import Path

import numpy as np

from headway.errors import GraphError, InvalidParameter, Saturated
from headway.models import ModelGraph
from headway.queueing import MMm
from headway.queueing.flows.clients import Clients
from headway.queueing.retries.attempts import per_request
from headway.queueing.retries.times import TimedQueue
from headway.queueing.retries.tipping import folds
from tests import campaigns

PAGE = Path("tests/data/attempts.csv")
TITLES = ("seed", "timeout", "number", "found", "simulated")
DROPPING = 2000
"""Seeds from which servers drop old requests."""

SHORT = 1.0
"""Service times of a timeout below which servers that drop old requests have a label of their own.
"""

NUMBERS = ("throughput", "goodput", "response_time", "queue_length")
BANDS = ((0.1, 1.0), (1.0, 3.0), (3.0, 15.0))
"""Ranges of timeouts with a row of the table each, in service times."""

HALF_WIDTH = 0.015


def drawn(seed):
    """A random server with services of 1 s, its clients, and its load."""
    draw = np.random.default_rng(seed)
    servers, timeout = int(draw.integers(1, 9)), float(np.exp(draw.uniform(*np.log([0.1, 15.0]))))
    numbers = {
        "timeout": timeout,
        "retries": int(draw.integers(1, 5)),
        "backoff": draw.choice([0.0, 0.5, 2.0]) * timeout,
        "jitter": draw.choice([0.0, 0.5]),
    }
    clients = Clients(**numbers)
    found = folds(TimedQueue(1.0, servers, timeout), clients)
    most = servers / per_request(clients, 1.0) if found is None else min(found.tips, servers)
    return servers, numbers, draw.uniform(0.3, 0.9) * most


def model(seed):
    """The server as a model."""
    servers, numbers, load = drawn(seed)
    share = np.random.default_rng((seed, 1)).uniform(0.3, 1.0)
    oldest = share * numbers["timeout"] if seed >= DROPPING else None
    graph = ModelGraph("server").station("server", MMm(1.0, servers), drop_older_than=oldest)
    graph = graph.impatient(numbers)
    return graph.at(arrival_rate=load)


def numbers_of(answer):
    """The numbers that are compared, from a solution or a simulation."""
    values = [answer[f"server.{n}" if n == "queue_length" else n] for n in NUMBERS]
    return [float(getattr(value, "mean", value)) for value in values]


def both(seed):
    """Rows of a server: its seed, its timeout, the number, its value by headway and simulated."""
    try:
        solved = model(seed).solve()
        if solved["response_time"] == inf:
            return []
        found = model(seed).simulate(HALF_WIDTH, seed=seed, at_most=1.5e8)
    except (GraphError, InvalidParameter, Saturated):
        return []
    timeout = drawn(seed)[1]["timeout"]
    pairs = zip(NUMBERS, numbers_of(solved), numbers_of(found), strict=True)
    return [(seed, f"{timeout:.4g}", name, f"{one:.6g}", f"{two:.6g}") for name, one, two in pairs]


def errors(rows, name, low=0.0, high=inf):
    """Relative errors of a number, for timeouts within a range [%]."""
    kept = [r for r in rows if r["number"] == name and low <= float(r["timeout"]) < high]
    return np.array([100 * abs(float(r["found"]) / float(r["simulated"]) - 1) for r in kept])


def dropping(rows, *, old):
    """Rows of servers that drop old requests, or of those that do not."""
    return [row for row in rows if (int(row["seed"]) >= DROPPING) == old]


def table(rows):
    """Lines of the page, from rows by title: one per number and range of timeouts."""
    old = dropping(rows, old=True)
    rows = dropping(rows, old=False)
    for name in NUMBERS:
        for low, high in BANDS:
            yield _line(name, f"{low:g} to {high:g}", errors(rows, name, low, high))
    for name in NUMBERS:
        for which, low, high in (("below 1", 0.0, SHORT), ("1 to 15", SHORT, inf)):
            yield _line(name, f"{which}, with drop_older_than", errors(old, name, low, high))


def _line(name, which, off):
    middle, most = np.percentile(off, [50, 90])
    shown = f"{middle:.1f}% | {most:.1f}% | {off.max():.1f}%"
    return f"| {name.replace('_', ' ')} | {which} | {len(off)} | {shown} |"


def main():
    """Store the rows together with those of other seeds, and print the table of the page."""
    campaigns.renewed(both, __doc__, 60, PAGE, TITLES)
    print("\n".join(table(campaigns.stored_rows(PAGE))))


if __name__ == "__main__":
    campaigns.run(__spec__)
