"""The load from which a bad state lasts for 10,000 requests: the law beside the event loop.

``python -m tests.campaigns.staying_loads --seed 2000 --count 100`` draws servers that drop old
requests, as `tests.campaigns.lasting` does. At the load that `headway.queueing.retries.lives`
gives, 24 replicas begin with a life of a request in which so many more come that they are in the
bad state, and are played by the event loop until no request waits and no more clients are away than
at the threshold. Replicas that end within three further lives have not been in the bad state, and
are left out; others are stopped after `LONGEST` requests. The load at which the bad state would
have lasted for 10,000 requests follows from the mean, and from how steeply times rise with the load
by `bad_lives`. Loads at an end of the range with two states are left out. Rows are stored in
`tests/data/staying_loads.csv`; the page docs/accuracy/retries.md rests on it.
"""

from math import ceil, inf, log
from pathlib import Path

import numpy as np

from headway.models.simulating.playing.run import Run
from headway.queueing.retries.lives import LASTING, bad_lives, staying_from
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
REPLICAS = 24
APART = 1.05  # ratio of loads to either side, to see how steeply times rise
STEPS = 20  # looks at each replica, in a timeout and a backoff
LIVES = 3  # lives of a request, after which a replica that is still down is in the bad state
LONGEST = 4 * LASTING
"""Requests after which a replica is abandoned."""


def both(seed):
    """The row of a server, if it has one: loads, and the requests that the bad state lasted."""
    made = drawn(DROPPING + seed)
    if made is None:
        return []
    queue, clients, numbers, _ = made
    between = folds(queue, clients)
    load = staying_from(queue, clients, (between.vanishes, between.tips))
    if load is None or not between.vanishes < load / APART < load * APART < between.tips:
        return []
    below, above = (_lasts(queue, clients, at) for at in (load / APART, load * APART))
    steep = log(above / below) / log(APART**2)
    requests, ended = played(seed, queue, clients, numbers, load)
    if not requests:
        return []
    simulated = load * (LASTING / requests) ** (1 / steep)
    error = load / max(ended, 1) ** 0.5 / steep
    spread = "constant" if numbers["jitter"] * numbers["backoff"] == 0 else "jittered"
    if queue.places < inf:
        spread = "refused"
    row = between.vanishes, load, simulated, error, requests
    return [(seed, spread, *(f"{number:.5g}" for number in row), ended)]


def _lasts(queue, clients, load):
    """Requests for which bad states last, by the law that is measured."""
    found = bad_lives(queue, clients, load, states_at(queue, clients, load))
    return found.time / max(found.ended, 1) * load


def played(seed, queue, clients, numbers, load):
    """Mean requests until the bad state ended, and the replicas in which it did.

    The mean is that of memoryless times: everything simulated, over the number of endings.
    """
    found = states_at(queue, clients, load)
    most = away(queue, clients, load, threshold_of(found)) + queue.servers
    delay = queue.timeout + numbers["backoff"]
    life = delay * (1 + numbers["retries"])
    settled = (1 + LIVES) * life
    rush = ceil(found[-1].rate * delay / STEPS)
    score, total, ended = score_at(queue, numbers, load), 0.0, 0
    for replica in range(REPLICAS):
        run, until, over = Run(score, seed, replica, kept=False), 0.0, False
        while not over and until < settled + LONGEST / load:
            if until < life:
                run.state.left[0] = rush  # they come with the next arrival
            until += delay / STEPS
            run.play(until)
            jobs, asking = counted(run)
            over = until > life and jobs < queue.servers and asking <= most
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
    for name in dict.fromkeys(row["spread"] for row in rows):
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
