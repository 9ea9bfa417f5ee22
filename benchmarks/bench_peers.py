"""Whole models, from description to answers, against the same in Python peers, in one run.

Run with ``make benchmark``; each line prints a ratio of times, below 1 where headway is
faster, and the largest relative difference of the answers.

* line-solver (3.0): measured where it is installed (``pip install line-solver``), else skipped.
  It is asked for its exact method: left to itself it takes an approximation from some 100 jobs
  on, whose response times by visit are then residence times.
* ciw (3.2) simulates only: the time of one run is compared with the analytic answer, and how far
  it is off; and with a run of headway's own event loop, of as many jobs.
* queueing-tool (1.2) simulates only, and its last release does not import with NumPy 2.
* PDQ is not to be had from pip; the package of that name there is about something else.
"""

import random
import time

import numpy as np
import pytest
from timing import median

from headway.models import ModelGraph
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.planning import Schedule
from headway.models.simulating.replica import replica
from headway.queueing import MM1, MMm

pytestmark = pytest.mark.filterwarnings("ignore")  # peers warn of affairs of their own
SERVERS, SERVICE_TIME = 28, 0.012


def report(capsys, what, ours, theirs, peer, difference):
    with capsys.disabled():
        print(
            f"\n{what}: {ours * 1e3:.3f} ms, {peer}: {theirs * 1e3:.3f} ms, "
            f"ratio {ours / theirs:.2g}, answers differ by {difference:.1e}"
        )


def test_one_point_of_a_pool(capsys):
    qsys_mmk = pytest.importorskip("line_solver.api.qsys").qsys_mmk
    station = MMm(SERVICE_TIME, SERVERS)
    theirs = median(lambda: qsys_mmk(2000.0, 1 / SERVICE_TIME, SERVERS))
    ours = median(lambda: station.response_time(2000.0))

    there = qsys_mmk(2000.0, 1 / SERVICE_TIME, SERVERS)["W"]
    difference = abs(station.response_time(2000.0) / there - 1)
    report(capsys, "M/M/28, one point", ours, theirs, "line-solver", difference)


def test_many_points_of_a_pool(capsys):
    qsys_mmk = pytest.importorskip("line_solver.api.qsys").qsys_mmk
    station, rates = MMm(SERVICE_TIME, SERVERS), np.linspace(10.0, 2300.0, 10_000)

    def loop():
        return [qsys_mmk(rate, 1 / SERVICE_TIME, SERVERS)["W"] for rate in rates.tolist()]

    theirs = median(loop, rounds=3)
    ours = median(lambda: station.response_time(rates))

    difference = np.abs(station.response_time(rates) / loop() - 1).max()
    report(capsys, "M/M/28, 10^4 points", ours, theirs, "line-solver", difference)


def routes(stations, share=0.8, seed=5):
    """Random probabilities from every station to every other; a share of jobs is routed on."""
    return np.random.default_rng(seed).dirichlet(np.ones(stations), stations) * share


def service_times(stations, seed=6):
    return np.random.default_rng(seed).uniform(0.5, 1.5, stations)


def graph(matrix, times):
    built = ModelGraph("net")
    for k, service_time in enumerate(times.tolist()):
        built = built.station(f"s{k}", MM1(service_time))
    for (source, target), probability in np.ndenumerate(matrix):
        built = built.route(f"s{source}", f"s{target}", float(probability))
    return built


def answers(solution):
    return np.array([solution[f"{name}.response_time"] for name in solution.stations])


def line_network(peer, times, first):
    """A peer's network: the place where jobs come from, then its queues."""
    network = peer.Network("net")
    places = [first(network)]
    in_order = peer.SchedStrategy.FCFS
    return network, places + [peer.Queue(network, f"s{k}", in_order) for k in range(len(times))]


def line_answers(peer, network, customers, places, times, matrix):
    """Set service, link the places by a matrix and solve; response times of the queues."""
    for queue, service_time in zip(places[1:], times.tolist(), strict=False):
        queue.setService(customers, peer.Exp(1 / service_time))
    routing = network.initRoutingMatrix()
    for (source, target), probability in np.ndenumerate(matrix):
        if probability > 0:
            routing.set(customers, customers, places[source], places[target], float(probability))
    network.link(routing)
    table = peer.MVA(network, method="exact", verbose=False).getAvgTable()
    return np.asarray(table["RespT"], float)[1:]


def line_open(peer, matrix, times, rate):
    network, places = line_network(peer, times, lambda net: peer.Source(net, "source"))
    places.append(peer.Sink(network, "sink"))
    customers = peer.OpenClass(network, "jobs")
    places[0].setArrival(customers, peer.Exp(rate))
    whole = np.zeros((len(places), len(places)))
    whole[0, 1] = 1.0
    whole[1:-1, 1:-1] = matrix
    whole[1:-1, -1] = 1 - matrix.sum(axis=1)
    return line_answers(peer, network, customers, places, times, whole)


def line_closed(peer, matrix, times, population, think_time):
    network, places = line_network(peer, times, lambda net: peer.Delay(net, "think"))
    customers = peer.ClosedClass(network, "jobs", population, places[0])
    places[0].setService(customers, peer.Exp(1 / think_time))
    whole = np.zeros((len(places), len(places)))
    whole[0, 1] = 1.0
    whole[1:, 1:] = matrix
    whole[1:, 0] = 1 - matrix.sum(axis=1)
    return line_answers(peer, network, customers, places, times, whole)


def test_open_jackson_network(capsys):
    peer = pytest.importorskip("line_solver")
    matrix, times = routes(10), service_times(10)

    theirs = median(lambda: line_open(peer, matrix, times, 0.2), rounds=3)
    ours = median(lambda: graph(matrix, times).at().solve(arrival_rate=0.2))

    solution = graph(matrix, times).at().solve(arrival_rate=0.2)
    difference = np.abs(answers(solution) / line_open(peer, matrix, times, 0.2) - 1).max()
    report(capsys, "open, 10 stations, built and solved", ours, theirs, "line-solver", difference)


def test_closed_network(capsys):
    peer = pytest.importorskip("line_solver")
    matrix, times = routes(10), service_times(10)

    theirs = median(lambda: line_closed(peer, matrix, times, 100, 5.0), rounds=3)
    ours = median(lambda: graph(matrix, times).at().solve(population=100, think_time=5.0))

    solution = graph(matrix, times).at().solve(population=100, think_time=5.0)
    difference = np.abs(answers(solution) / line_closed(peer, matrix, times, 100, 5.0) - 1).max()
    what = "closed, 10 stations, 100 jobs, built and solved"
    report(capsys, what, ours, theirs, "line-solver", difference)


def test_simulation_of_a_pool(capsys):
    """One run of 100,000 jobs; the first tenth is thrown away."""
    ciw = pytest.importorskip("ciw")
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(2000.0)],
        service_distributions=[ciw.dists.Exponential(1 / SERVICE_TIME)],
        number_of_servers=[SERVERS],
    )
    ciw.seed(7)
    run = ciw.Simulation(network)
    start = time.perf_counter()
    run.simulate_until_max_customers(100_000)
    theirs = time.perf_counter() - start
    station = MMm(SERVICE_TIME, SERVERS)
    ours = median(lambda: station.response_time(2000.0))

    records = sorted(run.get_all_records(), key=lambda record: record.arrival_date)[10_000:]
    simulated = np.mean([record.exit_date - record.arrival_date for record in records])
    difference = abs(simulated / station.response_time(2000.0) - 1)
    report(capsys, "M/M/28, one point", ours, theirs, "ciw, 10^5 jobs", difference)

    plan = blueprint(ModelGraph("pool").station("pool", station).at(arrival_rate=2000.0))
    planned = Schedule(5.0, 45.0, 2e5)  # a tenth is thrown away
    result = replica(plan, planned, (), 7, 0)
    ours = median(lambda: replica(plan, planned, (), 7, 0), rounds=3)
    difference = abs(result["response_time"] / simulated - 1)
    report(capsys, "M/M/28, 10^5 jobs simulated", ours, theirs, "ciw", difference)


def sparse_graph(stations, ways=3, seed=8):
    """Each station sends 90% of its jobs on, to the next and two others."""
    choose = random.Random(seed)  # noqa: S311 - a benchmark's network, no secret
    names = [f"s{k}" for k in range(stations)]
    built = ModelGraph("large")
    for name in names:
        built = built.station(name, MM1(choose.uniform(0.5, 1.5)))
    for k, name in enumerate(names):
        following = names[(k + 1) % stations]
        others = [other for other in names if other != following]
        for target in (following, *choose.sample(others, ways - 1)):
            built = built.route(name, target, 0.9 / ways)
    return built


def test_two_thousand_stations(capsys):
    built = median(lambda: sparse_graph(2000), rounds=3)
    whole = sparse_graph(2000)
    prepared = median(lambda: sparse_copy(whole).at(), rounds=3)
    model = whole.at()
    solved = median(lambda: model.solve(arrival_rate=0.01), rounds=3)
    answered = median(lambda: answers(model.solve(arrival_rate=0.01)), rounds=3)

    with capsys.disabled():
        print(
            f"\nopen, 2000 stations, 6000 routes: build {built * 1e3:.0f} ms, order of "
            f"calculation {prepared * 1e3:.0f} ms, solve {solved * 1e3:.0f} ms "
            f"(aim below 1000), solve and read {answered * 1e3:.0f} ms"
        )
    solution = model.solve(arrival_rate=0.01)
    lengths = [solution[f"{name}.queue_length"] for name in solution.stations]
    np.testing.assert_allclose(sum(lengths), 0.01 * solution.response_time, rtol=1e-9)  # Little


def sparse_copy(whole):
    """The same graph without what it remembers of its order of calculation."""
    return ModelGraph(whole.name, stations=whole.stations, routes=whole.routes)
