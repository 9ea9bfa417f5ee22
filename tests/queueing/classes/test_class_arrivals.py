"""Open classes whose arrivals vary in their own ways: law, files, Python, and what is refused."""

import json
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError, HeadwayError
from headway.models import ModelGraph, parse_model
from headway.models.files.writing import to_toml
from headway.models.importing.writing import to_jmva
from headway.queueing import (
    MG1,
    MM1,
    MM1K,
    ClassRoutes,
    Delay,
    Discipline,
    JobClass,
    MMm,
    SharedStation,
)
from headway.queueing.chains.two_moments import approximation, solve_spread
from headway.queueing.variability.network import GeneralNetwork, solve_general
from tests.campaigns import qna_laws
from tests.campaigns.qna_class_errors import (
    BANDS,
    FAMILIES,
    JOURNEY,
    between,
    errors,
    events,
    lines,
    network,
    simulate,
    sizes,
    stored,
)
from tests.support.cases import mostly_slow
from tests.support.command import headway, refusal
from tests.support.pages import accuracy

loads, spreads = st.floats(0.01, 0.95), st.floats(0.0, 8.0)

FILE = """
name = "shop"
[parameters]
burst = {value = 4.0, min = 0.0}
back = 0.2
[classes.web]
arrival_rate = "3 /s"
arrival_scv = "burst"
arrives = "front"
[classes.batch]
arrival_rate = "2 /s"
arrival_scv = 0.5
arrives = {front = 0.5, store = 0.5}
[stations.front]
kind = "MMm"
service_time = "100 ms"
servers = 2
[stations.wire]
kind = "Delay"
service_time = "30 ms"
[stations.store]
kind = "MG1"
service_time = {web = "50 ms", batch = "200 ms"}
scv = {web = 1, batch = 0}
[[routes]]
from = "front"
to = "wire"
[[routes]]
from = "wire"
to = "store"
class = "web"
probability = 0.7
[[routes]]
from = "store"
to = "front"
class = "batch"
becomes = "web"
probability = "back"
"""


def shop():
    return parse_model(FILE)


def queue(times, scvs=(), servers=1):
    return SharedStation(
        "x", times, [1.0] * len(times), servers=servers, discipline=Discipline.FCFS, scv=scvs
    )


@given(
    st.lists(st.tuples(st.floats(0.1, 1), st.floats(0.1, 3), spreads), min_size=2, max_size=4),
    loads,
)
def test_classes_with_poisson_arrivals_at_one_server_are_exact(classes, load):
    """Pollaczek and Khinchine of the mixture, W = sum of lambda E[S**2] / 2 / (1 - U); 1e-9."""
    rates, times, scvs = (np.array(each) for each in zip(*classes, strict=True))
    rates = rates * load / (rates @ times)
    wait = (rates * (1 + scvs) * times**2).sum() / 2 / (1 - load)
    ways = ClassRoutes(("x",), tuple("abcd")[: len(rates)], {})
    jobs = [JobClass(n, arrival_rate=r) for n, r in zip(ways.classes, rates, strict=True)]
    solution = solve_spread([queue(times.tolist(), scvs.tolist())], jobs, ways, [1] * len(rates))
    assert solution.exact
    assert solution.classes.response_time == pytest.approx(times + wait, rel=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_one_class_is_the_network_of_that_class(seed, count):
    """The same rates, waits and scvs as without classes; 1e-9."""
    random = np.random.default_rng(seed)
    onward = random.dirichlet(np.ones(count + 1), count)[:, :count]
    through = np.linalg.solve(np.eye(count) - onward.T, np.eye(count)[0])
    servers, scvs = random.integers(1, 4, count), random.uniform(0, 4, count)
    times, scv = random.uniform(0.1, 0.9, count) * servers / through, random.uniform(0, 8)
    places = tuple(f"s{k}" for k in range(count))
    chances = {(("a", p), ("a", q)): onward[j, k] for j, p in enumerate(places)
               for k, q in enumerate(places)}  # fmt: skip
    stations = [queue([t], [c], int(m)) for t, c, m in zip(times, scvs, servers, strict=True)]
    jobs = [JobClass("a", arrival_rate=1.0)]
    solution = solve_spread(stations, jobs, ClassRoutes(places, ("a",), chances), [scv])
    coming = np.where(np.arange(count) == 0, scv, 1.0)
    law = solve_general(GeneralNetwork(np.eye(count)[0], coming, onward, times, servers, scvs))
    assert solution.arrival_scv == pytest.approx(law.arrival_scv, rel=1e-9)
    assert solution.departure_scv == pytest.approx(law.departure_scv, rel=1e-9)
    total = (law.arrival_rate * (law.waiting_time + times)).sum()
    assert solution.classes.response_time[0] == pytest.approx(total, rel=1e-9)


@given(st.floats(0.05, 0.9), spreads, spreads, st.floats(0.05, 0.95))
def test_classes_that_meet_make_one_flow(load, first, second, share):
    """Whitt's w = 1 / (1 + 4 (1 - U)**2 (v - 1)) of flows with shares p and 1 - p; 1e-9."""
    rates = (share, 1 - share)
    jobs = [JobClass(n, arrival_rate=r) for n, r in zip("ab", rates, strict=True)]
    solution = solve_spread([queue([load] * 2)], jobs, ClassRoutes(("x",), ("a", "b"), {}),
                         (first, second))  # fmt: skip
    many = 1 / (share**2 + (1 - share) ** 2)
    weight = 1 / (1 + 4 * (1 - load) ** 2 * (many - 1))
    mean = share * first + (1 - share) * second
    assert solution.arrival_scv[0] == pytest.approx(1 + weight * (mean - 1), rel=1e-9)


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(0.1, 1), st.floats(0.1, 3), spreads, spreads),
                min_size=2, max_size=4))  # fmt: skip
def test_bursts_of_long_jobs_bring_more_work(classes):
    """Heavy traffic: W (1 - U) = sum of lambda S**2 (c_a + c_s) / 2 of independent flows; 1%."""
    rates, times, coming, scvs = (np.array(each) for each in zip(*classes, strict=True))
    rates = rates * 0.9999 / (rates @ times)
    work = (rates * times**2 * (coming + scvs)).sum() / 2
    if work < 0.05 * (rates * times**2).sum():
        return  # so steady that few wait
    ways = ClassRoutes(("x",), tuple("abcd")[: len(rates)], {})
    jobs = [JobClass(n, arrival_rate=r) for n, r in zip(ways.classes, rates, strict=True)]
    solution = solve_spread([queue(times.tolist(), scvs.tolist())], jobs, ways, coming.tolist())
    wait = solution.classes.response_time[0] - times[0]
    assert wait * (1 - 0.9999) == pytest.approx(work, rel=1e-2)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_classes_of_one_exponential_time_are_exact(seed):
    """Jackson: what the product form says of routes by class that turn; 1e-9."""
    rates, starts, _, onward, times, servers, _ = network("turning", seed % 40)
    names, places = [f"c{c}" for c in range(len(rates))], [f"s{k}" for k in range(len(servers))]
    same = times.mean(axis=0) * 0.2
    graph = ModelGraph("g")
    for k, place in enumerate(places):
        graph = graph.station(place, MMm(float(same[k]), int(servers[k])))
    for c, k, d, j in zip(*np.nonzero(onward), strict=True):
        becomes = "" if c == d else names[d]
        graph = graph.route(places[k], places[j], float(onward[c, k, d, j]), names[c], becomes)
    first = int(starts[0])
    for j in np.flatnonzero(onward[0, first].sum(axis=0) == 0):  # so that all may be come to
        graph = graph.route(places[first], places[j], 0.0, names[0])
    for name, rate, start in zip(names, rates, starts, strict=True):
        graph = graph.job_class(name, arrival_rate=0.2 * float(rate), arrives=places[start])
    exact, solution = graph.at().solve(), graph.at().solve(method="qna")
    assert solution.approximation == ""
    for part in (*exact.class_outputs, *(f"{p}.queue_length" for p in places)):
        assert solution[part] == pytest.approx(exact[part], rel=1e-9), part


def test_a_file_says_what_the_law_says_at_every_point():
    """Rates, shares, servers, a delay and turns at points of two parameters; 1e-12."""
    solution = shop().solve(burst=np.array([0.0, 1.0, 8.0]), back=np.array([0.0, 0.5, 0.2]))
    for k, (burst, back) in enumerate(((0.0, 0.0), (1.0, 0.5), (8.0, 0.2))):
        ways = ClassRoutes(
            ("front", "wire", "store"),
            ("web", "batch"),
            {
                (("web", "front"), ("web", "wire")): 1.0,
                (("batch", "front"), ("batch", "wire")): 1.0,
                (("web", "wire"), ("web", "store")): 0.7,
                (("batch", "store"), ("web", "front")): back,
            },
            {"web": {"front": 1.0}, "batch": {"front": 0.5, "store": 0.5}},
        )
        delay = SharedStation("wire", (0.03, 0.03), (1, 1), kind=Delay.can.product_form)
        stations = [queue((0.1, 0.1), servers=2), delay, queue((0.05, 0.2), (1, 0))]
        jobs = [JobClass("web", arrival_rate=3.0), JobClass("batch", arrival_rate=2.0)]
        law = solve_spread(stations, jobs, ways, (burst, 0.5))
        for c, name in enumerate(("web", "batch")):
            time = law.classes.response_time[c]
            assert solution[f"class {name}.response_time"][k] == pytest.approx(time, rel=1e-12)
        for j, name in enumerate(solution.stations):
            assert solution[f"{name}.arrival_scv"][k] == pytest.approx(
                law.arrival_scv[j], rel=1e-12
            )
            assert solution[f"{name}.departure_scv"][k] == pytest.approx(law.departure_scv[j])
    assert solution.method == "qna"
    assert "simulations" in solution.approximation


def test_written_and_read_again_it_is_the_same():
    model = shop()
    again = parse_model(to_toml(model))
    assert again.graph == model.graph
    assert again.solve().response_time == model.solve().response_time
    assert "arrival_scv" in str(model)


def test_an_only_class_is_the_network_it_is():
    """Its scv is that of its arrivals; of several places each takes a share by chance."""
    line = ModelGraph("g").station("a", MG1(0.1, 0.2)).station("b", MM1(0.08)).route("a", "b")
    alone = line.job_class("web", 8.0, arrival_scv=4.0).at().solve()
    assert alone.response_time == line.arrive("a", 8.0, scv=4.0).at().solve().response_time
    parted = line.job_class("web", 8.0, arrival_scv=4.0, arrives={"a": 1, "b": 3}).at().solve()
    both = line.arrive("a", 2.0, scv=1.75).arrive("b", 6.0, scv=3.25).at().solve()
    assert parted.response_time == pytest.approx(both.response_time, rel=1e-12)
    still = line.job_class("web", 8.0).at()
    assert still.solve().method == "qna"  # as its services vary
    assert still.solve(method="qna")["a.arrival_scv"] == 1.0


def test_steadier_arrivals_wait_less_and_full_stations_are_marked():
    times = shop().solve(burst=[0.0, 1.0, 2.0, 8.0]).response_time
    assert all(low < high for low, high in pairwise(times.tolist()))
    graph = ModelGraph("g").station("x", MM1(0.1)).declare("rate")
    graph = graph.job_class("a", "rate", arrival_scv=4.0).job_class("b", 2.0)
    solution = graph.at(rate=[0.0, 1e-9, 8.0, 9.0]).solve()
    assert solution.saturated.tolist() == [False, False, True, True]
    assert solution["class a.response_time"][0] == pytest.approx(
        solution["class a.response_time"][1]
    )
    assert solution.response_time[2] == np.inf
    assert "x: utilisation 1" in solution.saturation_message
    nobody = ModelGraph("g").station("x", MM1(0.1)).job_class("a", 0.0, arrival_scv=4.0)
    assert nobody.job_class("b", 0.0).at().solve()["class b.response_time"] == pytest.approx(0.1)


def test_what_it_cannot_do_is_refused_by_name():
    one = ModelGraph("g").station("x", MM1(0.1)).job_class("a", 1.0, arrival_scv=4.0)
    two = one.job_class("b", 1.0)
    with pytest.raises(GraphError, match="arrival_scv is for open classes"):
        one.job_class("b", population=3, arrival_scv=2.0)
    with pytest.raises(GraphError, match="open classes only.*give class b an arrival_rate"):
        one.job_class("b", population=3).at()
    with pytest.raises(GraphError, match="give arrival_scv to the classes"):
        two.arrive("x", 1.0, scv=2.0).at()
    with pytest.raises(GraphError, match="through fcfs queues only, not discipline ps"):
        two.station("y", MM1(0.1), discipline="ps").at()
    with pytest.raises(GraphError, match="through a MM1K"):
        two.station("y", MM1K(0.1, 3)).at()
    visits = ModelGraph("g").station("x", MM1(0.1), visits=2).job_class("b", 1.0)
    with pytest.raises(GraphError, match="visits do not show where jobs go"):
        visits.job_class("a", 1.0, arrival_scv=4.0).at()
    with pytest.raises(GraphError, match="method exact does not support"):
        two.at().solve(method="exact")
    with pytest.raises(HeadwayError, match="arrival_scv of class c is -1"):
        two.declare("c").job_class("c", 1.0, arrival_scv="c").at(c=-1.0).solve()
    with pytest.raises(HeadwayError, match="JMVA's are Poisson"):
        to_jmva(two.at())
    with pytest.raises(GraphError, match="propagated variability has no percentiles"):
        two.at().solve().with_percentile(99)
    with pytest.raises(GraphError, match="gives only mean numbers of jobs"):
        two.at().solve().queue_lengths("x")


def test_the_command_shows_it_by_class(tmp_path):
    path = tmp_path / "shop.toml"
    path.write_text(FILE, encoding="utf-8")
    point = json.loads(headway("solve", path, "--json").out)["points"][0]
    assert point["components"]["store"]["arrival_scv"] == shop().solve()["store.arrival_scv"]
    assert "arrival scv" in headway("solve", path).out
    assert "method exact does not support" in refusal("solve", path, "--method", "exact")
    plain = tmp_path / "plain.toml"
    text = FILE.replace('arrival_scv = "burst"\n', "").replace("arrival_scv = 0.5\n", "")
    plain.write_text(text.replace("burst = {value = 4.0, min = 0.0}\n", ""), encoding="utf-8")
    assert "method: qna" in headway("solve", plain, "--method", "qna").out


def test_slopes_follow_the_solver():
    """Elasticity of the response time by the scv of one class, by central differences; 1%."""
    model = shop()
    near = [model.solve(burst=b).response_time for b in (4.04, 3.96)]
    slope = (near[0] - near[1]) / 0.08 * 4.0 / model.solve().response_time
    elasticity = model.sensitivity().effects["response_time"]["burst"].elasticity
    assert elasticity == pytest.approx(slope, rel=1e-2)


def test_simulated_classes_vary_as_they_say():
    """A class of scv 4 alone at an M-server queue by Ciw, against GI/M/1 that is exact; 99%."""
    graph = ModelGraph("g").station("x", MM1(0.06)).station("y", MM1(0.01))
    graph = graph.job_class("a", 10.0, arrival_scv=4.0, arrives="x").job_class(
        "b", 1.0, arrives="y"
    )
    simulation = graph.at().simulate(half_width=0.1, seed=3)
    first, root = (1 + 0.6**0.5) / 2, 0.5
    for _ in range(200):
        step = (1 - root) / 0.6
        root = sum(p * 2 * p / (2 * p + step) for p in (first, 1 - first))
    low, high = simulation["class a.response_time"].interval(0.99)
    assert low <= 0.06 / (1 - root) <= high
    assert any("hyperexponential" in note for note in simulation.notes)


@pytest.mark.slow
def test_the_tables_of_the_page_follow_from_the_file():
    page, actual = accuracy(), stored()
    for line in lines(actual):
        assert line in page, line
    assert {key[0] for key in actual} == set(FAMILIES)
    assert len(actual) == sum(FAMILIES.values())


@pytest.mark.parametrize("most", mostly_slow((band[1] for band in BANDS), 1))
def test_the_label_states_what_was_measured(most):
    """95 of 100 networks and classes lie within the label's share, and not far within: 1%.

    Of both campaigns, that with larger scvs and other laws too.
    """
    both = zip(errors(stored()), qna_laws.errors(qna_laws.stored()), strict=False)
    networks, journeys = (between([*one, *other], (0.0, most)) for one, other in both)
    network, journey = map(float, re.findall(r"95 of 100 within (\d+)%", approximation(most)))
    assert network - 1 < sizes(networks)[1] <= network + 0.05
    assert journey - 1 < sizes(journeys)[1] <= journey + 0.05
    largest = float(re.search(r"largest error (\d+)%", approximation(most)).group(1))
    assert largest - 1 < max(sizes(networks)[2], sizes(journeys)[2]) <= largest + 0.05
    assert f"at most {100 * most:g}% busy" in approximation(most)
    assert "not measured" in approximation(0.96)


def test_the_simulation_is_repeated_as_it_was():
    """A shorter run lies near the stored one: four standard deviations of both."""
    key = ("turning", 3)
    rows = stored()[key]
    for _, _, c, k, mean, half in simulate(*key, visits=60_000):
        if k == JOURNEY:
            value, before = rows[c, k]
            assert abs(float(mean) - value) < 2 * np.hypot(float(half), before) + 0.02 * value


def test_the_simulation_agrees_with_ciw():
    """Two classes at two stations half busy; one and a half half widths of both."""
    onward = np.zeros((2, 2, 2, 2))
    onward[0, 0, 0, 1], onward[1, 1, 1, 0] = 0.5, 1.0
    times, serving = np.array([[0.1, 0.3], [0.2, 0.1]]), np.array([[1.0, 0.25], [4.0, 1.0]])
    drawn = (np.array([2.0, 1.5]), np.array([0, 1]), np.array([4.0, 0.5]), onward, times,
             np.array([1, 1]), serving)  # fmt: skip
    _, journeys = events(drawn, 150_000, np.random.default_rng(5))
    graph = ModelGraph("g")
    for k, place in enumerate("xy"):
        own, scvs = (dict(zip("ab", each[:, k].tolist(), strict=True)) for each in (times, serving))
        graph = graph.station(place, MG1(1.0, 1.0), None, own, "fcfs", scvs)
    graph = graph.route("x", "y", 0.5, "a").route("y", "x", 1.0, "b")
    graph = graph.job_class("a", 2.0, arrival_scv=4.0, arrives="x")
    graph = graph.job_class("b", 1.5, arrival_scv=0.5, arrives="y")
    simulation = graph.at().simulate(half_width=0.1, seed=5)
    for c, name in enumerate("ab"):
        own = journeys[journeys[:, 0] == c, 2]
        parts = [part.mean() for part in np.array_split(own[len(own) // 10 :], 10)]
        low, high = simulation[f"class {name}.response_time"].interval(0.95)
        unsure = np.hypot(2.262 * np.std(parts, ddof=1) / 10**0.5, (high - low) / 2)
        assert abs((low + high) / 2 - np.mean(parts)) < 1.5 * unsure
