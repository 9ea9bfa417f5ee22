"""Errors of the layers method against simulations, for systems too large for their chain.

``python -m tests.campaigns.large_layer_errors --count 400`` draws layered systems of up to four
layers, ten tasks and 50 clients of a kind, solves those whose chain is not small by the layers
method, and simulates them for two million events. Rows are stored in
`tests/data/large_layer_errors.csv`: the relative error of each throughput of clients, and of each
response time of an entry.

The label of `headway.queueing.layers.measured` rests on it.
"""

from pathlib import Path

from headway.errors import GraphError
from headway.queueing.layers.methods.solve import solve_layers
from headway.queueing.layers.playing import play_layers
from tests import campaigns
from tests.campaigns.layer_errors import TITLES, rows_of, table
from tests.support.layered_systems import random_system

PAGE = Path("tests/data/large_layer_errors.csv")
EVENTS = 2_000_000
FIRST = 200_000
"""Seeds of these systems, which differ from those of the small ones."""


def errors(seed):
    """Seed, whether there are second phases, the number compared, and its relative error [%]."""
    system = random_system(FIRST + seed, clients=50, layers=4, tasks=10)
    try:
        near, method = solve_layers(system)
    except GraphError:  # the system is refused
        return []
    if method != "layers":
        return []
    played = play_layers(system, EVENTS, seed=1)

    def right(name, number):
        if number == "throughput":
            return played.tasks[system.entries[name].task].throughput.mean
        return played.entries[name].waiting_time.mean + played.entries[name].first_phase.mean

    return rows_of(seed, near, right)


def main():
    """Store the rows, and print the table of the page."""
    rows = campaigns.seeded_rows(errors, __doc__, 400, PAGE, TITLES)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    campaigns.run(__spec__)
