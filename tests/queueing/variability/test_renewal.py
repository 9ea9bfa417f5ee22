"""GI/M/m: against whole Markov chains at arrivals, mpmath, M/M/m and an independent simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from headway.models import ModelGraph
from headway.queueing import MM1, Delay, MMm, Parallel
from headway.queueing.erlang.formulas import erlang_c
from headway.queueing.renewals.waits import renewal_wait
from headway.queueing.variability.lone import GAMMA_ARRIVALS
from tests.campaigns.renewal_errors import LAWS, errors, mean_wait


def chain_wait(rate: float, servers: int, phases: int, most: int) -> float:
    """Mean wait of jobs that arrive after Erlang's times (0 phases: constant), services of mean 1.

    The embedded chain just before arrivals, with room for `most`: a pure death process in between.
    """
    deaths = np.diag([-float(min(n, servers)) for n in range(most + 1)])
    deaths += np.diag([float(min(n, servers)) for n in range(1, most + 1)], -1)
    if phases == 0:
        between = expm(deaths / rate)
    else:  # the resolvent of an exponential time, once for each phase
        pace = rate * phases
        once = np.linalg.inv(np.eye(most + 1) - deaths / pace)
        between = np.linalg.matrix_power(once, phases)
    moves = between[np.minimum(np.arange(most + 1) + 1, most)]
    system = np.vstack([moves.T - np.eye(most + 1), np.ones(most + 1)])
    found = np.linalg.lstsq(system, np.append(np.zeros(most + 1), 1.0), rcond=None)[0]
    ahead = np.maximum(np.arange(most + 1) - servers + 1, 0) / servers
    return float(found @ ahead)


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
