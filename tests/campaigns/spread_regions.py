"""Errors in order of arrival, by the ratio of the closed classes' service times.

``python -m tests.campaigns.spread_regions --count 1500`` measures again what
`tests/data/spread_regions.csv` and `tests/data/spread_errors.csv` contain (some minutes): closed
networks of two classes with phase-type times at one or two stations, compared with their whole
chains. Labels of answers are the largest errors of a region in both files
(`headway.queueing.closed.measured`); the tests recompute them, and some rows.

Constants or labels of `headway.queueing.classes.accuracy` and `headway.queueing.closed.measured`
rest on it.
"""

from dataclasses import astuple, dataclass, fields
from itertools import islice
from pathlib import Path

import numpy as np

from headway.errors import InvalidParameter
from headway.queueing import Discipline, JobClass, Method, SharedStation, solve_multiclass
from headway.queueing.closed.measured import RATIOS, SCVS, Apart
from tests import campaigns
from tests.brute.chain import TooLarge, solve_chain
from tests.brute.network import Jobs
from tests.brute.phased import Phased
from tests.campaigns.approximation_errors import relative
from tests.campaigns.spread_errors import MOST_STATES, SPREADS, Phases, draws

PAGE = Path("tests/data/spread_regions.csv")
WIDE = Path("tests/data/spread_errors.csv")
"""The same for networks of `tests.campaigns.spread_errors`, whose mean times have ratios up to 32.
"""

_FAMILY = 1000  # seeds per family of those networks
FAMILIES = [(0, 1, SPREADS, 210), (0, 2, SPREADS, 210), *((1, 2, (scv,), 55) for scv in SPREADS)]
"""Seed of each family, largest number of servers, scvs, and how many are drawn."""

BY_METHOD = {Method.LINEARIZER: "linearizer", Method.SCHWEITZER: "schweitzer"}


@dataclass(frozen=True)
class Row:
    """A network of a seed: the ratio of its times, and errors [%] of each method.

    An error is NaN where the method does not converge.
    """

    seed: int
    ratio: float
    scv: float
    busy: float
    linearizer_rate: float
    linearizer_time: float
    schweitzer_rate: float
    schweitzer_time: float

    def errors(self, method):
        """Errors of throughputs and of response times [%]."""
        return tuple(getattr(self, f"{BY_METHOD[method]}_{part}") for part in ("rate", "time"))

    @property
    def apart(self):
        """The ratio by which an answer is labelled."""
        return Apart(self.ratio, self.scv)


def drawn(seed):
    """Means and scvs by station and class, servers, jobs and think times of a random network.

    Mean times of a station have ratios up to 2, 5 or 32, with scvs up to 1, 2 or 4; there are one
    to six jobs of each class at one station, one to three at two, with think times from 0.1 to 5 s.
    """
    random = np.random.default_rng([17, seed])
    stations, limit = int(random.integers(1, 3)), random.choice(RATIOS)
    first = 10 ** random.uniform(-1, 0.5, stations)
    means = np.stack([first, first * limit ** random.uniform(-1, 1, stations)], axis=1)
    most = random.choice(SCVS)
    scv = random.choice([s for s in SPREADS if s <= most], (stations, 2))
    count = random.integers(1, 3, stations)
    jobs = random.integers(1, (7, 4)[stations - 1], 2)
    return means, scv, count, jobs, random.uniform(0.1, 5, 2)


def wide(number):
    """A network of `tests.campaigns.spread_errors`, by its family and the number of its draw."""
    family, place = divmod(number, _FAMILY)
    seed, servers, spreads, _ = FAMILIES[family]
    return next(islice(draws(seed, servers, spreads), place, None))


def measured(seed, drawn=drawn):
    """The row of a seed; None if its chain is too large."""
    means, scv, count, jobs, think = network = drawn(seed)
    places = tuple(
        Phased(tuple(means[k]), int(count[k]), scvs=tuple(scv[k])) for k in range(len(count))
    )
    classes = tuple(Jobs(str(c), None, int(jobs[c]), float(think[c])) for c in (0, 1))
    onward = {k: k + 1 if k + 1 < len(count) else None for k in range(len(count))}
    hops = {(k, c): [(1.0, onward[k], c)] for k in range(len(count)) for c in (0, 1)}
    whole = Phases(places, classes, hops)
    try:
        chain = solve_chain(whole.start, whole.moves, MOST_STATES)
    except TooLarge:
        return None
    thinking = [chain.mean(lambda state, c=c: state[1][c]) for c in (0, 1)]
    exact = np.array(thinking) / think
    errors = [error for method in BY_METHOD for error in _errors(network, method, exact)]
    ratio = (means.max(axis=1) / means.min(axis=1)).max()
    busy = ((means @ exact) / count).max()
    return Row(seed, *(float(f"{v:.6g}") for v in (ratio, scv.max(), busy, *errors)))


def _errors(network, method, exact):
    means, scv, count, jobs, think = network
    stations = [
        SharedStation(
            str(k), means[k], (1, 1), servers=m, discipline=Discipline.FCFS, scv=tuple(scv[k])
        )
        for k, m in enumerate(count)
    ]
    values = [JobClass(str(c), population=jobs[c], think_time=think[c]) for c in (0, 1)]
    try:
        near = solve_multiclass(stations, values, method)
    except InvalidParameter:  # some do not converge, and say so
        return np.nan, np.nan
    rate = relative(near.throughput, exact)
    return 100 * rate, 100 * relative(near.response_time, jobs / exact - think)


def stored(page=PAGE):
    """The rows of a file."""
    for row in campaigns.stored_rows(page):
        yield Row(int(row.pop("seed")), *map(float, row.values()))


def regions(rows, method):
    """Largest errors of throughput and of response time in each region, and their medians."""
    rows, by_name = list(rows), {}
    for ratio in RATIOS:
        for scv in SCVS:
            inside = [r.errors(method) for r in rows if r.ratio <= ratio and r.scv <= scv]
            errors = np.array(inside)[~np.isnan(inside).any(axis=1)]
            by_name[ratio, scv] = (*errors.max(axis=0), *np.median(errors, axis=0), len(errors))
    return by_name


def lines(rows):
    """The table of the page."""
    rows = list(rows)
    yield "| mean times apart up to | scv up to | networks | throughput | response time | " \
        "Schweitzer: throughput | response time |"  # fmt: skip
    yield "|---|---|---|---|---|---|---|"
    both = [regions(rows, method) for method in BY_METHOD]
    for key, (rate, time, rate_half, time_half, count) in both[0].items():
        other = both[1][key]
        cells = [f"{rate:.1f}%, {rate_half:.1f}%", f"{time:.1f}%, {time_half:.1f}%"]
        cells += [f"{other[k]:.1f}%, {other[k + 2]:.1f}%" for k in (0, 1)]
        yield f"| {key[0]:g} | {key[1]:g} | {count} | {' | '.join(cells)} |"


def main(arguments=None):
    """Measure, and print the table."""
    _store(PAGE, campaigns.seeded(measured, __doc__, 1500, arguments))
    numbers = (_FAMILY * k + place for k, each in enumerate(FAMILIES) for place in range(each[-1]))
    _store(WIDE, (measured(number, wide) for number in numbers))
    print(*lines(stored()), sep="\n")


def _store(page, rows):
    titles = [field.name for field in fields(Row)]
    campaigns.store(page, titles, [[f"{v:.6g}" for v in astuple(row)] for row in rows if row])


if __name__ == "__main__":
    campaigns.run(__spec__)
