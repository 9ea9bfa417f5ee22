"""Branches of one request that meet each other, against sums by hand and whole chains."""

from math import inf

import pytest

from headway.queueing.layers.chain import by_chain
from headway.queueing.layers.decomposed.decomposition import by_layers
from headway.queueing.layers.flow import Step, Together
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.system import LayeredSystem


def page(branches, users=1, servers=1, needed=None, read=None):
    """Users think 1 s; a page does all branches at once on a shared processor, some with reads."""
    fork = Together(tuple(branches), needed or len(branches))
    tasks = {"users": Task("many", users, 1.0, clients=True), "web": Task("few", 50)}
    entries = {
        "use": Entry("users", Step("use", calls={"page": 1.0}, fixed=True)),
        "page": Entry("web", fork),
    }
    if read is not None:
        tasks["database"] = Task("disk", read)
        entries["read"] = Entry("database", Step("read", 0.3))
    processors = {"many": Processor(inf), "few": Processor(servers), "disk": Processor()}
    if read is None:
        del processors["disk"]
    return LayeredSystem("page", processors, tasks, entries)


def works(*demands):
    """Branches that work only."""
    return [Step(f"work {k}", demand) for k, demand in enumerate(demands)]


def reads(*demands):
    """Branches that also read once."""
    return [Step(f"read {k}", d, calls={"read": 1.0}, fixed=True) for k, d in enumerate(demands)]


@pytest.mark.parametrize("demands", [(0.5, 0.5), (0.2, 1.0), (0.3, 0.3, 0.3)], ids=str)
def test_branches_at_one_processor_take_the_sum_of_their_works(demands):
    """One user: the processor works until the last branch has ended."""
    time = by_layers(page(works(*demands))).entries["page"].first_phase
    assert float(time) == pytest.approx(sum(demands), rel=1e-3)


def test_branches_do_not_meet_where_each_has_a_server():
    """The longer of two exponential times of 0.5 s, by hand."""
    time = by_layers(page(works(0.5, 0.5), servers=2)).entries["page"].first_phase
    assert float(time) == pytest.approx(0.75, rel=1e-3)


def test_a_third_branch_shares_two_servers():
    """Three of 0.3 s: 0.15 s to the first by two servers, as to the second, and 0.3 s."""
    time = by_layers(page(works(0.3, 0.3, 0.3), servers=2)).entries["page"].first_phase
    assert float(time) == pytest.approx(0.6, rel=1e-3)


def test_half_of_the_branches_is_ready_after_half_of_the_work():
    """The first of two: both share the processor until then."""
    time = by_layers(page(works(0.4, 0.4), needed=1)).entries["page"].first_phase
    assert float(time) == pytest.approx(0.4, rel=1e-3)


@pytest.mark.parametrize(
    ("branches", "rest", "share"),
    [
        (reads(0.05, 0.05), {"read": 1}, 0.01),
        (reads(0.05, 0.05), {"read": inf}, 0.01),
        ([*works(0.5), *reads(0.05)], {"read": 1}, 0.01),
        (reads(0.05, 0.05), {"read": 1, "users": 2}, 0.05),
        (works(0.5, 0.5), {"users": 2}, 0.08),
        (works(0.3, 0.3, 0.3), {"users": 2}, 0.13),
    ],
    ids=str,
)
def test_branches_meet_behind_their_calls_and_beside_others(branches, rest, share):
    """Beside the whole chain: within 1% for one user."""
    system = page(branches, **rest)
    right = float(by_chain(system, 5000).entries["page"].first_phase)
    assert float(by_layers(system).entries["page"].first_phase) == pytest.approx(right, rel=share)
