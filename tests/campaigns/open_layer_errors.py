"""Errors of the layers method for services called from outside, by the busiest pool's utilisation.

``python -m tests.campaigns.open_layer_errors --seed 700 --count 64`` draws three to eight services
at random, at 30% to 90% of what their fullest pool could take if no request waited, and compares
response times of entries with two million events of the event loop: once with unlimited servers at
all processors, and once with one to four. From seed 764 on there are three to 20 services. From
40000 on the system is the model that ``trace_round_trips`` makes of the traces of its seed, at 1.3
times the highest traced load; 45037 was taken since layers answer it badly. Rows are stored in
`tests/data/open_layer_errors.csv` in place of earlier ones of their seeds: whether servers are
limited, the utilisation of the busiest pool or processor by layers, and the relative error of each
entry.

The labels of `headway.queueing.layers.measured` for systems with arrivals rest on it.
"""

from itertools import product
from math import inf
from pathlib import Path

import numpy as np

from headway.errors import GraphError
from headway.models.structure.layered import system_of
from headway.models.tracing.traced import model_read
from headway.queueing.layers.decomposed.decomposition import by_layers
from headway.queueing.layers.flow import Choice, Series, Step, Together
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.playing import play_layers
from headway.queueing.layers.system import LayeredSystem
from tests import campaigns
from tests.campaigns import trace_round_trips
from tests.oracles.traced_services import drawn, play
from tests.support.traced import read_of

PAGE = Path("tests/data/open_layer_errors.csv")
TITLES = ("seed", "share", "servers", "busiest", "error")
SERVERS = "unlimited", "limited"
SHARES = 0.3, 0.5, 0.65, 0.8, 0.9
EVENTS = 2_000_000
FIRST, MANY, TRACED = 700, 764, 40_000  # the first seeds of few services, of many, and of traces
BANDS = (0.0, 0.7), (0.7, 0.9), (0.9, 1.0)


def services(played, rate, servers):
    """The layered system of random services, at a rate from outside."""
    entries = {}
    for name, entry in played.entries.items():
        slice_ = entry.work / (1 + sum(stage.mean for stage in entry.stages))
        parts = [
            part
            for k, stage in enumerate(entry.stages)
            for part in _stage(f"{name} {k}", stage, slice_)
        ]
        flow = Series((*parts, Step(f"{name} end", slice_)))
        entries[name] = Entry(entry.service, flow, rate * played.roots.get(name, 0.0))
    threads = played.threads
    return LayeredSystem(
        "drawn",
        {service: Processor(servers[service]) for service in threads},
        {service: Task(service, many) for service, many in threads.items()},
        entries,
    )


def _stage(name, stage, work):
    """A stage with the work before it."""
    if len(stage.callees) > 1:
        branches = [
            Step(f"{name} {callee}", calls={callee: 1.0}, fixed=True) for callee in stage.callees
        ]
        return Step(name, work), Together(tuple(branches), len(branches))
    [callee] = stage.callees
    fixed = stage.law != "geometric"
    if stage.law == "maybe":
        once = Step(name, work, calls={callee: 1.0}, fixed=True)
        return (Choice(((stage.mean, once), (1 - stage.mean, Step(f"{name} not")))),)
    return (Step(name, work * stage.mean, calls={callee: stage.mean}, fixed=fixed),)


def capacity(played, servers):
    """The rate at which a pool or a processor is full if requests wait nowhere else."""
    held, visits = played.holding(), played.visits()
    busy, worked = dict.fromkeys(played.threads, 0.0), dict.fromkeys(played.threads, 0.0)
    for name, entry in played.entries.items():
        busy[entry.service] += visits[name] * held[name]
        worked[entry.service] += visits[name] * entry.work
    pools = [played.threads[s] / b for s, b in busy.items() if b > 0]
    return min(pools + [servers[s] / w for s, w in worked.items() if w > 0])


def errors(seed):
    """Rows of one system at all shares of its capacity, or of the model of its traces at one."""
    if seed >= TRACED:
        share = trace_round_trips.BEYOND * trace_round_trips.LOADS[-1]
        return compared(seed, share, SERVERS[0], traced(seed, share))
    played = drawn(seed) if seed < MANY else drawn(seed, 3, 20)
    drawn_servers = np.random.default_rng(seed - FIRST).integers(1, 5, len(played.threads)).tolist()
    rows = []
    for kind, each in zip(SERVERS, ([inf] * len(played.threads), drawn_servers), strict=True):
        servers = dict(zip(played.threads, map(float, each), strict=True))
        for share in SHARES:
            system = services(played, share * capacity(played, servers), servers)
            rows += compared(seed, share, kind, system)
    return rows


def traced(seed, share):
    """The model of 20,000 traces at each of three loads, at a share of the services' capacity."""
    played = drawn(seed, 3, 20)
    most = trace_round_trips.capacity(played)
    loads = [
        play(played, each * most, 20_000, 10 * seed + k)
        for k, each in enumerate(trace_round_trips.LOADS)
    ]
    return system_of(model_read(read_of(loads)).model.at(arrival_rate=share * most))[0]


def compared(seed, share, kind, system):
    """A row for each entry of a system; none where its layers do not settle."""
    try:
        near = by_layers(system)
    except GraphError:
        return []
    right = play_layers(system, EVENTS, seed=1).entries
    rows = []
    for name, one in near.entries.items():
        found = float(one.waiting_time + one.first_phase)
        truth = right[name].waiting_time.mean + right[name].first_phase.mean
        error = 100 * (found / truth - 1)
        rows.append((seed, share, kind, f"{float(near.busiest()):.3f}", f"{error:.2f}"))
    return rows


def table(rows):
    """The table of the page: errors [%] by the busiest pool's utilisation."""
    lines = [
        "| servers | busiest pool or processor | times of entries | median | nine of ten below "
        "| largest |",
        "|---|---|---|---|---|---|",
    ]
    for kind, (low, high) in product(SERVERS, BANDS):
        here = (row for row in rows if row[2] == kind and low < float(row[3]) <= high)
        each = [abs(float(row[4])) for row in here]
        most = f"{np.median(each):.1f}% | {np.quantile(each, 0.9):.1f}% | {max(each):.0f}%"
        band = f"{100 * low:.0f} to {100 * high:.0f}%"
        lines.append(f"| {kind} | {band} | {len(each)} | {most} |")
    return lines


def main():
    """Store the rows, and print the table of the page."""
    campaigns.renewed(errors, __doc__, MANY - FIRST, PAGE, TITLES)
    print("\n".join(table([tuple(row.values()) for row in campaigns.stored_rows(PAGE)])))


if __name__ == "__main__":
    campaigns.run(__spec__)
