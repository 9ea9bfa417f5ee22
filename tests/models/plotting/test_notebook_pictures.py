"""What a notebook shows of graphs and models, and what help says of the room of models."""

import base64
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

import headway.models
from headway.models import ModelGraph, catalogue_model, model_names
from headway.queueing import MM1, Delay


def words(svg):
    """Texts of a picture; matplotlib writes each beside its glyphs as a comment."""
    return re.findall(r"<!-- (.*?) -->", svg)


def picture_in(html):
    return base64.b64decode(re.search(r"base64,([^\"]+)", html)[1]).decode()


@pytest.mark.parametrize(
    ("graph", "text"),
    [
        (ModelGraph("none"), "ModelGraph(none: empty)"),
        (
            ModelGraph("two").station("a", MM1(0.1)).station("b", MM1(0.1)).route("a", "b"),
            "ModelGraph(two: 2 stations, 1 route)",
        ),
        (
            ModelGraph("shop").station("cpu", MM1(0.1)).job_class("web", 1).job_class("batch", 2),
            "ModelGraph(shop: 1 station, 2 classes)",
        ),
    ],
)
def test_a_graph_says_in_one_line_what_it_has(graph, text):
    assert repr(graph) == text


@pytest.mark.parametrize("name", model_names())
def test_every_model_of_the_catalogue_has_one_line(name):
    model = catalogue_model(name)

    for shown in (repr(model), repr(model.graph)):
        assert name in shown
        assert "\n" not in shown
        assert len(shown) <= 100


def test_a_graph_is_a_picture_and_a_program_is_none():
    graph = catalogue_model("nfs-server").graph

    assert {"cpu", "disks", "network"} <= set(words(graph._repr_svg_()))
    assert ET.fromstring(graph._repr_svg_()).tag.endswith("svg")  # noqa: S314 - our own
    assert catalogue_model("program-overhead").graph._repr_svg_() is None


def test_a_graph_with_too_many_routes_is_none():
    graph = ModelGraph("ring")
    for k in range(60):
        graph = graph.station(f"s{k}", Delay(1.0))
    crowded = graph.route_all([[0.0 if i == j else 1 / 60 for j in range(60)] for i in range(60)])

    assert crowded._repr_svg_() is None
    assert "<img" not in crowded.at()._repr_html_()


def test_a_model_is_a_picture_with_its_utilisations_and_tables():
    html = catalogue_model("nfs-server").with_preset("raid")._repr_html_()

    assert html.startswith('<img alt="Graph of nfs-server (raid)"')
    assert "busy 32%" in words(picture_in(html))  # 500 op/s of 650 us
    assert "<table" in html
    program = catalogue_model("program-overhead")._repr_html_()
    assert "<img" not in program


def test_what_cannot_be_solved_is_drawn_all_the_same():
    graph = ModelGraph("half").declare("s").bind("rest", "where(s < 1, 1 - s, -1)")
    broken = graph.station("cpu", MM1("rest")).at(s=2.0, arrival_rate=1.0)

    shown = words(picture_in(broken._repr_html_()))
    assert "cpu" in shown
    assert not [word for word in shown if word.startswith("busy")]


def test_names_of_users_are_escaped():
    one = ModelGraph("<b>").station("cpu", MM1(0.1)).at(arrival_rate=1.0)

    assert "<b>" not in one._repr_html_()


def test_a_repr_loads_no_matplotlib():
    code = (
        "import sys; from headway.models import catalogue_model; "
        "m = catalogue_model('nfs-server'); repr(m), repr(m.graph); "
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_help_names_everything_by_its_purpose():
    lines = [line for line in headway.models.__doc__.splitlines() if line.startswith("    ")]
    named = re.findall(r"\w+", " ".join(lines))

    assert sorted(named) == headway.models.__all__
