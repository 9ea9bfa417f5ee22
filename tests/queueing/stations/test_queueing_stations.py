"""Stations: special cases meet, stable formulas against 50 digits, symbols equal numbers."""

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headway.errors import InvalidParameter
from headway.queueing import (
    MD1,
    MG1,
    MM1,
    MM1K,
    FiniteSource,
    GGm,
    LoadDependent,
    MMm,
    MMmK,
    Parallel,
    PriorityMG1,
    erlang_b,
)

# Sums of a few hundred positive terms, each good to some 1e-15.
SUMMED = 1e-12

loads = st.floats(0.0, 0.99)


def exact_finite(servers, places, load):
    """M/M/m/K by its states, in 50 digits: loss, mean waiting number, chance of none."""
    weights = [mpmath.mpf(1)]
    for n in range(1, places + 1):
        weights.append(weights[-1] * mpmath.mpf(load) / min(n, servers))
    total = mpmath.fsum(weights)
    waiting = mpmath.fsum((n - servers) * w for n, w in enumerate(weights) if n > servers)
    return weights[-1] / total, waiting / total, weights[0] / total


@pytest.mark.parametrize(
    ("servers", "places"),
    [(1, 1), (1, 2), (1, 50), (1, 10_000), (2, 2), (3, 4), (200, 200), (200, 260), (200, 2000)],
)
@pytest.mark.parametrize(
    "utilisation",
    [1e-9, 0.2, 0.9, 1 - 1e-7, 1 - 1e-12, 1.0, 1 + 1e-12, 1 + 1e-7, 1.01, 1.5, 40.0],
)
def test_finite_room_against_fifty_digits(servers, places, utilisation):
    station, load = MMmK(1.0, servers, places), servers * utilisation
    with mpmath.workdps(50):
        loss, waiting, empty = exact_finite(servers, places, load)
        laws = station.loss_probability, station.waiting_time, station.empty_probability
        values = [law(load) for law in laws]
        exact = loss, waiting / (load * (1 - loss)), empty
        for value, right in zip(values, exact, strict=True):
            if right > 1e-290:
                assert abs(value / right - 1) < SUMMED
            else:
                assert value < 1e-280


def test_one_server_with_room_at_utilisation_one():
    assert MM1K(1.0, 9).loss_probability(1.0) == pytest.approx(0.1, rel=1e-12)
    assert MM1K(1.0, 9).queue_length(1.0) == pytest.approx(4.5, rel=1e-12)
    assert MM1K(1.0, 10_000).queue_length(1.5) == pytest.approx(10_000 - 2, rel=1e-12)


@given(st.integers(1, 40), st.integers(0, 40), st.floats(0.0, 100.0))
@example(2, 0, 5e-324)
def test_finite_room_obeys_flow_and_little(servers, waiting_places, load):
    station = MMmK(0.5, servers, servers + waiting_places)
    rate = load / 0.5

    # Tolerance: products of rounded factors.
    assert station.throughput(rate) == pytest.approx(
        rate * (1 - station.loss_probability(rate)), rel=1e-12, abs=1e-12
    )
    assert station.queue_length(rate) <= station.places * (1 + 1e-12)
    assert station.utilisation(rate) <= 1 + 1e-12


def test_no_waiting_places_is_erlang_b():
    load = np.array([0.0, 3.0, 30.0, 3000.0])

    assert MMmK(1.0, 20, 20).loss_probability(load) == pytest.approx(erlang_b(20, load), rel=1e-12)


def test_much_room_is_mmm():
    assert MMmK(1.0, 4, 2000).response_time(3.0) == pytest.approx(
        MMm(1.0, 4).response_time(3.0), rel=1e-12
    )


def test_fewer_places_than_servers_is_refused():
    with pytest.raises(InvalidParameter, match="places is 3; it must be at least servers, 4"):
        MMmK(1.0, 4, 3)


@given(st.integers(1, 6), st.integers(0, 5), st.floats(0.01, 5.0))
@settings(max_examples=25, deadline=None)
def test_symbolic_finite_room_equals_numeric(servers, more, load):
    rate = sympy.Symbol("rate", positive=True)
    station = MMmK(1.0, servers, servers + more)

    for law in ("loss_probability", "response_time", "empty_probability"):
        formula = getattr(station, law)(rate)
        assert getattr(station, law)(load) == pytest.approx(
            float(formula.subs(rate, load)), rel=1e-11, abs=1e-12
        )


@given(loads, st.integers(1, 30))
def test_load_dependent_of_pooled_servers_is_mmm(utilisation, servers):
    pool = LoadDependent([2.0 * n for n in range(1, servers + 1)])
    rate = utilisation * servers * 2.0

    for law in ("response_time", "queue_length", "utilisation", "empty_probability"):
        assert getattr(pool, law)(rate) == pytest.approx(
            getattr(MMm(0.5, servers), law)(rate), rel=SUMMED
        )


def test_load_dependent_saturates_and_takes_symbols():
    station = LoadDependent([1.0, 1.5])
    rate = sympy.Symbol("rate", positive=True)

    assert station.response_time(np.array([0.0, 1.5, 2.0])).tolist() == [1.0, np.inf, np.inf]
    assert float(station.response_time(rate).subs(rate, 1)) == pytest.approx(
        station.response_time(1.0), rel=1e-12
    )


@given(st.floats(0.01, 5.0), st.integers(1, 12), st.integers(1, 20))
def test_finite_source_laws(rate, servers, sources):
    station = FiniteSource(0.5, servers, sources)

    throughput, response = station.throughput(rate), station.response_time(rate)

    # N = X (Z + R): Little's law for the whole circle.
    assert throughput * (1 / rate + response) == pytest.approx(sources, rel=SUMMED)
    assert station.utilisation(rate) <= 1 + SUMMED
    if servers >= sources:
        assert response == pytest.approx(0.5, rel=SUMMED)


def test_finite_source_symbolic_and_large():
    rate = sympy.Symbol("rate", positive=True)
    station = FiniteSource(0.5, 2, 5)

    assert float(station.throughput(rate).subs(rate, 1.5)) == pytest.approx(
        station.throughput(1.5), rel=1e-12
    )
    # With 3000 sources the server never rests: X = m / S.
    assert FiniteSource(0.5, 2, 3000).throughput(1.5) == pytest.approx(4.0, rel=1e-12)


@given(loads)
def test_general_service_meets_its_special_cases(utilisation):
    rate = utilisation / 0.5

    assert MG1(0.5, 1.0).response_time(rate) == pytest.approx(MM1(0.5).response_time(rate))
    assert MG1(0.5, 0.0).response_time(rate) == MD1(0.5).response_time(rate)
    assert GGm(0.5, 3, 1.0, 1.0).response_time(3 * rate) == pytest.approx(
        MMm(0.5, 3).response_time(3 * rate), rel=1e-12
    )
    assert GGm(0.5, 1, 1.0, 0.3).response_time(rate) == pytest.approx(
        MG1(0.5, 0.3).response_time(rate), rel=1e-12
    )


def test_approximations_say_so():
    assert "Allen-Cunneen" in GGm(0.5, 1, 1.0, 0.3).approximation
    assert not MG1(0.5, 0.3).approximation


def test_empty_probabilities():
    assert MG1(0.5, 7.0).empty_probability(1.0) == 0.5
    assert MM1(0.5).empty_probability(np.array([1.0, 3.0])).tolist() == [0.5, 0.0]
    assert Parallel(0.5, 2).empty_probability(2.0) == 0.25
    assert MMm(0.5, 1).empty_probability(1.0) == pytest.approx(0.5, rel=1e-12)
    # M/M/inf in effect: exp(-a).
    assert MMm(1.0, 400).empty_probability(2.0) == pytest.approx(np.exp(-2.0), rel=1e-12)


@given(loads, st.integers(1, 9))
def test_separate_queues_are_slower_than_a_pool(utilisation, servers):
    rate = utilisation * servers / 0.5

    assert Parallel(0.5, servers).response_time(rate) >= MMm(0.5, servers).response_time(rate) * (
        1 - 1e-12
    )


@given(st.lists(st.floats(0.01, 0.3), min_size=1, max_size=3), st.floats(0.0, 4.0))
def test_priorities_conserve_work(shares, scv):
    times = [0.1 * (n + 1) for n in range(len(shares))]
    rates = [share / time for share, time in zip(shares, times, strict=True)]
    station = PriorityMG1(times, [scv] * len(times))

    waits = station.waiting_times(rates)

    # Kleinrock's conservation law: sum of U_c W_c = U W_0 / (1 - U), as first come first served.
    residual = sum(r * t * t * (1 + scv) / 2 for r, t in zip(rates, times, strict=True))
    total = sum(shares)
    conserved = sum(u * w for u, w in zip(station.utilisations(rates), waits, strict=True))
    assert conserved == pytest.approx(total * residual / (1 - total), rel=1e-12)
    assert list(waits) == sorted(waits)


def test_low_priority_saturates_alone():
    urgent, other = PriorityMG1((0.5, 0.5), (1.0, 1.0)).waiting_times((1.0, 5.0))

    # The server is never idle: whoever is urgent finds a service going on, mean rest 0.5.
    assert urgent == pytest.approx(1.0)
    assert other == np.inf


def test_one_class_is_mg1():
    (wait,) = PriorityMG1((0.5,), (3.0,)).waiting_times((1.0,))

    assert wait == MG1(0.5, 3.0).waiting_time(1.0)


def test_a_closed_form_holds_where_nobody_comes():
    rate = sympy.Symbol("r", positive=True)

    assert LoadDependent((rate, 2 * rate)).response_time(0 * rate) == 1 / rate
