"""Errors of percentiles of response times, by kind of network.

``python -m tests.campaigns.percentile_errors`` recomputes the tables of docs/accuracy.md;
`tests/queueing/sojourn/test_closed_percentiles.py` a part of them.

Constants or labels of `headway.queueing.passages.laws` rest on it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headway.models import ModelGraph
from headway.models.simulating.jobs import blueprint
from headway.queueing import MM1, MMm
from headway.queueing.passages.laws import independent_visits_law, passage_law
from headway.queueing.passages.passage import Passage, PassageStation
from headway.queueing.passages.tagged_job import AggregatedTaggedJobChain
from headway.queueing.times.inversion import percentile_of
from headway.queueing.times.processor_sharing.exponential import exponential_sharing_law
from tests.oracles.crowd_simulation import response_times
from tests.oracles.passage_chain import Small, mean_time, percentiles, shared_percentiles

SHARES = (0.5, 0.95, 0.99, 0.999)
SEED = 15


def circle_of(net):
    """A network of the whole chain in the form that `headway.queueing.passages` takes."""
    mean = mean_time(net)
    places = tuple(
        PassageStation(str(k), time, servers, 1, shares=net.shared(k))
        for k, (time, servers) in enumerate(zip(net.times, net.servers, strict=True))
    )
    return Passage(
        places,
        np.array(net.entries, float),
        np.array(net.onward, float),
        net.leaving,
        net.population,
        net.think_time,
        throughput=net.population / (mean + net.think_time),
        stays=np.full(len(places), mean / net.visits.sum()),
    )


def chain_errors(net, law=passage_law):
    """Relative errors of the percentiles of SHARES against the whole chain."""
    result = law(circle_of(net))
    exact = np.array(percentiles(net, SHARES))
    return np.array([percentile_of(result, share) for share in SHARES]) / exact - 1, result.notes


def draw(random, stations, kind):
    """Two to eight jobs, times from 0.3 to 3 s, think times from 0.3 to 30 s, logarithmic."""
    times = 3 ** random.uniform(-1, 1, stations)
    servers = random.choice([1, 1, 2, 3], stations) if "pool" in kind else [1] * stations
    onward = np.zeros((stations, stations))
    if stations == 1 and "back" not in kind:
        onward[:] = 0
    elif "line" in kind:
        onward[np.arange(stations - 1), np.arange(1, stations)] = 1
    elif "forward" in kind:
        onward = np.triu(random.dirichlet(np.ones(stations + 1), stations)[:, :-1], 1)
        onward[0] /= onward[0].sum() / 0.95
    else:
        onward = random.dirichlet(np.ones(stations + 1), stations)[:, :-1]
        onward *= random.uniform(0.3, 0.95) / onward.sum(axis=1, keepdims=True)
    entries = np.eye(stations)[0]
    most = {1: 12, 2: 9, 3: 7, 4: 5}[stations]
    return Small(
        tuple(times.tolist()),
        tuple(int(m) for m in servers),
        tuple(entries.tolist()),
        tuple(map(tuple, onward.tolist())),
        int(random.integers(2, most + 1)),
        float(3 * 10 ** random.uniform(-1, 1)),
        (True,) * stations if "shared" in kind else (),
    )


@dataclass(frozen=True)
class Row:
    """A kind of small closed network, with the sizes that are drawn and the law that is tried."""

    kind: str
    stations: tuple[int, ...]
    law: Callable = passage_law
    networks: int = 60


def _fewer(circle):
    return AggregatedTaggedJobChain(circle).law()


def _apart(circle):
    return independent_visits_law(circle, ())


CLOSED = (
    Row("line of single servers", (2, 3, 4)),
    Row("line of pools", (3, 4)),
    Row("forward, single servers", (3, 4)),
    Row("forward, pools", (3, 4)),
    Row("back to one or two, single servers", (1, 2)),
    Row("back to one or two, pools", (1, 2)),
    Row("back to three, single servers", (3,)),
    Row("back to three, pools", (3,)),
    Row("one shared server or pool", (1,), networks=20),
    Row("line of shared servers and pools", (2, 3)),
    Row("back to two or three, shared pools", (2, 3)),
    Row("back to two or three, pools, of many jobs", (2, 3), _fewer),
    Row("back to two or three, pools, of very many jobs", (2, 3), _apart),
)
"""The last two have so few jobs that all can be followed, but are solved as if they had too many.
"""


def closed_errors(row, count=None, seed=SEED):
    """Errors of a row's networks, shape (networks, shares)."""
    random = np.random.default_rng(seed)
    sizes = [row.stations[k % len(row.stations)] for k in range(count or row.networks)]
    return np.array([chain_errors(draw(random, n, row.kind), row.law)[0] for n in sizes])


SHARING = "two open classes, a shared server or pool, times 2 to 10 apart"


def sharing_errors(count=24, seed=SEED):
    """Errors of the first class's percentiles against the chain of both, shape (cases, shares)."""
    random, rows = np.random.default_rng(seed), []
    for k in range(count):
        servers, busy = int(random.choice([1, 1, 2])), random.uniform(0.3, 0.85)
        times = np.array([1.0, 10 ** random.uniform(0.3, 1)])[:: 1 if k % 2 else -1]
        share = random.uniform(0.2, 0.8)
        rates = np.array([share, 1 - share]) * busy * servers / times
        law = exponential_sharing_law(rates, times, float(times[0]), servers)
        exact = np.array(shared_percentiles(rates, times, servers, SHARES))
        rows.append(np.array([percentile_of(law, share) for share in SHARES]) / exact - 1)
    return np.array(rows)


CROWDS = {
    "two or three closed or mixed classes, in order": (False, False),
    "two or three closed or mixed classes, shared servers": (True, False),
    "the same with times 1 to 3 apart, in order": (False, True),
    "the same with times 1 to 3 apart, shared servers": (True, True),
}
"""Whether servers are shared, and whether classes have times of their own."""

EVENTS = 300_000


def crowd_of(random, shared, unlike):
    """Two or three stations, in line or around the first; classes of 2 to 11 jobs, or open."""
    stations, classes = int(random.choice([2, 3])), int(random.choice([2, 3]))
    servers = random.choice([1, 1, 2], stations)
    onward = np.eye(stations, k=1)
    if random.uniform() < 1 / 3:
        onward = np.zeros((stations, stations))
        onward[0, 1:] = 0.7 / (stations - 1)
        onward[1:, 0] = 1
    times = 3 ** random.uniform(-1, 1, stations) * np.ones((classes, 1))
    if unlike:
        times = times * 3 ** random.uniform(-0.5, 0.5, times.shape)
    visits = np.linalg.solve(np.eye(stations) - onward.T, np.eye(stations)[0])
    most = float((servers / (visits * times)).min())
    given = []
    for c in range(classes):
        open_class = c > 0 and random.uniform() < 0.5
        jobs, think = int(random.integers(2, 12)), float(3 * 10 ** random.uniform(-0.5, 1))
        rate = most * random.uniform(0.1, 0.5) / (classes - 1)
        given.append((rate, 0, 0.0) if open_class else (0.0, jobs, think))
    way = "ps" if shared else "fcfs"
    return _model(given, times.tolist(), servers.tolist(), way, onward)


def _model(classes, times, servers, way, onward):
    """Classes by arrival rate, population and think time; times by class and station."""
    graph, names = ModelGraph("crowd"), [f"c{c}" for c in range(len(classes))]
    for k, count in enumerate(servers):
        own = {name: each[k] for name, each in zip(names, times, strict=True)}
        station = MMm(own["c0"], count) if count > 1 else MM1(own["c0"])
        graph = graph.station(f"s{k}", station, service_times=own, discipline=way)
    graph = graph.route_all(onward)
    for name, (rate, jobs, think) in zip(names, classes, strict=True):
        numbers = {"population": jobs, "think_time": think} if jobs else {"arrival_rate": rate}
        graph = graph.job_class(name, **numbers)
    return graph.at()


def crowd_errors(shared, unlike, count=8, events=EVENTS, seed=SEED):
    """Errors beyond the intervals of simulations, shape (classes of all networks, shares)."""
    random, rows = np.random.default_rng(seed), []
    for case in range(count):
        model = crowd_of(random, shared, unlike)
        names = (f"response_time_p{100 * share:g}" for share in SHARES)
        solution = model.solve().answering(*names)
        for c, times in enumerate(response_times(blueprint(model), events, case)):
            values = [solution[f"class c{c}.response_time_p{100 * share:g}"] for share in SHARES]
            rows.append([beyond(each, times, s) for each, s in zip(values, SHARES, strict=True)])
    return np.array(rows)


def beyond(solved, times, share):
    """Relative distance of a percentile from the interval of simulated times.

    Four consecutive jobs count as one, and two standard errors are allowed.
    """
    width = 2 * (share * (1 - share) * 4 / len(times)) ** 0.5
    low, high = np.quantile(times, [max(share - width, 0), min(share + width, 1)])
    return max(solved / high - 1, 0.0) + min(solved / low - 1, 0.0)


def written(name, networks, errors):
    """A row of the document's table: largest errors in percent."""
    worst = 100 * np.abs(errors).max(axis=0)
    return f"| {name} | {networks} | " + " | ".join(f"{each:.2f}%" for each in worst) + " |"


def main():
    """Print the rows of the table."""
    for row in CLOSED:
        print(written(row.kind, row.networks, closed_errors(row)), flush=True)
    print(written(SHARING, 24, sharing_errors()), flush=True)
    for name, kind in CROWDS.items():
        errors = crowd_errors(*kind)
        print(written(name, len(errors), errors), flush=True)


if __name__ == "__main__":
    main()
