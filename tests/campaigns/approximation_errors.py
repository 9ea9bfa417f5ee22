"""Errors of the approximations for several classes, over random networks also solved exactly.

``python -m tests.campaigns.approximation_errors`` recomputes the whole table of docs/accuracy.md
(some minutes); `tests/queueing/classes/test_approximation_errors.py` a part of it. A family is
drawn from a fixed seed, in batches with one number of classes and stations each.

Constants or labels of `headway.queueing.classes.accuracy` and `headway.queueing.closed.measured`
rest on it.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from headway.queueing import (
    Discipline,
    JobClass,
    Method,
    MMm,
    SharedStation,
    solve_closed,
    solve_multiclass,
)
from headway.queueing.methods.needs import FEW
from tests.oracles.fcfs_chain import solve_chain

BATCH = 25
"""Networks per batch."""


@dataclass(frozen=True)
class Family:
    """A distribution of random networks.

    Demands are log-uniform from 0.05 to 5 s (times m**u with u uniform from 0 to 1 at m servers),
    and 0 with probability 0.15 at all stations but the first; think times are 0 with probability
    1/2, otherwise uniform up to 10 s.

    Parameters
    ----------
    sizes
        Number of classes, and the range of each class's population; one pair is drawn per batch.
    most_servers
        Servers are 1 with probability 1/2, otherwise uniform from 2 to this; 1 for single servers
        only.
    most_busy
        Upper limit of the uniform utilisation by an open class at the station that it loads most.
    """

    sizes: tuple[tuple[int, int, int], ...]
    most_servers: int = 1
    most_busy: float = 0.0


SINGLE = ((1, 1, 60), (2, 1, 12), (3, 1, 8))
FEW_CLASSES = ((2, 100, 105), (3, 21, 22), (4, 10, 10))
MANY_CLASSES = ((5, 6, 6), (7, 3, 3), (9, 2, 2))
FAMILIES = {
    "single servers": Family(SINGLE),
    "single servers beside an open class": Family(SINGLE, most_busy=0.8),
    "pools, 2 to 4 classes": Family(FEW_CLASSES, most_servers=16),
    "pools, 2 to 4 classes beside an open one": Family(FEW_CLASSES, 16, 0.8),
    "pools, 5 to 9 classes of few jobs": Family(MANY_CLASSES, most_servers=16),
    "pools, 5 to 9 classes of few jobs beside an open one": Family(MANY_CLASSES, 16, 0.8),
}
"""Pools are drawn with just more populations than are solved exactly by default."""


def batch(family, random):
    """The numbers of random networks with one number of classes and stations."""
    classes, fewest, most = family.sizes[random.integers(len(family.sizes))]
    stations = int(random.integers(2, 6))
    servers = np.ones((stations, BATCH), int)
    if family.most_servers > 1:
        several = random.integers(2, family.most_servers + 1, servers.shape)
        servers = np.where(random.random(servers.shape) < 0.5, 1, several)
        servers[0] = several[0]
    demand = 10 ** random.uniform(np.log10(0.05), np.log10(5), (stations, classes + 1, BATCH))
    demand *= servers[:, None] ** random.random((stations, 1, BATCH))
    demand[1:] *= random.random((stations - 1, classes + 1, BATCH)) > 0.15
    think = random.uniform(0, 10, (classes, BATCH)) * (random.random((classes, BATCH)) < 0.5)
    jobs = random.integers(fewest, most + 1, (classes, BATCH))
    busy = random.uniform(0, family.most_busy, BATCH) if family.most_busy else np.zeros(BATCH)
    rate = busy / (demand[:, -1] / servers).max(axis=0)
    places = [
        SharedStation(f"s{k}", list(demand[k]), [1.0] * (classes + 1), servers=servers[k])
        for k in range(stations)
    ]
    closed = [JobClass(f"c{c}", population=jobs[c], think_time=think[c]) for c in range(classes)]
    return places, [*closed, JobClass("open", arrival_rate=rate)]


def errors(family, networks, seed=0, methods=(Method.SCHWEITZER, Method.LINEARIZER)):
    """Relative errors by method: of throughputs of closed classes, and response times of all."""
    random = np.random.default_rng(seed)
    by_name = {method: ([], []) for method in methods}
    for _ in range(networks // BATCH):
        stations, classes = batch(family, random)
        exact = solve_multiclass(stations, classes, Method.CONVOLUTION)
        for method, (rates, times) in by_name.items():
            near = solve_multiclass(stations, classes, method)
            assert near.method is method, f"only above {FEW} populations are pools approximated"
            rates.append(relative(near.throughput[:-1], exact.throughput[:-1]))
            present = len(classes) if family.most_busy else -1
            times.append(relative(near.response_time[:present], exact.response_time[:present]))
    return {m: [np.concatenate(part) for part in parts] for m, parts in by_name.items()}


def relative(near, exact):
    """Largest relative error of each network (the last axis) over its classes."""
    return np.abs(near / exact - 1).max(axis=0)


def one_class_errors(networks, seed=0):
    """The errors for one class of 1 to 60 jobs at four stations with pools."""
    random = np.random.default_rng(seed)
    servers = random.integers(2, 17, (4, networks))
    servers = np.where(random.random(servers.shape) < 0.5, 1, servers)
    demand = 10 ** random.uniform(np.log10(0.05), np.log10(5), servers.shape)
    demand *= servers ** random.random(servers.shape)
    think = random.uniform(0, 10, networks) * (random.random(networks) < 0.5)
    stations = [MMm(*pair) for pair in zip(demand, servers, strict=True)]
    network = stations, [1] * 4, random.integers(1, 61, networks), think
    exact, by_name = solve_closed(*network), {}
    for method in (Method.SCHWEITZER, Method.LINEARIZER):
        near = solve_closed(*network, method)
        parts = [(near.throughput, exact.throughput), (near.response_time, exact.response_time)]
        by_name[method] = [np.abs(a / b - 1) for a, b in parts]
    return by_name


def in_order_errors(networks, seed=0, method=Method.LINEARIZER):
    """Errors at queues in order of arrival, compared with whole Markov chains.

    One or two stations of 1 to 3 servers; times log-uniform from 0.1 to 3.2 s, 1 to 3 jobs of
    two classes, think times from 0.1 to 5 s.
    """
    random = np.random.default_rng(seed)
    rates, times = [], []
    for _ in range(networks):
        stations = int(random.integers(1, 3))
        means = 10 ** random.uniform(-1, 0.5, (stations, 2))
        servers = random.integers(1, 4, stations)
        jobs, think = random.integers(1, 4, 2), random.uniform(0.1, 5, 2)
        exact = solve_chain(means, servers, jobs, think)
        stations = [
            SharedStation(str(k), means[k], (1, 1), servers=servers[k], discipline=Discipline.FCFS)
            for k in range(stations)
        ]
        classes = [JobClass(str(c), population=jobs[c], think_time=think[c]) for c in (0, 1)]
        near = solve_multiclass(stations, classes, method)
        rates.append(relative(near.throughput, exact))
        times.append(relative(near.response_time, jobs / exact - think))
    return [np.array(rates), np.array(times)]


def tandem_errors(networks, jobs=200_000, seed=0):
    """Errors of response times of two open classes at two queues in a row, by simulation."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(networks):
        means = 10 ** random.uniform(-1, 0.5, (2, 2))
        share = random.uniform(0.1, 0.9)
        mixed = means @ [share, 1 - share]
        rate = random.uniform(0.2, 0.9) / mixed.max()
        simulated = simulate_tandem(means, share, rate, jobs, random)
        stations = [
            SharedStation(str(k), means[k], (1, 1), discipline=Discipline.FCFS) for k in (0, 1)
        ]
        classes = [
            JobClass("a", arrival_rate=rate * share),
            JobClass("b", arrival_rate=rate * (1 - share)),
        ]
        near = solve_multiclass(stations, classes)
        rows.append(relative(near.response_time, simulated))
    return np.array(rows)


def simulate_tandem(means, share, rate, jobs, random):
    """Mean response times of two classes at two queues in order of arrival, job by job."""
    arrival = np.cumsum(random.exponential(1 / rate, jobs))
    kind = (random.random(jobs) > share).astype(int)
    ready = arrival
    for mean in means:
        service = random.exponential(mean[kind])
        # A job leaves when it has been served, and so has the last one before it that found no
        # queue.
        served = np.cumsum(service)
        ready = served + np.maximum.accumulate(ready - served + service)
    late = np.arange(jobs) > jobs // 10
    return np.array([(ready - arrival)[(kind == c) & late].mean() for c in (0, 1)])


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=2000)
    parser.add_argument("--family", choices=FAMILIES, nargs="*", default=list(FAMILIES))
    arguments = parser.parse_args()
    networks = arguments.networks
    for name in arguments.family:
        for method, result in errors(FAMILIES[name], networks).items():
            show(name, method, result)
    for method, result in one_class_errors(networks).items():
        show("pools, one class", method, result)
    show("closed, in order of arrival", "", in_order_errors(networks // 10))
    show("open tandem, in order of arrival", "", [tandem_errors(networks // 10)])


def show(name, method, parts):
    """Print the largest and the median of each error."""
    shown = [f"{100 * part.max():.2f}% {100 * np.median(part):.2f}%" for part in parts]
    print(f"{name:52} {method:12} {'   '.join(shown)}", flush=True)


if __name__ == "__main__":
    main()
