"""Random services traced at three loads, and the model that their traces give.

``python -m tests.campaigns.trace_round_trips --count 30`` prints how often structure, calls, work
and threads are found, and the errors of response times at 1.3 times the highest load, with those of
the layers method on the true services; ``--adverse`` degrades the traces: two clocks 3 ms off, a
tenth of the traces kept, and a service without spans. ``--threads`` lists each pool. ``--law``
compares waiting for threads with the law of rates; `headway.models.tracing.rates.ROUGH` rests on
it. `tests.oracles.traced_services` simulates the services, and their true response time is
simulated by headway's event loop from the numbers with which they were drawn.
docs/accuracy/traces.md quotes the first two and docs/explanation/traces.md the law;
`tests/models/tracing/test_traced_models.py` recomputes a part.
"""

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, inf, log
from typing import NamedTuple

import numpy as np
import tomli_w
from numpy.typing import NDArray

from headway.errors import HeadwayError
from headway.kinds import FloatArray
from headway.models.files.reading import parse_model
from headway.models.structure.model import Model
from headway.models.tracing.flows import Always, Geometric, Times
from headway.models.tracing.keys import Keyed, keyed
from headway.models.tracing.measured import Measured
from headway.models.tracing.pools import Pool
from headway.models.tracing.rates import Seen
from headway.models.tracing.requests import requests_of
from headway.models.tracing.services import Services
from headway.models.tracing.threads import threads_of
from headway.models.tracing.traced import model_read
from tests.oracles.traced_services import Played, Stage, capacity, drawn, play
from tests.support.traced import PEER, document_of, read_of

LOADS = 0.3, 0.45, 0.6
BEYOND = 1.3
ENOUGH = 40  # waiting requests of a load from which their mean is known to some 10%
KEPT, OFF = 0.1, 0.003
_LAWS = {"fixed": Always, "geometric": Geometric}


@dataclass
class Trip:
    """What was found for one system of services."""

    structure: list[bool]
    calls: list[float]
    work: list[float]
    threads: list["Threads"]
    beyond: float
    solver: float


class Threads(NamedTuple):
    """What was found for a pool, and how many threads it has."""

    found: Pool
    true: float


def trip(
    seed: int, traces: int = 2000, adverse: bool = False, services: tuple[int, int] = (3, 8)
) -> Trip:
    """Simulate services within a range of numbers, and make a model of their traces."""
    played = drawn(seed, *services)
    most = capacity(played)
    silent = _silent(played, seed) if adverse else ""
    skews = {f"s{k}": OFF * (-1) ** k for k in range(1, 3)} if adverse else {}
    kept = KEPT if adverse else 1.0
    loads = [
        play(played, share * most, traces, 10 * seed + k, skews=skews, kept=kept, silent=[silent])
        for k, share in enumerate(LOADS)
    ]
    traced = model_read(read_of(loads), sampled=kept)
    services = traced.services
    by_name = {each.operation: each for each in services.entries.values()}
    structure, calls, work = [], [], []
    for name, entry in played.entries.items():
        if entry.service == silent:
            continue
        stages = [_seen(played, silent, stage) for stage in entry.stages]
        found = by_name.get(name)
        structure.append(
            found is not None
            and _stages(services, found) == {(tuple(sorted(s.callees)), s.law) for s in stages}
        )
        work += [
            (each.work - entry.work) / each.error
            for each in services.entries.values()  # several where it is divided by roots
            if each.operation == name and not each.peer
        ]
        if found is not None:
            calls += list(_calls(services, found, stages))
    rate = BEYOND * LOADS[-1] * most
    true = parse_model(tomli_w.dumps(document_of(played, rate)), "played")
    try:
        truth = float(true.solve(method="simulation").response_time)
    except HeadwayError:
        truth = inf
    return Trip(
        structure,
        calls,
        work,
        [
            Threads(pool, played.threads[silent if service == PEER else service])
            for service, pool in services.pools.items()
        ],
        *(_time(model, rate) / truth - 1 if truth < inf else 0.0 for model in (traced.model, true)),
    )


def _time(model: Model, rate: float) -> float:
    """The response time of a model, by layers; infinite if it has none."""
    try:
        at_rate = model.at(arrival_rate=rate) if "arrival_rate" in model.parameters else model
        return float(at_rate.solve().response_time)
    except HeadwayError:
        return inf


class Law(NamedTuple):
    """The logarithm of mean waiting over the law's, and how far the pool is from being full.

    With m threads of which a are busy, `free` is (m - a)^2 / 2 a.
    """

    error: float
    free: float


def law_errors(seed: int, traces: int = 2000) -> list[list[Law]]:
    """Errors of the law, by load, for each service with visible waiting."""
    played = drawn(seed)
    most = capacity(played)
    loads = [play(played, share * most, traces, 10 * seed + k) for k, share in enumerate(LOADS)]
    spans = read_of(loads).loads
    table = keyed([requests_of(each) for each in spans], [1.0] * len(LOADS))
    threads = threads_of(table)
    services = np.array([table.service_of(key) for key in table.keys])[table.key]
    known = ~np.isnan(threads.waits)
    errors = []
    for name, pool in threads.pools.items():
        if pool.threads == played.threads[name]:
            each = [(services == name) & known & (table.load == k) for k in range(len(LOADS))]
            laws = [_law_error(table, threads.waits, rows, int(pool.threads)) for rows in each]
            errors.append([error for error in laws if error is not None])
    return errors


def _law_error(
    table: Keyed, waits: FloatArray, rows: "NDArray[np.bool_]", threads: int
) -> Law | None:
    wait = waits[rows]
    if (wait > 0).sum() < ENOUGH:
        return None
    start, first, end = table.start[rows], table.first[rows], table.end[rows]
    seen = Seen.of(first - start, end - first, table.trace[rows], float(np.ptp(start)), 1.0)
    law = float(seen.wait(threads, np.array([seen.gap - wait.mean()]))[0])
    if not 0 < law < inf:
        return None
    busy = seen.rate * (seen.gap - wait.mean() + seen.rest)
    return Law(log(wait.mean() / law), (threads - busy) ** 2 / (2 * busy))


def _print_law(laws: list[list[Law]]) -> None:
    """Print the errors that all loads of a service share, and those of each load: of log ratios.

    Quartiles are converted as for a normal law, where they are 1.349 standard deviations apart,
    because a few errors are far off.
    """
    whole = [[law.error for law in each] for each in laws if len(each) == len(LOADS)]
    several = [(each[0], each[-1]) for each in laws if len(each) > 1]
    steps = np.array([(a.error - b.error, a.free - b.free) for a, b in several])
    means = np.array([np.mean(each) for each in whole])
    apart = np.array([each - np.mean(each) for each in whole]) / (1 - 1 / len(LOADS)) ** 0.5
    within = _spread(apart)
    between = (_spread(means) ** 2 - within**2 / len(LOADS)) ** 0.5
    print(f"services that wait at each load  {len(whole)}")
    print(f"median of waiting over the law's {exp(float(np.median(means))):.2f}")
    print(f"error common to the loads        {between:.2f}")
    print(f"error of each load               {within:.2f}")
    print(f"error by peakedness              {np.divide(*(steps**2).sum(axis=0)) ** 0.5:.2f}")


def _spread(values: "NDArray[np.float64]") -> float:
    low, high = np.quantile(values, (0.25, 0.75)).tolist()
    return float((high - low) / 1.349)


def _silent(played: Played, seed: int) -> str:
    """A service that writes no spans: others call it, and it calls others."""
    calls = {
        name: {c for stage in entry.stages for c in stage.callees}
        for name, entry in played.entries.items()
    }
    may = [
        played.entries[name].service
        for name, callees in calls.items()
        if name not in played.roots
        and callees <= set().union(*(calls[other] for other in calls if other != name))
    ]
    return random.Random(seed).choice(may)


def _seen(played: Played, silent: str, stage: Stage) -> Stage:
    """A stage as the spans show it."""
    callees = (PEER if played.entries[c].service == silent else c for c in stage.callees)
    return Stage(tuple(callees), stage.law, stage.mean)


def _stages(services: Services, found: Measured) -> set[tuple[tuple[str, ...], str]]:
    """Callees of an entry, and laws of its stages."""
    return {
        (
            tuple(sorted(services.entries[services.numbered[n]].operation for n in stage.callees)),
            _law(times),
        )
        for block in found.doing.blocks
        for stage, times in zip(block.stages, block.times, strict=True)
    }


def _law(times: tuple[Times, ...]) -> str:
    if len(times) == 1:
        return next((law for law, kind in _LAWS.items() if isinstance(times[0], kind)), "maybe")
    return "both"


def _calls(services: Services, found: Measured, stages: list[Stage]) -> Iterator[float]:
    """Relative errors of mean numbers of calls."""
    for stage in stages:
        for block in found.doing.blocks:
            for other, times in zip(block.stages, block.times, strict=True):
                names = sorted(
                    services.entries[services.numbered[n]].operation for n in other.callees
                )
                if names == sorted(stage.callees):
                    mean = sum(t.times if isinstance(t, Always) else t.mean for t in times)
                    yield mean / stage.mean - 1


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--traces", type=int, default=2000)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--services", type=int, nargs=2, default=(3, 8), metavar=("LEAST", "MOST"))
    parser.add_argument("--adverse", action="store_true")
    parser.add_argument("--law", action="store_true")
    parser.add_argument("--threads", action="store_true")
    told = parser.parse_args()
    seeds = range(told.first, told.first + told.count)
    if told.law:
        _print_law([each for seed in seeds for each in law_errors(seed, told.traces)])
        return
    trips = []
    for seed in seeds:
        trips.append(trip(seed, told.traces, told.adverse, tuple(told.services)))
        found = all(trips[-1].structure)
        off = (
            f"{100 * trips[-1].beyond:+.1f}%, by layers of the truth {100 * trips[-1].solver:+.1f}%"
        )
        print(f"# {seed}: {off}, structure {found}", flush=True)
        if told.threads:
            for pool, true in trips[-1].threads:
                print(f"#   {pool.threads:g} ({pool.low} to {pool.high:g}), truth {true:g}")
    _print_trips(trips)


def _print_trips(trips: list[Trip]) -> None:
    """Shares and errors over all systems."""
    structure = np.array([x for t in trips for x in t.structure])
    calls = np.abs([x for t in trips for x in t.calls])
    work = np.abs([x for t in trips for x in t.work])
    pools = [pool for t in trips for pool in t.threads]
    seen = [pool for pool in pools if pool.found.seen]
    near = np.array([abs(found.threads / true - 1) < 0.1 for found, true in seen])
    inside = np.array([found.low <= true <= found.high for found, true in pools])
    narrow = np.array([found.high - found.low <= 0.2 * found.threads for found, _ in seen])
    beyond, solver = np.abs([(t.beyond, t.solver) for t in trips]).T
    print(f"entries with the right calls, each of the right kind  {_share(structure)}")
    print(f"mean numbers of calls, off by                         {_errors(calls)}")
    print(f"work within its 95% interval                          {_share(work < 1.96)}")
    print(f"threads within 10% where requests waited              {_share(near)}")
    print(f"threads within what is stated, bounds included        {_share(inside)}")
    print(f"threads that are stated to 10%, where seen            {_share(narrow)}")
    print(f"response times at 1.3 times the highest load, off by  {_errors(beyond)}")
    print(f"the same by layers of the true services               {_errors(solver)}")


def _share(right: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> str:
    return f"{100 * np.mean(right):.1f}% of {len(right)}"


def _errors(off: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> str:
    told = off[np.isfinite(off)]
    middle, nine, most = 100 * np.quantile(told, (0.5, 0.9, 1.0))
    text = f"{middle:.1f}% in the median, {nine:.1f}% in nine of ten, {most:.0f}% at most"
    return text + (f"; {len(off) - len(told)} saturated" if len(told) < len(off) else "")


if __name__ == "__main__":
    main()
