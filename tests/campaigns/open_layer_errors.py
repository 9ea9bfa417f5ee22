"""Errors of the layers method for services called from outside, by the busiest pool's utilisation.

``python -m tests.campaigns.open_layer_errors --count 40`` draws services at random, at 30% to 90%
of what their fullest pool could take if no request waited, and compares response times of entries
with 400,000 events of the event loop. Rows are stored in `tests/data/open_layer_errors.csv`: the
utilisation of the busiest pool by layers, and the relative error of each entry.

The labels of `headway.queueing.layers.measured` for systems with arrivals rest on it.
"""

from math import inf
from pathlib import Path

import numpy as np

from headway.queueing.layers.decomposed.decomposition import by_layers
from headway.queueing.layers.flow import Choice, Series, Step, Together
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.playing import play_layers
from headway.queueing.layers.system import LayeredSystem
from tests import campaigns
from tests.oracles.traced_services import drawn

PAGE = Path("tests/data/open_layer_errors.csv")
TITLES = ("seed", "share", "busiest", "error")
SHARES = 0.3, 0.5, 0.65, 0.8, 0.9
EVENTS = 400_000
BANDS = (0.0, 0.7), (0.7, 0.9), (0.9, 1.0)


def services(played, rate):
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
        {service: Processor(inf) for service in threads},
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


def capacity(played):
    """The rate at which a pool is full if requests wait nowhere else."""
    held, visits = played.holding(), played.visits()
    busy = dict.fromkeys(played.threads, 0.0)
    for name, entry in played.entries.items():
        busy[entry.service] += visits[name] * held[name]
    return min(played.threads[s] / b for s, b in busy.items() if b > 0)


def errors(seed):
    """Rows of one system at all shares of its capacity."""
    played = drawn(700 + seed)
    rows = []
    for share in SHARES:
        system = services(played, share * capacity(played))
        near = by_layers(system)
        right = play_layers(system, EVENTS, seed=1).entries
        busiest = max(
            sum(float(near.entries[name].busy) for name in system.entries_of[service]) / many
            for service, many in played.threads.items()
        )
        for name, one in near.entries.items():
            found = float(one.waiting_time + one.first_phase)
            truth = right[name].waiting_time.mean + right[name].first_phase.mean
            error = 100 * (found / truth - 1)
            rows.append((700 + seed, share, f"{busiest:.3f}", f"{error:.2f}"))
    return rows


def table(rows):
    """The table of the page: errors [%] by the busiest pool's utilisation."""
    lines = [
        "| busiest pool | times of entries | median | nine of ten below | largest |",
        "|---|---|---|---|---|",
    ]
    for low, high in BANDS:
        each = [abs(float(row[3])) for row in rows if low < float(row[2]) <= high]
        most = f"{np.median(each):.1f}% | {np.quantile(each, 0.9):.1f}% | {max(each):.0f}%"
        lines.append(f"| {100 * low:.0f} to {100 * high:.0f}% | {len(each)} | {most} |")
    return lines


def main():
    """Store the rows, and print the table of the page."""
    rows = [row for each in campaigns.seeded(errors, __doc__, 40) for row in each]
    campaigns.store(PAGE, TITLES, rows)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    campaigns.run(__spec__)
