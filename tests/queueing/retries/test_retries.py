"""All attempts of clients that ask again: laws of one queue, fixed points, and what tips it."""

from itertools import pairwise
from math import exp, inf

import mpmath
import numpy as np
import pytest
from scipy.linalg import expm

from headway.errors import GraphError, HeadwayError, InvalidParameter
from headway.models import ModelGraph
from headway.queueing import MG1, MM1, MMm, MMmK
from headway.queueing.erlang.impatience import erlang_a
from headway.queueing.flows.clients import Clients
from headway.queueing.retries.attempts import (
    Stability,
    follows,
    given_up,
    per_request,
    states,
)
from headway.queueing.retries.orbit import OrbitQueue, orbit_of
from headway.queueing.retries.times import TimedQueue
from headway.queueing.retries.tipping import flood, folds, pulse_over, tipping
from tests.oracles.impatient_clients import Apart, orbit_chain
from tests.support.cases import mostly_slow

PATIENCE = 0.1
"""Seconds that a client waits."""

SERVER = TimedQueue(service_time=0.008, servers=4, timeout=PATIENCE)
ASKS = Clients(timeout=PATIENCE, retries=3)


def server(numbers, load, station=None, **message):
    graph = ModelGraph("server").station("server", station or MMm(0.008, 4), **message)
    return graph.impatient(numbers).at(arrival_rate=load)


# Times


@pytest.mark.parametrize(("servers", "rate"), [(1, 60.0), (4, 100.0), (4, 480.0), (20, 2300.0)])
def test_a_timeout_is_missed_as_by_erlang(servers, rate):
    """P(W + S > T) with P(W > t) = C e^(-w t), integrated by mpmath; C summed from its chain."""
    mu, limit = mpmath.mpf(125), mpmath.mpf(1) / 10
    load = mpmath.mpf(rate) / mu
    terms = [load**n / mpmath.factorial(n) for n in range(servers)]
    last = load**servers / mpmath.factorial(servers) / (1 - load / servers)
    waits = last / (sum(terms) + last)
    slack = servers * mu - rate
    over = (1 - waits) * mpmath.exp(-mu * limit) + waits * mpmath.exp(-slack * limit)
    over += waits * mpmath.quad(
        lambda t: slack * mpmath.exp(-slack * t) * mpmath.exp(-mu * (limit - t)), [0, limit]
    )
    found = TimedQueue(0.008, servers, 0.1).at(rate)
    assert found.late == pytest.approx(float(over), rel=1e-9)
    assert found.queue_length == pytest.approx(float(load + waits * rate / slack), rel=1e-9)
    assert found.late_work <= 1


def test_times_of_the_law_add_up():
    """Means over all attempts: E[R] = E[R; R <= T] + E[R; R > T], by the tail's integral."""
    at = SERVER.at(450.0)
    upto = mpmath.quad(
        lambda t: TimedQueue(0.008, 4, float(t)).at(450.0).late, np.linspace(1e-9, 0.1, 9).tolist()
    )
    assert at.time_in_time == pytest.approx(float(upto) - 0.1 * at.late, rel=1e-6)


@pytest.mark.parametrize(
    ("oldest", "rate"), mostly_slow([(1.0, 1.5), (3.0, 2.6), (6.0, 1.9)], 1, tuples=True)
)
def test_old_attempts_are_dropped_as_in_a_simulation_written_apart(oldest, rate):
    """M/M/2 with a timeout of 4: shares of 12 runs, within four standard errors."""
    at = TimedQueue(1.0, 2, 4.0, oldest).at(rate)
    runs = [Apart(seed, rate, 2, 4.0, 0, 0.0, inf, oldest).play(5000.0) for seed in range(12)]
    late = np.array([each["given_up"] / each["requests"] for each in runs])
    wasted = np.array([1 - each["useful"] / each["work"] for each in runs])
    for found, exact in ((late, at.late), (wasted, at.late_work / (1 - at.dropped))):
        assert abs(found.mean() - exact) < 4 * found.std(ddof=1) / len(found) ** 0.5


@pytest.mark.parametrize(
    ("servers", "places", "rate"), [(1, 1, 3.0), (2, 2, 1.0), (2, 7, 2.4), (3, 25, 2.7)]
)
def test_attempts_find_the_jobs_of_a_limited_room(servers, places, rate):
    """M/M/m/K from its balance; turns until the service, and it, as phases of a matrix exponential.

    E[R; R <= T] is the integral of P(R > t) up to T, less T P(R > T).
    """
    weights = np.cumprod([1.0, *(rate / min(n, servers) for n in range(1, places + 1))])
    chances = weights / weights.sum()
    phases = np.diag([-1.0] + [-float(servers)] * places)
    phases[1:, :-1] += servers * np.eye(places)
    first = np.maximum(np.arange(places) - servers + 1, 0)
    ends = expm(1.5 * phases)
    tails = ends.sum(axis=1)[first]
    upto = np.linalg.solve(phases, ends - np.eye(places + 1)).sum(axis=1)[first]
    late = chances[:-1] @ tails
    at = TimedQueue(1.0, servers, 1.5, places=places).at(rate)
    assert at.dropped == pytest.approx(chances[-1], rel=1e-9)
    assert at.late == pytest.approx(late + chances[-1], rel=1e-9)
    assert at.queue_length == pytest.approx(chances @ np.arange(places + 1), rel=1e-9)
    assert at.time_in_time == pytest.approx(chances[:-1] @ upto - 1.5 * late, rel=1e-6)


@pytest.mark.parametrize(
    ("places", "rate"), mostly_slow([(2, 1.5), (6, 2.6), (11, 1.9)], 1, tuples=True)
)
def test_attempts_are_refused_as_in_a_simulation_written_apart(places, rate):
    """M/M/2/K with a timeout of 4: shares of 12 runs, within four standard errors."""
    at = TimedQueue(1.0, 2, 4.0, places=places).at(rate)
    runs = [Apart(seed, rate, 2, 4.0, 0, 0.0, room=places).play(5000.0) for seed in range(12)]
    late = np.array([each["given_up"] / each["requests"] for each in runs])
    refused = np.array([each["refused"] / each["requests"] for each in runs])
    wasted = np.array([1 - each["useful"] / each["work"] for each in runs])
    for found, exact in (
        (late, at.late),
        (refused, at.dropped),
        (wasted, at.late_work / (1 - at.dropped)),
    ):
        assert abs(found.mean() - exact) < 4 * found.std(ddof=1) / len(found) ** 0.5


def test_room_for_all_is_the_limit():
    """To the digits of the integrals over what an attempt meets."""
    for rate in (100.0, 400.0, 450.0):
        near, plain = TimedQueue(0.008, 4, 0.1, places=1000).at(rate), SERVER.at(rate)
        for name in ("late", "late_work", "time_in_time", "queue_length"):
            assert getattr(near, name) == pytest.approx(getattr(plain, name), rel=1e-6)


def test_a_queue_that_drops_nothing_is_the_limit():
    for rate in (100.0, 400.0, 480.0):
        near = TimedQueue(0.008, 4, 0.1, 50.0).at(rate)
        plain = SERVER.at(rate)
        for name in ("late", "late_work", "time_in_time", "queue_length"):
            assert getattr(near, name) == pytest.approx(getattr(plain, name), rel=1e-9)


def test_overload_is_no_overflow():
    assert TimedQueue(0.008, 4, 0.1, 0.1).at(1e6).late == pytest.approx(1, abs=1e-3)
    assert TimedQueue(0.008, 4, 0.1, 100.0).at(1e5).late == pytest.approx(1, rel=1e-9)
    assert TimedQueue(0.008, 4, 0.1, places=10_000).at(1e6).late == pytest.approx(1, rel=1e-9)
    assert TimedQueue(0.008, 4, 0.1, places=10).at(0.0).late == pytest.approx(exp(-12.5), rel=1e-9)
    assert SERVER.at(500.0).late == 1
    assert SERVER.at(0.0).late == pytest.approx(exp(-12.5), rel=1e-9)


# Requests


def test_what_becomes_of_a_request_is_counted_by_hand():
    asks = Clients(timeout=PATIENCE, retries=2, persistence=0.5)
    # 1/2 fails; half ask again, 1/2 fails; half ask again, 1/2 fails
    assert per_request(asks, 0.5) == pytest.approx(1 + 0.25 + 0.0625)
    assert given_up(asks, 0.5) == pytest.approx(0.25 + 0.25 * 0.25 + 0.0625 * 0.5)
    assert per_request(asks, 0.5) * 0.5 == pytest.approx(1 - given_up(asks, 0.5))


@pytest.mark.parametrize("retries", [0, 1, 3, inf])
@pytest.mark.parametrize("budget", [0.0, 0.1, 0.6, inf])
@pytest.mark.parametrize("late", [0.0, 1e-9, 0.4, 0.9])
def test_each_request_is_answered_or_given_up(retries, budget, late):
    asks = Clients(timeout=PATIENCE, retries=retries, persistence=0.9, retry_budget=budget)
    answers = per_request(asks, late) * (1 - late)
    assert answers + given_up(asks, late) == pytest.approx(1, rel=1e-9)
    assert per_request(asks, late) - 1 <= budget + 1e-12
    assert follows(asks, late) <= 0.9 * late + 1e-12


# States


@pytest.mark.parametrize(
    "load", mostly_slow([100.0, 200.0, 300.0, 440.0, 449.0, 450.5, 520.0], {100.0, 440.0, 520.0})
)
@pytest.mark.parametrize("oldest", [inf, 0.1, 0.05])
def test_all_states_are_those_of_a_fine_grid(load, oldest):
    queue = TimedQueue(0.008, 4, 0.1, oldest)
    found = states(load, ASKS, lambda rate: queue.at(rate).late, queue.saturation)
    top = min(4 * load, queue.saturation)
    grid = np.linspace(load * 0.999, top * 0.999999, 1500)
    misses = [load * per_request(ASKS, queue.at(x).late) - x for x in grid.tolist()]
    changes = [x for x, (a, b) in zip(grid, pairwise(misses), strict=False) if a * b < 0]
    inner = [one for one in found if not one.grows]
    assert [one.rate for one in inner] == pytest.approx(changes, rel=2 * (top - load) / 1500 / load)
    for one in inner:
        comes = load * per_request(ASKS, queue.at(one.rate).late)
        assert comes == pytest.approx(one.rate, rel=1e-9)
    assert any(one.grows for one in found) == (4 * load >= queue.saturation)
    kinds = [one.stability for one in found]
    assert kinds == [Stability.STABLE, Stability.UNSTABLE] * (len(kinds) // 2) + [Stability.STABLE]


@pytest.mark.parametrize("apart", [-1e-6, -1e-9, 0.0, 1e-9, 1e-6])
def test_states_are_found_where_a_good_and_a_bad_one_nearly_touch(apart):
    """The curve is flat there, at one server with a timeout of a service time above all."""
    queue, asks = TimedQueue(1.0, 1, 1.0), Clients(timeout=1.0, retries=3)
    load = folds(queue, asks).tips * (1 + apart)
    found = states(load, asks, lambda rate: queue.at(rate).late, queue.saturation)
    assert found[-1].grows
    for one in found[:-1]:
        comes = load * per_request(asks, queue.at(one.rate).late)
        assert comes == pytest.approx(one.rate, rel=1e-5)


@pytest.mark.parametrize("more", [0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6])
def test_states_are_found_where_all_attempts_hardly_fill_the_servers(more):
    """The threshold is then as close to saturation as the bad state above it."""
    load = (1 + more) * SERVER.saturation / 4
    found = states(load, ASKS, lambda rate: SERVER.at(rate).late, SERVER.saturation)
    assert found[0].stability is Stability.STABLE
    assert found[0].rate == pytest.approx(load, rel=1e-5)
    assert found[-1].grows


def test_states_of_steps_are_found_however_many():
    """F of steps: between two of them each crossing is told, stable as F is flat there."""

    def late(rate):
        return sum(0.1 for step in (120.0, 140.0, 160.0) if rate > step)

    asks = Clients(timeout=PATIENCE, retries=1, persistence=1.0)
    found = states(115.0, asks, late, inf)  # F = 115, 126.5, 138, 149.5
    flat = [one for one in found if one.stability is Stability.STABLE]
    assert [one.rate for one in flat] == pytest.approx([115.0, 126.5, 149.5][: len(flat)])
    assert len(found) == 2 * len(flat) - 1


def test_a_load_tips_where_its_states_meet():
    found = folds(SERVER, ASKS)
    count = [
        len(states(load, ASKS, lambda rate: SERVER.at(rate).late, SERVER.saturation))
        for load in (0.999 * found.vanishes, 1.001 * found.vanishes, 0.999 * found.tips,
                     1.001 * found.tips)
    ]  # fmt: skip
    assert count == [1, 3, 3, 1]


def test_a_budget_takes_the_worst_away():
    budget = Clients(timeout=PATIENCE, retries=3, retry_budget=0.1)
    found = tipping(SERVER, budget, 400.0)
    assert len(found.states) == 1
    assert found.pulse == inf
    assert found.grows == 0


# Tipping


def test_a_larger_load_needs_a_smaller_push():
    pulses = [pulse_over(SERVER, ASKS, load) for load in (250.0, 350.0, 430.0)]
    assert all(one > other for one, other in pairwise(pulses))
    assert tipping(SERVER, ASKS, 100.0).pulse == inf


def test_a_pulse_is_the_least_that_tips_it():
    load, lasts = 300.0, 12.0
    most = pulse_over(SERVER, ASKS, load)
    assert flood(SERVER, ASKS, load, 1.01 * most, lasts).over
    assert not flood(SERVER, ASKS, load, 0.98 * most, lasts).over


def test_a_short_queue_leaves_one_state():
    """With places for 20 the wait is 40 ms at the most, far below the timeout."""
    short, long = (TimedQueue(0.008, 4, 0.1, places=places) for places in (20, 100))
    assert folds(short, ASKS) is None
    assert tipping(short, ASKS, 400.0).pulse == inf
    between, free = folds(long, ASKS), folds(SERVER, ASKS)
    assert free.vanishes < between.vanishes < between.tips == pytest.approx(free.tips, rel=1e-3)
    found = tipping(long, ASKS, 300.0)
    assert [one.stability.value for one in found.states] == ["stable", "unstable", "stable"]
    assert found.grows == 0
    assert found.alone[0] > 1000  # in 5,000,000 attempts none ended
    assert found.alone[1] == inf
    assert found.falls is None
    assert between.vanishes < found.stays < 300 < found.lasts
    assert found.pulse == pytest.approx(tipping(SERVER, ASKS, 300.0).pulse, rel=0.01)
    after = flood(long, ASKS, 300.0, 500.0, 3.0)
    assert after.queue_length.max() == pytest.approx(100, abs=1)
    assert after.over


def test_who_is_refused_is_away_for_the_backoff_alone():
    """A pulse of 120 at 20 places: 100 come again after 0.5 s, and 80 of them once more."""
    queue = TimedQueue(0.008, 4, 0.1, places=20)
    asks = Clients(timeout=0.1, retries=3, backoff=0.5)
    found = flood(queue, asks, 1e-9, 120.0, 2.0)
    peaks = [found.queue_length[found.times.searchsorted(t - 0.001) :][:3].max() for t in (0, 0.5)]
    assert peaks == pytest.approx([19, 19], abs=1.1)
    assert found.queue_length[found.times.searchsorted(0.45)] == 0


def test_what_gathers_in_the_bad_state_is_more_than_can_be_served():
    found = tipping(SERVER, ASKS, 300.0)
    assert found.grows == pytest.approx(4 * 300 - 500)
    assert found.drains == pytest.approx(700 / 500)
    after = flood(SERVER, ASKS, 300.0, 500.0, 10.0)
    growth = (after.queue_length[-1] - after.queue_length[-51]) / (
        after.times[-1] - after.times[-51]
    )
    assert growth == pytest.approx(found.grows, rel=0.02)


@pytest.mark.parametrize(
    ("late", "retries"), [(0.3, 3), (1.0, 3), (0.0, 2), (1 - 1e-12, 4), (1e-20, 3)]
)
def test_attempts_of_a_request_are_a_geometric_sum(late, retries):
    sum_ = sum(late**k for k in range(retries + 1))
    asks = Clients(timeout=1.0, retries=retries)
    assert per_request(asks, late) == pytest.approx(sum_, rel=1e-12)


def test_a_million_retries_take_no_longer_than_one():
    asks = Clients(timeout=1.0, retries=1e6)
    assert per_request(asks, 0.5) == pytest.approx(2.0, rel=1e-12)
    assert per_request(asks, 1.0) == 1e6 + 1


def test_a_thousand_servers_have_no_one_wait_at_a_low_rate():
    assert TimedQueue(1.0, 1000, 3.0).at(1e-3).late == pytest.approx(np.exp(-3.0), rel=1e-12)


def test_a_thousand_servers_tip_as_few_do():
    """Where their curve turns, it is flat to a millionth from point to point."""
    asks = Clients(timeout=0.1, retries=3)
    for oldest in (inf, 0.1):
        between = folds(TimedQueue(0.008, 1000, 0.1, oldest), asks)
        assert between.vanishes < 40_000 < 120_000 < between.tips < 125_000


def test_backoffs_that_are_too_long_for_a_pulse_are_refused_in_a_line():
    asks = Clients(timeout=0.1, retries=3, backoff=3e7)
    with pytest.raises(GraphError, match="give a shorter backoff") as refused:
        pulse_over(TimedQueue(0.008, 4, 0.1), asks, 390.0)
    assert "\n" not in str(refused.value)


# Chains


@pytest.mark.parametrize(
    ("rate", "servers", "room", "persistence", "backoff", "patience"),
    [(1.5, 2, 3, 0.7, 2.0, inf), (2.5, 2, 2, 0.5, 0.5, inf), (1.8, 2, 12, 0.8, 1.5, 0.7)],
)
def test_the_orbit_is_that_of_a_dense_chain(rate, servers, room, persistence, backoff, patience):
    jobs, away, served = orbit_chain(rate, servers, room, persistence, backoff, patience)
    found = orbit_of(OrbitQueue(rate, 1.0, servers, room, patience, backoff, persistence))
    assert found.queue_length == pytest.approx(jobs, rel=1e-9)
    assert found.away == pytest.approx(away, rel=1e-9)
    assert found.served == pytest.approx(served, rel=1e-9)


def test_without_persistence_the_orbit_is_empty():
    law = erlang_a(3, 4.5, 0.5)
    found = orbit_of(OrbitQueue(4.5, 1.0, 3, inf, 0.5, 1.0, 0.0))
    assert found.left / 4.5 == pytest.approx(law.abandonment, rel=1e-9)
    assert found.away == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("servers", "load", "patience"),
    mostly_slow([(1, 0.8, 2.0), (4, 5.0, 0.5)], {(4, 5.0, 0.5)}, tuples=True),
)
def test_who_is_served_waited_as_in_a_tagged_chain(servers, load, patience):
    """E[V; served] by stages, with 60-digit numbers: each stage served, left, or one step ahead."""
    law = erlang_a(servers, load, patience)
    m, theta = mpmath.mpf(servers), 1 / mpmath.mpf(patience)
    weights = [mpmath.mpf(1)]
    for n in range(1, 400):
        weights.append(weights[-1] * load / (min(n, m) + max(n - servers, 0) * theta))
    total = sum(weights)
    mean = chance = mpmath.mpf(0)
    for ahead in range(400 - servers):
        reach, spent = mpmath.mpf(1), mpmath.mpf(0)  # chance to be there still, time until then
        for stage in range(ahead, -1, -1):
            rate = m + (stage + 1) * theta
            spent += 1 / rate
            reach *= (rate - theta) / rate
        weight = weights[servers + ahead] / total
        mean, chance = mean + weight * reach * spent, chance + weight * reach
    served = 1 - law.abandonment
    assert law.served_waiting_time == pytest.approx(float(mean) / served, rel=1e-9)
    before = float(sum(weights[:servers]) / total)
    assert served == pytest.approx(before + float(chance), rel=1e-10)


# Models


def test_a_model_is_solved_by_the_method_that_knows_it():
    patient = server({"patience": 0.02}, 700.0).solve()
    assert (patient.method, patient.approximation) == ("erlang-a", "")
    law = erlang_a(4, 700 * 0.008, 0.02 / 0.008)
    assert patient["abandonment"] == pytest.approx(law.abandonment, rel=1e-10)
    back = {"retries": inf, "persistence": 0.8, "backoff": 0.05, "backoff_scv": 1.0}
    away = server(back, 400.0, MMmK(0.008, 4, 6)).solve()
    assert (away.method, away.approximation.startswith("its response")) == ("retrials", True)
    _, gone, served = orbit_chain(400 * 0.008, 4, 6, 0.8, 0.05 / 0.008)
    assert away["throughput"] == pytest.approx(served / 0.008, rel=1e-9)
    come = 400 * 0.008 + gone / (0.05 / 0.008)
    assert away["loss_probability"] == pytest.approx(1 - served / come, rel=1e-9)
    assert server({"timeout": 0.1, "retries": 3}, 400.0).solve().method == "attempts"


def test_points_are_solved_each_by_itself():
    graph = ModelGraph("server").declare("limit").station("server", MM1(0.008))
    graph = graph.impatient({"timeout": "limit", "retries": 2})
    both = graph.at(limit=[0.05, 0.1]).solve(arrival_rate=60.0)
    each = [graph.at(limit=one).solve(arrival_rate=60.0)["attempts"] for one in (0.05, 0.1)]
    assert both["attempts"].tolist() == pytest.approx(each, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("timeout", "kind", "said"),
    [(0.05, MMm(1.0, 2), True), (0.2, MMm(1.0, 2), False), (0.2, MMmK(1.0, 2, 5), True),
     (10.0, MMmK(1.0, 2, 5), False), (40.0, MMm(1.0, 2), True)],
)  # fmt: skip
def test_a_timeout_beyond_those_measured_is_said(timeout, kind, said):
    model = ModelGraph("server").station("server", kind)
    solved = model.impatient({"timeout": timeout, "retries": 1}).at(arrival_rate=0.2).solve()
    words = f"a timeout of {timeout:g} service times is outside those measured"
    assert (words in solved.approximation) == said


def test_attempts_are_near_those_of_a_simulation():
    """Where one in twelve attempts fails, and retries find another queue: within 3%."""
    model = ModelGraph("server").station("server", MMm(1.0, 2))
    model = model.impatient({"timeout": 4.0, "retries": 1, "backoff": 40.0}).at(arrival_rate=0.95)
    solved, found = model.solve(), model.simulate(0.01)
    for name in ("throughput", "goodput", "response_time", "attempts"):
        assert solved[name] == pytest.approx(found[name].mean, rel=0.03)
    little = solved["server.queue_length"] / solved["server.throughput"]
    assert solved["server.residence_time"] == pytest.approx(little, rel=1e-12)


@pytest.mark.parametrize(
    ("numbers", "station", "why"),
    [
        ({"timeout": 0.1, "patience": 0.1}, None, "without patience"),
        ({"patience": 0.1, "patience_scv": 0.5}, None, "exponential patience"),
        ({"timeout": 0.1}, MG1(0.008, 2.0), "one MM1, MMm, MM1K or MMmK"),
        ({"timeout": 0.1, "retries": 2}, MMmK(0.008, 4, 20_000), "capacity of up to 10,000"),
    ],
)
def test_what_no_method_knows_is_refused_in_a_line(numbers, station, why):
    with pytest.raises(HeadwayError, match="simulat") as refused:
        server(numbers, 50.0, station).solve()
    assert "\n" not in str(refused.value)
    assert why in str(refused.value) or "method" in str(refused.value)


def test_a_limited_room_that_drops_the_old_is_refused():
    model = server({"timeout": 0.1}, 50.0, MMmK(0.008, 4, 9), drop_older_than=0.1)
    with pytest.raises(HeadwayError, match="a capacity or drop_older_than, but not both; simulate"):
        model.solve(method="attempts")


def test_who_finds_no_place_is_lost_or_comes_again():
    once = server({"timeout": 0.1}, 700.0, MMmK(0.008, 4, 20)).solve()
    law = TimedQueue(0.008, 4, 0.1, places=20).at(700.0)
    assert once["loss_probability"] == pytest.approx(law.dropped, rel=1e-9)
    assert once["server.loss_probability"] == once["loss_probability"]
    assert once["throughput"] == pytest.approx(700 * (1 - law.dropped), rel=1e-9)
    assert once["goodput"] == pytest.approx(700 * (1 - law.late), rel=1e-9)
    assert once["response_time"] == pytest.approx(law.time_in_time / (1 - law.late), rel=1e-9)
    again = server({"timeout": 0.1, "retries": 2, "backoff": 0.1}, 700.0, MMmK(0.008, 4, 20))
    assert again.solve()["attempts"] > 1.5
    assert "where arrivals are refused" in again.solve().approximation


def test_other_methods_refuse_by_themselves():
    model = server({"timeout": 0.1}, 50.0)
    for method in ("open", "exact", "linearizer"):
        with pytest.raises(HeadwayError):
            model.solve(method=method)
    with pytest.raises(GraphError, match="percentiles"):
        model.solve().with_percentiles([95])
    with pytest.raises((GraphError, InvalidParameter)):
        server({"timeout": 0.1}, 50.0).solve(method="retrials")


@pytest.mark.parametrize("persistence", [1.0, 0.9])
def test_what_a_bad_state_leaves_is_sure_within_a_tenth_after_a_time(persistence):
    """A request brings one attempt, and a second, third and fourth if its client still asks."""
    clients = Clients(timeout=0.1, retries=3, persistence=persistence)
    found = tipping(TimedQueue(0.008, 4, 0.1), clients, 300.0)
    draw, time = np.random.default_rng(7), found.sure
    ask = draw.poisson(300 * time, 20_000)
    attempts = ask.copy()
    for _ in range(3):
        ask = draw.binomial(ask, persistence)
        attempts += ask
    left = draw.gamma(attempts, 1 / 500) - time
    assert left.mean() == pytest.approx(found.drains * time, rel=0.005)
    near = np.abs(left / (found.drains * time) - 1) < 0.1
    assert near.mean() == pytest.approx(0.95, abs=0.01)


def test_a_budget_of_nothing_is_no_retries():
    """Four servers at four fifths of their capacity; every try that fails is the last."""
    some, none = ({"timeout": 0.1, "retries": 3, **more} for more in ({"retry_budget": 0.0}, {}))
    found = server(some, 400.0).solve()
    alone = server(none | {"retries": 0}, 400.0).solve()
    for name in ("goodput", "response_time", "attempts"):
        assert found[name] == pytest.approx(alone[name], rel=1e-6)
