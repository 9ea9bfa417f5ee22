"""Servers of unequal speed at one queue, against whole Markov chains."""

from dataclasses import dataclass

import numpy as np
import pytest

from headway.errors import GraphError, InvalidParameter
from headway.models import ModelGraph, parse_model
from headway.queueing import (
    MM1,
    FastestFirst,
    JobClass,
    MMm,
    ServiceKind,
    SharedStation,
    UnequalServers,
    solve_closed,
    solve_multiclass,
)
from tests.brute.chain import solve_chain
from tests.brute.network import Jobs, Network
from tests.brute.orders import Unequal, _with
from tests.support.class_networks import AGREE

OUT = {(0, 0): [(1.0, None, 0)]}
TIMES = (0.1, 0.4, 0.25)


@dataclass(frozen=True)
class AtRandom(Unequal):
    """Any free server is taken."""

    def arrive(self, state, c):
        busy, waiting = state
        free = [i for i in range(len(self.times)) if i not in busy]
        if not free:
            return super().arrive(state, c)
        return [(1 / len(free), (_with(busy, i), waiting)) for i in free]


@pytest.mark.parametrize(("kind", "place"), [(UnequalServers, AtRandom), (FastestFirst, Unequal)])
@pytest.mark.parametrize("load", [0.05, 0.5, 0.8])
def test_it_does_what_its_whole_chain_does(kind, place, load):
    station = kind(TIMES)
    rate = load * station.capacity
    network = Network((place(TIMES),), (Jobs("all", rate),), OUT, cap=150)
    chain = solve_chain(network.start, network.moves)

    number = chain.mean(lambda state: place(TIMES).counts(state[0][0])[0])
    busy = [chain.mean(lambda state, i=i: i in state[0][0][0]) for i in range(3)]
    # Of 150 jobs 0.8**150 are cut off.
    assert station.queue_length(rate) == pytest.approx(number, rel=AGREE)
    assert station.server_utilisation(rate) == pytest.approx(busy, rel=AGREE)
    assert station.empty_probability(rate) == pytest.approx(
        chain.mean(lambda state: not state[0][0][0]), rel=AGREE
    )


@pytest.mark.parametrize("kind", [UnequalServers, FastestFirst])
def test_its_law_has_its_mean_and_like_servers_are_a_pool(kind):
    rates = np.array([0.0, 3.0, 10.0, 15.0])
    station, alike = kind(TIMES), kind((0.2, 0.2, 0.2))
    for rate in rates:
        assert station.time_law(rate).mean == pytest.approx(station.response_time(rate), rel=1e-12)
    assert station.response_time(rates) == pytest.approx(
        [station.response_time(rate) for rate in rates], rel=1e-12
    )
    pool = MMm(0.2, 3)
    assert alike.response_time(rates) == pytest.approx(pool.response_time(rates), rel=1e-12)
    shares = alike.server_utilisation(10.0)
    assert sum(shares) == pytest.approx(2, rel=1e-12)
    assert kind is FastestFirst or shares == pytest.approx([2 / 3] * 3, rel=1e-12)
    law, same = alike.time_law(10.0), pool.time_law(10.0)
    at = np.array([3.0 + 1j, 20.0 + 0j])
    assert law.transform(at) == pytest.approx(same.transform(at), rel=1e-12)


@pytest.mark.parametrize("kind", [UnequalServers, FastestFirst])
def test_it_saturates_where_all_are_busy(kind):
    station = kind(TIMES)
    assert station.capacity == pytest.approx(10 + 2.5 + 4)
    assert np.isinf(station.response_time(np.array([16.5, 20.0]))).all()
    assert station.server_utilisation(20.0) == [1.0, 1.0, 1.0]


def test_taking_the_fastest_is_faster_than_taking_any():
    any_free, fastest = UnequalServers(TIMES), FastestFirst(TIMES)
    for rate in (0.1, 5.0, 12.0):
        assert fastest.response_time(rate) < any_free.response_time(rate)


def test_closed_it_is_exact_where_any_free_server_is_taken():
    ways = {(0, 0): [(1.0, 1, 0)], (1, 0): [(1.0, None, 0)]}
    places = AtRandom(TIMES), AtRandom((0.3,))
    network = Network(places, (Jobs("all", None, 5, 0.2),), ways)
    chain = solve_chain(network.start, network.moves)
    number = [chain.mean(lambda s, k=k: places[k].counts(s[0][k])[0]) for k in (0, 1)]

    solution = solve_closed([UnequalServers(TIMES), MM1(0.3)], [1, 1], 5, 0.2)

    assert solution.queue_length == pytest.approx(number, rel=AGREE)
    with pytest.raises(GraphError, match="FastestFirst"):
        solve_closed([FastestFirst(TIMES), MM1(0.3)], [1, 1], 5, 0.2)


def test_classes_share_it_as_one():
    station = UnequalServers(TIMES)
    speeds, alone = station.speeds(), float(station.service_time)
    place = SharedStation("s", (alone, alone), (1, 1), ServiceKind.VARYING, speeds=speeds)
    both = solve_multiclass([place], [JobClass("a", 4.0), JobClass("b", 6.0)])
    assert both.response_time == pytest.approx([station.response_time(10.0)] * 2, rel=1e-12)


def test_bad_servers_are_refused():
    with pytest.raises(InvalidParameter, match="service_times has 0 entries"):
        UnequalServers(())
    with pytest.raises(InvalidParameter, match="at most 10"):
        FastestFirst((0.1,) * 11)
    with pytest.raises(InvalidParameter, match="service_times"):
        FastestFirst((0.1, 0.0))
    graph = ModelGraph("one").declare("s").station("x", FastestFirst(("s", 0.1)))
    with pytest.raises(InvalidParameter, match="has no formula"):
        graph.closed_form("response_time")


def test_symbols_give_a_form():
    graph = ModelGraph("one").declare("s").station("x", UnequalServers(("s", "2 * s", 0.5)))
    form = graph.closed_form("response_time")
    by_name = {"s": 0.1, "arrival_rate": 4.0}
    value = form.subs({symbol: by_name[symbol.name] for symbol in form.free_symbols})
    assert float(value) == pytest.approx(UnequalServers((0.1, 0.2, 0.5)).response_time(4.0))


FILE = """
name = "crew"
[parameters]
arrival_rate = "5 /s"
fast = "100 ms"
[stations.crew]
kind = "{}"
service_times = ["fast", "400 ms"]
"""


@pytest.mark.parametrize("kind", ["UnequalServers", "FastestFirst"])
def test_a_file_gives_its_times_and_an_answer_each_server(kind):
    model = parse_model(FILE.format(kind))
    assert parse_model(model.to_toml()).solve().response_time == model.solve().response_time
    solution = model.solve()
    station = {"UnequalServers": UnequalServers, "FastestFirst": FastestFirst}[kind]((0.1, 0.4))
    assert solution.response_time == pytest.approx(station.response_time(5.0), rel=1e-12)
    shares = station.server_utilisation(5.0)
    crew = solution.rows()[0]["components"]["crew"]
    assert [crew[f"server_{k}_utilisation"] for k in (1, 2)] == pytest.approx(shares)
    assert f"{shares[1]:.3f}" in str(solution)
    assert "crew[2]" in str(solution)
    assert "crew_server_2_utilisation" in solution.to_csv()
    assert "crew[2]" not in str(model.solve(population=3)) if kind == "UnequalServers" else True


def test_what_closed_networks_do_not_hold_is_refused_by_name_with_what_they_do():
    words = "crew: FastestFirst has no closed product form; use UnequalServers, or simulate"
    model = parse_model(FILE.format("FastestFirst"))
    with pytest.raises(GraphError, match=words):
        model.solve(population=3)
    assert parse_model(FILE.format("UnequalServers")).solve(population=3).throughput > 0
