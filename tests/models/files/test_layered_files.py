"""Layered services in model files: what they mean, what they answer, and what they refuse."""

import json
import re

import numpy as np
import pytest

from headway.errors import HeadwayError
from headway.models import parse_model
from headway.models.solving.applicable import methods_of
from headway.models.solving.layered import layered_times
from headway.models.structure.parts.counts import counts
from headway.queueing.layers.flow import Choice, Loop, Reply, Series, Step, Together
from tests.support.places import ROOT

SHOP = """
name = "shop"
[parameters]
users = 12
web_threads = 2
read_time = "6 ms"
[processors.cpu]
servers = 2
[processors.disk]
[tasks.users]
population = "users"
think_time = "1 s"
[tasks.users.entries.visit]
calls = { page = 3 }
[tasks.web]
processor = "cpu"
threads = "web_threads"
[tasks.web.entries.page]
demand = "5 ms"
calls = { read = 2.5 }
second_phase = { demand = "1 ms" }
[tasks.database]
processor = "disk"
threads = 2
[tasks.database.entries.read]
demand = "read_time"
[outputs]
busy = "web.utilisation"
"""

FLOW = """
name = "flow"
[processors.cpu]
[tasks.users]
population = 1
[tasks.users.entries.visit]
calls = { page = 1 }
fixed = true
[tasks.web]
processor = "cpu"
[tasks.web.entries.page]
flow = [
    "parse",
    { together = ["left", ["right", "more"]], needed = 1 },
    { choice = [[0.25, "hit"], [0.75, { loop = "miss", times = 2 }]] },
    "reply",
    "log",
]
[tasks.web.entries.page.activities]
parse = "1 ms"
left = "2 ms"
right = "3 ms"
more = "4 ms"
hit = "5 ms"
miss = "6 ms"
log = "7 ms"
"""


MEETING = """
name = "meeting"
[processors.cpu]
servers = "unlimited"
[tasks.buyers]
population = 40
[tasks.buyers.entries.buy]
demand = 1
calls = { bid = 1 }
[tasks.sellers]
population = 1
[tasks.sellers.entries.sell]
demand = 1
calls = { ask = 1 }
[tasks.broker]
processor = "cpu"
[tasks.broker.entries]
bid = { demand = 0.1 }
ask = { demand = 0.1 }
deal = { meets = ["bid", "ask"], demand = 0.2 }
"""


@pytest.mark.parametrize("limit", ["inf", '"inf"', '"unlimited"'])
def test_no_limit_can_be_said_as_one_would(limit):
    layers = parse_model(SHOP.replace('"web_threads"', limit)).graph.layers

    assert layers.tasks["web"].threads.constant == np.inf
    assert layers.tasks["database"].threads.constant == 2


def test_a_model_without_a_name_has_that_of_its_file():
    text = SHOP.replace('name = "shop"', "")

    assert parse_model(text, "models/web shop.toml").name == "web shop"


def test_answers_follow_the_utilisation_law():
    """Busy servers are X D, threads X (S1 + S2), and clients obey N = X (R + Z)."""
    solution = parse_model(SHOP).solve()
    rate = solution["users.throughput"]
    assert solution.method == "chain"
    assert solution.approximation == ""
    assert solution["cpu.busy"] == pytest.approx(rate * 3 * 0.006, rel=1e-9)
    assert solution["disk.utilisation"] == pytest.approx(rate * 7.5 * 0.006, rel=1e-9)
    held = solution["page.service_time"] + solution["page.second_phase"]
    assert solution["web.busy"] == pytest.approx(rate * 3 * held, rel=1e-9)
    assert rate * (solution["users.response_time"] + 1.0) == pytest.approx(12, rel=1e-9)
    assert solution["busy"] == solution["web.utilisation"]


@pytest.mark.parametrize("method", ["layers", "simulation"])
def test_other_methods_are_labelled_and_near(method):
    """Within their measured errors of the whole chain."""
    model = parse_model(SHOP)
    exact, near = model.solve(), model.solve(method=method)
    assert near.method == method
    assert near.approximation
    assert near.throughput == pytest.approx(exact.throughput, rel=0.05)


def test_many_points_are_solved_at_once_in_their_order():
    """Points that differ in threads, and others that do not."""
    model = parse_model(SHOP)
    sweep = model.at(web_threads=[3.0, 1.0, 3.0], read_time=[0.006, 0.006, 0.012])
    swept = sweep.solve(method="layers")
    alone = [
        model.at(web_threads=n, read_time=t).solve(method="layers").throughput
        for n, t in ((3, 0.006), (1, 0.006), (3, 0.012))
    ]
    assert swept.method == "layers"
    assert np.asarray(swept.throughput).tolist() == pytest.approx(alone, rel=1e-6)


def test_a_call_names_an_entry_alone_or_with_its_task():
    """As a name of its own where an entry is named with a dot."""
    plain = parse_model(SHOP).graph.layers
    named = parse_model(SHOP.replace("{ read = 2.5 }", '{ "database.read" = 2.5 }')).graph.layers
    assert named == plain
    dotted = parse_model(
        SHOP.replace("{ read = 2.5 }", '{ "database.read" = 2.5 }').replace(
            "entries.read]", 'entries."database.read"]'
        )
    ).graph.layers
    assert set(dotted.entries) == {"visit", "page", "database.read"}


def test_pools_that_fill_one_after_the_other_settle():
    """The shop of the how-to: its one database thread is held for 7.8 reads of 3.8 ms a visit."""
    page = (ROOT / "docs/how-to/find-the-pool-that-is-full.md").read_text()
    shop = parse_model(re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1])
    solved = shop.at(users=90.0, web_threads=[15.0, 16.0]).solve(method="layers")
    most = 1 / (7.8 * 3.8e-3)  # [1/s], by the utilisation law
    assert np.all((solved.throughput > 0.99 * most) & (solved.throughput <= most))


def test_a_flow_has_the_parts_of_the_file():
    """Series, branches, a choice, a loop and the reply before the end."""
    layers = parse_model(FLOW).graph.layers
    flow = layers.at("flow", {}).entries["page"].flow
    assert isinstance(flow, Series)
    parse, together, choice, reply, log = flow.parts
    assert isinstance(parse, Step)
    assert isinstance(together, Together)
    assert together.needed == 1
    assert isinstance(choice, Choice)
    assert isinstance(choice.ways[1][1], Loop)
    assert isinstance(reply, Reply)
    assert log.demand == 0.007


def test_json_has_every_part():
    """By kind and name, at each point."""
    point = json.loads(parse_model(SHOP).solve().to_json())["points"][0]
    assert set(point["clients"]["users"]) == {"throughput", "response_time"}
    assert set(point["tasks"]) == {"web", "database"}
    assert point["entries"]["page"]["waiting_time"] > 0
    assert set(point["processors"]["cpu"]) == {"utilisation", "busy"}


def test_a_pool_that_is_full_is_said_in_a_sentence():
    """With its processor, which has room."""
    notes = parse_model(SHOP.replace("users = 12", "users = 60")).solve().tables()[0].notes
    assert any(note.startswith("the threads of web are full") for note in notes)


def test_a_thread_in_which_requests_meet_is_not_to_be_doubled():
    """It is taken from the first request on, and its processor is idle until the last has come."""
    notes = parse_model(MEETING).solve().tables()[0].notes
    words = "has no limit: requests for bid and ask wait for each other in one of them"
    assert any(note.endswith(words) for note in notes)
    with pytest.raises(HeadwayError, match="give task broker a single thread"):
        parse_model(MEETING.replace('"cpu"', '"cpu"\nthreads = 2', 1)).solve()


REFUSED = {
    "a circle": (
        'demand = "read_time"',
        'demand = "read_time"\ncalls = { page = 1 }',
        "requests go round without end: page -> read -> page",
    ),
    "nobody calls": ("calls = { page = 3 }", "demand = 1", "nobody calls entry page"),
    "no processor": ('processor = "cpu"\n', "", "task web has no processor; name one"),
    "wrong processor": ('processor = "cpu"', 'processor = "cup"', "no processor 'cup'"),
    "no threads": ("web_threads = 2", "web_threads = 0", "threads of web is 0; it must be"),
    "half a thread": ("web_threads = 2", "web_threads = 1.5", "threads of web is 1.5; it must be"),
    "negative": ('demand = "5 ms"', 'demand = "-5 ms"', "demand of page is -0.005; it must be"),
    "unknown call": ("{ read = 2.5 }", "{ reed = 2.5 }", "calls 'reed', which is not an entry"),
    "no entry of a task": (
        "{ read = 2.5 }",
        '{ "database.reed" = 2.5 }',
        "database has no entry 'reed'",
    ),
    "called twice": (
        "{ read = 2.5 }",
        '{ read = 2.5, "database.read" = 1 }',
        "entry read is listed twice",
    ),
    "unknown key": ("servers = 2", "server = 2", "unknown key server"),
    "both": (
        "[outputs]",
        '[stations.x]\nkind = "Delay"\nservice_time = 1\n[outputs]',
        "stations or tasks, not both",
    ),
    "a population and threads": (
        'think_time = "1 s"',
        'think_time = "1 s"\nthreads = 3',
        "has a population and threads",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_run_is_refused_in_one_line(case):
    """Where it is, and how to mend it."""
    old, new, words = REFUSED[case]
    assert old in SHOP
    with pytest.raises(HeadwayError, match=words) as refused:
        parse_model(SHOP.replace(old, new, 1)).solve()
    assert "\n" not in str(refused.value)


FLOWS = {
    "a join of nothing": ("{ together = [", "{ join = [", "a part of a flow is the name"),
    "too many needed": ("needed = 1", "needed = 3", "cannot wait for 3 of 2 branches"),
    "chances": ("[0.75, {", "[0.7, {", "probabilities of a choice sum to 0.95"),
    "twice": ('"reply",\n', '"reply", "parse", "reply",\n', "appears twice in the flow"),
    "two replies": ('"reply",\n', '"reply", "reply",\n', "replies twice"),
    "behind no branch": (
        "needed = 1",
        'after = { left = "log" }',
        "'log' is an activity of no branch",
    ),
    "behind no names": (
        "needed = 1",
        "after = { left = 3 }",
        "after says for which branches one waits",
    ),
    "left out": ('    "log",\n', "", "activity log appears nowhere in the flow"),
    "unknown": ('    "log",\n', '    "lag", "log",\n', "no activity 'lag'; did you mean log"),
}


@pytest.mark.parametrize("case", FLOWS)
def test_a_flow_that_cannot_be_is_refused(case):
    """In one line."""
    old, new, words = FLOWS[case]
    assert old in FLOW
    with pytest.raises(HeadwayError, match=words):
        parse_model(FLOW.replace(old, new, 1)).solve()


def test_what_layers_cannot_do_yet_is_said():
    """By one line each: nothing is left out of a file, and no other law is taken."""
    model = parse_model(SHOP)
    for ask, words in (
        (lambda: model.solve().time_laws(), "layered services have no distribution in a formula"),
        (lambda: model.solve(method="schweitzer"), "is not for layered services"),
    ):
        with pytest.raises(HeadwayError, match=words):
            ask()


def test_threads_servers_and_clients_are_counted():
    """Parameters that must be whole change by one; there is no formula, and it is said."""
    model = parse_model(SHOP)
    assert {"users", "web_threads"} <= counts(model.graph)
    assert "read_time" not in counts(model.graph)
    effects = model.sensitivity().effects["throughput"]
    fewer = model.at(web_threads=1).solve().throughput
    assert all(np.isfinite(effect.elasticity) for effect in effects.values())
    assert fewer < model.solve().throughput
    with pytest.raises(HeadwayError, match="layered services, which have no closed form"):
        model.closed_form("throughput")


def test_methods_say_which_apply_and_why_not():
    """By the one table, as for networks."""
    found = methods_of(parse_model(SHOP))
    by_name = {one.name: one for one in found.methods}
    assert found.chosen == "chain"
    assert by_name["chain"].error.exact
    assert by_name["layers"].applies
    assert by_name["simulation"].applies
    assert "after its reply" in by_name["product form"].reason
    assert "layered services" in by_name["linearizer"].reason


def test_bands_are_of_the_method_that_is_named(monkeypatch):
    """Where so many draws are solved by layers, the value that they surround is too."""
    monkeypatch.setattr("headway.queueing.layers.methods.solve.UNASKED_WORK", 1000)
    bands = parse_model(SHOP).uncertain({"read_time": ("5 ms", "7 ms")}).propagate(draws=100)
    low, high = bands.band("throughput")
    assert low < bands.solution.throughput < high
    assert bands.solution.method == "layers"
    assert "measured errors" in bands.solution.approximation


ALONE = """
name = "alone"
[processors.cpu]
[tasks.users]
population = 1
think_time = "20 ms"
[tasks.users.entries.visit]
calls = { page = 1 }
fixed = true
[tasks.web]
processor = "cpu"
[tasks.web.entries.page]
demand = "10 ms"
"""


def test_percentiles_are_simulated_and_say_how_near():
    """One client waits for nobody: its time is exponential, -S ln(1 - p); the mean stays exact."""
    solution = parse_model(ALONE).solve().with_percentiles([50, 95])
    assert solution["response_time"] == pytest.approx(0.01, rel=1e-9)
    for percent in (50, 95):
        law = -0.01 * np.log(1 - percent / 100)
        assert solution[f"response_time_p{percent}"] == pytest.approx(law, rel=0.03)
    assert solution.approximation.startswith("percentiles simulated, within ")
    assert "response_time_p95" in solution.outputs


def test_percentiles_end_with_the_width_that_their_events_reach(monkeypatch):
    """Ten replicas reach 2%, but not 0.2%, for which the events do not suffice: it says so."""
    monkeypatch.setattr(layered_times, "HALF_WIDTH", 0.002)
    monkeypatch.setattr(layered_times, "EVENTS", 2e6)
    found = parse_model(ALONE).solve().with_percentiles([95])
    note = re.fullmatch(r"percentiles simulated, within (.*)% \(95%\)", found.approximation)
    assert 0.2 < float(note[1]) < 3
    assert found["response_time_p95"] == pytest.approx(-0.01 * np.log(0.05), rel=0.03)
    monkeypatch.setattr(layered_times, "EVENTS", 1e4)
    with pytest.raises(HeadwayError, match="percentiles are simulated, where half widths of 0.2%"):
        parse_model(ALONE).solve().with_percentiles([95])


def test_a_simulation_of_queues_without_end_says_so(monkeypatch):
    """Messages at 150% of what their thread serves; and requests from outside."""
    monkeypatch.setattr("headway.queueing.layers.methods.solve.EVENTS", 200_000)
    model = parse_model(ALONE.replace("calls = { page = 1 }", "sends = { page = 3 }"))
    with pytest.raises(HeadwayError, match="messages pile up at entry page; send fewer"):
        model.solve(method="simulation")
    with pytest.raises(HeadwayError, match="entry page: its queue grows without limit"):
        model.simulate()
    head, _, tail = ALONE.partition("[tasks.users]")
    opened = parse_model(head + tail[tail.index("[tasks.web]") :] + "arrival_rate = 110\n")
    assert opened.solve(method="simulation").response_time == np.inf


def test_a_check_simulates_every_part():
    """Second phases, pools and processors, which lie in the intervals of the whole chain."""
    check = parse_model(SHOP).check([95], half_width=0.1)
    assert check.solution.method == "chain"
    assert check.outside == ()
    assert {"busy", "users.response_time", "page.waiting_time", "disk.utilisation"} <= {
        row.name for row in check.rows_checked if row.inside
    }
    assert check["response_time_p95"].analytic is None
    assert "layered services have no formula" in check.unknown
    document = json.loads(check.simulation.to_json())["points"][0]
    assert set(document["tasks"]["web"]) == {"throughput", "utilisation"}
