"""GI/M/m: against whole Markov chains at arrivals, mpmath, M/M/m and an independent simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import GraphError
from headway.models import ModelGraph, catalogue_model, parse_model
from headway.queueing import MM1, Delay, MMm, Parallel
from headway.queueing.erlang.formulas import erlang_c
from headway.queueing.erlang.waiting_room import solve
from headway.queueing.renewals.room import renewal_room
from headway.queueing.renewals.waits import Gaps, renewal_wait
from headway.queueing.variability.lone import GAMMA_ARRIVALS
from tests.campaigns.renewal_errors import (
    LAWS,
    errors,
    found_by_arrivals,
    mean_wait,
    room_errors,
)


def chain_wait(rate: float, servers: int, phases: int, most: int) -> float:
    """Mean wait of jobs after Erlang's times (0 phases: constant), with services of mean 1."""
    found = found_by_arrivals(rate, servers, most, phases)
    return float(found @ np.maximum(np.arange(most + 1) - servers + 1, 0)) / servers


@pytest.mark.parametrize("servers", [1, 2, 4, 7])
@pytest.mark.parametrize("phases", [0, 1, 2, 5])
@pytest.mark.parametrize("busy", [0.3, 0.8])
def test_it_is_the_chain_seen_by_arrivals(servers, phases, busy):
    rate, scv = busy * servers, 0.0 if phases == 0 else 1 / phases
    expected = chain_wait(rate, servers, phases, 180)
    assert float(renewal_wait(rate, 1.0, servers, scv).mean) == pytest.approx(
        expected, rel=1e-7, abs=1e-11
    )


@given(st.floats(0.01, 0.999), st.integers(1, 64), st.floats(0.05, 1.0))
def test_with_poisson_arrivals_it_is_m_m_m_whatever_share_is_chosen(busy, servers, share):
    wait = renewal_wait(busy * servers, 1.0, servers, 1.0, share)
    assert float(wait.chance) == pytest.approx(float(erlang_c(servers, busy * servers)), rel=1e-9)
    assert float(wait.behind) == pytest.approx(1 / (servers * (1 - busy)), rel=1e-8)


@given(st.floats(0.05, 0.98), st.integers(1, 40), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_steadier_arrivals_never_wait_longer(busy, servers, one, other):
    less, more = sorted((one, other))
    waits = renewal_wait(busy * servers, 1.0, servers, np.array([less, more, 1.0])).mean
    assert waits[0] <= waits[1] * (1 + 1e-9) + 1e-15
    assert waits[1] <= waits[2] * (1 + 1e-9) + 1e-15


def test_a_share_of_constant_arrivals_waits_as_mpmath_says():
    import mpmath

    def transform(s):
        whole = mpmath.exp(-s * share / rate)
        return share * whole / (1 - (1 - share) * whole)

    for share, rate, servers in ((0.25, 0.8, 1), (0.5, 1.4, 2), (0.9, 3.0, 4)):
        wait = renewal_wait(rate, 1.0, servers, 0.0, share)
        assert float(wait.mean) == pytest.approx(mean_wait(transform, servers), rel=1e-9)


def test_ends_are_limits():
    waits = renewal_wait([0.0, 1e-9, 1.0, 2.0, np.nan], 1.0, 1, 0.0)
    assert waits.mean[:2] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert np.isinf(waits.mean[2:4]).all()
    assert np.isnan(waits.mean[4])


def simulated_times(rate: float, times: np.ndarray, servers: int, phases: int) -> np.ndarray:
    """Response times at m servers in order of arrival: Kiefer and Wolfowitz's recursion."""
    random = np.random.default_rng(7)
    gaps = random.gamma(phases, 1 / (phases * rate), times.size) if phases else None
    free, now, answers = np.zeros(servers), 0.0, np.empty(times.size)
    for k, time in enumerate(times):
        now += 1 / rate if gaps is None else gaps[k]
        soonest = int(np.argmin(free))
        free[soonest] = max(free[soonest], now) + time
        answers[k] = free[soonest] - now
    return answers[times.size // 10 :]


@pytest.mark.parametrize(("servers", "phases"), [(1, 0), (4, 0), (2, 2)])
def test_percentiles_are_those_of_a_simulation(servers, phases):
    """80,000 jobs: 99th percentiles within 6%, some three standard errors of these loads."""
    rate, scv = 0.8 * servers, 0.0 if phases == 0 else 1 / phases
    times = np.random.default_rng(11).exponential(1.0, 80_000)
    answers = simulated_times(rate, times, servers, phases)
    graph = ModelGraph("one").station("wire", Delay(0.5)).station("cpu", MMm(1.0, servers))
    solution = graph.route("wire", "cpu").arrive("wire", rate, scv=scv).at().solve()
    asked = solution.with_percentiles([50.0, 99.0])
    assert asked.response_time - 0.5 == pytest.approx(answers.mean(), rel=0.06)
    for percent in (50, 99):
        found = asked[f"response_time_p{percent}"] - 0.5
        assert found == pytest.approx(np.quantile(answers, percent / 100), rel=0.06)
    assert (GAMMA_ARRIVALS in asked.approximation) == (phases > 0)
    assert solution.approximation == ("" if phases == 0 else GAMMA_ARRIVALS)


def test_separate_queues_get_a_share_each_however_it_is_written():
    """Separate queues, a share of visits and routes say the same; beyond one visit they return."""
    parallel = ModelGraph("p").station("disk", Parallel(0.3, 4)).arrive("disk", 9.0, scv=0.0)
    visited = ModelGraph("v").station("disk", MM1(0.3), visits=0.25).arrive("disk", 9.0, scv=0.0)
    expected = 0.3 + float(renewal_wait(9.0 / 4, 0.3, 1, 0.0, 0.25).mean)
    assert parallel.at().solve().response_time == pytest.approx(expected, rel=1e-12)
    assert visited.at().solve()["disk.response_time"] == pytest.approx(expected, rel=1e-12)
    twice = ModelGraph("t").station("disk", MM1(0.05), visits=2.0).arrive("disk", 8.0, scv=0.0)
    stay = 0.1 + float(renewal_wait(8.0, 0.1, 1, 0.0).mean)
    assert twice.at().solve().response_time == pytest.approx(stay, rel=1e-12)
    back = ModelGraph("b").station("disk", MM1(0.05)).route("disk", "disk", 0.5)
    returning = back.arrive("disk", 8.0, scv=0.0).at().solve()
    assert returning.response_time == pytest.approx(stay, rel=1e-12)


@pytest.mark.parametrize(("name", "within"), [*zip(LAWS, (5, 32), strict=True)])
def test_the_label_says_what_other_laws_miss(name, within):
    worst = 100 * max(map(abs, errors(LAWS[name])))
    assert worst < within < worst + 1.5
    assert f"within {within}%" in GAMMA_ARRIVALS


@pytest.mark.parametrize(
    ("queue", "rate", "time"),
    [(0, 1e-9, 1e-9), (1, 0.05, 0.03), (2, 0.005, 0.005), (3, 0.001, 0.001), (10, 1e-7, 1e-7)],
)
@pytest.mark.parametrize("phases", [0, 1, 2])
def test_a_full_room_is_the_chain_seen_by_arrivals(queue, rate, time, phases):
    """Within what the label says; with Poisson arrivals exactly."""
    worst = room_errors(queue, phases)
    most = (1e-9, 1e-9) if phases == 1 else (rate, time)
    assert worst[0] <= most[0]
    assert worst[1] <= most[1]


@given(
    st.integers(1, 60), st.integers(0, 3000), st.floats(1e-4, 1e4), st.sampled_from([0.0, 0.3, 3.0])
)
def test_losses_and_waits_are_possible_at_any_load(servers, queue, busy, scv):
    room = renewal_room(servers, servers + queue, busy * servers, scv)
    assert 0 <= room.loss <= 1
    assert 0 <= room.wait <= (queue + 1) / servers * (1 + 1e-6)
    assert room.admitted * busy <= 1 + 1e-9


@given(st.integers(1, 60), st.integers(0, 3000), st.floats(1e-6, 100))
def test_with_poisson_arrivals_a_room_is_m_m_m_k(servers, queue, busy):
    room = renewal_room(servers, servers + queue, busy * servers, 1.0)
    expected = solve(servers, servers + queue, busy * servers)
    assert room.admitted == pytest.approx(expected.admitted, rel=1e-6)
    assert room.wait == pytest.approx(expected.wait, rel=1e-6, abs=1e-12)


def test_a_model_whose_room_gets_regular_arrivals_loses_less():
    """The catalogue's pool with room: fewer wait and fewer are lost, and closed it is as before."""
    pool = catalogue_model("server-pool-room").at(queue=5)
    regular, poisson = pool.arriving(0.0), pool.arriving(1.0)
    usual, same = pool.solve(arrival_rate=3900.0), poisson.solve(arrival_rate=3900.0)
    assert same.response_time == pytest.approx(usual.response_time, rel=1e-9)
    steady = regular.solve(arrival_rate=3900.0)
    assert steady["loss_probability"] < 0.6 * usual["loss_probability"]
    assert steady.response_time < usual.response_time
    assert "GI/M/m/K" in steady.approximation
    again = parse_model(regular.to_toml())
    assert again.solve(arrival_rate=3900.0).response_time == steady.response_time
    with pytest.raises(GraphError, match="no formula for arrivals with an scv at BatchK"):
        catalogue_model("server-batch-room").arriving(0.0)


def test_an_open_model_that_says_how_requests_arrive_can_be_closed_and_written():
    single = catalogue_model("server-single")
    regular = single.arriving(0.0)
    assert regular.solve(arrival_rate=900.0).response_time < 7e-3
    written = parse_model(regular.to_toml())
    assert written.parameters["arrival_scv"].value == 0
    assert written.at(arrival_scv=1).solve(arrival_rate=900.0).response_time == pytest.approx(
        single.solve(arrival_rate=900.0).response_time, rel=1e-9
    )
    closed = regular.closed(4).solve()
    assert closed.throughput == pytest.approx(single.closed(4).solve().throughput, rel=1e-12)


@pytest.mark.parametrize("scv", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("whole", [1.0001, 1.7, 40.0, 1e4])
def test_the_few_that_are_chosen_arrive_at_random(scv, whole):
    """Renyi: a share near 0 of any renewal process is Poisson, of which the root is 1 - a/m."""
    share = np.array([1e-9])
    root = Gaps(np.array([scv]), share).root(whole * share)
    assert root == pytest.approx(1 - 1 / whole, rel=1e-4)
