"""Random small networks of closed and open jobs that change class, under every discipline.

``python -m tests.brute.changing --count 2000`` holds means, numbers of jobs and percentiles that
are called exact to whole chains. Each station has a discipline of its own, its classes times alike
or not, one server or several; a job's time is found by following one that has classes of its own.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import tomli_w
from scipy.sparse import csr_array
from scipy.sparse.linalg import expm_multiply

from headway.errors import HeadwayError
from headway.models import Solution, parse_model
from tests import campaigns
from tests.brute.campaign import HEAVY
from tests.brute.chain import TooLarge, solve_chain
from tests.brute.drawing import Entry, Sketch, Station, shares, times
from tests.brute.kinds import _ORDERS, _merged
from tests.brute.network import Hops, Jobs, Network, Truth, solve_network
from tests.brute.orders import Sharing

EXACT, NEAR = 1e-8, 1e-6
"""Of means and chances, and of chances of a percentile, found by inverting a transform."""

PERCENTS = (50, 99)
MOST = 700
"""States of the chain with a followed job."""


def drawn(seed: int) -> tuple[Network, str]:
    """A network of a seed, and its model file."""
    draw = Random(f"changing {seed}")
    names = "ab" if draw.random() < 0.7 else "abc"
    jobs = [
        Jobs(n, None, draw.randint(0, 2) if k else draw.randint(1, 3), draw.choice((0.5, 2.0)))
        for k, n in enumerate(names)
    ]
    if draw.random() < 0.2:
        jobs[-1] = Jobs(names[-1], 0.2)
    ranks = tuple(draw.randint(1, 2) for _ in jobs)
    stations = [_station(draw, len(jobs), ranks) for _ in range(draw.randint(1, 3))]
    hops: dict[tuple[int, int], Hops] = {}
    changes, closed = draw.random() < 0.6, [c for c, job in enumerate(jobs) if not job.is_open]
    for k, row in shares(draw, len(stations)).items():
        for c, job in enumerate(jobs):
            ways: Hops = []
            for share, target in row:
                stays = job.is_open or target is None or not changes
                turn = 0.0 if stays else draw.choice((0.0, 0.3, 1.0))
                parts = ((1 - turn, c), (turn, draw.choice(closed)))
                ways += [(share * part, target, d) for part, d in parts if part]
            hops[k, c] = _merged(ways)
    sketch = Sketch(draw, stations, jobs, hops)
    document = sketch.document()
    if any(station.place.ranks for station in stations):
        for job, rank in zip(jobs, ranks, strict=True):
            document["classes"][job.name]["priority"] = rank
    network = Network(tuple(s.place for s in stations), tuple(jobs), hops)
    return network, tomli_w.dumps(document)


def _station(draw: Random, classes: int, ranks: tuple[int, ...]) -> Station:
    needed = times(draw, classes, alike=draw.random() < 0.4)
    if draw.random() < 0.2:
        return Station({"kind": "Delay"}, Sharing(needed, servers=float("inf")))
    discipline, servers = draw.choice(list(_ORDERS)), draw.choice((1, 1, 2, 3))
    entry: Entry = {"kind": "MM1", "discipline": discipline}
    if servers > 1:
        entry |= {"kind": "MMm", "servers": servers}
    ranked = ranks if discipline in ("priority", "preemptive") else ()
    return Station(entry, _ORDERS[discipline](needed, servers=servers, ranks=ranked))


def hold(seed: int) -> tuple[int, str, list[str]] | None:
    """Hold what is called exact of the network of a seed; None where its chain does not say.

    It may be too large, or have several steady states.

    Returns
    -------
    The seed, what is said ("exact", "approximate" or why it is refused), and what is wrong.
    """
    network, text = drawn(seed)
    try:
        truth = solve_network(network)
        solution = parse_model(text).solve()
    except HeadwayError as refusal:
        return seed, str(refusal), []
    except (TooLarge, ValueError):
        return None
    if truth.cut > HEAVY:
        return None
    if solution.approximation:
        return seed, "approximate", []
    wrong = list(_means(truth, solution))
    if not any(job.is_open for job in network.classes):
        wrong += [*_numbers(network, solution), *_percentiles(network, solution)]
    return seed, "exact", wrong


def _means(truth: Truth, solution: Solution) -> Iterator[str]:
    for name, true in truth.numbers.items():
        value = float(np.asarray(solution[name]))
        if abs(value - true) > (EXACT + 300 * truth.cut) * max(abs(true), 1e-3):
            yield f"{name} is {value:.8g}, not {true:.8g}"


def _numbers(network: Network, solution: Solution) -> Iterator[str]:
    """Chances of numbers of jobs at stations."""
    chain = solve_chain(network.start, network.moves)
    for k, place in enumerate(network.places):
        try:
            chances = solution.queue_lengths(f"s{k}").chances(f"s{k}")
        except HeadwayError:
            continue
        true = np.zeros(len(chances) + 20)
        for share, state in zip(chain.shares, chain.states, strict=True):
            true[sum(place.counts(state[0][k]))] += share
        error = np.abs(true[: len(chances)] - chances).max()
        if error > EXACT:
            yield f"numbers at s{k} are {error:.2g} off"


def _percentiles(network: Network, solution: Solution) -> Iterator[str]:
    """Chances to take longer than a percentile that is called exact, by a job that is followed.

    Not with delays, whose times are constant where there are percentiles.
    """
    if any(np.isinf(place.servers) for place in network.places):
        return
    names = [f"response_time_p{p}" for p in PERCENTS]
    try:
        answered = solution.answering(*names)
    except HeadwayError:
        return
    if answered.approximation:
        return
    for c, job in enumerate(network.classes):
        if not job.population:
            continue
        values = [float(answered[f"class {job.name}.{name}"]) for name in names]
        longer = _longer(network, c, values)
        for percent, chance in zip(PERCENTS, longer or (), strict=bool(longer)):
            if abs(chance - 1 + percent / 100) > NEAR:
                yield f"class {job.name} takes longer than its p{percent} with {chance:.7g}"


def _longer(network: Network, own: int, given: Sequence[float]) -> list[float] | None:
    """Chances to take longer than some times, of jobs that enter as a class."""
    count = len(network.classes)
    places = [replace(p, times=p.times * 2, ranks=p.ranks * 2) for p in network.places]
    less = tuple(
        replace(j, population=j.population - (c == own)) for c, j in enumerate(network.classes)
    )
    only = tuple(replace(j, population=int(c == own)) for c, j in enumerate(network.classes))
    hops = dict(network.hops)
    for (k, c), ways in network.hops.items():
        hops[k, count + c] = [(p, t, count + d) for p, t, d in ways]
    both = Network(tuple(places), (*less, *only), hops)
    try:
        chain = solve_chain(both.start, both.moves, MOST)
    except TooLarge:
        return None
    index = {state: row for row, state in enumerate(chain.states)}
    inside = np.array([not any(state[1][count:]) for state in chain.states])
    start, rates = np.zeros(len(index)), np.zeros((len(index),) * 2)
    for state, row in index.items():
        for after, rate in both.moves(state):
            if inside[row]:
                rates[row, row] -= rate
                rates[row, index[after]] += rate * inside[index[after]]
            elif state[1][count + own] and inside[index[after]]:
                start[index[after]] += chain.shares[row] * rate
    if not start.any():
        return None
    start /= start.sum()
    sparse = csr_array(rates.T)
    return [float(expm_multiply(sparse * t, start)[inside].sum()) for t in given]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how many are exact, approximate and refused; code 1 if something exact is wrong."""
    values = [one for one in campaigns.seeded(hold, __doc__, 2000, arguments) if one is not None]
    said = Counter(word for _, word, _ in values)
    for word, number in said.most_common():
        print(f"{number:6} {word}")
    wrong = [(seed, what) for seed, _, several in values for what in several]
    for seed, what in wrong:
        print(f"seed {seed}: {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    campaigns.run(__spec__)
