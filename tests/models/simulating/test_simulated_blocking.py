"""Jobs that are held up, job by job, held to whole Markov chains; and servers of unequal speed.

All intervals are of 99%, at fixed seeds.
"""

import numpy as np
import pytest

from headway.errors import GraphError, Saturated
from headway.models import ModelGraph, parse_model
from headway.models.structure.parts.regions import REGION_PARTS
from headway.models.tables.forms import document, tables
from headway.queueing import MM1, MM1K, Delay, FastestFirst, LoadDependent
from tests.brute.kinds import KINDS, drawn

SURE = 0.99
BLOCKING = ("blocking after service", "repetitive service", "region")


def missed(simulation, values):
    """Names and values that lie outside."""
    return {
        name: value for name, value in values.items() if not simulation[name].holds(value, SURE)
    }


def of(solution, graph):
    """What a solver says of stations and regions that a simulation tells too."""
    parts = {one: ("utilisation", "blocked") for one in graph.stations if not graph.regions}
    parts |= dict.fromkeys(graph.regions, ("throughput", "utilisation", "full", "waiting_time"))
    names = [f"{one}.{part}" for one, several in parts.items() for part in several]
    names += [
        n for n in ("throughput", "response_time", "loss_probability") if n in solution.outputs
    ]
    return {name: float(np.ravel(solution[name])[0]) for name in names}


@pytest.mark.slow
@pytest.mark.parametrize("kind", BLOCKING)
@pytest.mark.parametrize("turn", [0, 2])
def test_networks_that_hold_jobs_up_do_what_their_chains_say(kind, turn):
    """Open and closed ones; the chain of other hands, and the solver's own further numbers."""
    case = drawn(list(KINDS).index(kind) + turn * len(KINDS))
    model = parse_model(case.text)
    simulation = model.simulate(0.2, seed=5)
    assert missed(simulation, case.solve().numbers) == {}
    solution = model.solve()
    assert solution.approximation or missed(simulation, of(solution, model.graph)) == {}


def test_jobs_that_return_to_a_full_station_keep_its_place():
    """One place, S = 0.5 s, back with 0.4: a job holds it S / 0.6 on average; M/M/1/1."""
    room = MM1K(0.5, 1)
    graph = ModelGraph("loop").station("cpu", room, blocking="after service")
    simulation = graph.route("cpu", "cpu", 0.4).at(arrival_rate=1.2).simulate(0.05, seed=3)
    assert (
        missed(simulation, {"throughput": 0.6, "loss_probability": 0.5, "response_time": 1 / 1.2})
        == {}
    )


def test_everybody_finds_a_place_to_begin_at():
    """Three jobs at two stations of two places each, nobody thinks: three states, alike."""
    graph = ModelGraph("ring").station("a", MM1K(1.0, 2), blocking="after service")
    graph = graph.station("b", MM1K(1.0, 2), blocking="after service").route("a", "b")
    model = graph.at().closed(3)
    simulation = model.simulate(0.05, seed=3)
    solution = model.solve()
    names = ("throughput", "response_time", "a.blocked", "b.blocked", "a.queue_length")
    assert not solution.approximation
    assert missed(simulation, {name: float(np.ravel(solution[name])[0]) for name in names}) == {}


def test_a_region_for_one_is_a_server_of_all_its_times():
    """Two stations of 0.1 s and 0.2 s: M/G/1 of scv 5 / 9, by Pollaczek and Khinchine."""
    graph = ModelGraph("row").station("a", MM1(0.1)).station("b", MM1(0.2)).route("a", "b")
    simulation = (
        graph.region("lock", ["a", "b"], limit=1).at(arrival_rate=2.0).simulate(0.1, seed=3)
    )
    waits = 0.6 * (1 + 5 / 9) / 2 * 0.3 / (1 - 0.6)
    values = {"lock.waiting_time": waits, "lock.utilisation": 0.6, "response_time": waits + 0.3}
    assert missed(simulation, {**values, "lock.full": 0.6, "lock.throughput": 2.0}) == {}
    assert simulation.regions["lock"]["full"] is simulation["lock.full"]


@pytest.mark.parametrize("rate", [2.0, 5.0])
def test_the_fastest_that_is_free_serves(rate):
    model = ModelGraph("pair").station("pair", FastestFirst((0.4, 0.1))).at(arrival_rate=rate)
    solution = model.solve()
    names = ("response_time", "pair.utilisation", "pair.queue_length")
    simulation = model.simulate(0.1, seed=3)
    assert missed(simulation, {name: float(np.ravel(solution[name])[0]) for name in names}) == {}


def sharing(discipline, population):
    """A server, and behind it one with room for two, who hold up jobs at the first."""
    graph = ModelGraph("two").station("a", MM1(1.0), discipline=discipline)
    graph = graph.station("b", MM1K(0.8, 2), blocking="after service").route("a", "b")
    return graph.at().closed(population, 0.0)


def held_up(rates):
    """Throughput of two servers of which the second never waits for the first to be full.

    State k: the first has served k of the jobs that the second has not; a birth and death chain.
    """
    ratios = np.cumprod([1.0, *(rate * 0.8 for rate in rates)])
    return float((1 - ratios[0] / ratios.sum()) / 0.8)


@pytest.mark.parametrize(("discipline", "shares"), [("fcfs", [1, 1, 1]), ("ps", [1, 1, 1, 0.5])])
def test_a_job_that_is_held_up_keeps_its_server_or_its_share_of_it(discipline, shares):
    """Of four jobs one is held up: the other gets nothing in order of arrival, half if shared."""
    simulation = sharing(discipline, 4).simulate(0.02, seed=3)
    assert missed(simulation, {"throughput": held_up(shares)}) == {}


def test_stations_of_every_kind_hold_up_jobs():
    """Of speeds by number: in order, so the job that is held up keeps the server."""
    graph = ModelGraph("two").station("a", LoadDependent((1.0, 1.0)))
    graph = graph.station("b", MM1K(0.8, 2), blocking="after service").route("a", "b")
    simulation = graph.at().closed(4).simulate(0.02, seed=3)
    assert missed(simulation, {"throughput": held_up([1, 1, 1])}) == {}


def test_a_deadlock_is_refused_before_or_when_it_is_reached():
    ring = ModelGraph("ring").station("a", MM1K(1.0, 1), blocking="after service")
    ring = ring.station("b", MM1K(1.0, 1), blocking="after service").route("a", "b")
    with pytest.raises(GraphError, match="deadlock"):
        ring.at().closed(2).simulate()
    ring = ring.job_class("x", population=1).job_class("y", population=1)
    with pytest.raises(GraphError, match="deadlock: each job waits for the place of another"):
        ring.at().simulate()


def test_a_check_holds_regions_to_the_simulation_and_shows_them():
    """M/M/1, whose queue is outside a region of one."""
    graph = ModelGraph("row").station("a", MM1(0.1)).region("lock", ["a"], limit=1)
    check = graph.at(arrival_rate=5.0).check(half_width=0.2)
    assert check["lock.queue_length"].analytic == pytest.approx(0.5)
    assert check.outside == ()
    said = document(check.simulation)
    assert set(said["points"][0]["regions"]["lock"]) == set(REGION_PARTS)
    assert tables(check.simulation)[-1].title == "regions"


def crowded(limit=0):
    """Two closed classes at a server in order of arrival, with a region around it, and a delay."""
    graph = ModelGraph("two").job_class("web", population=3, think_time=2.0)
    graph = graph.job_class("batch", population=2, think_time=1.0)
    times = {"web": 0.3, "batch": 1.2}
    graph = graph.station("cpu", MM1(1.0), service_times=times).station("wire", Delay(0.5))
    graph = graph.route("cpu", "wire")
    return graph.region("lock", ["cpu"], limit).at() if limit else graph.at()


def test_a_region_of_several_classes_for_one_is_a_queue_outside():
    """The same jobs at the same times, to the last bit; and as the chain says of the queue."""
    held, free = (model.simulate(0.05, 3, (90,)) for model in (crowded(1), crowded()))
    names = ("throughput", "response_time", "response_time_p90", "class web.response_time_p90")
    assert {name: held[name] for name in names} == {name: free[name] for name in names}
    solution = crowded().solve()
    values = {name: float(np.ravel(solution[name])[0]) for name in names[:2]}
    assert missed(held, values) == {}
    assert held["lock.waiting_time"].mean > 0


def test_a_region_of_two_at_once_holds_no_more():
    """Seen inside: at most two, and fewer wait at the server than where all may come in."""
    held, free = (model.simulate(0.05, 3) for model in (crowded(2), crowded()))
    assert 0 < held["lock.full"].mean < 1
    inside = held["cpu.queue_length"].mean + held["lock.queue_length"].mean
    assert inside == pytest.approx(free["cpu.queue_length"].mean, rel=1e-9)


def arriving(limit, rate=1.0):
    graph = ModelGraph("open").job_class("x", arrival_rate=rate).job_class("y", arrival_rate=rate)
    graph = graph.station("a", MM1(0.1)).station("b", MM1(0.2)).route("a", "b")
    return graph.region("lock", ["a", "b"], limit).at() if limit else graph.at()


def test_a_region_for_one_is_a_server_of_all_classes_that_arrive():
    """M/G/1 of 0.3 s and scv 5 / 9, by Pollaczek and Khinchine, whichever class comes."""
    simulation = arriving(1).simulate(0.1, seed=3)
    waits = 0.6 * (1 + 5 / 9) / 2 * 0.3 / (1 - 0.6)
    assert missed(simulation, {"lock.waiting_time": waits, "response_time": waits + 0.3}) == {}


def test_a_region_that_lets_too_few_in_is_refused():
    with pytest.raises(Saturated, match="lock: its queue grows without limit"):
        arriving(1, 2.0).simulate()


def test_regions_of_classes_that_arrive_and_of_others():
    """One that circulates and one that comes, at one server: a region for one is its queue."""
    graph = ModelGraph("mixed").job_class("x", arrival_rate=0.2)
    graph = graph.job_class("y", population=2, think_time=3.0).station("cpu", MM1(1.0))
    free, held = (each.at().simulate(0.1, 3) for each in (graph, graph.region("l", ["cpu"], 1)))
    assert missed(held, {"response_time": free["response_time"].mean}) == {}
    assert held["l.full"].mean > 0.1


def forked(limit=0):
    """A fork to two servers, one of them alone in a region."""
    graph = ModelGraph("fork").station("a", MM1(0.4)).station("b", MM1(0.5)).fork("w", ["a", "b"])
    graph = graph.region("lock", ["a"], limit) if limit else graph
    return graph.arrive("w", 0.8).at()


def test_parts_enter_regions_as_jobs_do():
    """A region for one around one server is its queue, to the last bit; for none other time."""
    held, free = (model.simulate(0.1, 3, (90,)) for model in (forked(1), forked()))
    names = ("throughput", "b.queue_length")
    assert all(held[name].mean == pytest.approx(free[name].mean, rel=0.1) for name in names)
    value = free["response_time_p90"].mean
    assert missed(held, {"response_time_p90": value}) == {}
    assert held["a.queue_length"].mean == pytest.approx(held["a.utilisation"].mean, rel=1e-9)
    assert held["lock.queue_length"].mean > 0.05
