"""JMVA files: read, solved beside the values they hold, written and read back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import ModelFileError
from headway.models import ModelGraph, catalogue_model, find_model, import_model, to_jmva
from headway.models.importing.building import imported
from headway.models.importing.jmva import read_jmva
from headway.models.importing.safe_xml import parse_xml
from headway.queueing import MG1, MM1, Delay, LoadDependent, MMm, Parallel
from tests.support import jmt_files as jmt
from tests.support.command import headway, refusal

TWO = '<closedclass name="Class A" population="3"/><openclass name="web" rate="0.5"/>'
STATIONS = jmt.station("delaystation", "Think", {"Class A": 2}, {"Class A": 1}) + jmt.station(
    "listation", "CPU", {"Class A": 0.25, "web": 0.5}, {"Class A": 2, "web": 1}
)


def written(tmp_path, classes, stations, more=""):
    path = tmp_path / "shop.jmva"
    path.write_text(jmt.jmva(classes, stations, more))
    return path


def measures(station, job_class, values):
    inner = "".join(
        f'<measure measureType="{m}" meanValue="{v}" successful="true"/>' for m, v in values.items()
    )
    return (
        f'<stationresults station="{station}"><classresults customerclass="{job_class}">{inner}'
        "</classresults></stationresults>"
    )


def mixed():
    """The mixed network by hand: web takes its quarter of the CPU first (BCMP)."""
    demand, think, jobs = 2 * 0.25 / 0.75, 2.0, 0.0
    for n in (1, 2, 3):
        rate = n / (think + demand * (1 + jobs))
        jobs = rate * demand * (1 + jobs)
    return rate, jobs


def test_values_in_a_file_are_set_beside_the_solved_ones(tmp_path):
    rate, jobs = mixed()
    result = measures(
        "CPU",
        "Class A",
        {"Throughput": 2 * rate, "Number of Customers": jobs, "Utilization": 2 * rate * 0.25},
    )
    web = measures("CPU", "web", {"Residence time": 0.5 * (1 + jobs) / 0.75, "Tardiness": 3})
    more = f'<solutions ok="true"><algorithm name="MVA">{result}{web}</algorithm></solutions>'
    imported = import_model(written(tmp_path, TWO, STATIONS, more))

    assert not imported.solution.approximation
    given = [line for line in imported.lines if line.expected]
    assert [line.measure for line in given] == [
        "throughput", "queue_length", "utilisation", "residence_time", "Tardiness",
    ]  # fmt: skip
    assert [line.difference for line in given[:4]] == pytest.approx([0] * 4, abs=1e-12)
    assert given[4].solved is None
    shown = headway("import", tmp_path / "shop.jmva").out
    assert "in headway Class A is Class_A" in shown


def test_a_wrong_value_shows_as_a_difference(tmp_path):
    result = measures("Think", "Class A", {"Throughput": mixed()[0] / 2})
    more = f"<solutions><algorithm>{result}</algorithm></solutions>"
    (line,) = [x for x in import_model(written(tmp_path, TWO, STATIONS, more)).lines if x.expected]
    assert line.difference == pytest.approx(1.0, rel=1e-12)


def test_load_dependent_stations_have_a_time_for_each_number(tmp_path):
    one = '<closedclass name="jobs" population="4"/>'
    varying = jmt.station("ldstation", "pool", {"jobs": "0.5;0.25;0.25;0.25"}, {"jobs": 1})
    think = jmt.station("delaystation", "users", {"jobs": 1}, {"jobs": 1})
    solution = find_model(str(written(tmp_path, one, varying + think))).solve()
    pool = jmt.station("listation", "pool", {"jobs": 0.5}, {"jobs": 1}, servers=2)
    servers = find_model(str(written(tmp_path, one, pool + think))).solve()
    assert solution.throughput == pytest.approx(servers.throughput, rel=1e-12)


def test_several_classes_may_share_servers_written_as_load_dependence(tmp_path):
    """S / min(n, 2) with n jobs are two servers."""
    pool = {"Class A": "0.4;0.2;0.2;0.2", "web": "0.4;0.2"}
    visits = {"Class A": 1, "web": 1}
    think = jmt.station("delaystation", "Think", {"Class A": 2}, {"Class A": 1})
    varying = jmt.station("ldstation", "pool", pool, visits)
    solution = find_model(str(written(tmp_path, TWO, think + varying))).solve()
    servers = jmt.station("listation", "pool", dict.fromkeys(visits, 0.4), visits, servers=2)
    known = find_model(str(written(tmp_path, TWO, think + servers))).solve()
    assert solution["pool.queue_length"] == known["pool.queue_length"]
    other = varying.replace("0.4;0.2;0.2;0.2", "0.4;0.3;0.2;0.2")
    message = refusal("import", written(tmp_path, TWO, think + other))
    assert "headway's LoadDependent serves one class only" in message


@pytest.mark.parametrize(
    ("classes", "stations", "message"),
    [
        (
            TWO,
            STATIONS.replace("listation", "petristation"),
            "station CPU: 'petristation' is not supported",
        ),
        (
            TWO,
            STATIONS.replace("listation", "ldstation").replace("0.25", ";"),
            "is missing; give one",
        ),
        (
            TWO,
            STATIONS.replace('customerclass="web"', 'customerclass="wbe"'),
            "'wbe' does not exist",
        ),
        (TWO, STATIONS + STATIONS, "stations 'Think' appears twice"),
        (TWO, "", "has no stations"),
        (TWO.replace('"3"', '"2.5"'), STATIONS, "population is 2.5; it must be a whole number"),
        (TWO.replace('"0.5"', '"-1"'), STATIONS, "rate is '-1'"),
        (TWO.replace('"0.5"', '"0"'), STATIONS, "it must be positive"),
        (TWO.replace("openclass", "halfclass"), STATIONS, "class web: unknown element 'halfclass'"),
        (TWO, STATIONS.replace(">0.25<", ">nan<"), "service time of Class A is 'nan'"),
        (TWO, STATIONS.replace('servers="1"', 'servers="0"'), "servers is '0'"),
    ],
)
def test_bad_files_are_refused_in_a_line(tmp_path, classes, stations, message):
    assert message in refusal("import", written(tmp_path, classes, stations))


def test_a_what_if_is_left_out_and_said_to_be(tmp_path):
    path = written(tmp_path, TWO, STATIONS, '<whatIf type="Population" values="1;2"/>')
    assert "the what-if analysis of the file is left out" in headway("import", path).out


def read_back(text):
    return imported(read_jmva(parse_xml(text.encode(), "x.jmva"), "x", "x.jmva"), "x.jmva").model


TIMES = st.floats(1e-6, 1e3)
VISITS = st.floats(1e-3, 50)


@st.composite
def networks(draw):
    """Networks with a product form: one to three classes, closed, open and mixed, not full."""
    names = ["a", "b", "c"][: draw(st.integers(1, 3))]
    graph = ModelGraph("random")
    for k, kind in enumerate(
        draw(st.lists(st.sampled_from(["D", "1", "m"]), min_size=1, max_size=4))
    ):
        times = {c: draw(TIMES) for c in names}
        made = {"D": Delay(1.0), "1": MM1(1.0), "m": MMm(1.0, draw(st.integers(2, 5)))}[kind]
        visits = {c: draw(VISITS) for c in names}
        graph = graph.station(f"s{k}", made, visits, times, "fcfs" if kind == "D" else "ps")
    for c in names:
        demand = sum(
            float(s.visits[c].constant) * float(s.service_times[c].constant)
            for s in graph.stations.values()
        )
        if draw(st.booleans()):
            graph = graph.job_class(c, population=draw(st.integers(1, 4)))
        else:
            graph = graph.job_class(c, arrival_rate=draw(st.floats(0.01, 0.3)) / demand)
    return graph.at()


@settings(max_examples=25, deadline=None, derandomize=True)
@given(networks())
def test_what_is_written_reads_back_to_the_same_numbers(model):
    """To 1e-10 relative: rates go through 1 / (1 / rate), and solvers over that."""
    again = read_back(to_jmva(model))
    first, second = model.solve(), again.solve()
    for name in model.graph.stations:
        for part in ("utilisation", "queue_length", "throughput", "residence_time"):
            key = f"{name}.{part}"
            assert second[key] == pytest.approx(first[key], rel=1e-10), key
    assert second.throughput == pytest.approx(first.throughput, rel=1e-10)
    if "openclass" not in to_jmva(model):
        assert to_jmva(again) == to_jmva(model)


@st.composite
def networks_by_class(draw):
    """Open and closed classes, each with routes, entries and a reference of its own."""
    count, chance = draw(st.integers(2, 4)), st.floats(0.1, 0.9)
    graph = ModelGraph("own")
    for k in range(count):
        times = {c: draw(st.floats(0.01, 0.05)) for c in "ab"}
        graph = graph.station(f"s{k}", MM1(0.1), service_times=times, discipline="ps")
    places = st.sampled_from(sorted(graph.stations))
    graph = graph.job_class("a", draw(st.floats(0.1, 2.0)), arrives=draw(places))
    graph = graph.job_class("b", population=draw(st.integers(1, 4)), think_time=1.0,
                            reference="s0")  # fmt: skip
    for k in range(count):
        graph = graph.route(f"s{k}", f"s{(k + 1) % count}", 1.0, "b")
        graph = graph.route(f"s{k}", draw(places), draw(chance), "a") if k < count - 1 else graph
    return graph


@settings(max_examples=25, deadline=None, derandomize=True)
@given(networks_by_class())
def test_routes_by_class_are_written_as_visits_by_class(graph):
    """To 1e-10 relative, of every class."""
    model = graph.at()
    first = model.solve()
    second = read_back(to_jmva(model)).solve()
    for name in graph.stations:
        for part in ("utilisation", "queue_length", "throughput"):
            assert second[f"{name}.{part}"] == pytest.approx(first[f"{name}.{part}"], rel=1e-10)
    assert second["class a.response_time"] == pytest.approx(
        first["class a.response_time"], rel=1e-10
    )
    assert second["class b.throughput"] == pytest.approx(first["class b.throughput"], rel=1e-10)


def test_models_of_the_catalogue_are_written():
    """Routes as visits, think times as a station, load-dependent rates as times."""
    model = catalogue_model("nfs-server").with_preset("scsi").closed(5, "10 ms")
    with pytest.raises(ModelFileError, match="depend on the load"):
        to_jmva(model)
    graph = (
        ModelGraph("g")
        .station("cpu", MM1(0.1))
        .station("pool", LoadDependent([5.0, 8.0]))
        .route("cpu", "pool", 0.5)
        .route("pool", "cpu")
    )
    closed = graph.at().closed(4, 0.5)
    again = read_back(to_jmva(closed)).solve()
    assert again.throughput == pytest.approx(closed.solve().throughput, rel=1e-12)
    assert again.response_time == pytest.approx(closed.solve().response_time + 0.5, rel=1e-12)
    text = to_jmva(closed)
    assert 'refStation="think"' in text
    assert text.count("0.2;0.125;0.125;0.125") == 1


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (
            ModelGraph("g").station("cpu", MG1(0.1, 2.0)).job_class("a", 1.0),
            "g: cannot be written as a JMVA file: JMVA has no MG1, as at cpu",
        ),
        (
            ModelGraph("g").station("cpu", Parallel(0.1, 2)).job_class("a", 1.0),
            "g: cannot be written as a JMVA file: JMVA has no Parallel, as at cpu",
        ),
        (ModelGraph("g").output("x", "3"), "no stations"),
        (
            ModelGraph("g").station("cpu", LoadDependent([5.0])).job_class("a", 1.0),
            "g: cannot be written as a JMVA file: cpu depends on the load, which JMVA supports for",
        ),
        (
            ModelGraph("g")
            .station("cpu", MM1(0.1), service_times={"a": 0.1, "b": 0.2})
            .job_class("a", 1.0)
            .job_class("b", 1.0),
            'use discipline = "ps"',
        ),
        (
            ModelGraph("g")
            .station("cpu", MM1(0.1))
            .job_class("a", 1.0)
            .job_class("b", 1.0)
            .route("cpu", "cpu", 0.5, "a", "b"),
            "class a becomes b after cpu; no class changes in JMVA",
        ),
    ],
)
def test_what_jmva_has_no_place_for_is_refused(graph, message):
    with pytest.raises(ModelFileError, match=r"g: cannot be written as a JMVA file") as refused:
        to_jmva(graph.at())
    assert message in str(refused.value)


def test_show_writes_a_file_that_solve_reads(tmp_path):
    path = tmp_path / "lan.jmva"
    message = refusal("show", "server-single", "--jmva", "--set", "arrival_rate=500")
    assert "its formula for response_time adds to the time at its stations" in message
    source = written(tmp_path, TWO, STATIONS)
    result = headway("show", source, "--jmva", "--set", "web_arrival_rate=0.25")
    assert result.code == 0, result.err
    path.write_text(result.out)
    changed = find_model(str(source)).at(web_arrival_rate=0.25).solve()
    assert find_model(str(path)).solve()["CPU.queue_length"] == changed["CPU.queue_length"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<servicetimes>", "<servicetimes><group>", "servicetimes contains an element 'group'"),
        ("</servicetime>", "<half/></servicetime>", "servicetime contains an element 'half'"),
        ("<visits>", "<visits><servicetime/>", "visits contains an element 'servicetime'"),
        ("servicetimes", "times", "has no service times; list them in servicetimes"),
    ],
)
def test_elements_where_none_belong_are_named(tmp_path, old, new, message):
    text = jmt.jmva(
        '<closedclass name="a" population="3"/>',
        jmt.station("ldstation", "cpu", {"a": "0.5;0.3;0.2"}, {"a": 1}),
    )
    text = text.replace(old, new)
    if "group" in new:
        text = text.replace("</servicetimes>", "</group></servicetimes>")
    path = tmp_path / "nested.jmva"
    path.write_text(text)
    assert message in refusal("solve", path)
