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
from headway.queueing.transient.branches import Branch, Serving, Start
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
    return Branch(Replicas(2), weight, Start([(1.0, Columns(0, cells))]), weight)


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
    found = gone.end.columns.within(0, PLACES + 1).cells[:, :, 0]
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


def test_a_course_that_ends_as_another_did_has_the_looks_of_that_one():
    """Two starts that differ by more than the error, and whose ends differ by less than a fifth."""
    chances, both = np.array([0.2, 0.1, 0.0, 0.3, 0.4]), serving()
    (first,) = both.follow([course(chances)], RATE, LENGTH)
    (other,) = both.follow([course(chances + 2 * ERROR * np.array([1, 0, 0, 0, -1]))], RATE, LENGTH)
    assert first is not other
    assert other.end is first.end
    assert (
        both.follow([course(np.array([0.0, 0.0, 0.0, 0.0, 1.0]))], RATE, LENGTH)[0].end
        is not first.end
    )


def test_sums_of_the_same_columns_are_as_far_apart_as_their_numbers():
    """Shares give a bound on the difference that all numbers have."""
    draw = np.random.default_rng(3)
    columns = [course(draw.dirichlet(np.ones(6))).now.columns for _ in range(3)]
    for _ in range(20):
        starts = [Start(zip(draw.dirichlet(np.ones(3)), columns, strict=True)) for _ in range(2)]
        off = np.abs(starts[0].columns.cells - starts[1].columns.cells)[:, 0, 0]
        of_numbers, of_sums = starts[0].apart(starts[1])
        assert off @ np.arange(1, 7) <= of_numbers * (1 + 1e-9)
        assert of_sums == 0
        whole = starts[0].columns.cells[:, 0, 0] @ np.arange(1, 7)
        assert starts[0].size == pytest.approx(whole, rel=1e-9)
