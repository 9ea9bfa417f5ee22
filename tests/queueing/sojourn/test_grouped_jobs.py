"""Percentiles of very many closed jobs that are followed in groups."""

import numpy as np
import pytest

from headway.errors import GraphError
from headway.queueing.passages.grouped_jobs import overtake_free
from headway.queueing.passages.laws import GROUPED
from headway.queueing.passages.overtake_free import OvertakeFree
from tests.campaigns.grouped_jobs import OTHERS, group_errors, network, ring_errors

LABELLED = 5e-4
"""Relative error that `GROUPED` states."""


@pytest.mark.parametrize(("stations", "jobs"), [(2, 100_000), (10, 20_000)])
def test_equal_servers_in_a_ring_take_as_long_as_so_many_services(stations, jobs):
    """N - 1 + K services, by Schassberger and Daduna's law where all a_k are equal."""
    errors, notes = ring_errors(stations, jobs)

    assert np.abs(errors).max() < LABELLED
    assert notes == (GROUPED,)


def test_few_jobs_are_followed_one_by_one():
    errors, notes = ring_errors(3, 400)

    assert np.abs(errors).max() < 1e-9
    assert notes == ()


@pytest.mark.parametrize("name", OTHERS)
def test_groups_are_near_every_number_of_jobs(name):
    assert np.abs(group_errors(name, jobs=601, group=3)).max() < LABELLED


def test_very_many_servers_are_convolved_by_fourier_transforms(monkeypatch):
    """Which leave out what is a share of 1e-15 of the likeliest number."""
    times, servers, *_ = OTHERS["a large pool"]
    passage = network(times, servers, 2001, 0.0, 1.0)
    ours = OvertakeFree(passage, [0, 1]).windows
    monkeypatch.setattr("headway.queueing.passages.passage._MOST_PRODUCTS", 0)
    theirs = OvertakeFree(passage, [0, 1]).windows

    np.testing.assert_allclose(theirs, ours, atol=20)  # jobs, of 2000


def test_too_long_steps_are_refused():
    count = 300
    ring = network((1.0,) * count, (1,) * count, 2000, 0.0, 2000 / (2000 + count - 1))
    with pytest.raises(GraphError, match=r"2000 jobs at 300 queues that are about equally busy"):
        overtake_free(ring, list(range(count)))
