"""Class switches of JSIMg files: routes by class, or refused."""

from math import factorial

import pytest

from headway.errors import ModelFileError
from headway.models import find_model, import_model
from tests import jmt_files as jmt
from tests.test_import import PEERS


def test_classes_that_turn_have_the_laws_of_their_chains():
    closed = find_model(str(PEERS / "closed_2class_2stat_switch.jsimg")).solve()
    # after the switch 6 of 11 jobs are of the first class: 16/11 s each at one of 15 jobs' server
    weights = [(16 / 11) ** n / factorial(15 - n) for n in range(16)]
    busy = 1 - weights[0] / sum(weights)
    assert closed["Queue_1.utilisation"] == pytest.approx(busy, rel=1e-12)
    assert closed["Queue_1.throughput"] == pytest.approx(busy / (16 / 11), rel=1e-12)
    opened = find_model(str(PEERS / "oqn_cs_routing.jsimg")).solve()
    # 2 /s of 0.2 s and 1 /s of 0.3 s; then all 3 /s of 0.15 s
    assert opened["Queue_1.queue_length"] == pytest.approx(0.7 / 0.3, rel=1e-9)
    assert opened["Queue_2.queue_length"] == pytest.approx(0.45 / 0.55, rel=1e-9)
    second = 0.15 / 0.55
    assert opened["class Class_B.response_time"] == pytest.approx(0.3 / 0.3 + second, rel=1e-9)


SWITCH = (
    '<node name="Turn"><section className="Queue"/><section className="ClassSwitch">{}</section>'
    '<section className="Router">{}</section></node>'
)


def turning(chances):
    """A switch with these chances by class."""
    cells = {
        c: '<subParameter array="true" classPath="java.lang.Float" name="row">'
        + jmt.by_class({d: jmt.value("cell", p, "java.lang.Float") for d, p in row.items()})
        + "</subParameter>"
        for c, row in chances.items()
    }
    matrix = jmt.parameter("java.lang.Object", "matrix", jmt.by_class(cells), array=True)
    return SWITCH.format(matrix, jmt.routing(dict.fromkeys(chances, "RandomStrategy")))


def turned(tmp_path, chances, first="Queue"):
    """Two open classes by way of a switch behind a queue, or before it."""
    laws = dict.fromkeys("ab", jmt.times(*jmt.EXPONENTIAL))
    ways = dict.fromkeys("ab", "RandomStrategy")
    pairs = [("Source", first), ("Queue", "Turn" if first == "Queue" else "Sink")]
    pairs.append(("Turn", "Sink" if first == "Queue" else "Queue"))
    parts = [
        jmt.open_class("a"),
        jmt.open_class("b"),
        jmt.source("Source", laws, ways),
        jmt.queue("Queue", laws, ways),
        turning(chances),
        jmt.sink(),
        jmt.links(*pairs),
    ]
    path = tmp_path / "turned.jsimg"
    path.write_text(jmt.jsimg(*parts))
    return path


@pytest.mark.parametrize(
    ("chances", "first", "words"),
    [
        ({"a": {"a": 0.5, "b": 0.4}}, "Queue", "Turn: the probabilities of 'a' sum to 0.9"),
        ({"a": {"c": 1.0}}, "Queue", "there is no class 'c'"),
        (
            {"a": {"b": 1.0}},
            "Turn",
            "class a changes class, or leaves, before it visits any station",
        ),
    ],
)
def test_switches_that_cannot_be_are_refused(tmp_path, chances, first, words):
    with pytest.raises(ModelFileError, match=words):
        import_model(turned(tmp_path, {**chances, "b": {"b": 1.0}}, first))
