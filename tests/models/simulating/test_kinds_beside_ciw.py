"""Kinds of networks beside Ciw: room, blocking, orders of service, sharing, batches, and others.

Each network is written twice, as a model and in Ciw's words. Seeds are fixed; mean times of visits
by station, of journeys, their 90th percentile, and the share that is lost agree within five
standard errors of both.
"""

import math
from collections import defaultdict
from random import Random

import ciw
import numpy as np
import pytest
from ciw.dists import Exponential

from headway.models import ModelGraph
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.playing.run import Run
from headway.models.simulating.scoring import score_of
from headway.queueing import MM1K, MGm, MMm, MMmK, Parallel
from tests.models.simulating.test_beside_ciw import PARTS, VISITS, deviation

PERCENT, LOSS = 90, "lost"


def in_a_row(first, second, back=0.0):
    """Two stations, some jobs back to the first; the model's graph, and routes in Ciw's words."""
    graph = ModelGraph("row").station("s0", first[0], **first[1])
    graph = graph.station("s1", second[0], **second[1]).route("s0", "s1")
    routes = [[0.0, 1.0], [back, 0.0]]
    return (graph.route("s1", "s0", back) if back else graph), routes


def in_ciw(times, servers, rate, routes, **more):
    """What Ciw makes of exponential services in a row with Poisson arrivals at the first."""
    given = {
        "arrival_distributions": [Exponential(rate), *[None] * (len(times) - 1)],
        "service_distributions": [Exponential(1 / time) for time in times],
        "number_of_servers": servers,
        "routing": routes,
    }
    return ciw.create_network(**given | more)


def room(draw):
    """Losses at the door."""
    times, servers = (draw.uniform(0.6, 1.2), draw.uniform(0.3, 0.5)), draw.randint(1, 3)
    places, rate = servers + draw.randint(1, 4), servers * draw.uniform(0.7, 1.2)
    graph, routes = in_a_row((MMmK(times[0], servers, places), {}), (MMm(times[1], servers), {}))
    other = in_ciw(
        times, [servers] * 2, rate, routes, queue_capacities=[places - servers, math.inf]
    )
    return graph.at(arrival_rate=rate), other, {}


def blocking(draw):
    """A job that finds the next station full keeps its server."""
    times, places = (draw.uniform(0.5, 0.9), draw.uniform(0.5, 1.0)), draw.randint(1, 3)
    room, rate = places + draw.randint(0, 2), draw.uniform(0.5, 0.9)
    blocked = {"blocking": "after service"}
    graph, routes = in_a_row((MM1K(times[0], room), blocked), (MM1K(times[1], places), blocked))
    other = in_ciw(times, [1, 1], rate, routes, queue_capacities=[room - 1, places - 1])
    return graph.at(arrival_rate=rate), other, {}


def order(draw):
    """In random order, or the last that came first."""
    name, rule = draw.choice((("siro", ciw.disciplines.SIRO), ("lcfs", ciw.disciplines.LIFO)))
    times, servers, rate = (draw.uniform(0.6, 0.8), 0.4), draw.randint(1, 2), draw.uniform(0.8, 1)
    times = times[0] * servers, times[1]
    graph, routes = in_a_row((MMm(times[0], servers), {"discipline": name}), (MMm(times[1], 1), {}))
    rules = [rule, ciw.disciplines.FIFO]
    other = in_ciw(times, [servers, 1], rate, routes, service_disciplines=rules)
    return graph.at(arrival_rate=rate), other, {}


def sharing(draw):
    """Servers that all jobs present share, for services that vary little or much."""
    servers, scv = draw.randint(1, 2), draw.choice((0.3, 3.0))
    time, rate = servers * draw.uniform(0.5, 0.7), 1.0
    graph = ModelGraph("one").station("s0", MGm(time, servers, scv), discipline="ps")
    other = ciw.create_network(
        arrival_distributions=[Exponential(rate)],
        service_distributions=[ciw.dists.Gamma(1 / scv, time * scv)],
        number_of_servers=[math.inf],
        ps_thresholds=[servers],
    )
    return graph.at(arrival_rate=rate), other, {"node_class": [ciw.PSNode]}


def together(draw):
    """Jobs that arrive in batches."""
    sizes = {1: 0.3, 2: 0.3, 5: 0.4}
    servers, mean = draw.randint(1, 2), sum(size * share for size, share in sizes.items())
    times, rate = (servers * draw.uniform(0.5, 0.7), 0.5), 1.0
    graph, routes = in_a_row((MMm(times[0], servers), {}), (MMm(times[1], 1), {}))
    graph = graph.arrive("s0", rate=rate, batch=sizes)
    batches = [ciw.dists.Pmf([*sizes], [*sizes.values()]), ciw.dists.Deterministic(1)]
    other = in_ciw(times, [servers, 1], rate / mean, routes, batching_distributions=batches)
    return graph.at(), other, {}


def bursts(draw):
    """Times between arrivals that are hyperexponential, of balanced means."""
    scv, rate, back = draw.uniform(2, 5), 1.0, draw.uniform(0.1, 0.3)
    times = draw.uniform(0.4, 0.6) * (1 - back), draw.uniform(0.4, 0.6) * (1 - back)
    graph, routes = in_a_row((MMm(times[0], 1), {}), (MMm(times[1], 1), {}), back)
    graph = graph.arrive("s0", rate=rate, scv=scv)
    first = (1 + math.sqrt((scv - 1) / (scv + 1))) / 2
    gaps = ciw.dists.HyperExponential(
        [2 * first * rate, 2 * (1 - first) * rate], [first, 1 - first]
    )
    other = in_ciw(times, [1, 1], rate, routes, arrival_distributions=[gaps, None])
    return graph.at(), other, {}


def shortest(draw):
    """Each job joins the shortest of several queues."""
    servers, time = draw.randint(2, 4), draw.uniform(0.6, 0.75)
    rate = float(servers)
    graph = ModelGraph("one").station("s0", Parallel(time, servers), route="shortest")
    nodes = [*range(2, servers + 2)]
    routing = ciw.routing.NetworkRouting(
        routers=[ciw.routing.LoadBalancing(destinations=nodes), *[ciw.routing.Leave()] * servers]
    )
    other = ciw.create_network(
        arrival_distributions=[Exponential(rate), *[None] * servers],
        service_distributions=[ciw.dists.Deterministic(0.0), *[Exponential(1 / time)] * servers],
        number_of_servers=[math.inf, *[1] * servers],
        routing=routing,
    )
    return graph.at(arrival_rate=rate), other, {}


def turning(draw):
    """Jobs that turn into another class, which takes longer and leaves."""
    turn, rate = draw.uniform(0.2, 0.8), draw.uniform(0.4, 0.5)
    times = {"a": draw.uniform(0.4, 0.6), "b": draw.uniform(0.6, 0.8)}
    graph = ModelGraph("turning").job_class("a", arrival_rate=rate, arrives="s0")
    graph = graph.job_class("b", arrival_rate=0.2, arrives="s0")
    graph = graph.station("s0", MMm(1.0, 2), service_times=times)
    graph = graph.station("s1", MMm(0.3, 1)).route("s0", "s1", turn, job_class="a", becomes="b")
    graph = graph.route("s0", "s1", job_class="b").route("s1", "s0", 0.3, job_class="b")
    nowhere, end = [[0.0, 0.0], [0.0, 0.0]], Exponential(1 / 0.3)
    stay = {"a": {"a": 1.0, "b": 0.0}, "b": {"a": 0.0, "b": 1.0}}
    other = ciw.create_network(
        arrival_distributions={"a": [Exponential(rate), None], "b": [Exponential(0.2), None]},
        service_distributions={c: [Exponential(1 / time), end] for c, time in times.items()},
        number_of_servers=[2, 1],
        routing={"a": nowhere, "b": [[0.0, 1.0], [0.3, 0.0]]},
        class_change_matrices=[stay | {"a": {"a": 1 - turn, "b": turn}}, stay],
    )
    return graph.at(), other, {}


KINDS = (room, blocking, order, sharing, together, bursts, shortest, turning)
NETWORKS = 24
"""Beyond those of `tests.models.simulating.test_beside_ciw`."""


def by_ciw(network, stations, horizon, seed, options):
    """Means in each part of the last nine tenths; nodes beyond the stations are queues of one."""
    ciw.seed(seed)
    run = ciw.Simulation(network, **options)
    run.simulate_until_max_time(horizon)
    kept, began, start = defaultdict(list), {}, horizon / 10
    front = int(network.number_of_nodes > stations)
    for record in sorted(run.get_all_records(), key=lambda each: each.exit_date):
        since = began.setdefault(record.id_number, record.arrival_date)
        if record.exit_date <= start:
            continue
        part = min(int((record.exit_date - start) / (horizon - start) * PARTS), PARTS - 1)
        if record.record_type == "rejection":
            kept[LOSS, part].append(1.0)
            continue
        if record.node > front:
            name = "s0" if front else f"s{record.node - 1}"
            kept[name, part].append(record.exit_date - record.arrival_date)
        if record.destination == -1:
            kept["journey", part].append(record.exit_date - since)
            kept[LOSS, part].append(0.0)
    values = defaultdict(list)
    for (name, _), found in sorted(kept.items()):
        values[name].append(np.mean(found))
        if name == "journey":
            values[PERCENT].append(np.percentile(found, PERCENT))
    return values


def by_headway(plan, time, seed):
    """The same of replicas, each of so long, after a warm-up of a tenth."""
    values = defaultdict(list)
    for replica in range(2 * PARTS):
        run = Run(score_of(plan), seed, replica, kept=True)
        run.play(0.1 * time)
        run.begin()
        run.play(1.1 * time)
        for k, place in enumerate(plan.places):
            queues = run.state.queues[run.score.home == k]
            values[place.name].append(queues["stayed"].sum() / queues["served"].sum())
        crowds = run.state.crowds
        ended, lost = crowds["ended"].sum(), crowds["lost"].sum()
        values["journey"].append(crowds["taken"].sum() / ended)
        values[PERCENT].append(run.counts.times().percentile(PERCENT))
        values[LOSS].append(lost / (lost + ended))
    return values


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(NETWORKS))
def test_answers_are_those_of_ciw(number):
    model, network, options = KINDS[number % len(KINDS)](Random(number))
    plan = blueprint(model)
    horizon = VISITS / sum(jobs.arrival_rate * jobs.ways.mean_visits.sum() for jobs in plan.classes)
    theirs = by_ciw(network, len(plan.places), horizon, number + 1, options)
    ours = by_headway(plan, horizon, number)
    assert theirs.keys() == ours.keys()
    for name, values in theirs.items():
        error = np.hypot(deviation(values), deviation(ours[name]))
        assert abs(np.mean(values) - np.mean(ours[name])) < 5 * error + 1e-9, name
