"""Open networks with general service times, simulated: errors of their means and percentiles.

``python -m tests.campaigns.general_networks`` simulates again what
`tests/data/general_networks.csv` contains (some ten minutes of a processor); with ``--stored`` it
only prints the tables of docs/accuracy. The simulation does not use the code under test.

Jobs arrive as a Poisson process. Without loops each station's jobs are followed in order: waits at
one server by Lindley's max(wait + service - gap, 0). Loops of single servers are simulated event by
event, in many replicas at once. Service times are gamma-distributed, lognormal, or (with an scv
above 1) hyperexponential with balanced means, by the same law throughout a network.

Constants or labels of `headway.models.structure.planning.variability` and
`headway.queueing.variability.measured` rest on it.
"""

from dataclasses import dataclass
from heapq import heapreplace
from itertools import product
from pathlib import Path

import numpy as np

from headway.models import ModelGraph
from headway.queueing import MG1, MGm
from headway.queueing.variability import measured
from headway.queueing.variability.measured import KINDS, MeasuredRegion
from headway.queueing.variability.measured import SCVS as SCVS_OF_REGIONS
from tests import campaigns

PAGE = Path("tests/data/general_networks.csv")
FAMILIES = {"rows": 72, "forward": 48, "loops": 72, "pools": 18, "steady": 30, "steady pools": 16}
LAWS = ("gamma", "two phases", "lognormal")
SCVS = (0.0, 0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
STEADY = (0.0, 0.0, 0.02, 0.05, 0.1, 0.2)
LIMITS, LOADS = (1.0, 4.0, 8.0), (0.5, 0.7, 0.8, 0.85, 0.9)
PERCENTS = (50, 95, 99, 99.9)
TITLES = ("family", "number", "mean", "half_width", *(f"p{p:g}" for p in PERCENTS))
SEED, JOBS, OF_POOLS, PARTS = 31, 1_000_000, 600_000, 10
EVENTS, FEWEST, MOST, ROOM = 5_000_000, 60, 800, 1 << 11
WARM, FULL = 4, 10  # in relaxation times of the slowest queue
STUDENT = 2.262


@dataclass(frozen=True)
class Drawn:
    """A random network: arrival rate [1/s], shares by station, probabilities, times, servers."""

    law: str
    rate: float
    entries: np.ndarray
    onward: np.ndarray
    times: np.ndarray
    servers: np.ndarray
    scvs: np.ndarray

    @property
    def visits(self):
        """Mean visits of a job."""
        return np.linalg.solve(np.eye(len(self.times)) - self.onward.T, self.entries)

    @property
    def busy(self):
        """Utilisation by station."""
        return self.rate * self.visits * self.times / self.servers

    @property
    def memory(self):
        """Relaxation time of the slowest queue: about S (1 + scv) / (1 - U)**2 per job [s]."""
        each = self.times * np.maximum(self.visits, 1) * (1 + self.scvs)
        return float((each / (1 - self.busy) ** 2).max())


def network(family, number):
    """Two to six stations (two to four in loops), the busiest 50% to 90% busy, scvs to 8."""
    random = np.random.default_rng([SEED, list(FAMILIES).index(family), number])
    count = int(random.integers(2, 5 if family == "loops" else 7))
    onward, entries = np.diag(np.ones(count - 1), 1), np.eye(count)[0]
    if family in ("forward", "pools"):
        onward, entries = _forward(random, count)
    if family == "loops":
        onward = _looped(random, count)
    limit = LIMITS[number % len(LIMITS)]
    if family.startswith("steady"):
        servers = random.choice([1, 2, 4], count) if family == "steady pools" else np.ones(count)
        return _scaled(random, onward, entries, random.choice(STEADY, count), servers)
    scvs = random.choice([scv for scv in SCVS if scv <= limit], count)
    scvs[int(random.integers(count))] = limit if limit > 1 else random.choice([0.0, 0.25, 0.5])
    servers = random.choice([1, 2, 4], count) if family == "pools" else np.ones(count)
    return _scaled(random, onward, entries, scvs, servers)


def _scaled(random, onward, entries, scvs, servers):
    """The network with times that give the utilisations drawn."""
    count = len(scvs)
    busy = np.full(count, random.choice(LOADS))
    if random.random() < 0.7:
        busy *= random.uniform(0.3, 1, count)
        busy *= random.choice(LOADS) / busy.max()
    one = Drawn(LAWS[int(random.integers(3))], 1.0, entries, onward, busy, servers, scvs)
    times = busy * servers / one.visits
    return Drawn(one.law, 1.0, entries, onward, times, servers, scvs)


def _forward(random, count):
    """Routes from each station to later ones or out; jobs may also enter at a later one."""
    onward = np.zeros((count, count))
    for k in range(count - 1):
        later = random.dirichlet(np.ones(count - 1 - k)) * random.choice([1.0, 0.8])
        onward[k, k + 1 :] = np.where(later < 0.1, 0.0, later)
    entries = np.where(random.random(count) < 0.3, random.uniform(0.1, 0.5, count), 0.0)
    entries[0] = 1.0
    through = np.linalg.solve(np.eye(count) - onward.T, entries)
    entries = np.where(through < 0.05, 0.3, entries)
    return onward, entries / entries.sum()


def _looped(random, count):
    """Routes in a circle, around the first station, or from any station to any."""
    back, shape = random.choice([0.3, 0.5, 0.7, 0.85]), int(random.integers(3))
    onward = np.zeros((count, count))
    if shape == 0:
        onward = np.diag(np.ones(count - 1), 1)
        onward[-1, 0] = back
    elif shape == 1:
        onward[0, 1:] = back * random.dirichlet(4 * np.ones(count - 1))
        onward[1:, 0] = 1.0
    else:
        onward = back * random.dirichlet(4 * np.ones(count), count)
        np.fill_diagonal(onward, 0.0)
    return onward


def times_of(random, law, scv, size):
    """Times of an scv, with a mean of 1."""
    if scv in (0.0, 1.0):
        return random.exponential(1.0, size) if scv else np.ones(size)
    if law == "lognormal":
        log = np.log1p(scv)
        return random.lognormal(-log / 2, np.sqrt(log), size)
    if law == "gamma" or scv < 1:
        return random.gamma(1 / scv, scv, size)
    first = (1 + np.sqrt((scv - 1) / (scv + 1))) / 2
    slow = np.where(random.random(size) < first, 2 * first, 2 * (1 - first))
    return random.exponential(1.0, size) / slow


def _done(arrivals, service, servers):
    """When each of the jobs, in order, is completed."""
    if servers == 1:
        total = np.cumsum(service)
        return total + np.maximum.accumulate(arrivals - total + service)
    free, done = [0.0] * int(servers), np.empty(len(arrivals))
    for k, (come, time) in enumerate(zip(arrivals.tolist(), service.tolist(), strict=True)):
        done[k] = max(come, free[0]) + time
        heapreplace(free, done[k])
    return done


def forward(drawn, jobs, random):
    """Times of jobs that visit no station twice, in order of arrival."""
    begun = np.cumsum(random.exponential(1 / drawn.rate, jobs))
    first = random.choice(len(drawn.entries), jobs, p=drawn.entries)
    inbox = [[(begun[first == k], np.flatnonzero(first == k))] for k in range(len(drawn.times))]
    ended = begun.copy()
    for k, chances in enumerate(drawn.onward):
        arrivals, who = (np.concatenate(each) for each in zip(*inbox[k], strict=True))
        order = np.argsort(arrivals, kind="stable")
        arrivals, who = arrivals[order], who[order]
        service = times_of(random, drawn.law, drawn.scvs[k], len(who)) * drawn.times[k]
        done = _done(arrivals, service, drawn.servers[k])
        ended[who] = done
        drawn_chance, low = random.random(len(who)), 0.0
        for j in np.flatnonzero(chances):
            going = (drawn_chance >= low) & (drawn_chance < low + chances[j])
            inbox[j].append((done[going], who[going]))
            low += chances[j]
    return (ended - begun)[jobs // 10 :]


class Loops:
    """Single servers with routes that lead back: the next event of every replica at once."""

    def __init__(self, drawn, replicas, random):
        self.drawn, self.random, count = drawn, random, len(drawn.times)
        self.rows, self.out = np.arange(replicas), count
        self.begun = np.zeros((replicas, count, ROOM))
        self.here, self.head = np.zeros((2, replicas, count), np.intp)
        self.next = np.full((replicas, count + 1), np.inf)
        self.next[:, count] = random.exponential(1 / drawn.rate, replicas)
        self.ends, self.entry = np.cumsum(drawn.onward, axis=1), np.cumsum(drawn.entries)[:-1]
        self.ready = [np.zeros(0) for _ in range(count)]

    def _services(self, k, size):
        if size > len(self.ready[k]):
            more = times_of(self.random, self.drawn.law, self.drawn.scvs[k], 1 << 18)
            self.ready[k] = np.concatenate([self.ready[k], more * self.drawn.times[k]])
        given, self.ready[k] = np.split(self.ready[k], [size])
        return given

    def _begin(self, rows, places, now):
        for k in range(self.out):
            some = places == k
            self.next[rows[some], k] = now[some] + self._services(k, int(some.sum()))

    def _put(self, rows, places, begun, now):
        there = self.here[rows, places]
        if there.max(initial=0) >= ROOM:
            raise OverflowError
        self.begun[rows, places, (self.head[rows, places] + there) % ROOM] = begun
        self.here[rows, places] += 1
        idle = there == 0
        self._begin(rows[idle], places[idle], now[idle])

    def step(self):
        """One event in each replica; returns the times of jobs that leave."""
        what = self.next.argmin(axis=1)
        now, comes = self.next[self.rows, what], what == self.out
        rows, places, times = self.rows[~comes], what[~comes], now[~comes]
        begun = self.begun[rows, places, self.head[rows, places]]
        self.head[rows, places] = (self.head[rows, places] + 1) % ROOM
        self.here[rows, places] -= 1
        self.next[rows, places] = np.inf
        more = self.here[rows, places] > 0
        self._begin(rows[more], places[more], times[more])
        target = (self.random.random(len(rows))[:, None] >= self.ends[places]).sum(axis=1)
        stays = target < self.out
        self._put(rows[stays], target[stays], begun[stays], times[stays])
        new, at = self.rows[comes], now[comes]
        self.next[new, self.out] = at + self.random.exponential(1 / self.drawn.rate, len(new))
        self._put(new, (self.random.random(len(new))[:, None] >= self.entry).sum(axis=1), at, at)
        return (times - begun)[~stays]


def looped(drawn, events, random):
    """Times of jobs in loops, once the queues have forgotten that they were empty."""
    each = drawn.rate * (1 + drawn.visits.sum())  # events of a replica [1/s]
    replicas = int(np.clip(events / (FULL * drawn.memory * each), FEWEST, MOST))
    loops, steps = (
        Loops(drawn, replicas, random),
        int(max(events / replicas, FULL * drawn.memory * each)),
    )
    warm = int(min(WARM * drawn.memory * each, steps / 2))
    return np.concatenate([loops.step() for _ in range(steps)][warm:])


def simulate(case):
    """A row of the file."""
    family, number = case
    drawn = network(family, number)
    random = np.random.default_rng([SEED, list(FAMILIES).index(family), number, 1])
    if family == "loops":
        times = looped(drawn, EVENTS, random)
    else:
        times = forward(drawn, OF_POOLS if "pools" in family else JOBS, random)
    parts = [part.mean() for part in np.array_split(times, PARTS)]
    half = STUDENT * np.std(parts, ddof=1) / np.sqrt(PARTS)
    numbers = (times.mean(), half, *np.quantile(times, np.array(PERCENTS) / 100))
    return (family, number, *(f"{v:.6g}" for v in numbers))


def model(drawn):
    """The network as a user writes it."""
    graph = ModelGraph("drawn")
    numbers = zip(drawn.times.tolist(), drawn.servers.tolist(), drawn.scvs.tolist(), strict=True)
    for k, (time, servers, scv) in enumerate(numbers):
        graph = graph.station(
            f"s{k}", MG1(time, scv) if servers == 1 else MGm(time, int(servers), scv)
        )
    graph = graph.route_all(drawn.onward)
    for k, share in enumerate(drawn.entries.tolist()):
        graph = graph.arrive(f"s{k}", share * drawn.rate) if share else graph
    return graph.at()


@dataclass(frozen=True)
class Row:
    """The simulation of a network, and the errors of an answer."""

    family: str
    number: int
    mean: float
    half_width: float
    percentiles: tuple[float, ...]

    @property
    def drawn(self):
        """The network."""
        return network(self.family, self.number)

    @property
    def region(self):
        """The region by which an answer is labelled."""
        drawn = self.drawn
        kind = (
            "pools" if "pools" in self.family else "loops" if self.family == "loops" else "single"
        )
        return MeasuredRegion(kind, float(drawn.scvs.max()), float(drawn.busy.max()))

    def mean_error(self):
        """Error of the mean response time [%]."""
        return 100 * (float(model(self.drawn).solve().response_time) / self.mean - 1)

    def poisson_error(self):
        """The same error if all flows were Poisson [%]."""
        drawn, total = self.drawn, 0.0
        for k, visits in enumerate(drawn.visits.tolist()):
            station = MGm(float(drawn.times[k]), int(drawn.servers[k]), float(drawn.scvs[k]))
            total += visits * float(station.response_time(drawn.rate * visits))
        return 100 * (total / self.mean - 1)

    def share_errors(self):
        """Errors of percentiles [%]."""
        solution = model(self.drawn).solve().with_percentiles(PERCENTS)
        told = [float(solution[f"response_time_p{p:g}"]) for p in PERCENTS]
        return 100 * (np.array(told) / self.percentiles - 1)


def stored():
    """The rows of the file."""
    for row in campaigns.stored_rows(PAGE):
        numbers = [float(row[f"p{p:g}"]) for p in PERCENTS]
        mean, half = float(row["mean"]), float(row["half_width"])
        yield Row(row["family"], int(row["number"]), mean, half, tuple(numbers))


def largest(rows, error):
    """Quantiles of an error [%] in each region: kind of network, with scvs up to a limit."""
    found = [(row.region, np.max(np.abs(error(row)))) for row in rows]
    return {
        (kind, scv): [size for region, size in found if region.kind == kind and region.scv <= scv]
        for kind in KINDS
        for scv in SCVS_OF_REGIONS
    }


def lines(rows):
    """The document's table of means."""
    rows = list(rows)
    yield "| networks | scv up to | how many | two moments: mean | largest | all flows Poisson: " \
        "mean | largest |"  # fmt: skip
    yield "|---|---|---|---|---|---|---|"
    here, poisson = (largest(rows, error) for error in (Row.mean_error, Row.poisson_error))
    for (kind, scv), sizes in here.items():
        cells = [f"{np.mean(s):.1f}% | {np.max(s):.1f}%" for s in (sizes, poisson[kind, scv])]
        yield f"| {KINDS[kind]} | {scv:g} | {len(sizes)} | {' | '.join(cells)} |"


def share_lines(rows):
    """The document's table of percentiles."""
    rows = [row for row in rows if "pools" not in row.family]
    yield "| networks | scv up to | times | how many | to p99: 95 of 100 | largest | p99.9: " \
        "95 of 100 | largest |"  # fmt: skip
    yield "|---|---|---|---|---|---|---|---|"
    found = [(row.region, row.drawn.law == "gamma", np.abs(row.share_errors())) for row in rows]
    for kind, scv, gamma in product(measured.SHARES, SCVS_OF_REGIONS, (True, False)):
        some = np.array([
            errors for region, is_gamma, errors in found
            if region.kind == kind and region.scv <= scv and is_gamma == gamma
        ])  # fmt: skip
        law = "gamma" if gamma else "other"
        cells = [
            f"{np.quantile(each, 0.95):.0f}% | {each.max():.1f}%"
            for each in (some[:, :-1].max(axis=1), some[:, -1])
        ]
        yield f"| {KINDS[kind]} | {scv:g} | {law} | {len(some)} | {' | '.join(cells)} |"


def main():
    """Simulate again, unless only the tables are asked for, and print them."""
    options = campaigns.parser(__doc__)
    options.add_argument("--stored", action="store_true", help="print the tables only")
    args = options.parse_args()
    if not args.stored:
        cases = [(family, k) for family, count in FAMILIES.items() for k in range(count)]
        with campaigns.shared(args) as done:
            campaigns.store(PAGE, TITLES, list(done(simulate, cases)))
    print(*lines(stored()), *share_lines(stored()), sep="\n")


if __name__ == "__main__":
    campaigns.run(__spec__)
