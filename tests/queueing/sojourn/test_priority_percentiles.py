"""Percentiles of classes of which some go first, against simulation and closed laws."""

import heapq

import numpy as np
import pytest

from headway.errors import InvalidParameter
from headway.models import ModelGraph
from headway.queueing import MG1, MM1, response_time_percentile
from headway.queueing.stations.priority import PriorityMG1
from headway.queueing.times.inversion import percentile_of


def simulated(rates, times, jobs, seed):
    """Response times of each class, exponential services, highest class first."""
    random = np.random.default_rng(seed)
    arrivals = np.cumsum(random.exponential(1 / sum(rates), jobs))
    classes = random.choice(len(rates), jobs, p=np.array(rates) / sum(rates))
    services = random.exponential(np.array(times)[classes])
    values, waiting, now, k = [[] for _ in rates], [], 0.0, 0
    while k < jobs or waiting:
        while k < jobs and (arrivals[k] <= now or not waiting):
            heapq.heappush(waiting, (classes[k], k))
            now = max(now, arrivals[k])
            k += 1
        c, job = heapq.heappop(waiting)
        now += services[job]
        values[c].append(now - arrivals[job])
    return [np.array(each) for each in values]


def test_three_classes_lie_where_simulation_puts_them():
    rates, times = (0.3, 0.4, 0.5), (0.4, 0.8, 0.7)
    laws = PriorityMG1(times, (1.0, 1.0, 1.0)).time_laws(rates)
    for law, result in zip(laws, simulated(rates, times, 250_000, seed=3), strict=True):
        assert law.notes == ()
        for share in (0.5, 0.95, 0.99):
            # 60,000 and more correlated jobs of each class leave some 2% at the 99th percentile
            time = percentile_of(law, share)
            assert time == pytest.approx(np.quantile(result, share), rel=0.03)


def test_means_are_cobhams():
    station, rates = PriorityMG1((0.4, 0.8, 0.7), (0.5, 2.0, 1.0)), (0.3, 0.4, 0.5)
    h = 1e-6
    for law, mean in zip(station.time_laws(rates), station.response_times(rates), strict=True):
        slope = (1 - law.transform(np.array([h + 0j]))[0].real) / h
        assert slope == pytest.approx(mean, rel=1e-4)


def test_one_class_alone_is_m_g_1():
    (law,) = PriorityMG1((0.5,), (2.0,)).time_laws((1.2,))
    assert percentile_of(law, 0.99) == pytest.approx(
        response_time_percentile(MG1(0.5, 2.0), 1.2, 0.99), rel=1e-9
    )


def test_the_highest_class_of_two_that_hardly_come_is_m_m_1():
    law, _ = PriorityMG1((0.5, 0.5), (1.0, 1.0)).time_laws((1.0, 1e-9))
    assert percentile_of(law, 0.99) == pytest.approx(
        response_time_percentile(MM1(0.5), 1.0, 0.99), rel=1e-6
    )


def test_saturation_is_refused():
    with pytest.raises(InvalidParameter, match="utilisation is 1.5; it must be below 1"):
        PriorityMG1((0.5, 0.5), (1.0, 1.0)).time_laws((1.0, 2.0))


@pytest.mark.parametrize("difference", [0.0, 1e-9])
def test_a_model_whose_classes_have_the_same_times_knows_who_goes_first(difference):
    """Equal times make no queue in order of arrival of it."""
    times = {"first": 1.0, "second": 1.0 + difference}
    graph = ModelGraph("two")
    for priority, name in enumerate(times, start=1):
        graph = graph.job_class(name, arrival_rate=0.3, priority=priority)
    graph = graph.station("cpu", MM1(1.0), service_times=times, discipline="priority")
    solution = graph.at().solve().with_percentiles((50, 99))
    laws = PriorityMG1((1.0, 1.0), (1.0, 1.0)).time_laws((0.3, 0.3))
    for name, law in zip(times, laws, strict=True):
        for percent in (50, 99):
            exact = percentile_of(law, percent / 100)
            found = solution[f"class {name}.response_time_p{percent}"]
            assert found == pytest.approx(exact, rel=1e-6)
