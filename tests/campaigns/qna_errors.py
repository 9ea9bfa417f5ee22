"""Errors of two-moment propagation, by simulation of random networks.

``python -m tests.campaigns.qna_errors`` simulates again what `tests/data/qna_errors.csv` contains
(minutes) and prints the table of docs/accuracy.md; the tests recompute the table from that file, so
that the simulation, which does not use the code under test, is run only once.

A queue in order of arrival without loops needs no events: each station's arrivals are in order, its
waits follow by Lindley's max(wait + service - gap, 0), and its departures are split at random.
Loops take a heap. Times with an scv below 1 are gamma-distributed, those above 1 hyperexponential
with balanced means.

Constants or labels of `headway.queueing.variability.measured` and
`headway.queueing.variability.network` rest on it.
"""

from heapq import heapify, heappop, heappush, heapreplace
from pathlib import Path

import numpy as np

from headway.queueing.variability import flows
from headway.queueing.variability.network import GeneralNetwork, solve_general
from tests.campaigns import stored_or_simulated, stored_rows

PAGE = Path("tests/data/qna_errors.csv")
TITLES = ("family", "number", "station", "visits", "wait", "half_width")
FAMILIES = {"series": 60, "meeting": 60, "loops": 40}
LOADS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
BANDS = ((0.0, 0.5), (0.5, 0.8), (0.8, 0.9), (0.9, 0.95))
SEED, JOBS, JOBS_IN_LOOPS, PARTS = 1983, 2_000_000, 300_000, 10


def network(family, number):
    """A random network: external rates and scv, probabilities, times, servers, service scv."""
    random = np.random.default_rng([SEED, list(FAMILIES).index(family), number])
    count = int(random.integers(2, 9))
    onward, rates = np.zeros((count, count)), np.zeros(count)
    rates[0] = 1.0
    if family == "series":
        onward = np.diag(np.ones(count - 1), 1)
    else:
        for k in range(count - 1):
            shares = random.dirichlet(np.ones(count - 1 - k)) * random.choice([1.0, 0.8])
            onward[k, k + 1 :] = np.where(shares < 0.05, 0.0, shares)
        rates = np.where(random.random(count) < 0.4, random.uniform(0.2, 1.0, count), 0.0)
        rates[0] = 1.0
    if family == "loops":
        back = random.uniform(0.1, 0.5)
        onward[-1] = back * random.dirichlet(np.ones(count))
    through = np.linalg.solve(np.eye(count) - onward.T, rates)
    rates = np.where(through < 0.05, 0.5, rates)
    through = np.linalg.solve(np.eye(count) - onward.T, rates)
    servers = random.choice([1, 1, 1, 1, 2, 4], count)
    times = random.choice(LOADS, count) * servers / through
    coming = np.where(rates > 0, random.choice([0.25, 0.5, 1.0, 2.0, 4.0, 8.0], count), 1.0)
    serving = random.choice([0.0, 0.25, 0.5, 1.0, 2.0, 4.0], count)
    return rates, coming, onward, times, servers, serving


def draws(random, scv, size):
    """Times with a mean of 1."""
    if scv in (0.0, 1.0):
        return random.exponential(1.0, size) if scv else np.ones(size)
    if scv < 1:
        return random.gamma(1 / scv, scv, size)
    first = (1 + np.sqrt((scv - 1) / (scv + 1))) / 2
    chosen = np.where(random.random(size) < first, 2 * first, 2 * (1 - first))
    return random.exponential(1.0, size) / chosen


def _waits(arrivals, service, servers):
    if servers == 1:
        steps = service[:-1] - np.diff(arrivals)
        path = np.concatenate([[0.0], np.cumsum(steps)])
        return path - np.minimum.accumulate(path)
    free, result = [0.0] * int(servers), np.empty(len(arrivals))
    for k, (come, time) in enumerate(zip(arrivals.tolist(), service.tolist(), strict=True)):
        begin = max(come, free[0])
        heapreplace(free, begin + time)
        result[k] = begin - come
    return result


def _outside(random, rate, scv, horizon):
    times = np.cumsum(draws(random, scv, int(1.05 * horizon * rate) + 200)) / rate
    return times[times < horizon]


def forward(drawn, jobs, random):
    """Waits at each station in order of arrival, in a network without loops."""
    rates, coming, onward, times, servers, serving = drawn
    through = np.linalg.solve(np.eye(len(times)) - onward.T, rates)
    horizon = jobs / through.max()
    inbox = [[_outside(random, r, c, horizon)] if r else [] for r, c in zip(rates, coming)]  # noqa: B905
    rows = []
    for k in range(len(times)):
        arrivals = np.sort(np.concatenate(inbox[k]))
        service = draws(random, serving[k], len(arrivals)) * times[k]
        waits = _waits(arrivals, service, servers[k])
        rows.append(waits)
        done, chance = np.sort(arrivals + waits + service), random.random(len(arrivals))
        ends = np.cumsum(onward[k])
        for j in np.flatnonzero(onward[k]):
            inbox[j].append(done[(chance >= ends[j] - onward[k, j]) & (chance < ends[j])])
    return rows


def looped(drawn, jobs, random):
    """Waits in any network, event by event."""
    rates, coming, onward, times, servers, serving = drawn
    count = len(times)
    through = np.linalg.solve(np.eye(count) - onward.T, rates)
    horizon = jobs / through.max()
    todo = [
        (time, k)
        for k in range(count)
        if rates[k]
        for time in _outside(random, rates[k], coming[k], horizon).tolist()
    ]
    heapify(todo)
    size = int(2 * jobs) + 1000
    service = [iter((draws(random, serving[k], size) * times[k]).tolist()) for k in range(count)]
    chances, ends = iter(random.random(2 * count * size).tolist()), np.cumsum(onward, axis=1)
    free, values = [[0.0] * int(m) for m in servers], [[] for _ in range(count)]
    rows = [row.tolist() for row in ends]
    while todo:
        come, k = heappop(todo)
        begin = max(come, free[k][0])
        done = begin + next(service[k])
        heapreplace(free[k], done)
        values[k].append(begin - come)
        chance = next(chances)
        target = next((j for j, end in enumerate(rows[k]) if chance < end), None)
        if target is not None:
            heappush(todo, (done, target))
    return [np.array(waits) for waits in values]


def simulate(family, number, jobs=None):
    """Rows of the file."""
    drawn = network(family, number)
    random = np.random.default_rng([SEED, number, 1])
    run, usual = (looped, JOBS_IN_LOOPS) if family == "loops" else (forward, JOBS)
    result = run(drawn, jobs or usual, random)
    through = np.linalg.solve(np.eye(len(drawn[0])) - drawn[2].T, drawn[0])
    rows = []
    for k, waits in enumerate(result):
        kept = waits[len(waits) // 10 :]
        parts = [part.mean() for part in np.array_split(kept, PARTS)]
        half = 2.262 * np.std(parts, ddof=1) / np.sqrt(PARTS)
        visits = through[k] / drawn[0].sum()
        rows.append((family, number, k, *(f"{v:.6g}" for v in (visits, kept.mean(), half))))
    return rows


def stored():
    """Networks of the file: family, number, and waits by station."""
    by_name = {}
    for row in stored_rows(PAGE):
        key = row["family"], int(row["number"])
        by_name.setdefault(key, []).append((float(row["wait"]), float(row["half_width"])))
    return {key: np.array(rows) for key, rows in by_name.items()}


def errors(actual, *, poisson=False, times=2):
    """Relative errors of response times, with half widths: of stations, and of networks.

    With Poisson arrivals, or solved as of 1983 (`times` 0), it shows what knowing more is worth.
    """
    stations, networks = [], []
    flows._TIMES, usual = times, flows._TIMES
    for (family, number), rows in actual.items():
        rates, coming, onward, service, servers, serving = network(family, number)
        scv = np.ones_like(coming) if poisson else coming
        solution = solve_general(GeneralNetwork(rates, scv, onward, service, servers, serving))
        near, true = solution.waiting_time + service, rows[:, 0] + service
        load, rate = solution.utilisation, solution.arrival_rate
        each = zip(load, near / true - 1, rows[:, 1] / true, strict=True)
        stations += [(family, *one) for one in each]
        whole = (rate * true).sum()
        unsure = np.hypot.reduce(rate * rows[:, 1]) / whole
        networks.append((family, load.max(), (rate * near).sum() / whole - 1, unsure))
    flows._TIMES = usual
    return stations, networks


def sizes(rows):
    """Absolute errors [%]: mean, 95th percentile, largest."""
    size = 100 * np.abs([row[2] for row in rows])
    return size.mean(), np.quantile(size, 0.95), size.max()


def between(rows, band, families=tuple(FAMILIES)):
    """Those whose load is within a range."""
    low, high = band
    return [row for row in rows if low + 1e-9 < row[1] <= high + 1e-9 and row[0] in families]


def lines(actual):
    """The tables of docs/accuracy.md."""
    stations, networks = errors(actual)
    titles = "mean error | 95 of 100 | largest | scatter of simulation |"
    yield f"| busiest station | networks | {titles}"
    yield "|---|---|---|---|---|---|"
    for band in NETWORK_BANDS:
        yield _line(f"to {100 * band[1]:.0f}%", between(networks, band))
    yield f"| stations | how many | {titles}"
    yield "|---|---|---|---|---|---|"
    for family, words in FAMILIES_IN_WORDS.items():
        for band in BANDS:
            some = between(stations, band, (family,))
            yield _line(f"{words}, to {100 * band[1]:.0f}% busy", some)
    yield "| taken as | mean error | 95 of 100 | largest |"
    yield "|---|---|---|---|"
    for words, how in HOW.items():
        yield f"| {words} | {' | '.join(f'{v:.3g}%' for v in sizes(errors(actual, **how)[1]))} |"


def _line(what, rows):
    numbers = (*sizes(rows), 100 * float(np.median([row[3] for row in rows])))
    return f"| {what} | {len(rows)} | {' | '.join(f'{v:.3g}%' for v in numbers)} |"


NETWORK_BANDS = ((0.0, 0.8), (0.8, 0.9), (0.9, 0.95))
FAMILIES_IN_WORDS = {
    "series": "in series", "meeting": "flows that part and meet", "loops": "with loops"
}  # fmt: skip
HOW = {
    "here": {},
    "one scv a flow (QNA of 1983)": {"times": 0},
    "Poisson arrivals from outside": {"poisson": True},
}


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
