"""The load up to which a good state lasts for 10,000 requests: the law beside the event loop.

``python -m tests.campaigns.tipping_loads --count 60`` draws servers as `tests.campaigns.lasting`
does. At the load that `headway.queueing.retries.lives` gives, 24 replicas are played by the event
loop until they tip over; the load at which they would have lasted for 10,000 requests follows from
their mean, and from how steeply the law's own times fall with the load. Loads at an end of the
range with two states are left out.
Rows are stored in `tests/data/tipping_loads.csv`; the page docs/accuracy/retries.md rests on it.
"""

from math import log
from pathlib import Path

import numpy as np

from headway.queueing.retries.lives import LASTING, good_lives, lasting_up_to
from headway.queueing.retries.tipping import folds
from tests import campaigns
from tests.campaigns.lasting import REPLICAS, drawn, kinds, played, states_at

PAGE = Path("tests/data/tipping_loads.csv")
TITLES = ("seed", "backoff", "fold", "found", "simulated", "error")
LOWER = 0.95  # ratio of loads, to see how steeply times fall


def both(seed):
    """The row of a server, if it has one: loads relative to that at which no good state is left."""
    made = drawn(seed)
    if made is None:
        return []
    queue, clients, numbers, _ = made
    between = folds(queue, clients)
    load = lasting_up_to(queue, clients, (between.vanishes, between.tips))
    if load is None or not between.vanishes < LOWER * load or load == between.tips:
        return []
    here, below = (_lasts(queue, clients, at) for at in (load, LOWER * load))
    steep = log(below / here) / log(1 / LOWER)
    found = played(seed, queue, numbers, load)
    simulated = load * (found.mean() / LASTING) ** (1 / steep)
    error = load * found.std(ddof=1) / found.mean() / REPLICAS**0.5 / steep
    row = numbers["backoff"] / queue.timeout, between.tips, load, simulated, error
    return [(seed, *(f"{number:.5g}" for number in row))]


def _lasts(queue, clients, load):
    """Requests for which good states last, by the law that is measured."""
    found = good_lives(queue, clients, load, states_at(queue, clients, load))
    return found.time / max(found.ended, 1) * load


def errors(rows):
    """Errors of loads [%]."""
    found, simulated = (np.array([float(row[name]) for row in rows]) for name in TITLES[3:5])
    return 100 * np.abs(found / simulated - 1)


def table(rows):
    """Lines of the page: by backoff, in timeouts."""
    for name, kept in kinds(rows):
        if not kept:
            continue
        off = errors(kept)
        middle, usual = np.percentile(off, [50, 90])
        yield f"| {name} | {len(off)} | {middle:.1f}% | {usual:.1f}% | {off.max():.1f}% |"


def main():
    """Store the rows together with those of other seeds, and print the table of the page."""
    campaigns.renewed(both, __doc__, 60, PAGE, TITLES)
    print("\n".join(table(campaigns.stored_rows(PAGE))))


if __name__ == "__main__":
    campaigns.run(__spec__)
