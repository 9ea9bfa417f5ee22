"""Random services traced at three loads, and the model that their traces give.

``python -m tests.campaigns.trace_round_trips --count 30`` prints how often structure, calls, work
and threads are found, and the errors of response times at 1.3 times the highest load, with those of
the layers method on the true services; ``--adverse`` degrades the traces: two clocks 3 ms off, a
tenth of the traces kept, and a service without spans. Each system's figures are stored in
`tests/data/trace_round_trips.csv` as soon as it is done, in place of earlier ones of its seed;
``--stored`` prints what is stored of these seeds, and ``--page`` writes it under each such command
of docs/accuracy/traces.md. ``--count 24 20 --first 41000 43000`` are 44
systems. ``--law`` compares waiting for threads with the
law of rates; `headway.models.tracing.rates.ROUGH` rests on it. `tests.oracles.traced_services`
simulates the services, and their true response time is simulated by headway's event loop from the
numbers with which they were drawn. docs/accuracy/traces.md quotes the first two and
docs/explanation/traces.md the law; `tests/models/tracing/test_traced_models.py` recomputes a part.
"""

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from math import exp, inf, isnan, log, nan
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tomli_w

from headway.errors import HeadwayError
from headway.kinds import FloatArray
from headway.models.files.reading import parse_model
from headway.models.measured.spans.columns import BoolArray, IntArray
from headway.models.structure.model import Model
from headway.models.tracing.flows import Always, Geometric, Times
from headway.models.tracing.keys import Keyed, keyed
from headway.models.tracing.measured import Measured
from headway.models.tracing.rates import Seen
from headway.models.tracing.requests import requests_of
from headway.models.tracing.services import Services
from headway.models.tracing.threads import Threads, threads_of
from headway.models.tracing.traced import model_read
from tests import campaigns
from tests.oracles.traced_services import Played, Stage, capacity, drawn, play
from tests.support.traced import PEER, document_of, read_of

LOADS = 0.3, 0.45, 0.6
BEYOND = 1.3
NEAR, FAR = 0.02, 0.2
ENOUGH = 40  # waiting requests of a load from which their mean is known to some 10%
KEPT, OFF = 0.1, 0.003
ROWS, PAGE = Path("tests/data/trace_round_trips.csv"), Path("docs/accuracy/traces.md")
_TABLE = re.compile(
    r"(--count ([\d ]+) --first ([\d ]+)[^`]*--stored`[^`]*```text\n)(.*?)(\n```)", re.DOTALL
)
TITLES = "seed", "kind", "found", "true", "low", "high"
TIMES = "response", "layers"
_LAWS = {"fixed": Always, "geometric": Geometric}


class Figure(NamedTuple):
    """A number as it was found, with its 95% interval if there is one, and as it is.

    Parameters
    ----------
    kind
        ``structure`` (1 for an entry with the right calls, each of the right kind), ``calls``,
        ``work``, ``threads``, ``response`` or ``layers`` (the response time by layers of the true
        services).
    found, true, low, high
        The number.
    """

    kind: str
    found: float
    true: float
    low: float = nan
    high: float = nan

    @property
    def off(self) -> float:
        """The relative error."""
        return self.found / self.true - 1

    @property
    def inside(self) -> bool:
        """Whether the true number lies in the interval."""
        return self.low <= self.true <= self.high


def trip(
    seed: int, traces: int = 2000, adverse: bool = False, services: tuple[int, int] = (3, 8)
) -> list[Figure]:
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
    rate = BEYOND * LOADS[-1] * most
    true = parse_model(tomli_w.dumps(document_of(played, rate)), "played")
    figures = [*_entries(traced.services, played, silent)]
    for service, pool in traced.services.pools.items():
        threads = played.threads[silent if service == PEER else service]
        figures.append(Figure("threads", pool.threads, threads, pool.low, pool.high))
    try:
        truth = float(true.solve(method="simulation").response_time)
    except HeadwayError:
        return figures
    figures += [
        Figure("response", _time(traced.model, rate), truth),
        Figure("layers", _time(true, rate), truth),
    ]
    return figures


def _entries(services: Services, played: Played, silent: str) -> Iterator[Figure]:
    """Calls and work of each entry that writes spans."""
    found = {each.operation: each for each in services.entries.values()}
    for name, entry in played.entries.items():
        if entry.service == silent:
            continue
        stages = [_seen(played, silent, stage) for stage in entry.stages]
        laws = {(tuple(sorted(s.callees)), s.law) for s in stages}
        right = name in found and _stages(services, found[name]) == laws
        yield Figure("structure", float(right), 1.0)
        for each in services.entries.values():  # several where it is divided by roots
            if each.operation == name and not each.peer:
                reach = 1.96 * each.error
                yield Figure("work", each.work, entry.work, each.work - reach, each.work + reach)
        if name in found:
            yield from _calls(services, found[name], stages)


def _time(model: Model, rate: float) -> float:
    """The response time of a model, by layers; infinite if it has none."""
    try:
        at_rate = model.at(arrival_rate=rate) if "arrival_rate" in model.parameters else model
        return float(at_rate.solve().response_time)
    except HeadwayError:
        return inf


class Law(NamedTuple):
    """The logarithm of mean waiting over the law's, and how far the pool is from being full.

    With m threads of which a are busy, and requests of peakedness z, `free` is (m - a)^2 / 2 z a.
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
    services = np.array([table.service_of(key) for key in table.keys])
    errors = []
    for name, pool in threads.pools.items():
        if pool.threads == played.threads[name]:
            mine = (services == name)[table.key]
            asks = np.flatnonzero((services == name)[table.callee])
            errors.append(list(_law_errors(table, threads, mine, asks, int(pool.threads))))
    return errors


def _law_errors(
    table: Keyed, found: Threads, mine: BoolArray, asks: IntArray, threads: int
) -> Iterator[Law]:
    """Errors of the law at the loads of a service in which enough of its requests wait."""
    seen, waits = [], []
    for k in range(len(LOADS)):
        rows = mine & (table.load == k)
        start, first, end = table.start[rows], table.first[rows], table.end[rows]
        pace = found.callers.asked(asks, k, len(start), float((end - start).sum())).pace
        times = start, first - start, end - first
        seen.append(Seen.of(*times, table.trace[rows], float(np.ptp(start)), 1.0, pace))
        known = found.waits[rows & ~np.isnan(found.waits)]
        waits.append(known if (known > 0).sum() >= ENOUGH else np.zeros(1))
    loads, true = Seen.columns(seen), np.array([[each.mean()] for each in waits])
    work = loads.gap - true
    law, busy = loads.wait(threads, work), loads.rate * (work + loads.rest)
    free = (threads - busy) ** 2 / (2 * busy * (1 + loads.met.mean))
    for wait, by_law, far in zip(true.flat, law.flat, free.flat, strict=True):
        if wait > 0 and 0 < by_law < inf:
            yield Law(log(wait / by_law), float(far))


def _print_law(laws: list[list[Law]]) -> None:
    """Print the errors that all loads of a service share, and those of each load: of log ratios."""
    whole = [[law.error for law in each] for each in laws if len(each) == len(LOADS)]
    several = [(each[0], each[-1]) for each in laws if len(each) > 1]
    steps = np.array([(a.error - b.error, a.free - b.free) for a, b in several])
    means = np.array([np.mean(each) for each in whole])
    apart = np.array([each - np.mean(each) for each in whole]) / (1 - 1 / len(LOADS)) ** 0.5
    within = float(np.mean(apart**2))
    between = float(np.mean(means**2)) - within / len(LOADS)
    print(f"services that wait at each load  {len(whole)}")
    print(f"median of waiting over the law's {exp(float(np.median(means))):.2f}")
    print(f"error common to the loads        {max(between, 0.0) ** 0.5:.2f}")
    print(f"the largest of these             {abs(means).max():.2f}")
    print(f"error of each load               {within**0.5:.2f}")
    print(f"error by peakedness              {np.divide(*(steps**2).sum(axis=0)) ** 0.5:.2f}")


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


def _calls(services: Services, found: Measured, stages: list[Stage]) -> Iterator[Figure]:
    """Mean numbers of calls."""
    for stage in stages:
        for block in found.doing.blocks:
            for other, times in zip(block.stages, block.times, strict=True):
                names = sorted(
                    services.entries[services.numbered[n]].operation for n in other.callees
                )
                if names == sorted(stage.callees):
                    mean = sum(t.times if isinstance(t, Always) else t.mean for t in times)
                    yield Figure("calls", float(mean), stage.mean)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, nargs="+", default=[30])
    parser.add_argument("--traces", type=int, default=2000)
    parser.add_argument("--first", type=int, nargs="+", default=[100])
    parser.add_argument("--services", type=int, nargs=2, default=(3, 8), metavar=("LEAST", "MOST"))
    parser.add_argument("--adverse", action="store_true")
    parser.add_argument("--stored", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--law", action="store_true")
    told = parser.parse_args()
    if told.page:
        PAGE.write_text(documented(PAGE.read_text()))
        return
    seeds = seeds_of(told.count, told.first)
    if told.law:
        _print_law([each for seed in seeds for each in law_errors(seed, told.traces)])
        return
    for seed in [] if told.stored else seeds:
        _keep(seed, trip(seed, told.traces, told.adverse, tuple(told.services)))
    print("\n".join(table([figure for seed, figure in stored() if seed in seeds])))


def seeds_of(counts: Sequence[int], firsts: Sequence[int]) -> list[int]:
    """So many seeds from each of the first ones."""
    return [first + k for count, first in zip(counts, firsts, strict=True) for k in range(count)]


def documented(text: str) -> str:
    """The page with what is stored under each command that prints it."""
    rows = stored()

    def written(found: re.Match[str]) -> str:
        seeds = seeds_of(*([int(each) for each in found[k].split()] for k in (2, 3)))
        missing = {*seeds} - {seed for seed, _ in rows}
        if missing:
            raise ValueError(f"not stored: {sorted(missing)}")
        figures = [each for seed, each in rows if seed in seeds]
        return "\n".join([found[1].rstrip("\n"), *table(figures)]) + found[5]

    return _TABLE.sub(written, text)


def stored() -> list[tuple[int, Figure]]:
    """All figures in the file, with their seeds."""
    rows = campaigns.stored_rows(ROWS) if ROWS.exists() else []
    return [
        (int(row["seed"]), Figure(row["kind"], *(float(row[name] or "nan") for name in TITLES[2:])))
        for row in rows
    ]


def _keep(seed: int, figures: list[Figure]) -> None:
    """Store the figures of a system in place of earlier ones, and say how far off it is."""
    rows = [row for row in stored() if row[0] != seed] + [(seed, each) for each in figures]
    campaigns.store(
        ROWS,
        TITLES,
        [
            (number, each.kind, *("" if isnan(x) else f"{x:.6g}" for x in each[1:]))
            for number, each in sorted(rows, key=lambda row: row[0])
        ],
    )
    off = [f"{each.kind} {100 * each.off:+.1f}%" for each in figures if each.kind in TIMES]
    print(f"# {seed}: {', '.join(off)}", flush=True)


def table(figures: list[Figure]) -> list[str]:
    """Shares and errors over all systems."""

    def of(kind: str) -> list[Figure]:
        return [each for each in figures if each.kind == kind]

    work, pools = of("work"), of("threads")
    seen = [each for each in pools if each.found < inf]
    narrow = [each.high - each.low <= 0.2 * each.found for each in seen]
    reach = np.array([(each.high - each.low) / 2 for each in work])
    off = np.array([each.found - each.true for each in work])
    near = [abs(each.off) < NEAR for each in of("calls")]
    return [
        f"entries with the right calls, each of the right kind  {_share_right(of('structure'))}",
        f"mean numbers of calls, off by                         {_errors(of('calls'))}",
        f"mean numbers of calls within 2%                       {_share(near)}",
        f"work within its 95% interval                          {_share_inside(work)}",
        f"its errors over those stated, root mean square        {_spread_of(off / reach * 1.96)}",
        f"its interval to either side, relative to it           {_mean(reach, work)}",
        f"threads within 10% where requests waited              {_share_right(seen)}",
        f"threads within 20% where requests waited              {_share_right(seen, FAR)}",
        f"threads within what is stated, bounds included        {_share_inside(pools)}",
        f"threads that are stated to 10%, where seen            {_share(narrow)}",
        f"response times at 1.3 times the highest load, off by  {_errors(of('response'))}",
        f"the same by layers of the true services               {_errors(of('layers'))}",
    ]


def _spread_of(off: FloatArray) -> str:
    return f"{np.mean(off**2) ** 0.5:.2f}"


def _mean(reach: FloatArray, work: list[Figure]) -> str:
    return f"{100 * np.mean(reach / [each.true for each in work]):.1f}% in the mean"


def _share_right(figures: list[Figure], most: float = 0.1) -> str:
    return _share([abs(each.off) <= most for each in figures])


def _share_inside(figures: list[Figure]) -> str:
    return _share([each.inside for each in figures])


def _share(right: list[bool]) -> str:
    return f"{100 * np.mean(right):.1f}% of {len(right)}"


def _errors(figures: list[Figure]) -> str:
    off = np.abs([each.off for each in figures])
    told = off[np.isfinite(off)]
    middle, nine, most = 100 * np.quantile(told, (0.5, 0.9, 1.0))
    text = f"{middle:.1f}% in the median, {nine:.1f}% in nine of ten, {most:.0f}% at most"
    return text + (f"; {len(off) - len(told)} saturated" if len(told) < len(off) else "")


if __name__ == "__main__":
    main()
