"""Long runs take no more memory than short ones, and waits by priority are exact at pools.

Sources: Cobham, "Priority assignment in waiting line problems", Operations Research 2(1), 1954
(M/M/m, in service to its end); what preempts sees no other job,
and times are exponential, so all jobs together are those of M/M/m.
"""

import gc
import math
from mmap import PAGESIZE
from pathlib import Path

import pytest

from headway.models import ModelGraph
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.playing.run import Run
from headway.models.simulating.scoring import score_of
from headway.queueing import MM1, MMm, erlang_c
from headway.queueing.compiled.library import LIBRARY

SURE = 0.999
STATUS = Path("/proc/self/statm")
RATES = {"first": 0.9, "second": 0.7}


def ranked(station, discipline):
    graph = ModelGraph("ranked")
    for place, (name, rate) in enumerate(RATES.items(), start=1):
        graph = graph.job_class(name, arrival_rate=rate, priority=place)
    return graph.station("cpu", station, discipline=discipline).at()


def cobham(servers):
    """Mean times of both classes at m servers of 1 s, who finish what they began."""
    load = sum(RATES.values())
    left = erlang_c(servers, load) / servers
    share = RATES["first"] / servers
    waits = left / (1 - share), left / (1 - share) / (1 - load / servers)
    return [1 + each for each in waits]


def test_priority_at_several_servers_waits_by_cobham():
    """W_1 = W_0 / (1 - U_1), W_2 = W_0 / ((1 - U_1)(1 - U)), W_0 = C(m, a) S / m."""
    found = ranked(MMm(1.0, 2), "priority").simulate(0.05, 11)
    for name, value in zip(RATES, cobham(2), strict=True):
        assert found[f"class {name}.response_time"].holds(value, SURE), name


def test_preempted_jobs_at_several_servers():
    """The first class sees no other: M/M/m; both together M/M/m too, as times are exponential."""
    found = ranked(MMm(1.0, 2), "preemptive").simulate(0.05, 11)
    rates = RATES["first"], sum(RATES.values())
    first, every = (1 + erlang_c(2, rate) / (2 - rate) for rate in rates)
    second = (rates[1] * every - rates[0] * first) / RATES["second"]
    for name, value in zip(RATES, (first, second), strict=True):
        assert found[f"class {name}.response_time"].holds(value, SURE), name


def resident():
    """Memory of this process that is in use [bytes]."""
    gc.collect()
    return int(STATUS.read_text().split()[1]) * PAGESIZE


@pytest.mark.slow
@pytest.mark.skipif(LIBRARY is None, reason="needs the kernels, which were not built")
@pytest.mark.skipif(not STATUS.exists(), reason="needs /proc, where Linux says what is resident")
def test_memory_does_not_grow_with_events():
    """A tandem with times kept: 2 MiB more at most after 20 times as many events."""
    graph = ModelGraph("row").station("a", MM1(0.8)).station("b", MM1(0.8)).route("a", "b")
    run = Run(score_of(blueprint(graph.at(arrival_rate=1.0))), 1, 0, kept=True)
    run.play(1e6 / 3)
    before = resident()
    run.play(2e7 / 3)
    assert run.events > 1.9e7
    assert resident() - before < 2 * 2**20
    assert math.isfinite(run.counts.times().percentile(99))
