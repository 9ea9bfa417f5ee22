"""The graph closed, in classes, with losses, and to percentiles."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError, InvalidParameter, ModelFileError, Saturated
from headway.models import ModelGraph, catalogue_model, data_path, parse_model
from headway.queueing import MM1, MM1K, Delay, GGm, MMm, erlang_b
from headway.queueing.stations.kinds import STATIONS, product_form_kinds
from tests.command import headway, refusal

INTERACTIVE = """
name = "interactive system"
[classes.terminals]
population = 40
think_time = "15 s"
[stations.cpu]
kind = "MM1"
service_time = { terminals = "10 ms" }
visits = { terminals = 20 }
[stations.disk]
kind = "MM1"
service_time = "30 ms"
visits = { terminals = 10 }
"""


def raid():
    return catalogue_model("nfs-server").with_preset("raid")


def mean_value_analysis(demands, population, think_time):
    """The textbook recursion, as plain as it gets, to hold ours against."""
    queues = [0.0] * len(demands)
    for jobs in range(1, population + 1):
        times = [d * (1 + q) for d, q in zip(demands, queues, strict=True)]
        throughput = jobs / (think_time + sum(times))
        queues = [throughput * time for time in times]
    return throughput


def test_closed_server_never_exceeds_saturation():
    jobs = np.arange(1, 201)

    solved = raid().solve(population=jobs)

    assert (np.diff(solved.throughput) > -1e-9 * solved.throughput[1:]).all()
    assert (solved.throughput <= solved.saturation_throughput * (1 + 1e-12)).all()
    np.testing.assert_allclose(solved.response_time, jobs / solved.throughput, rtol=1e-9)
    # Far beyond the knee the response time is the population over the saturation throughput.
    assert solved.response_time[-1] == pytest.approx(200 * 650e-6, rel=1e-9)
    assert not solved.saturated.any()


def test_the_throughput_found_gives_itself_back():
    """With the miss ratio frozen at what the solution says, the same throughput comes out."""
    solved = raid().solve(population=15)
    frozen = 1 - 512e6 / (solved.throughput * 1e6)
    graph = (
        ModelGraph("frozen")
        .station("network", Delay(3.4e-3))
        .station("cpu", MM1(650e-6))
        .station("disks", MMm(12e-3, 28))
        .route("network", "cpu")
        .route("cpu", "disks", frozen)
    )

    again = graph.at().solve(population=15)

    assert solved.throughput > 512
    assert again.throughput == pytest.approx(solved.throughput, rel=1e-9)


def test_one_job_never_waits():
    solved = raid().solve(population=1)

    # One job is below 512 op/s: everything is in the cache.
    assert solved.response_time == pytest.approx(3.4e-3 + 650e-6, rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=4), st.integers(1, 30), st.floats(0, 5))
def test_closed_graphs_follow_the_recursion_and_their_bounds(demands, jobs, think):
    graph = ModelGraph("g")
    for k, demand in enumerate(demands):
        graph = graph.station(f"s{k}", MM1(demand), visits=1.0)

    solved = graph.at().solve(population=jobs, think_time=think)

    expected = mean_value_analysis(demands, jobs, think)
    assert solved.throughput == pytest.approx(expected, rel=1e-10)
    held = sum(solved[f"{name}.queue_length"] for name in solved.stations)
    assert held + solved.throughput * think == pytest.approx(jobs, rel=1e-10)
    for bounds in solved.bounds().values():
        assert bounds.throughput_lower <= solved.throughput * (1 + 1e-9)
        assert solved.throughput <= bounds.throughput_upper * (1 + 1e-9)


@pytest.mark.parametrize("method", ["exact", "convolution", "schweitzer", "linearizer"])
def test_the_answer_says_which_method_was_used(method):
    solved = raid().solve(population=45, method=method)

    approximate = method in ("schweitzer", "linearizer")
    assert solved.method == ("convolution" if method == "exact" else method)
    assert bool(solved.approximation) == approximate
    exact = raid().solve(population=45).throughput
    # What the approximations miss here; exact methods agree to rounding.
    assert solved.throughput == pytest.approx(exact, rel=0.1 if approximate else 1e-10)


def test_nobody_and_arrays_of_parameters():
    solved = raid().at(cpu_time=np.array([650e-6, 1300e-6])).solve(population=np.array([0, 45]))

    assert solved.throughput[0] == 0
    assert solved.throughput[1] == pytest.approx(1 / 1300e-6, rel=1e-6)


def test_a_jump_in_the_model_is_refused():
    graph = ModelGraph("g").declare("s").station("cpu", MM1("s * where(throughput < 50, 1, 3)"))

    with pytest.raises(InvalidParameter, match="jumps with the load"):
        graph.at(s=0.01).solve(population=10)


def test_outputs_see_the_closed_solution():
    graph = ModelGraph("g").station("cpu", MM1(0.1)).output("busy", "cpu.utilisation * 100")

    assert graph.at().solve(population=50)["busy"] == pytest.approx(100, rel=1e-12)


def test_interactive_system():
    expected = mean_value_analysis([0.2, 0.3], 40, 15.0)

    solved = parse_model(INTERACTIVE).solve()

    point = json.loads(solved.to_json())["points"][0]
    found = point["classes"]["terminals"]
    assert found["throughput"] == pytest.approx(expected, rel=1e-12)
    assert found["response_time"] == pytest.approx(40 / expected - 15, rel=1e-10)
    assert point["components"]["cpu"]["utilisation"] == pytest.approx(0.2 * expected, rel=1e-12)
    assert point["bottleneck"] == "disk"


def test_a_class_is_the_same_as_closing_by_hand():
    graph = ModelGraph("g").station("cpu", MM1(0.2), 1.0).station("disk", MM1(0.3), 1.0)

    by_hand = graph.at().solve(population=40, think_time=15.0)

    by_class = graph.customers("all", population=40, think_time=15.0).at().solve()
    assert by_class.throughput == pytest.approx(by_hand.throughput, rel=1e-12)
    assert by_class["disk.queue_length"] == pytest.approx(by_hand["disk.queue_length"], rel=1e-10)


def test_mixed_classes_share_the_station():
    graph = (
        ModelGraph("mixed")
        .declare("rate")
        .station("cpu", MM1(0.1), {"terminals": 2, "web": 1}, {"terminals": 0.1, "web": 0.05})
        .customers("terminals", population=4, think_time=1.0)
        .customers("web", arrival_rate="rate")
    )

    solved = graph.at(rate=np.array([0.0, 2.0, 10.0])).solve()

    busy = 0.2 * solved["class terminals.throughput"] + 0.05 * np.array([0.0, 2.0, 10.0])
    # Every visit counts once.
    np.testing.assert_allclose(solved["cpu.utilisation"], busy, rtol=1e-12)
    assert (np.diff(solved["class terminals.throughput"]) < 0).all()


def test_an_unstable_open_class_names_station_and_limit():
    graph = (
        ModelGraph("g")
        .station("cpu", MM1(0.1), 1.0)
        .customers("web", arrival_rate=12.0)
        .customers("batch", population=3)
    )

    with pytest.raises(Saturated, match=r"cpu: utilisation 1\.2 .*saturates at 10 /s"):
        graph.at().solve().require_stable()


def two_classes():
    graph = ModelGraph("g").declare("rate", "m").station("cpu", MMm(0.1, "m"), 1.0)
    graph = graph.station("net", Delay(0.05), 1.0).customers("web", arrival_rate="rate")
    return graph.customers("batch", population=3, think_time=0.2)


def test_a_sweep_past_saturation_marks_its_rows_and_answers_the_rest():
    rates = [5.0, 15.0, 25.0]
    solution = two_classes().at(rate=np.array(rates), m=2).solve()
    alone = [two_classes().at(rate=rate, m=2).solve() for rate in rates]

    assert solution.saturated.tolist() == [False, False, True]
    for name in ("response_time", "class batch.throughput", "cpu.queue_length"):
        assert np.asarray(solution[name])[:2] == pytest.approx([s[name] for s in alone[:2]])
    assert solution["class web.response_time"][2] == math.inf
    assert solution["class batch.throughput"][2] == 0
    assert math.isnan(solution["class web.throughput"][2])
    assert "cpu: utilisation 1.25 by open classes, web at 25 /s; it saturates" in str(solution)
    assert json.loads(alone[2].to_json())["points"][0]["saturated"]


def test_numbers_of_servers_are_swept_with_classes():
    solution = two_classes().at(rate=15.0, m=np.array([1.0, 2.0, 4.0])).solve()

    assert solution.saturated.tolist() == [True, False, False]
    for k, servers in ((1, 2), (2, 4)):
        alone = two_classes().at(rate=15.0, m=servers).solve()
        assert np.asarray(solution.response_time)[k] == pytest.approx(alone.response_time)


def test_classes_without_customers_still_take_their_service():
    graph = ModelGraph("g").station("cpu", MM1(0.1), visits=3).station("disk", MM1(0.4), visits=1)
    graph = graph.customers("web", arrival_rate=0.0).customers("batch", population=0, think_time=1)
    solution = graph.at().solve()

    assert solution["class web.response_time"] == pytest.approx(0.7)
    assert solution.response_time == pytest.approx(0.7)
    assert solution["cpu.residence_time"] == pytest.approx(0.3)


CPU = '[stations.cpu]\nkind = "MM1"\nservice_time = 0.1\n'


def file_with(extra, stations=CPU):
    return 'name = "g"\n' + extra + stations


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            file_with('[[routes]]\nfrom = "cpu"\nto = "cpu"\nprobability = 0.5\n') + "visits = 2\n",
            "visits and there are routes",
        ),
        (
            file_with("", '[stations.a]\nkind = "MM1"\nservice_time = 1\nvisits = 1\n')
            + '[stations.b]\nkind = "MM1"\nservice_time = 1\n',
            "b has no visits",
        ),
        (file_with("") + "visits = { web = 1 }\n", "there is no class 'web'"),
        (file_with("[classes.web]\nrate = 1\n"), "web has no 'rate'"),
        (file_with("[classes.web]\nthink_time = 1\n"), "either an arrival_rate or a population"),
        (
            file_with("[classes.web]\npopulation = 1\narrival_rate = 1\n"),
            "either an arrival_rate or a population",
        ),
    ],
)
def test_refused_files(text, why):
    with pytest.raises(ModelFileError, match=why):
        parse_model(text, "g.toml")


def classes(station, **customers):
    graph = ModelGraph("g").station("cpu", station, 1.0).customers("other", population=1)
    return graph.customers("c", **customers).at()


@pytest.mark.parametrize(
    ("model", "error", "why"),
    [
        (classes(MM1(0.1), population=2.5), InvalidParameter, "2.5.*whole number"),
        (classes(MM1(0.1), population=-1), InvalidParameter, "-1"),
        (classes(GGm(0.1, 2, 1, 1), population=1), GraphError, "cannot share a GGm"),
        (classes(MM1("0.1 + throughput"), population=1), GraphError, "no single throughput"),
    ],
)
def test_refused_classes(model, error, why):
    with pytest.raises(error, match=why):
        model.solve()


def test_a_class_that_visits_no_station():
    graph = ModelGraph("g").station("cpu", MM1(0.1), {"web": 1}).customers("web", population=2)
    graph = graph.customers("idle", population=3)

    with pytest.raises(GraphError, match="class idle visits no station"):
        graph.at().solve()


@pytest.mark.parametrize("number", [math.inf, math.nan])
def test_demands_that_are_no_numbers(number):
    graph = ModelGraph("g").declare("v").station("cpu", MM1(0.1), "v")

    with pytest.raises(InvalidParameter, match="finite"):
        graph.at(v=1.0).graph.at({"v": number}).solve(population=3)


def test_a_lattice_too_large_tells_its_size_and_the_way_out():
    graph = ModelGraph("g").station("cpu", MM1(0.1), 1.0)
    for k in range(6):
        graph = graph.customers(f"c{k}", population=200)

    with pytest.raises(InvalidParameter, match=r"GB.*(linearizer|schweitzer)"):
        graph.at().solve(method="exact")
    assert "inearizer" in graph.at().solve().approximation


def test_stations_that_lose():
    graph = ModelGraph("g").station("door", MM1K(0.1, 3)).station("desk", MM1(0.05))
    solved = graph.route("door", "desk").at().solve(arrival_rate=15.0)

    lost = MM1K(0.1, 3).loss_probability(15.0)
    assert solved["loss_probability"] == pytest.approx(lost, rel=1e-12)
    assert solved.throughput == pytest.approx(15 * (1 - lost), rel=1e-12)
    assert solved["desk.throughput"] == pytest.approx(solved.throughput, rel=1e-12)
    held = solved["door.queue_length"] + solved["desk.queue_length"]
    assert held == pytest.approx(solved.throughput * solved.response_time, rel=1e-12)
    assert solved.saturation_throughput == np.inf
    assert "taken as Poisson" in solved.approximation


def test_losses_in_a_loop_agree_with_visits():
    graph = ModelGraph("g").station("cpu", MM1K(0.1, 4)).station("wan", Delay(0.1))
    graph = graph.route("cpu", "wan", 0.5).route("wan", "cpu")

    solved = graph.at().solve(arrival_rate=6.0)

    offered = solved["cpu.arrival_rate"]
    lost = MM1K(0.1, 4).loss_probability(offered)
    assert offered == pytest.approx(6 + 0.5 * offered * (1 - lost), rel=1e-12)
    assert solved.throughput == pytest.approx(6 - offered * lost, rel=1e-12)


KINDS = {
    "Delay": {"service_time": "50 ms"},
    "MM1": {"service_time": "50 ms"},
    "MMm": {"service_time": "50 ms", "servers": 3},
    "MM1K": {"service_time": "50 ms", "capacity": 4},
    "MMmK": {"service_time": "50 ms", "servers": 3, "capacity": 3},
    "MD1": {"service_time": "50 ms"},
    "MG1": {"service_time": "50 ms", "scv": 2},
    "GGm": {"service_time": "50 ms", "servers": 2, "arrival_scv": 0.5, "scv": 2},
    "LoadDependent": {"rates": ["20 /s", "30 /s", "40 /s"]},
    "Parallel": {"service_time": "50 ms", "servers": 3},
}


def model_of(kind):
    table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in KINDS[kind].items())
    head = 'name = "g"\n[parameters]\narrival_rate = "10 /s"\n'
    return parse_model(f'{head}[stations.x]\nkind = "{kind}"\n{table}')


@pytest.mark.parametrize("kind", STATIONS)
def test_every_kind_from_a_file_and_back(kind):
    model = model_of(kind)

    solved = model.solve()

    assert 0 < solved.response_time < 1
    inside = solved.throughput * solved.response_time
    assert solved["x.queue_length"] == pytest.approx(inside, rel=1e-12)
    again = parse_model(model.to_toml())
    assert again.to_toml() == model.to_toml()
    assert again.solve().response_time == solved.response_time


def test_full_house_is_erlang_b():
    assert model_of("MMmK").solve()["loss_probability"] == pytest.approx(
        erlang_b(3, 0.5), rel=1e-12
    )


@pytest.mark.parametrize("kind", STATIONS)
def test_closed_networks_hold_the_product_form_kinds(kind):
    if kind in product_form_kinds():
        assert model_of(kind).solve(population=5).throughput > 0
    else:
        with pytest.raises(GraphError, match="no closed product form"):
            model_of(kind).solve(population=5)


def test_percentiles():
    one = ModelGraph("one").station("cpu", MM1(0.01)).at()

    solved = one.solve(arrival_rate=np.array([0.0, 50.0])).with_percentile(95)

    # An M/M/1's response time is exponential. Tolerance: the transform's inversion.
    expected = -np.log(0.05) * 0.01 / (1 - np.array([0.0, 0.5]))
    np.testing.assert_allclose(solved["response_time_p95"], expected, rtol=1e-7)
    assert solved.approximation == ""  # one visit: nothing to be independent of
    with pytest.raises(GraphError, match="open networks"):
        one.solve(population=3).with_percentile(95)
    with pytest.raises(InvalidParameter, match="between 0 and 100"):
        one.solve(arrival_rate=1.0).with_percentile(100)


def test_command_line():
    result = headway("solve", "nfs-server", "--preset", "raid", "--closed", "45", "--json")

    document = json.loads(result.out)
    point = document["points"][0]
    assert document["method"] == "convolution"
    assert point["inputs"]["population"] == 45
    assert point["outputs"]["throughput"] == pytest.approx(1538.5, abs=0.05)
    assert point["outputs"]["response_time"] == pytest.approx(0.02925, abs=1e-5)
    sweep = headway("solve", "nfs-server", "--population", "1:5", "--think", "15ms", "--csv")
    assert len(sweep.out.splitlines()) == 6
    shown = headway("solve", "nfs-server", "--set", "arrival_rate=1000", "--percentile", "95")
    assert "response_time_p95" in shown.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--closed", "-1"], "population is -1; it must be 0 or more"),
        (["--closed", "2.5"], "whole number"),
        (["--closed", "4", "--population", "1:3"], "not both"),
        (["--think", "3 s"], "--think goes with"),
        (["--closed", "4", "--think", "-3 s"], "think_time is -3 s"),
        (["--closed", "4", "--think", "3 MB"], "needs time"),
        (["--closed", "4", "--method", "magic"], "magic"),
        (["--closed", "4", "--percentile", "95"], "open networks"),
        (["--closed", "4", "--set", "arrival_rate=3"], "no parameter 'arrival_rate'"),
        (["--percentile", "101"], "between 0 and 100"),
    ],
)
def test_refused_on_the_command_line(arguments, message):
    assert message in refusal("solve", "nfs-server", *arguments)


def test_compare_closes_a_model_and_paces_it_to_the_measured_loads():
    """No load is beyond a closed model: at its limit 45 jobs are inside, by Little's law."""
    data = data_path("network_sensitivity/table_a_5_raid_performance.csv")
    slower = ("compare", "nfs-server", "--preset", "raid", "--set", "cpu_time=700us")
    command = (*slower, "--data", data)
    points = json.loads(headway(*command, "--closed", "45", "--json").out)["points"]
    last = max(points, key=lambda point: point["load"])

    assert all(point["predicted"] is not None for point in points)
    assert last["predicted"] == pytest.approx(45 / last["load"], rel=1e-12)
    assert "--think goes with --closed" in refusal(*command, "--think", "1ms")
    assert "population is 0" in refusal(*command, "--closed", "0")


@pytest.mark.parametrize(
    "name",
    [
        "server-single",
        "server",
        "server-pool",
        "server-contention",
        "server-cache",
        "server-batching",
    ],
)
def test_time_that_a_formula_adds_is_in_the_circle_too(name):
    """The delay of these models is a term of their formula, not a station: jobs are there too."""
    model = catalogue_model(name).at(delay=2e-3)

    solved = model.solve(population=6, think_time=5e-3)

    # Little's law over the whole circle; where terms use the throughput it is agreed to 1e-9
    assert solved.throughput * (solved.response_time + 5e-3) == pytest.approx(6, rel=1e-8)
    # at the throughput that comes out the formula gives the response time that is told
    values = {"throughput": solved.throughput, "arrival_rate": solved.throughput}
    parts = {f"{s}.{p}": solved[f"{s}.{p}"] for s in solved.stations
             for p in ("response_time", "residence_time")}  # fmt: skip
    given = {**solved.model.inputs, **values, **parts}
    again = model.graph.plan.run(given, ["response_time"])["response_time"]
    assert again == pytest.approx(solved.response_time, rel=1e-8)


def test_a_delay_in_the_formula_is_a_delay_in_the_network():
    single = catalogue_model("server-single").at(delay=2e-3, service_time=1e-3)
    apart = (
        ModelGraph("apart").declare("delay", "s")
        .station("network", Delay("delay")).station("node", MM1("s")).route("network", "node")
    ).at(delay=2e-3, s=1e-3)  # fmt: skip

    jobs = np.arange(1.0, 30.0)
    found, expected = (m.solve(population=jobs, think_time=0.01) for m in (single, apart))

    np.testing.assert_allclose(found.throughput, expected.throughput, rtol=1e-12)
    np.testing.assert_allclose(found.response_time, expected.response_time, rtol=1e-12)
    np.testing.assert_allclose(found.knee_population, expected.knee_population, rtol=1e-12)
    for method, limits in found.bounds().items():
        for mine, theirs in zip(
            vars(limits).values(), vars(expected.bounds()[method]).values(), strict=True
        ):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_a_formula_that_leaves_a_station_out_cannot_be_closed():
    graph = ModelGraph("g").station("cpu", MM1(0.1)).station("disk", MM1(0.2)).route("cpu", "disk")

    with pytest.raises(GraphError, match="g cannot be closed: its formula for response_time"):
        graph.output("response_time", "disk.response_time").at().solve(population=5)


def test_servers_that_stand_as_one_with_a_share_of_the_visits_cannot_be_closed():
    """`server` draws one of its equal servers; where the jobs at the others are is not in it."""
    with pytest.raises(GraphError, match="server cannot be closed"):
        catalogue_model("server").at(servers=2.0).solve(population=5)


def test_several_classes_have_no_one_saturation_throughput():
    solution = two_classes().at(rate=np.array([1.0, 2.0]), m=2).solve()

    with pytest.raises(GraphError, match="several classes there is no one saturation throughput"):
        solution["saturation_throughput"]
    assert solution.plot().axes


def test_a_response_time_by_formula_has_no_percentile():
    graph = ModelGraph("g").declare("wait").station("cpu", MM1(0.001))
    graph = graph.output("response_time", "wait + cpu.response_time")

    with pytest.raises(GraphError, match="its response time is a formula"):
        graph.at(wait=0.001, arrival_rate=10.0).solve().with_percentile(95)


@pytest.mark.parametrize("delay", [0.0, 1e-15, 5e-10, 1e-6])
def test_a_time_beside_the_stations_may_be_small(delay):
    graph = ModelGraph("g").declare("wait").station("cpu", MM1(1.39e-3))
    graph = graph.output("response_time", "wait + cpu.response_time")
    users = np.array([1.0, 8.0, 64.0])
    solution = graph.at(wait=delay).solve(population=users, think_time=0.01)
    same = ModelGraph("same").station("cpu", MM1(1.39e-3)).at()
    beside = same.solve(population=users, think_time=0.01 + delay)

    np.testing.assert_allclose(solution.throughput, beside.throughput, rtol=1e-11)
