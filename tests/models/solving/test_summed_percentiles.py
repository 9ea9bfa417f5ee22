"""Percentiles of servers whose response time is a formula: constant times and one station."""

import heapq
from collections import deque

import numpy as np
import pytest
from scipy.stats import gamma

from headway.errors import GraphError
from headway.models import Measurements, ModelGraph, catalogue_model
from headway.models.inference.server import fit_server
from headway.queueing import MG1, MM1, Delay, MMm, WakeUp

LOADS = np.linspace(50.0, 900.0, 12)
GIVEN = {"delay": 2e-3, "service_time": 1e-3}


def test_a_single_server_is_its_delay_and_an_exponential_time():
    response_time_p99 = (
        catalogue_model("server-single").at(**GIVEN).solve(LOADS)["response_time_p99"]
    )

    wanted = 2e-3 - np.log(0.01) * 1e-3 / (1 - 1e-3 * LOADS)
    assert response_time_p99 == pytest.approx(wanted, rel=1e-9)


def test_servers_side_by_side_each_have_their_share_of_the_load():
    model = catalogue_model("server").at(**GIVEN, servers=2.5)

    response_time_p95 = model.solve([500.0, 2400.0, 2500.0])["response_time_p95"]

    wanted = 2e-3 - np.log(0.05) * 1e-3 / (1 - 1e-3 * np.array([500, 2400]) / 2.5)
    assert response_time_p95[:2] == pytest.approx(wanted, rel=1e-9)
    assert np.isinf(response_time_p95[2])


def test_a_pool_is_a_delay_and_a_station_in_series():
    series = ModelGraph("series").station("d", Delay(2e-3)).station("p", MMm(4e-3, 4))
    wanted = series.route("d", "p").at().solve(LOADS)["response_time_p99"]

    model = catalogue_model("server-pool").at(delay=2e-3, service_time=4e-3, servers=4)

    assert model.solve(LOADS)["response_time_p99"] == pytest.approx(wanted, rel=1e-9)


def test_a_room_is_told_of_those_let_in():
    model = catalogue_model("server-room").at(**GIVEN, room=10**4)

    response_time_p95 = model.solve(500.0)["response_time_p95"]

    assert response_time_p95 == pytest.approx(
        2e-3 - np.log(0.05) * 2e-3, rel=1e-9
    )  # a full room is never seen


def test_a_time_that_grows_with_the_load_is_the_same_for_all_at_a_load():
    """Delay and contention are constant given the load: the law of an M/M/1 is moved by them."""
    model = catalogue_model("server-contention").at(**GIVEN, contention=3e-6, servers=1.5)

    solved = model.solve([500.0, 1400.0, 1500.0])

    rate = np.array([500.0, 1400.0])
    wanted = 2e-3 + 3e-6 * rate - np.log(0.01) * 1e-3 / (1 - 1e-3 * rate / 1.5)
    assert solved["response_time_p99"][:2] == pytest.approx(wanted, rel=1e-9)
    assert np.isinf(solved["response_time_p99"][2])
    assert solved["response_time_over_2ms"].tolist() == [1.0, 1.0, 1.0]
    written = model.closed_form("response_time_p99")
    numbers = model.at(arrival_rate=500.0).inputs
    value = written.subs({s: numbers[s.name] for s in written.free_symbols})
    assert float(value) == pytest.approx(wanted[0], rel=1e-9)


def test_delays_of_a_sum_are_as_the_same_stations_in_a_row():
    graph = ModelGraph("row").declare("d").station("out", Delay("d")).station("back", Delay(3e-3))
    graph = graph.station("pool", MMm(4e-3, 4)).route("out", "pool").route("pool", "back")
    total = "out.response_time + pool.response_time + back.response_time"

    row = graph.at(d=1e-3).solve(LOADS)["response_time_p99"]
    written = graph.output("response_time", total).at(d=1e-3).solve(LOADS)["response_time_p99"]

    assert written == pytest.approx(row, rel=1e-9)


def test_a_share_that_takes_a_delay_is_refused():
    graph = ModelGraph("some").declare("p").station("more", Delay(1e-3)).station("cpu", MM1(1e-3))
    graph = graph.route("more", "cpu")
    model = graph.output("response_time", "p * more.response_time + cpu.response_time").at(p=0.5)
    with pytest.raises(GraphError, match="such as a Delay for a time that every job takes"):
        model.solve(100.0).with_percentile(95)


@pytest.mark.parametrize("name", ["server-cache", "server-step", "server-batching"])
def test_what_a_formula_tells_only_in_the_mean_is_refused(name):
    with pytest.raises(GraphError, match="make each part of it a station"):
        catalogue_model(name).solve(100.0).with_percentile(95)


def test_products_are_refused_of_closed_models_too():
    graph = ModelGraph("g").declare("p", "d").station("cpu", MM1(1e-3))
    model = graph.output("response_time", "p * d + cpu.response_time").at(p=0.5, d=1e-3)
    with pytest.raises(GraphError, match="make each part of it a station"):
        model.solve(population=5).with_percentile(95)


@pytest.mark.parametrize(
    "station", [MM1(1e-3), MMm(3e-3, 4), MG1(1e-3, 4.0), WakeUp(5e-4, 1e-3), WakeUp(1e-3, 1e-3, 3)]
)
def test_a_station_that_all_present_share_has_its_own_law(station):
    """As the same delay and station in a row, which hold no formula of the response time."""
    shared = ModelGraph("shared").station("cpu", station, discipline="ps")
    row = ModelGraph("row").station("d", Delay(2e-3)).station("cpu", station, discipline="ps")

    model = shared.declare("d").output("response_time", "d + cpu.response_time").at(d=2e-3)
    wanted = row.route("d", "cpu").at().solve([100.0, 700.0])
    solved = model.solve([100.0, 700.0])

    assert solved.response_time == pytest.approx(wanted.response_time, rel=1e-9)
    for name in ("response_time_p50", "response_time_p99"):
        assert solved[name] == pytest.approx(wanted[name], rel=1e-6)


def test_a_shared_station_is_not_written_as_if_they_waited_in_order():
    graph = ModelGraph("shared").declare("d").station("cpu", MM1(1e-3), discipline="ps")
    model = graph.output("response_time", "d + cpu.response_time").at(d=2e-3)
    with pytest.raises(GraphError, match="which all jobs share"):
        model.closed_form("response_time_p99")


def test_a_visit_counted_twice_is_refused():
    graph = ModelGraph("twice").station("cpu", MM1(1e-3))
    model = graph.output("response_time", "cpu.response_time + cpu.response_time").at()
    with pytest.raises(GraphError, match="make each part of it a station"):
        model.solve(100.0).with_percentile(95)


def test_a_fitted_server_predicts_percentiles():
    rows = "\n".join(f"{x:.0f},{2 + 1 / (1 - 1e-3 * x):.6f}" for x in LOADS)
    curve = Measurements.parse(f"throughput_ops_s,response_ms\n{rows}\n", "single")

    fit = fit_server(curve, forms=["server-single"])
    low, middle, high = fit.predict([850.0], [99]).percentiles["response_time_p99"]

    assert fit.form.model == "server-single"
    wanted = 2e-3 - np.log(0.01) * 1e-3 / (1 - 0.85)
    assert middle[0] == pytest.approx(wanted, rel=1e-3)  # figures of six decimals
    assert low[0] <= middle[0] <= high[0]


def tails(times):
    """A table of 99th percentiles over the loads."""
    rows = "".join(f"{x:.12g},{1e3 * y:.9g}\n" for x, y in zip(LOADS, times, strict=True))
    return Measurements.parse(f"throughput_ops_s,p99_ms\n{rows}", "tails.csv")


def test_a_column_of_percentiles_is_held_against_those_of_the_formula():
    table = tails(2e-3 - np.log(0.01) * 1e-3 / (1 - 1e-3 * LOADS))
    single = catalogue_model("server-single").at(**GIVEN)

    comparison = single.compare(table, y="p99_ms")

    # Tolerance: nine digits of the table.
    np.testing.assert_allclose(comparison.relative_error, 0, atol=1e-8)
    assert comparison.output == "response_time_p99"
    fit = single.at(delay=1e-3, service_time=5e-4).fit(table, [*GIVEN], y="p99_ms")
    for name, value in GIVEN.items():
        assert fit.values[name] == pytest.approx(value, rel=1e-5)


def test_a_pools_percentiles_are_fitted():
    pool = catalogue_model("server-pool").at(delay=2e-3, service_time=4e-3, servers=4)

    table = tails(pool.solve(LOADS)["response_time_p99"])
    fit = pool.at(service_time=3.7e-3).fit(table, ["service_time"], y="p99_ms")

    assert fit.values["service_time"] == pytest.approx(4e-3, rel=1e-5)


def test_percentiles_of_a_station_without_a_law_are_not_fitted():
    model = catalogue_model("server-batch-room")
    with pytest.raises(GraphError, match="no known distribution"):
        model.fit(tails(LOADS * 1e-5), ["batch_time"], y="p99_ms")


def test_one_client_waits_for_nobody():
    model = catalogue_model("server-single").at(**GIVEN)

    times = model.solve(population=1)["response_time_p99"]

    assert times == pytest.approx(2e-3 - np.log(0.01) * 1e-3, rel=1e-9)


def test_clients_without_delay_and_thought_find_all_others_there():
    model = catalogue_model("server-single").at(delay=0.0, service_time=1e-3)

    times = model.solve(population=[2, 5])["response_time_p95"]

    assert times == pytest.approx(gamma.ppf(0.95, [2, 5], scale=1e-3), rel=1e-9)


def simulated_clients(clients, think_time, delay, service_time, servers, count):
    """Response times of clients that think, wait for a constant delay, and then for a pool."""
    random = np.random.default_rng(11)
    events = [(random.exponential(think_time), "asks", 0.0) for _ in range(clients)]
    heapq.heapify(events)
    waiting, busy, times = deque(), 0, []
    while len(times) < count:
        now, what, asked = heapq.heappop(events)
        if what == "asks":
            heapq.heappush(events, (now + delay, "comes", now))
            continue
        if what == "comes":
            waiting.append(asked)
        else:
            busy -= 1
            times.append(now - asked)
            heapq.heappush(events, (now + random.exponential(think_time), "asks", 0.0))
        while waiting and busy < servers:
            busy += 1
            done = now + random.exponential(service_time)
            heapq.heappush(events, (done, "leaves", waiting.popleft()))
    return np.array(times[count // 10 :])


def test_clients_of_a_pool_with_a_constant_delay():
    """2% are five standard errors of 100,000 times that go together."""
    model = catalogue_model("server-pool").at(delay=0.01, service_time=0.02, servers=3)
    solved = model.closed(8, 0.05).solve()

    times = simulated_clients(8, 0.05, 0.01, 0.02, 3, 100_000)

    for percent in (50, 90, 99):
        wanted = np.percentile(times, percent)
        assert solved.with_percentile(percent)[f"response_time_p{percent}"] == pytest.approx(
            wanted, rel=0.02
        )
