"""How many jobs are at a station, and how long whoever comes waits: laws held to whole chains.

Chains and mpmath's sums to 1e-10 relative, where nothing else is said.
"""

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headway.queueing import (
    MD1,
    MG1,
    MM1,
    MM1K,
    BatchK,
    Delay,
    LoadDependent,
    MMm,
    MMmK,
    Parallel,
    solve_closed,
)
from headway.queueing.classes.solve_classes import solve_multiclass
from headway.queueing.marginals.classes import class_marginal
from headway.queueing.marginals.closed import closed_marginal
from headway.queueing.network.network import JobClass, SharedStation
from headway.queueing.numbers.embedded import embedded
from headway.queueing.numbers.waits import in_turn
from headway.queueing.stations.abilities import ServiceKind
from tests.brute.chain import solve_chain
from tests.brute.network import Jobs, Network
from tests.brute.orders import Apart, Sharing

TOLERANCE = 1e-10


def birth_death(rates_up, rates_down):
    """Chances of a chain in 40 digits: as many rates down as up."""
    weights = [mpmath.mpf(1)]
    for up, down in zip(rates_up, rates_down, strict=True):
        weights.append(weights[-1] * mpmath.mpf(up) / mpmath.mpf(down))
    total = mpmath.fsum(weights)
    return [w / total for w in weights]


def moments(chances):
    mean = mpmath.fsum(n * p for n, p in enumerate(chances))
    return mean, mpmath.fsum((n - mean) ** 2 * p for n, p in enumerate(chances))


OPEN = [  # station, arrival rate, service rate with n there, room, servers
    (MM1(0.5), 1.9, lambda _: 2.0, None, 1),
    (MMm(0.25, 3), 11.0, lambda n: 4.0 * min(n, 3), None, 3),
    (MMm(0.25, 60), 220.0, lambda n: 4.0 * min(n, 60), None, 60),
    (Delay(3.0), 2.0, lambda n: n / 3.0, None, None),
    (LoadDependent((1.0, 3.0, 2.5)), 1.5, lambda n: (1.0, 3.0, 2.5)[min(n, 3) - 1], None, None),
    (MM1K(0.5, 7), 3.0, lambda _: 2.0, 7, 1),
    (MMmK(0.5, 2, 9), 1.0, lambda n: 2.0 * min(n, 2), 9, 2),
    (BatchK(0.1, 0.05, 3, 8), 9.0, lambda n: min(n, 3) / (0.1 + 0.05 * min(n, 3)), 8, None),
]


@pytest.mark.parametrize(("station", "rate", "served", "room", "servers"), OPEN)
def test_laws_of_open_stations_are_those_of_their_chains(station, rate, served, room, servers):
    size = room or 1500
    with mpmath.workdps(40):
        exact = birth_death([rate] * size, [served(n) for n in range(1, size + 1)])
        mean, variance = (float(m) for m in moments(exact))
        arriving = exact[:-1] if room else exact
        value = mpmath.fsum(arriving[servers:]) / mpmath.fsum(arriving) if servers else 0
    law = station.number_law(rate)
    shown = law.chances(min(size, 200))
    assert shown == pytest.approx([float(p) for p in exact[: len(shown)]], rel=TOLERANCE)
    assert law.mean == pytest.approx(mean, rel=TOLERANCE)
    assert law.mean == pytest.approx(float(station.queue_length(rate)), rel=TOLERANCE)
    assert law.variance == pytest.approx(variance, rel=TOLERANCE)
    if servers:
        assert law.waits == pytest.approx(float(value), rel=TOLERANCE)
    assert law.more_than(5) == pytest.approx(float(mpmath.fsum(exact[6:])), rel=TOLERANCE)


def test_queues_side_by_side_are_negative_binomial():
    law, busy = Parallel(0.5, 4).number_law(6.4), 0.8
    exact = [float(mpmath.binomial(n + 3, 3) * 0.2**4 * mpmath.mpf(busy) ** n) for n in range(60)]
    assert law.chances(59) == pytest.approx(exact, rel=TOLERANCE)
    assert law.mean == pytest.approx(4 * busy / (1 - busy), rel=TOLERANCE)
    assert law.variance == pytest.approx(4 * busy / (1 - busy) ** 2, rel=TOLERANCE)
    assert law.waits == pytest.approx(busy, rel=TOLERANCE)


@given(
    busy=st.floats(0.01, 0.995),
    scv=st.sampled_from([0.0, 0.01, 0.3, 1.0, 3.0, 30.0]),
    again=st.sampled_from([0.0, 0.3, 0.8]),
)
@example(busy=0.25, scv=1.0, again=0.3)  # the search for the decay meets the pole itself
def test_a_server_with_any_service_has_the_mean_and_variance_of_its_moments(busy, scv, again):
    """Pollaczek and Khinchine, and Takacs's second moment, of stays of gamma-distributed visits."""
    law = embedded(busy, scv, again)
    one, two, three = 1.0, 1 + scv, (1 + scv) * (1 + 2 * scv)
    if again > 0:  # a geometric number of visits: raw moments from those of one
        one, two, three = stay_moments(two, three, again)
    rate = busy / one
    wait = rate * two / 2 / (1 - busy)
    second = 2 * wait**2 + rate * three / 3 / (1 - busy)
    mean = rate * (wait + one)
    whole = second + 2 * wait * one + two
    assert law.mean == pytest.approx(mean, rel=TOLERANCE)
    if again == 0:  # the response time of who comes back is no wait and one service
        assert law.variance == pytest.approx(rate**2 * whole + mean - mean**2, rel=TOLERANCE)
    total = law.head.sum() + law.more_than(len(law.head) - 1)
    assert total == pytest.approx(1, rel=TOLERANCE)
    assert law.empty == pytest.approx(1 - busy, rel=TOLERANCE)


def stay_moments(two, three, again):
    """Raw moments of a geometric sum of times of mean 1, by its transform's derivatives."""
    p = again
    first = 1 / (1 - p)
    second = two / (1 - p) + 2 * p / (1 - p) ** 2
    third = three / (1 - p) + 6 * p * two / (1 - p) ** 2 + 6 * p**2 / (1 - p) ** 3
    return first, second, third


@pytest.mark.parametrize("again", [0.0, 0.4])
def test_service_in_two_steps_has_the_law_of_its_chain(again):
    """Erlang's service of two stages is gamma-distributed with an scv of 1/2."""
    rate, stage, most = 1.2, 2 / 0.45, 400

    def moves(state):
        number, left = state
        if number < most:
            yield (number + 1, left or 2), rate
        if left == 2:
            yield (number, 1), stage
        if left == 1:
            yield (number - 1, 2 if number > 1 else 0), stage * (1 - again)
            yield (number, 2), stage * again

    chain = solve_chain((0, 0), moves)
    exact = np.zeros(most + 1)
    for (number, _), share in zip(chain.states, chain.shares, strict=True):
        exact[number] += share
    law = MG1(0.45, 0.5).number_law(rate, again)
    assert law.chances(60) == pytest.approx(exact[:61], rel=1e-9, abs=1e-12)
    assert law.notes == ("M/G/1 service is assumed gamma-distributed",)


def test_constant_service_has_the_chances_of_crommelin():
    """p_1 = (1 - U)(e**U - 1), p_2 = (1 - U)(e**2U - e**U (1 + U))."""
    busy = 0.7
    law = MD1(0.5).number_law(busy / 0.5)
    exact = [1.0, np.exp(busy) - 1, np.exp(2 * busy) - np.exp(busy) * (1 + busy)]
    assert law.chances(2) == pytest.approx((1 - busy) * np.array(exact), rel=TOLERANCE)


STATIONS = [MM1(0.2), MMm(0.7, 2), Parallel(0.5, 2), LoadDependent((2.0, 3.0, 7.0)), Delay(0.3)]


@given(
    visits=st.lists(st.sampled_from([0.3, 1.0, 2.5]), min_size=5, max_size=5),
    population=st.sampled_from([1, 2, 5, 17, 60]),
    think=st.sampled_from([0.0, 1.0]),
)
def test_chances_of_closed_networks_have_their_means_and_meet_one_job_fewer(
    visits, population, think
):
    solution = solve_closed(STATIONS, visits, population, think)
    fewer = [closed_marginal(STATIONS, visits, population - 1, think, k).chances for k in range(5)]
    for k in range(5):
        marginal = closed_marginal(STATIONS, visits, population, think, k)
        mean = float(np.arange(population + 1) @ marginal.chances)
        assert mean == pytest.approx(float(solution.queue_length[k]), rel=TOLERANCE)
        assert marginal.chances.sum() == pytest.approx(1, rel=TOLERANCE)
        assert marginal.found[:-1] == pytest.approx(fewer[k], abs=1e-12)


def test_operating_points_of_closed_networks_are_found_together():
    populations = np.array([[0, 3], [9, 40]])
    together = closed_marginal(STATIONS, [1] * 5, populations, 1.0, 1)
    for index in np.ndindex(2, 2):
        alone = closed_marginal(STATIONS, [1] * 5, populations[index], 1.0, 1)
        own = together.chances[:, *index]
        assert own[: len(alone.chances)] == pytest.approx(alone.chances, rel=TOLERANCE)
        assert not own[len(alone.chances) :].any()


TIMES = (0.2, 0.5)


def chances_by_chain(network, place):
    """Chances of numbers at a place, and of none free for who comes, by the whole chain."""
    chain = solve_chain(network.start, network.moves)
    counts = [int(sum(network.places[place].counts(s[0][place]))) for s in chain.states]
    chances = np.bincount(counts, chain.shares)
    number = dict(zip(chain.states, counts, strict=True))
    result = np.zeros(len(chances))
    for state, share in zip(chain.states, chain.shares, strict=True):
        for after, rate in network.moves(state):
            if number[after] > number[state]:
                result[number[state]] += share * rate
    return chances, result / result.sum()


def circulating(classes, cap=0):
    """Three stations: a server, a pool of two, and two queues side by side; who thinks enters."""
    places = (Sharing(TIMES), Sharing((0.6, 0.3), servers=2), Apart((0.4, 0.4), servers=2))
    ways = [(0.4, 1), (0.3, 2), (0.3, None)]
    hops = {}
    for c in range(2):
        hops[0, c] = [(p, t, c) for p, t in ways]
        hops[1, c] = [(0.5, 0, c), (0.5, 2, c)]
        hops[2, c] = [(1.0, 0, c)]
    return Network(places, classes, hops, cap)


VISITS = np.linalg.solve(
    np.eye(3) - np.array([[0, 0.4, 0.3], [0.5, 0, 0.5], [1, 0, 0]]).T, [1.0, 0, 0]
)
SHARED = [
    SharedStation("s", TIMES, (VISITS[0],) * 2),
    SharedStation("pool", (0.6, 0.3), (VISITS[1],) * 2, ServiceKind.QUEUE, 2),
    SharedStation("apart", (0.4, 0.4), (VISITS[2],) * 2, ServiceKind.PARALLEL, 2),
]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_closed_classes_are_at_stations_as_in_the_whole_chain(place):
    jobs = (Jobs("a", None, 2, 1.0), Jobs("b", None, 2, 0.5))
    exact, met = chances_by_chain(circulating(jobs), place)
    classes = [
        JobClass("a", population=2, think_time=1.0),
        JobClass("b", population=2, think_time=0.5),
    ]
    law = class_marginal(SHARED, classes, place)
    assert law.chances(4) == pytest.approx(exact, rel=TOLERANCE)
    queues = np.arange(len(met))
    busy = queues / np.maximum(queues + 1, 1) if place == 2 else queues >= (1, 2)[place]
    assert law.waits == pytest.approx(float(met @ busy), rel=TOLERANCE)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_open_jobs_beside_closed_ones_are_counted_too(place):
    """Seven open jobs at most in the chain, which leaves 1e-5 beyond."""
    jobs = (Jobs("a", 0.1), Jobs("b", None, 1, 1.0))
    exact, _ = chances_by_chain(circulating(jobs, cap=7), place)
    classes = [JobClass("a", arrival_rate=0.1), JobClass("b", population=1, think_time=1.0)]
    assert class_marginal(SHARED, classes, place).chances(5) == pytest.approx(exact[:6], abs=2e-5)


@given(
    first=st.integers(0, 5),
    second=st.integers(0, 4),
    rate=st.sampled_from([0.0, 0.3]),
    times=st.lists(st.sampled_from([0.2, 1.0, 1.7]), min_size=3, max_size=3),
)
def test_numbers_of_all_classes_have_the_mean_of_the_solution(first, second, rate, times):
    stations = [
        SharedStation("s", times, (1, 0.5, 1)),
        SharedStation("pool", (1.0, 2.0, 0.5), (1, 1, 1), ServiceKind.QUEUE, 3),
        SharedStation("apart", (1.0, 2.0, 0.5), (1, 1, 1), ServiceKind.PARALLEL, 2),
        SharedStation("delay", (1.0, 2.0, 0.5), (1, 1, 1), ServiceKind.DELAY),
        SharedStation("law", (1, 1.4, 0.5), (1, 1, 1), ServiceKind.VARYING, speeds=(1, 2.5, 2)),
    ]
    classes = [
        JobClass("a", population=first),
        JobClass("b", population=second, think_time=2.0),
        JobClass("c", arrival_rate=rate),
    ]
    solution = solve_multiclass(stations, classes)
    for place in range(5):
        law = class_marginal(stations, classes, place, solution.throughput)
        length = float(solution.queue_length[place].sum())
        assert law.mean == pytest.approx(length, rel=TOLERANCE, abs=1e-12)


def test_waits_at_servers_are_erlangs_mixture():
    """M/M/m's exponential tail, found behind those met instead; closed, by the same mixture."""
    for station, rate in ((MM1(0.5), 1.8), (MMm(0.5, 3), 5.0)):
        wait, law = station.wait_law(rate), station.number_law(rate)
        assert wait.mean == pytest.approx(float(station.waiting_time(rate)), rel=TOLERANCE)
        behind = law.chances(3000)
        turn = 0.5 / int(station.count)
        summed = in_turn(behind, int(station.count), turn)
        for share in (0.5, 0.9, 0.999):
            assert summed.percentile(share) == pytest.approx(wait.percentile(share), rel=1e-9)
    marginal = closed_marginal([MMm(0.5, 2), MM1(0.2)], [1, 1], 9, 0.0, 0)
    solved = solve_closed([MMm(0.5, 2), MM1(0.2)], [1, 1], 9, 0.0)
    wait = in_turn(marginal.found, 2, 0.25)
    assert wait.mean == pytest.approx(float(solved.station_response_time[0]) - 0.5, rel=TOLERANCE)
    assert wait.waits == pytest.approx(float(marginal.waits), rel=TOLERANCE)


def test_waits_of_those_let_in_have_the_mean_of_the_room():
    room = MMmK(0.5, 2, 9)
    wait = room.wait_law(4.5)
    assert wait.mean == pytest.approx(float(room.waiting_time(4.5)), rel=TOLERANCE)


@pytest.mark.parametrize(("scv", "share"), [(0.3, 0.5), (1.0, 0.95), (4.0, 0.999)])
def test_waits_before_any_service_are_those_of_the_transform(scv, share):
    """Pollaczek and Khinchine's geometric sum of residual times, inverted by mpmath (Talbot)."""
    rate, time = 1.6, 0.5
    wait = MG1(time, scv).wait_law(rate)
    busy = rate * time

    def transform(s):
        service = (1 + s * time * scv) ** (-1 / mpmath.mpf(scv))
        return (1 - busy) / (1 - busy * (1 - service) / (s * time))

    at = wait.percentile(share)
    with mpmath.workdps(25):
        within = mpmath.invertlaplace(lambda s: transform(s) / s, at, method="talbot")
    assert float(within) == pytest.approx(share, rel=TOLERANCE)
    assert wait.percentile(0.1) == 0.0


def test_waits_before_constant_service_are_crommelins():
    """P(W <= t) = (1 - U) sum over k <= t / S of (-x)**k e**x / k!, x = lambda (t - k S) < 0."""
    rate, time = 1.6, 0.5
    at = MD1(time).wait_law(rate).percentile(0.95)
    with mpmath.workdps(60):
        busy = mpmath.mpf(rate * time)
        terms = []
        for k in range(int(at / time) + 1):
            x = rate * (at - k * time)
            terms.append((-x) ** k * mpmath.exp(x) / mpmath.factorial(k))
        within = (1 - busy) * mpmath.fsum(terms)
    assert float(within) == pytest.approx(0.95, rel=1e-9)
