"""Classes at one server to which some of their jobs come straight back, in order of arrival."""

import numpy as np
import pytest

from headway.errors import GraphError
from headway.models import ModelGraph
from headway.models.solving.classes.forms import class_form
from headway.queueing import MD1, MG1, MM1, Delay, MGm
from headway.queueing.classes.feedback import feedback_waits
from headway.queueing.sojourn.visited_station import UNLIKE_BACK
from tests.campaigns import returning_errors
from tests.support.cases import mostly_slow


def together(station, back, rates, *, percents=(50, 99), **kinds):
    """Classes with these rates at a server that a share comes back to."""
    graph = ModelGraph("back").station("cpu", station, **kinds).route("cpu", "cpu", back)
    for name, rate in zip("abc", rates, strict=False):
        graph = graph.job_class(name, arrival_rate=rate)
    return graph.at().solve().with_percentiles(percents)


def alone(station, back, rate, percents=()):
    """All jobs as one class."""
    graph = ModelGraph("one").station("cpu", station).route("cpu", "cpu", back)
    return graph.at(arrival_rate=rate).solve().with_percentiles(percents)


@pytest.mark.parametrize(
    ("station", "back"),
    [(MG1(1.0, 4.0), 0.7), (MG1(1.0, 8.0), 0.9), (MD1(1.0), 0.5), (MG1(1.0, 1.0), 0.5)],
)
def test_equal_classes_are_one(station, back):
    rate = 0.7 * (1 - back)
    one = alone(station, back, rate)
    for shares in ((0.4, 0.6), (0.1, 0.3, 0.6)):
        several = together(station, back, [share * rate for share in shares], percents=())
        for name in ("", *(f"class {c}." for c in "abc"[: len(shares)])):
            mean = several[f"{name}response_time"]
            assert mean == pytest.approx(one.response_time, rel=1e-9)
        assert several["cpu.queue_length"] == pytest.approx(one["cpu.queue_length"], rel=1e-9)
        assert not several.approximation


def test_equal_classes_are_one_at_several_servers():
    one = alone(MGm(1.0, 3, 4.0), 0.5, 1.05)
    two = together(MGm(1.0, 3, 4.0), 0.5, (0.45, 0.6), percents=())
    assert two["class a.response_time"] == pytest.approx(one.response_time, rel=1e-9)


def test_percentiles_of_equal_classes_are_those_of_one():
    one = alone(MG1(1.0, 4.0), 0.3, 0.49, [95])
    two = together(MG1(1.0, 4.0), 0.3, (0.2, 0.29), percents=[95])
    assert two["class a.response_time_p95"] == pytest.approx(one["response_time_p95"], rel=1e-9)


def stays(fresh, times, scvs, again):
    """Mean times of classes by their passes one by one, and Little's law by turns."""
    fresh, times, scvs, again = map(np.array, (fresh, times, scvs, again))
    visits = fresh / (1 - again)
    rest = float((visits * times**2 * (1 + scvs)).sum() / 2 - (visits * times**2).sum())
    present = visits * times
    change = 1.0
    while change > 1e-12:
        result = []
        for c, time in enumerate(times):
            ahead, total, share = present, 0.0, 1.0
            wait = rest + float(ahead @ times)
            while share > 1e-14:
                total += share * (wait + time)
                ahead = fresh * (wait + time) + again * ahead
                wait, share = float(ahead @ times), share * again[c]
            result.append(total)
        change = np.abs(fresh * np.array(result) - present).max()
        present = fresh * np.array(result)
    return result


@pytest.mark.parametrize(
    "numbers",
    [
        ((0.3, 0.2), (0.5, 1.0), (4.0, 4.0), (0.4, 0.4)),
        ((0.3, 0.2, 0.05), (0.5, 1.0, 0.2), (4.0, 0.0, 1.0), (0.4, 0.1, 0.0)),
        ((0.4, 0.4), (0.2, 2.0), (1.0, 1.0), (0.0, 0.0)),
    ],
)
def test_means_are_those_of_passes_one_by_one(numbers):
    fresh, times, scvs, again = map(np.array, numbers)
    waits = feedback_waits(*(one[:, None] for one in (fresh / (1 - again), times, scvs, again)))
    mine = (waits[:, 0] + times) / (1 - again)
    assert mine == pytest.approx(stays(*numbers), rel=1e-8)


def test_mean_is_exact_and_says_so():
    own = {"a": 0.5, "b": 1.0}
    solved = together(MG1(1.0, 4.0), 0.4, (0.3, 0.2), percents=(), service_times=own)
    assert solved["class a.response_time"] == pytest.approx(4.2214286, rel=1e-7)
    assert solved["class b.response_time"] == pytest.approx(5.2214286, rel=1e-7)
    assert not solved.approximation
    plain = together(MM1(1.0), 0.4, (0.3, 0.2), percents=(), service_times=own)
    assert plain["class a.response_time"] == pytest.approx(2.5714286, rel=1e-7)
    assert not plain.approximation


def test_overload_of_returns_is_marked():
    assert np.isinf(together(MG1(1.0, 4.0), 0.7, (0.2, 0.2), percents=())["class a.response_time"])


def test_points_of_a_sweep_are_as_one_by_one():
    graph = ModelGraph("back").station("cpu", MG1(1.0, 4.0), service_times={"a": 0.5, "b": 1.0})
    graph = graph.declare("again").route("cpu", "cpu", "again")
    for name, rate in (("a", 0.3), ("b", 0.2)):
        graph = graph.job_class(name, arrival_rate=rate)
    swept = graph.at(again=np.array([0.2, 0.4])).solve()
    for k, again in enumerate((0.2, 0.4)):
        one = graph.at(again=again).solve()
        assert swept["class a.response_time"][k] == pytest.approx(
            one["class a.response_time"], rel=1e-12
        )


def test_chances_by_class_are_followed():
    graph = ModelGraph("own").station("cpu", MG1(1.0, 4.0), service_times={"a": 0.5, "b": 1.0})
    graph = graph.route("cpu", "cpu", 0.4, "a").route("cpu", "cpu", 0.1, "b")
    for name, rate in (("a", 0.3), ("b", 0.2)):
        graph = graph.job_class(name, arrival_rate=rate)
    exact = stays((0.3, 0.2), (0.5, 1.0), (4.0, 4.0), (0.4, 0.1))
    solved = graph.at().solve()
    for name, mean in zip("ab", exact, strict=True):
        assert solved[f"class {name}.response_time"] == pytest.approx(mean, rel=1e-8)


def test_closed_form_of_returning_classes_is_refused():
    graph = ModelGraph("back").station("cpu", MG1(1.0, 4.0)).route("cpu", "cpu", 0.4)
    graph = graph.declare("x").job_class("a", arrival_rate="x").job_class("b", arrival_rate=0.1)
    with pytest.raises(GraphError, match="cpu: times of classes that come straight back"):
        class_form(graph, "response_time", {"x": 0.1})


def test_general_times_in_loops_of_several_stations_are_refused():
    graph = ModelGraph("loop").station("cpu", MG1(1.0, 4.0), service_times={"a": 0.5, "b": 1.0})
    graph = graph.station("wan", Delay(0.5)).route("cpu", "wan", 1.0).route("wan", "cpu", 0.4)
    for name, rate in (("a", 0.3), ("b", 0.2)):
        graph = graph.job_class(name, arrival_rate=rate)
    with pytest.raises(GraphError, match="in a loop of several stations"):
        graph.at().solve().with_percentiles([99])


QUICK = {9}


@pytest.mark.parametrize("number", mostly_slow(range(len(returning_errors.CASES)), QUICK))
def test_classes_that_return_are_within_their_label(number):
    actual, solution = returning_errors.answers(number)
    missed = returning_errors.errors(number, actual)
    assert missed[:, 0].max() == 0
    assert missed[:, 1:4].max() <= 0.07
    assert missed[:, 4].max() <= 0.03
    assert UNLIKE_BACK in solution.approximation
