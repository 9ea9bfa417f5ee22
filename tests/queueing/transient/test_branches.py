"""Courses between two looks: against scipy's integrator, and taken again where they begin alike."""

from unittest.mock import patch

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from headway.models import ModelGraph
from headway.models.over.days import Day
from headway.models.over.over import over_model
from headway.queueing import MMm
from headway.queueing.transient import branches
from headway.queueing.transient.autoscaler import Replicas
from headway.queueing.transient.branches import Branch, Serving
from headway.queueing.transient.careful import Columns
from headway.queueing.transient.forward import Follower
from headway.queueing.transient.scaled import ERROR
from headway.queueing.transient.service import Service

RATE, LENGTH, PLACES = 12.0, 15.0, 40
TWO = Service(0.1, 2, PLACES)


def gains(number):
    """The busy share over its target of 60%, and an excess of response times."""
    found = np.zeros((2, 3, len(number)))
    found[0, 0] = TWO.busy(number) / 0.6 / LENGTH
    found[1, 0] = (TWO.mean_times(number) / 0.5 - 1) / 60
    return found


def serving(error=ERROR):
    """Two replicas at 60% of their capacity."""
    return Serving(TWO, Follower(error=error), lambda _rate: gains, ERROR)


def course(chances, weight=1.0):
    """A course that begins with these probabilities."""
    cells = np.zeros((len(chances), 5, 1))
    cells[:, 0, 0] = chances
    return Branch(Replicas(2), weight, Columns(0, cells), weight)


def integrated(chances):
    """Probabilities and moments of both sums at the end, by another integrator."""
    number = np.arange(PLACES + 1.0)
    served, came = TWO.rates(number), np.full(PLACES + 1, RATE)
    came[-1] = 0.0
    flow = np.diag(came[:-1], -1) + np.diag(served[1:], 1) - np.diag(came + served)
    seen = gains(number)[:, 0]

    def change(_time, state):
        p, *moments = state.reshape(5, -1)
        rows = [flow @ p]
        for f, u, w in zip(seen, moments[::2], moments[1::2], strict=True):
            rows += [flow @ u + f * p, flow @ w + 2 * f * u]
        return np.concatenate(rows)

    start = np.zeros((5, PLACES + 1))
    start[0, : len(chances)] = chances
    solved = solve_ivp(change, (0, LENGTH), start.ravel(), "LSODA", rtol=1e-10, atol=1e-13)
    return solved.y[:, -1].reshape(5, -1).T


@pytest.mark.parametrize(("error", "off"), [(ERROR, ERROR), (1e-8, 1e-6)])
def test_a_course_and_its_sums_are_as_another_integrator_has_them(error, off):
    chances = np.array([0.2, 0.1, 0.0, 0.3, 0.4])
    (gone,) = serving(error).follow([course(chances)], RATE, LENGTH)
    found = gone.end.within(0, PLACES + 1).cells[:, :, 0]
    assert np.abs(found - integrated(chances)).sum(axis=0).max() < off


def test_courses_that_begin_alike_go_on_alike_within_the_error_of_a_step():
    chances, both = np.array([0.2, 0.1, 0.0, 0.3, 0.4]), serving()
    (first,) = both.follow([course(chances)], RATE, LENGTH)
    near = chances + 0.1 * ERROR * np.array([1, -1, 0, 0, 0])
    assert both.follow([course(near)], RATE, LENGTH) == [first]
    assert np.abs(integrated(near) - integrated(chances)).sum(axis=0).max() < ERROR
    far = chances + 5 * ERROR * np.array([0, 0, 0, 1, -1])
    assert both.follow([course(far)], RATE, LENGTH) != [first]
    assert both.follow([course(near)], RATE + 1, LENGTH) != [first]


def test_what_an_unlikely_course_did_is_not_taken_for_a_likely_one():
    """Its steps were as long as the error of its probability allowed."""
    chances, both = np.array([0.5, 0.5]), serving()
    (first,) = both.follow([course(chances, 0.01)], RATE, LENGTH)
    assert both.follow([course(chances, 0.01)], RATE, LENGTH) == [first]
    assert both.follow([course(chances, 0.5)], RATE, LENGTH) != [first]


def test_a_queue_that_forgets_slowly_is_followed_each_time():
    chances, both = np.array([0.5, 0.5]), serving()
    (first,) = both.follow([course(chances)], 19.9, LENGTH)
    assert both.follow([course(chances)], 19.9, LENGTH) != [first]


def test_a_day_is_the_same_if_each_course_is_followed():
    graph = ModelGraph("pool").declare("servers").station("cpu", MMm(0.1, "servers"))
    numbers = {"target": 0.6, "maximum": 20, "start_delay": 30.0}
    model = graph.autoscale("servers", numbers).at(servers=2)
    day = Day((0.0, 600.0, 1800.0), (10.0, 25.0))
    found = over_model(model, day, every=600.0)
    with patch.object(branches, "FORGETS", np.inf):
        each = over_model(model, day, every=600.0)
    for name in ("replicas", "response_time"):
        assert found[name] == pytest.approx(each[name], rel=2e-3)
        assert getattr(found.day, name) == pytest.approx(getattr(each.day, name), rel=1e-3)
