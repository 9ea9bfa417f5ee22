"""Errors of the layers method against whole chains.

``python -m tests.campaigns.layer_errors --count 3000`` solves random layered systems by layers, and
state by state if there are up to 1,500 states. Rows are stored in `tests/data/layer_errors.csv`:
the relative error of each throughput of clients, and of each response time of an entry.

The label of `headway.queueing.layers.measured` rests on it.
"""

from pathlib import Path

import numpy as np

from headway.queueing.layers.chain import by_chain
from headway.queueing.layers.decomposed.decomposition import by_layers
from headway.queueing.layers.flow import replies
from tests import campaigns
from tests.support.layered_systems import random_system

PAGE = Path("tests/data/layer_errors.csv")
TITLES = ("seed", "kind", "number", "error")
STATES = 1500


def errors(seed):
    """Seed, whether there are second phases, the number compared, and its relative error [%]."""
    return errors_of(seed, random_system(seed))


def errors_of(seed, system):
    """The same of a system."""
    exact = by_chain(system, STATES)
    if exact is None:
        return []
    return rows_of(
        seed, by_layers(system), lambda name, number: getattr(exact.entries[name], number)
    )


def rows_of(seed, near, right):
    """Rows of a system: throughputs of its clients, and response times of its other entries."""
    second = any(replies(entry.flow) for entry in near.system.entries.values())
    kind, rows = "second phases" if second else "one phase", []
    for name, entry in near.system.entries.items():
        number = "throughput" if near.system.tasks[entry.task].clients else "response_time"
        found = float(getattr(near.entries[name], number))
        rows.append((seed, kind, number, f"{100 * (found / float(right(name, number)) - 1):.3f}"))
    return rows


def table(rows):
    """The table of the page: how many numbers, and their errors [%]."""
    lines = [
        "| systems with | number | how many | median | nine of ten below | largest |",
        "|---|---|---|---|---|---|",
    ]
    for kind in ("one phase", "second phases"):
        for number in ("throughput", "response_time"):
            each = [abs(float(row[3])) for row in rows if (row[1], row[2]) == (kind, number)]
            if not each:
                continue
            most = f"{np.median(each):.1f}% | {np.quantile(each, 0.9):.1f}% | {max(each):.1f}%"
            lines.append(f"| {kind} | {number.replace('_', ' ')} | {len(each)} | {most} |")
    return lines


def main():
    """Store the rows, and print the table of the page."""
    rows = campaigns.seeded_rows(errors, __doc__, 3000, PAGE, TITLES)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    campaigns.run(__spec__)
