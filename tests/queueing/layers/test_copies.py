"""Replicas of tasks and processors: by hand, written out by hand, played, and in files."""

from dataclasses import replace

import numpy as np
import pytest

from headway.errors import GraphError, ModelFileError
from headway.models import find_model, parse_model
from headway.models.files.writing import to_toml
from headway.models.importing.lqn.lqnx import read_lqnx
from headway.models.importing.lqn.writing import to_lqnx
from headway.models.importing.safe_xml import parse_xml
from headway.models.structure.layered import system_of
from headway.queueing.layers.flow import Reply, Series, Step
from headway.queueing.layers.methods.solve import solve_layers
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.layers.system import LayeredSystem

SHOP = """
name = "shop"
[parameters]
copies = 2
[processors.front]
[processors.disk]
replicas = "copies"
[tasks.users]
population = 3
think_time = 1
[tasks.users.entries.use]
calls = { page = 2 }
[tasks.web]
processor = "front"
threads = 2
[tasks.web.entries.page]
demand = 0.1
calls = { read = 1.5 }
[tasks.store]
processor = "disk"
replicas = "copies"
[tasks.store.entries.read]
demand = 0.2
second_phase = 0.1
"""

FILE = """P 2 p client f r 4 p server f r 2 -1
T 2 t client r ask -1 client r 4 t server n serve -1 server r 2 {fan} -1
E 2 s ask 1 -1 y ask serve 1 -1 s serve 1 -1 -1
"""


@pytest.mark.parametrize("method", ["product form", "chain"])
@pytest.mark.parametrize("fan", ["I client server 2", "O client server 1"])
def test_two_of_four_clients_share_each_of_two_servers(fan, method, tmp_path):
    """Two clients at a server, S = Z = 1: p0 = 1 / (1 + 2 + 2), X = 0.8; 0.4 of each client.

    lqsim finds 0.4 too: layeredqueuing/V5, models/regression/50-replication.
    """
    path = tmp_path / "four.in"
    path.write_text(FILE.format(fan=fan))
    solution = find_model(str(path)).solve(method=method)
    assert (solution.method, solution.approximation) == (method, "")
    assert solution["client.throughput"] == pytest.approx(0.4, rel=1e-9)
    assert solution["server.throughput"] == pytest.approx(0.8, rel=1e-9)
    assert solution["processor server.utilisation"] == pytest.approx(0.8, rel=1e-9)
    assert solution.throughput == pytest.approx(1.6, rel=1e-9)


def test_fans_that_do_not_fit_are_refused_in_one_line(tmp_path):
    """With what does not match."""
    path = tmp_path / "four.in"
    path.write_text(FILE.format(fan="O client server 2 I client server 2"))
    words = "4 replicas with a fan-out of 2 do not match 2 replicas of server with a fan-in of 2"
    with pytest.raises(ModelFileError, match=words):
        find_model(str(path))
    with pytest.raises(GraphError, match="web calls 3 replicas of store, which has 2"):
        parse_model(SHOP.replace("threads = 2", "fan_out = { store = 3 }")).solve()
    with pytest.raises(GraphError, match="its 1 replicas cannot be dealt equally"):
        parse_model(SHOP.replace("[processors.front]", "[processors.front]\nreplicas = 2")).solve()


def by_hand(fan):
    """The shop with both stores written out."""
    system = system_of(parse_model(SHOP))[0]
    web = Step("page", 0.1, calls={"a": 1.5 / fan, "b": 1.5 / fan})

    def store(name):
        return Series((Step(name, 0.2), Reply(), Step(f"{name}, second phase", 0.1)))

    tasks = {**system.tasks, "one": Task("here"), "other": Task("there")}
    entries = {
        **system.entries,
        "page": replace(system.entries["page"], flow=web),
        "a": Entry("one", store("a")),
        "b": Entry("other", store("b")),
    }
    del tasks["store"], entries["read"]
    processors = {**system.processors, "here": Processor(), "there": Processor()}
    del processors["disk"]
    return LayeredSystem("by hand", processors, tasks, entries)


@pytest.mark.parametrize("fan", [1, 2])
@pytest.mark.parametrize("method", ["chain", "layers"])
def test_copies_are_what_is_written_out_by_hand(fan, method):
    """Calls that choose a copy, and calls to both copies."""
    text = SHOP if fan == 2 else SHOP.replace("threads = 2", "threads = 2\nfan_out = { store = 2 }")
    model = parse_model(text)
    solution, (hand, _) = model.solve(method=method), solve_layers(by_hand(fan), method)
    for name, copy in (("page", "page"), ("read", "a"), ("read", "b")):
        one = hand.entries[copy]
        for part in ("throughput", "waiting_time", "busy"):
            right = float(getattr(one, part))
            assert solution[f"{name}.{part}"] == pytest.approx(right, rel=1e-6)
    assert solution["disk.busy"] == pytest.approx(hand.busy_servers("here"), rel=1e-6)
    assert solution.throughput == pytest.approx(hand.throughput("users"), rel=1e-6)


def test_the_event_loop_agrees_with_the_chain():
    """In its 99.9% interval, with the same numbers per copy."""
    model = parse_model(SHOP)
    played, exact = model.simulate(half_width=0.02, seed=3), model.solve(method="chain")
    for name in ("throughput", "store.throughput", "store.busy", "disk.utilisation"):
        assert abs(played[name].mean - exact[name]) <= played[name].half_width(0.999)


def test_copies_are_swept_alone_or_together():
    """And more copies bear more."""
    model = parse_model(SHOP)
    swept = model.at(copies=np.array([1.0, 2.0, 4.0])).solve()
    alone = [model.at(copies=k).solve().throughput for k in (1, 2, 4)]
    assert np.all(np.diff(swept.throughput) > 0)
    np.testing.assert_allclose(swept.throughput, alone, rtol=1e-12)


def test_copies_are_written_and_read_again():
    """As a model file, and as LQNX, in which a call that chooses is a call of a share to each."""
    text = SHOP.replace("[tasks.users]", "[tasks.users]\nreplicas = 2")
    model = parse_model(text)
    first = model.solve(method="chain")
    as_lqnx = to_lqnx(model)
    for again in (
        parse_model(to_toml(model)),
        read_lqnx(parse_xml(as_lqnx.encode(), "shop.lqnx"), "shop", "shop.lqnx"),
    ):
        second = again.solve(method="chain")
        for name in ("throughput", "read.waiting_time", "disk.busy", "users.throughput"):
            assert second[name] == pytest.approx(first[name], rel=1e-12)
    assert '<fan-out dest="store" value="2"' in as_lqnx
    assert '<fan-in source="users" value="2"' in as_lqnx


def test_a_fixed_number_of_calls_to_any_copy_is_refused():
    """With what makes it one for each copy."""
    words = "choose any of 2 replicas of store.*leave fixed out, or give fan_out to store"
    with pytest.raises(GraphError, match=words):
        parse_model(SHOP.replace("read = 1.5 }", "read = 3 }\nfixed = true")).solve()
