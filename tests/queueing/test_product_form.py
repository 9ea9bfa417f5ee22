"""Product form or not is decided once, for a chain and a discipline, and all answers ask there."""

import numpy as np
import pytest

from headway.errors import GraphError
from headway.models import parse_model
from headway.queueing import Discipline, JobClass, SharedStation
from headway.queueing.network.network import read_network
from headway.queueing.network.product_form import without_form
from tests.brute.network import Jobs, Network, means
from tests.brute.orders import Line, Lottery, Sharing, Stack
from tests.campaigns.chain_errors import no_states

EXACT = 1e-9
ORDERS = {"siro": Lottery, "fcfs": Line, "lcfs": Stack}
TURNING = """name = "turning"
[classes.a]
population = {jobs}
reference = "d"
[classes.b]
population = 0
[stations.d]
kind = "Delay"
service_time = {think}
[stations.q]
kind = "MMm"
servers = {servers}
discipline = "{discipline}"
service_time = {{ a = 0.05, b = {other} }}
[[routes]]
from = "d"
to = "q"
[[routes]]
from = "q"
to = "d"
class = "a"
becomes = "b"
[[routes]]
from = "q"
to = "d"
class = "b"
becomes = "a"
"""


def turning(discipline, servers=1, jobs=4, think=1.0, other=2.0):
    """Jobs that alternate between a short and a long service."""
    text = TURNING.format(
        discipline=discipline, servers=servers, jobs=jobs, think=think, other=other
    )
    return parse_model(text)


def whole(discipline, servers=1, jobs=4, think=1.0):
    """The same, state by state: jobs and throughput at the queue."""
    places = (
        Sharing((think, think), servers=float("inf")),
        ORDERS[discipline]((0.05, 2.0), servers=servers),
    )
    hops = {(0, c): [(1.0, 1, c)] for c in (0, 1)} | {(1, c): [(1.0, 0, 1 - c)] for c in (0, 1)}
    queue, served, _ = means(Network(places, (Jobs("a", None, jobs), Jobs("b")), hops))
    return queue[1].sum(), served[1].sum()


@pytest.mark.parametrize(
    ("discipline", "servers"), [("siro", 1), ("siro", 2), ("fcfs", 1), ("lcfs", 2), ("lcfs", 1)]
)
def test_jobs_that_change_their_time_are_solved_exactly_where_they_are_few(discipline, servers):
    queue, rate = whole(discipline, servers)
    solution = turning(discipline, servers).solve()
    assert not solution.approximation
    assert solution["q.queue_length"] == pytest.approx(queue, rel=EXACT)
    assert solution["q.throughput"] == pytest.approx(rate, rel=EXACT)
    chances = solution.queue_lengths("q").chances("q")
    assert chances @ np.arange(len(chances)) == pytest.approx(queue, rel=EXACT)


def test_the_last_first_at_two_servers_is_no_sharing():
    """Four jobs and two servers: 1.67208 by the whole chain, 1.6700 were it shared."""
    assert turning("lcfs", 2).solve()["throughput"] == pytest.approx(1.67208, abs=5e-6)


@pytest.mark.parametrize(("discipline", "servers"), [("siro", 1), ("fcfs", 1), ("lcfs", 2)])
def test_many_jobs_that_change_their_time_are_labelled(discipline, servers):
    with no_states():
        solution = turning(discipline, servers).solve()
        assert "with times that differ by class of a chain" in solution.approximation
        assert "up to 100 times apart: throughput" in solution.approximation
        with pytest.raises(GraphError, match="q: "):
            solution.queue_lengths("q")


def test_twenty_two_jobs_in_random_order_are_exact_when_asked():
    """.88588/s and 6.054 jobs by a whole chain of 4,048 states."""
    model = turning("siro", jobs=22, think=18.0)
    assert "times that differ" in model.solve().approximation
    solution = model.solve(method="chain")
    assert not solution.approximation
    assert solution["throughput"] == pytest.approx(0.88588, abs=5e-6)
    assert solution["q.queue_length"] == pytest.approx(6.054, abs=5e-4)


@pytest.mark.parametrize("discipline", ["siro", "fcfs", "lcfs"])
def test_equal_times_have_a_product_form_whatever_the_class(discipline):
    """As at shared servers; 1e-9."""
    with no_states():
        solution = turning(discipline, 2, other=0.05).solve()
        shared = turning("ps", 2, other=0.05).solve()
    assert not solution.approximation
    assert solution["q.queue_length"] == pytest.approx(float(shared["q.queue_length"]), rel=EXACT)


@pytest.mark.parametrize("discipline", ["siro", "fcfs", "lcfs"])
def test_nobody_waits_where_there_is_a_server_for_each_of_a_chain(discipline):
    """Four jobs, four servers: a delay for any times."""
    with no_states():
        solution = turning(discipline, 4).solve()
    assert not solution.approximation
    assert solution["q.queue_length"] == pytest.approx(4 * 1.025 / 2.025, rel=EXACT)


def test_a_class_that_nobody_is_of_for_long_changes_nothing():
    """A job of class c is of class a for ever once it left the delay; 1e-9 of the whole chain."""
    text = TURNING.replace('reference = "d"\n', "").replace(
        "[stations.d]", "[classes.c]\npopulation = 1\n[stations.d]"
    )
    text = text.replace("b = {other}", "b = {other}, c = 1.0").replace(
        '[[routes]]\nfrom = "d"\nto = "q"\n',
        "".join(
            f'[[routes]]\nfrom = "d"\nto = "q"\nclass = "{c}"\n{more}'
            for c, more in (("a", ""), ("b", ""), ("c", 'becomes = "a"\n'))
        ),
    )
    text = text.format(discipline="siro", servers=1, jobs=3, think=1.0, other=2.0)
    solution = parse_model(text).solve()
    queue, rate = whole("siro")
    assert not solution.approximation
    assert solution["q.queue_length"] == pytest.approx(queue, rel=EXACT)
    assert solution["q.throughput"] == pytest.approx(rate, rel=EXACT)


LOOP = """name = "loop"
[classes.a]
arrival_rate = 0.2
[classes.b]
arrival_rate = 0.2
[stations.d]
kind = "Delay"
service_time = 1.0
[stations.q]
kind = "MM1"
discipline = "{discipline}"
service_time = {{ a = 0.2, b = 2.0 }}
[[routes]]
from = "d"
to = "q"
probability = 0.5
[[routes]]
from = "q"
to = "q"
probability = {back}
"""


@pytest.mark.parametrize("discipline", ["fcfs", "siro", "priority"])
def test_open_jobs_that_come_back_are_exact_in_order_alone_however_few_visits_they_make(discipline):
    """Half of the jobs come at all, and each of these 1.25 times: 0.625 visits."""
    text = LOOP
    if discipline == "priority":
        text = text.replace("rate = 0.2\n", "rate = 0.2\npriority = 1\n", 1)
        text = text.replace("rate = 0.2\n[st", "rate = 0.2\npriority = 2\n[st", 1)
    note = parse_model(text.format(discipline=discipline, back=0.2)).solve().approximation
    assert bool(note) == (discipline != "fcfs")
    once = text.replace('[[routes]]\nfrom = "q"\nto = "q"\nprobability = {back}\n', "")
    assert not parse_model(once.format(discipline=discipline)).solve().approximation


@pytest.mark.parametrize("discipline", ["fcfs", "siro"])
def test_open_jobs_that_come_back_as_another_class_are_not_exact(discipline):
    text = LOOP.format(discipline=discipline, back=1).replace(
        "probability = 1\n", 'class = "a"\nbecomes = "b"\n'
    )
    assert "response time 20.8%" in parse_model(text).solve().approximation


def test_a_class_that_comes_with_others_time_alone_has_a_product_form():
    """Where no two classes of unlike times meet, order of arrival is exact."""
    cpu = SharedStation("cpu", (0.2, 2.0), (1, 0), discipline=Discipline.FCFS)
    two = [JobClass(c, population=2, think_time=1.0) for c in "ab"]
    disk = SharedStation("disk", (0.2, 2.0), (0, 1), discipline=Discipline.RANDOM)
    assert not np.any(without_form(read_network([cpu, disk], two)))
