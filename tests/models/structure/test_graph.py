import pickle

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError, InvalidParameter, Saturated, UnknownParameter
from headway.loggp import PLATFORMS
from headway.models import Measurements, ModelGraph, catalogue_model
from headway.models.solving.symbolic import numeric, symbol
from headway.queueing import MM1, Delay, MMm


def one_station():
    return ModelGraph("one").declare("s").station("cpu", MM1("s"))


def test_symbols_declare_themselves_and_text_must_be_declared():
    time = sympy.Symbol("time", positive=True)

    graph = ModelGraph("g").station("cpu", MM1(2 * time))

    assert graph.parameters == ("time",)
    with pytest.raises(UnknownParameter, match=r"cpu.service_time: 'time' in 'time' is unknown"):
        ModelGraph("g").station("cpu", MM1("time"))


def test_verbs_give_new_graphs():
    before = one_station()

    before.declare("p").route("cpu", "cpu", "p")

    assert before.routes == ()


def test_feedback_multiplies_visits():
    graph = one_station().declare("back").route("cpu", "cpu", "back")

    solved = graph.at(s=0.01, back=0.6).solve(arrival_rate=10)

    assert solved["cpu.visits"] == pytest.approx(2.5, rel=1e-12)
    assert solved.saturation_throughput == pytest.approx(40.0, rel=1e-12)
    # Each of 2.5 visits sees U = 0.25: 2.5 * 0.01 / 0.75.
    assert solved.response_time == pytest.approx(2.5 * 0.01 / 0.75, rel=1e-12)


def test_a_link_binds_into_a_station():
    graph = (
        ModelGraph("g")
        .declare("base")
        .link("lan", PLATFORMS["now"])
        .station("cpu", MM1("base + 2.4 * lan.overhead"))
    )

    solved = graph.at(base=650e-6).solve(arrival_rate=100)

    assert solved["cpu.service_time"] == pytest.approx(650e-6 + 2.4 * 2.9e-6, rel=1e-12)


def test_a_station_can_use_another_ones_output():
    graph = (
        ModelGraph("g")
        .station("cpu", MM1(0.01))
        .station("disk", MM1("0.01 * (1 + cpu.utilisation)"))
        .route("cpu", "disk")
    )

    solved = graph.at().solve(arrival_rate=50)

    assert solved["disk.service_time"] == pytest.approx(0.015, rel=1e-12)


def test_arrivals_at_two_stations():
    graph = (
        ModelGraph("g")
        .station("a", MM1(0.1))
        .station("b", MM1(0.1))
        .route("a", "b", 0.5)
        .arrive("a", 2.0)
        .arrive("b", 3.0)
    )

    solved = graph.at().solve()

    assert solved.throughput == 5.0
    assert solved["b.throughput"] == pytest.approx(4.0, rel=1e-12)


@pytest.mark.parametrize(
    ("build", "error", "why"),
    [
        (lambda g: g.route("cpu", "dsk"), GraphError, "there is no station 'dsk'"),
        (lambda g: g.route("cpu", "cpu", 0.1).route("cpu", "cpu", 0.1), GraphError, "given twice"),
        (lambda g: g.station("cpu", MM1(1.0)), GraphError, "is already taken"),
        (lambda g: g.declare("max"), GraphError, "is reserved"),
        (lambda g: g.declare("pi"), GraphError, "is reserved"),
        (lambda g: g.declare("a-b"), GraphError, "not a valid name"),
        (lambda g: g.bind("s", "1"), GraphError, "defined twice"),
        (lambda g: g.bind("x", "s.__class__"), ValueError, "have a dot"),
        (lambda g: g.bind("x", "disk.utilisation"), UnknownParameter, "unknown component"),
        (lambda g: g.arrive("nowhere", 1.0), GraphError, "there is no station"),
        (lambda g: g.route("cpu", "cpu", "cpu.utilisation").at(), GraphError, "circle"),
        (lambda g: g.at(t=1), UnknownParameter, "no parameter 't'"),
        (lambda g: g.at().solve(1.0), InvalidParameter, "no value for s"),
        (lambda g: g.at(s=1).solve(-1.0), InvalidParameter, "arrival_rate is -1"),
        (lambda g: g.at(s=np.ones(2)).solve(np.ones(3)), InvalidParameter, "the same length"),
        (lambda g: g.at(s=-1.0).solve(1.0), InvalidParameter, "cpu: service_time is -1"),
        (lambda g: g.closed_form("cpu.color"), UnknownParameter, "no closed form"),
    ],
)
def test_refused(build, error, why):
    with pytest.raises(error, match=why):
        build(one_station())


def test_saturated_points_are_marked_and_named():
    solved = one_station().at(s=0.01).solve(arrival_rate=np.array([50.0, 104.0]))

    assert solved.saturated.tolist() == [False, True]
    assert solved.response_time[1] == np.inf
    assert solved.throughput.tolist() == [50.0, 100.0]
    with pytest.raises(
        Saturated, match=r"cpu: utilisation 1\.04 at 104 requests/s; it saturates at 100"
    ):
        solved.require_stable()


def test_saturation_where_the_miss_ratio_grows_with_load():
    """Few disks: the last of X (1 - M/X) S = m gives X = m/S + M."""
    model = catalogue_model("nfs-server").with_preset("raid").at(disks=5)

    # Tolerance: bisection to the last bit, then rounding of the model's own arithmetic.
    assert model.solve(100).saturation_throughput == pytest.approx(5 / 0.012 + 512, rel=1e-12)


def test_saturation_is_found_for_every_point_of_a_sweep():
    counts = np.array([5, 7, 20, 28])

    limits = catalogue_model("nfs-server").with_preset("raid").at(disks=counts).solve(100)

    expected = np.minimum(counts / 0.012 + 512, 1 / 650e-6)
    np.testing.assert_allclose(limits.saturation_throughput, expected, rtol=1e-12)


def test_saturation_over_more_points_than_a_block():
    counts = np.tile([5.0, 20.0], 40_000)

    limits = catalogue_model("nfs-server").with_preset("raid").at(disks=counts).solve(100)

    expected = np.tile([5 / 0.012 + 512, 1 / 650e-6], 40_000)
    np.testing.assert_allclose(limits.saturation_throughput, expected, rtol=1e-12)


def test_a_network_of_delays_never_saturates():
    solved = ModelGraph("g").station("d", Delay("1 + 0 * throughput")).at().solve(arrival_rate=5.0)

    assert solved.saturation_throughput == np.inf
    assert not solved.saturated


def test_no_load_is_no_error():
    solved = catalogue_model("nfs-server").solve(np.array([0.0, 10.0]))

    assert solved["disks.throughput"].tolist() == [0.0, 0.0]
    assert np.isfinite(solved.response_time).all()


times = st.floats(1e-5, 1e-2)


@settings(max_examples=40, deadline=None)
@given(
    times,
    times,
    times,
    st.integers(1, 60),
    st.floats(1, 1e3),
    st.floats(0.01, 0.95),
    st.floats(0, 1e-3),
)
def test_closed_form_equals_numbers(delay, cpu, disk, disks, memory, share, overhead):
    """Symbolic and numeric solutions of nfs-server agree to 1e-12 over random parameters."""
    model = catalogue_model("nfs-server").at(
        delay=delay,
        cpu_time=cpu,
        disk_time=disk,
        disks=disks,
        memory=memory * 1e6,
        added_overhead=overhead,
    )
    rate = share * float(model.solve(1.0).saturation_throughput)
    solved = model.solve(rate)
    form = model.graph.response_time
    names = sorted(str(s) for s in form.free_symbols)

    function = numeric(form, [symbol(name) for name in names])

    result = function(*(solved.model.inputs[name] for name in names))
    assert result == pytest.approx(solved.response_time, rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(times, times, st.integers(1, 9), st.floats(0, 0.9), st.floats(0.05, 0.95))
def test_closed_form_of_a_feedback_network(cpu, disk, disks, back, share):
    p, s, d = sympy.symbols("p s d", positive=True)
    graph = (
        ModelGraph("g")
        .station("cpu", MM1(s))
        .station("disk", MMm(d, disks))
        .route("cpu", "disk", p)
        .route("disk", "cpu")
    )
    model = graph.at(s=cpu, d=disk, p=back)
    solved = model.solve(share * float(model.solve(1.0).saturation_throughput))
    form = graph.response_time
    values = [float(solved.model.inputs[str(x)]) for x in sorted(form.free_symbols, key=str)]

    function = numeric(form, sorted(form.free_symbols, key=str))

    # Tolerance: near U = 0.95 with 0.9 feedback, differences lose two digits in either form.
    assert function(*values) == pytest.approx(solved.response_time, rel=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.05, 0.95), st.floats(0, 0.8))
def test_little_and_utilisation_laws_hold_in_solutions(share, back):
    graph = one_station().declare("p").route("cpu", "cpu", "p")
    model = graph.at(s=0.01, p=back)
    solved = model.solve(share * float(model.solve(1.0).saturation_throughput))

    inside = solved["cpu.queue_length"]

    assert inside == pytest.approx(solved.throughput * solved.response_time, rel=1e-12)
    assert solved["cpu.utilisation"] == pytest.approx(share, rel=1e-12)
    assert inside == pytest.approx(share / (1 - share), rel=1e-11)


def test_answers_show_themselves():
    solved = one_station().at(s=0.01).solve(arrival_rate=np.array([10.0, 50.0]))

    assert repr(solved) == "Solution(one, 2 points)"
    assert "response_time [ms]" in str(solved)
    assert "<table" in solved._repr_html_()
    assert len(solved.rows()) == 2
    assert "s" in repr(one_station().at(s=0.01))


def test_a_sweep_of_many_outputs_shows_some_and_says_so():
    graph = ModelGraph("many").declare("x")
    for k in range(12):
        graph = graph.output(f"y{k}", f"x + {k}")

    shown = str(graph.at(x=np.array([1.0, 2.0])).solve())

    assert "y8" in shown
    assert "y9" not in shown
    assert "and 3 more outputs" in shown


def test_a_list_is_taken_as_an_array():
    one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.001)

    assert one.solve(arrival_rate=[500, 800]).response_time.tolist() == pytest.approx(
        [0.002, 0.005]
    )
    with pytest.raises(InvalidParameter, match=r"s is \['a'\]; a list must contain numbers"):
        one.at(s=["a"])


def test_saturation_does_not_mind_what_only_a_delay_depends_on():
    """As many latencies as the search takes loads at once, or not: the same limit for all."""
    raid = catalogue_model("nfs-server").with_preset("raid")
    for count in (3, 16, 17):
        solved = raid.at(added_latency=np.linspace(0, 1e-3, count)).solve()
        assert solved.saturation_throughput == pytest.approx(1 / 650e-6, rel=1e-12)


def test_branches_of_a_graph_know_their_own_routes():
    """Graphs hand their routes on; two that come from one do not see each other's."""
    start = ModelGraph("g").station("a", MM1(1.0)).station("b", MM1(1.0)).route("a", "b", 0.5)

    left = start.route("b", "a", 0.5)
    right = start.route("a", "a", 0.1).route("b", "a", 0.2)

    assert [(r.source, r.target) for r in left.routes] == [("a", "b"), ("b", "a")]
    assert len(right.routes) == 3
    for graph in (start, left, right):
        with pytest.raises(GraphError, match="given twice"):
            graph.route("a", "b", 0.1)
    assert start.route("b", "a", 0.5) == left


def test_what_needs_nothing_given_is_calculated_once(monkeypatch):
    """Stations and flows of plain numbers are kept; what is given in their place counts anew."""
    graph = ModelGraph("one").bind("time", "0.1").station("cpu", MM1("time"))
    made = []
    monkeypatch.setattr(MM1, "__post_init__", lambda self: made.append(self))
    model = graph.at()
    values = [model.solve(rate).response_time for rate in (1.0, 2.0, 5.0)]
    assert values == pytest.approx([0.1 / 0.9, 0.1 / 0.8, 0.1 / 0.5], rel=1e-12)
    assert len(made) == 1
    process = graph.plan.run({"arrival_rate": 5.0, "time": 0.05}, ["response_time"])
    assert process["response_time"] == pytest.approx(0.05 / 0.75, rel=1e-12)
    monkeypatch.undo()
    wrong = ModelGraph("one").station("cpu", MM1("0.1 - 0.2")).at()
    for _ in range(2):
        with pytest.raises(InvalidParameter, match="cpu: service_time"):
            wrong.solve(1.0)


def ring(last):
    """Eleven stations in a row; the last one sends some jobs back."""
    graph = ModelGraph("ring").declare("s", "again")
    for k in range(11):
        graph = graph.station(f"s{k}", MM1("s"))
    for k in range(10):
        graph = graph.route(f"s{k}", f"s{k + 1}")
    return graph.route("s10", last, "again")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ring("s0"), ring("s9")),
        (one_station(), ModelGraph("one").declare("s").station("cpu", MM1("2 * s"))),
        (one_station(), ModelGraph("one").declare("t").station("cpu", MM1("t"))),
    ],
)
def test_graphs_with_equal_counts_are_told_apart(one, other):
    """What is remembered of one graph, and saved sweeps, go by its content, not its short repr."""
    assert repr(one) == repr(other)
    assert one.content != other.content
    assert one.content == pickle.loads(pickle.dumps(one)).content  # noqa: S301


def test_a_fit_of_another_graph_with_equal_counts_is_its_own():
    curve = Measurements.parse("throughput_ops_s,response_s\n1,2\n2,3\n3,6\n", "curve")
    times = []
    for factor in (1, 2):
        graph = ModelGraph("one").declare("s").station("cpu", MM1(f"{factor} * s"))
        times.append(factor * graph.at(s=0.1).fit(curve, ["s"]).values["s"])

    assert times[1] == pytest.approx(times[0], rel=1e-6)  # the search's own tolerance is 1e-8


def test_a_range_is_a_list_and_answers_have_names() -> None:
    solution = catalogue_model("server-single").at(delay=0.0, service_time=1e-3).solve(range(3))

    assert solution["response_time"] == pytest.approx(1e-3 / (1 - 1e-3 * np.arange(3)))
    with pytest.raises(UnknownParameter, match="answers have names"):
        solution[0]  # type: ignore[index]
