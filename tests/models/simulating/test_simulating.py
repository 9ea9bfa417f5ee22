"""Simulation as a method: laws that are known lie in its intervals, and what it must refuse.

Seeds are fixed. Each interval is one of 99.9%: of a correct law one in a thousand is outside, and
with another seed it may be this one.
"""

import json
import math

import numpy as np
import pytest
from scipy import stats

from headway.errors import GraphError, InvalidParameter, Saturated, UnknownParameter
from headway.models import ModelGraph, parse_model
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.planning import schedule
from headway.models.simulating.runs import simulate_model
from headway.queueing import (
    MD1,
    MG1,
    MM1,
    Batch,
    BatchK,
    Delay,
    LoadDependent,
    MGm,
    MMm,
    MMmK,
    Quota,
    Slowing,
    WakeUp,
)
from headway.queueing.playing.estimates import Estimate, estimate
from headway.queueing.stations.listed.kinds import STATIONS
from headway.queueing.stations.listed.serving import SERVING

SURE = 0.999


def one(station, rate, **message):
    return ModelGraph("one").station("node", station, **message).at(arrival_rate=rate)


def simulated(model, half_width=0.1, percentiles=(), seed=1):
    return model.simulate(half_width, seed, percentiles, at_most=math.inf)


def missed(simulation, solution, names):
    return {
        n: (solution[n], simulation[n]) for n in names if not simulation[n].holds(solution[n], SURE)
    }


EXACT = {
    "load-dependent": (LoadDependent((1.0, 1.8, 2.0)), 1.2),
    "wakes up": (WakeUp(1.0, 0.5), 0.6),
    "slows down": (Slowing(1.0, 0.2, 8), 0.4),
    "servers wake up": (WakeUp(1.0, 0.5, 3), 1.8),
    "servers slow down": (Slowing(1.0, 0.2, 8, 3), 1.2),
    "batches": (Batch(1.0, 0.1, 8), 2.0),
    "batches in a room": (BatchK(1.0, 0.1, 8, 12), 4.0),
    "pool in a room": (MMmK(1.0, 2, 4), 2.0),
    "room for fewer than a batch": (BatchK(1.0, 0.1, 8, 4), 3.0),
    "constant": (MD1(1.0), 0.6),
    "no spread": (MG1(1.0, 0.0), 0.6),
    "wide spread": (MG1(1.0, 4.0), 0.5),
    "pool": (MMm(1.0, 4), 2.0),
    "general pool of one": (MGm(1.0, 1, 2.0), 0.5),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
def test_exact_laws_of_each_kind_lie_in_the_intervals(name):
    model = one(*EXACT[name])
    solution, simulation = model.solve(), simulated(model)

    parts = [f"node.{part}" for part in ("utilisation", "queue_length", "response_time")]
    assert missed(simulation, solution, [*solution.outputs[:2], *parts]) == {}
    assert all(simulation[name].meets(0.1) for name in ("throughput", "response_time"))
    if "loss_probability" in solution.outputs:
        assert missed(simulation, solution, ["loss_probability"]) == {}


def test_every_kind_is_simulated_or_refused_by_name():
    # what `discipline = "ps"` makes of MG1 and MGm, and `route` of replicas
    shared = {"SharedMG1", "SharedMGm", "ChosenParallel"}
    assert {*SERVING} - shared <= {*STATIONS}
    assert {*SERVING} - shared == {*STATIONS}


def test_a_kind_of_another_package_is_refused_by_name():
    class Lottery(MM1):
        pass

    with pytest.raises(GraphError, match="node: headway cannot simulate Lottery; use Delay"):
        one(Lottery(1.0), 0.5).simulate()


def test_percentiles_of_one_server_and_of_a_tandem():
    """M/M/1: exponential with mean R; two in a row, alike: Erlang's."""
    simulation = simulated(one(MM1(1.0), 0.5), percentiles=(50, 95))
    assert simulation["response_time_p50"].holds(2 * math.log(2), SURE)
    assert simulation["response_time_p95"].holds(2 * math.log(20), SURE)

    graph = ModelGraph("two").station("a", MM1(1.0)).station("b", MM1(1.0)).route("a", "b")
    model = graph.at(arrival_rate=0.5)
    assert simulated(model, percentiles=(95,))["response_time_p95"].holds(
        model.solve()["response_time_p95"], SURE
    )


def test_a_job_that_comes_back_keeps_its_place_in_a_room():
    graph = ModelGraph("loop").station("door", MMmK(1.0, 1, 3)).route("door", "door", 0.4)
    model = graph.at(arrival_rate=0.8)
    assert missed(simulated(model), model.solve(), ["throughput", "loss_probability"]) == {}


def test_what_finds_no_place_behind_another_station_is_lost_and_blocks_nobody():
    graph = ModelGraph("row").station("cpu", MM1(0.5)).station("disk", MMmK(1.0, 1, 1))
    model = graph.route("cpu", "disk").at(arrival_rate=1.0)
    assert missed(simulated(model), model.solve(), ["throughput", "loss_probability"]) == {}


def test_shared_servers_make_times_that_depend_on_the_mean_only():
    """M/G/1 whose server all share: S / (1 - U), whatever the distribution (Kleinrock II, 4.4)."""
    simulation = simulated(one(MG1(1.0, 4.0), 0.5, discipline="ps"))
    assert simulation["response_time"].holds(2.0, SURE)
    assert simulation["node.utilisation"].holds(0.5, SURE)


def test_a_server_on_a_quota_lies_between_its_exact_bounds():
    station = Quota(1.0, 0.5, 10.0)
    least, most = station.response_bounds(0.3)
    simulation = simulated(one(station, 0.3))
    low, high = simulation["response_time"].interval(SURE)
    assert least < low < high < most
    assert simulation["node.utilisation"].holds(0.6, SURE)
    assert abs(station.response_time(0.3) / simulation["response_time"].mean - 1) < 0.102 + 0.05


def test_a_closed_network_with_think_time():
    graph = ModelGraph("loop").station("cpu", MM1(0.1)).station("disk", MMm(0.2, 2))
    model = graph.route("cpu", "disk", 0.5).at().closed(8, 1.0)
    simulation, solution = simulated(model, 0.05), model.solve()
    names = ["throughput", "response_time", "cpu.queue_length", "disk.utilisation"]
    assert missed(simulation, solution, names) == {}


def test_classes_each_and_all_together():
    graph = (
        ModelGraph("two")
        .job_class("web", arrival_rate=0.4)
        .job_class("batch", population=2, think_time=3.0)
        .station("cpu", MM1(1.0), service_times={"web": 0.5, "batch": 1.5}, discipline="ps")
        .station("wire", Delay(1.0))
        .route("cpu", "wire")
    )
    model = graph.at()
    simulation, solution = simulated(model, 0.05, (90,)), model.solve()
    assert missed(simulation, solution, [*solution.outputs[:2], *solution.class_outputs]) == {}
    assert {*simulation.classes["web"]} == {"throughput", "response_time", "response_time_p90"}
    together = simulation["response_time_p90"].mean
    assert simulation["class web.response_time_p90"].mean < together
    assert simulation["class batch.response_time_p90"].mean > together


def test_unlike_classes_in_order_of_arrival():
    """M/G/1 of both: W = sum of lambda S**2 / (1 - U), as exponential times have 2 S**2."""
    graph = (
        ModelGraph("mix").job_class("web", arrival_rate=0.5).job_class("batch", arrival_rate=0.1)
    )
    graph = graph.station("cpu", MM1(1.0), service_times={"web": 0.4, "batch": 2.0})
    simulation = simulated(graph.at(), seed=2)
    wait = (0.5 * 0.4**2 + 0.1 * 2.0**2) / (1 - 0.4)
    assert simulation["class web.response_time"].holds(wait + 0.4, SURE)
    assert simulation["class batch.response_time"].holds(wait + 2.0, SURE)


def test_what_losses_leave_to_a_station_is_no_overload():
    graph = ModelGraph("row").station("door", MMmK(1.0, 1, 1)).station("cpu", MM1(0.9))
    model = graph.route("door", "cpu").at(arrival_rate=2.0)
    assert simulated(model)["cpu.utilisation"].holds(0.6, SURE)  # 2 / 3 of a job a second
    slow = ModelGraph("row").station("door", MMmK(1.0, 1, 1)).station("cpu", MM1(1.6))
    with pytest.raises(Saturated, match="cpu: utilisation"):
        slow.route("door", "cpu").at(arrival_rate=2.0).simulate()


def test_an_only_class_has_what_is_known_of_all_jobs():
    graph = ModelGraph("web").job_class("web", arrival_rate=0.5).station("disk", MD1(1.0))
    simulation = simulated(graph.at(), 0.2)
    assert simulation["class web.response_time"] == simulation["response_time"]
    assert simulation["response_time"].holds(1.5, SURE)


def test_a_time_beside_the_stations_is_a_constant_delay():
    graph = ModelGraph("beside").declare("delay").station("cpu", MM1(1.0))
    graph = graph.output("response_time", "delay + cpu.response_time")
    solo = simulated(graph.at(delay=3.0, arrival_rate=0.5))
    assert solo["response_time"].holds(5.0, SURE)
    assert "adds a constant" in " ".join(solo.notes)
    closed = graph.at(delay=3.0).closed(4, 1.0)
    assert missed(simulated(closed, 0.05), closed.solve(), ["throughput", "response_time"]) == {}

    twice = ModelGraph("twice").station("cpu", MM1(1.0))
    twice = twice.output("response_time", "2 * cpu.response_time")
    with pytest.raises(GraphError, match="its formula for response_time is not a sum of the time"):
        twice.at(arrival_rate=0.5).simulate()


def test_visits_in_place_of_routes_are_made_in_rounds():
    graph = ModelGraph("given").station("cpu", MM1(0.2), 2.4).station("disk", MM1(0.3), 0.5)
    model = graph.at(arrival_rate=1.0)
    simulation, solution = simulated(model), model.solve()
    assert (
        missed(simulation, solution, ["response_time", "cpu.queue_length", "disk.utilisation"])
        == {}
    )
    assert "makes rounds of the stations" in simulation.notes[0]


def test_the_same_seed_gives_the_same_numbers_and_another_one_others():
    model = one(MM1(1.0), 0.3)
    first, again, other = (simulated(model, 0.2, seed=seed) for seed in (5, 5, 6))
    assert first == again
    assert first.estimates == again.estimates
    assert first["response_time"] != other["response_time"]


def test_random_numbers_of_others_are_left_alone():
    import random

    random.seed(7)
    before = random.getstate()
    simulated(one(MM1(1.0), 0.3), 0.3)
    assert random.getstate() == before


def test_more_replicas_are_made_until_the_half_width_is_met():
    model = one(MM1(1.0), 0.5)
    few, many = simulated(model, 0.3), simulated(model, 0.05)
    assert few.effort.replicas == 10 < many.effort.replicas
    assert many["response_time"].meets(0.05)
    assert not few["response_time"].meets(0.05)


def test_the_warm_up_is_five_relaxation_times_and_two_journeys():
    """S / (1 - sqrt U)**2; of N jobs at most, with U = 1, S / (2 - 2 cos(pi / (N + 1)))."""
    planned = schedule(blueprint(one(MM1(2.0), 0.32)), ())
    assert planned.warm_up == pytest.approx(5 * 2 / (1 - 0.8) ** 2 + 2 * 2, rel=1e-12)
    assert planned.window >= 5 * planned.warm_up
    room = schedule(blueprint(one(MMmK(1.0, 1, 3), 1.0)), ())
    assert room.warm_up == pytest.approx(5 / (2 - 2 * math.cos(math.pi / 4)) + 2, rel=1e-12)


def test_the_warm_up_of_a_mixed_network_is_that_of_open_jobs_among_the_closed_ones():
    """12 jobs that hardly think share a server with open ones at a load of 0.5.

    Five times the slowest mode of the birth and death process of open jobs beside 12 that stay,
    by its eigenvalues; with the open load alone it would be 5 / (1 - sqrt 0.5)**2 = 58 s.
    """
    model = parse_model(
        'name = "mixed"\n[classes.web]\narrival_rate = 0.5\n'
        "[classes.batch]\npopulation = 12\nthink_time = 0.01\n"
        '[stations.cpu]\nkind = "MM1"\ndiscipline = "ps"\nservice_time = 1.0\n'
    )
    jobs = np.arange(300)
    up, down = np.full(300, 0.5), jobs / (jobs + 12)
    up[-1] = 0.0
    moves = np.diag(up[:-1], 1) + np.diag(down[1:], -1) - np.diag(up + down)
    slowest = -1 / np.sort(np.linalg.eigvals(moves).real)[-2]

    planned = schedule(blueprint(model))

    assert slowest > 50
    assert 5 * slowest < planned.warm_up < 2 * 5 * slowest


def test_a_percentile_makes_windows_with_enough_beyond_it():
    model = one(MM1(1.0), 0.5)
    assert schedule(blueprint(model), (99.0,)).window * 0.5 == pytest.approx(5000, rel=1e-9)


def test_windows_have_times_at_which_queues_are_long():
    """Eight relaxation times, of 1 / (1 - sqrt 0.9)**2 s each, in a hundredth of the window."""
    model = one(MM1(1.0), 0.9)
    slowest = 1 / (1 - math.sqrt(0.9)) ** 2
    assert schedule(blueprint(model), (99.0,)).window == pytest.approx(800 * slowest, rel=1e-9)


@pytest.mark.slow
def test_percentiles_of_a_long_row_are_not_too_small():
    """Ten stations 80% busy: Erlang's of ten stages; in windows of 5000 journeys 6% less."""
    graph = ModelGraph("row")
    for k in range(10):
        graph = graph.station(f"s{k}", MM1(0.08))
    for k in range(9):
        graph = graph.route(f"s{k}", f"s{k + 1}")
    exact = stats.gamma(10, scale=0.4).ppf(0.99)
    assert simulated(graph.at(arrival_rate=10.0), 0.05, (99,))["response_time_p99"].holds(
        exact, SURE
    )


def test_many_short_windows_become_few_long_ones():
    model = one(MM1(1.0), 0.5)
    few, many = simulated(model, 0.1), simulated(model, 0.01)
    assert 20 <= many.effort.replicas <= 60
    assert many.effort.window > 10 * few.effort.window
    assert many["response_time"].meets(0.01)
    assert many["response_time"].holds(2.0, SURE)


def test_intervals_are_students():
    result = estimate([1.0, 2.0, 3.0])
    assert result.half_width(0.95) == pytest.approx(4.302652729911275 / 3**0.5, rel=1e-9)
    assert estimate([1.0]).half_width() == math.inf
    assert Estimate(1.0, 0.0, 5).holds(1.0 + 1e-12)


REFUSED = {
    "too much": (one(MM1(1.0), 1.5), Saturated, "node: utilisation 1.50; its queue grows"),
    "exactly full": (one(MMm(1.0, 2), 2.0), Saturated, "node: utilisation 1.00"),
    "over its quota": (one(Quota(1.0, 0.5, 1.0), 0.6), Saturated, "node: utilisation 1.20"),
    "nobody": (one(MM1(1.0), 0.0), InvalidParameter, "one: no jobs arrive"),
    "no time": (one(MM1(0.0), 1.0), InvalidParameter, "its jobs take no time"),
    "several points": (
        one(MM1(1.0), [0.1, 0.2]),
        GraphError,
        "is of one operating point; call simulate_points",
    ),
    "a program": (ModelGraph("p").output("x", "1").at(), GraphError, "p is a program"),
    "closed and lossy": (
        ModelGraph("c").station("door", MMmK(1.0, 1, 2)).at().closed(3),
        GraphError,
        "c: door loses jobs",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_simulated_is_refused_with_the_reason(name):
    model, kind, reason = REFUSED[name]
    with pytest.raises(kind, match=reason):
        model.simulate()


@pytest.mark.parametrize("percent", [0, 100, -1, 101, math.nan])
def test_percentiles_that_are_none_are_refused(percent):
    with pytest.raises(InvalidParameter, match="percentile is .* between 0 and 100"):
        one(MM1(1.0), 0.5).simulate(percentiles=(percent,))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"half_width": 0.0}, "half_width is 0; it must be between 0 and 1"),
        ({"seed": -1}, "seed is -1; it must be a whole number"),
        ({"at_most": 0.0}, "at_most is 0; it must be positive"),
    ],
)
def test_wishes_that_are_none_are_refused(options, reason):
    with pytest.raises(InvalidParameter, match=reason):
        one(MM1(1.0), 0.5).simulate(**options)


def test_what_would_take_too_long_is_refused_with_an_estimate():
    with pytest.raises(InvalidParameter, match="more than the 10,000 allowed"):
        one(MM1(1.0), 0.5).simulate(at_most=1e4)
    with pytest.raises(
        InvalidParameter, match=r"half widths of 1e-05% .* or accept a half width of"
    ):
        one(MM1(1.0), 0.2).simulate(1e-7, at_most=1e9)


def test_populations_beyond_memory_or_time_are_refused_at_once():
    crowd = ModelGraph("crowd").station("cpu", MM1(1e-9)).at()
    with pytest.raises(InvalidParameter, match="not 1,000,000,000, which would take 2.4e.11 "):
        crowd.closed(10**9, 10.0).simulate()
    crowd = ModelGraph("crowd").station("cpu", MM1(1.0)).at()
    with pytest.raises(
        InvalidParameter, match="would take about .* more than the 10,000,000 allowed"
    ):
        crowd.closed(10**6, 1.0).simulate(at_most=1e7)


def test_what_seemed_short_at_first_is_refused_when_it_is_not(monkeypatch):
    """Few replicas may be alike by chance; with more the estimate grows without limit."""
    wanted = iter([11, 10**12])
    monkeypatch.setattr("headway.models.simulating.runs._Series.wanted", lambda *_: next(wanted))

    with pytest.raises(InvalidParameter, match="more than the 1,000,000,000 allowed; allow"):
        one(MM1(1.0), 0.5).simulate(at_most=1e9)


def stop_after(replicas):
    rows = []

    def record(_doing, _share):
        rows.append(1)
        if len(rows) == replicas:
            raise KeyboardInterrupt

    return record


def test_whoever_stops_it_gets_what_is_there():
    model = one(MM1(1.0), 0.5)
    result = simulate_model(model, 0.01, 1, (), math.inf, stop_after(4))
    assert result.effort.interrupted
    assert result.effort.replicas == 4
    assert "interrupted: intervals may be wider than the 1% requested" in str(result)
    assert json.loads(result.to_json())["interrupted"] is True
    with pytest.raises(KeyboardInterrupt):
        simulate_model(model, 0.01, 1, (), math.inf, stop_after(1))


def test_whoever_stops_it_in_a_longer_window_gets_the_shorter_ones():
    model = one(MM1(1.0), 0.5)
    result = simulate_model(model, 0.001, 1, (), math.inf, stop_after(11))
    assert result.effort.interrupted
    assert result.effort.replicas == 10
    assert result.effort.window == schedule(blueprint(model)).window


def test_an_answer_that_was_not_asked_for_is_named():
    simulation = simulated(one(MM1(1.0), 0.3), 0.3)
    with pytest.raises(UnknownParameter, match="has no simulated 'response_tiem'; did you"):
        simulation["response_tiem"]
