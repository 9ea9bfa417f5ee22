"""Percentiles of random networks compared with simulations.

``python -m tests.campaigns.percentile_campaign [COUNT] [SEED]`` recomputes the table of
docs/accuracy.md; `tests/models/solving/test_percentile_campaign.py` a small part.

Constants or labels of `headway.queueing.passages.processor_sharing` and
`headway.queueing.passages.sharing_chain` rest on it.
"""

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from scipy.stats import t as student

from headway.errors import GraphError
from headway.models import ModelGraph
from headway.models.simulating.jobs import blueprint
from headway.queueing import MD1, MG1, MM1, MM1K, Delay, MMm, Parallel
from tests import campaigns
from tests.oracles.crowd_simulation import response_times

PERCENTS = (50, 95, 99, 99.9)
NEAR = 0.05
"""Error up to which a percentile agrees, whatever the interval of the simulation."""

EVENTS, COUNT, SEED = 300_000, 200, 15
BATCHES, CONFIDENCE = 20, 0.99


@dataclass(frozen=True)
class Kind:
    """The kind of network: ``open``, ``closed`` or ``mixed``, ``fcfs`` or ``ps``."""

    flow: str
    classes: int
    discipline: str

    def __str__(self):
        many = "one class" if self.classes == 1 else f"{self.classes} classes"
        return f"{self.flow}, {many}, {self.discipline}"


KINDS = tuple(
    Kind(flow, classes, discipline)
    for flow, classes, discipline in product(("open", "closed", "mixed"), (1, 2, 3), ("fcfs", "ps"))
    if flow != "mixed" or classes > 1
)


@dataclass(frozen=True)
class Drawn:
    """A random network: times by class and station [s], and the intended highest utilisation."""

    kind: Kind
    stations: tuple
    times: np.ndarray
    onward: np.ndarray
    busy: float
    shares: np.ndarray
    jobs: np.ndarray

    @property
    def demands(self):
        """Demands of each class, divided by servers, shape (classes, stations); 0 at delays."""
        entry = np.eye(len(self.stations))[0]
        visits = np.linalg.solve(np.eye(len(self.stations)) - self.onward.T, entry)
        servers = [np.inf if kind is Delay else count for kind, count in self.stations]
        return visits * self.times / servers

    def model(self):
        """The network as a model whose busiest station has about the intended utilisation."""
        graph = ModelGraph("random")
        names = [f"c{c}" for c in range(self.kind.classes)]
        for k, (kind, count) in enumerate(self.stations):
            own = dict(zip(names, self.times[:, k].tolist(), strict=True))
            station = made(kind, own["c0"], count)
            way = self.kind.discipline if kind in SHARED else "fcfs"
            given = {"service_times": own} if len(set(own.values())) > 1 else {}
            graph = graph.station(f"s{k}", station, discipline=way, **given)
        graph = graph.route_all(self.onward)
        whole = self.busy / (self.shares @ self.demands).max()
        if len(names) == 1:
            numbers = self.numbers(0, whole)
            if "arrival_rate" in numbers:
                return graph.at(arrival_rate=numbers["arrival_rate"])
            return graph.at().closed(numbers["population"], numbers["think_time"])
        for c, name in enumerate(names):
            graph = graph.job_class(name, **self.numbers(c, whole * self.shares[c]))
        return graph.at()

    def numbers(self, c, rate):
        """The numbers of a class that arrives at a rate, or circulates at about that rate."""
        if self.jobs[c] == 0:
            return {"arrival_rate": float(rate)}
        inside = self.demands[c].sum() / (1 - self.busy / 2)
        jobs = int(self.jobs[c])
        return {"population": jobs, "think_time": float(max(jobs / rate - inside, 0.1 * inside))}


SHARED = (MM1, MMm, Parallel)


def made(kind, time, count):
    """A station of a kind; `count` is its servers, or for MM1K its further places."""
    if kind in (MMm, Parallel):
        return kind(time, count)
    if kind is MG1:
        return MG1(time, 0.5)
    if kind is MM1K:
        return MM1K(time, 5)
    return kind(time)


def draw(random, kind):
    """One to four stations, one of the later ones possibly a delay; times with ratios up to 10.

    Times of classes have ratios up to 10 at shared servers, up to 3 at a server in order of
    arrival.
    """
    count = int(random.integers(1, 5))
    returns = bool(random.uniform() < 0.5)
    alone = kind.flow == "open" and kind.classes == 1 and kind.discipline == "fcfs"
    kinds = [MM1, MM1, MMm, Parallel] + ([MG1, MD1] if alone else [])
    kinds += [MM1K] if alone and not returns else []
    picked = [kinds[int(random.integers(len(kinds)))]]
    picked += [kinds[int(random.integers(len(kinds)))] for _ in range(count - 1)]
    if count > 1 and random.uniform() < 0.4:
        picked[int(random.integers(1, count))] = Delay
    stations = [(k, int(random.integers(2, 5)) if k in (MMm, Parallel) else 1) for k in picked]
    times = 10 ** random.uniform(-0.5, 0.5, count) * np.ones((kind.classes, 1))
    if kind.classes > 1 and random.uniform() < 0.5:
        spread = 10 ** random.uniform(-0.5, 0.5, times.shape)
        if kind.discipline == "fcfs":
            spread = np.where([k is MM1 for k in picked], spread**0.5, 1.0)
        times = times * spread
    onward = _returning(random, count) if returns else _forward(random, count)
    closed = {"open": np.zeros, "closed": np.ones, "mixed": _first}[kind.flow](kind.classes)
    shares = random.dirichlet(np.full(kind.classes, 5.0))
    jobs = closed * random.integers(2, 12, kind.classes)
    return Drawn(kind, tuple(stations), times, onward, random.uniform(0.3, 0.9), shares, jobs)


def _first(count):
    return np.eye(count)[0]


def _forward(random, count):
    if random.uniform() < 0.5:
        return np.eye(count, k=1)
    onward = np.zeros((count, count))
    for k in range(count - 1):
        onward[k, k + 1 :] = random.dirichlet(np.ones(count - k))[:-1]
    return onward


def _returning(random, count):
    """Routes around the first station, or from any station to any."""
    if random.uniform() < 0.5 and count > 1:
        onward = np.zeros((count, count))
        onward[0, 1:] = random.uniform(0.3, 0.8) * random.dirichlet(np.ones(count - 1))
        onward[1:, 0] = 1
        return onward
    onward = random.dirichlet(np.ones(count + 1), count)[:, :-1]
    return onward * random.uniform(0.3, 0.8) / onward.sum(axis=1, keepdims=True)


def interval(times, share):
    """Interval of a percentile of simulated times, by batches of its tail in completion order."""
    here = np.quantile(times, share)
    over = (times > here)[: len(times) // BATCHES * BATCHES].reshape(BATCHES, -1).mean(axis=1)
    error = over.std(ddof=1) / BATCHES**0.5
    half = float(student.ppf((1 + CONFIDENCE) / 2, BATCHES - 1)) * error
    low, high = np.quantile(times, np.clip([share - half, share + half], 0, 1))
    return low, here, (high if share + half < 1 else np.inf)


@dataclass(frozen=True)
class Simulated:
    """Percentiles of a class of a network, solved and simulated, and how long the answer took."""

    number: int
    kind: Kind
    name: str
    solved: np.ndarray
    low: np.ndarray
    simulated: np.ndarray
    high: np.ndarray

    @property
    def errors(self):
        """Errors relative to the simulated percentiles."""
        return self.solved / self.simulated - 1

    @property
    def beyond(self):
        """Relative distance from the interval."""
        return np.maximum(self.solved / self.high - 1, 0) + np.minimum(
            self.solved / self.low - 1, 0
        )

    @property
    def is_within(self):
        """Whether it is within `NEAR`, or in the interval."""
        return (np.abs(self.errors) <= NEAR) | (np.abs(self.beyond) <= 1e-9)


def case(number, seed=SEED, events=EVENTS):
    """One network of the campaign, by class.

    Raises
    ------
    GraphError
        For a network whose percentiles are refused.
    """
    random = np.random.default_rng((seed, number))
    kind = KINDS[number % len(KINDS)]
    model = draw(random, kind).model()
    names = [f"class {name}." for name in model.graph.classes] or [""]
    arguments = [f"{name}response_time_p{p:g}" for name in names for p in PERCENTS]
    solution = model.solve().answering(*arguments)
    values = np.array([float(np.ravel(solution[each])[0]) for each in arguments])
    rows = []
    simulated = response_times(blueprint(model), events, number)
    for name, answers, times in zip(names, values.reshape(len(names), -1), simulated, strict=True):
        ends = np.array([interval(times, p / 100) for p in PERCENTS]).T
        rows.append(Simulated(number, kind, name, answers, *ends))
    return rows


def tried(number, seed):
    """One network by class; for a refused one, the reason."""
    try:
        return case(number, seed)
    except GraphError as error:
        return f"{number}: {KINDS[number % len(KINDS)]}: {error}\n"


def row(name, networks):
    """A row of the table: share that agrees, median error, largest distance from intervals."""
    classes = [result for each in networks for result in each]
    value = np.mean([each.is_within for each in classes], axis=0)
    middle = np.median([np.abs(each.errors) for each in classes], axis=0)
    most = np.max([np.abs(each.beyond) for each in classes], axis=0)
    cells = [
        f"{100 * h:.0f}%, {100 * m:.1f}%, {100 * w:.1f}%"
        for h, m, w in zip(value, middle, most, strict=True)
    ]
    return f"| {name} | {len(networks)} | {len(classes)} | " + " | ".join(cells) + " |"


def main():
    """Print the table, what was refused, and what disagrees."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("count", nargs="?", type=int, default=COUNT)
    parser.add_argument("seed", nargs="?", type=int, default=SEED)
    options = parser.parse_args()
    with campaigns.shared(options) as done:
        every = list(done(partial(tried, seed=options.seed), range(options.count)))
    known = [each for each in every if not isinstance(each, str)]
    for kind in KINDS:
        if own := [each for each in known if each[0].kind == kind]:
            print(row(str(kind), own))
    print(row("all", known))
    for each in every:
        print(f"refused: {each}" if isinstance(each, str) else _missed(each), end="")


def _missed(network):
    """Classes of a network with a percentile that disagrees, a line each."""
    lines = []
    for result in network:
        ends = zip(PERCENTS, result.solved, result.low, result.high, strict=True)
        text = ", ".join(f"p{p:g} {stated:.4g} [{a:.4g} {b:.4g}]" for p, stated, a, b in ends)
        if not result.is_within.all():
            lines.append(f"{result.number}: {result.kind}: {result.name}{text}\n")
    return "".join(lines)


if __name__ == "__main__":
    campaigns.run(__spec__)
