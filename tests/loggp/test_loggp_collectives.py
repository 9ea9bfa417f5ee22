"""Collectives: closed forms of the literature, and searches over all schedules up to P = 8."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import HeadwayError
from headway.loggp import (
    LogGP,
    all_to_all_steady_time,
    all_to_all_time,
    barrier_time,
    broadcast_time,
    broadcast_tree,
    reduction_time,
)

small = st.integers(0, 9).map(float)
machines = st.builds(
    LogGP, small, small, small, st.integers(1, 9).map(float), st.just(0.0), st.integers(1, 8)
)


def best_broadcast(machine):
    """Try who sends next in every order; each sends as soon as it may."""
    flight = machine.send_overhead + machine.latency + machine.receive_overhead
    interval = max(machine.gap, machine.send_overhead)

    @cache
    def search(next_sends, missing):
        if missing == 0:
            return 0.0
        best = math.inf
        for position, start in enumerate(next_sends):
            others = next_sends[:position] + next_sends[position + 1 :]
            arrival = start + flight
            state = tuple(sorted((*others, start + interval, arrival)))
            best = min(best, max(arrival, search(state, missing - 1)))
        return best

    return search((0.0,), machine.processors - 1)


def partitions(total, largest):
    if total == 0:
        yield ()
    for first in range(min(total, largest), 0, -1):
        for rest in partitions(total - first, first):
            yield (first, *rest)


def best_reduction(machine, combine_time):
    """Try every shape of tree, forwards in time: children first, then their parent."""
    work = machine.receive_overhead + combine_time
    interval = max(machine.gap, work)

    @cache
    def search(size):
        return (
            min(root_time(children) for children in partitions(size - 1, size - 1))
            if size > 1
            else 0.0
        )

    def root_time(children):
        start = end = -math.inf
        for child in sorted(children):
            arrival = search(child) + machine.send_overhead + machine.latency
            start = max(arrival, start + interval)
            end = start + work
        return end

    return search(machine.processors)


def order_time(order, machine):
    now, sends, received, last_send, last_receive = 0.0, [], 0, -math.inf, -math.inf
    for task in order:
        if task == "send":
            last_send = max(now, last_send + machine.gap)
            now = last_send + machine.send_overhead
            sends.append(now + machine.latency)
        elif received == len(sends):
            return math.inf
        else:
            last_receive = max(now, last_receive + machine.gap, sends[received])
            now = last_receive + machine.receive_overhead
            received += 1
    return now


def best_exchange(machine):
    """Try every order of the sends and receptions of one processor (all do the same)."""
    count = machine.processors - 1
    best = math.inf if count else 0.0
    for sends in itertools.combinations(range(2 * count), count):
        order = ["send" if place in sends else "receive" for place in range(2 * count)]
        best = min(best, order_time(order, machine))
    return best


def simulated_barrier(machine):
    """Dissemination processor by processor: in round k send to the one 2^k further on."""
    count = machine.processors
    ready, last_send = [0.0] * count, [-math.inf] * count
    step = 1
    while step < count:
        starts = [max(r, s + machine.gap) for r, s in zip(ready, last_send, strict=True)]
        arrivals = [s + machine.send_overhead + machine.latency for s in starts]
        ready = [
            max(starts[i] + machine.send_overhead, arrivals[i - step]) + machine.receive_overhead
            for i in range(count)
        ]
        last_send, step = starts, 2 * step
    return max(ready)


@settings(max_examples=60, deadline=None)
@given(machines)
def test_broadcast_is_the_best_of_all_schedules(machine):
    assert broadcast_time(machine) == best_broadcast(machine)


@settings(max_examples=100, deadline=None)
@given(machines, small)
def test_reduction_is_the_best_of_all_trees(machine, combine_time):
    # times are sums of small whole numbers, exact in any order
    assert reduction_time(machine, combine_time) == best_reduction(machine, combine_time)


@settings(max_examples=25, deadline=None)
@given(machines.filter(lambda machine: machine.processors <= 7))
def test_all_to_all_is_the_best_of_all_orders(machine):
    assert all_to_all_time(machine) == best_exchange(machine)


@pytest.mark.parametrize("parts", [(6, 2, 2, 4), (5, 1, 3, 2), (0, 3, 2, 9), (9, 0, 1, 1)])
def test_all_to_all_of_eight_is_the_best_of_all_orders(parts):
    machine = LogGP(*map(float, parts), 0.0, 8)

    assert all_to_all_time(machine) == best_exchange(machine)


@given(machines)
def test_barrier_agrees_with_its_simulation(machine):
    assert barrier_time(machine) == simulated_barrier(machine)


@pytest.mark.parametrize("processors", [1, 2, 3, 4, 7, 8, 9, 1000])
def test_broadcast_closed_forms(processors):
    # flight time = gap: informed processors double each gap (binomial tree)
    doubling = LogGP(3.0, 0.5, 0.5, 4.0, 0, processors)
    assert broadcast_time(doubling) == 4 * math.ceil(math.log2(processors))

    # a gap that never lets anybody send twice in time: a chain is no worse than a star
    if processors > 1:
        star = LogGP(1e6, 0.0, 0.0, 1.0, 0, processors)
        assert broadcast_time(star) == 1e6 + processors - 2


def test_broadcast_grows_as_fibonacci_numbers_when_a_flight_is_two_gaps():
    # informed(t) = informed(t - g) + informed(t - 2 g) (Karp et al. 1993)
    informed = [1, 1]
    while informed[-1] < 400:
        informed.append(informed[-1] + informed[-2])

    for gaps, count in enumerate(informed):
        if gaps > 1:
            tree = broadcast_tree(LogGP(2.0, 0.0, 0.0, 1.0, 0, count))
            assert tree.time == gaps


def test_published_broadcast_example():
    # Culler et al. 1993: P = 8, L = 6, g = 4, o = 2 takes 24 cycles
    assert broadcast_time(LogGP(6, 2, 2, 4, 0, 8)) == 24


@given(machines.filter(lambda machine: machine.processors > 1))
def test_all_to_all_obeys_its_lower_bounds(machine):
    time = all_to_all_time(machine)
    count = machine.processors - 1
    flight = machine.send_overhead + machine.latency + machine.receive_overhead
    pace = max(machine.gap, machine.send_overhead, machine.receive_overhead)

    assert time >= flight + (count - 1) * pace
    assert time >= count * (machine.send_overhead + machine.receive_overhead)


def test_all_to_all_reaches_the_closed_form_where_nothing_collides():
    machine = LogGP(6.0, 1.0, 1.0, 4.0, 0, 9)

    assert all_to_all_time(machine) == all_to_all_steady_time(machine)


@pytest.mark.parametrize("operation", [broadcast_time, all_to_all_time, barrier_time])
def test_orders_of_events_need_plain_numbers(operation):
    machine = LogGP(6.0, 2.0, 2.0, 4.0, 0, np.array([2, 4]))

    with pytest.raises(HeadwayError, match="plain number"):
        operation(machine)
