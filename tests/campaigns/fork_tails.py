"""Errors of the 99.9th percentiles of forks with unlike single-server branches, by simulation.

``python -m tests.campaigns.fork_tails`` simulates again what `tests/data/fork_tails.csv` contains
(some minutes): the cases of `tests.campaigns.unlike_forks` without pools, in longer runs. The label
of such answers is the largest error of the rows, which the tests recompute.

No constant or label names it; docs/accuracy/forks.md has its figures.
"""

from itertools import count, islice
from pathlib import Path
from unittest.mock import patch

import numpy as np

from headway.errors import GraphError
from headway.queueing import MG1, MM1, Delay, response_time_percentile
from tests import campaigns
from tests.campaigns import unlike_forks

PAGE = Path("tests/data/fork_tails.csv")
TITLES = ("case", "p999")
REQUESTS, CASES = 3_000_000, 24


def numbers():
    """Cases that have a law, and no pools."""
    for number in count():
        fork, rate = unlike_forks.case(number)
        if all(isinstance(b, MM1 | MG1 | Delay) for b in fork.branches):
            try:
                response_time_percentile(fork, rate, 0.999)
            except GraphError:
                continue
            yield number


def errors():
    """Relative errors of the stored cases."""
    rows = campaigns.stored_numbers(PAGE, TITLES)
    forks = (unlike_forks.case(int(number)) for number in rows[:, 0])
    found = [response_time_percentile(fork, rate, 0.999) for fork, rate in forks]
    return np.array(found) / rows[:, 1] - 1


def main():
    """Simulate, and print the largest error."""

    def rows():
        with patch.object(unlike_forks, "REQUESTS", REQUESTS):
            for number in islice(numbers(), CASES):
                times = unlike_forks.simulated(number, REQUESTS)
                yield number, f"{np.quantile(times, 0.999):.6g}"

    campaigns.stored_or_simulated(__doc__, PAGE, TITLES, rows)
    print(f"largest errors {errors().min():.1%} and {errors().max():.1%}")


if __name__ == "__main__":
    main()
