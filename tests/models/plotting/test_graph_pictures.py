"""Pictures of graphs: what is in them, and that words and arrows can be read."""

from itertools import pairwise

import numpy as np
import pytest

from headway.models import ModelGraph, catalogue_model, model_names
from headway.models.language.scales import Scale
from headway.models.plotting.graphs.geometry import Rectangle, arc, bent_arc
from headway.models.plotting.graphs.layout import Way, best, placed
from headway.models.plotting.graphs.scheme import Sort, scheme_of
from headway.models.plotting.graphs.sources import sources_of
from headway.models.plotting.looks.page import LETTER, WIDTH
from headway.queueing import MM1

SERVERS = [name for name in model_names() if catalogue_model(name).graph.stations]


def chain(*names):
    graph = ModelGraph("chain")
    for name in names:
        graph = graph.station(name, MM1(0.01))
    for source, target in pairwise(names):
        graph = graph.route(source, target)
    return graph


def visited():
    graph = ModelGraph("v").station("cpu", MM1(0.01), visits=3)
    return graph.station("disk", MM1(0.02), visits=2)


def shop():
    graph = chain("web", "db").job_class("browse", arrival_rate=12.0)
    graph = graph.job_class("buy", population=3, think_time=1.0)
    return graph.station("disk", MM1(0.02)).route("db", "disk", 0.3)


def drawn(graph, terminals=None, way=Way.RIGHT):
    return placed(scheme_of(graph, {}, terminals, 30, Scale()), way, WIDTH)


def routes(picture):
    return {(e.source, e.target, e.is_both) for e in picture.scheme.edges if e.is_route}


def test_jobs_arrive_at_the_first_station_or_at_all_that_are_visited():
    assert ("(arrivals)", "a", False) in routes(drawn(chain("a", "b")))
    assert routes(drawn(visited())) == {
        ("(arrivals)", "cpu", False),
        ("(arrivals)", "disk", False),
    }


def test_those_who_leave_a_closed_network_go_back_to_the_terminals():
    back = {e for e in routes(drawn(chain("a", "b"), "terminals")) if "(terminals)" in e}
    assert back == {("(terminals)", "a", False), ("b", "(terminals)", False)}
    around = chain("a", "b").route("b", "a", 0.5)
    assert ("b", "(terminals)", False) in routes(drawn(around, "terminals"))
    for_ever = chain("a", "b").route("b", "a")  # nobody leaves, by its probabilities
    assert ("b", "(terminals)", False) not in routes(drawn(for_ever, "terminals"))
    assert routes(drawn(visited(), "terminals")) == {
        ("(terminals)", "cpu", True),
        ("(terminals)", "disk", True),
    }


def test_terminals_show_population_and_think_time():
    (axes,) = chain("a", "b").at().closed(5, think_time="0.5 s").plot().axes
    (unknown,) = chain("a", "b").at().closed(np.array([1, 2])).plot().axes

    assert "terminals\npopulation 5\nthink time 500 ms" in [t.get_text() for t in axes.texts]
    assert "terminals\npopulation\nthink time 0 ms" in [t.get_text() for t in unknown.texts]


def test_each_class_has_its_numbers_and_arrows_of_its_own():
    browse, buy = sources_of(shop(), None, Scale())

    assert browse.words == "browse\narrival rate 12 requests/s"
    assert buy.words == "buy\npopulation 3\nthink time 1 s"
    assert browse.entries == buy.entries == {"web": ""}
    assert browse.back == frozenset()
    assert buy.back == {"db", "disk"}  # web sends all to the database


def test_classes_that_go_the_same_way_come_from_one_place():
    graph = visited().job_class("web", arrival_rate=12.0).job_class("batch", arrival_rate=4.0)
    (source,) = sources_of(graph, None, Scale())

    assert source.words == "web\narrival rate 12 requests/s\nbatch\narrival rate 4 requests/s"
    assert list(source.entries) == ["cpu", "disk"]


def test_a_class_comes_in_where_the_model_says():
    graph = chain("a", "b").job_class("web", arrival_rate=12.0)
    graph = graph.job_class("in", arrival_rate=1.0, arrives="b")
    graph = graph.job_class("both", arrival_rate=1.0, arrives={"a": 0.25, "b": 0.75})
    entries = {source.name: dict(source.entries) for source in sources_of(graph, None, Scale())}

    assert entries == {"(web)": {"a": ""}, "(in)": {"b": ""}, "(both)": {"a": "0.25", "b": "0.75"}}


def test_arrivals_at_several_stations_have_an_arrow_each():
    graph = chain("a", "b").arrive("a", 20.0).arrive("b", 5.0)
    words = {source.words: list(source.entries) for source in sources_of(graph, None, Scale())}

    assert words == {"arrivals\n20 requests/s": ["a"], "arrivals\n5 requests/s": ["b"]}


def test_a_fork_leads_to_its_branches():
    graph = chain("a", "b").fork("both", ["a", "b"])
    edges = scheme_of(graph, {}, None, 30, Scale()).edges

    assert [(e.source, e.target) for e in edges if e.label == "part"] == [
        ("both", "a"),
        ("both", "b"),
    ]


def test_parts_of_a_fork_are_joined_before_the_next_station():
    graph = (
        ModelGraph("j")
        .station("cpu", MM1(0.01))
        .station("reply", MM1(0.01))
        .station("log", MM1(0.01))
        .station("disk", MM1(0.02))
    )
    graph = graph.fork("both", ["log", "disk"]).route("cpu", "both", 0.5).route("both", "reply")
    graph = graph.arrive("cpu", 10.0).arrive("disk", 5.0)

    picture = drawn(graph, way=Way.DOWN)

    joined = {(e.source, e.target) for e in picture.scheme.edges if e.label == "joined"}
    assert joined == {("log", "reply"), ("disk", "reply")}
    assert ("both", "reply", False) not in routes(picture)
    height = {name: box.y for name, box in picture.boxes.items()}
    assert height["both"] > height["disk"] == height["log"] > height["reply"]
    (own,) = (e.source for e in picture.scheme.edges if e.target == "disk" and not e.label)
    assert height[own] == height["both"]  # who comes to the disk alone stands right above it


def test_a_region_has_a_frame_unless_another_station_is_in_its_way():
    graph = chain("web", "cpu", "disk").region("threads", ["cpu", "disk"], 8)
    picture = drawn(graph)

    (frame,) = picture.frames
    held = {name for name, box in picture.boxes.items() if frame.holds(box.corners).all()}
    assert held == {"cpu", "disk"}
    assert "in threads (limit: 8)" in picture.scheme.parts["disk"].words
    assert "threads" not in picture.scheme.parts["web"].words
    around = chain("web", "cpu", "disk").region("threads", ["web", "disk"], 8)
    assert drawn(around).frames == []


def test_a_wide_chain_is_drawn_from_top_to_bottom():
    few, many = chain("a", "b"), chain(*"abcdef")

    def chosen(graph):
        tried = ((scheme_of(graph, {}, None, 30, Scale()), way) for way in (Way.RIGHT, Way.DOWN))
        return best(tried, WIDTH).boxes

    boxes = chosen(few)
    assert boxes["a"].y == boxes["b"].y
    assert boxes["a"].x < boxes["b"].x
    boxes = chosen(many)
    assert len({boxes[name].x for name in "abcdef"}) == 1
    assert boxes["a"].y > boxes["b"].y > boxes["f"].y


@pytest.mark.parametrize("name", SERVERS)
def test_graphs_of_the_catalogue_can_be_read_400_pixels_wide(name):
    figure = catalogue_model(name).plot()

    assert figure.get_figwidth() <= WIDTH
    assert 400 / (72 * WIDTH) * LETTER >= 9
    (axes,) = figure.axes
    assert all(text.get_fontsize() >= LETTER for text in axes.texts if text.get_text())


@pytest.mark.parametrize("name", SERVERS)
def test_boxes_and_words_of_the_catalogue_hide_nothing(name):
    graph = catalogue_model(name).graph
    tried = [(30, Way.RIGHT), (30, Way.DOWN), (24, Way.DOWN), (18, Way.DOWN)]
    picture = best(((scheme_of(graph, {}, None, wide, Scale()), way) for wide, way in tried), WIDTH)

    boxes = [*picture.boxes.values(), *picture.labels.values()]
    assert not any(a.meets(b) for k, a in enumerate(boxes) for b in boxes[:k])
    for ends, one in picture.arcs.items():
        passed = [box for name, box in picture.boxes.items() if name not in ends]
        assert not any(box.holds(one.points()).any() for box in passed), ends
    stations = picture.scheme.named(Sort.STATION)
    assert set(graph.stations) == set(stations)


def test_an_arrow_passes_by_what_lies_between():
    boxes = {"a": Rectangle(0, 0, 1, 1), "b": Rectangle(2, 0, 1, 1), "c": Rectangle(4, 0, 1, 1)}

    straight = bent_arc(("a", "b"), boxes, {}, has_return=False)
    around = bent_arc(("a", "c"), boxes, {("a", "b"): straight}, has_return=False)

    np.testing.assert_allclose(straight.points()[:, 1], 0, atol=1e-12)
    assert not boxes["b"].holds(around.points()).any()
    there = bent_arc(("a", "b"), boxes, {}, has_return=True)
    back = bent_arc(("b", "a"), boxes, {("a", "b"): there}, has_return=True)
    assert np.abs(there.points()[60] - back.points()[60]).max() > 0.2


def test_an_arrow_ends_at_the_edges_of_its_boxes():
    one = arc(Rectangle(0, 0, 1, 1), Rectangle(4, 0, 1, 1), 0.5)

    np.testing.assert_allclose([one.start[0], one.end[0]], [0.5, 3.5], atol=0.1)
    whole = one.between(0.0, 1.0)
    np.testing.assert_allclose(whole.points(), one.points(), atol=1e-12)
    half = one.between(0.25, 0.75)
    np.testing.assert_allclose(half.points()[0], one.at(np.array([0.25]))[0], atol=1e-12)
    np.testing.assert_allclose(half.at(np.array([0.5])), one.at(np.array([0.5])), atol=1e-12)


def test_a_formula_without_spaces_is_broken_after_its_brackets():
    graph = (
        chain("a").declare("long").bind("t", "max(long,min(long,max(long,min(long,long,long))))")
    )
    scheme = scheme_of(graph, {}, None, 18, Scale())

    (formula,) = [part.words for name, part in scheme.parts.items() if "formula" in name]
    name, *lines = formula.split("\n")
    assert name == "t ="
    assert "".join(lines).replace(" ", "") == graph.bindings["t"].text.replace(" ", "")
    assert max(map(len, lines)) <= 18


def test_a_row_that_is_too_wide_is_cut():
    graph = ModelGraph("fan").station("cpu", MM1(0.01))
    for k in range(8):
        graph = graph.station(f"disk{k}", MM1(0.02)).route("cpu", f"disk{k}", 0.1)

    picture = drawn(graph, way=Way.DOWN)

    rows = {box.y for name, box in picture.boxes.items() if name.startswith("disk")}
    assert len(rows) > 1
    assert picture.width < 1.5 * WIDTH


def test_a_station_shows_whose_turn_it_is_and_the_times_of_each_class_once():
    graph = ModelGraph("two").station("cpu", MM1(0.02), None, {"a": 0.02, "b": 0.03}, "ps")
    graph = graph.job_class("a", arrival_rate=5.0).job_class("b", arrival_rate=1.0)
    (axes,) = graph.at().plot().axes

    (box,) = [t.get_text() for t in axes.texts if t.get_text().startswith("cpu")]
    assert box == "cpu\nMM1, ps\nbusy 13%\nservice time a: 20 ms\nservice time b: 30 ms"
