"""How long good states last by chance: the chain of jobs and absent clients against simulations.

``python -m tests.campaigns.lasting --count 120`` draws servers of 1 to 8, timeouts of 0.5 to 15
service times, and 1 to 4 retries after a backoff of 0, 0.5, 2 or 20 timeouts, constant or with a
jitter of a half, at 80% to 99% of the load up to which a good state lasts. For those that should
last 200 to 20,000 requests by the chain, 24 replicas each are simulated from an empty start until
the number of jobs is four times that which waits for a timeout, and at least 40. Rows are stored in
`tests/data/lasting.csv`: the least and the most requests stated, and the mean of the replicas with
its standard error. The page docs/accuracy/retries.md and the words of ``headway retries`` rest on
it. ``--seed 40 --count 20`` renews a part.

With ``--seed 20000`` or more, servers also drop requests older than 50% to 150% of the timeout, and
replicas are simulated until the number of absent clients is half-way from the threshold to that of
the bad state.

Other campaigns draw servers here too: with ``--seed 40000`` or more they refuse who finds as many
waiting as they serve in 30% to 200% of the timeout, after a backoff of 0.2 timeouts or more; with
``--seed 60000`` or more clients have a retry budget of 20% to 90%.
"""

from math import inf
from pathlib import Path

import numpy as np

from headway.models import ModelGraph
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.playing.run import Run
from headway.models.simulating.scoring import score_of
from headway.queueing import MMm, MMmK
from headway.queueing.flows.clients import Clients
from headway.queueing.retries.attempts import Stability, states
from headway.queueing.retries.lasting import lasting
from headway.queueing.retries.times import TimedQueue
from headway.queueing.retries.tipping import folds
from tests import campaigns

PAGE = Path("tests/data/lasting.csv")
TITLES = ("seed", "backoff", "least", "most", "simulated", "error")
REPLICAS = 24
FEWEST, MOST = 200.0, 20_000.0
DROPPING = 20_000
"""Seeds from which servers drop old requests."""

REFUSING, BUDGETED = 40_000, 60_000
"""Seeds from which servers refuse requests, and from which clients have a retry budget."""


def drawn(seed):
    """A random server with services of 1 s, its clients and its load; None if it cannot tip."""
    draw = np.random.default_rng((seed, 37))
    servers, timeout = int(draw.integers(1, 9)), float(np.exp(draw.uniform(*np.log([0.5, 15.0]))))
    numbers = {
        "timeout": timeout,
        "retries": int(draw.integers(1, 5)),
        "backoff": float(draw.choice([0.0, 0.5, 2.0, 20.0])) * timeout,
        "jitter": float(draw.choice([0.0, 0.5])),
    }
    share = draw.uniform(0.8, 0.99)
    oldest = draw.uniform(0.5, 1.5) * timeout if DROPPING <= seed < REFUSING else inf
    places = inf
    if REFUSING <= seed < BUDGETED:
        places = servers + int(np.ceil(draw.uniform(0.3, 2.0) * servers * timeout))
        numbers["backoff"] = max(numbers["backoff"], 0.2 * timeout)
    elif seed >= BUDGETED:
        numbers["retry_budget"] = draw.uniform(0.2, 0.9)
    queue, clients = TimedQueue(1.0, servers, timeout, oldest, places), Clients(**numbers)
    between = folds(queue, clients)
    return None if between is None else (queue, clients, numbers, share * between.tips)


def states_at(queue, clients, load):
    """All states at a load."""
    return states(load, clients, lambda rate: queue.at(rate).late, queue.saturation)


def threshold_of(found):
    """The state between the good one and the bad one."""
    return next(one for one in found if one.stability is not Stability.STABLE)


def away(queue, clients, load, state):
    """Mean number of clients in a state that will retry; who is refused only backs off."""
    refused = queue.at(state.rate).dropped / state.late if queue.places < inf else 0.0
    return (state.rate - load) * ((1 - refused) * queue.timeout + float(clients.backoff))


def asking(queue, clients, load, state):
    """Mean number of clients in a state, who wait for an answer or back off, by Little's law."""
    at = queue.at(state.rate)
    waits = at.time_in_time + (at.late - at.dropped) * queue.timeout
    return state.rate * waits + (state.rate - load) * float(clients.backoff)


def stated(queue, clients, load):
    """Requests that a good state lasts, at least and at most; none without another state."""
    found = states_at(queue, clients, load)
    if len(found) < 3:
        return 0.0, 0.0
    known = lasting(queue, clients, load, found)
    return (0.0, 0.0) if known is None else (known[0] * load, known[1] * load)


def score_at(queue, numbers, load):
    """The score to simulate."""
    oldest = None if queue.oldest == inf else queue.oldest
    kind = MMm(1.0, queue.servers)
    if queue.places < inf:
        kind = MMmK(1.0, queue.servers, int(queue.places))
    graph = ModelGraph("server").station("server", kind, drop_older_than=oldest)
    return score_of(blueprint(graph.impatient(numbers).at(arrival_rate=load)))


def counted(run):
    """Number of jobs present, and of clients."""
    jobs = int(run.state.queues["present"][0])
    return jobs, int(run.state.clock["jobs"][0]) - jobs


def end_of(queue, numbers, load):
    """Whether a run has tipped over."""
    if queue.loses_none:
        far = 4 * queue.servers * (1 + queue.timeout) + 40
        return lambda run: counted(run)[0] >= far
    clients = Clients(**numbers)
    found = states_at(queue, clients, load)
    between = threshold_of(found), found[-1]
    if queue.places < inf:
        far = sum(asking(queue, clients, load, one) for one in between) / 2
    else:
        far = sum(away(queue, clients, load, one) for one in between) / 2
        far += queue.servers * (1 + queue.oldest)
    return lambda run: counted(run)[1] >= far


def played(seed, queue, numbers, load):
    """Requests until each of the replicas has tipped over."""
    score, over = score_at(queue, numbers, load), end_of(queue, numbers, load)
    step, found = 10 / load, []
    for replica in range(REPLICAS):
        run, until = Run(score, seed, replica, kept=False), 0.0
        while not over(run):
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
    """Factors by which simulated means are below the least, or above the most; 1 in between."""
    least, most, mean = (np.array([float(r[n]) for r in rows]) for n in TITLES[2:5])
    return np.maximum(np.maximum(least / mean, mean / most), 1.0)


def table(rows):
    """Lines of the page: by backoff, in timeouts."""
    for name, kept in kinds(rows):
        if not kept:
            continue
        off = factors(kept)
        middle, usual = np.percentile(off, [50, 90])
        yield f"| {name} | {len(kept)} | {middle:.1f} | {usual:.1f} | {off.max():.1f} |"


def kinds(rows):
    """Rows by their kind, with its name."""
    for name, low, high in (("none to two", 0.0, 2.0), ("twenty", 20.0, 20.0)):
        yield name, [row for row in keeping(rows) if low <= float(row["backoff"]) <= high]
    yield "any, with drop_older_than", dropping(rows)
    yield "any, with shed", [row for row in rows if REFUSING <= int(row["seed"]) < BUDGETED]
    yield "any, with retry_budget", [row for row in rows if int(row["seed"]) >= BUDGETED]


def keeping(rows):
    """Rows of servers that drop nothing."""
    return [row for row in rows if int(row["seed"]) < DROPPING]


def dropping(rows):
    """Rows of servers that drop old requests."""
    return [row for row in rows if DROPPING <= int(row["seed"]) < REFUSING]


def main():
    """Store the rows together with those of other seeds, and print the table of the page."""
    campaigns.renewed(both, __doc__, 120, PAGE, TITLES)
    print("\n".join(table(campaigns.stored_rows(PAGE))))


if __name__ == "__main__":
    campaigns.run(__spec__)
