"""Open networks of general service times: exact where that is known, within its label elsewhere."""

import re

import numpy as np
import pytest

from headway.models import ModelGraph
from headway.queueing import MD1, MG1, MM1, Delay, MGm
from headway.queueing.sojourn.percentiles import response_time_percentile
from headway.queueing.variability import measured
from headway.queueing.variability.returns import near_returns
from headway.queueing.variability.tandems import tandems_of
from tests.campaigns import qna_errors
from tests.campaigns.general_networks import (
    FAMILIES,
    PERCENTS,
    SCVS_OF_REGIONS,
    Row,
    largest,
    lines,
    simulate,
    stored,
)
from tests.support.pages import accuracy


def row_of(*stations):
    """Stations one behind the other."""
    graph = ModelGraph("row")
    for k, station in enumerate(stations):
        graph = graph.station(f"s{k}", station)
    for k in range(1, len(stations)):
        graph = graph.route(f"s{k - 1}", f"s{k}")
    return graph.at()


def test_rows_of_constant_times_are_exact():
    """Friedman (1965): jobs wait as at the slowest server alone, whatever stands before; 1e-9."""
    same = row_of(MD1(1.0), MD1(1.0)).solve(0.85)
    assert same.approximation == ""
    assert same.response_time == pytest.approx(MD1(1.0).response_time(0.85) + 1.0, rel=1e-9)
    rising = row_of(MD1(0.5), Delay(3.0), MD1(1.0), MD1(0.8), MD1(1.1)).solve(0.8)
    expected = MD1(1.1).waiting_time(0.8) + 0.5 + 3.0 + 1.0 + 0.8 + 1.1
    assert rising.response_time == pytest.approx(expected, rel=1e-9)
    assert rising["s3.waiting_time"] == 0.0
    assert rising.approximation == ""


def test_percentiles_of_equal_constant_times_are_those_of_the_first():
    """Jobs wait at the first server only: M/D/1's percentile and a service more; 1e-6."""
    solution = row_of(MD1(1.0), MD1(1.0)).solve(0.85).with_percentile(95)
    exact = response_time_percentile(MD1(1.0), 0.85, 0.95) + 1.0
    assert solution["response_time_p95"] == pytest.approx(exact, rel=1e-6)


def test_what_is_thinned_on_its_way_waits_as_the_spacing_says():
    """Half of a slower server's jobs come to a quicker one, at which nobody waits."""
    line = np.array([[[0.0, 0.5], [0.0, 0.0]]])
    shares = np.array([[[0.0, 1.0], [0.0, 0.0]]])
    for times, behind in (([1.0, 0.5], True), ([0.5, 1.0], False)):
        rows = tandems_of(line, shares, np.array([times]), np.zeros((1, 2)), np.ones((1, 2)))
        assert bool(rows.steady[0, 1]) is behind


@pytest.mark.parametrize(
    ("stations", "exact"),
    [
        ((MM1(1.0), MG1(1.0, 4.0)), True),
        ((Delay(1.0), MD1(1.0)), True),
        ((MG1(1.0, 4.0), Delay(1.0)), True),
        ((MG1(1.0, 4.0), MM1(1.0)), False),
        ((MM1(1.0), MGm(1.0, 2, 4.0)), False),
    ],
)
def test_behind_poisson_flows_nothing_is_approximate(stations, exact):
    """M/G/1 behind M/M/1 or a delay has Poisson arrivals (Burke; Mirasol)."""
    solution = row_of(*stations).solve(0.7)
    assert ("assumed Poisson" in solution.approximation) is False
    assert (solution.approximation == "") is exact


@pytest.mark.parametrize(
    ("busy", "scv", "simulated"),
    [((0.85, 0.1), 4.0, 7.911), ((0.85, 0.4), 4.0, 9.381), ((0.85, 0.7), 4.0, 12.709),
     ((0.85, 0.1), 0.0, 4.951), ((0.85, 0.4), 0.0, 5.392)],
)  # fmt: skip
def test_loops_of_general_times_are_near_their_simulations(busy, scv, simulated):
    """One server of general times and an exponential one, back .7: within 12%; Poisson 64%.

    Simulated by `tests.campaigns.general_networks.looped`, 300 replicas of 1500 arrivals.
    """
    first, second = (share * 0.3 for share in busy)
    graph = ModelGraph("loop").station("a", MG1(first, scv)).station("b", MM1(second))
    solution = graph.route("a", "b").route("b", "a", 0.7).at().solve(1.0)
    assert solution.method == "qna"
    assert solution.response_time == pytest.approx(simulated, rel=0.12)
    assert "single servers with loops, scv of services up to" in solution.approximation


def test_what_returns_at_once_makes_one_longer_visit():
    """With nobody at the other station all returns are soon; M/G/1 of all visits (Takacs); 1e-6."""
    two = np.array([[[0.0, 1.0], [0.7, 0.0]]])
    assert near_returns(two, np.array([[4.0, 0.0]]))[0, 0] == pytest.approx(0.7)
    graph = ModelGraph("loop").station("a", MG1(0.25, 4.0)).station("b", MM1(1e-9))
    solution = graph.route("a", "b").route("b", "a", 0.7).at().solve(1.0)
    stay = MG1(0.25, 4.0).returning(0.7)
    assert solution.response_time == pytest.approx(stay.response_time(1.0), rel=1e-4)


@pytest.mark.slow
def test_percentiles_of_loops_of_unlike_spreads_are_known():
    """An scv of 8 and a constant: the chain's law is inverted without a digit lost."""
    graph = ModelGraph("loop").station("a", MG1(1.0, 8.0)).station("b", MG1(1.0, 0.0))
    model = graph.route("a", "b").route("b", "a", 0.7).at()
    solution = model.solve(0.24).with_percentiles([50, 99.9])
    assert 0 < solution["response_time_p50"] < solution["response_time_p99.9"] < np.inf


def test_visits_hide_the_flows_and_the_label_has_a_figure():
    graph = ModelGraph("v").station("a", MG1(1.0, 4.0), visits=1).station("b", MM1(1.0), visits=1)
    solution = graph.at().solve(0.7)
    assert solution.method == "open"
    assert re.search(r"assumed Poisson; largest error measured: mean response time \d", str(
        " ".join(solution.approximation.split())
    ))  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    return list(stored())


@pytest.mark.slow
def test_labels_are_the_largest_errors_of_their_regions(rows):
    """Rounded up to a tenth; of means by two moments, and where all flows are taken as Poisson."""
    assert len(rows) == sum(FAMILIES.values())
    for error, labels in ((Row.mean_error, measured.MEANS), (Row.poisson_error, measured.POISSON)):
        for (kind, scv), sizes in largest(rows, error).items():
            label, most = labels[kind][SCVS_OF_REGIONS.index(scv)], max(sizes)
            if kind == "pools" and labels is measured.MEANS:
                most = max(most, qna_errors.sizes(qna_errors.errors(qna_errors.stored())[1])[2])
            assert most <= label + 0.05
            assert label <= most + 0.2


@pytest.mark.slow
def test_the_page_has_the_table(rows):
    page = accuracy().splitlines()
    for line in lines(rows):
        assert line in page, line


@pytest.mark.parametrize("case", [("rows", 0), ("forward", 3), ("rows", 7)])
def test_percentiles_are_within_their_label(case, rows):
    (row,) = (row for row in rows if (row.family, row.number) == case)
    _within_its_label(row)


@pytest.mark.slow
def test_all_percentiles_are_within_their_labels(rows):
    for row in rows:
        if "pools" not in row.family:
            _within_its_label(row)


def _within_its_label(row):
    errors, region = np.abs(row.share_errors()), row.region
    place = next(k for k, scv in enumerate(SCVS_OF_REGIONS) if region.scv <= scv)
    near, far = measured.SHARES[region.kind][place][row.drawn.law != "gamma"]
    assert errors[:-1].max() <= near + 0.5, row
    assert errors[-1] <= far + 0.5, row


@pytest.mark.slow
@pytest.mark.parametrize("case", [("rows", 7), ("loops", 7), ("pools", 1)])
def test_the_campaign_tells_the_same_again(case, rows):
    """Within two half widths of both: another NumPy may draw other numbers."""
    (row,) = (row for row in rows if (row.family, row.number) == case)
    _, _, mean, half, *shares = simulate(case)
    assert float(mean) == pytest.approx(row.mean, abs=2 * (float(half) + row.half_width))
    assert len(shares) == len(PERCENTS)
