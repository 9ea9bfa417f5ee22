"""Errors of percentiles if a very large number of jobs is followed in groups.

``python -m tests.campaigns.grouped_jobs`` prints the largest errors: for rings of equal servers
compared with their exact law, and for other networks compared with following every number of jobs.
`tests/queueing/sojourn/test_grouped_jobs.py` recomputes some.

`GROUPED` of `headway.queueing.passages.laws` rests on it.
"""

import numpy as np
from scipy.stats import gamma

from headway.queueing.passages.grouped_jobs import GroupedJobs
from headway.queueing.passages.laws import after_start, passage_law
from headway.queueing.passages.overtake_free import OvertakeFree
from headway.queueing.passages.passage import Passage, PassageStation, topological_order
from headway.queueing.times.inversion import percentile_of
from headway.queueing.times.laws import Piece, TimeLaw

SHARES = (0.5, 0.95, 0.99, 0.999)
RINGS = [(2, 10**5), (2, 10**6), (10, 10**5), (10, 10**6)]
"""Stations and jobs."""

FORK = ((0, 0.5, 0.5), (0, 0, 0), (0, 0, 0))
OTHERS = {
    "two pools": ((4.0, 8.0), (4, 8), 0.0, 1.0, None),
    "nearly equal": ((1.0, 1.002), (1, 1), 0.0, 1.0, None),
    "jobs that think": ((1.0, 1.0), (1, 1), 0.5, 1.0, None),
    "two slow ones": ((1.0, 0.5, 1.0, 0.1), (1, 1, 1, 1), 0.0, 1.0, None),
    "a large pool": ((1.0, 200.0), (1, 200), 0.0, 1.0, None),
    "one of two ways": ((1.0, 2.0, 2.0), (1, 1, 1), 0.0, 1.0, FORK),
}
"""Service times, servers, think time over the number of jobs, throughput, and routes unless in a
row."""

JOBS, GROUP = 2001, 8


def network(times, servers, jobs, think, throughput, onward=None):
    """A network whose jobs enter at the first station."""
    count = len(times)
    places = [PassageStation(str(k), s, servers[k], 1) for k, s in enumerate(times)]
    routes = np.eye(count, k=1) if onward is None else np.array(onward, float)
    stays = np.full(count, (jobs / throughput - think) / count)
    ends = np.eye(count)[0], routes, 1 - routes.sum(axis=1)
    return Passage(tuple(places), *ends, jobs, think, throughput, stays)


def ring_errors(stations, jobs):
    """Errors in a ring of single servers, where a passage is N - 1 + K exponential times."""
    ring = network((1.0,) * stations, (1,) * stations, jobs, 0.0, jobs / (jobs + stations - 1))
    law = passage_law(ring)
    exact = gamma.ppf(SHARES, jobs + stations - 1)
    return np.array([percentile_of(law, share) for share in SHARES]) / exact - 1, law.notes


def group_errors(name, jobs=JOBS, group=GROUP):
    """Errors of groups compared with every number of jobs."""
    times, servers, think, throughput, onward = OTHERS[name]
    passage = network(times, servers, jobs, think * jobs, throughput, onward)
    every = OvertakeFree(passage, topological_order(passage.onward))
    found = []
    for one in (every, GroupedJobs(passage, every.order, every.windows, group)):
        law = after_start(TimeLaw((Piece(0.0, one.transform),), passage.mean))
        found.append([percentile_of(law, share) for share in SHARES])
    return np.divide(found[1], found[0]) - 1


def main():
    """Print the largest errors."""
    for stations, jobs in RINGS:
        errors, _ = ring_errors(stations, jobs)
        print(f"{stations} equal servers, {jobs:,} jobs: {np.abs(errors).max():.1e}", flush=True)
    for name in OTHERS:
        print(
            f"{name}, {JOBS:,} jobs by {GROUP}: {np.abs(group_errors(name)).max():.1e}", flush=True
        )


if __name__ == "__main__":
    main()
