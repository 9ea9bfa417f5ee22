"""What classes with arrivals of their own wait at the same stations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.models import ModelGraph
from headway.queueing import MM1, ClassRoutes, JobClass
from headway.queueing.chains.two_moments import solve_spread
from headway.queueing.variability.classes import ClassFlows, aggregated
from headway.queueing.variability.network import solve_general
from tests.campaigns.qna_class_errors import events, solved
from tests.queueing.classes.test_class_arrivals import queue
from tests.support.cases import mostly_slow


def test_classes_that_vary_alike_wait_alike():
    """At the store their times differ by those of service where both are Poisson; 1e-12."""
    graph = ModelGraph("g").station("x", MM1(0.1), service_times={"a": 0.05, "b": 0.2})
    solution = (
        graph.job_class("a", 3.0, arrival_scv=1.0).job_class("b", 2.0).at().solve(method="qna")
    )
    more = solution["class b.response_time"] - solution["class a.response_time"]
    assert more == pytest.approx(0.15, rel=1e-12)


@settings(max_examples=30)
@given(st.floats(0.05, 0.9), st.floats(0.1, 0.9), st.floats(1.1, 8.0), st.floats(0.3, 3.0))
def test_bursts_wait_longer_and_the_mean_wait_stays(load, share, burst, size):
    """Of a Poisson class beside a bursty one, weighted by their visits: 1e-9 of the mean wait."""
    rates = np.array([share, 1 - share])
    times = np.array([size, 1.0])
    times *= load / (rates @ times)
    jobs = [JobClass(n, arrival_rate=r) for n, r in zip("ab", rates, strict=True)]
    routes = ClassRoutes(("x",), ("a", "b"), {})
    solution = solve_spread([queue(times.tolist())], jobs, routes, (burst, 1.0))
    waits = solution.classes.response_time - times
    assert waits[0] > waits[1] >= 0
    if waits[1] > 0:  # else it would be below, and is 0
        flows = ClassFlows(
            rates.reshape(1, 2, 1), np.zeros((1, 2, 1, 2, 1)), np.ones((1, 2, 1)),
            rates[None], np.array([[burst, 1.0]]), times.reshape(1, 2, 1), np.ones((1, 2, 1)),
            np.ones((1, 1)),
        )  # fmt: skip
        mean = solve_general(aggregated(flows).network).waiting_time[0, 0]
        assert rates @ waits == pytest.approx(mean, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("load", "share"), mostly_slow([(0.5, 0.2), (0.5, 0.5)], 1, tuples=True))
def test_how_much_longer_bursts_wait_is_simulated_too(load, share):
    """An scv of 8 beside a Poisson class of the same services: 15% of the difference."""
    rates, ones = np.array([share, 1 - share]), np.ones((2, 1))
    drawn = (rates, np.zeros(2, int), np.array([8.0, 1.0]), np.zeros((2, 1, 2, 1)), load * ones,
             np.ones(1), ones)  # fmt: skip
    visits, _ = events(drawn, 200_000, np.random.default_rng(1))
    true = visits[visits[:, 0] == 0, 2].mean() - visits[visits[:, 0] == 1, 2].mean()
    time = solved(drawn).classes.response_time
    assert time[0] - time[1] == pytest.approx(true, rel=0.15)
