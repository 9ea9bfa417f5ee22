"""Errors for classes with general service times in order of arrival.

``python -m tests.campaigns.spread_errors --networks 200`` recomputes the table of docs/accuracy.md:
closed networks with phase-type times compared with their whole chains.

Constants or labels of `headway.queueing.closed.measured` rest on it.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from headway.errors import InvalidParameter
from headway.queueing import Discipline, JobClass, Method, SharedStation, solve_multiclass
from tests.brute.chain import TooLarge, solve_chain
from tests.brute.network import Jobs, Network
from tests.brute.phased import Phased
from tests.campaigns.approximation_errors import relative, show

SPREADS = (0.25, 0.5, 1.0, 2.0, 4.0)
MOST_STATES = 6000


@dataclass(frozen=True)
class Phases(Network):
    """A network whose stations have phase transitions besides completions."""

    def moves(self, state):
        yield from super().moves(state)
        places, thinking = state
        for k, place in enumerate(self.places):
            for after, rate in place.inside(places[k]):
                yield ((*places[:k], after, *places[k + 1 :]), thinking), rate


def closed_errors(networks, seed=0, method=Method.LINEARIZER, servers=2, spreads=SPREADS):
    """Errors of throughputs and response times of two closed classes at one or two stations.

    Times log-uniform from 0.1 to 3.2 s with one of five scvs by class and station, 1 to 3 jobs
    each, think times from 0.1 to 5 s.
    """
    rates, times = [], []
    for means, scv, count, jobs, think in draws(seed, servers, spreads):
        if len(rates) == networks:
            break
        stations = len(count)
        places = tuple(
            Phased(tuple(means[k]), int(count[k]), scvs=tuple(scv[k])) for k in range(stations)
        )
        classes = tuple(Jobs(str(c), None, int(jobs[c]), float(think[c])) for c in (0, 1))
        onward = {k: k + 1 if k + 1 < stations else None for k in range(stations)}
        hops = {(k, c): [(1.0, onward[k], c)] for k in range(stations) for c in (0, 1)}
        try:
            exact = _throughputs(Phases(places, classes, hops))
        except TooLarge:
            continue
        shared = [
            SharedStation(
                str(k),
                means[k],
                (1, 1),
                servers=count[k],
                discipline=Discipline.FCFS,
                scv=tuple(scv[k]),
            )
            for k in range(stations)
        ]
        values = [JobClass(str(c), population=jobs[c], think_time=think[c]) for c in (0, 1)]
        try:
            near = solve_multiclass(shared, values, method)
        except InvalidParameter:  # some do not converge, and say so
            continue
        rates.append(relative(near.throughput, exact))
        times.append(relative(near.response_time, jobs / exact - think))
    return [np.array(rates), np.array(times)]


def draws(seed=0, servers=2, spreads=SPREADS):
    """Endless means and scvs by station and class, servers, jobs and think times."""
    random = np.random.default_rng(seed)
    while True:
        stations = int(random.integers(1, 3))
        means = 10 ** random.uniform(-1, 0.5, (stations, 2))
        count = random.integers(1, servers + 1, stations)
        scv = random.choice(spreads, (stations, 2))
        jobs, think = random.integers(1, 4, 2), random.uniform(0.1, 5, 2)
        yield means, scv, count, jobs, think


def _throughputs(network):
    """Throughputs by class, from the mean numbers of thinking jobs."""
    chain = solve_chain(network.start, network.moves, MOST_STATES)
    return np.array(
        [
            chain.mean(lambda state, c=c: state[1][c]) / jobs.think_time
            for c, jobs in enumerate(network.classes)
        ]
    )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=200)
    networks = parser.parse_args().networks
    for method in (Method.SCHWEITZER, Method.LINEARIZER):
        for servers in (1, 2):
            name = f"closed, up to {servers} servers"
            show(name, method, closed_errors(networks, method=method, servers=servers))
    for spread in SPREADS:
        result = closed_errors(networks // 4, seed=1, spreads=(spread,))
        show(f"closed, all of scv {spread:g}", Method.LINEARIZER, result)


if __name__ == "__main__":
    main()
