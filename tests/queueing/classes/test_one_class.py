"""One class alone is the open or closed network it is, with every kind of station."""

import json

import numpy as np
import pytest

from headway.errors import GraphError
from headway.models import ModelGraph
from headway.models.files.reading import parse_model
from headway.queueing import MD1, MG1, MM1, MM1K, Delay, GGm, LoadDependent, MMm, MMmK, Parallel

KINDS = [
    Delay(0.2),
    MM1(0.2),
    MMm(0.2, 3),
    Parallel(0.2, 3),
    MD1(0.2),
    MG1(0.2, 2.5),
    GGm(0.2, 2, 0.5, 2.0),
    LoadDependent((5.0, 8.0, 9.0)),
    MM1K(0.2, 4),
    MMmK(0.2, 2, 5),
]
CLOSED = [kind for kind in KINDS if kind.can.product_form]


def plain(station, rate="rate"):
    graph = ModelGraph("plain").declare("rate", "back")
    graph = graph.station("first", station).station("second", Delay(0.1))
    return graph.route("first", "second").route("second", "first", "back").arrive("first", rate)


def classed(station):
    graph = ModelGraph("classed").declare("rate", "back")
    graph = graph.station("first", station).station("second", Delay(0.1))
    graph = graph.route("first", "second").route("second", "first", "back")
    return graph.job_class("web", arrival_rate="rate")


@pytest.mark.parametrize("station", KINDS, ids=lambda s: type(s).__name__)
def test_an_open_class_alone_is_the_open_network(station):
    rates = np.array([0.5, 2.0, 100.0])
    alone = classed(station).at(rate=rates, back=0.25).solve()
    same = plain(station).at(rate=rates, back=0.25).solve()

    for name in ("throughput", "response_time", "saturation_throughput", "first.utilisation"):
        np.testing.assert_array_equal(alone[name], same[name])
    np.testing.assert_array_equal(alone["class web.throughput"], same.throughput)
    np.testing.assert_array_equal(alone["class web.response_time"], same.response_time)
    np.testing.assert_array_equal(alone.saturated, same.saturated)
    assert alone.approximation == same.approximation
    assert str(alone)
    points = json.loads(alone.to_json())["points"]
    assert set(points[0]["classes"]) == {"web"}
    assert [p["saturated"] for p in points] == same.saturated.tolist()


@pytest.mark.parametrize("station", CLOSED, ids=lambda s: type(s).__name__)
def test_a_closed_class_alone_is_the_closed_network(station):
    users = np.array([1.0, 7.0])
    graph = ModelGraph("classed").declare("users").station("disk", station, visits=3)
    graph = graph.station("net", MM1(0.1), visits={"batch": 2})
    alone = graph.job_class("batch", population="users", think_time=0.5).at(users=users).solve()
    same = ModelGraph("plain").station("disk", station, visits=3).station("net", MM1(0.1), visits=2)
    same = same.at().solve(population=users, think_time=0.5)

    for name in ("throughput", "response_time", "saturation_throughput", "knee_population"):
        np.testing.assert_array_equal(alone[name], same[name])
    np.testing.assert_array_equal(alone["class batch.throughput"], same.throughput)
    assert alone.method == same.method
    assert str(alone)
    assert alone.to_csv()


def test_a_station_that_has_no_closed_product_form_is_named_not_several_classes():
    graph = ModelGraph("one").station("disk", MD1(0.2)).job_class("batch", population=3)

    with pytest.raises(GraphError, match="MD1 has no closed product form"):
        graph.at().solve()


def test_a_time_by_class_is_that_of_the_only_class():
    text = """
    name = "one"
    [stations.cpu]
    kind = "MG1"
    service_time = { web = "10 ms" }
    scv = 2
    visits = { web = 2 }
    [stations.idle]
    kind = "MM1"
    service_time = { web = "1 s" }
    visits = { web = 0 }
    [classes.web]
    arrival_rate = 20
    """
    solution = parse_model(text, "one.toml").solve()

    # Pollaczek and Khinchine at U = 0.4: two visits of 10 ms + 0.4 x 10 ms x 3 / (2 x 0.6)
    assert solution.response_time == pytest.approx(2 * (0.01 + 0.4 * 0.01 * 3 / 1.2), rel=1e-12)
    assert solution["class web.response_time"] == solution.response_time
