"""The queueing room against plain loops in C and against Python peers, in one run.

Run with ``make benchmark``. Each line prints a ratio of times and the one the project aims
at. Peers are measured where they are installed: ``pip install line-solver``.
"""

import ctypes
import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from timing import least, median

from headway.models import ModelGraph, catalogue_model
from headway.queueing import (
    MM1,
    ClassRoutes,
    Delay,
    JobClass,
    Method,
    MGm,
    MMm,
    SharedStation,
    erlang_c,
    solve_chains,
    solve_closed,
    solve_multiclass,
    visit_ratios,
)
from headway.queueing.variability.network import GeneralNetwork, solve_general

SOURCE = Path(__file__).with_name("kernels.c")


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    library = tmp_path_factory.mktemp("kernels") / "kernels.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, SOURCE, "-lm"], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.mva.restype = ctypes.c_double
    return loaded


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def report(capsys, what, ours, theirs, against, aim):
    with capsys.disabled():
        print(
            f"\n{what}: {ours * 1e3:.3f} ms, {against}: {theirs * 1e3:.3f} ms, "
            f"ratio {ours / theirs:.2f} (aim {aim})"
        )


def test_erlang_c_over_a_million_points(kernels, capsys):
    points, servers = 10**6, 24
    rng = np.random.default_rng(1)
    rate, service = rng.uniform(1, 23, points), rng.uniform(0.5, 1, points)
    result = np.empty(points)

    theirs = median(
        lambda: kernels.erlang_c(points, servers, pointer(rate), pointer(service), pointer(result))
    )
    ours = median(lambda: erlang_c(servers, rate * service))

    assert np.allclose(erlang_c(servers, rate * service), result, rtol=1e-12)
    report(capsys, "Erlang C, m = 24, 10^6 points", ours, theirs, "loop in C", "1.5")


def test_erlang_c_of_a_million_servers(capsys):
    ours = median(lambda: erlang_c(10**6, 999_000.0))

    report(capsys, "Erlang C, scalar, m = 10^6", ours, 1e-3, "one millisecond", "1")


@pytest.mark.parametrize("population", [100, 10_000, 100_000])
@pytest.mark.parametrize("spread", ["random demands", "demands within 1%"])
def test_one_class_ten_stations(kernels, capsys, population, spread):
    rng = np.random.default_rng(2)
    demand = rng.random(10) if spread == "random demands" else rng.uniform(0.99, 1, 10)
    queue = np.empty(10)
    stations, visits = [MM1(d) for d in demand], [1.0] * 10

    def loop():
        return kernels.mva(10, population, pointer(demand), ctypes.c_double(5.0), pointer(queue))

    theirs, ours = median(loop), median(lambda: solve_closed(stations, visits, population, 5.0))

    solution = solve_closed(stations, visits, population, 5.0)
    assert np.isclose(solution.throughput, loop(), rtol=1e-10)
    assert np.allclose(solution.queue_length, queue, rtol=1e-9)
    what = f"one class, 10 stations, {population} jobs, {spread} ({solution.method})"
    aim = {100: "21", 10_000: "1.2"}.get(population, "1")  # of 100 jobs it is the call, 0.15 ms
    report(capsys, what, ours, theirs, "MVA in C", aim)


def test_sweep_of_populations(kernels, capsys):
    jobs = np.arange(1, 10**5 + 1)
    demand = np.random.default_rng(2).random(10)
    queue = np.empty(10)
    stations, visits = [MM1(d) for d in demand], [1.0] * 10

    theirs = median(
        lambda: kernels.mva(10, jobs.size, pointer(demand), ctypes.c_double(5.0), pointer(queue))
    )
    ours = median(lambda: solve_closed(stations, visits, jobs, 5.0), 3)

    solution = solve_closed(stations, visits, jobs, 5.0)
    assert np.allclose(solution.queue_length[:, -1], queue, rtol=1e-9)
    what = f"populations 1 to 10^5, 10 stations ({solution.method})"
    report(capsys, what, ours, theirs, "one recursion in C", "200")


@pytest.mark.parametrize("pool", [False, True])
def test_sweep_of_a_closed_network(kernels, capsys, pool):
    points = 10**5
    rng = np.random.default_rng(3)
    demand = rng.random((points, 5))
    stations, queue, rate = [MM1(d) for d in demand.T], np.empty(5), np.empty(points)
    if pool:
        stations[0] = MMm(8 * demand[:, 0], 8)

    def loop():
        arrays = pointer(demand), ctypes.c_double(1.0), pointer(queue), pointer(rate)
        kernels.mva_sweep(points, 5, 100, *arrays)

    theirs = median(loop, 3)
    ours = median(lambda: solve_closed(stations, [1.0] * 5, 100, 1.0), 3)

    what = "10^5 points, 5 stations, 100 jobs" + ", one of them 8 servers" * pool
    if not pool:
        own = solve_closed(stations, [1.0] * 5, 100, 1.0).throughput
        assert np.allclose(own, rate, rtol=1e-12)
    report(capsys, what, ours, theirs, "MVA in C, all single servers", "one call")


def test_a_closed_network_whose_visits_depend_on_its_throughput(capsys):
    points = 10**5
    times = np.linspace(5e-4, 8e-4, points)
    server, single = (
        catalogue_model("nfs-server").with_preset("raid"),
        catalogue_model("server-single"),
    )
    visits = np.linspace(0.1, 0.3, points)
    network = [Delay(3.4e-3), MM1(times), MMm(12e-3, 28)]

    ours = median(lambda: server.solve(cpu_time=times, population=45), 3)
    bare = median(lambda: solve_closed(network, [1, 1, visits], 45), 3)
    alone = median(lambda: single.solve(service_time=times, population=45), 3)

    what = f"nfs-server closed, 45 jobs, 10^5 points ({points / ours:.0f} a second)"
    report(capsys, what, ours, bare, "the same network with its visits given", "8")
    report(capsys, what, ours, alone, "server-single closed", "60")


def alike(classes, jobs, stations):
    """Demands of a network, its stations and its classes, each of so many jobs."""
    demand = np.random.default_rng(4).uniform(0.1, 1, (classes, stations))
    visits = (1,) * classes
    places = [SharedStation(f"s{k}", tuple(row), visits) for k, row in enumerate(demand.T)]
    return demand, places, [JobClass(str(c), None, jobs, 2.0) for c in range(classes)]


@pytest.mark.parametrize(
    ("classes", "jobs", "stations", "aim"), [(3, 40, 8, "1.5"), (4, 20, 10, "1.6")]
)
def test_exact_classes(kernels, capsys, classes, jobs, stations, aim):
    demand, places, closed = alike(classes, jobs, stations)
    each, think = np.full(classes, jobs, np.int32), np.full(classes, 2.0)
    rate, queue = np.empty(classes), np.empty((jobs + 1) ** classes * stations)
    arrays = pointer(each), pointer(demand), pointer(think), pointer(queue), pointer(rate)

    theirs = least(lambda: kernels.mva_classes(classes, stations, *arrays))
    ours = least(lambda: solve_multiclass(places, closed, Method.EXACT))

    assert np.allclose(solve_multiclass(places, closed).throughput, rate, rtol=1e-12)
    what = f"{classes} classes of {jobs} jobs, {stations} stations"
    report(capsys, what, ours, theirs, "MVA in C", aim)


@pytest.mark.parametrize(
    ("classes", "jobs", "stations", "aim"), [(4, 2500, 10, "3.8"), (20, 10_000, 100, "1.3")]
)
def test_schweitzer(kernels, capsys, classes, jobs, stations, aim):
    """The plain iteration stops when its steps are small; headway's, when the answer is near."""
    demand, places, closed = alike(classes, jobs, stations)
    queue, total, rate = np.empty((classes, stations)), np.empty(stations), np.empty(classes)
    numbers = ctypes.c_double(jobs), pointer(demand), ctypes.c_double(2.0), ctypes.c_double(1e-8)
    arrays = pointer(queue), pointer(total), pointer(rate)

    theirs = least(lambda: kernels.schweitzer(classes, stations, *numbers, *arrays))
    ours = least(lambda: solve_multiclass(places, closed, Method.SCHWEITZER))

    solution = solve_multiclass(places, closed, Method.SCHWEITZER)
    assert np.allclose(solution.throughput, rate, rtol=1e-5)
    what = f"Schweitzer, {classes} classes of {jobs} jobs, {stations} stations"
    report(capsys, what, ours, theirs, "the plain iteration in C, to 1e-8", aim)


@pytest.mark.parametrize(
    ("method", "classes", "jobs", "stations", "aim"),
    [(Method.RECAL, 9, 3, 4, "0.2"), (Method.QUADRATURE, 3, 150, 2, "0.1")],
)
def test_many_classes_without_their_lattice(capsys, method, classes, jobs, stations, aim):
    times = np.random.default_rng(12).uniform(0.1, 1, (stations, classes))
    visits = (1,) * classes
    places = [SharedStation(f"s{k}", tuple(row), visits) for k, row in enumerate(times)]
    closed = [JobClass(str(c), population=jobs, think_time=2.0) for c in range(classes)]
    ours = median(lambda: solve_multiclass(places, closed, method), 3)
    theirs = median(lambda: solve_multiclass(places, closed, Method.EXACT), 3)

    what = f"{method}, {classes} classes of {jobs} jobs, {stations} stations"
    report(capsys, what, ours, theirs, "the lattice of populations", aim)


def turning_network():
    """Twenty stations; three classes of one chain and two of another, each of 50 jobs."""
    rng = np.random.default_rng(1)
    names, onward = tuple(f"s{k}" for k in range(20)), {}
    for chain, c, k in ((g, c, k) for g in ("abc", "de") for c in g for k in names):
        ends = [(d, str(t)) for d in chain for t in rng.choice(names, 3, replace=False)]
        shares = rng.dirichlet(np.ones(len(ends))).tolist()
        onward |= {((c, k), end): share for end, share in zip(ends, shares, strict=True)}
    stations = [SharedStation(k, tuple(rng.uniform(0.01, 0.1, 5)), (1,) * 5) for k in names]
    classes = [JobClass(c, population=50 if c in "ad" else 0) for c in "abcde"]
    return stations, classes, ClassRoutes(names, tuple("abcde"), onward, closed=frozenset("abcde"))


def test_classes_that_turn_into_one_another(capsys):
    network = turning_network()
    ours = median(lambda: solve_chains(*network), 5)

    assert solve_chains(*network).method is Method.EXACT
    report(capsys, "5 classes in 2 chains of 50 jobs, 20 stations", ours, 0.2, "0.2 s", "1")


def _with_threads(threads):
    """Median time of the same in a process whose linear algebra may use so many threads [s]."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    script = (
        "import bench_queueing as b; n = b.turning_network(); "
        "print(b.median(lambda: b.solve_chains(*n), 9))"
    )
    return float(
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, **dict.fromkeys(names, str(threads))},
            cwd=Path(__file__).parent,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    )


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_of_linear_algebra_do_not_slow_it_down(capsys, threads):
    one, several = _with_threads(1), _with_threads(threads)

    report(capsys, f"the same with {threads} threads of BLAS", several, one, "one thread", "1.2")


def test_against_line_solver(capsys):
    pfqn = pytest.importorskip("line_solver.api.pfqn")
    demand, stations, classes = alike(3, 40, 8)
    population, think = np.full(3, 40), np.full(3, 2.0)

    theirs = median(lambda: pfqn.pfqn_mva(demand.T.copy(), population, think), 1)
    ours = median(lambda: solve_multiclass(stations, classes, Method.EXACT))

    report(capsys, "three classes of 40 jobs, 8 stations", ours, theirs, "line-solver", "< 1")


def test_one_class_against_line_solver(capsys):
    pfqn = pytest.importorskip("line_solver.api.pfqn")
    demand = np.random.default_rng(2).random(10)
    stations = [MM1(d) for d in demand]
    population, think = np.array([1000]), np.array([5.0])

    theirs = median(lambda: pfqn.pfqn_mva(demand[:, None].copy(), population, think), 3)
    ours = median(lambda: solve_closed(stations, [1.0] * 10, 1000, 5.0), 5)

    report(capsys, "one class, 10 stations, 1000 jobs", ours, theirs, "line-solver", "< 1")


def test_visits_of_a_matrix_of_routes(capsys):
    matrix = np.random.default_rng(5).dirichlet(np.ones(200), 200) * 0.8
    stations, entries = list(range(200)), {0: 1.0}
    one_by_one = {(i, j): float(p) for (i, j), p in np.ndenumerate(matrix)}
    ours = median(lambda: visit_ratios(stations, entries, matrix))
    solver = median(lambda: np.linalg.solve(np.eye(200) - matrix.T, np.eye(200)[0]))
    routes = median(lambda: visit_ratios(stations, entries, one_by_one), 3)

    report(capsys, "visits, 200 stations, matrix", ours, solver, "numpy.linalg.solve", "2")
    report(capsys, "visits, 200 stations, matrix", ours, routes, "40,000 routes by name", "0.02")


@pytest.mark.parametrize(
    ("method", "classes", "stations", "jobs", "aim"),
    [
        (Method.LINEARIZER, 20, 30, 50, 0.3),
        (Method.LINEARIZER, 100, 30, 10, 5.0),
    ],
)
def test_approximations_of_many_classes(capsys, method, classes, stations, jobs, aim):
    demand = np.random.default_rng(5).uniform(0.1, 1, (classes, stations))
    visits = (1,) * classes
    places = [SharedStation(f"s{k}", tuple(demand[:, k]), visits) for k in range(stations)]
    closed = [JobClass(str(c), population=jobs, think_time=1.0) for c in range(classes)]

    ours = median(lambda: solve_multiclass(places, closed, method), 3)

    what = f"{method}, {classes} classes of {jobs} jobs, {stations} stations"
    report(capsys, what, ours, aim, "the time aimed at", "1")


def test_a_model_of_a_matrix_of_routes(capsys):
    matrix = np.random.default_rng(5).dirichlet(np.ones(200), 200) * 0.8
    graph = ModelGraph("many")
    for k in range(200):
        graph = graph.station(f"s{k}", MM1(1e-4))
    model = graph.route_all(matrix).at()
    solver = median(lambda: np.linalg.solve(np.eye(200) - matrix.T, np.eye(200)[0]))
    given = {"arrival_rate": 1.0}
    visits = median(lambda: model.graph.plan.run(given, ["visits"]))
    whole = median(lambda: model.solve(arrival_rate=10.0))

    report(capsys, "visits of a model, 200 stations", visits, solver, "numpy.linalg.solve", "4")
    report(capsys, "its whole solution", whole, solver, "numpy.linalg.solve", "40")


def test_adding_routes_looks_at_no_others(capsys):
    graph = ModelGraph("many")
    for k in range(100):
        graph = graph.station(f"s{k}", MM1(1e-4))

    def grown(rows):
        longer = graph
        for i in range(rows):
            for j in range(100):
                longer = longer.route(f"s{i}", f"s{j}", 0.001)

    report(
        capsys,
        "10,000 routes",
        median(lambda: grown(100), 3),
        median(lambda: grown(10), 3),
        "1,000 routes",
        "20",
    )


def _many_flows():
    """Two hundred stations with general arrivals and service, four routes out of each."""
    rng = np.random.default_rng(200)
    onward = rng.random((200, 200)) * (rng.random((200, 200)) < 0.02)
    onward *= 0.8 / np.maximum(onward.sum(axis=1, keepdims=True), 1e-9)
    np.fill_diagonal(onward, 0.0)
    rates = rng.uniform(0.1, 1.0, 200)
    through = np.linalg.solve(np.eye(200) - onward.T, rates)
    servers = rng.integers(1, 4, 200)
    times = rng.uniform(0.3, 0.95, 200) * servers / through
    coming, serving = rng.uniform(0, 8, 200), rng.uniform(0, 4, 200)
    return GeneralNetwork(rates, coming, onward, times, servers, serving)


def _as_a_model(given):
    graph = ModelGraph("many").declare("load")
    for k in range(200):
        graph = graph.station(
            f"s{k}", MGm(given.service_times[k], int(given.servers[k]), given.scvs[k])
        )
    graph = graph.route_all(given.onward)
    for k in range(200):
        rate = f"{float(given.arrival_rates[k])!r} * load"
        graph = graph.arrive(f"s{k}", rate, scv=given.arrival_scvs[k])
    return graph.at(load=1.0)


def test_variability_through_two_hundred_stations(capsys):
    """The law alone, and a model made before at another load each time; processor time."""
    given = _many_flows()
    model, loads = _as_a_model(given), count()
    system = np.eye(200) - given.onward.T

    ours = least(lambda: solve_general(given))
    whole = least(lambda: model.solve(load=1 - 1e-6 * next(loads)))
    solver = least(lambda: np.linalg.solve(system, system))

    assert np.isfinite(solve_general(given).waiting_time).all()
    report(capsys, "variability, 200 stations", ours, solver, "numpy.linalg.solve of 200", "15")
    report(capsys, "the same, as a model", whole, solver, "numpy.linalg.solve of 200", "30")
