"""Errors where stations that lose jobs feed others, whose arrivals are taken as Poisson.

``python -m tests.campaigns.loss_errors --count 240`` compares random networks of two or three
exponential stations, some with limited room, with their whole Markov chains, and stores the errors
of losses and times (`tests/data/loss_errors.csv`). Percentiles are those of a job that is followed
along a line, if it is answered. Labels of answers are the largest errors of a region; the tests
recompute them.

Constants or labels of `headway.queueing.flows.measured` rest on it.
"""

from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from random import Random

import numpy as np
import tomli_w
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.sparse.linalg import expm_multiply, spsolve

from headway.models import parse_model
from tests import campaigns
from tests.brute.chain import TooLarge, solve_chain
from tests.brute.drawing import routes_by_class
from tests.brute.network import Jobs, Network, means
from tests.brute.orders import Line

PAGE = Path("tests/data/loss_errors.csv")
SHARES = (0.5, 0.99, 0.999)
MOST, MOST_CUT = 2500, 1e-4


@dataclass(frozen=True)
class Row:
    """A network of a seed: the probability of loss, and relative errors [%].

    The errors are of the probability of loss, the response time, numbers of jobs (the largest), and
    percentiles.
    """

    seed: int
    lost: float
    loss: float
    time: float
    queue: float
    p50: float
    p99: float
    p999: float


def drawn(seed):
    """Stations with limited room, some of which lose jobs, and routes that may lead back."""
    draw = Random(f"loss {seed}")
    count = draw.randint(2, 3)
    places, entries = [], {}
    for k in range(count):
        time, servers = round(draw.uniform(0.4, 1.0), 3), draw.choice((1, 1, 1, 2))
        room = servers + draw.randint(0, 4)
        limited = k == 0 or draw.random() < 0.6
        kind = ("MMmK" if limited else "MMm") if servers > 1 else ("MM1K" if limited else "MM1")
        entry = {"kind": kind, "service_time": time * servers}
        entry |= {"servers": servers} if servers > 1 else {}
        entry |= {"capacity": room} if limited else {}
        entries[f"s{k}"] = entry
        places.append(Line((time * servers,), servers=servers, room=room if limited else np.inf))
    rate = round(
        draw.uniform(0.4, 1.3 if all("capacity" in e for e in entries.values()) else 0.7), 3
    )
    back = draw.choice((0.0, 0.0, 0.3))
    hops = {(k, 0): [(1.0, k + 1, 0)] for k in range(count - 1)}
    hops[count - 1, 0] = [(1 - back, None, 0)] + ([(back, 0, 0)] if back else [])
    document = {"name": "loss", "parameters": {"arrival_rate": rate}, "stations": entries}
    document["routes"] = routes_by_class(hops, ["all"])
    return Network(tuple(places), (Jobs("all", rate),), hops), tomli_w.dumps(document)


def measured(seed):
    """The row of a seed; None for a chain that is too large."""
    network, text = drawn(seed)
    network = replace(network, cap=30 if _all_limited(network) else 16)
    try:
        queue, _, cut = means(network)
        chances, mean, longer = followed(network)
    except TooLarge:
        return None
    if cut > MOST_CUT and not _all_limited(network):
        return None
    names = [f"response_time_p{100 * share:g}" for share in SHARES]
    solution = parse_model(text).solve().answering(*names)
    numbers = [float(solution[f"s{k}.queue_length"]) for k in range(len(network.places))]
    right = [brentq(lambda t, p=p: longer(t) - 1 + p, 0, 60 * mean, rtol=1e-6) for p in SHARES]
    errors = [
        float(solution["loss_probability"]) / (1 - chances) - 1,
        float(solution["response_time"]) / mean - 1,
        np.abs(np.array(numbers) / queue[:, 0] - 1).max(),
        *(float(solution[n]) / t - 1 for n, t in zip(names, right, strict=True)),
    ]
    return Row(seed, *(float(f"{v:.6g}") for v in (1 - chances, *(100 * np.array(errors)))))


def _all_limited(network):
    return all(np.isfinite(place.room) for place in network.places)


def followed(network):
    """Probability that a job is answered, its mean time, and the probability of longer times.

    The followed job is a class of its own: it has left when it thinks, and is nowhere when it was
    lost.
    """
    alone = solve_chain(network.start, network.moves)
    hops = network.hops | {
        (k, 1): [(p, t, 1) for p, t, _ in w] for (k, _), w in network.hops.items()
    }
    places = tuple(replace(place, times=place.times * 2) for place in network.places)
    both = replace(
        network, places=places, hops=hops, classes=(*network.classes, Jobs("own", None, 0, 1.0))
    )
    begun = [
        ((after, (0, 0)), share * chance)
        for share, (held, _) in zip(alone.shares, alone.states, strict=True)
        if not places[0].full(held[0])
        for chance, after in both._entered(held, 1)
    ]
    index, todo, links = {}, [state for state, _ in begun], []
    for state in todo:
        index.setdefault(state, len(index))
    while todo:
        state = todo.pop()
        for after, rate in both.moves(state):
            here = any(place.counts(own)[1] for place, own in zip(places, after[0], strict=True))
            if here and after not in index:
                index[after] = len(index)
                todo.append(after)
                if len(index) > MOST:
                    raise TooLarge
            links.append((index[state], index[after] if here else -1 - after[1][1], rate))
    return _answered(begun, index, links)


def _answered(begun, index, links):
    count = len(index)
    source, target, rate = (np.array(part) for part in zip(*links, strict=True))
    inside = target >= 0
    rows, columns = source[inside], target[inside]
    rates = csr_array((rate[inside], (rows, columns)), (count, count)).tolil()
    rates.setdiag(rates.diagonal() - np.bincount(source, rate, count))
    rates = rates.tocsc()
    ends = np.bincount(source[target == -2], rate[target == -2], count)
    start = np.zeros(count)
    for state, share in begun:
        start[index[state]] += share
    will = spsolve(rates, -ends)
    chance = start @ will
    mean = start @ spsolve(rates, -will) / chance
    flow = csr_array(rates.T)
    return chance, mean, lambda t: float(expm_multiply(flow * t, start) @ will) / chance


def stored():
    """The rows of the file."""
    for row in campaigns.stored_rows(PAGE):
        yield Row(int(row.pop("seed")), *map(float, row.values()))


def largest(rows):
    """Largest errors of losses, times, numbers of jobs and percentiles [%]."""
    return np.abs([astuple(row)[2:] for row in rows]).max(axis=0)


def main(arguments=None):
    """Measure, and print the largest errors."""
    rows = [row for row in campaigns.seeded(measured, __doc__, 240, arguments) if row]
    campaigns.store(PAGE, [field.name for field in fields(Row)], [astuple(row) for row in rows])
    print(len(rows), *(f"{error:.1f}%" for error in largest(stored())))


if __name__ == "__main__":
    campaigns.run(__spec__)
