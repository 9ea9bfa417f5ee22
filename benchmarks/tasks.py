"""What the speed of two revisions is compared by: each task is set up once and called many times.

Only the public interface is used, so that earlier revisions can do the same. As a program this
serves `benchmarks.against`: it reads the name of a task from each line of its input, and answers
with the least processor time of a call [s], or with what failed.
"""

import random
import resource
import subprocess
import sys
from collections.abc import Callable
from itertools import count, pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from headway.models import Model, ModelGraph

Call = Callable[[], object]

TASKS: dict[str, Callable[[], Call]] = {}
"""What makes the call of each task, by the task's name."""


def task(name: str) -> Callable[[Callable[[], Call]], Callable[[], Call]]:
    """Enter a task under a name."""

    def entered(make: Callable[[], Call]) -> Callable[[], Call]:
        TASKS[name] = make
        return make

    return entered


@task("Erlang C, m = 24, 10^6 points")
def _erlang_c() -> Call:
    from headway.queueing import erlang_c

    load = np.random.default_rng(1).uniform(0.5, 23, 10**6)
    return lambda: erlang_c(24, load)


def _closed(jobs: int) -> Call:
    from headway.queueing import MM1, solve_closed

    stations = [MM1(d) for d in np.random.default_rng(2).random(10)]
    return lambda: solve_closed(stations, [1.0] * 10, jobs, 5.0)


task("closed, 10 stations, 100 jobs")(lambda: _closed(100))
task("closed, 10 stations, 10^4 jobs")(lambda: _closed(10_000))
task("closed, 10 stations, 10^5 jobs")(lambda: _closed(100_000))


@task("closed, 5 stations, 100 jobs, 10^4 points")
def _closed_points() -> Call:
    from headway.queueing import MM1, solve_closed

    demands = np.random.default_rng(3).random((5, 10**4))
    stations = [MM1(d) for d in demands]
    return lambda: solve_closed(stations, [1.0] * 5, 100, 1.0)


def _classes(method: str, classes: int, stations: int, jobs: int) -> Call:
    from headway.queueing import JobClass, Method, SharedStation, solve_multiclass

    demand = np.random.default_rng(4).uniform(0.1, 1, (classes, stations))
    visits = (1,) * classes
    places = [SharedStation(f"s{k}", tuple(demand[:, k]), visits) for k in range(stations)]
    closed = [JobClass(str(c), population=jobs, think_time=2.0) for c in range(classes)]
    return lambda: solve_multiclass(places, closed, Method(method))


task("exact, 3 classes of 40 jobs, 8 stations")(lambda: _classes("exact", 3, 8, 40))
task("exact, 4 classes of 20 jobs, 10 stations")(lambda: _classes("exact", 4, 10, 20))
task("Schweitzer, 4 classes of 2,500 jobs, 10 stations")(
    lambda: _classes("schweitzer", 4, 10, 2500)
)
task("Schweitzer, 20 classes of 10^4 jobs, 100 stations")(
    lambda: _classes("schweitzer", 20, 100, 10**4)
)
task("Linearizer, 20 classes of 50 jobs, 30 stations")(lambda: _classes("linearizer", 20, 30, 50))


def _matrix() -> np.ndarray:
    return np.random.default_rng(5).dirichlet(np.ones(200), 200) * 0.8


@task("visits of 200 stations, 40,000 routes")
def _visits() -> Call:
    from headway.queueing import visit_ratios

    stations, matrix = list(range(200)), _matrix()
    return lambda: visit_ratios(stations, {0: 1.0}, matrix)


def _stations(number: int) -> "ModelGraph":
    from headway.models import ModelGraph
    from headway.queueing import MM1

    graph = ModelGraph("many")
    for k in range(number):
        graph = graph.station(f"s{k}", MM1(1e-4))
    return graph


@task("a model of 40,000 routes, solved")
def _routes() -> Call:
    model = _stations(200).route_all(_matrix()).at()
    return lambda: model.solve(arrival_rate=10.0)


@task("a model of 40,000 routes, built and solved")
def _built_routes() -> Call:
    matrix = _matrix()
    return lambda: _stations(200).route_all(matrix).at().solve(arrival_rate=10.0)


@task("a model of 1,000 stations in a row, built and solved")
def _row() -> Call:
    def built() -> object:
        graph = _stations(1000)
        for k in range(999):
            graph = graph.route(f"s{k}", f"s{k + 1}")
        return graph.at().solve(arrival_rate=10.0)

    return built


def _nfs_server(points: int) -> Call:
    from headway.models import catalogue_model

    model = catalogue_model("nfs-server").with_preset("raid")
    rates = np.linspace(1, 1500, points) if points > 1 else 800.0
    return lambda: model.solve(rates)


task("nfs-server, one point")(lambda: _nfs_server(1))
task("nfs-server, 1,000 points")(lambda: _nfs_server(1000))
task("nfs-server, 10^6 points")(lambda: _nfs_server(10**6))


@task("nfs-server closed, 45 jobs, 10^4 points")
def _nfs_closed() -> Call:
    from headway.models import catalogue_model

    model = catalogue_model("nfs-server").with_preset("raid")
    times = np.linspace(5e-4, 8e-4, 10**4)
    return lambda: model.solve(cpu_time=times, population=45)


@task("QNA, 200 stations, a model at another load each time")
def _qna() -> Call:
    from headway.models import ModelGraph
    from headway.queueing import MGm

    rng = np.random.default_rng(200)
    onward = rng.random((200, 200)) * (rng.random((200, 200)) < 0.02)
    onward *= 0.8 / np.maximum(onward.sum(axis=1, keepdims=True), 1e-9)
    np.fill_diagonal(onward, 0.0)
    rates = rng.uniform(0.1, 1.0, 200)
    through = np.linalg.solve(np.eye(200) - onward.T, rates)
    servers = rng.integers(1, 4, 200)
    times = rng.uniform(0.3, 0.95, 200) * servers / through
    graph = ModelGraph("many").declare("load")
    for k in range(200):
        graph = graph.station(f"s{k}", MGm(times[k], int(servers[k]), rng.uniform(0, 4)))
    graph = graph.route_all(onward)
    for k in range(200):
        graph = graph.arrive(f"s{k}", f"{float(rates[k])!r} * load", scv=rng.uniform(0, 8))
    model, loads = graph.at(load=1.0), count()
    return lambda: model.solve(load=1 - 1e-6 * next(loads))


def _size(target: str) -> Call:
    from headway.models import ModelGraph, size_model
    from headway.queueing import MM1, MMm, Parallel

    shop = (
        ModelGraph("shop")
        .declare("s", "d", "m", "k", "n")
        .station("balancer", MM1(0.0001))
        .station("cpu", MMm("s", "m"))
        .station("net", Parallel(0.002, "n"))
        .station("database", MMm("d", "k"))
        .route("balancer", "cpu")
        .route("cpu", "net")
        .route("net", "database")
        .at(s=0.02, d=0.012, m=1, k=1, n=1, arrival_rate=500)
    )
    choose = {"m": range(1, 51), "k": range(1, 51), "n": range(1, 41)}
    goals = [target, "utilisation<=80%"]
    return lambda: size_model(shop, goals, choose, "400*m + 250*k + 99*n")


task("size over 10^5 configurations")(lambda: _size("response_time<=50ms"))
task("size over 10^5 configurations, p99")(lambda: _size("response_time_p99<=150ms"))


@task("five percentiles of a server with feedback")
def _percentiles() -> Call:
    from headway.models import ModelGraph
    from headway.queueing import MM1, MMm

    model = (
        ModelGraph("loop")
        .station("cpu", MM1(0.01))
        .station("disk", MMm(0.05, 4))
        .route("cpu", "disk", 0.6)
        .route("disk", "cpu")
        .at()
    )
    rates = count()
    return lambda: model.solve(20 + 1e-6 * next(rates)).with_percentiles([50, 75, 90, 95, 99])


@task("two free parameters of one station, fitted")
def _fit() -> Call:
    import headway

    model = headway.load("server-single")
    curve = headway.read("network_sensitivity/table_a_1_scsi_performance.csv")
    return lambda: model.fit(curve, ["delay", "service_time"])


def _command(*arguments: str) -> Call:
    """A cold start, from beginning to end."""
    script = "import sys; from headway.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", script, *arguments]
    return lambda: subprocess.run(command, check=True, capture_output=True)


def layered_text(seed: int, tasks: int, clients: int, layers: int) -> str:
    """A model file of services in layers, drawn: each is called from one or two above it."""
    draw = random.Random(seed)  # noqa: S311 - a model, not a key
    level = [n if n < layers else draw.randrange(layers) for n in range(tasks)]
    calls: list[list[str]] = [[] for _ in range(tasks + 1)]  # the last are of the clients
    for n in range(tasks):
        above = [k for k in range(tasks) if level[k] == level[n] - 1] or [tasks]
        for k in draw.sample(above, min(len(above), draw.choice([1, 1, 2]))):
            calls[k].append(f"e{n} = {draw.uniform(0.3, 2.5):.2f}")
    lines = ['name = "drawn"', "[parameters.think]", 'value = "1 s"']
    for n in range(tasks):
        lines += [f"[processors.cpu{n}]", f'discipline = "{draw.choice(["ps", "ps", "fcfs"])}"']
    lines += ["[tasks.users]", f"population = {clients}", 'think_time = "think"']
    lines += ["[tasks.users.entries.use]", "demand = 1", f"calls = {{ {', '.join(calls[-1])} }}"]
    for n in range(tasks):
        lines += [f"[tasks.t{n}]", f'processor = "cpu{draw.randrange(tasks)}"']
        lines += [f"threads = {draw.choice([1, 1, 1, 2, 3, 4])}", f"[tasks.t{n}.entries.e{n}]"]
        lines += [f"demand = {draw.uniform(0.1, 1.5):.2f}"]
        lines += [f"calls = {{ {', '.join(calls[n])} }}"] if calls[n] else []
    return "\n".join(lines)


def _layers(tasks: int, clients: int, layers: int, points: int = 1) -> Call:
    from headway.models import parse_model

    model = parse_model(layered_text(1, tasks, clients, layers))
    times = np.linspace(0.5, 5.0, points) if points > 1 else 1.0
    return lambda: model.solve(method="layers", think=times)


task("layers, 10 tasks, 20 clients")(lambda: _layers(10, 20, 4))
task("layers, 50 tasks, 2,000 clients")(lambda: _layers(50, 2000, 4))
task("layers, 5 tasks, 10 clients, 10^4 points")(lambda: _layers(5, 10, 3, 10**4))


def row_of_stations() -> "Model":
    """Ten stations in a row, each 80% busy."""
    from headway.models import ModelGraph
    from headway.queueing import MM1

    names = [f"s{k}" for k in range(10)]
    graph = ModelGraph("row")
    for name in names:
        graph = graph.station(name, MM1(0.08))
    for source, target in pairwise(names):
        graph = graph.route(source, target)
    return graph.at(arrival_rate=10.0)


def _simulated(half_width: float, *percents: float) -> Call:
    model = row_of_stations()
    return lambda: model.simulate(half_width, percentiles=percents, at_most=1e4)


task("simulated to 10%, 10 stations in a row, 80% busy")(lambda: _simulated(0.1))
task("simulated to 1% of p99, 10 stations in a row, 80% busy")(lambda: _simulated(0.01, 99))
task("cold start: solve nfs-server")(lambda: _command("solve", "nfs-server", "--preset", "raid"))
task("cold start: --help")(lambda: _command("--help"))
task("cold start: show --formula")(lambda: _command("show", "nfs-server", "--formula"))


def processor_time() -> float:
    """Of this process and of those it waited for [s]."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in both)


_LONG = 0.02  # s: calls are repeated until they take so long, to be far above the clock's steps


def least_time(call: Call, rounds: int = 3) -> float:
    """Least processor time of a call of several rounds, each long enough for the clock [s]."""
    calls = 1
    while (taken := _time_of(call, calls)) < _LONG:
        calls = max(2 * calls, int(1.2 * calls * _LONG / max(taken, 1e-4)))
    return min([taken, *(_time_of(call, calls) for _ in range(rounds - 1))]) / calls


def _time_of(call: Call, calls: int) -> float:
    start = processor_time()
    for _ in range(calls):
        call()
    return processor_time() - start


def serve() -> None:
    """Answer each line, the name of a task, with the time of its call."""
    made: dict[str, Call] = {}
    for line in sys.stdin:
        name = line.strip()
        try:
            if name not in made:
                made[name] = TASKS[name]()
                made[name]()
            print(repr(least_time(made[name])), flush=True)
        except Exception as error:  # an earlier revision fails as it will
            print(f"{type(error).__name__}: {error}".replace("\n", " "), flush=True)


if __name__ == "__main__":
    serve()
