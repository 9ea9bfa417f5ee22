"""How long good states last by chance: the chain of jobs and clients away beside simulations.

``python -m tests.campaigns.lasting --count 120`` draws servers of 1 to 8, timeouts of 0.5 to 15
service times, 1 to 4 retries after none, half, two or twenty timeouts of backoff, constant or
jittered by a half, at 80 to 99% of the load up to which a good state lasts. Of those of which it
says that they last 200 to 20,000 requests, 24 replicas each are played from an empty start until
four times as many jobs are there as wait for a timeout, and 40. Rows are stored in
`tests/data/lasting.csv`: the least and the most requests stated, and the mean of the replicas with
its standard error. The page docs/accuracy/retries.md and the words of ``headway retries`` rest on
it. ``--seed 40 --count 20`` renews a piece.
"""

from pathlib import Path

import numpy as np

from headway.models import ModelGraph
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.playing.run import Run
from headway.models.simulating.scoring import score_of
from headway.queueing import MMm
from headway.queueing.flows.clients import Clients
from headway.queueing.retries.attempts import states
from headway.queueing.retries.lasting import lasting
from headway.queueing.retries.times import TimedQueue
from headway.queueing.retries.tipping import folds
from tests import campaigns

PAGE = Path("tests/data/lasting.csv")
TITLES = ("seed", "backoff", "least", "most", "simulated", "error")
REPLICAS = 24
FEWEST, MOST = 200.0, 20_000.0


def drawn(seed):
    """A random server of services of 1 s, its clients and its load; None where nothing tips."""
    draw = np.random.default_rng((seed, 37))
    servers, timeout = int(draw.integers(1, 9)), float(np.exp(draw.uniform(*np.log([0.5, 15.0]))))
    numbers = {
        "timeout": timeout,
        "retries": int(draw.integers(1, 5)),
        "backoff": float(draw.choice([0.0, 0.5, 2.0, 20.0])) * timeout,
        "jitter": float(draw.choice([0.0, 0.5])),
    }
    queue, clients = TimedQueue(1.0, servers, timeout), Clients(**numbers)
    between, share = folds(queue, clients), draw.uniform(0.8, 0.99)
    return None if between is None else (queue, clients, numbers, share * between.tips)


def stated(queue, clients, load):
    """Requests that a good state lasts, at the least and the most; none where no other does."""
    found = states(load, clients, lambda rate: queue.at(rate).late, queue.saturation)
    if len(found) < 3:
        return 0.0, 0.0
    known = lasting(queue, clients, load, found)
    return (0.0, 0.0) if known is None else (known[0] * load, known[1] * load)


def played(seed, queue, numbers, load):
    """Requests until each of the replicas has tipped over."""
    graph = ModelGraph("server").station("server", MMm(1.0, queue.servers)).impatient(numbers)
    score = score_of(blueprint(graph.at(arrival_rate=load)))
    far = 4 * queue.servers * (1 + queue.timeout) + 40
    step, found = 10 / load, []
    for replica in range(REPLICAS):
        run, until = Run(score, seed, replica, kept=False), 0.0
        while run.state.queues["present"][0] < far:
            until += step
            run.play(until)
        found.append(until * load)
    return np.array(found)


def both(seed):
    """The row of a server, if it has one."""
    made = drawn(seed)
    if made is None:
        return []
    queue, clients, numbers, load = made
    least, most = stated(queue, clients, load)
    if not FEWEST <= least <= MOST:
        return []
    found = played(seed, queue, numbers, load)
    error = found.std(ddof=1) / REPLICAS**0.5
    row = (numbers["backoff"] / queue.timeout, least, most, found.mean(), error)
    return [(seed, *(f"{number:.5g}" for number in row))]


def factors(rows):
    """By how much the means of simulations are below the least, or above the most; 1 between."""
    least, most, mean = (np.array([float(r[n]) for r in rows]) for n in TITLES[2:5])
    return np.maximum(np.maximum(least / mean, mean / most), 1.0)


def table(rows):
    """Lines of the page: by backoff, in timeouts."""
    for name, low, high in (("none to two", 0.0, 2.0), ("twenty", 20.0, 20.0)):
        kept = [row for row in rows if low <= float(row["backoff"]) <= high]
        off = factors(kept)
        middle, usual = np.percentile(off, [50, 90])
        yield f"| {name} | {len(kept)} | {middle:.1f} | {usual:.1f} | {off.max():.1f} |"


def main():
    """Store the rows with those that are there of other seeds, and print the table of the page."""
    campaigns.renewed(both, __doc__, 120, PAGE, TITLES)
    print("\n".join(table(campaigns.stored_rows(PAGE))))


if __name__ == "__main__":
    campaigns.run(__spec__)
