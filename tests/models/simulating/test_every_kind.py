"""Every kind of station, by every discipline and with every kind of jobs, is simulated.

What is not is refused by a reason of a short list: each is impossible, as it is said. Where a kind
says how fast it serves, but not whom, laws that follow from the simulation's own assumption hold.
"""

import json
from itertools import product

import numpy as np
import pytest
from scipy.sparse import lil_matrix
from scipy.sparse.linalg import expm_multiply

from headway.errors import GraphError, HeadwayError, InvalidParameter
from headway.models import ModelGraph, parse_model
from headway.queueing import (
    MM1,
    Batch,
    GGm,
    LoadDependent,
    MMm,
    UnequalServers,
)
from headway.queueing.disciplines.table import DISCIPLINES
from headway.queueing.stations.finite import GIMmK
from headway.queueing.stations.listed.kinds import STATIONS
from tests.models.structure.test_model_stations import KINDS

SURE = 0.999

JOBS = {
    "open": "[parameters]\narrival_rate = 8\n",
    "closed": "[parameters]\npopulation = 3\nthink_time = 0.1\n",
    "open classes": "[classes.a]\narrival_rate = 4\n{}[classes.b]\narrival_rate = 3\n{}",
    "closed classes": (
        "[classes.a]\npopulation = 2\n{}[classes.b]\npopulation = 2\nthink_time = 0.1\n{}"
    ),
    "mixed classes": "[classes.a]\narrival_rate = 2\n{}[classes.b]\npopulation = 2\n{}",
}
RANKED = ("priority", "preemptive")
REASONS = (
    "loses jobs, so a closed network runs empty",
    "only where all its jobs come from outside, in one class",
    "does not support the discipline",
)
"""Why a model is not simulated; the last is the language's, which takes no such model."""


def model_of(kind, discipline, jobs):
    keys = {**KINDS[kind], "discipline": discipline}
    given = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    ranks = ["priority = 1\n", "priority = 2\n"] if discipline in RANKED else ["", ""]
    text = JOBS[jobs].format(*ranks)
    return parse_model(f'name = "g"\n{text}[stations.x]\nkind = "{kind}"\n{given}')


def classless(discipline, jobs):
    return discipline in RANKED and "classes" not in jobs


def answered(*case):
    """A simulation, or the reason of the list, or all that was said."""
    try:
        return model_of(*case).simulate(0.5, percentiles=(90,))
    except HeadwayError as error:
        return next((reason for reason in REASONS if reason in str(error)), str(error))


CASES = [each for each in product(STATIONS, DISCIPLINES, JOBS) if not classless(*each[1:])]


@pytest.mark.parametrize("kind", STATIONS)
def test_each_kind_is_simulated_or_impossible(kind):
    """Means of stations and of the system, and a percentile, with an interval each."""
    answers = [answered(*each) for each in CASES if each[0] == kind]
    simulations = [each for each in answers if not isinstance(each, str)]
    assert {each for each in answers if isinstance(each, str)} <= {*REASONS}
    assert simulations
    for simulation in simulations:
        names = ("throughput", "response_time", "response_time_p90", "x.queue_length")
        assert all(simulation[name].mean > 0 for name in names)
        assert all(simulation[name].half_width() < np.inf for name in names)


def test_what_is_impossible_is_rare():
    """By kind: a closed network empties through losses, or contradicts a law of arrivals."""
    refused = {kind for kind in STATIONS if _refused(kind)}
    assert refused == {"MM1K", "MMmK", "GIMmK", "GGm", "BatchK"}


def _refused(kind):
    try:
        model_of(kind, "fcfs", "closed").simulate(0.5)
    except GraphError:
        return True
    return False


def one(station, rate):
    return ModelGraph("one").station("node", station).at(arrival_rate=rate)


@pytest.mark.parametrize(
    ("station", "alike", "rate"),
    [
        (LoadDependent((2.0, 4.0, 6.0)), MMm(0.5, 3), 4.5),
        (LoadDependent((2.0, 2.0)), MM1(0.5), 1.2),
        (Batch(0.3, 0.2, 1), MM1(0.5), 1.2),
    ],
)
def test_speeds_of_a_pool_have_the_percentiles_of_the_pool(station, alike, rate):
    exact = one(alike, rate).solve().with_percentiles((50, 99))
    found = one(station, rate).simulate(0.05, 7, (50, 99))
    for name in ("response_time", "response_time_p50", "response_time_p99"):
        assert found[name].holds(float(np.ravel(exact[name])[0]), SURE), name


def test_a_job_at_unequal_servers_stays_at_the_one_that_it_took():
    """By the law of the kind, which says that any free server is taken."""
    model = one(UnequalServers((0.2, 1.0)), 3.0)
    exact = model.solve().with_percentiles((50, 99))
    found = model.simulate(0.05, 7, (50, 99))
    for name in ("response_time", "response_time_p50", "response_time_p99", "node.utilisation"):
        assert found[name].holds(float(np.ravel(exact[name])[0]), SURE), name


MOST = 60  # requests present that the chain below knows: more have a chance below 1e-8


def batch_percentiles(station, rate, percents):
    """Of a batch server, by the chain of one request: n are there, and w wait before it.

    Those in the batch share its rate, n / (a + b n) of the n <= B in it; it joins when w is 0.
    """
    largest = int(station.largest_batch)
    speeds = [float(s) for s in station.rates_to()]
    speed = [0.0] + [speeds[min(n, largest) - 1] for n in range(1, MOST + 1)]
    states = [(n, w) for n in range(1, MOST + 1) for w in range(max(n - largest, 0) + 1)]
    place = {state: k for k, state in enumerate(states)}
    chain = lil_matrix((len(states), len(states)))
    for (n, w), k in place.items():
        batch = min(n, largest)
        others = speed[n] if w else speed[n] * (batch - 1) / batch
        if n < MOST:
            chain[place[n + 1, w], k] += rate
            chain[k, k] -= rate
        if n > 1:
            chain[place[n - 1, max(w - 1, 0)], k] += others
        chain[k, k] -= speed[n]
    chances = np.cumprod([1.0] + [rate / speed[n] for n in range(1, MOST)])
    start = np.zeros(len(states))
    for found, chance in enumerate(chances / chances.sum()):
        waits = 0 if found < largest else found + 1 - largest
        start[place[found + 1, waits]] = chance
    times = np.linspace(0.0, 20.0, 2001)
    left = expm_multiply(chain.tocsr(), start, 0.0, 20.0, len(times), endpoint=True).sum(axis=1)
    return [float(np.interp(p / 100 - 1, -left, times)) for p in percents]


def test_requests_of_a_batch_share_its_rate_and_others_wait_in_order():
    station = Batch(0.5, 0.25, 4)
    model = one(station, 1.8)
    found = model.simulate(0.05, 7, (50, 99))
    exact = batch_percentiles(station, 1.8, (50, 99))
    assert found["response_time_p50"].holds(exact[0], SURE)
    assert found["response_time_p99"].holds(exact[1], SURE)
    assert found["response_time"].holds(model.solve().response_time, SURE)
    assert "share it equally" in " ".join(found.notes)


def regular(servers):
    """D/M/m of 1 s, 80% busy: the root of the wait at arrivals (Kleinrock I, 6.2)."""
    rate, root = 0.8 * servers, 0.5
    for _ in range(500):
        root = float(np.exp(-servers * (1 - root) / rate))
    return rate, root


def test_regular_arrivals_at_one_server():
    """D/M/1: exponential with mean 1 / (1 - x), x = exp(-(1 - x) / 0.8) (Kleinrock I, 6.4)."""
    rate, root = regular(1)
    found = one(GGm(1.0, 1, 0.0, 1.0), rate).simulate(0.05, 7, (99,))
    assert found["response_time"].holds(1 / (1 - root), SURE)
    assert found["response_time_p99"].holds(np.log(100) / (1 - root), SURE)


def test_regular_arrivals_in_a_room():
    """GI/M/m/K: what is lost is exact (Takacs 1962, chapter 2)."""
    station = GIMmK(1.0, 2, 4, 0.0)
    found = one(station, 2.0).simulate(0.02, 7)
    assert found["loss_probability"].holds(station.loss_probability(2.0), SURE)


def test_arrivals_that_follow_from_the_network_contradict_a_law_of_them():
    graph = ModelGraph("row").station("a", MM1(0.1)).station("b", GGm(0.1, 1, 0.0, 1.0))
    with pytest.raises(GraphError, match="b: .* only where all its jobs come from outside"):
        graph.route("a", "b").at(arrival_rate=1.0).simulate()
    with pytest.raises(InvalidParameter, match="between 0 and 100"):
        one(Batch(1.0, 0.1, 4), 0.5).simulate(percentiles=(100,))
