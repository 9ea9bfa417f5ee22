"""What layers taken one by one miss of the whole chain, where second phases make calls.

``python -m tests.campaigns.phase_errors --count 400`` solves random layered systems, most of whose
entries have a second phase that makes calls of theirs, by layers, and state by state where there
are up to 1,500 states. Rows are stored in `tests/data/phase_errors.csv`, as those of
`tests.campaigns.layer_errors`.
"""

from pathlib import Path

from tests import campaigns
from tests.campaigns.layer_errors import TITLES, errors_of, table
from tests.support.layered_systems import phased_system

PAGE = Path("tests/data/phase_errors.csv")
FIRST = 300_000
"""Seeds of these systems."""


def errors(seed):
    """Seed, whether there are second phases, which number, and relative error [%]."""
    return errors_of(seed, phased_system(FIRST + seed))


def main():
    """Store the rows, and print the table of the page."""
    rows = campaigns.seeded_rows(errors, __doc__, 400, PAGE, TITLES)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    campaigns.run(__spec__)
