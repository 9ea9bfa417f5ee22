"""Stations behind a fork: what it costs to take joins for a Poisson process."""

import numpy as np
import pytest

from headway.models import ModelGraph
from headway.queueing import MM1, Delay, ForkJoin
from headway.queueing.forks.fork import BEHIND
from tests.campaigns.behind_forks import errors, lindley, simulate, stored, summary_rows, table
from tests.campaigns.closed_forks import Case
from tests.campaigns.closed_forks import stored as closed_stored
from tests.campaigns.complementary_delays import solve
from tests.support.pages import accuracy


def test_the_table_of_the_page_is_that_of_the_simulation():
    rows = summary_rows(stored())
    assert table(rows) in accuracy()
    plain = max(max(parts) for needed, scv, _, parts in rows if needed == "all" and scv == 1)
    worst = max(max(parts) for *_, parts in rows)
    assert f"within {np.ceil(plain):.0f}% of simulations where service is exponential" in BEHIND
    assert f"else within {np.ceil(worst):.0f}%" in BEHIND


def test_the_witness_finds_the_queue_that_is_known():
    """Poisson arrivals and exponential service, 2 s wide of 1 / (1 - 0.5): within 3%."""
    random = np.random.default_rng(5)
    gaps, service = random.exponential(1.0, 400_000), random.exponential(0.5, 400_000)
    assert lindley(gaps, service).mean() == pytest.approx(1.0, rel=0.03)


def test_a_simulation_anew_finds_the_same():
    """Two exponential branches half as busy as the table's: errors within 3 points of theirs."""
    again = np.array(simulate(2, 1.0, 0.6, 300_000, np.random.default_rng(3)))
    rows = stored()
    same = rows[(rows[:, 0] == 2) & (rows[:, 2] == 1) & (rows[:, 3] == 0.6)]
    np.testing.assert_array_equal(again[:, :5], same[:, :5])
    np.testing.assert_allclose(errors(again), errors(same), atol=0.03)


def test_the_label_goes_with_stations_behind_a_fork():
    fork = ModelGraph("g").station("disks", ForkJoin(0.01, 4, 4))
    queue = fork.station("cpu", MM1(0.001)).route("disks", "cpu")
    assert BEHIND in queue.at().solve(arrival_rate=50.0).approximation
    rest = fork.station("link", Delay(0.001)).route("disks", "link")
    assert BEHIND not in rest.at().solve(arrival_rate=50.0).approximation
    before = ModelGraph("g").station("cpu", MM1(0.001)).station("disks", ForkJoin(0.01, 4, 4))
    assert BEHIND not in before.route("cpu", "disks").at().solve(arrival_rate=50.0).approximation


WORST = {False: (44, 47.6, 4, 247), True: (46, 10.4, 42, 10.0)}
"""Cases in which complementary delays are farthest off [%]."""


@pytest.mark.parametrize("sharing", WORST)
def test_complementary_delays_miss_as_the_page_says(sharing):
    throughput, rate, response, time = WORST[sharing]
    for place, number, share in ((0, throughput, rate), (1, response, time)):
        row = next(row for row in closed_stored() if row[0] == number)
        value = solve(Case(number), sharing=sharing)[place]
        assert abs(100 * (value / row[1 + place] - 1)) == pytest.approx(share, abs=0.5)
        assert f"{share}%" in accuracy()
