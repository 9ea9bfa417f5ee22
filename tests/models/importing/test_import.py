"""Models of JMT: taken over and solved, or refused by name; none silently wrong."""

import gzip
import io
import json
import tomllib
import zipfile
from random import Random
from xml.etree import ElementTree

import pytest

from headway.errors import HeadwayError, ModelFileError
from headway.models import ModelGraph, find_model, import_model, parse_model
from headway.models.importing import sections
from headway.models.importing.foreign import distributions
from headway.models.importing.safe_xml import LARGEST_FILE, parse_xml
from headway.queueing import MM1
from tests.support import jmt_files as jmt
from tests.support.command import headway, refusal
from tests.support.places import DATA, ROOT

PEERS = DATA / "peer_models"

SOLVED = {
    "closed_1class_2stat": 1,
    "closed_2class_2stat_switch": 0,
    "open_1class_1stat_mg1fcfs": 4,
    "open_1class_1stat_mm1k": 1,
    "oqn_cs_routing": 0,
}
"""Files that headway solves exactly, and how many simulated intervals each of them holds."""

REFUSED = {
    "dps": "Queue 2: unequal sharing (DPSStrategy) is not supported",
    "lcfs": "Queue 2: last come, first served, without preemption (HeadStrategy) is supported only",
    "mm1-bursty": "Queue 1: servers of several types (serverNames): not supported",
    "open_1class_3stat_advfork": "RAID0: sends 2 parts at once to Disk 1",
    "open_2class_3stat_fcr": "region FCR: classConstraint with maxJobsPerClass '4' is not "
    "supported",
    "open_3class_3stat_loadbal": "Router 1: routing of Class1: 'Join the Shortest Queue (JSQ)'",
    "preload": "Place 1: a Place of a Petri net (Storage) is not supported",
    "rand": "Queue 2: service times that are not exponential are not supported in random order",
}


NEAR = {"fcfs"}
"""Files that headway solves approximately: `tests/models/importing/test_import_orders.py`."""


def test_every_shared_file_is_solved_or_refused():
    assert {path.stem for path in PEERS.glob("*.jsimg")} == {*SOLVED, *NEAR, *REFUSED}


@pytest.mark.parametrize("name", SOLVED)
def test_what_is_solved_lies_in_the_intervals_of_the_file(name):
    imported = import_model(PEERS / f"{name}.jsimg")

    assert not imported.solution.approximation
    inside = [line.inside for line in imported.lines if line.inside is not None]
    assert inside == [True] * SOLVED[name]


def test_solved_files_have_their_laws():
    closed = find_model(str(PEERS / "closed_1class_2stat.jsimg")).solve()
    assert closed["Queue_1.utilisation"] == pytest.approx(1 - 1 / 326, rel=1e-12)  # 5 machines
    coxian = find_model(str(PEERS / "open_1class_1stat_mg1fcfs.jsimg")).solve()
    assert coxian.response_time == pytest.approx(1.75, rel=1e-12)  # 0.5 + 1.25 / (2 * 0.5)
    room = find_model(str(PEERS / "open_1class_1stat_mm1k.jsimg")).solve()
    weights = [0.9**n for n in range(12)]
    mean = sum(n * w for n, w in enumerate(weights)) / sum(weights)
    assert room["M_M_1_11.queue_length"] == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("name", SOLVED)
def test_what_is_solved_agrees_with_a_simulation_of_the_model(name):
    """A simulation, intervals of all rows together at 99%."""
    model = find_model(str(PEERS / f"{name}.jsimg"))
    assert model.check(half_width=0.2).outside == ()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_solved_is_refused_by_name(name):
    for command in ("import", "solve"):
        line = refusal(command, PEERS / f"{name}.jsimg")
        assert f"{name}.jsimg" in line
        assert REFUSED[name] in line


CLOSED = jmt.closed_class("a", 3, "think") + jmt.closed_class("b", 2, "think")


def test_visits_follow_from_routes_by_class(tmp_path):
    """Probabilities of a, equal shares of b: visits by hand."""
    once = jmt.times("Exponential", {"lambda": 0.5})
    laws = {
        "a": jmt.times("Exponential", {"lambda": 4.0}),
        "b": jmt.times("Exponential", {"lambda": 2}),
    }
    routes = {"a": {"cpu": 0.25, "hub": 0.75}, "b": "RandomStrategy"}
    back = {"a": "RandomStrategy", "b": "RandomStrategy"}
    path = tmp_path / "two.jsimg"
    path.write_text(
        jmt.jsimg(
            CLOSED,
            jmt.queue("think", {"a": once, "b": once}, back, "Delay"),
            jmt.queue("cpu", laws, routes, "PSServer"),
            jmt.queue("hub", {}, back, "ServiceTunnel"),
            jmt.queue("disk", {"a": once, "b": once}, back, servers=2),
            jmt.sink(),
            jmt.links(
                ("think", "cpu"), ("cpu", "cpu"), ("cpu", "hub"), ("hub", "disk"), ("hub", "think"),
                ("disk", "cpu"), ("disk", "Sink"),
            ),
        )
    )  # fmt: skip
    # a: 3/4 of the jobs go on from cpu, half of them to think: it visits cpu 1 / (3/8) times
    # b: half go on, half of those to think: 4 times; both the disk once a cycle
    by_hand = parse_model("""
name = "hand"
[classes.a]
population = 3
[classes.b]
population = 2
[stations.think]
kind = "Delay"
service_time = 2
visits = 1
[stations.cpu]
kind = "MM1"
discipline = "ps"
service_time = { a = 0.25, b = 0.5 }
visits = { a = 2.6666666666666665, b = 4 }
[stations.disk]
kind = "MMm"
servers = 2
service_time = 2
visits = 1
""").solve()
    solution = find_model(str(path)).solve()
    for name in ("cpu.utilisation", "disk.queue_length", "think.throughput", "class b.throughput"):
        assert solution[name] == pytest.approx(by_hand[name], rel=1e-12), name


def single(laws, put="TailStrategy", kind="Server", arrivals=None, **more):
    arrivals = arrivals or jmt.times("Exponential", {"lambda": 0.5})
    station = jmt.queue("cpu", {"web": laws}, {"web": "RandomStrategy"}, kind, put, **more)
    return jmt.jsimg(
        jmt.open_class("web"),
        jmt.source("Source", {"web": arrivals}, {"web": "RandomStrategy"}),
        station,
        jmt.sink(),
        jmt.links(("Source", "cpu"), ("cpu", "Sink")),
    )


@pytest.mark.parametrize(
    ("law", "numbers", "mean", "scv"),
    [
        ("Exponential", {"lambda": 2}, 0.5, 1),
        ("Erlang", {"alpha": 8, "r": 4}, 0.5, 0.25),
        ("HyperExp", {"p": 0.25, "lambda1": 1, "lambda2": 3}, 0.5, 4 * (0.5 + 1.5 / 9) - 1),
        ("DeterministicDistr", {"t": 0.5}, 0.5, 0),
        ("Uniform", {"min": 0, "max": 1}, 0.5, 1 / 3),
        ("GammaDistr", {"alpha": 2, "beta": 0.25}, 0.5, 0.5),
        ("Lognormal", {"mu": -1.0, "sigma": 0.5}, 0.4168620196785084, 0.2840254166877414),
        ("Pareto", {"alpha": 3, "k": 1 / 3}, 0.5, 1 / 3),
        ("CoxianDistr", {"lambda0": 4, "lambda1": 0.5, "phi0": 0.875}, 0.5, 4),
    ],
)
def test_distributions_enter_by_two_moments(tmp_path, law, numbers, mean, scv):
    path = tmp_path / "one.jsimg"
    path.write_text(single(jmt.times(law, numbers)))
    expected = mean + 0.5 * mean**2 * (1 + scv) / (2 * (1 - 0.5 * mean))  # Pollaczek-Khinchine
    assert find_model(str(path)).solve().response_time == pytest.approx(expected, rel=1e-12)


EXPONENTIAL = jmt.times("Exponential", {"lambda": 2})
CONSTANT = jmt.times("DeterministicDistr", {"t": 0.5})
NONE = (
    '<subParameter classPath="jmt.ServiceTimeStrategy" name=""><value>null</value></subParameter>'
)
PARALLEL = jmt.parameter(
    "java.lang.Integer", "classParallelism", jmt.by_class({"web": jmt.value("n", 2)})
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            single(EXPONENTIAL, put="SJFStrategy"),
            "cpu: queue strategy SJFStrategy is not supported",
        ),
        (
            single(EXPONENTIAL, kind="PollingServer"),
            "cpu: polling (PollingServer) is not supported",
        ),
        (single(EXPONENTIAL, kind="FutureServer"), "'Queue, FutureServer, Router'"),
        (single(EXPONENTIAL, more=PARALLEL), "several servers at once"),
        (
            single(EXPONENTIAL, more=PARALLEL.replace("classParallelism", "numberOfVisits")),
            "several times",
        ),
        (
            single(EXPONENTIAL, kind="Delay", size=4),
            "cpu: a delay with a limit of 4 jobs is not supported",
        ),
        (
            single(CONSTANT, size=4),
            "cpu: a limit of 4 jobs is supported only for one open class, served in order of "
            "arrival",
        ),
        (
            single(EXPONENTIAL, kind="PSServer", arrivals=CONSTANT),
            "cpu: headway propagates variability through fcfs queues only, not discipline ps",
        ),
        (single(jmt.times("MAPDistr", {})), "cpu: times of web: MAPDistr is not supported"),
        (
            single(NONE, arrivals=CONSTANT),
            "cpu: class web visits this station but has no service time there",
        ),
        (
            single(jmt.times("Exponential", {"lambda": -2})),
            "cpu: times of web: Exponential: these parameters give no positive mean with a finite",
        ),
        (single(jmt.times("Exponential", {"lambda": "x"})), "lambda is 'x'"),
        (single(jmt.times("Pareto", {"alpha": 2, "k": 1})), "finite variance"),
        (
            single(EXPONENTIAL).replace("</sim>", "<quantumRegion/></sim>"),
            "'quantumRegion' belongs to a newer version of JMT than headway supports",
        ),
        (
            single(EXPONENTIAL).replace('source="cpu"', 'source="cqu"'),
            "a connection leads from 'cqu' to 'Sink', but there is no 'cqu'",
        ),
    ],
)
def test_what_headway_has_not_yet_is_refused(tmp_path, text, message):
    path = tmp_path / "one.jsimg"
    path.write_text(text)
    assert message in refusal("solve", path)


def test_any_arrivals_at_one_queue_are_taken_by_two_moments_and_it_is_said(tmp_path):
    """Kingman's formula: W = M/M/1's (c_a^2 + c_s^2) / 2."""
    path = tmp_path / "gg1.jsimg"
    path.write_text(single(CONSTANT, arrivals=jmt.times("Erlang", {"alpha": 4, "r": 4})))
    imported = import_model(path)
    assert imported.solution.response_time == pytest.approx(0.5 + 0.5 * (0.25 + 0) / 2, rel=1e-12)
    assert "two-moment approximation" in imported.notes[0]


def test_a_station_to_which_nobody_goes_is_idle(tmp_path):
    path = tmp_path / "idle.jsimg"
    path.write_text(single(EXPONENTIAL).replace('"Source" target="cpu"', '"Source" target="Sink"'))
    assert find_model(str(path)).solve()["cpu.utilisation"] == 0


def two(discipline):
    """Two open classes of different times at two stations in a row."""
    laws = {
        "a": jmt.times("Exponential", {"lambda": 2}),
        "b": jmt.times("Exponential", {"lambda": 5}),
    }
    on = {"a": "RandomStrategy", "b": "RandomStrategy"}
    expected = '<results><measure name="one_a" finalValue="2" state="1"/></results></archive>'
    return jmt.jsimg(
        jmt.open_class("a") + jmt.open_class("b"),
        jmt.source("Source", dict.fromkeys(laws, jmt.times("Exponential", {"lambda": 1})), on),
        jmt.queue("one", laws, on, discipline) + jmt.queue("two", laws, on, discipline),
        jmt.sink(),
        jmt.links(("Source", "one"), ("one", "two"), ("two", "Sink")),
        '<measure name="one_a" type="Response Time" referenceNode="one" referenceUserClass="a"/>',
    ).replace("</archive>", expected)


def test_what_is_approximate_is_said(tmp_path):
    """Shared servers are exact, S / (1 - U); classes of different times in order are not."""
    path = tmp_path / "two.jsimg"
    path.write_text(two("PSServer"))
    exact = import_model(path)
    assert exact.notes == ()
    assert exact.lines[0].solved == pytest.approx(0.5 / 0.3, rel=1e-12)
    assert exact.lines[0].difference == pytest.approx(0.25 / 0.3 - 1, rel=1e-12)
    path.write_text(two("Server"))
    assert "approximate: one, two: first come first served" in headway("import", path).out
    assert json.loads(headway("import", path, "--json").out)["approximation"]


def spoilt(element, random):
    """Change, remove or double something somewhere."""
    odd = ("", "-1", "0", "nan", "1e400", "1e300", "1e-300", "2", "x" * 300, "null", "Queue 1")
    chosen = random.choice([e for e in element.iter() if len(e) or e.attrib or e.text])
    if chosen.attrib and random.random() < 0.4:
        chosen.set(random.choice(sorted(chosen.attrib)), random.choice(odd))
    elif len(chosen) and random.random() < 0.5:
        chosen.remove(random.choice(list(chosen)))
    elif len(chosen):
        chosen.append(random.choice(list(chosen)))
    else:
        chosen.text = random.choice(odd)


def test_spoilt_files_are_solved_or_refused(tmp_path):
    """150 of them, each refused in a line that a terminal can show; no other error."""
    path, random = tmp_path / "spoilt.jsimg", Random(17)
    texts = [(PEERS / f"{name}.jsimg").read_bytes() for name in SOLVED]
    outcomes, lengths = set(), [0]
    for k in range(150):
        root = parse_xml(texts[k % len(texts)], "whole.jsimg")
        for _ in range(2):
            spoilt(root, random)
        path.write_bytes(ElementTree.tostring(root))
        try:
            outcomes.add(bool(import_model(path).tables()))
        except HeadwayError as error:
            outcomes.add("refused")
            lengths.append(len(str(error)))
    assert outcomes == {True, "refused"}
    assert max(lengths) < 500


def test_a_loop_that_nothing_leaves_is_refused(tmp_path):
    path = tmp_path / "loop.jsimg"
    path.write_text(single(EXPONENTIAL).replace('target="Sink"', 'target="cpu"'))
    assert "never leave" in refusal("solve", path)


def packed(kind, content):
    if kind == "gzip":
        return gzip.compress(content)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.jsimg", content)
    return stream.getvalue()


@pytest.mark.parametrize("kind", ["gzip", "zip"])
def test_compressed_files_are_read_and_bombs_refused(tmp_path, kind):
    path = tmp_path / "one.jsimgz"
    path.write_bytes(packed(kind, single(EXPONENTIAL).encode()))
    assert find_model(str(path)).solve().response_time == pytest.approx(0.5 / 0.75)
    path.write_bytes(packed(kind, b" " * (LARGEST_FILE + 1)))
    assert "unpacks to more than 10 MB, the limit for model files" in refusal("solve", path)
    path.write_bytes(path.read_bytes()[:40])
    assert "cannot be decompressed" in refusal("solve", path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'<!DOCTYPE m [<!ENTITY a "b">]><model>&a;</model>', "document type"),
        (b"<model>&a;</model>", "not XML: undefined entity"),
        (b"<model>", "not XML"),
        (b"", "not XML"),
        ("<model/>".encode("utf-16"), "its encoding is one with two bytes a character"),
        (b'<?xml version="1.0" encoding="utf-7"?><model/>', "its encoding is 'utf-7'"),
        (b"<a>" * 50 + b"</a>" * 50, "more than 40 deep"),
        (b"<html/>", "unknown root element 'html'"),
        (b"<model/>", "has no classes"),
        (b"<archive/>", "has no element 'sim', which contains the model of a JSIMg file"),
    ],
)
def test_bad_xml_is_refused_in_a_line(tmp_path, content, message):
    path = tmp_path / "bad.jmva"
    path.write_bytes(content)
    assert message in refusal("solve", path)


def test_stations_beyond_all_networks_are_refused_early():
    text = b"<model>" + b"<s/>" * 200_001
    with pytest.raises(ModelFileError, match="more than 200000 elements"):
        parse_xml(text, "large.jmva")  # though it never ends


def test_import_writes_a_model_file_that_solves_to_the_same(tmp_path):
    out = tmp_path / "one.toml"
    path = PEERS / "open_1class_1stat_mg1fcfs.jsimg"
    result = headway("import", path, "--out", out)

    assert result.code == 0, result.err
    assert "4 of 4 simulated intervals of the file contain the solved value" in result.out
    assert tomllib.loads(out.read_text())["stations"]["M_G_1_FCFS"]["kind"] == "MG1"
    assert find_model(str(out)).solve().response_time == find_model(str(path)).solve().response_time
    document = json.loads(headway("import", path, "--json").out)
    assert document["stations"] == {"M/G/1-FCFS": "M_G_1_FCFS"}
    assert [row["inside"] for row in document["values"]] == [True] * 4


def test_the_reference_names_what_is_read_and_what_is_refused():
    page = (ROOT / "docs/reference/jmt-files.md").read_text()
    named = {*distributions._LAWS, *sections._REFUSED, *sections._MEANINGS}
    named |= {name for role in sections._ROLES for name in role}
    assert {name for name in named if f"`{name}`" not in page} == set()


def test_arrivals_that_are_not_poisson_go_through_a_network(tmp_path):
    """As the model that says the same: one class, and two with routes by class."""
    on = "RandomStrategy"
    erlang = jmt.times("Erlang", {"alpha": 4, "r": 4})  # 1 s, scv 1/4
    for names in ("a", "ab"):
        laws = dict.fromkeys(names, jmt.times("Exponential", {"lambda": 5}))
        parts = [
            *(jmt.open_class(c, at=f"From {c}") for c in names),
            *(jmt.source(f"From {c}", {c: erlang}, {c: on}) for c in names),
            jmt.queue("first", laws, dict.fromkeys(names, on)),
            jmt.queue("second", laws, dict.fromkeys(names, on)),
            jmt.sink(),
            jmt.links(
                *((f"From {c}", "first") for c in names), ("first", "second"), ("second", "Sink")
            ),
        ]
        path = tmp_path / "erlang.jsimg"
        path.write_text(jmt.jsimg(*parts))
        graph = ModelGraph("same").station("first", MM1(0.2)).station("second", MM1(0.2))
        graph = graph.route("first", "second")
        for c in names:
            graph = graph.job_class(c, 1.0, arrival_scv=0.25)
        solved = find_model(str(path)).solve()
        assert solved.response_time == pytest.approx(graph.at().solve().response_time, rel=1e-9)
        assert "QNA" in solved.approximation
