"""Which method a point takes: the same alone and among others."""

import math

import numpy as np
import pytest

from headway.errors import GraphError
from headway.models import parse_model
from headway.models.reports import solved
from headway.models.reports.alone import report_model
from headway.queueing.layers import chain
from headway.queueing.layers.flow import Reply, Series, Step, Together
from headway.queueing.layers.methods import solve
from headway.queueing.layers.methods.solve import solve_layers
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.points import at
from headway.queueing.layers.states.search import explore_program
from headway.queueing.layers.system import LayeredSystem

SHOP = """
name = "shop"
parameters = { users = 5, threads = 2, read = "5 ms" }

[processors.cpu]
[processors.disk]

[tasks.people]
population = "users"
think_time = "50 ms"
entries.visit.calls = { page = 2 }

[tasks.web]
processor = "cpu"
threads = "threads"
entries.page = { demand = "8 ms", calls = { look = 1.5 } }

[tasks.database]
processor = "disk"
entries.look.demand = "read"
"""

CLIENTS = np.array([1.0, 6.0, 2.0, 40.0, 6.0, 400.0])
DEMANDS = np.array([0.1, 0.1, 0.3, 0.1, 0.2, 0.1])


def shop(clients, demand, threads=3.0, second=(), page=None):
    """A pool of threads above another, of which some or all points have few states."""
    page = page or Series((Step("page", 0.1, calls={"read": 2.0}), *second))
    return LayeredSystem(
        "shop",
        {"users": Processor(math.inf), "cpu": Processor(), "disk": Processor()},
        {
            "users": Task("users", clients, 1.0, clients=True),
            "web": Task("cpu", threads),
            "database": Task("disk"),
        },
        {
            "use": Entry("users", Step("use", calls={"page": 1.0})),
            "page": Entry("web", page),
            "read": Entry("database", Step("read", demand)),
        },
    )


@pytest.mark.parametrize("asked", ["auto", "product form", "chain", "layers", "simulation"])
def test_a_point_alone_is_the_point_in_a_sweep(monkeypatch, asked):
    """With second phases as well, where no product form is asked for; sweeps say what is exact."""
    monkeypatch.setattr(solve, "EVENTS", 2_000)
    product = asked == "product form"
    second = () if product else (Reply(), Step("note", 0.05))
    clients = np.minimum(CLIENTS, 40.0) if asked == "chain" else CLIENTS
    sweep = shop(clients, DEMANDS, math.inf if product else 3.0, second)
    if product:
        sweep.tasks["database"] = Task("disk", math.inf)
    means, method = solve_layers(sweep, asked)
    alone = [solve_layers(at(sweep, k), asked) for k in range(clients.size)]
    for name, entry in means.entries.items():
        for part in ("throughput", "waiting_time", "first_phase", "second_phase"):
            each = [float(getattr(one.entries[name], part)) for one, _ in alone]
            assert getattr(entry, part) == pytest.approx(each, rel=1e-7, abs=1e-9)
    if asked == "auto":
        assert [name for _, name in alone] == ["chain"] * 5 + ["layers"]
        assert method == "layers"
        assert means.approximation.startswith("exact at 5 of 6 points; elsewhere")
    else:
        assert {name for _, name in alone} == {method}


def test_points_whose_chains_are_too_much_work_are_all_by_layers(monkeypatch):
    """Also those that would be exact alone."""
    many = shop(2.0, np.linspace(0.1, 0.2, 150), threads=1.0)
    assert solve_layers(many)[1] == "chain"
    monkeypatch.setattr(solve, "UNASKED_WORK", 100 * solve.LEAST_STATES)
    assert solve_layers(many)[1] == "layers"


def test_points_with_a_product_form_have_it_beside_many_chains(monkeypatch):
    """However much work the chains of the others would be."""
    monkeypatch.setattr(solve, "UNASKED_WORK", 2 * solve.LEAST_STATES)
    threads = np.array([1.0, 1.0, 1.0, 2.0, 3.0])
    means, method = solve_layers(shop(2.0, 0.1, threads=threads))
    assert method == "layers"
    assert means.approximation.startswith("exact at 2 of 5 points; elsewhere")
    exact, _ = solve_layers(shop(2.0, 0.1, threads=2.0), "chain")
    assert means.throughput("users")[3:] == pytest.approx([exact.throughput("users")] * 2)


def test_replies_in_branches_are_simulated_where_their_chain_is_not_small(monkeypatch):
    """Layers taken one by one say which entry they cannot follow."""
    monkeypatch.setattr(solve, "EVENTS", 2_000)
    branches = Together(
        (Series((Step("page", 0.1, calls={"read": 2.0}), Reply())), Step("p", 0.1)), 2
    )
    assert solve_layers(shop(2.0, 0.1, page=branches))[1] == "chain"
    means, method = solve_layers(shop(400.0, 0.1, page=branches))
    assert (method, means.approximation[:9]) == ("simulation", "simulated")
    with pytest.raises(GraphError, match="page replies inside branches at once, which layers"):
        solve_layers(shop(400.0, 0.1, page=branches), "layers")
    monkeypatch.setattr(solve, "UNASKED_WORK", 2 * solve.LEAST_STATES)
    assert solve_layers(shop(2.0, np.linspace(0.1, 0.2, 3), page=branches))[1] == "simulation"


def test_page_curve_and_panel_have_one_answer(monkeypatch):
    """And where so many points of a panel would be by another method, there is none."""
    page = report_model(parse_model(SHOP))
    own = np.asarray(page.curve.model.inputs["users"]) == 5
    point = float(page.sensitivity.solution.response_time)
    assert page.sensitivity.solution.method == "chain"
    assert np.asarray(page.curve.response_time)[own] == pytest.approx([point])
    monkeypatch.setattr(solved, "_LAYERED", ((3, 3),))
    points = solved.solved_points(page.ground, page.sensitivity)
    (place,) = np.argwhere(np.isclose(points.values[0], point, rtol=1e-9))
    assert points.grid.axes["users"][place[0]] == 5
    monkeypatch.setattr(solve, "UNASKED_WORK", 10 * solve.LEAST_STATES)
    monkeypatch.setattr(solve, "UNASKED_STATES", 400)
    assert "jump between solved points" in solved.solved_points(page.ground, page.sensitivity)


def test_pages_have_no_table_of_points_that_are_simulated(monkeypatch):
    """Of hundreds, each would take a second."""
    monkeypatch.setattr(solve, "EVENTS", 2_000)
    branches = """
[tasks.web.entries.page]
activities = { parse = { demand = "8 ms", calls = { look = 1.5 } }, note = "1 ms" }
flow = [{ together = [["parse", "reply"], "note"] }]
"""
    text = SHOP.replace('entries.page = { demand = "8 ms", calls = { look = 1.5 } }\n', "")
    page = report_model(parse_model(text.replace("users = 5", "users = 400") + branches))
    assert page.sensitivity.solution.method == "simulation"
    assert "each point is simulated" in solved.solved_points(page.ground, page.sensitivity)


def test_states_are_searched_once(monkeypatch):
    """Also where they are found to be too many, and where points are asked for again."""
    searches = []

    def begun(*given):
        searches.append(given[8][0] == 0)  # the states of a new search
        return explore_program(*given)

    monkeypatch.setattr(chain, "explore_program", begun)
    monkeypatch.setattr(chain, "_SEARCHES", chain._Searches())
    monkeypatch.setattr(solve, "UNASKED_STATES", 150)
    monkeypatch.setattr(solve, "UNASKED_WORK", 19 * solve.UNASKED_STATES)
    crowds = np.repeat([2.0, 20.0, 4.0, 30.0], 5)
    system = shop(crowds, np.linspace(0.1, 0.2, 20), second=(Reply(), Step("note", 0.05)))
    _, first = solve_layers(system)
    assert sum(searches) == len(set(crowds))
    solve_layers(shop(crowds, np.linspace(0.2, 0.3, 20), second=(Reply(), Step("note", 0.05))))
    assert (first, sum(searches)) == ("layers", len(set(crowds)))
