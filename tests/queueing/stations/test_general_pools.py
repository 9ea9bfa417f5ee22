"""Several servers whose times vary: exact where that is known, near a simulation elsewhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import poisson
from sympy import Symbol

from headway.models import catalogue_model
from headway.numerals import significant
from headway.queueing import MD1, MG1, GGm, MGm, MMm
from tests.campaigns.general_pools import stored, summary_rows, table
from tests.support.pages import accuracy

loads = st.floats(0.01, 0.99)


@given(loads, st.integers(1, 50), st.floats(0, 9))
def test_it_meets_its_special_cases(busy, servers, scv):
    assert MGm(0.5, servers, 1.0).response_time(2 * servers * busy) == pytest.approx(
        MMm(0.5, servers).response_time(2 * servers * busy), rel=1e-12
    )
    assert MGm(0.5, 1, scv).response_time(2 * busy) == pytest.approx(
        MG1(0.5, scv).response_time(2 * busy), rel=1e-12
    )
    assert MGm(0.5, 1, 0.0).waiting_time(0.0) == MD1(0.5).waiting_time(0.0) == 0


@given(loads, st.integers(2, 50), st.floats(0, 9), st.floats(0.01, 1))
def test_what_varies_more_waits_longer(busy, servers, scv, more):
    rate = servers * busy
    wait = MGm(1.0, servers, scv).waiting_time(rate)
    assert wait <= MGm(1.0, servers, scv + more).waiting_time(rate)


def constant_wait(servers, busy):
    """Exact for constant times: who is there after one service time came in it, or still waits."""
    rate, most = servers * busy, 40 + 40 * servers
    waits = np.maximum(np.arange(most) - servers, 0)
    moves = poisson.pmf(np.arange(most) - waits[:, None], rate)
    moves[:, -1] += 1 - moves.sum(axis=1)
    balance = np.vstack([moves.T - np.eye(most), np.ones(most)])
    chances = np.linalg.lstsq(balance, np.eye(most + 1)[-1], rcond=None)[0]
    return float(chances @ np.arange(most)) / rate - 1


@pytest.mark.parametrize("servers", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("busy", [0.5, 0.7, 0.9])
def test_constant_times_are_near_their_whole_chain(servers, busy):
    """Within 3% of the wait, but 0.2% of the response time where hardly anybody waits."""
    exact = constant_wait(servers, busy)
    wait = MGm(1.0, servers, 0.0).waiting_time(servers * busy)
    assert wait == pytest.approx(exact, rel=0.03, abs=2e-3)


@pytest.mark.parametrize("rate", [1.0, 2000.0, 3900.0])
def test_its_closed_form_gives_its_numbers(rate):
    station, symbol = MGm(1e-3, 4, 0.3), Symbol("arrival_rate")
    value = float(station.response_time(symbol).subs(symbol, rate))
    assert value == pytest.approx(station.response_time(rate), rel=1e-12)


def test_the_table_of_the_page_is_that_of_the_simulation():
    rows = summary_rows(stored())
    assert table(rows) in accuracy()
    largest = {(law, what): row[1] for law, what, *row in rows}
    for law, kind in (("MGm", MGm), ("GGm", GGm)):
        assert f"within {significant(largest[law, 'response time'], 2)}%" in kind.approximation


def test_the_label_goes_with_every_answer():
    solution = catalogue_model("server-general-pool").solve()
    for shown in (str(solution), solution.to_json(), solution.to_csv()):
        assert "simulations" in " ".join(shown.split())
