"""Errors of method attempts, compared with simulations of random servers whose clients retry.

``python -m tests.campaigns.attempts --seed 1000 --count 60`` draws servers of 1 to 8, timeouts of
0.1 to 15 service times (log-uniform), and 1 to 4 retries after a backoff of 0 to 2 timeouts, at 30%
to 90% of the load up to which a good state lasts, or at which all attempts together fill the
servers. Rows are stored in `tests/data/attempts.csv`: throughput, goodput, response time and queue
length, by headway and simulated. Left out are servers that method attempts refuses or says may tip
over, and those that tip over in their simulation or would take more than
1.5e8 events. The label of
`headway.queueing.retries.methods` rests on it, and the page docs/accuracy/retries.md. With ``--seed
2000`` or more, servers also drop requests older than 30% to 100% of the timeout, and with ``--seed
3000`` or more they refuse attempts instead: timeouts of 0.5 to 15 service times, places for as many
as are served in none to 1.2 timeouts, loads of 50% to 130% of the servers' capacity. Both have
labels of their own. The runs of those that refuse are longer, as clients come back late.

Seeds below 1000 had been looked at when the method was made.
"""

from contextlib import suppress
from math import inf
from pathlib import Path

import numpy as np

from headway.errors import GraphError, InvalidParameter, Saturated
from headway.models import ModelGraph
from headway.queueing import MMm, MMmK
from headway.queueing.flows.clients import Clients
from headway.queueing.retries.attempts import per_request
from headway.queueing.retries.times import TimedQueue
from headway.queueing.retries.tipping import folds
from tests import campaigns

PAGE = Path("tests/data/attempts.csv")
TITLES = ("seed", "timeout", "number", "found", "simulated")
DROPPING = 2000
"""Seeds from which servers drop old requests."""

REFUSING = 3000
"""Seeds from which servers refuse attempts."""

SHORT = 1.0
"""Service times of a timeout below which servers that drop old requests have a label of their own.
"""

NUMBERS = ("throughput", "goodput", "response_time", "queue_length")
BANDS = ((0.1, 1.0), (1.0, 3.0), (3.0, 15.0))
"""Ranges of timeouts with a row of the table each, in service times."""

HALF_WIDTH = 0.015
WIDTHS = (0.005, 0.01, HALF_WIDTH)
"""Half widths to try in turn for servers that refuse attempts."""

AT_MOST = 1.5e8


def drawn(seed):
    """A random server with services of 1 s, its clients, and its load."""
    draw = np.random.default_rng(seed)
    refuses = seed >= REFUSING
    servers = int(draw.integers(1, 9))
    timeout = float(np.exp(draw.uniform(*np.log([0.5 if refuses else 0.1, 15.0]))))
    numbers = {
        "timeout": timeout,
        "retries": int(draw.integers(1, 5)),
        "backoff": draw.choice([0.0, 0.5, 2.0]) * timeout,
        "jitter": draw.choice([0.0, 0.5]),
    }
    if refuses:
        return servers, numbers, draw.uniform(0.5, 1.3) * servers
    clients = Clients(**numbers)
    found = folds(TimedQueue(1.0, servers, timeout), clients)
    most = servers / per_request(clients, 1.0) if found is None else min(found.tips, servers)
    return servers, numbers, draw.uniform(0.3, 0.9) * most


def model(seed):
    """The server as a model."""
    servers, numbers, load = drawn(seed)
    share = np.random.default_rng((seed, 1)).uniform(0.3, 1.0)
    oldest = share * numbers["timeout"] if DROPPING <= seed < REFUSING else None
    station = MMm(1.0, servers)
    if seed >= REFUSING:
        waiting = np.random.default_rng((seed, 1)).uniform(0.0, 1.2) * servers * numbers["timeout"]
        station = MMmK(1.0, servers, servers + int(np.ceil(waiting)))
    graph = ModelGraph("server").station("server", station, drop_older_than=oldest)
    graph = graph.impatient(numbers)
    return graph.at(arrival_rate=load)


def numbers_of(answer):
    """The numbers that are compared, from a solution or a simulation."""
    values = [answer[f"server.{n}" if n == "queue_length" else n] for n in NUMBERS]
    return [float(getattr(value, "mean", value)) for value in values]


def simulated(seed):
    """The server, simulated as closely as the events allow."""
    widths = WIDTHS if seed >= REFUSING else (HALF_WIDTH,)
    for width in widths[:-1]:
        with suppress(InvalidParameter):
            return model(seed).simulate(width, seed=seed, at_most=AT_MOST)
    return model(seed).simulate(widths[-1], seed=seed, at_most=AT_MOST)


def both(seed):
    """Rows of a server: its seed, its timeout, the number, its value by headway and simulated."""
    try:
        solved = model(seed).solve()
        if solved["response_time"] == inf:
            return []
        found = simulated(seed)
    except (GraphError, InvalidParameter, Saturated):
        return []
    timeout = drawn(seed)[1]["timeout"]
    pairs = zip(NUMBERS, numbers_of(solved), numbers_of(found), strict=True)
    return [(seed, f"{timeout:.4g}", name, f"{one:.6g}", f"{two:.6g}") for name, one, two in pairs]


def errors(rows, name, low=0.0, high=inf):
    """Relative errors of a number, for timeouts within a range [%]."""
    kept = [r for r in rows if r["number"] == name and low <= float(r["timeout"]) < high]
    return np.array([100 * abs(float(r["found"]) / float(r["simulated"]) - 1) for r in kept])


def plainly(rows):
    """Rows of servers that take all."""
    return [row for row in rows if int(row["seed"]) < DROPPING]


def dropping(rows):
    """Rows of servers that drop old requests."""
    return [row for row in rows if DROPPING <= int(row["seed"]) < REFUSING]


def refusing(rows):
    """Rows of servers that refuse attempts."""
    return [row for row in rows if int(row["seed"]) >= REFUSING]


def table(rows):
    """Lines of the page, from rows by title: one per number and range of timeouts."""
    old, refused = dropping(rows), refusing(rows)
    rows = plainly(rows)
    for name in NUMBERS:
        for low, high in BANDS:
            yield _line(name, f"{low:g} to {high:g}", errors(rows, name, low, high))
    for name in NUMBERS:
        for which, low, high in (("below 1", 0.0, SHORT), ("1 to 15", SHORT, inf)):
            yield _line(name, f"{which}, with drop_older_than", errors(old, name, low, high))
    for name in NUMBERS:
        yield _line(name, "0.5 to 15, with shed", errors(refused, name))


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
