"""A form with a parameter that the data say nothing of is not chosen before one that they tell."""

from types import SimpleNamespace

import numpy as np
import pytest

from headway.models import Measurements, catalogue_model, fit_model
from headway.models.inference.certainty.identify import out_of_reach
from headway.models.inference.server import choose_form, chosen_first
from headway.models.reading.hints import Hints
from tests.support.cases import mostly_slow

RATES = np.linspace(20, 300, 12)


def curve(times, source="curve.csv"):
    rows = (f"{x!r},{x!r},{r!r}" for x, r in zip(RATES.tolist(), times.tolist(), strict=True))
    titles = "offered_rate_ops_s,throughput_ops_s,response_s\n"
    return Measurements.parse(titles + "\n".join(rows) + "\n", source)


def flat(seed=0):
    """7.5 ms at any load, with errors of 1%: no load shows a server."""
    return curve(7.5e-3 * np.exp(0.01 * np.random.default_rng(seed).standard_normal(12)))


def fake(aicc, faults=(), left_out=0.1, free=2):
    return SimpleNamespace(
        aicc=aicc, free=("a",) * free, leave_one_out_rms=left_out, out_of_reach=faults
    )


@pytest.mark.parametrize(
    ("fits", "order"),
    [
        ([fake(1.0, ("s",)), fake(2.0), fake(9.0)], "bac"),
        ([fake(1.0, ("s",)), fake(2.0, ("r",)), fake(4.9)], "cab"),
        ([fake(1.0), fake(2.0, ("s",))], "ab"),
        ([fake(1.0, ("s",)), fake(5.1), fake(9.0)], "abc"),  # none else is supported
        ([fake(1.0, ("s",)), fake(2.0, ("s",))], "ab"),
        ([fake(1.0), fake(2.0, ("s",), left_out=0.01)], "ab"),  # which predicts better
        ([fake(1.0, ("s",)), fake(2.0), fake(3.0, left_out=0.01)], "cab"),
    ],
)
def test_the_choice_is_among_supported_forms_whose_parameters_are_within_reach(fits, order):
    """Supported is an AICc within 4 of the least; the others follow by AICc."""
    found = chosen_first(list(zip("abc", fits, strict=False)))
    assert "".join(form for form, _ in found) == order


@pytest.mark.parametrize(
    ("values", "errors", "names"),
    [
        ((7e-3, 8e-6), (np.inf, np.inf), ("service_time",)),
        ((7e-3, 3.2e-5), (1e-4, 1e-4), ("service_time",)),
        ((7e-3, 3.5e-5), (1e-4, 1e-4), ()),
        ((7e-3, 8e-6), (1e-4, 1e-6), ()),  # small, but determined
        ((4.9, 8e-3), (9.9, 9.9), ()),
        ((5.2, 8e-3), (9.9, 9.9), ("delay",)),
    ],
)
def test_out_of_reach_is_what_is_not_determined_and_a_hundred_times_beyond_the_data(
    values, errors, names
):
    """Times span 3.3 ms, the shortest between jobs (300/s), to 50 ms, the longest (20/s)."""
    room = catalogue_model("server-room").at(room=1, delay="7 ms", service_time="1 ms")
    fit = fit_model(room, flat(), ["delay", "service_time"])
    known = SimpleNamespace(standard_errors=np.array(errors))
    assert out_of_reach(fit.problem, np.array(values), [False, False], known) == names
    stopped = out_of_reach(fit.problem, np.array(values), [True, False], known)
    assert ("delay" in stopped) == (errors[0] > values[0] / 2)


def test_what_a_rising_curve_determines_is_within_reach():
    times = 2e-3 + 3e-3 / (1 - RATES * 3e-3)
    fit = choose_form(curve(times * np.exp(0.01 * np.random.default_rng(1).standard_normal(12))))
    assert fit.best.out_of_reach == ()
    assert fit.passed_over == ()


@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_slow(range(3), 1))
def test_a_flat_curve_gets_no_server_of_nothing_where_another_form_fits(seed):
    """Whatever the noise chooses: it is within reach, or no supported form is."""
    fit = choose_form(Hints(arrivals="constant").of(flat(seed)), forms=["server-single", "server"])
    least = min(one.aicc for _, one in fit.candidates)
    supported = [one for _, one in fit.candidates if one.aicc <= least + 4]
    assert not fit.best.out_of_reach or all(one.out_of_reach for one in supported)
    shown = " ".join(str(fit).split())
    for form, one in fit.passed_over:
        assert f"not chosen: {form.name}; the data do not determine {one.out_of_reach[0]}" in shown
