"""Errors of two-moment propagation where several classes share a network, by simulation.

``python -m tests.campaigns.qna_class_errors`` simulates again what
`tests/data/qna_class_errors.csv` contains (several minutes) and prints the tables of
docs/accuracy/classes-and-orders.md; the tests recompute them from that file. The simulation goes
event by event and does not use the code under test.

Each class has its own arrivals, routes and service times; in half of the networks jobs return and
change into other classes. Times with an scv below 1 are gamma-distributed, those above 1
hyperexponential with balanced means.

Constants or labels of `headway.queueing.chains.two_moments` and
`headway.queueing.variability.classes` rest on it.
"""

from heapq import heapify, heappop, heappush, heapreplace
from pathlib import Path

import numpy as np

from headway.queueing import Discipline
from headway.queueing.chains.routes import ClassRoutes
from headway.queueing.chains.two_moments import solve_spread
from headway.queueing.network.network import JobClass, SharedStation
from tests.campaigns import stored_or_simulated, stored_rows
from tests.campaigns.qna_errors import draws

PAGE = Path("tests/data/qna_class_errors.csv")
TITLES = ("family", "number", "class", "station", "mean", "half_width")
FAMILIES = {"own routes": 40, "turning": 40}
LOADS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
BANDS = ((0.0, 0.8), (0.8, 0.9), (0.9, 0.95))
SEED, VISITS, PARTS = 1983, 600_000, 10
JOURNEY = -1  # stands in place of a station for the response time of a journey begun as the class


def network(family, number):
    """A random network: external rates, their scv, probabilities, times, servers, scv of service.

    Rates and scv of arrivals have a row per class and a column per station; a class enters at one.
    Probabilities are from each class at each station to each class at each, or out.
    """
    random = np.random.default_rng([SEED, list(FAMILIES).index(family), number])
    classes, count = int(random.integers(2, 5)), int(random.integers(2, 7))
    onward = np.zeros((classes, count, classes, count))
    for c in range(classes):
        order = random.permutation(count)
        for a, k in enumerate(order[:-1]):
            later = order[a + 1 :]
            shares = random.dirichlet(np.ones(len(later))) * random.choice([1.0, 0.8, 0.5])
            onward[c, k, c, later] = np.where(shares < 0.1, 0.0, shares)
        if family == "turning":
            onward[c, :, c] *= 0.8
            onward[c, :, (c + 1) % classes, int(random.integers(count))] += 0.15
    rates = random.uniform(0.2, 1.0, classes)
    starts = random.integers(0, count, classes)
    entry = np.zeros((classes, count))
    entry[np.arange(classes), starts] = rates
    size = classes * count
    through = np.linalg.solve(np.eye(size) - onward.reshape(size, size).T, entry.ravel())
    through = through.reshape(classes, count)
    servers = random.choice([1, 1, 1, 1, 2, 4], count)
    times = np.exp(random.uniform(0, np.log(random.choice([1.0, 3.0, 10.0])), (classes, count)))
    load = (through * times).sum(axis=0)
    times *= random.choice(LOADS, count) * servers / np.where(load > 0, load, 1.0)
    coming = random.choice([0.25, 0.5, 1.0, 2.0, 4.0, 8.0], classes)
    serving = random.choice([0.0, 0.25, 0.5, 1.0, 2.0, 4.0], (classes, count))
    return rates, starts, coming, onward, times, servers, serving


def through(drawn):
    """Visits [1/s], shape (classes, stations)."""
    rates, starts, _, onward, times, *_ = drawn
    entry = np.zeros(times.shape)
    entry[np.arange(len(rates)), starts] = rates
    matrix = onward.reshape(times.size, times.size)
    return np.linalg.solve(np.eye(times.size) - matrix.T, entry.ravel()).reshape(times.shape)


def _arrivals(drawn, random, horizon, times_of):
    rates, starts, coming, *_ = drawn
    for c, (rate, start, scv) in enumerate(zip(rates, starts, coming, strict=True)):
        times = np.cumsum(times_of(random, scv, int(1.05 * horizon * rate) + 200)) / rate
        yield from ((time, time, c, c, int(start)) for time in times[times < horizon].tolist())


def _sources(drawn, random, horizon, times_of):
    """Random numbers to come: service times and choices by class and station."""
    visits, times, serving = through(drawn), drawn[4], drawn[6]
    size = (1.3 * horizon * visits + 2000).astype(int)
    service = [
        [iter((times_of(random, serving[c, k], size[c, k]) * times[c, k]).tolist())
         for k in range(times.shape[1])]
        for c in range(times.shape[0])
    ]  # fmt: skip
    return service, iter(random.random(int(size.sum())).tolist())


def events(drawn, visits, random, times_of=draws):
    """Every visit: class, station, wait; and every journey: initial class, total time."""
    onward, times, servers = drawn[3], drawn[4], drawn[5]
    count = times.shape[1]
    horizon = visits / through(drawn).sum()
    todo = list(_arrivals(drawn, random, horizon, times_of))
    heapify(todo)
    service, chances = _sources(drawn, random, horizon, times_of)
    ends = np.cumsum(onward.reshape(*times.shape, -1), axis=-1).tolist()
    free = [[0.0] * int(m) for m in servers]
    waits, journeys = [], []
    while todo:
        come, begun, first, c, k = heappop(todo)
        begin = max(come, free[k][0])
        done = begin + next(service[c][k])
        heapreplace(free[k], done)
        waits.append((c, k, begin - come))
        chance = next(chances)
        target = next((j for j, end in enumerate(ends[c][k]) if chance < end), None)
        if target is None:
            journeys.append((first, JOURNEY, done - begun))
        else:
            heappush(todo, (done, begun, first, target // count, target % count))
    return np.array(waits), np.array(journeys)


def simulate(family, number, visits=VISITS):
    """Rows of the file."""
    drawn = network(family, number)
    random = np.random.default_rng([SEED, number, 2 + list(FAMILIES).index(family)])
    rows = []
    for result in events(drawn, visits, random):
        kept = result[len(result) // 10 :]
        for c, k in sorted(set(map(tuple, kept[:, :2].astype(int).tolist()))):
            own = kept[(kept[:, 0] == c) & (kept[:, 1] == k), 2]
            parts = [part.mean() for part in np.array_split(own, PARTS)]
            half = 2.262 * np.std(parts, ddof=1) / np.sqrt(PARTS)
            rows.append((family, number, c, k, f"{own.mean():.6g}", f"{half:.6g}"))
    return rows


def stored():
    """Networks of the file: family, number, and mean and half width by class and station."""
    by_name = {}
    for row in stored_rows(PAGE):
        key = row["family"], int(row["number"])
        place = int(row["class"]), int(row["station"])
        by_name.setdefault(key, {})[place] = float(row["mean"]), float(row["half_width"])
    return by_name


def solved(drawn, *, poisson=False):
    """headway's solution of such a network."""
    rates, starts, coming, onward, times, servers, serving = drawn
    classes, count = times.shape
    names, places = [f"c{c}" for c in range(classes)], [f"s{k}" for k in range(count)]
    ways = {
        ((names[c], places[k]), (names[d], places[j])): float(onward[c, k, d, j])
        for c, k, d, j in zip(*np.nonzero(onward), strict=True)
    }
    entries = {name: {places[k]: 1.0} for name, k in zip(names, starts, strict=True)}
    routes = ClassRoutes(tuple(places), tuple(names), ways, entries)
    stations = [
        SharedStation(
            place, times[:, k].tolist(), [1.0] * classes, servers=int(servers[k]),
            discipline=Discipline.FCFS, scv=serving[:, k].tolist(),
        )
        for k, place in enumerate(places)
    ]  # fmt: skip
    jobs = [JobClass(n, arrival_rate=float(r)) for n, r in zip(names, rates, strict=True)]
    return solve_spread(stations, jobs, routes, [1.0] * classes if poisson else coming.tolist())


def errors(actual, *, poisson=False):
    """Relative errors with half widths: of networks, of classes' journeys, of classes' visits."""
    networks, journeys, visits = [], [], []
    for (family, number), rows in actual.items():
        drawn = network(family, number)
        classes = solved(drawn, poisson=poisson).classes
        rates, times, most = drawn[0], drawn[4], classes.utilisation.sum(axis=1).max()
        own = [rows[c, JOURNEY] for c in range(len(rates))]
        true, unsure = np.array(own).T
        total, wide = rates @ true, np.hypot.reduce(rates * unsure)
        near = rates @ classes.response_time
        networks.append((family, most, near / total - 1, wide / total))
        pairs = zip(classes.response_time / true - 1, unsure / true, strict=True)
        journeys += [(family, most, *pair) for pair in pairs]
        for (c, k), (wait, half) in rows.items():
            if k != JOURNEY:
                stay, load = wait + times[c, k], classes.utilisation[k].sum()
                one = classes.station_response_time[k, c] / stay - 1
                visits.append((family, load, one, half / stay))
    return networks, journeys, visits


def sizes(rows):
    """Absolute errors [%]: mean, 95th percentile, largest."""
    size = 100 * np.abs([row[2] for row in rows])
    return size.mean(), np.quantile(size, 0.95), size.max()


def between(rows, band):
    """Those whose load is within a range."""
    low, high = band
    return [row for row in rows if low + 1e-9 < row[1] <= high + 1e-9]


def lines(actual):
    """The tables of the page."""
    titles = "mean error | 95 of 100 | largest | scatter of simulation |"
    kinds = ("networks", "journeys of a class", "visits of a class")
    yield f"| response times of | busiest station | how many | {titles}"
    yield "|---|---|---|---|---|---|---|"
    for kind, rows in zip(kinds, errors(actual), strict=True):
        for band in BANDS:
            some = between(rows, band)
            numbers = (*sizes(some), 100 * float(np.median([row[3] for row in some])))
            cells = " | ".join(f"{v:.3g}%" for v in numbers)
            yield f"| {kind} | to {100 * band[1]:.0f}% | {len(some)} | {cells} |"
    yield "| taken as | mean error | 95 of 100 | largest |"
    yield "|---|---|---|---|"
    for words, poisson in (("here", False), ("Poisson arrivals from outside", True)):
        cells = " | ".join(f"{v:.3g}%" for v in sizes(errors(actual, poisson=poisson)[0]))
        yield f"| {words} | {cells} |"


def _rows():
    for family, count in FAMILIES.items():
        for number in range(count):
            yield from simulate(family, number)


def main():
    """Simulate again, or only print what the file contains."""
    stored_or_simulated(__doc__, PAGE, TITLES, _rows)
    print(*lines(stored()), sep="\n")


if __name__ == "__main__":
    main()
