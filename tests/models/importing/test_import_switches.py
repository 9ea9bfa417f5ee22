"""Class switches of JSIMg files: routes by class, or refused."""

from math import factorial

import pytest

from headway.errors import ModelFileError
from headway.models import find_model, import_model
from tests.models.importing.test_import import PEERS
from tests.support import jmt_files as jmt


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


def test_residence_times_of_classes_count_the_jobs_of_their_chain(tmp_path):
    """Of 2 jobs a second 1 comes as a, and 0.7 of these are still a behind the switch.

    Each queue is M/M/1: of 2 /s and 0.1 s, R = 1/8 s; a job is there as a for Q_a / 2 seconds.
    """
    text = turned(tmp_path, {"a": {"a": 0.7, "b": 0.3}, "b": {"b": 1.0}}).read_text()
    fast = jmt.times("Exponential", {"lambda": 10})
    second = jmt.queue("Last", dict.fromkeys("ab", fast), dict.fromkeys("ab", "RandomStrategy"))
    first = jmt.queue("Queue", dict.fromkeys("ab", fast), dict.fromkeys("ab", "RandomStrategy"))
    head, rest = text.split('<node name="Queue">', 1)
    text = head + first + second + rest.split("</node>", 1)[1]
    text = text.replace('target="Sink"', 'target="Last"')
    text = text.replace("</sim>", jmt.links(("Last", "Sink")) + "</sim>")
    kinds = ("Residence Time", "Response Time")
    measures = [(at, c, kind) for at in ("Queue", "Last") for c in "ab" for kind in kinds]
    asked = "".join(
        f'<measure name="{at} {c} {kind}" referenceNode="{at}" referenceUserClass="{c}" '
        f'type="{kind}"/>'
        for at, c, kind in measures
    )
    told = "".join(
        f'<measure name="{at} {c} {kind}" finalValue="0.125" state="2"/>'
        for at, c, kind in measures
    )
    path = tmp_path / "turned.jsimg"
    path.write_text(
        text.replace("</sim>", f"{asked}</sim>").replace(
            "</archive>", f"<results>{told}</results></archive>"
        )
    )
    found = {
        (x.station, x.job_class, x.measure): x.solved
        for x in import_model(path).lines
        if x.expected
    }
    shares = {("Queue", "a"): 0.5, ("Queue", "b"): 0.5, ("Last", "a"): 0.35, ("Last", "b"): 0.65}
    for (at, c), share in shares.items():
        assert found[at, c, "response_time"] == pytest.approx(0.125, rel=1e-9)
        assert found[at, c, "residence_time"] == pytest.approx(share * 0.125, rel=1e-9)
