"""Errors for chains of classes with different times, where there is no product form.

``python -m tests.campaigns.chain_errors --count 2400`` compares random closed chains of two
classes, in order of arrival, in random order or last come first served at several servers, with
their whole Markov chains. It stores the errors of throughputs and response times by the ratio of
their times (`tests/data/chain_errors.csv`), and prints the largest and the medians. Labels of
answers are the largest errors of a region (`headway.queueing.chains.measured`); the tests recompute
them.

Constants or labels of `headway.queueing.chains.measured` rest on it.
"""

from dataclasses import astuple, dataclass, fields
from pathlib import Path
from random import Random
from unittest.mock import patch

import numpy as np

from headway.queueing import Discipline, JobClass, SharedStation
from headway.queueing.chains.measured import RATIOS
from headway.queueing.chains.routes import ClassRoutes
from headway.queueing.chains.solve_chains import solve_chains
from headway.queueing.classes import whole
from headway.queueing.stations.abilities import ServiceKind
from tests import campaigns
from tests.brute.chain import TooLarge
from tests.brute.network import Jobs, Network, means
from tests.brute.orders import Line, Lottery, Sharing, Stack

PAGE = Path("tests/data/chain_errors.csv")
ORDERS = {"fcfs": Line, "siro": Lottery, "lcfs": Stack}
MOST_JOBS = {"fcfs": 6, "siro": 10, "lcfs": 6}


@dataclass(frozen=True)
class Row:
    """A chain of a seed: its discipline, the ratio of its times, and errors [%]."""

    seed: int
    discipline: str
    ratio: float
    rate: float
    time: float


def no_states():
    """No states allowed, as if all networks were large; small ones are otherwise solved exactly."""
    return patch.object(whole, "MOST_STATES", 0)


def measured(seed):
    """The row of a seed; None for a chain that is too large."""
    network, stations, ways, classes = drawn(seed)
    try:
        queue, served, _ = means(network)
    except TooLarge:
        return None
    with no_states():
        solution = solve_chains(stations, classes, ways)
    if not solution.approximation:  # each class has queues of its own: exact
        return None
    own = [k for k, s in enumerate(stations) if s.kind is not ServiceKind.DELAY]
    rate = np.abs(solution.station_throughput / served - 1).max()
    time = np.abs(solution.station_response_time[own] / (queue / served)[own] - 1).max()
    ratio = max(max(stations[k].service_times) / min(stations[k].service_times) for k in own)
    discipline = stations[0].discipline.name
    return Row(seed, discipline, *(float(f"{v:.6g}") for v in (ratio, 100 * rate, 100 * time)))


def drawn(seed):
    """A chain of two classes at one to three queues in a circle, also with a delay.

    Times are log-uniform from 0.1 to 3.2 s, with ratios up to 2, 10 or 100; jobs change into the
    other class with some probability as they leave a station, and at the first station always with
    a positive one.
    """
    draw = Random(seed)
    order = list(ORDERS)[seed % 3]
    limit, count = draw.choice(RATIOS), draw.choice((1, 2, 2, 3))
    first = [10 ** draw.uniform(-1, 0.5) for _ in range(count)]
    apart = draw.choice((1.0, draw.random()))
    times = [(t, t * limit ** draw.choice((-apart, apart))) for t in first]
    servers = [draw.choice((2, 3) if order == "lcfs" else (1, 1, 1, 2)) for _ in range(count)]
    think = draw.uniform(0.1, 5.0)
    jobs = draw.randint(max(servers) + 1, MOST_JOBS[order])
    places = [ORDERS[order](t, servers=m) for t, m in zip(times, servers, strict=True)]
    stations = [
        SharedStation(f"s{k}", t, (1, 1), servers=m, discipline=Discipline(order))
        for k, (t, m) in enumerate(zip(times, servers, strict=True))
    ]
    if count == 1 or draw.random() < 0.3:
        places.append(Sharing((think, think), servers=float("inf")))
        stations.append(SharedStation("away", (think, think), (1, 1), ServiceKind.DELAY))
    hops, onward = {}, {}
    for k, station in enumerate(stations):
        after = (k + 1) % len(stations)
        turn = draw.choice((0.0, 0.1, 0.3, 1.0) if k else (0.1, 0.5, 1.0))
        for c in (0, 1):
            hops[k, c] = [(p, after, d) for p, d in ((1 - turn, c), (turn, 1 - c)) if p]
            for p, _, d in hops[k, c]:
                onward[("ab"[c], station.name), ("ab"[d], stations[after].name)] = p
    network = Network(tuple(places), (Jobs("a", None, jobs), Jobs("b")), hops)
    names = tuple(s.name for s in stations)
    ways = ClassRoutes(names, ("a", "b"), onward, closed=frozenset("ab"))
    classes = [JobClass("a", population=jobs), JobClass("b", population=0)]
    return network, stations, ways, classes


def stored():
    """The rows of the file."""
    for row in campaigns.stored_rows(PAGE):
        yield Row(int(row["seed"]), row["discipline"], *(float(row[n]) for n in _NUMBERS))


def regions(rows, *, last):
    """Largest errors of throughput and of response time, their medians, and networks, by region."""
    here = [row for row in rows if (row.discipline == "lcfs") == last]
    for ratio in RATIOS:
        errors = np.array([(r.rate, r.time) for r in here if r.ratio <= ratio * (1 + 1e-9)])
        yield ratio, errors.max(axis=0), np.median(errors, axis=0), len(errors)


def lines(rows):
    """The table of the page."""
    rows = list(rows)
    yield "| discipline | mean times apart up to | networks | throughput | response time |"
    yield "|---|---|---|---|---|"
    for name, last in (("fcfs, siro", False), ("lcfs at 2 or 3 servers", True)):
        for ratio, most, half, count in regions(rows, last=last):
            cells = [f"{m:.1f}%, {h:.1f}%" for m, h in zip(most, half, strict=True)]
            yield f"| {name} | {ratio:g} | {count} | {' | '.join(cells)} |"


_NUMBERS = ("ratio", "rate", "time")


def main(arguments=None):
    """Measure, and print the table."""
    rows = [row for row in campaigns.seeded(measured, __doc__, 2400, arguments) if row]
    titles = [field.name for field in fields(Row)]
    campaigns.store(PAGE, titles, [astuple(row) for row in rows])
    print(*lines(stored()), sep="\n")


if __name__ == "__main__":
    campaigns.run(__spec__)
