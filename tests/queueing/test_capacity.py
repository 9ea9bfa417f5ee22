"""Approximate answers of closed classes obey what stations can serve, and the operational laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import InvalidParameter, Saturated
from headway.models import find_model
from headway.queueing import Discipline, JobClass, Method, SharedStation, solve_multiclass
from headway.queueing.orders.capacity import ClassDemands, longer_waits
from tests.models.importing.test_import import PEERS

ORDERS = ("fcfs", "siro", "priority", "preemptive")
times = st.floats(0.01, 2.0)


@st.composite
def networks(draw):
    """Two or three classes, the last perhaps open, at stations of any discipline and spread."""
    count = draw(st.integers(2, 3))
    spread = draw(st.booleans())
    orders = ORDERS[:2] if spread else ORDERS
    stations = []
    for k in range(draw(st.integers(1, 2))):
        order = Discipline(draw(st.sampled_from(orders if k == 0 else (*orders, "ps"))))
        scv = tuple(draw(st.sampled_from((0.0, 0.25, 2.0))) for _ in range(count))
        needed = tuple(draw(times) for _ in range(count))
        text = scv if spread and order is Discipline.FCFS else ()
        servers = draw(st.integers(1, 2))
        stations.append(
            SharedStation(str(k), needed, [1] * count, servers=servers, discipline=order, scv=text)
        )
    classes = [
        JobClass(
            str(c),
            population=draw(st.integers(1, 6)),
            think_time=draw(st.sampled_from((0.0, 0.1, 3.0))),
            priority=draw(st.integers(1, 2)),
        )
        for c in range(count)
    ]
    if not spread and draw(st.booleans()):
        load = max(s.service_times[-1] / s.servers for s in stations)
        classes[-1] = JobClass("open", arrival_rate=draw(st.floats(0.05, 0.5)) / load)
    return stations, classes


@settings(max_examples=15, deadline=None, derandomize=True)
@given(networks(), st.sampled_from((Method.AUTO, Method.LINEARIZER, Method.SCHWEITZER)))
def test_no_station_is_busier_than_it_can_be(network, method):
    stations, classes = network
    try:
        solution = solve_multiclass(stations, classes, method)
    except (Saturated, InvalidParameter):  # said to starve, or not to settle
        return

    assert (solution.utilisation.sum(axis=1) <= 1 + 1e-9).all()
    for c, job in enumerate(classes):
        rate, time = solution.throughput[c], solution.response_time[c]
        # Tolerance: where the iteration is said to be at rest.
        if not job.is_open:
            assert rate * (job.think_time + time) == pytest.approx(job.population, rel=1e-5)
        assert solution.queue_length[:, c].sum() == pytest.approx(rate * time, rel=1e-9)
        assert solution.utilisation[:, c] == pytest.approx(
            [rate * s.service_times[c] / s.servers for s in stations], rel=1e-9
        )


def test_a_file_that_overfilled_its_station_fills_it():
    solution = find_model(str(PEERS / "fcfs.jsimg")).solve()

    assert solution["Queue_2.utilisation"] == pytest.approx(1, abs=1e-11)
    assert solution["Queue_2.utilisation"] <= 1


def test_two_bottlenecks_are_both_just_full():
    demand = np.array([[[1.0], [0.2]], [[0.1], [1.0]]])
    room = np.ones((2, 1))
    demands = ClassDemands(np.full((2, 1), 3.0), np.full((2, 1), 2.0), demand, demand, room)

    longer = longer_waits(demands)

    assert (longer > 0).all()
    assert demands.busy(longer).ravel() == pytest.approx([1, 1], rel=1e-9)
