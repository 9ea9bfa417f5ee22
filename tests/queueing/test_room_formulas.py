"""Closed forms of finite rooms: short, with derivatives, and equal to the numbers."""

import mpmath
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import InvalidParameter
from headway.models.reports.panel import javascript
from headway.models.solving.symbolic import numeric, symbol
from headway.models.structure.graph import ModelGraph
from headway.queueing import MM1K, MMmK
from headway.queueing.erlang.symbols import (
    RoomAdmitted,
    RoomEmpty,
    RoomLoss,
    RoomWaiting,
    written_out,
)

LAWS = {
    "loss_probability": lambda p, _m, _a: p[-1],
    "admitted": lambda p, _m, _a: sum(p[:-1]),
    "empty_probability": lambda p, _m, _a: p[0],
    "waiting_time": lambda p, m, a: (
        sum((n - m) * chance for n, chance in enumerate(p) if n > m) / a / sum(p[:-1])
    ),
}


def chances(servers, places, load):
    """States of M/M/m/K in the arithmetic of the load's own kind."""
    weights = [load * 0 + 1]
    for n in range(1, places + 1):
        weights.append(weights[-1] * load / min(n, servers))
    return [weight / sum(weights) for weight in weights]


@settings(max_examples=15, derandomize=True, deadline=None)
@given(st.integers(1, 6), st.integers(0, 30), st.floats(0.05, 12), st.sampled_from(sorted(LAWS)))
def test_formulas_and_their_slopes_against_fifty_digits(servers, more, load, law):
    a, places = symbol("a"), servers + more
    form = getattr(MMmK(1.0, servers, places), law)(a)

    with mpmath.workdps(50):

        def exact(value):
            return LAWS[law](
                chances(servers, places, mpmath.mpf(value)), servers, mpmath.mpf(value)
            )

        expected, slope = float(exact(load)), float(mpmath.diff(exact, load))

    # Tolerance: sums of positive terms; slopes are differences of such, of the size of 1/a.
    assert float(form.subs(a, load)) == pytest.approx(expected, rel=1e-12)
    assert numeric(form, [a])(load) == pytest.approx(expected, rel=1e-11)
    assert numeric(form.diff(a), [a])(load) == pytest.approx(slope, rel=1e-8, abs=1e-12 / load)
    assert float(form.diff(a).subs(a, load)) == pytest.approx(slope, rel=1e-8, abs=1e-12 / load)


@pytest.mark.parametrize("function", [RoomLoss, RoomAdmitted, RoomEmpty])
def test_second_derivatives_are_those_of_the_sum(function):
    a = symbol("a")
    form = function(2, 5, a)

    twice = form.diff(a, 2).subs(a, sympy.Rational(7, 3)).doit()

    assert sympy.nsimplify(twice - form.doit().diff(a, 2).subs(a, sympy.Rational(7, 3))) == 0
    assert RoomWaiting(1, 2, 2, a).doit() == 0
    with pytest.raises(sympy.core.function.ArgumentIndexError):
        form.fdiff(2)


def test_a_large_room_has_a_short_formula():
    graph = ModelGraph("r").declare("s").station("a", MM1K("s", 200))

    form = graph.closed_form("response_time")

    assert len(str(form)) < 200
    assert "room_waiting(1, 1, 200, arrival_rate*s)" in str(form)
    rate, s = symbol("arrival_rate"), symbol("s")
    at = graph.at(s=0.9).solve(arrival_rate=1.0).response_time
    assert numeric(form, [rate, s])(1.0, 0.9) == pytest.approx(at, rel=1e-12)


def test_rooms_one_after_the_other_stay_short():
    graph = ModelGraph("t").declare("s")
    for k in range(5):
        graph = graph.station(f"a{k}", MM1K("s", 20))
        graph = graph.route(f"a{k - 1}", f"a{k}") if k else graph
    model = graph.at(s=0.9, arrival_rate=1.0)

    slope = next(e for e in model.sensitivity().rows() if e["parameter"] == "s")

    assert slope
    solved = model.solve()
    inputs = [symbol("arrival_rate"), symbol("s")]
    form = graph.closed_form("response_time")
    assert numeric(form, inputs)(1.0, 0.9) == pytest.approx(solved.response_time, rel=1e-12)


def test_small_rooms_are_written_out():
    u = symbol("u")

    form = MM1K(1.0, 2).loss_probability(u)

    assert sympy.simplify(form - u**2 / (1 + u + u**2)) == 0


def test_scripts_have_the_sums():
    a = symbol("a")

    script = javascript([RoomLoss(1, 9, a)], [a])

    assert "Room" not in script
    assert written_out(RoomLoss(1, 9, a)) == RoomLoss(1, 9, a).doit()


def test_places_that_are_symbols_are_refused():
    with pytest.raises(InvalidParameter, match="must be numbers in a formula"):
        MM1K(1.0, symbol("K")).loss_probability(symbol("a"))
    with pytest.raises(InvalidParameter, match="must be numbers in a formula"):
        MMmK(1.0, symbol("m"), 4).loss_probability(1.0)
