"""Erlang's formulas against 50-digit arithmetic, and their laws."""

import warnings

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import InvalidParameter
from headway.queueing import erlang_b, erlang_c
from tests.support.cases import mostly_slow

# The acceptance: a dozen roundings of exponents up to 700 stay below it.
RELATIVE = 1e-12
SMALLEST = mpmath.mpf("1e-300")  # doubles thin out below 2.2e-308

SERVERS = [1, 2, 3, 24, 100, 128, 129, 130, 257, 1000, 10**4, 10**5, 10**6]
UTILISATIONS = [1e-12, 1e-6, 0.01, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1 - 1e-6, 1 - 1e-9]
OVERLOADS = [1.0, 1 + 1e-9, 1.001, 1.1, 2.0, 1e3, 1e9]


def exact_blocking(servers, load):
    """1/B = sum over j of m (m-1) ... (m-j+1) / a**j, cut where terms no longer count."""
    load, term, total = mpmath.mpf(load), mpmath.mpf(1), mpmath.mpf(1)
    for j in range(servers):
        term *= (servers - j) / load
        total += term
        if total > 1 / SMALLEST or (servers - j < load and term < total * mpmath.mpf(10) ** -30):
            break
    return 1 / total


def exact_waiting(servers, load):
    blocking = exact_blocking(servers, load)
    return servers * blocking / (servers - mpmath.mpf(load) * (1 - blocking))


def assert_close(value, exact):
    if exact < SMALLEST * 10**7:
        assert value < 1e-290
    else:
        assert abs(value / exact - 1) < RELATIVE


@pytest.fixture(autouse=True)
def fifty_digits():
    with mpmath.workdps(50):
        yield


@pytest.mark.parametrize("servers", mostly_slow(SERVERS, 11))
def test_blocking_to_1e_12(servers):
    for utilisation in UTILISATIONS + OVERLOADS:
        load = servers * utilisation
        assert_close(erlang_b(servers, load), exact_blocking(servers, load))


@pytest.mark.parametrize("servers", mostly_slow(SERVERS, 11))
def test_waiting_to_1e_12(servers):
    for utilisation in UTILISATIONS:
        load = servers * utilisation
        assert_close(erlang_c(servers, load), exact_waiting(servers, load))


@given(st.integers(1, 3000), st.floats(1e-3, 3.0))
@settings(max_examples=60, deadline=None)
def test_blocking_anywhere(servers, utilisation):
    load = servers * utilisation

    assert_close(erlang_b(servers, load), exact_blocking(servers, load))


@pytest.mark.parametrize("law", [erlang_b, erlang_c])
def test_arrays_are_the_scalars(law):
    servers = np.array([[1], [7], [128], [129], [5000], [10**6]])
    loads = servers * np.array([0.0, 1e-12, 0.5, 0.97, 1.0, 3.0])

    table = law(servers, loads)

    one_by_one = [
        [law(int(m), float(a)) for a in row] for m, row in zip(servers[:, 0], loads, strict=True)
    ]
    # The order of a vector's operations may differ from a scalar's.
    np.testing.assert_allclose(table, one_by_one, rtol=1e-12)


@pytest.mark.parametrize("servers", [3, 24, 400])
def test_blocks_of_a_long_array_join(servers):
    loads = np.linspace(0, 2 * servers, 40_001)

    table = erlang_c(servers, loads)

    assert table[::4000] == pytest.approx(erlang_c(servers, loads[::4000]), rel=1e-12)
    # Monotone up to the rounding of neighbouring values.
    assert (np.diff(table) >= -1e-12).all()


def test_no_load_and_overload():
    assert erlang_b(5, 0.0) == 0
    assert erlang_c(5, 0.0) == 0
    assert erlang_c(5, 7.0) == 1
    assert erlang_c(np.array([2, 500]), 700.0).tolist() == [1.0, 1.0]


def test_no_warning_at_the_ends():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert erlang_c(1000, 1e-300) == 0
        assert erlang_b(10**6, 1e9) == pytest.approx(0.999, abs=1e-5)


@pytest.mark.parametrize("servers", [0, -1, 2.5, np.nan])
def test_servers_must_be_a_count(servers):
    with pytest.raises(InvalidParameter, match="servers is .* whole number"):
        erlang_b(servers, 1.0)
