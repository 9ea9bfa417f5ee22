"""The load from which a bad state lasts for 10,000 requests: the chain against simulations.

``python -m tests.campaigns.staying_loads --count 100`` draws servers that drop old requests, as
`tests.campaigns.lasting` does. At the load that the chain gives, 12 replicas begin with so many
requests at once that they are in the bad state, and are simulated until no request waits and no
more clients are away than at the threshold. Replicas that end within three lifetimes of a request
have not been in the bad state, and are left out; others are stopped after `LONGEST` requests, and
where none ended their state is taken to last for all requests that were simulated, which is too
short. The load at which the bad state would have lasted for 10,000 requests follows from the mean,
and from how steeply the chain's own times rise with the load. Loads at an end of the range with two
states are left out. Rows are stored in
`tests/data/staying_loads.csv`; the page docs/accuracy/retries.md rests on it.
"""

from math import ceil, log
from pathlib import Path

import numpy as np

from headway.models.simulating.playing.run import Run
from headway.queueing.retries.lasting import LASTING, staying, staying_from
from headway.queueing.retries.tipping import folds
from tests import campaigns
from tests.campaigns.lasting import (
    DROPPING,
    away,
    counted,
    drawn,
    score_at,
    states_at,
    threshold_of,
)

PAGE = Path("tests/data/staying_loads.csv")
TITLES = ("seed", "spread", "fold", "found", "simulated", "error", "requests", "ended")
REPLICAS = 12
HIGHER = 1.01  # ratio of loads, to see how steeply times rise
LIVES = 3  # lifetimes of a request, after which a replica that is still down is in the bad state
LONGEST = 2 * LASTING
"""Requests after which a replica is abandoned."""


def both(seed):
    """The row of a server, if it has one: loads, and the requests that the bad state lasted."""
    made = drawn(DROPPING + seed)
    if made is None:
        return []
    queue, clients, numbers, _ = made
    between = folds(queue, clients)
    load = staying_from(queue, clients, (between.vanishes, between.tips))
    if load is None or load == between.vanishes or not HIGHER * load < between.tips:
        return []
    here, above = (
        staying(queue, clients, at, states_at(queue, clients, at)) * at
        for at in (load, HIGHER * load)
    )
    steep = log(above / here) / log(HIGHER)
    requests, ended = played(seed, queue, clients, numbers, load)
    if not requests:
        return []
    simulated = load * (LASTING / requests) ** (1 / steep)
    error = load / max(ended, 1) ** 0.5 / steep
    spread = "constant" if numbers["jitter"] * numbers["backoff"] == 0 else "jittered"
    row = between.vanishes, load, simulated, error, requests
    return [(seed, spread, *(f"{number:.5g}" for number in row), ended)]


def played(seed, queue, clients, numbers, load):
    """Mean requests until the bad state ended, and the replicas in which it did.

    The mean is that of memoryless times: everything simulated, over the number of endings.
    """
    found = states_at(queue, clients, load)
    most = away(queue, clients, load, threshold_of(found)) + queue.servers
    delay = queue.timeout + numbers["backoff"]
    settled = LIVES * delay * (1 + numbers["retries"])
    burst = ceil(2 * found[-1].rate * delay) + 10
    score, total, ended = score_at(queue, numbers, load), 0.0, 0
    for replica in range(REPLICAS):
        run, until, over = Run(score, seed, replica, kept=False), 0.0, False
        run.play(until)
        run.state.left[0] = burst  # all of them come with the next arrival
        while not over and until < settled + LONGEST / load:
            until += delay / 20
            run.play(until)
            jobs, asking = counted(run)
            over = until > delay and jobs < queue.servers and asking <= most
        if until > settled:
            total, ended = total + (until - settled) * load, ended + over
    return total / max(ended, 1), ended


def errors(rows):
    """Errors of loads [%]."""
    found, simulated = (np.array([float(row[name]) for row in rows]) for name in TITLES[3:5])
    return 100 * np.abs(found / simulated - 1)


def ratios(rows):
    """How many times as long the state lasted at these loads."""
    return np.array([float(row["requests"]) for row in rows]) / LASTING


def lasting_on(rows):
    """In how many rows it ended in no replica."""
    return sum(row["ended"] == "0" for row in rows)


def table(rows):
    """Lines of the page: by whether backoffs have jitter."""
    for name in ("jittered", "constant"):
        kept = [row for row in rows if row["spread"] == name]
        off, by = errors(kept), ratios(kept)
        middle, usual = np.percentile(off, [50, 90])
        low, half, high = np.percentile(by, [5, 50, 95])
        yield (
            f"| {name} | {len(off)} | {middle:.1f}% | {usual:.1f}% | {off.max():.1f}% | "
            f"{half:.1f} | {low:.1f} to {high:.1f} | {lasting_on(kept)} |"
        )


def main():
    """Store the rows together with those of other seeds, and print the table of the page."""
    campaigns.renewed(both, __doc__, 100, PAGE, TITLES)
    print("\n".join(table(campaigns.stored_rows(PAGE))))


if __name__ == "__main__":
    campaigns.run(__spec__)
