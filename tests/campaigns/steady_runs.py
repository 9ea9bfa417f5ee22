"""Findings inside runs: steady queues, where each is a false alarm, and runs that change.

    python -m tests.campaigns.steady_runs      both tables of docs/accuracy/fits.md: 400 runs a line
    python -m tests.campaigns.steady_runs 40   40 runs a line

Runs are stationary from their start, 60 s long, with times in whole milliseconds, as in logs. A run
that changes is a steady one whose response times are multiplied by a factor; in a stall the server
stops, and requests that would have finished during it finish at its end.

Constants or labels of `headway.models.auditing.within` rest on it.
"""

import heapq
from collections.abc import Callable
from functools import partial

import numpy as np

from headway.models.auditing.within import change_of, stalls_of
from headway.models.measured.course import Course
from headway.models.measured.tools.kit.timeline import Timeline
from tests import campaigns

RUNS, LENGTH = 400, 60.0
Run = tuple[np.ndarray, np.ndarray]


def single(random, count, load=0.8, scv=1.0):
    """Poisson arrivals at one server, by Lindley's recursion; 5,000 arrivals before the run."""
    ahead = 5000
    gaps = random.exponential(1, ahead + count)
    service = load * services(random, ahead + count, scv)
    walk = np.concatenate([[0], np.cumsum(service[:-1] - gaps[1:])])
    return np.cumsum(gaps)[ahead:], (walk - np.minimum.accumulate(walk) + service)[ahead:]


def services(random, count, scv):
    """Service times with mean 1: gamma up to an scv of 1, beyond it hyperexponential."""
    if scv <= 1:
        return random.gamma(1 / scv, scv, count)
    quick = (1 + np.sqrt((scv - 1) / (scv + 1))) / 2
    fast = random.random(count) < quick
    return random.exponential(1, count) / np.where(fast, 2 * quick, 2 * (1 - quick))


def shared(random, count, clients=0, servers=1, think=0.0, load=0.8, scv=1.0):
    """Several servers, open, or closed with a number of clients; 1,000 requests before the run."""
    ahead, total = 1000, 1000 + count
    times = (services(random, total, scv) * (load * servers if not clients else 1.0)).tolist()
    gaps = random.exponential(1, total).cumsum().tolist()
    thinks = random.exponential(think, total).tolist() if think else [0.0] * total
    ready = sorted(random.random(clients).tolist())
    free, sent, took = [0.0] * servers, np.empty(total), np.empty(total)
    for k in range(total):
        start = heapq.heappop(ready) if clients else gaps[k]
        done = max(start, heapq.heappop(free)) + times[k]
        heapq.heappush(free, done)
        sent[k], took[k] = start, done - start
        if clients:
            heapq.heappush(ready, done + thinks[k])
    return sent[ahead:], took[ahead:]


STEADY: dict[str, Callable[..., Run]] = {
    "M/M/1, load 0.5": partial(single, load=0.5),
    "M/M/1, load 0.8": single,
    "M/M/1, load 0.9": partial(single, load=0.9),
    "M/G/1, load 0.8, scv 0.25": partial(single, scv=0.25),
    "M/G/1, load 0.8, scv 4": partial(single, scv=4.0),
    "M/G/1, load 0.5, scv 9": partial(single, load=0.5, scv=9.0),
    "M/M/4, load 0.8": partial(shared, servers=4),
    "8 clients, 1 server": partial(shared, clients=8),
    "64 clients who think, 4 servers": partial(shared, clients=64, servers=4, think=10.0),
}
COUNTS = (1000, 4000, 16000)


def ramp(share, factor):
    return 1 + (factor - 1) * share


def jump(share, factor):
    return np.where(share >= 0.5, factor, 1.0)


def patch(share, factor):
    return np.where((share >= 0.4) & (share < 0.6), factor, 1.0)


def warm_up(share, factor):
    return 1 + (factor - 1) * np.exp(-share / 0.1)


CHANGED = {
    "a warm-up from tenfold, over a tenth of the run": (warm_up, 10.0),
    "a drift to three times": (ramp, 3.0),
    "a step to twice at half time": (jump, 2.0),
    "a step to three times at half time": (jump, 3.0),
    "three times as long for a fifth of the run": (patch, 3.0),
}
BASES = ("M/M/1, load 0.5", "M/M/1, load 0.8", "8 clients, 1 server")


def course(run: Run) -> Course | None:
    """A run of a minute, as its log shows it."""
    sent, took = run
    sent, took = sent - sent[0], took
    scale = LENGTH / sent[-1]
    line = Timeline()
    line.add(np.round(sent * scale, 3), np.round(took * scale, 3), np.ones(sent.size))
    return line.course()


def changed(run: Run, how, factor: float) -> Run:
    """A run whose response times are those of a server that changes."""
    sent, took = run
    return sent, took * how((sent - sent[0]) / (sent[-1] - sent[0]), factor)


def stalled(run: Run, every: float = 0.25, length: float = 0.025) -> Run:
    """A run whose server stops at times: 1.5 s of each 15 s."""
    sent, took = run
    share = (sent + took - sent[0]) / (sent[-1] - sent[0])
    late = np.maximum(length - share % every, 0.0) * (share >= every)
    return sent, took + late * (sent[-1] - sent[0])


def found(run: Run) -> tuple[str, bool]:
    """The kind of change found, if any, and whether a stall is found."""
    each = course(run)
    assert each is not None
    change = change_of(each)
    return change.kind.name if change else "", bool(stalls_of(each))


def of_line(task: tuple[str, int, str, int]) -> tuple[str, bool]:
    """The findings in a run of a line of the tables."""
    name, count, change, seed = task
    random = np.random.default_rng([seed, count, *name.encode()])
    run = STEADY[name](random, count)
    if change == "stalls":
        return found(stalled(run))
    return found(changed(run, *CHANGED[change]) if change else run)


def shares(name: str, count: int, change: str, runs: int, done=map) -> tuple[float, float]:
    """Shares of a line's runs in which changes, and stalls, are found."""
    ends = list(done(of_line, [(name, count, change, seed) for seed in range(runs)]))
    return sum(bool(kind) for kind, _ in ends) / runs, sum(stall for _, stall in ends) / runs


def main() -> None:
    """Print both tables."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("runs", nargs="?", type=int, default=RUNS)
    options = parser.parse_args()
    with campaigns.shared(options) as done:
        titles = " | ".join(f"{count:,} requests" for count in COUNTS)
        print(f"| steady run | {titles} |\n|---|{'---|' * len(COUNTS)}")
        for name in STEADY:
            cells = [shares(name, count, "", options.runs, done) for count in COUNTS]
            print(f"| {name} | {' | '.join(f'{a:.1%}, {b:.1%}' for a, b in cells)} |", flush=True)
        print(f"\n| run that changes | requests | {' | '.join(BASES)} |\n|---|{'---|' * 4}")
        for change in (*CHANGED, "stalls"):
            for count in COUNTS[:2]:
                cells = [shares(name, count, change, options.runs // 4, done) for name in BASES]
                hits = " | ".join(f"{each[change == 'stalls']:.0%}" for each in cells)
                print(f"| {change} | {count:,} | {hits} |", flush=True)


if __name__ == "__main__":
    campaigns.run(__spec__)
