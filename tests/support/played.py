"""Networks for the event loop, which together have all that a score can say."""

from dataclasses import replace

from headway.models import ModelGraph, parse_model
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.playing.rows import Choice
from headway.models.simulating.scoring import score_of
from headway.models.simulating.streams import RateTable, Stream
from headway.queueing import (
    MG1,
    MM1,
    MM1K,
    Batch,
    BatchK,
    Delay,
    Discipline,
    FastestFirst,
    ForkJoin,
    LoadDependent,
    MMm,
    MMmK,
    Parallel,
    Quota,
    UnequalServers,
    WakeUp,
)
from headway.queueing.flows.batch_sizes import BatchSizes

_TABLE = BatchSizes(((1, 0.25), (2, 0.5), (7, 0.25)))
_RATES = RateTable((0.0, 3.0, 7.0), (2.0, 0.0, 0.5), 8.0)
SHORT = Discipline("short", by_size=True, rank=lambda job: (job.work, job.number))


def _one(station, rate=0.7, **message):
    return score_of(
        blueprint(ModelGraph("one").station("node", station, **message).at(arrival_rate=rate))
    )


def _classes(discipline, servers=2):
    first, second = (2, 1) if Discipline(discipline).by_priority else (None, None)
    graph = ModelGraph("classes").job_class("web", arrival_rate=0.9, priority=first)
    graph = graph.job_class("batch", arrival_rate=0.2, priority=second)
    times = {"web": 0.6, "batch": 2.0}
    station = MMm(1.0, servers)
    graph = graph.station("cpu", station, service_times=times, discipline=discipline)
    return score_of(blueprint(graph.station("wire", Delay(0.5)).route("cpu", "wire").at()))


def _mixed(discipline):
    graph = ModelGraph("mixed").job_class("web", arrival_rate=0.5)
    graph = graph.job_class("batch", population=4, think_time=2.0)
    graph = graph.station("cpu", MM1(0.5), visits={"web": 1.5, "batch": 2.4}, discipline=discipline)
    return score_of(blueprint(graph.station("disk", MM1(0.4), visits=0.6).at()))


def _row(blocking, station=None, closed=0):
    graph = (
        ModelGraph("row")
        .station("a", MM1(0.5))
        .station("b", station or MM1K(0.6, 2), blocking=blocking)
    )
    graph = graph.station("c", MMmK(0.9, 2, 3), blocking=blocking)
    graph = graph.route("a", "b").route("b", "c").route("c", "a", 0.3)
    model = graph.at(arrival_rate=0.9)
    return score_of(blueprint(graph.at().closed(closed, 0.0) if closed else model))


def _region(closed=0, think=0.0):
    graph = ModelGraph("row").station("a", MM1(0.3)).station("b", MM1(0.4)).station("c", MM1(0.2))
    graph = graph.route("a", "b").route("b", "c").route("c", "a", 0.4)
    graph = graph.region("lock", ["a", "b"], limit=2)
    return score_of(
        blueprint(graph.at().closed(closed, think) if closed else graph.at(arrival_rate=0.7))
    )


def _streams():
    graph = ModelGraph("fed").station("a", MM1(0.5)).station("b", MM1(0.5)).route("a", "b", 0.5)
    return score_of(blueprint(graph.arrive("a", 0.8, scv=4.0).arrive("b", 0.4, scv=0.3).at()))


def _arriving(stream, station):
    """A station, and arrivals at it."""
    plan = blueprint(ModelGraph("fed").station("node", station).at(arrival_rate=stream.rate))
    (jobs,) = plan.classes
    return score_of(replace(plan, classes=(replace(jobs, streams=(stream,)),)))


def _switching():
    text = """
        name = "switching"
        [classes.one]
        population = 3
        think_time = 1.0
        [classes.two]
        population = 0
        think_time = 0.5
        [stations.cpu]
        kind = "MM1"
        service_time = 0.3
        [stations.disk]
        kind = "MM1"
        service_time = 0.5
        [[routes]]
        from = "cpu"
        to = "disk"
        class = "one"
        becomes = "two"
        probability = 0.5
    """
    return score_of(blueprint(parse_model(text)))


def _fork(needed=None, closed=False):
    graph = ModelGraph("fork").station("cpu", MM1(0.2)).station("disks", Parallel(0.8, 4))
    graph = graph.station("log", MG1(0.5, 0.5)).fork("w", ["disks", "disks", "log"], needed)
    graph = graph.route("cpu", "w").route("w", "cpu", 0.3)
    return score_of(blueprint(graph.at().closed(5, 1.0) if closed else graph.at(arrival_rate=0.9)))


def _parts_in_a_region():
    graph = ModelGraph("fork").station("a", MM1(0.4)).station("b", MM1(0.5)).fork("w", ["a", "b"])
    return score_of(blueprint(graph.region("lock", ["a"], 1).arrive("w", 1.2).at()))


def _every_array():
    """A fork, unequal servers and shared ones, one of them in a region; batches by a trace."""
    graph = ModelGraph("all").station("a", MM1(0.2)).station("b", MM1(0.2))
    graph = graph.station("c", LoadDependent((5.0, 6.0))).station("d", FastestFirst((0.2, 0.1)))
    graph = graph.fork("w", ["a", "b"]).route("c", "d").route("d", "w", 0.7)
    plan = blueprint(graph.route("w", "c", 0.2).arrive("c", 2.0).at())
    (jobs,) = plan.classes
    stream = Stream(2, 2.0, 1.0, _TABLE, gaps=(1.5, 0.0, 2.5))
    what = score_of(replace(plan, classes=(replace(jobs, streams=(stream,)),)))
    stations = what.stations.copy()
    stations["region"][2] = 0
    return replace(what, stations=stations, limits=(2,))


def _copies(choice):
    graph = ModelGraph("copies").station("cpu", Parallel(1.0, 5)).route("cpu", "cpu", 0.2)
    what = score_of(blueprint(graph.at(arrival_rate=3.0)))
    stations = what.stations.copy()
    stations["choice"] = choice
    return replace(what, stations=stations)


def _beside():
    graph = ModelGraph("beside").declare("delay").station("cpu", MM1(1.0))
    graph = graph.output("response_time", "delay + cpu.response_time")
    return score_of(blueprint(graph.at(delay=3.0).closed(4, 1.0)))


def _clients(station, rate, numbers, *, notices=False, oldest=None, discipline="fcfs"):
    """A station whose clients give up, and one behind it."""
    graph = ModelGraph("clients").station(
        "cpu", station, discipline=discipline, drop_older_than=oldest
    )
    graph = graph.station("wire", Delay(0.3)).station("disk", MMm(0.5, 2))
    graph = graph.route("cpu", "wire").route("wire", "disk").route("disk", "cpu", 0.2)
    graph = graph.impatient(numbers, server_notices=notices)
    return score_of(blueprint(graph.at(arrival_rate=rate)))


def _clients_of_classes(discipline, servers):
    first, second = (2, 1) if Discipline(discipline).by_priority else (None, None)
    graph = ModelGraph("classes").job_class("web", arrival_rate=1.5, priority=first)
    graph = graph.job_class("batch", arrival_rate=0.4, priority=second)
    graph = graph.station("cpu", MMm(0.7, servers), discipline=discipline)
    graph = graph.impatient({**_GIVES_UP, "patience": 1.0}, "web", server_notices=True)
    return score_of(blueprint(graph.at()))


def _breakers_of_classes():
    graph = ModelGraph("classes").job_class("web", arrival_rate=1.5)
    graph = graph.job_class("log", arrival_rate=0.4).job_class("batch", arrival_rate=0.4)
    graph = graph.station("cpu", MMm(0.7, 2))
    graph = graph.impatient({"timeout": 1.0, **BREAKS}, "web")
    return score_of(blueprint(graph.impatient({**_GIVES_UP, **BREAKS}, "batch").at()))


BREAKS = {
    "circuit_breaker_failures": 0.4,
    "circuit_breaker_of": 5,
    "circuit_breaker_open_for": 3.0,
    "circuit_breaker_probes": 3,
}

_GIVES_UP = {
    "timeout": 2.0,
    "retries": 3,
    "persistence": 0.9,
    "backoff": 0.4,
    "backoff_scv": 1.0,
    "backoff_factor": 2.0,
    "jitter": 0.5,
    "retry_budget": 0.5,
    "retry_tokens": 15,
}


PLAYED = {
    "one server": lambda: _one(MM1(1.0)),
    "constant service": lambda: _one(MG1(1.0, 0.0)),
    "gamma-distributed, below 1": lambda: _one(MG1(1.0, 0.3)),
    "gamma-distributed, above 1": lambda: _one(MG1(1.0, 5.0)),
    "servers": lambda: _one(MMm(1.0, 3), 2.5),
    "servers in a room": lambda: _one(MMmK(1.0, 2, 4), 2.0),
    "speeds by number": lambda: _one(LoadDependent((1.0, 1.8, 2.0)), 1.2),
    "speeds of a pool": lambda: _one(LoadDependent((1.0, 2.0, 3.0)), 2.5),
    "wakes up": lambda: _one(WakeUp(1.0, 0.5, 3), 1.8),
    "batches": lambda: _one(Batch(1.0, 0.1, 8), 2.0),
    "batches in a room": lambda: _one(BatchK(1.0, 0.1, 8, 12), 4.0),
    "a quota": lambda: _one(Quota(1.0, 0.5, 3.0), 0.3),
    "unequal servers, any that is free": lambda: _one(UnequalServers((0.4, 0.1, 0.2)), 12.0),
    "unequal servers, fastest first": lambda: _one(FastestFirst((0.4, 0.1, 0.2)), 12.0),
    "shared": lambda: _one(MM1(1.0), discipline="ps"),
    "servers that are shared": lambda: _one(MMm(1.0, 3), 2.5, discipline="ps"),
    "shared, in a room": lambda: _one(MMmK(1.0, 2, 4), 2.0, discipline="ps"),
    "last first": lambda: _classes("lcfs"),
    "random order": lambda: _classes("siro"),
    "priority": lambda: _classes("priority"),
    "preemptive": lambda: _classes("preemptive"),
    "preemptive, one server": lambda: _classes("preemptive", 1),
    "short": lambda: _classes(SHORT),
    "in rounds": lambda: _mixed("fcfs"),
    "in rounds, shared": lambda: _mixed("ps"),
    "lost": lambda: _row(""),
    "held up": lambda: _row("after service"),
    "held up, closed": lambda: _row("after service", closed=4),
    "served again": lambda: _row("repetitive"),
    "served again, closed": lambda: _row("repetitive", closed=4),
    "region, two stations": lambda: _region(),
    "region, closed": lambda: _region(5),
    "region, thinking": lambda: _region(5, 1.0),
    "streams of arrivals": _streams,
    "constant batches": lambda: _arriving(Stream(0, 1.2, 0.5, BatchSizes(constant=3.0)), MM1(0.5)),
    "geometric batches": lambda: _arriving(
        Stream(0, 1.2, 1.0, BatchSizes(geometric=3.0)), MM1(0.5)
    ),
    "batches by a table": lambda: _arriving(Stream(0, 1.2, 1.0, _TABLE), MM1K(0.5, 4)),
    "a trace": lambda: _arriving(Stream(0, 1.2, 1.0, gaps=(0.5, 0.0, 2.0)), MM1(0.5)),
    "rates that change": lambda: _arriving(Stream(0, 1.2, 1.0, changing=_RATES), MM1(0.5)),
    "classes that turn": _switching,
    "fork, all": lambda: _fork(),
    "fork, any of several": lambda: _fork(1.0),
    "fork, closed": lambda: _fork(2.0, closed=True),
    "fork, parts in a region": _parts_in_a_region,
    "fork of its own": lambda: _one(ForkJoin(1.0, 3, 2)),
    "time beside stations": _beside,
    "every array": _every_array,
    "queues at random": lambda: _copies(Choice.RANDOM),
    "shortest queue": lambda: _copies(Choice.SHORTEST),
    "shorter of two": lambda: _copies(Choice.TWO_CHOICES),
    "queues in turn": lambda: _copies(Choice.ROUND_ROBIN),
    "patience": lambda: _clients(MM1(1.0), 1.5, {"patience": 2.0, "patience_scv": 0.5}),
    "ghosts": lambda: _clients(MM1(0.8), 0.9, _GIVES_UP),
    "ghosts, dropped when old": lambda: _clients(MM1(0.8), 1.2, _GIVES_UP, oldest=1.5),
    "ghosts, in a room": lambda: _clients(MMmK(0.8, 2, 4), 2.2, {**_GIVES_UP, "retries": 1e30}),
    "a breaker": lambda: _clients(MMmK(0.8, 2, 4), 3.5, {**_GIVES_UP, **BREAKS}),
    "a breaker, noticed": lambda: _clients(
        MMm(0.8, 2), 2.2, {**_GIVES_UP, **BREAKS, "patience": 1.0}, notices=True
    ),
    "breakers of classes": _breakers_of_classes,
    "noticed": lambda: _clients(MMm(0.8, 2), 2.2, _GIVES_UP, notices=True),
    "noticed, shared": lambda: _clients(MMm(0.8, 2), 2.2, _GIVES_UP, notices=True, discipline="ps"),
    "noticed, in a batch": lambda: _clients(
        Batch(0.8, 0.1, 3), 2.2, {**_GIVES_UP, "patience": 1.0}, notices=True
    ),
    "noticed, unequal servers": lambda: _clients(
        FastestFirst((0.6, 0.9)), 2.2, _GIVES_UP, notices=True
    ),
    "noticed, random order": lambda: _clients_of_classes("siro", 1),
    "noticed, last first": lambda: _clients_of_classes("lcfs", 1),
    "noticed, preemptive": lambda: _clients_of_classes("preemptive", 2),
}
"""The score of each, made anew."""
