import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import InvalidParameter
from headway.queueing import MM1, Delay, MMm, erlang_b, erlang_c

service_times = st.floats(1e-6, 10.0)
utilisations = st.floats(0.0, 0.999)
server_counts = st.integers(1, 60)


@given(service_times, utilisations)
def test_mmm_with_one_server_is_mm1(service_time, utilisation):
    rate = utilisation / service_time

    one = MM1(service_time).response_time(rate)

    # Tolerance: 1 - U loses up to three digits at U = 0.999.
    assert MMm(service_time, 1).response_time(rate) == pytest.approx(one, rel=1e-12)


@given(service_times, utilisations, server_counts)
def test_little_and_response_bounds(service_time, utilisation, servers):
    station = MMm(service_time, servers)
    rate = utilisation * servers / service_time

    response = station.response_time(rate)

    assert station.queue_length(rate) == pytest.approx(rate * response, rel=1e-12)
    assert service_time <= response
    assert response <= MM1(service_time).response_time(utilisation / service_time) * (1 + 1e-12)


@given(st.integers(1, 12), st.floats(1e-3, 0.99))
def test_symbolic_erlang_equals_numeric(servers, share):
    load = sympy.Symbol("a", positive=True)
    value = sympy.Rational(share) * servers

    for law in (erlang_b, erlang_c):
        exact = float(law(servers, load).subs(load, value).evalf(30))
        assert law(servers, float(value)) == pytest.approx(exact, rel=1e-12)


def test_derivative_with_symbolic_servers_is_that_of_the_finite_sum():
    rate, time, servers = sympy.symbols("rate time servers", positive=True)
    point = {rate: sympy.Rational(1), time: sympy.Rational(2)}

    general = MMm(time, servers).response_time(rate).diff(time).subs({servers: 3} | point)
    finite = MMm(time, 3).response_time(rate).diff(time).subs(point)

    assert sympy.simplify(general.doit() - finite) == 0


@pytest.mark.parametrize("station", [MM1(0.5), MMm(0.5, 4)])
def test_saturation_is_infinite_waiting_scalar_and_array(station):
    rates = np.array([0.5, 1.0, 1.5]) * station.capacity

    response = station.response_time(rates)

    assert np.isfinite(response).tolist() == [True, False, False]
    assert station.response_time(float(rates[1])) == np.inf


def test_delay_never_queues():
    rates = np.array([0.0, 1.0, 1e9])

    assert Delay(2.0).response_time(rates).tolist() == [2.0, 2.0, 2.0]
    assert Delay(2.0).queue_length(3.0) == 6.0


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, np.array([1.0, -1e-9])])
@pytest.mark.parametrize("kind", [Delay, MM1, lambda time: MMm(time, 2)])
def test_service_time_must_not_be_negative(kind, bad):
    with pytest.raises(InvalidParameter, match="service_time is .* zero or more and finite"):
        kind(bad)


@pytest.mark.parametrize("bad", [0, -3, 2.5, np.inf])
def test_servers_must_be_a_count(bad):
    with pytest.raises(InvalidParameter, match="servers is .* whole number"):
        MMm(1.0, bad)


def test_text_is_not_calculated_with():
    with pytest.raises(InvalidParameter, match="put it in a ModelGraph"):
        MM1("cpu_time").response_time(1.0)
