"""Open classes with different times in order of arrival, simulated: errors by region.

``python -m tests.campaigns.open_class_errors`` simulates again what
`tests/data/open_class_errors.csv` contains (some two minutes of a processor), and prints the table
of docs/accuracy/solver.md; with ``--stored`` it prints the table only. The simulation does not use
the code under test.

Jobs of two classes arrive as Poisson processes and take the same routes through one to three queues
and, in some networks, a constant delay. Many replicas are simulated at once, event by event. The
times of a class at a station have an scv of their own, up to 1, 4 or 8, or are exponential at all
stations; the others are gamma-distributed, lognormal, or (with an scv above 1) hyperexponential
with balanced means.

Constants or labels of `headway.queueing.classes.accuracy`, `headway.queueing.closed.measured` and
`headway.queueing.sojourn.routed_network` rest on it.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headway.models import ModelGraph
from headway.queueing import MG1, MM1, Delay, MGm
from headway.queueing.closed.measured import OPEN_SCVS, OpenRegion
from headway.queueing.closed.measured import STEADY as BELOW
from tests import campaigns
from tests.campaigns.general_networks import LAWS, LIMITS, times_of

PAGE = Path("tests/data/open_class_errors.csv")
PERCENTS = (50, 95, 99, 99.9)
TITLES = ("family", "number", "class", "mean", "half_width", *(f"p{p:g}" for p in PERCENTS))
EXAMPLES = (
    (1, 1, 0.4, 4.0, 0.583), (1, 1, 0.4, 0.25, 0.583), (1, 1, 0.4, 1.0, 0.583),
    *((1, 1, 0.8, scv, 0.9) for scv in (0.0, 0.25, 1.0, 4.0, 8.0)),
    *((1, 2, 0.8, scv, 0.9) for scv in (0.0, 0.25, 1.0, 4.0, 8.0)),
    *((3, 1, 0.0, scv, 0.9) for scv in (0.0, 0.25, 4.0, 8.0)),
)  # fmt: skip
"""Edges of regions: queues in a row, servers, probability of return by a delay, scv, utilisation.
"""

FAMILIES = {
    "examples": len(EXAMPLES), "rows": 24, "steady": 9, "loops": 36, "pools": 18,
    "exponential": 8, "exponential loops": 24, "exponential pools": 8,
    "varied rows": 12, "varied loops": 12, "varied pools": 9,
}  # fmt: skip
DRAWN = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
STEADY = (0.0, 0.0, 0.05, 0.2)
STEADIER = 0.25
LOADS, BACKS = (0.5, 0.7, 0.8, 0.9), (0.2, 0.4, 0.7)
APART, NEAR = 10.0, 1.2
"""Largest ratio of the classes' mean times at a station, and that for stations of steady times."""

SEED, EVENTS, FEWEST, MOST, ROOM, PARTS, STUDENT = 41, 1_500_000, 150, 1500, 1 << 10, 10, 2.262
WARM, FULL = 3, 10  # in relaxation times of the slowest queue


@dataclass(frozen=True)
class Drawn:
    """Arrivals [1/s] by class, probabilities, servers (0: delay), times and scvs, shape [k, c]."""

    law: str
    rates: np.ndarray
    onward: np.ndarray
    servers: np.ndarray
    times: np.ndarray
    scvs: np.ndarray

    @property
    def visits(self):
        """Mean visits of a job, which enters at the first station."""
        return np.linalg.inv(np.eye(len(self.servers)) - self.onward)[0]

    @property
    def busy(self):
        """Utilisation by station."""
        work = self.visits * (self.times @ self.rates)
        return np.where(self.servers > 0, work / np.maximum(self.servers, 1), 0.0)

    @property
    def memory(self):
        """Relaxation time of the slowest queue [s]."""
        mean = self.times @ self.rates / self.rates.sum()
        second = (self.times**2 * (1 + self.scvs)) @ self.rates / self.rates.sum()
        return float((self.visits * second / mean / (1 - self.busy) ** 2).max())


def network(family, number):
    """One to three queues in a row, and back to the first; half of the loops end with a delay."""
    if family == "examples":
        return _example(*EXAMPLES[number])
    random = np.random.default_rng([SEED, list(FAMILIES).index(family), number])
    loops, pools = "loops" in family, "pools" in family
    back = float(random.choice(BACKS)) if loops or (pools and random.random() < 0.5) else 0.0
    delayed = back > 0 and random.random() < 0.5
    queues = int(random.integers(1 if delayed else 2, 4))
    count = queues + delayed
    servers = np.ones(count, int)
    if pools:
        servers[:queues] = random.integers(1, 4, queues)
        servers[int(random.integers(queues))] = 2
    ways = np.diag(np.ones(count - 1), 1)
    ways[-1, 0] = back
    apart = (NEAR if family == "steady" else APART) ** random.uniform(-1, 1, count)
    times = np.stack([np.ones(count), apart], axis=1)
    limit = LIMITS[number % len(LIMITS)]
    scvs = np.ones((count, 2))
    if family == "steady":
        scvs = random.choice(STEADY, (count, 2))
    elif not family.startswith("exponential"):
        least = STEADIER if family.startswith("varied") else 0.0
        scvs = random.choice([s for s in DRAWN if least <= s <= limit], (count, 2))
        scvs[int(random.integers(queues))] = limit if limit > 1 else random.choice([least, 0.25])
    share = random.uniform(0.2, 0.8)
    plain = Drawn("", np.array([share, 1 - share]), ways, servers, times, scvs)
    wanted = random.choice(LOADS) * (1 if random.random() < 0.3 else random.uniform(0.4, 1, count))
    times = times * (wanted / plain.busy)[:, None]
    if delayed:
        servers[-1], times[-1] = 0, times[:-1].mean() * random.uniform(0.3, 3)
    law = LAWS[int(random.integers(3))]
    return Drawn(law, plain.rates, ways, servers, times, scvs)


def _example(queues, servers, back, scv, busy):
    """Times of 0.5 and 1 s at each queue; jobs that return do so after 0.5 s."""
    count = queues + (back > 0)
    ways = np.diag(np.ones(count - 1), 1)
    ways[-1, 0] = back
    crews, times = np.full(count, servers), np.tile([0.5, 1.0], (count, 1))
    if back:
        crews[-1], times[-1] = 0, 0.5
    rates = np.array([0.6, 0.4]) * busy * servers * (1 - back) / 0.7
    return Drawn("gamma", rates, ways, crews, times, np.full((count, 2), scv))


class Replicas:
    """The same network many times at once, each at its own next event.

    Signs stand for classes: a job of the second carries its arrival time as a negative number. A
    delay is one server whose jobs carry the time when they are due.
    """

    def __init__(self, drawn, replicas, random):
        self.drawn, self.random = drawn, random
        count = len(drawn.servers)
        self.rows, self.out = np.arange(replicas), count
        self.place = np.repeat(np.arange(count), np.maximum(drawn.servers, 1))
        slots = len(self.place)
        self.next = np.full((replicas, slots + 1), np.inf)
        self.next[:, slots] = random.exponential(1 / drawn.rates.sum(), replicas)
        self.job = np.zeros((replicas, slots))
        self.ring, self.due = np.zeros((2, replicas, count, ROOM))
        self.head, self.there = np.zeros((2, replicas, count), np.intp)
        self.ends = np.cumsum(drawn.onward, axis=1)
        self.ready = {}

    def _services(self, places, jobs):
        times, kinds = np.zeros(len(places)), (jobs < 0).astype(int)
        for k in range(self.out):
            if not self.drawn.servers[k]:
                times[places == k] = self.drawn.times[k, 0]
                continue
            for c in (0, 1):
                some = np.flatnonzero((places == k) & (kinds == c))
                times[some] = self._next_times(k, c, len(some))
        return times

    def _next_times(self, k, c, size):
        stock = self.ready.get((k, c), np.zeros(0))
        if size > len(stock):
            more = times_of(self.random, self.drawn.law, self.drawn.scvs[k, c], 1 << 17)
            stock = np.concatenate([stock, more * self.drawn.times[k, c]])
        self.ready[k, c] = stock[size:]
        return stock[:size]

    def _enter(self, rows, places, jobs, now):
        free = np.isinf(self.next[rows, :-1]) & (self.place == places[:, None])
        slot, idle = free.argmax(axis=1), free.any(axis=1)
        self.job[rows[idle], slot[idle]] = jobs[idle]
        begun = now[idle] + self._services(places[idle], jobs[idle])
        self.next[rows[idle], slot[idle]] = begun
        rows, places, jobs, now = rows[~idle], places[~idle], jobs[~idle], now[~idle]
        there = self.there[rows, places]
        if there.max(initial=0) >= ROOM:
            raise OverflowError
        spot = (self.head[rows, places] + there) % ROOM
        self.ring[rows, places, spot] = jobs
        self.due[rows, places, spot] = now + self.drawn.times[places, 0]
        self.there[rows, places] += 1

    def _leave(self, rows, slots, now):
        """Give a free server its next job."""
        places = self.place[slots]
        self.next[rows, slots] = np.inf
        more = self.there[rows, places] > 0
        rows, slots, places, now = rows[more], slots[more], places[more], now[more]
        spot = self.head[rows, places]
        jobs, due = self.ring[rows, places, spot], self.due[rows, places, spot]
        self.head[rows, places] = (spot + 1) % ROOM
        self.there[rows, places] -= 1
        self.job[rows, slots] = jobs
        ends = np.where(self.drawn.servers[places] > 0, now + self._services(places, jobs), due)
        self.next[rows, slots] = ends

    def step(self):
        """One event in each replica; returns class and time of the jobs that leave."""
        what = self.next.argmin(axis=1)
        now, comes = self.next[self.rows, what], what == len(self.place)
        rows, slots, at = self.rows[~comes], what[~comes], now[~comes]
        jobs = self.job[rows, slots]
        self._leave(rows, slots, at)
        chance = self.random.random(len(rows))[:, None]
        target = (chance >= self.ends[self.place[slots]]).sum(axis=1)
        stays = target < self.out
        self._enter(rows[stays], target[stays], jobs[stays], at[stays])
        new, come = self.rows[comes], now[comes]
        total = self.drawn.rates.sum()
        self.next[new, -1] = come + self.random.exponential(1 / total, len(new))
        sign = np.where(self.random.random(len(new)) * total < self.drawn.rates[0], 1.0, -1.0)
        self._enter(new, np.zeros(len(new), np.intp), sign * come, come)
        gone = jobs[~stays]
        return (gone < 0).astype(int), at[~stays] - np.abs(gone)


def simulate(case):
    """Rows of the file: one per class."""
    family, number = case
    drawn = network(family, number)
    random = np.random.default_rng([SEED, list(FAMILIES).index(family), number, 1])
    each = drawn.rates.sum() * (1 + drawn.visits.sum())  # events of a replica [1/s]
    replicas = int(np.clip(EVENTS / (FULL * drawn.memory * each), FEWEST, MOST))
    steps = int(EVENTS / replicas)
    warm = int(min(WARM * drawn.memory * each, steps / 2))
    one = Replicas(drawn, replicas, random)
    kinds, times = zip(*[one.step() for _ in range(steps)][warm:], strict=True)
    kinds, times = np.concatenate(kinds), np.concatenate(times)
    return [(family, number, c, *_told(times[kinds == c])) for c in (0, 1)]


def _told(times):
    parts = [part.mean() for part in np.array_split(times, PARTS)]
    half = STUDENT * np.std(parts, ddof=1) / np.sqrt(PARTS)
    numbers = (times.mean(), half, *np.quantile(times, np.array(PERCENTS) / 100))
    return [f"{value:.6g}" for value in numbers]


def model(drawn):
    """The network as a user writes it."""
    graph = ModelGraph("drawn")
    for k, (servers, times) in enumerate(zip(drawn.servers, drawn.times.tolist(), strict=True)):
        name, own = f"s{k}", dict(zip("ab", times, strict=True))
        scvs = dict(zip("ab", drawn.scvs[k].tolist(), strict=True))
        if not servers:
            graph = graph.station(name, Delay(times[0]))
        elif (drawn.scvs == 1).all() and servers == 1:
            graph = graph.station(name, MM1(1.0), service_times=own)
        else:
            kind = MG1(1.0, 1.0) if servers == 1 else MGm(1.0, int(servers), 1.0)
            graph = graph.station(name, kind, service_times=own, scvs=scvs)
    graph = graph.route_all(drawn.onward)
    for name, rate in zip("ab", drawn.rates.tolist(), strict=True):
        graph = graph.job_class(name, arrival_rate=rate)
    return graph.at()


@dataclass(frozen=True)
class Row:
    """The simulation of a network, shape (classes, numbers)."""

    family: str
    number: int
    numbers: np.ndarray

    @property
    def drawn(self):
        """The network."""
        return network(self.family, self.number)

    @property
    def region(self):
        """The region by which an answer is labelled."""
        drawn = self.drawn
        queues = drawn.servers > 0
        scvs, times = drawn.scvs[queues], drawn.times[queues]
        return OpenRegion(
            bool(np.tril(drawn.onward).any()),
            None if (scvs == 1).all() else (float(scvs.min()), float(scvs.max())),
            float((times.max(axis=1) / times.min(axis=1)).max()),
            int(queues.sum()),
            float(drawn.visits.max()),
            float(drawn.busy.max()),
        )

    def mean_errors(self):
        """Errors of mean response times by class [%]."""
        solution = model(self.drawn).solve()
        told = np.array([float(solution[f"class {c}.response_time"]) for c in "ab"])
        return 100 * (told / self.numbers[:, 0] - 1)

    def share_errors(self):
        """Errors of percentiles by class [%], shape (classes, percentiles)."""
        solution = model(self.drawn).solve().with_percentiles(PERCENTS)
        names = [[f"class {c}.response_time_p{p:g}" for p in PERCENTS] for c in "ab"]
        told = np.array([[float(solution[name]) for name in own] for own in names])
        return 100 * (told / self.numbers[:, 2:] - 1)


def stored():
    """The networks of the file."""
    by_case = {}
    for row in campaigns.stored_rows(PAGE):
        numbers = [float(row[title]) for title in TITLES[3:]]
        by_case.setdefault((row["family"], int(row["number"])), []).append(numbers)
    for (family, number), numbers in by_case.items():
        yield Row(family, number, np.array(numbers))


COLUMNS = (
    "exponential",
    f"some below {BELOW:g}",
    *(f"from {BELOW:g} to {scv:g}" for scv in OPEN_SCVS),
)


def largest(rows):
    """Errors of mean response times [%] by column of labels: without loops, and of all."""
    found = [(row.region, np.abs(row.mean_errors()).max()) for row in rows]
    return [
        [
            [size for region, size in found if _lies(region, column) and loops >= region.loops]
            for column in range(len(COLUMNS))
        ]
        for loops in (False, True)
    ]


def _lies(region, column):
    return region.column == column or 2 <= region.column <= column


def lines(rows):
    """The table of the page."""
    yield "| scv of services | networks without loops | largest | median | all networks | " \
        "largest | median |"  # fmt: skip
    yield "|---|---|---|---|---|---|---|"
    for told, *both in zip(COLUMNS, *largest(rows), strict=True):
        cells = [f"{len(s)} | {np.max(s):.1f}% | {np.median(s):.1f}%" for s in both]
        yield f"| {told} | {' | '.join(cells)} |"


def main():
    """Simulate again, unless only the tables are asked for, and print them."""
    options = campaigns.parser(__doc__)
    options.add_argument("--stored", action="store_true", help="print the tables only")
    args = options.parse_args()
    if not args.stored:
        cases = [(family, k) for family, count in FAMILIES.items() for k in range(count)]
        with campaigns.shared(args) as done:
            campaigns.store(PAGE, TITLES, [row for rows in done(simulate, cases) for row in rows])
    print(*lines(stored()), sep="\n")


if __name__ == "__main__":
    campaigns.run(__spec__)
