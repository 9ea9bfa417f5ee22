"""How long backlogs last: what headway says, beside simulations.

``python -m tests.campaigns.drain_times --seed 1000 --count 45`` draws two things for each seed. A
pool of 1 to 16 servers at 30 to 95% of its capacity begins with 20 to 2,000 jobs: the mean time
until nobody waits is compared with that of 100 simulated backlogs. And a server whose clients ask
again is in its bad state, in which its queue grows, for as long as headway says that it must last
for chance to change the time to drain by less than a tenth in 95 of 100 cases: what a second of it
takes to drain is compared with by how much longer a simulated server, with the same random numbers,
drains after twice the time. Those that need more than `MOST` requests take too long here. Rows are
stored in `tests/data/drain_times.csv`; the page docs/accuracy/days.md rests on it.
"""

from heapq import heapify, heappop, heappush, heapreplace
from pathlib import Path

import numpy as np

from headway.models import ModelGraph
from headway.models.over.days import Day
from headway.models.over.over import over_model
from headway.queueing import MMm
from headway.queueing.retries.tipping import tipping
from tests import campaigns
from tests.campaigns.lasting import drawn

PAGE = Path("tests/data/drain_times.csv")
TITLES = ("seed", "backlog", "found", "simulated")
BACKLOGS = 100
"""Backlogs that are simulated of each pool."""

MOST = 300_000
"""Most requests in the shorter of the two times of a bad state."""


def pool(seed):
    """Servers, load as a share of what they can do, and jobs at the start; services take 1 s."""
    draw = np.random.default_rng((seed, 1))
    servers = int(draw.integers(1, 17))
    jobs = int(np.exp(draw.uniform(np.log(20), np.log(2000)))) + servers
    return servers, float(draw.uniform(0.3, 0.95)), jobs


def found_of_pool(servers, share, jobs):
    """Mean time until nobody waits [s]."""
    graph = ModelGraph("pool").station("cpu", MMm(1.0, servers))
    longest = 20 * jobs / (servers * (1 - share))
    day = Day((0.0, longest / 2, longest), (share * servers,) * 2)
    return over_model(graph.at(), day, start=f"backlog={jobs}", every=longest).drained.mean


def played_pool(seed, servers, share, jobs):
    """The same of simulated backlogs: while jobs wait, all servers are busy."""
    draw, times = np.random.default_rng((seed, 2)), []
    for _ in range(BACKLOGS):
        waiting, now = jobs - servers, 0.0
        while waiting > 0:  # it cannot be empty after fewer events than jobs wait
            comes = draw.random(waiting) < share / (1 + share)
            now += draw.gamma(waiting) / (servers * (1 + share))
            waiting += 2 * int(comes.sum()) - waiting
        times.append(now)
    return float(np.mean(times))


def drained(seed, servers, numbers, load, lasts, burst):
    """From when requests no longer come, in a bad state, until the last job is done [s]."""
    draw = np.random.default_rng((seed, 3))
    free, work = [0.0] * servers, np.random.default_rng((seed, 4))
    heapify(free)
    gaps = draw.exponential(1 / load, int(2 * load * lasts) + 1000)
    first = np.cumsum(gaps)
    coming = [(0.0, 0)] * burst + [(at, 0) for at in first[first < lasts].tolist()]
    heapify(coming)
    last = 0.0
    while coming:
        now, failures = heappop(coming)
        done = max(now, free[0]) + work.exponential()
        heapreplace(free, done)
        last = max(last, done)
        if done - now > numbers["timeout"] and failures < numbers["retries"]:
            pause = numbers["backoff"] * (1 + numbers["jitter"] * draw.uniform(-1, 1))
            heappush(coming, (now + numbers["timeout"] + pause, failures + 1))
    return last - lasts


def both(seed):
    """Rows of a seed."""
    given = pool(seed)
    each = [("at the start", found_of_pool(*given), played_pool(seed, *given))]
    made = drawn(seed)
    if made is not None:
        queue, clients, numbers, load = made
        found = tipping(queue, clients, load)
        if 0 < found.sure * load <= MOST:
            lasts = found.sure
            burst = int(20 * queue.servers * (1 + queue.timeout))
            times = [drained(seed, queue.servers, numbers, load, k * lasts, burst) for k in (1, 2)]
            each.append(("of a bad state", found.drains, (times[1] - times[0]) / lasts))
    return [(seed, name, f"{one:.6g}", f"{other:.6g}") for name, one, other in each]


def errors(rows, name):
    """Errors of backlogs of a kind [%]."""
    kept = [row for row in rows if row["backlog"] == name]
    found, simulated = (np.array([float(row[title]) for row in kept]) for title in TITLES[2:])
    return 100 * np.abs(found / simulated - 1)


def in_standard_errors(rows):
    """Differences of pools at the start, over the standard errors of the simulated means.

    While jobs wait their number is a random walk, whose passage times have the squared coefficient
    of variation (1 + share) / (waiting (1 - share)).
    """
    found = []
    for row in rows:
        if row["backlog"] == "at the start":
            servers, share, jobs = pool(int(row["seed"]))
            scv = (1 + share) / ((jobs - servers) * (1 - share))
            off = float(row["simulated"]) / float(row["found"]) - 1
            found.append(off / np.sqrt(scv / BACKLOGS))
    return np.array(found)


def line(rows, name):
    """A line of the page."""
    off = errors(rows, name)
    middle, usual = np.percentile(off, [50, 90])
    return f"| {name} | {len(off)} | {middle:.1f}% | {usual:.1f}% | {off.max():.1f}% |"


def main():
    """Store the rows together with those of other seeds, and print the lines of the page."""
    campaigns.renewed(both, __doc__, 100, PAGE, TITLES)
    rows = campaigns.stored_rows(PAGE)
    print("\n".join(line(rows, name) for name in ("at the start", "of a bad state")))


if __name__ == "__main__":
    campaigns.run(__spec__)
