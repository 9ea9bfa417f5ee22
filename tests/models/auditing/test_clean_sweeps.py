"""Nothing is wrong with a clean sweep, and an audit says so: 20 simulated, and those that ship."""

import numpy as np
import pytest

from headway.models import data_path
from headway.models.analysis.audit import audit
from headway.models.auditing.finding import Severity
from headway.models.measured.points import Loop
from headway.models.measured.tools.kit.requests import Requests
from headway.models.reading.loadtest import LoadTest, read_load_test
from tests.campaigns.steady_runs import shared

SERVICE, REQUESTS = 0.02, 2000
OPEN = [(servers, scv) for servers in (1, 2, 4, 8) for scv in (0.25, 1.0, 2.0)]
CLOSED = [(servers, think) for servers in (1, 2, 4, 8) for think in (0.0, 10.0)]
LOADS, CLIENTS = (0.2, 0.4, 0.6, 0.8, 0.9), (1, 2, 4, 8, 16, 32)


def point(run, **more):
    """A log of a run, in whole milliseconds, as a point."""
    requests = Requests(1e-3)
    sent, took = (np.round(1000 * SERVICE * each) for each in run)
    for start, elapsed in zip(sent, took, strict=True):
        requests.add(start, elapsed, True)
    made = requests.point("simulated", "run")
    return type(made)(**{name: getattr(made, name) for name in made.__dataclass_fields__} | more)


def open_sweep(servers, scv, random):
    """A rate is offered; times are those of services of mean 1 from arrivals of rate 1."""
    for load in LOADS:
        sent, took = shared(random, REQUESTS, servers=servers, load=load, scv=scv)
        scale = 1 / (load * servers)
        run = sent * scale, took * scale
        yield point(run, loop=Loop.OPEN, offered_rate=load * servers / SERVICE)


def closed_sweep(servers, think, random):
    for clients in CLIENTS:
        run = shared(random, REQUESTS, clients=clients, servers=servers, think=think)
        more = {"population": float(clients), "think_time": think * SERVICE}
        yield point(run, loop=Loop.CLOSED, **more)


def warnings(points):
    findings = audit(LoadTest(tuple(points))).findings
    return [each.text for each in findings if each.severity is not Severity.NOTE]


@pytest.mark.parametrize(("servers", "scv"), OPEN)
def test_an_open_sweep_below_saturation_is_sound(servers, scv):
    assert (
        warnings(open_sweep(servers, scv, np.random.default_rng([servers, int(100 * scv)]))) == []
    )


@pytest.mark.parametrize(("servers", "think"), CLOSED)
def test_a_closed_sweep_to_saturation_is_sound(servers, think):
    assert (
        warnings(closed_sweep(servers, think, np.random.default_rng([servers, int(think)]))) == []
    )


@pytest.mark.parametrize("name", ["fio", "nginx/base.txt"])
def test_sweeps_that_ship_are_sound(name):
    assert warnings(read_load_test([str(data_path(f"load_tests/{name}"))]).points) == []


def test_published_curves_are_sound():
    for path in sorted(data_path("sfs_results").glob("curves/*.csv")):
        assert warnings(read_load_test([str(path)]).points) == []
