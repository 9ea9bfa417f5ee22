"""Closed networks whose numbers depend on their throughput: the smallest that agrees, fast."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from headway.errors import GraphError, InvalidParameter
from headway.models import ModelGraph, catalogue_model
from headway.models.solving.closed import consistent
from headway.models.solving.closed.circulation import Circulation
from headway.queueing import MM1, Delay, LoadDependent, Method, MMm, Parallel, solve_closed


@pytest.fixture
def solved(monkeypatch):
    """Points of every solution of a network."""
    sizes, solve = [], Circulation.solve

    def counted(self, rate):
        sizes.append(np.size(rate))
        return solve(self, rate)

    monkeypatch.setattr(Circulation, "solve", counted)
    return sizes


def by_hand(jobs, cpu_time):
    """nfs-server closed, solved by a bracketing search of its own."""

    def excess(rate):
        miss = 1 - min(1, 512e6 / (rate * 1e6))
        stations = [Delay(3.4e-3), MM1(cpu_time), MMm(12e-3, 28)]
        return solve_closed(stations, [1, 1, miss], jobs).throughput - rate

    return brentq(excess, 1e-3, 1e5, xtol=1e-12, rtol=1e-14)


def test_a_sweep_agrees_with_a_search_point_by_point():
    times = np.linspace(1e-4, 2e-3, 12)
    jobs = np.array([1, 7, 45])[:, None]
    rate = catalogue_model("nfs-server").solve(cpu_time=times, population=jobs).throughput

    wanted = [[by_hand(int(n), float(s)) for s in times] for n in jobs.ravel()]
    # Tolerance: the search stops where rate and answer agree to 1e-12.
    assert rate == pytest.approx(np.array(wanted), rel=1e-11)


def test_few_solutions_a_point(solved):
    times = np.linspace(5e-4, 8e-4, 500)

    catalogue_model("nfs-server").with_preset("raid").solve(cpu_time=times, population=45)

    assert sum(solved) < 8 * times.size
    assert len(solved) < 12


LAWS = (
    "{0}",
    "{0} * (1 + throughput / 50)",
    "{0} / (1 + throughput / 20)",
    "{0} * where(throughput < 9, 1 + throughput / 9, 2 - (throughput - 9) / (throughput + 1))",
)


def network(laws, kinds):
    graph = ModelGraph("network")
    for k, (law, kind) in enumerate(zip(laws, kinds, strict=True)):
        graph = graph.station(f"s{k}", kind(law))
        graph = graph.route(f"s{k - 1}", f"s{k}") if k else graph
    return graph


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(LAWS),
            st.floats(0.002, 0.2),
            st.sampled_from([Delay, MM1, lambda law: MMm(law, 3), lambda law: Parallel(law, 2)]),
        ),
        min_size=1,
        max_size=3,
    ),
    st.lists(st.integers(0, 12), min_size=1, max_size=4),
    st.floats(0, 0.5),
)
def test_bounds_find_what_trying_every_rate_finds(parts, jobs, think):
    graph = network([law.format(time) for law, time, _ in parts], [kind for *_, kind in parts])
    model = graph.at().closed(np.array(jobs), think)
    circulation = Circulation(model.graph, model.inputs, Method.AUTO)

    result = consistent.consistent_throughput(circulation, (len(jobs),))

    flat = circulation.flat((len(jobs),))
    some = np.flatnonzero(np.array(jobs) > 0)
    tried = consistent._by_trying(flat.at(some), some.size) if some.size else np.zeros(0)
    # Tolerance: the search stops at 1e-12, over a slope that the laws keep below 1.
    assert result[some] == pytest.approx(tried, rel=1e-10)
    assert (result[np.array(jobs) == 0] == 0).all()


def test_rates_that_fall_with_company_are_tried_one_by_one(solved):
    graph = ModelGraph("thrash").station("pool", LoadDependent((40.0, 60.0, 30.0)))
    graph = graph.station("cpu", MM1("0.01 * (1 + throughput / 50)")).route("pool", "cpu")
    model = graph.at()

    rate = model.solve(population=6).throughput

    assert sum(solved) > 200
    pool, cpu = LoadDependent((40.0, 60.0, 30.0)), MM1(0.01 * (1 + rate / 50))
    assert solve_closed([pool, cpu], [1, 1], 6).throughput == pytest.approx(rate, rel=1e-9)


def test_the_smallest_of_several_that_agree_is_found():
    # Service gets faster between 25 and 30 a second: throughputs of some 20, 27 and 90 agree.
    faster = "where(throughput < 30, 0.05 - (throughput - 25) * 0.008, 0.01)"
    law = f"where(throughput < 25, 0.05, {faster})"
    model = ModelGraph("batching").station("cpu", MM1(law)).at()

    rate = model.solve(population=9, think_time=0.01).throughput

    alone = solve_closed([MM1(0.05)], [1], 9, 0.01).throughput
    assert alone < 25
    assert rate == pytest.approx(alone, rel=1e-9)
    assert solve_closed([MM1(0.01)], [1], 9, 0.01).throughput > 30


def test_numbers_that_a_model_has_not_at_higher_rates_are_no_hindrance():
    law = "0.02 - 0.0001 * throughput"  # negative from 200 a second on, where bounds would look
    graph = network([law] * 10, [MM1] * 10)

    rate = graph.at().solve(population=10).throughput

    # N of N + K - 1, over the service time, as all ten stations are alike
    assert rate * (0.02 - 0.0001 * rate) == pytest.approx(10 / 19, rel=1e-9)


@pytest.mark.filterwarnings("error")
def test_rates_at_which_nothing_takes_time_are_no_hindrance():
    law = "where(throughput < 5, 0, 0.01 * (throughput - 5))"

    rate = network([law], [MM1]).at().solve(population=2).throughput

    # One station alone is always busy: X S = 1, which is 0.01 X (X - 5) = 1.
    assert rate == pytest.approx((5 + np.sqrt(25 + 400)) / 2, rel=1e-9)


@pytest.mark.filterwarnings("error")
def test_jobs_that_nothing_takes_time_from_are_refused():
    graph = ModelGraph("unvisited").station("s", MM1("0.01 * (1 + throughput)"), visits=0.0)

    with pytest.raises(GraphError, match="jobs would circulate for ever"):
        graph.at().solve(population=8)


@pytest.mark.parametrize("method", ["auto", "schweitzer"])
def test_a_jump_past_every_rate_is_refused(method):
    model = ModelGraph("jump").station("cpu", MM1("where(throughput < 15, 0.01, 0.1)")).at()

    with pytest.raises(InvalidParameter, match="no throughput is consistent"):
        model.solve(population=9, think_time=0.1, method=method)


def test_approximate_methods_try_every_rate_and_agree_with_themselves(solved):
    model = catalogue_model("nfs-server").with_preset("raid")

    rate = model.solve(population=45, method="schweitzer").throughput

    assert len(solved) > 25
    assert model.solve(population=45).throughput == pytest.approx(rate, rel=0.05)
