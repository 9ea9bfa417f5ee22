"""The event loop beside Ciw, which simulates the same networks by code of its own.

Random networks of two classes at pools in order of arrival, delays and priorities, open, closed or
mixed, with exponential, gamma-distributed or constant services. Seeds are fixed; mean times of
visits by station and of journeys by class agree within five standard errors of both.
"""

import math
from collections import defaultdict
from random import Random

import ciw
import numpy as np
import pytest

from headway.models import ModelGraph
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.playing.run import Run
from headway.models.simulating.scoring import score_of
from headway.queueing import MG1, Delay, MGm, MMm

NETWORKS = 30
VISITS = 40_000
PARTS = 10
NAMES = ("a", "b")


def network(number):
    """A random network: a delay and two pools, each next by chance, one class of each kind."""
    draw = Random(number)
    discipline = ("fcfs", "priority", "preemptive")[number % 3]
    priority = {"priority": None if number % 3 == 0 else 1}
    graph = ModelGraph("net").job_class("a", arrival_rate=draw.uniform(0.3, 0.5), **priority)
    priority = {"priority": None if number % 3 == 0 else 2}
    if number % 2:
        graph = graph.job_class(
            "b", population=draw.randint(1, 3), think_time=draw.uniform(1, 3), **priority
        )
    else:
        graph = graph.job_class("b", arrival_rate=draw.uniform(0.2, 0.4), **priority)
    times = {name: draw.uniform(0.3, 0.8) for name in NAMES}
    servers = draw.randint(1, 3)
    graph = graph.station("wire", Delay(draw.uniform(0.5, 2)))
    graph = graph.station("cpu", MMm(1.0, servers), service_times=times, discipline=discipline)
    scv = draw.choice((0.0, 0.4, 2.5))
    disk = MG1(draw.uniform(0.3, 0.6), scv) if number % 3 else MGm(draw.uniform(0.5, 1.0), 2, scv)
    graph = graph.station("disk", disk, discipline=discipline)
    graph = graph.route("wire", "cpu", 0.9).route("cpu", "disk", draw.uniform(0.3, 0.6))
    return blueprint(graph.route("disk", "cpu", draw.uniform(0.1, 0.3)).at())


def of_time(time, scv):
    if time == 0 or scv == 0:
        return ciw.dists.Deterministic(time)
    if scv == 1:
        return ciw.dists.Exponential(1 / time)
    return ciw.dists.Gamma(1 / scv, time * scv)


def by_ciw(plan, horizon, seed):
    """Mean times of visits by station and journeys by class, in each part of the last nine tenths.

    Jobs of closed classes begin at a node in front, where they think.
    """
    count = len(plan.places)
    routing, arrivals, services, batches = {}, {}, {}, {}
    for jobs in plan.classes:
        closed, name = bool(jobs.population), jobs.name
        rows = [[closed * (1 - sum(row)), *row] for row in jobs.ways.onward.tolist()]
        entry = jobs.ways.entry.tolist()
        routing[name] = [[0.0, *entry], *rows]
        first = ciw.dists.Sequential([0.0, math.inf]) if closed else None
        outside = [
            None if closed or not e else of_time(1 / jobs.arrival_rate / e, 1) for e in entry
        ]
        arrivals[name] = [first, *outside]
        batches[name] = [ciw.dists.Deterministic(jobs.population or 1)] * (count + 1)
        own = [of_time(place.times[name], place.scvs[name]) for place in plan.places]
        services[name] = [of_time(jobs.think_time, 1.0), *own]
    made = ciw.create_network(
        arrival_distributions=arrivals,
        service_distributions=services,
        batching_distributions=batches,
        routing=routing,
        number_of_servers=[math.inf, math.inf, *(int(p.serving.servers) for p in plan.places[1:])],
        **ranked(plan),
    )
    ciw.seed(seed)
    run = ciw.Simulation(made)
    run.simulate_until_max_time(horizon)
    times, start = defaultdict(list), horizon / 10
    for name, end, time in taken(run.get_all_records(only=["service"]), plan):
        if end > start:
            part = int((end - start) / (horizon - start) * PARTS)
            times[name, min(part, PARTS - 1)].append(time)
    names = {name for name, _ in times}
    return {name: [np.mean(times[name, part]) for part in range(PARTS)] for name in names}


def taken(records, plan):
    """The station or class, the end and the time of each visit, and of each journey."""
    began, last = {}, {}
    for record in sorted(records, key=lambda each: each.exit_date):
        job = record.id_number
        if record.node == 1:
            if job in last:
                yield record.customer_class, last[job], last[job] - began[job]
            began[job] = record.exit_date
            continue
        began.setdefault(job, record.arrival_date)
        last[job] = record.exit_date
        yield (
            plan.places[record.node - 2].name,
            record.exit_date,
            (record.exit_date - record.arrival_date),
        )
        if record.destination == -1:
            yield record.customer_class, record.exit_date, record.exit_date - began[job]


def ranked(plan):
    """Priorities, if there are: Ciw keeps them at every node, and so do the stations here."""
    order = str(plan.places[1].discipline)
    if order == "fcfs":
        return {}
    preempt = "resume" if order == "preemptive" else False
    ranks = {jobs.name: jobs.priority - 1 for jobs in plan.classes}
    return {"priority_classes": (ranks, [False, False, preempt, preempt])}


def by_headway(plan, time, seed):
    """The same of replicas, each of so long, after a warm-up of a tenth."""
    times = defaultdict(list)
    for replica in range(2 * PARTS):
        run = Run(score_of(plan), seed, replica, kept=False)
        run.play(0.1 * time)
        run.begin()
        run.play(1.1 * time)
        for queue, place in zip(run.state.queues, plan.places, strict=True):
            times[place.name].append(queue["stayed"] / queue["served"])
        for crowd, jobs in zip(run.state.crowds, plan.classes, strict=True):
            times[jobs.name].append(crowd["taken"] / crowd["ended"])
    return times


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(NETWORKS))
def test_mean_times_are_those_of_ciw(number):
    plan = network(number)
    rate = sum(
        (jobs.arrival_rate or jobs.population / (jobs.think_time + 3)) * jobs.ways.mean_visits.sum()
        for jobs in plan.classes
    )
    theirs = by_ciw(plan, VISITS / rate, number + 1)
    ours = by_headway(plan, VISITS / rate, number)
    assert theirs.keys() == ours.keys()
    for name, values in theirs.items():
        error = np.hypot(deviation(values), deviation(ours[name]))
        assert abs(np.mean(values) - np.mean(ours[name])) < 5 * error + 1e-9, name


def deviation(values):
    return np.std(values, ddof=1) / len(values) ** 0.5
