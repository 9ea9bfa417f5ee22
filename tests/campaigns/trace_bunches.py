"""Pools that each trace asks several times at once, of which a tenth of the traces is known.

``python -m tests.campaigns.trace_bunches --count 150 --first 1000`` plays a pool of one to eight
threads at three loads for each seed, and finds its threads and work from sampled traces. It prints
how often their intervals hold the truth, and, from all traces, how far the law's waiting is from
the true one, as the logarithm of their ratio. docs/accuracy/traces.md quotes this. Nothing of
headway is used to play them.
"""

import argparse
import heapq
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import IntArray
from headway.models.tracing.bunches import Met
from headway.models.tracing.pools import Arrivals, fewest_threads
from headway.models.tracing.rates import Seen, pool_by_rates
from headway.models.tracing.spread import stated_error
from tests.campaigns.trace_round_trips import LOADS

WORK, SURE, WAITERS = 0.01, 1.96, 400
LAWS = "fixed", "geometric", "one or more", "alone"


class Asked(NamedTuple):
    """A pool and how it is asked.

    Parameters
    ----------
    threads, law, mean
        Its threads, the law of the number of requests at once, and their mean.
    apart, rest, parts
        Mean time by which they are delayed on their way [s], mean time from the first gap to the
        answer [s], and the number of exponential parts of the work, whose mean is `WORK`.
    """

    threads: int
    law: str
    mean: float
    apart: float = 0.0003
    rest: float = 0.0
    parts: int = 1

    def sizes(self, draws: np.random.Generator, traces: int) -> IntArray:
        """Requests that each trace makes at once."""
        sizes = {
            "fixed": lambda: np.full(traces, round(self.mean)),
            "geometric": lambda: draws.geometric(1 / self.mean, traces),
            "one or more": lambda: 1 + draws.poisson(self.mean - 1, traces),
            "alone": lambda: np.ones(traces, np.int64),
        }
        return np.asarray(sizes[self.law]())


class PlayedPool(NamedTuple):
    """When requests came, began, did their first visible thing and were answered; their traces."""

    came: FloatArray
    began: FloatArray
    first: FloatArray
    answered: FloatArray
    trace: IntArray

    def sampled(self, draws: np.random.Generator, share: float) -> "PlayedPool":
        """What is known of it if a share of the traces is kept."""
        kept = (draws.random(int(self.trace.max()) + 1) < share)[self.trace]
        return PlayedPool(*(column[kept] for column in self))

    def seen(self, share: float) -> Seen:
        """As the law has it."""
        first, rest = self.first - self.came, self.answered - self.first
        window, many = float(np.ptp(self.came)), np.ones(1)
        return Seen.of(self.came, first, rest, self.trace, window, share, many)

    def arrivals(self) -> Arrivals:
        """As whole traces are read."""
        none, every = np.zeros_like(self.trace), np.ones(len(self.trace), bool)
        return Arrivals(self.came, self.first, self.answered, none, self.trace, every)


def asked(draws: np.random.Generator) -> Asked:
    """A pool at random."""
    law = str(draws.choice(LAWS))
    mean = {"fixed": float(draws.integers(2, 6)), "alone": 1.0}.get(law, draws.uniform(1.2, 5))
    times = (draws.choice(each) for each in ((0.0003, 0.003, 0.01), (0.0, 0.005, 0.02)))
    return Asked(int(draws.integers(1, 9)), law, mean, *times, int(draws.choice((1, 3))))


def played(draws: np.random.Generator, pool: Asked, share: float, traces: int) -> PlayedPool:
    """Play a pool at a share of what it can do."""
    sizes = pool.sizes(draws, traces)
    gap = sizes.mean() * (WORK + pool.rest) / (share * pool.threads)
    trace = np.repeat(np.arange(traces), sizes)
    came = np.cumsum(draws.exponential(gap, traces))[trace]
    came += draws.exponential(pool.apart, len(came))
    order = np.argsort(came)
    came, trace = came[order], trace[order]
    work = draws.gamma(pool.parts, WORK / pool.parts, len(came))
    held = work + pool.rest * draws.standard_exponential(len(came))
    free, began = [0.0] * pool.threads, np.empty(len(came))
    for k, (comes, takes) in enumerate(zip(came.tolist(), held.tolist(), strict=True)):
        began[k] = max(comes, free[0])
        heapq.heapreplace(free, began[k] + takes)
    return PlayedPool(came, began, began + work, began + held, trace)


class Held(NamedTuple):
    """Whether intervals hold the truth: by how many of its errors work is off, and threads."""

    work: float
    threads: bool


def held(draws: np.random.Generator, pool: Asked, traces: int, kept: float = 0.1) -> Held:
    """Find a pool's threads and work from sampled traces."""
    loads = [played(draws, pool, share, traces).sampled(draws, kept) for share in LOADS]
    found = pool_by_rates(
        [each.seen(kept) for each in loads], fewest_threads([each.arrivals() for each in loads])
    )
    gaps = np.concatenate([each.first - each.came for each in loads])
    number = np.concatenate([each.trace + traces * k for k, each in enumerate(loads)])
    error = sqrt(stated_error(gaps, number) ** 2 + found.doubt**2)
    inside = found.pool.low <= pool.threads <= found.pool.high
    return Held((found.work - WORK) / error, bool(inside))


def errors(draws: np.random.Generator, pool: Asked, traces: int) -> list[tuple[float, float]]:
    """Logarithms of waiting over the law's, with and without the law of bunches, by load."""
    found = []
    for share in LOADS:
        load = played(draws, pool, share, traces)
        waits, seen = load.began - load.came, load.seen(1.0)
        if (waits > 0).sum() < WAITERS:
            continue
        laws = (
            float(each.wait(pool.threads, np.array([WORK]))[0])
            for each in (seen, seen._replace(met=Met.nobody()))
        )
        found.append(tuple(log(float(waits.mean()) / law) for law in laws))
    return found


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--traces", type=int, default=20_000)
    told = parser.parse_args()
    all_held: dict[bool, list[Held]] = {True: [], False: []}
    off = []
    for seed in range(told.first, told.first + told.count):
        draws = np.random.default_rng(seed)
        pool = asked(draws)
        bunched = pool.law != "alone"
        all_held[bunched].append(held(draws, pool, told.traces))
        off += errors(draws, pool, told.traces // 4) if bunched else []
    for bunched, name in ((True, "several at once"), (False, "one by one")):
        z = np.array([each.work for each in all_held[bunched]])
        right = np.mean([each.threads for each in all_held[bunched]])
        print(f"{name}: {len(z)} pools")
        print(f"  work within its 95% interval         {100 * np.mean(abs(z) < SURE):.1f}%")
        print(f"  its errors, root mean square         {np.mean(z**2) ** 0.5:.2f}")
        print(f"  threads within theirs                {100 * right:.1f}%")
    law, before = np.array(off).T
    print(f"log of waiting over the law's, rms     {np.mean(law**2) ** 0.5:.2f}")
    print(f"the same as if they came one by one    {np.mean(before**2) ** 0.5:.2f}")


if __name__ == "__main__":
    main()
