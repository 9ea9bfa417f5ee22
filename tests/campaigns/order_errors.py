"""Errors for disciplines without a product form, over random networks also solved state by state.

``python -m tests.campaigns.order_errors`` recomputes the table of docs/accuracy.md (some minutes);
`tests/queueing/test_orders.py` a part of it. A family is drawn from a fixed seed.

Constants or labels of `headway.queueing.classes.accuracy` and `headway.queueing.orders.measured`
rest on it.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from headway.errors import Saturated
from headway.queueing import Discipline, JobClass, Method, SharedStation, solve_multiclass
from tests.oracles.order_chain import Coming, Served, solve_orders


@dataclass(frozen=True)
class Family:
    """A distribution of random networks of one or two stations, the second shared or alike.

    Service times are log-uniform from 0.1 to 3.2 s, think times uniform from 0.1 to 5 s; class c
    has priority c.

    Parameters
    ----------
    discipline
        Discipline of the first station.
    classes, jobs
        Number of closed classes, and range of each one's jobs.
    servers
        Range of servers.
    stations
        Range of stations.
    busy
        Range of utilisation by open classes; 0 for none.
    opens
        Which classes are open.
    """

    discipline: str
    classes: int = 2
    jobs: tuple[int, int] = (1, 4)
    servers: tuple[int, int] = (1, 1)
    stations: tuple[int, int] = (1, 2)
    busy: tuple[float, float] = (0.0, 0.0)
    opens: tuple[int, ...] = ()


LEAST = 1e-6
"""Share of the largest throughput; networks in which a class gets less are left out, as the chain
lacks the digits for them."""

LOST = 1e-5
"""Share of an open class's jobs that a chain with closed classes may lose by truncation."""

MOST = 64
"""Most jobs of an open class together with closed ones, half with another open one; at two stations
an eighth."""

FAMILIES = {
    f"{kind}, {name}": family
    for name, kind in (("priority", "head of the line"), ("preemptive", "preemptive"))
    for kind, name, family in [
        (kind, "closed, 2 classes of 1 to 4", Family(name)),
        (kind, "closed, 3 classes of 1 to 3", Family(name, 3, (1, 3))),
        (kind, "closed, 2 classes of 5 to 15", Family(name, 2, (5, 15), stations=(1, 1))),
        (
            kind,
            "closed, 2 to 3 servers",
            Family(name, jobs=(1, 6), servers=(2, 3), stations=(1, 1)),
        ),
        (
            kind,
            "open before closed",
            Family(name, jobs=(1, 6), stations=(1, 1), busy=(0.1, 0.6), opens=(0,)),
        ),
        (
            kind,
            "open, 2 to 3 servers",
            Family(name, servers=(2, 3), stations=(1, 1), busy=(0.2, 0.6), opens=(0, 1)),
        ),
        (
            kind,
            "open, one behind the other",
            Family(name, stations=(2, 2), busy=(0.2, 0.5), opens=(0, 1)),
        ),
    ]
}
FAMILIES |= {
    "random order, closed": Family("siro", jobs=(1, 3)),
    "random order, 3 classes at two queues": Family("siro", 3, (1, 3), stations=(2, 2)),
    "random order, closed, 1 to 3 servers": Family("siro", jobs=(2, 5), servers=(1, 3)),
    "random order, open beside closed": Family(
        "siro", jobs=(1, 6), stations=(1, 1), busy=(0.1, 0.6), opens=(0,)
    ),
    "in order of arrival, closed": Family("fcfs", jobs=(1, 3)),
    "last first at 2 to 3 servers, closed": Family("lcfs", jobs=(1, 3), servers=(2, 3)),
}


def drawn(family, random):
    """Stations and classes of a random network, as the chain takes them."""
    count = int(random.integers(family.stations[0], family.stations[1] + 1))
    times = 10 ** random.uniform(-1, 0.5, (count, family.classes))
    servers = random.integers(family.servers[0], family.servers[1] + 1, count)
    jobs = random.integers(family.jobs[0], family.jobs[1] + 1, family.classes)
    think = random.uniform(0.1, 5, family.classes)
    second = family.discipline if family.opens or random.random() < 0.5 else "ps"
    share = random.dirichlet(np.ones(max(len(family.opens), 1))) * random.uniform(*family.busy)
    stations = [
        Served((family.discipline, second)[k], int(servers[k]), tuple(times[k]))
        for k in range(count)
    ]
    classes = [Coming(int(jobs[c]), float(think[c]), priority=c + 1) for c in range(family.classes)]
    most = MOST // (1, 1, 2, 2, 8)[count * len(family.opens)]
    for part, c in zip(share, family.opens, strict=False):
        rate = part / (times[:, c] / servers).max()
        classes[c] = Coming(most, arrival_rate=float(rate), priority=c + 1)
    return stations, classes


def solved(stations, classes, method=Method.AUTO):
    """headway's solution of the network."""
    queues = [
        SharedStation(
            str(k),
            s.times,
            [1] * len(classes),
            servers=s.servers,
            discipline=Discipline(s.discipline),
        )
        for k, s in enumerate(stations)
    ]
    jobs = [
        JobClass(str(c), arrival_rate=j.arrival_rate, priority=j.priority)
        if j.arrival_rate
        else JobClass(str(c), population=j.jobs, think_time=j.think_time, priority=j.priority)
        for c, j in enumerate(classes)
    ]
    return solve_multiclass(queues, jobs, method)


def errors(family, networks, seed=0, method=Method.AUTO):
    """Relative errors of throughputs of closed classes, and of response times of all classes."""
    random = np.random.default_rng(seed)
    rates, times = [], []
    while len(times) < networks:
        stations, classes = drawn(family, random)
        through, length = solve_orders(stations, classes)
        if through.min() < LEAST * through.max() or _cut(classes, through):
            continue
        try:
            near = solved(stations, classes, method)
        except Saturated:
            continue
        rates.append(np.abs(near.throughput / through - 1).max())
        times.append(np.abs(near.response_time * through / length.sum(axis=1) - 1).max())
    return 100 * np.array([rates, times])


def _cut(classes, through):
    """Whether open jobs together with closed ones reach the truncation of the chain."""
    opened = [c for c, coming in enumerate(classes) if coming.arrival_rate]
    mixed = 0 < len(opened) < len(classes)
    return mixed and any(through[c] < (1 - LOST) * classes[c].arrival_rate for c in opened)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=60)
    parser.add_argument("--family", choices=FAMILIES, nargs="*", default=list(FAMILIES))
    arguments = parser.parse_args()
    for name in arguments.family:
        show(name, errors(FAMILIES[name], arguments.networks))
        if len(FAMILIES[name].opens) < FAMILIES[name].classes:
            misses = errors(FAMILIES[name], arguments.networks, method=Method.LINEARIZER)
            show("    by mean value analysis alone", misses)


def show(name, actual):
    """Print median, 95th percentile and largest of each error."""
    parts = [f"{np.median(p):6.2f} {np.percentile(p, 95):7.1f} {p.max():8.1f}" for p in actual]
    print(f"{name:50} {'   '.join(parts)}", flush=True)


if __name__ == "__main__":
    main()
