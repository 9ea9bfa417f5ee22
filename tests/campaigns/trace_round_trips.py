"""Random services, traced at three loads: what the model of their traces says of them.

``python -m tests.campaigns.trace_round_trips --count 40 --traces 2000`` prints how often
structure, calls, work and threads are found, and how far response times are off at 1.3 times the
highest load. Services are played by `tests.oracles.traced_services`. docs/explanation/traces.md
quotes it.
"""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

from headway.errors import HeadwayError
from headway.models.tracing.flows import Always, Geometric, Times
from headway.models.tracing.measured import Measured
from headway.models.tracing.services import Services
from headway.models.tracing.traced import model_traces
from tests.oracles.traced_services import Stage, capacity, drawn, play

LOADS = 0.3, 0.45, 0.6
BEYOND = 1.3
_LAWS = {"fixed": Always, "geometric": Geometric}


@dataclass
class Trip:
    """What was found of one system of services."""

    structure: list[bool]
    calls: list[float]
    work: list[float]
    threads: list[float]
    beyond: float


def trip(seed: int, traces: int, adverse: bool = False) -> Trip:
    """Play services, and make a model of their traces."""
    played = drawn(seed)
    most = capacity(played)
    skews = {f"s{k}": 0.003 * (-1) ** k for k in range(1, 3)} if adverse else {}
    kept = 0.1 if adverse else 1.0
    with tempfile.TemporaryDirectory() as folder:
        for k, share in enumerate(LOADS):
            load = play(played, share * most, traces, 10 * seed + k, skews=skews, kept=kept)
            (Path(folder) / f"load{k}.jsonl").write_text("\n".join(load.lines))
        traced = model_traces([folder], sampled=kept)
    services = traced.services
    by_name = {each.operation: each for each in services.entries.values()}
    structure, calls, work = [], [], []
    for name, entry in played.entries.items():
        found = by_name.get(name)
        structure.append(
            found is not None
            and _stages(services, found)
            == {(tuple(sorted(s.callees)), s.law) for s in entry.stages}
        )
        if found is not None:
            work.append((found.work - entry.work) / found.error)
            calls += list(_calls(services, found, entry.stages))
    rate = BEYOND * LOADS[-1] * most
    truth = play(played, rate, 4 * traces, 10 * seed + 9).response_time
    try:
        answer = float(traced.model.at(arrival_rate=rate).solve().response_time)
    except HeadwayError:
        answer = inf
    pools = [
        services.pools[service].threads / played.threads[service] - 1
        for service, pool in services.pools.items()
        if pool.seen
    ]
    return Trip(structure, calls, work, pools, answer / truth - 1)


def _stages(services: Services, found: Measured) -> set[tuple[tuple[str, ...], str]]:
    """Callees and laws of an entry."""
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


def _calls(services: Services, found: Measured, stages: tuple[Stage, ...]) -> Iterator[float]:
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
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--traces", type=int, default=2000)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--adverse", action="store_true")
    told = parser.parse_args()
    trips = []
    for seed in range(told.first, told.first + told.count):
        one = trip(seed, told.traces, told.adverse)
        trips.append(one)
        print(
            f"seed {seed}: beyond {100 * one.beyond:+.1f}%, structure {all(one.structure)}",
            flush=True,
        )
    structure = np.array([x for t in trips for x in t.structure])
    calls = np.abs([x for t in trips for x in t.calls])
    work = np.abs([x for t in trips for x in t.work])
    pools = np.abs([x for t in trips for x in t.threads])
    beyond = np.abs([t.beyond for t in trips])
    print(f"structure and kind of calls right: {100 * structure.mean():.1f}% of {len(structure)}")
    print(
        f"mean calls: {100 * np.median(calls):.2f}% median, "
        f"{100 * np.quantile(calls, 0.9):.2f}% nine of ten"
    )
    print(f"work within its 95% interval: {100 * np.mean(work < 1.96):.1f}%")
    print(f"threads within 10% where seen: {100 * np.mean(pools < 0.1):.1f}% of {len(pools)}")
    print(
        f"response time beyond: {100 * np.median(beyond):.1f}% median, "
        f"{100 * np.quantile(beyond, 0.9):.1f}% nine of ten"
    )


if __name__ == "__main__":
    main()
