"""Second phases by layers, against the whole chain and laws worked out by hand."""

import math

import pytest

from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.chain import by_chain
from headway.queueing.layers.decomposed.decomposition import by_layers
from headway.queueing.layers.flow import Reply, Series, Step
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.system import LayeredSystem

ORDERED = Processor(1.0, Discipline.FCFS)


def lone(step: Step, think: float) -> LayeredSystem:
    """A client that calls a store with a second phase, and another task, all without processors."""
    entries = {
        "ask": Entry("user", step),
        "keep": Entry("store", Series((Step("keep", 0.1), Reply(), Step("tidy", 2.0)))),
    }
    tasks = {"user": Task("free", 1, think, clients=True), "store": Task("free")}
    if "look" in step.calls:
        entries["look"] = Entry("far", Step("look", 8.0))
        tasks["far"] = Task("free")
    return LayeredSystem("lone", {"free": Processor(math.inf)}, tasks, entries)


@pytest.mark.parametrize("think", [0.0, 3.0])
@pytest.mark.parametrize(
    "step",
    [
        Step("ask", 1.0, calls={"keep": 1.5}),
        Step("ask", 1.0, calls={"keep": 1.5, "look": 2.0}),
        Step("ask", 1.0, calls={"keep": 2.0}, fixed=True),
    ],
    ids=["one", "two", "fixed"],
)
def test_a_lone_client_finds_its_second_phase_as_often_as_the_chain_says(step, think):
    """All times are exponential, so the law is exact: S2 is found after a call, or much later."""
    system = lone(step, think)
    exact, near = by_chain(system), by_layers(system)
    assert float(near.entries["keep"].waiting_time) == pytest.approx(
        exact.entries["keep"].waiting_time, rel=1e-6
    )
    assert float(near.throughput("user")) == pytest.approx(exact.throughput("user"), rel=1e-6)


def test_a_second_phase_does_not_wait_for_its_caller_when_it_begins():
    """The only client is at no processor while it waits for the answer."""
    system = LayeredSystem(
        "begun",
        {"free": Processor(math.inf), "cpu": ORDERED},
        {"user": Task("free", clients=True), "first": Task("cpu"), "second": Task("cpu")},
        {
            "ask": Entry("user", Step("ask", 1.0, calls={"note": 1.0, "look": 3.0})),
            "note": Entry("first", Series((Step("note", 0.5), Reply(), Step("write", 1.0)))),
            "look": Entry("second", Step("look", 2.0)),
        },
    )
    assert by_chain(system).entries["note"].second_phase == pytest.approx(1.0, rel=1e-9)
    assert float(by_layers(system).entries["note"].second_phase) == pytest.approx(1.0, rel=1e-6)


def test_a_second_phase_waits_one_time_of_two_for_its_caller_at_the_same_server():
    """The page's example: 2 s, and 0.7 s one time of two."""
    system = LayeredSystem(
        "both",
        {"cpu": ORDERED},
        {"user": Task("cpu", clients=True), "server": Task("cpu")},
        {
            "ask": Entry("user", Step("ask", 1.4, calls={"serve": 1.0}, fixed=True)),
            "serve": Entry("server", Series((Step("before", 0.3), Reply(), Step("behind", 2.0)))),
        },
    )
    near = by_layers(system)
    assert float(near.entries["serve"].second_phase) == pytest.approx(2.35, rel=1e-3)
    assert float(near.throughput("user")) == pytest.approx(1 / 3.7, rel=0.03)
