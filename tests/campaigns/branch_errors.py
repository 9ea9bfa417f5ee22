"""What layers taken one by one miss of the whole chain, where requests have branches at once.

``python -m tests.campaigns.branch_errors --count 800`` solves random layered systems, half of whose
entries have two or three branches at once, by layers, and state by state where there are up to
1,500 states. Rows are stored in `tests/data/branch_errors.csv`, as those of
`tests.campaigns.layer_errors`.

Branches that hold a thread after others have ended are refused: they made throughputs up to nine
times as large as they are.
"""

from pathlib import Path

from headway.errors import GraphError
from headway.queueing.layers.flow import Together, parts_within
from tests import campaigns
from tests.campaigns.layer_errors import TITLES, errors_of, table
from tests.support.layered_systems import forked_system

PAGE = Path("tests/data/branch_errors.csv")
FIRST = 400_000
"""Seeds of these systems."""


def errors(seed):
    """Seed, whether there are second phases, which number, and relative error [%]."""
    system = forked_system(FIRST + seed)
    parts = (part for entry in system.entries.values() for part in parts_within(entry.flow))
    if not any(isinstance(part, Together) for part in parts):
        return []
    try:
        return errors_of(seed, system)
    except GraphError:  # its layers do not settle
        return []


def main():
    """Store the rows, and print the table of the page."""
    rows = campaigns.seeded_rows(errors, __doc__, 800, PAGE, TITLES)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    campaigns.run(__spec__)
