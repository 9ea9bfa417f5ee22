"""What chains miss whose classes have times of their own at queues in order of arrival.

``python -m tests.chain_errors --count 300`` holds random closed chains of two classes to their
whole Markov chains, and prints the largest and the mean errors of throughputs and response times.
"""

import argparse
from collections.abc import Iterator, Sequence
from random import Random
from unittest.mock import patch

import numpy as np

from headway.queueing import Discipline, JobClass, SharedStation
from headway.queueing.chains.routes import ClassRoutes
from headway.queueing.chains.solve import solve_chains
from headway.queueing.classes import whole
from tests.brute.chain import TooLarge
from tests.brute.network import Jobs, Network, means
from tests.brute.orders import Line

TIMES = (0.02, 0.05, 0.1, 0.2)


def no_states():
    """As though all networks were large: small ones are solved state by state, without an error."""
    return patch.object(whole, "MOST_STATES", 0)


def errors_of(seed: int) -> tuple[float, float] | None:
    """Largest relative errors of throughputs and response times; None for too large a chain."""
    draw = Random(seed)
    count = draw.randint(2, 3)
    times = [[draw.choice(TIMES) for _ in "ab"] for _ in range(count)]
    servers = [draw.choice((1, 1, 1, 2)) for _ in range(count)]
    turn = [draw.choice((0.0, 0.3, 1.0)) for _ in range(count - 1)] + [0.5]
    jobs = draw.randint(2, 5)
    onward, hops = {}, {}
    for k in range(count):
        after = (k + 1) % count
        for c in (0, 1):
            hops[k, c] = [(p, after, d) for p, d in ((1 - turn[k], c), (turn[k], 1 - c)) if p]
            for p, _, d in hops[k, c]:
                onward[("ab"[c], f"s{k}"), ("ab"[d], f"s{after}")] = p
    places = tuple(Line(tuple(t), servers=m) for t, m in zip(times, servers, strict=True))
    network = Network(places, (Jobs("a", None, jobs), Jobs("b")), hops)
    try:
        queue, served, _ = means(network)
    except TooLarge:
        return None
    stations = [
        SharedStation(f"s{k}", times[k], (1, 1), servers=servers[k], discipline=Discipline.FCFS)
        for k in range(count)
    ]
    names = tuple(s.name for s in stations)
    ways = ClassRoutes(names, ("a", "b"), onward, closed=frozenset("ab"))
    classes = [JobClass("a", population=jobs), JobClass("b", population=0)]
    with no_states():
        solution = solve_chains(stations, classes, ways)
    rate = np.abs(solution.station_throughput / served - 1).max()
    time = np.abs(solution.station_response_time / (queue / served) - 1).max()
    return float(rate), float(time)


def measured(count: int, first: int = 0) -> Iterator[tuple[float, float]]:
    """Errors of so many networks, those left out that are too large."""
    return (result for result in map(errors_of, range(first, first + count)) if result is not None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    options = parser.parse_args(arguments)
    values = np.array(list(measured(options.count)))
    for name, column in zip(("throughput", "response time per visit"), values.T, strict=True):
        print(
            f"{name}: largest {column.max():.1%}, mean {column.mean():.1%}, "
            f"median {np.median(column):.1%} over {len(values)} networks"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
