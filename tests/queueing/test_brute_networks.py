"""Random small networks of every kind held to their whole Markov chains.

``python -m tests.brute.campaign --count 2000`` does so for many; here a few of each kind. The
chains are held to closed forms first.
"""

from dataclasses import replace
from math import factorial

import pytest

from headway.models import parse_model
from tests.brute import changing
from tests.brute.campaign import LOADS, column, hold, main, summary
from tests.brute.forked import Forked, solve_forked
from tests.brute.held_up import Blocking, Crowd, Region, solve_blocking, solve_region
from tests.brute.kinds import KINDS, drawn
from tests.brute.larger import see
from tests.brute.larger import summary as larger
from tests.brute.network import Jobs, Network, solve_network
from tests.brute.orders import (
    HeadOfLine,
    Line,
    Lottery,
    Preemptive,
    Sharing,
    Stack,
    Unequal,
)
from tests.support.pages import accuracy

OUT = {(0, 0): [(1.0, None, 0)]}
WORST = 1570
EACH = 2
"""Networks of each kind."""


def alone(place, jobs):
    """The numbers of one class at one station."""
    return solve_network(Network((place,), (jobs,), OUT)).numbers


@pytest.mark.parametrize("order", [Line, Lottery, Stack, Sharing])
def test_every_order_gives_the_length_of_an_m_m_2_queue(order):
    """Erlang's C by hand: with a = 0.6 erlang at two servers, Q = a + C a / (2 - a)."""
    result = alone(order((0.3,), servers=2), Jobs("all", 2.0))
    load = 0.6
    full = load**2 / factorial(2) / (1 - load / 2)
    waits = full / (1 + load + full)
    # 24 jobs at most: 0.3**24 are cut off
    assert result["s0.queue_length"] == pytest.approx(load + waits * load / (2 - load), rel=1e-9)


@pytest.mark.parametrize(
    ("order", "first", "second"),
    # Cobham: W0 = 0.2 * 0.5**2 + 0.5 * 0.2**2 = 0.07; preemptive resume: Conway, Maxwell, Miller.
    [
        (HeadOfLine, 0.5 + 0.07 / 0.9, 0.2 + 0.07 / 0.9 / 0.8),
        (Preemptive, (0.5 * 0.9 + 0.05) / 0.9, (0.2 * 0.8 + 0.07) / 0.9 / 0.8),
    ],
)
def test_ranks_go_by_the_formulas_of_one_server(order, first, second):
    place = order((0.5, 0.2), ranks=(1, 2))
    network = Network(
        (place,),
        (Jobs("a", 0.2), Jobs("b", 0.5)),
        {(0, c): [(1.0, None, c)] for c in (0, 1)},
    )
    truth = solve_network(network)
    # cut off at 11 jobs or more, of a load of 0.2
    assert truth.cut < 1e-5
    assert truth.numbers["class a.response_time"] == pytest.approx(first, rel=1e-5)
    assert truth.numbers["class b.response_time"] == pytest.approx(second, rel=1e-5)


def test_two_unequal_servers_agree_with_their_balance_equations():
    """The fast one first, by hand: states 0, fast, slow, 2, 3, ... with lambda = 1."""
    result = alone(Unequal((0.2, 0.5)), Jobs("all", 1.0))
    fast, slow = 5.0, 2.0
    # p_fast, p_slow, p_2 from p_0 = 1
    # 0: 1 = fast p_fast + slow p_slow;  slow state: (1 + slow) p_slow = fast p_2;
    # first and second together: p_fast + p_slow = (fast + slow) p_2
    two = 1 / (fast * (fast + slow) - fast * fast / (1 + slow) + slow * fast / (1 + slow))
    low = fast * two / (1 + slow)
    high = (fast + slow) * two - low
    ratio = 1 / (fast + slow)
    total = 1 + high + low + two / (1 - ratio)
    mean = (high + low + two * (2 / (1 - ratio) + ratio / (1 - ratio) ** 2)) / total
    assert result["s0.queue_length"] == pytest.approx(mean, rel=1e-10)


def test_blocking_without_a_full_room_is_a_tandem_of_queues():
    network = Blocking((0.1, 0.1), (9, 9), {0: [(1.0, 1)], 1: [(1.0, 0)]}, Crowd(population=4))
    # N jobs at two like queues: each position equally likely, X = N / (N + 1) / S
    assert solve_blocking(network).numbers["s1.throughput"] == pytest.approx(8.0, rel=1e-12)


def test_a_job_that_is_held_up_stops_its_server():
    """Three states by hand, each as likely: one at each, two at the second, the second held up."""
    ways = {0: [(1.0, 1)], 1: [(1.0, 0)]}
    numbers = solve_blocking(Blocking((0.5, 0.5), (1, 2), ways, Crowd(population=2))).numbers
    assert numbers["s0.throughput"] == pytest.approx(2 / 3 / 0.5, rel=1e-12)


def test_a_region_for_one_is_one_server_of_all_its_times():
    """A limit of 1 makes two stations in a row one server; closed, thinking 1 s, 2 jobs."""
    ways = {0: [(1.0, 1)], 1: [(1.0, None)]}
    crowd = Crowd(population=2, think_time=1.0)
    region = Region((0.2, 0.3), (1, 1), ways, crowd, frozenset({0, 1}), 1)
    numbers = solve_region(region).numbers
    busy = numbers["s0.queue_length"] + numbers["s1.queue_length"]
    assert busy == pytest.approx(numbers["s1.throughput"] * 0.5, rel=1e-12)
    assert 0 < numbers["few.queue_length"] < 1


def test_a_fork_to_two_is_as_flatto_and_hahn_say():
    """Nelson and Tantawi's exact mean: (12 - rho) / 8 of M/M/1's."""
    response_time = solve_forked(Forked((0.2, 0.2), 2, rate=1.0, cap=30)).numbers["response_time"]
    assert response_time == pytest.approx((12 - 0.2) / 8 * 0.2 / 0.8, rel=1e-9)


def documented(check):
    """The largest error that the document's table by kind and load has for a network."""
    line = next(
        r for r in accuracy().splitlines() if r.startswith(f"| {check.kind} | ") and ":" in r
    )
    cell = line.split("|")[2:-1][list(LOADS).index(column(check))]
    number, largest = int(cell.split(":")[0]), float(cell.split(", ")[1].strip(" %"))
    assert number > 0
    return largest / 100 + 5e-4  # rounded to a tenth


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_called_exact_is(kind):
    first = list(KINDS).index(kind)
    values = [one for k in range(EACH) if (one := hold(first + k * len(KINDS))) is not None]
    assert not [one for one in values if one.is_wrong]
    for one in values:
        assert not one.approximation or one.error <= documented(one)


def test_a_job_that_comes_back_at_once_is_seen_at_its_station():
    """In random order among open jobs: mean value analysis misses it by 358%, and says 436%."""
    result = hold(WORST)
    assert "s0: served in random order" in result.approximation
    assert result.error < 1e-4

    case = drawn(WORST)
    alone = parse_model(case.text).solve(method="linearizer")
    assert "response time 436%" in alone.approximation
    missed = alone["class a.response_time"] / case.solve().numbers["class a.response_time"] - 1
    assert abs(missed) == pytest.approx(3.577, abs=1e-3)


def test_a_larger_network_is_as_it_is_simulated():
    """One open network of seven numbers at most, 99% intervals; the seed is one that they hold."""
    result = see(1)
    assert result.kind == "one class, open"
    assert result.inside == result.numbers > 0
    assert not result.missed
    assert any("100.0%" in line for line in larger([result]))
    assert any("seed 1: " in line for line in larger([replace(result, missed=True)]))


def test_the_campaign_says_how_many_of_each_kind_are_right(capsys):
    assert main(["--count", "2", "--seed", "0"]) == 0
    assert capsys.readouterr().out.startswith("2 networks held to their chains, 0 too large")
    values = [one for one in map(hold, range(2)) if one is not None]
    assert any("one class, closed" in line for line in summary(values))


def test_what_is_called_exact_of_classes_that_change_is():
    """Means, numbers of jobs and percentiles of a dozen networks, under every discipline."""
    values = [one for seed in range(100, 112) if (one := changing.hold(seed)) is not None]
    assert sum(said == "exact" for _, said, _ in values) >= 6
    assert not [wrong for _, _, wrong in values if wrong]


def test_a_followed_job_alone_takes_an_exponential_time():
    """One job of mean 0.2 s: exp(-t / 0.2)."""
    network = Network((Line((0.2,)),), (Jobs("all", None, 1, 1.0),), OUT)
    (chance,) = changing._longer(network, 0, [0.4])
    assert chance == pytest.approx(0.1353352832, rel=1e-8)
