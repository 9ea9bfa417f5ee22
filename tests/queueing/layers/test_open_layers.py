"""Layered services with arrivals from outside: labels as measured, and saturation said."""

import numpy as np
import pytest

from headway.models import Measurements, parse_model, read_model
from headway.queueing.layers import measured
from headway.queueing.layers.methods.solve import solve_layers
from tests import campaigns
from tests.campaigns import open_layer_errors
from tests.support.places import ROOT

SERVICE = """
name = "service"
[parameters]
arrival_rate = "100 /s"
[processors.cpu]
servers = "unlimited"
[tasks.web]
processor = "cpu"
threads = 2
[tasks.web.entries.page]
arrival_rate = "arrival_rate"
demand = "5 ms"
calls = { read = 1 }
[tasks.store]
processor = "cpu"
threads = 1
[tasks.store.entries.read]
demand = "4 ms"
"""


def _stored():
    return campaigns.stored_rows(ROOT / open_layer_errors.PAGE)


@pytest.mark.parametrize("servers", measured.OPEN_TIMES)
def test_each_label_holds_what_was_measured(servers):
    """By how busy the busiest pool or processor is: nine of ten, and the largest."""
    low = 0.0
    rows = [row for row in _stored() if row["servers"] == servers]
    for high, usual, most in measured.OPEN_TIMES[servers]:
        here = [row["error"] for row in rows if low < float(row["busiest"]) <= high]
        errors = np.abs(np.array(here, float))
        assert errors.size > 50
        assert np.quantile(errors, 0.9) <= usual <= 2 * np.quantile(errors, 0.9)
        assert errors.max() <= most <= 2 * errors.max()
        low = high


def test_the_page_has_the_table_of_the_rows():
    page = (ROOT / "docs/accuracy/layers.md").read_text(encoding="utf-8")
    for line in open_layer_errors.table([list(row.values()) for row in _stored()]):
        assert line in page


def test_more_than_a_pool_can_serve_is_saturated(tmp_path):
    """The store serves at most 250/s, and two threads of web at most 222/s even without waits."""
    path = tmp_path / "service.toml"
    path.write_text(SERVICE)
    model = read_model(path)
    solution = model.solve(arrival_rate=[100.0, 300.0])
    assert solution.saturated.tolist() == [False, True]
    times = np.asarray(solution.response_time)
    assert np.isfinite(times[0])
    assert np.isinf(times[1])


def test_response_times_are_compared_without_naming_them(tmp_path):
    path = tmp_path / "service.toml"
    path.write_text(SERVICE)
    table = "arrival_rate_per_s,response_ms\n50,10\n100,12\n"
    found = read_model(path).compare(Measurements.parse(table, "measured.csv"))
    assert "response_ms over arrival_rate_per_s" in str(found)


FULL = """
name = "shop"
[parameters]
arrival_rate = "100 /s"
[processors.any]
servers = "unlimited"
[tasks.front]
processor = "any"
threads = "unlimited"
[tasks.front.entries.page]
arrival_rate = "arrival_rate"
flow = [{ together = ["items", "quote"] }]
[tasks.front.entries.page.activities]
items = { demand = 0, fixed = true, calls = { items = 1 } }
quote = { demand = 0, fixed = true, calls = { quote = 1 } }
[tasks.catalog]
processor = "any"
threads = 6
[tasks.catalog.entries.items]
demand = "6 ms"
scv = 3
calls = { get = 2.0 }
[tasks.price]
processor = "any"
threads = 3
[tasks.price.entries.quote]
demand = "10 ms"
calls = { get = 0.5 }
[tasks.store]
processor = "any"
threads = 4
[tasks.store.entries.get]
demand = "8 ms"
"""


def test_a_pool_that_stays_full_is_saturated_though_waits_do_not_settle():
    """The store's four threads serve at most 4 / (2.5 x 8 ms) = 200/s."""
    solution = parse_model(FULL).solve(arrival_rate=[100.0, 210.0])
    assert solution.saturated.tolist() == [False, True]
    assert np.isfinite(np.asarray(solution.response_time)).tolist() == [True, False]


def test_the_label_goes_by_the_busiest_pool(tmp_path):
    path = tmp_path / "service.toml"
    path.write_text(SERVICE)
    system = read_model(path).at(arrival_rate=20.0).graph.layers.at("service", {"arrival_rate": 20})
    note = solve_layers(system, "layers")[0].approximation
    assert note == measured.open_note(0.5, "unlimited")
    assert "70% busy" in note


MIXED = """
name = "mixed"

[parameters]
rate = "0.4/s"

[processors.cpu]
discipline = "fcfs"

[tasks.robot]
processor = "cpu"
population = 1
entries.crawl.demand = 1

[tasks.web]
processor = "cpu"
threads = 3
entries.page = { demand = 1, arrival_rate = "rate" }
"""


def test_clients_who_fill_a_processor_do_not_saturate_it():
    """One client is always there, and takes what requests from outside leave: 0.6 a second."""
    played = parse_model(MIXED).solve(method="simulation")
    assert not played.saturated
    assert played["cpu.utilisation"] == pytest.approx(1.0, abs=0.01)
    assert played["robot.throughput"] == pytest.approx(0.6, rel=0.03)
    near = parse_model(MIXED).solve(method="layers")
    assert not near.saturated
    assert np.isfinite(near["page.response_time"])
    over = parse_model(MIXED).at(rate=1.2).solve(method="layers")
    assert over.saturated
