"""Fork and join: exact where that is known, near a simulation of all queues elsewhere."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc
from scipy.stats import gamma
from sympy import Symbol, simplify

from headway.errors import GraphError, InvalidParameter
from headway.models import ModelGraph, parse_model
from headway.queueing import MD1, MG1, MM1, ForkJoin, response_time_percentile
from headway.queueing.order_statistics.alike import own_scv
from tests.campaigns.fork_errors import (
    FRESH,
    errors,
    needed_of,
    simulate,
    stored,
    summary_rows,
    table,
)
from tests.support.command import headway
from tests.support.pages import accuracy

loads = st.floats(0.01, 0.99)
spreads = st.floats(0.05, 4)


@given(loads)
def test_two_exponential_branches_are_exact(busy):
    """Nelson and Tantawi (1988): (12 - U) / 8 of M/M/1; the first has what the second leaves."""
    one = MM1(0.5).response_time(2 * busy)
    both = ForkJoin(0.5, 2, 2).response_time(2 * busy)
    assert both == pytest.approx((12 - busy) / 8 * one, rel=1e-12)
    first = ForkJoin(0.5, 2, 1).response_time(2 * busy)
    assert first + both == pytest.approx(2 * one, rel=1e-8)


@settings(max_examples=20)
@given(st.integers(1, 64), loads)
def test_branches_of_constant_service_go_in_step(branches, busy):
    """All of them have the same queue at any time, so any k take as long as one."""
    fork = ForkJoin(0.5, branches, (branches + 1) // 2, 0.0)
    assert fork.response_time(2 * busy) == pytest.approx(MD1(0.5).response_time(2 * busy))
    one = response_time_percentile(MD1(0.5), 2 * busy, 0.9)
    assert response_time_percentile(fork, 2 * busy, 0.9) == pytest.approx(one)


@settings(max_examples=20)
@given(loads, spreads)
def test_one_branch_is_a_queue(busy, scv):
    fork, one = ForkJoin(0.5, 1, 1, scv), MG1(0.5, scv)
    assert fork.response_time(2 * busy) == pytest.approx(one.response_time(2 * busy))
    assert response_time_percentile(fork, 2 * busy, 0.9) == response_time_percentile(
        one, 2 * busy, 0.9
    )


@pytest.mark.parametrize(("branches", "needed"), [(2, 2), (5, 3), (16, 12), (64, 64)])
@pytest.mark.parametrize("scv", [0.1, 1.0, 2.0])
def test_at_light_load_it_is_the_order_statistic_of_services(branches, needed, scv):
    """The mean by the integral of the chance that fewer than k of n are done, on a fine grid."""
    times = np.linspace(0, 60, 600_001)
    within = gamma.cdf(times, 1 / scv, scale=scv)
    exact = np.trapezoid(1 - betainc(needed, branches - needed + 1, within), times)
    assert ForkJoin(1.0, branches, needed, scv).response_time(0.0) == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("scv", [1e-300, 1e-100, 1e-12, 1e-8])
def test_next_to_constant_is_near_constant(scv):
    """Within 3% in percentiles, which follow from two moments below an scv of 0.05."""
    fork = ForkJoin(1.0, 8, 8, scv)
    assert fork.response_time(0.5) == pytest.approx(1.5, rel=1e-3)
    constant = response_time_percentile(MD1(1.0), 0.5, 0.99)
    assert response_time_percentile(fork, 0.5, 0.99) == pytest.approx(constant, rel=0.03)


def test_exponential_branches_at_light_load_take_harmonic_sums():
    for branches, needed in ((4, 4), (10, 7), (64, 63), (10_000, 5_000), (1_000_000, 1_000_000)):
        exact = sum(1 / i for i in range(branches - needed + 1, branches + 1))
        fork = ForkJoin(1.0, branches, needed)
        assert fork.response_time(0.0) == pytest.approx(exact, rel=1e-7)


@settings(max_examples=30)
@given(loads, st.integers(2, 64), spreads)
def test_later_branches_take_longer_and_lie_within_bounds(busy, branches, scv):
    """The last takes no less than one branch and no more than all one after the other."""
    values = [
        ForkJoin(1.0, branches, k, scv).response_time(busy) for k in (1, branches - 1, branches)
    ]
    one = MG1(1.0, scv).response_time(busy)
    assert values[0] <= one <= values[2] <= branches * one
    assert values[0] <= values[1] * (1 + 1e-9)
    assert values[1] < values[2]


def test_an_array_gives_what_each_of_its_points_does():
    branches, needed = np.array([2, 4, 16, 4]), np.array([2, 3, 16, 3])
    scv, rates = np.array([1.0, 0.5, 2.0, 0.5]), np.array([0.3, 0.6, 0.9, 1.2])
    every = ForkJoin(1.0, branches, needed, scv)
    rows = zip(branches, needed, scv, rates, strict=True)
    each = [(ForkJoin(1.0, int(n), int(k), float(c)), r) for n, k, c, r in rows]
    np.testing.assert_array_equal(
        every.response_time(rates), [fork.response_time(r) for fork, r in each]
    )
    np.testing.assert_array_equal(
        response_time_percentile(every, rates, 0.99),
        [response_time_percentile(fork, r, 0.99) for fork, r in each],
    )


def test_its_closed_form_gives_its_numbers():
    rate = Symbol("arrival_rate")
    both = ForkJoin(1, 2, 2).response_time(rate)
    assert simplify(both - (1.5 - rate / 8) / (1 - rate)) == 0
    many = ForkJoin(1e-3, 16, 12, 0.3)
    value = float(many.response_time(rate).subs(rate, 700.0))
    assert value == pytest.approx(many.response_time(700.0), rel=1e-12)
    with pytest.raises(InvalidParameter, match="needed must be a number in a formula of ForkJoin"):
        ForkJoin(1.0, 4, Symbol("k")).response_time(rate)


def test_what_branches_do_not_share_falls_with_the_load():
    busy = np.linspace(0, 1, 21)
    for scv in (0.1, 1.0, 3.0):
        own = own_scv(busy, scv)
        assert own[0] == pytest.approx(scv)
        assert (np.diff(own) < 0).all()


def test_a_simulation_of_two_finds_the_exact_mean():
    """The witness itself: within 1% of Nelson and Tantawi's law."""
    rows = simulate(2, 1.0, 0.7, 300_000, np.random.default_rng(17))
    assert [row[1] for row in rows] == needed_of(2) == [1, 2]
    assert rows[1][4] == pytest.approx((12 - 0.7) / 8 / 0.3, rel=0.01)


@pytest.fixture(scope="module")
def rows():
    return summary_rows(stored())


def test_a_fork_that_no_table_holds_is_near_a_simulation():
    """Mean within 4%, p99 within 8%; 4% of a branch where fewer than half are needed."""
    values = np.array(simulate(12, 2.0, 0.7, 170_000, np.random.default_rng(1)))
    missed = errors(values)
    enough = 2 * values[:, 1] >= 12
    assert missed[enough, 0].max() < 0.04
    assert missed[enough, 2].max() < 0.08
    assert missed[~enough, 3].max() < 0.04


@pytest.mark.slow
def test_the_table_of_the_page_is_that_of_the_simulation(rows):
    assert table(rows) in accuracy()
    enough = [largest for needed, _, _, _, largest, _ in rows if needed != "fewer"]
    few = [largest for needed, _, _, _, largest, _ in rows if needed == "fewer"]
    mean, median, high, _ = np.max(enough, axis=0)
    label = ForkJoin.approximation
    assert f"mean response within {np.ceil(mean):.0f}% of simulations" in label
    assert f"within {np.ceil(np.max(few, axis=0)[3]):.0f}% of one branch's" in label
    notes = ForkJoin(1.0, 4, 4).time_law(0.5).notes[-1]
    assert f"the 99th within {np.ceil(high):.0f}% of simulations" in notes
    assert f"the median within {np.ceil(median):.0f}%" in notes
    page = " ".join(accuracy().split())
    assert f"the median is within {median:.1f}% and the 99th percentile within {high:.1f}%" in page


@pytest.mark.slow
def test_cases_simulated_after_the_law_was_made_are_within_its_label():
    mean, median, high, _ = 100 * errors(stored(FRESH)).max(axis=0)
    assert (mean < 4, median < 6, high < 8) == (True, True, True)
    page = " ".join(accuracy().split())
    assert f"{len(stored(FRESH))} further cases" in page
    worst = f"{mean:.1f}% in the mean, {median:.1f}% in the median and {high:.1f}% in the 99th"
    assert worst in page


def test_it_is_nearer_than_the_formula_of_nelson_and_tantawi():
    """Theirs for n exponential branches: within 5% of the simulations, this one within 2%."""
    cases = stored()
    rows = cases[(cases[:, 2] == 1) & (cases[:, 1] == cases[:, 0])]
    ratio = np.array([sum(1 / i for i in range(1, int(n) + 1)) for n in rows[:, 0]]) / 1.5
    busy, mean = rows[:, 3], rows[:, 4]
    theirs = (ratio + (1 - ratio) * 4 * busy / 11) * (1.5 - busy / 8) / (1 - busy)
    assert np.abs(theirs / mean - 1).max() < 0.05
    assert errors(rows)[:, 0].max() < 0.02


FORK = """name = "stripe"
[parameters]
arrival_rate = "50 /s"
[stations.disks]
kind = "ForkJoin"
service_time = "10 ms"
branches = 4
needed = 4
"""


def test_the_label_goes_with_every_answer():
    solution = parse_model(FORK).solve()
    for shown in (str(solution), solution.to_json(), solution.to_csv()):
        assert "of simulations" in " ".join(shown.split())
    note = solution.with_percentile(99).approximation
    assert "percentiles of a fork: the 99th" in note


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("needed = 4", "needed = 5"), "needed is 5; it must be branches or fewer"),
        (("needed = 4", "needed = 0"), "needed is 0; it must be a whole number of 1 or more"),
        (("branches = 4", "branches = 4.5"), "branches is 4.5; it must be a whole number"),
        (("branches = 4", "branches = 4\nscv = -1"), "scv is -1; it must be zero or more"),
        (("needed = 4\n", ""), "needed"),
    ],
)
def test_bad_input_is_one_line(change, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("fork.toml").write_text(FORK.replace(*change), "utf-8")
    result = headway("solve", "fork.toml")
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1


def test_percentiles_of_the_first_few_are_refused():
    with pytest.raises(GraphError, match="fewer than half of its branches are needed"):
        response_time_percentile(ForkJoin(1.0, 8, 2), 0.5, 0.99)


def test_percentiles_join_those_of_other_stations():
    graph = ModelGraph("g").station("cpu", MM1(0.1)).station("disks", ForkJoin(0.2, 4, 4))
    solved = graph.route("cpu", "disks").at().solve(arrival_rate=np.array([1.0, 3.0]))
    response_time_p99 = solved.with_percentile(99)["response_time_p99"]
    alone = response_time_percentile(ForkJoin(0.2, 4, 4), np.array([1.0, 3.0]), 0.99)
    assert (response_time_p99 > alone).all()
    assert (
        response_time_p99 < alone + response_time_percentile(MM1(0.1), np.array([1.0, 3.0]), 0.99)
    ).all()
