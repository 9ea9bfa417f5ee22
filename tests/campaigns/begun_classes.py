"""Errors that whole chains make in response times by the class in which a cycle begins.

``python -m tests.campaigns.begun_classes --count 6000`` solves random closed networks whose classes
change into one another, first come first served, state by state, and simulates them to half widths
of 0.6%. The states do not say in which class a cycle began, so the time of a visit is taken to be
the same for all. Rows are stored in `tests/data/begun_classes.csv`.

The label of `headway.queueing.chains.measured.BEGUN` rests on it.
"""

from pathlib import Path

from headway.errors import HeadwayError
from headway.models import parse_model
from headway.queueing.chains.measured import BEGUN_NOTE
from tests import campaigns
from tests.brute.kinds import drawn

PAGE = Path("tests/data/begun_classes.csv")
TITLES = ("seed", "class", "error")
KIND = "switching, fcfs"
HALF_WIDTH = 0.006


def errors(seed):
    """Seed, class and relative error [%] of each class's response time."""
    case = drawn(seed)
    if case.kind != KIND:
        return []
    try:
        model = parse_model(case.text)
        solution = model.solve()
        if BEGUN_NOTE not in solution.approximation:
            return []
        simulated = model.simulate(HALF_WIDTH, seed=seed + 1)
    except HeadwayError:
        return []
    names = {name: f"class {name}.response_time" for name in model.graph.classes}
    return [
        (seed, name, f"{100 * (float(solution[key]) / simulated[key].mean - 1):.3f}")
        for name, key in names.items()
        if key in simulated.estimates
    ]


def main():
    """Store the rows, and print the largest error."""
    rows = campaigns.seeded_rows(errors, __doc__, 6000, PAGE, TITLES)
    print(f"{len(rows)} classes, largest error {max(abs(float(row[-1])) for row in rows)}%")


if __name__ == "__main__":
    campaigns.run(__spec__)
