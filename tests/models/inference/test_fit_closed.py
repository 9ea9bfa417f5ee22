"""Closed populations: recognised in a curve, fitted, and driven by a throughput."""

import inspect

import numpy as np
import pytest

from headway.errors import GraphError, InvalidParameter
from headway.models import (
    Measurements,
    ModelGraph,
    catalogue_model,
    fit_model,
)
from headway.models.inference.closed_curves import clients_of
from headway.models.measured.bends import bends_back
from headway.models.solving import throughput_driven
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.listed.kinds import STATIONS, station_kind
from tests.support.fit_data import TWO, table


def test_further_fits_of_a_closed_graph_compile_nothing(monkeypatch):
    model = catalogue_model("server-closed").at(population=40, delay=2e-3, service_time=1e-3)
    times = np.array([3.1, 3.2, 3.5, 4.1, 6.0]) * 1e-3
    first, second = (table(np.linspace(100, 900, 5), more * times) for more in (1.0, 1.1))
    free = ["delay", "service_time"]
    before = fit_model(model, first, free, starts=1).values

    def never(*_):
        raise AssertionError("compiled once more")

    monkeypatch.setattr(throughput_driven, "compiled_forms", never)

    fit_model(model.at(delay=1e-3), second, free, starts=1)
    assert fit_model(model, first, free, starts=1).values == before


def test_a_curve_that_bends_back_is_closed():
    rate = np.array([100.0, 300, 500, 700, 800, 850, 820, 780])
    time = np.array([2.1, 2.4, 3.0, 4.6, 8.0, 47.0, 48.8, 51.3]) * 1e-3
    data = table(rate, time)

    clients = clients_of(data)
    assert clients.bends_back.tolist() == [False] * 5 + [True] * 3
    assert clients.population == pytest.approx(40, rel=0.01)
    fit = (
        catalogue_model("server-closed")
        .at(population=20)
        .fit(data, ["delay", "service_time", "population"])
    )
    assert fit.values["population"] == 40
    bend = fit.comparison.relative_error[5:]
    assert np.abs(bend).max() < 0.01  # Little's law; throughput is printed to three digits
    open_model = TWO.at(delay=1e-3, s=1e-3).fit(data, ["delay", "s"])
    assert any("the curve bends back" in text for text in open_model.warnings)


def test_throughput_behind_its_request_is_closed():
    text = "requested_ops_s,throughput_ops_s,response_ms\n100,100,2\n200,200,3\n400,300,100\n"
    clients = clients_of(Measurements.parse(text, "curve"))

    assert clients.behind.tolist() == [False, False, True]
    assert clients.population == pytest.approx(30)


def test_rising_curves_do_not_bend():
    assert not bends_back(np.array([1.0, 2, 3]), np.array([1.0, 1, 9])).any()


def test_pacing_agrees_with_the_solver():
    """The think times that pacing finds give back the measured throughput."""
    model = catalogue_model("server-closed").at(population=40, delay=2e-3, service_time=1e-3)
    loads = np.linspace(100, 900, 5)
    solution = model.compare(table(loads, np.full(5, 5e-3))).solution

    again = solution.model.solve(method="schweitzer")
    exact = solution.model.solve()

    # the fixed point is settled to 1e-12 of the population
    np.testing.assert_allclose(again.throughput, loads, rtol=1e-8)
    np.testing.assert_allclose(again.response_time, solution.response_time, rtol=1e-6)
    # Schweitzer's approximation is good to some percent below 80% utilisation
    np.testing.assert_allclose(exact.response_time[:4], solution.response_time[:4], rtol=0.05)


def test_a_load_of_nothing_cannot_drive_a_model():
    with pytest.raises(InvalidParameter, match="a closed model needs a positive load"):
        catalogue_model("server-closed").compare(table([0.0, 100.0], [1e-3, 2e-3]))


@pytest.mark.parametrize("kind", list(STATIONS))
def test_each_kind_of_station_says_itself_whether_a_throughput_can_drive_it(kind):
    fields = {"service_time": 1e-3, "servers": 2, "places": 4, "scv": 0.5, "arrival_scv": 1.0,
              "rates": (1.0, 2.0), "service_times": (1e-3, 2e-3), "request_time": 1e-3,
              "batch_time": 1e-3, "largest_batch": 4,
              "wake_up": 1e-3, "growth": 0.1, "crowd": 8, "quota": 0.6,
              "period": 0.1, "branches": 2, "needed": 2}  # fmt: skip
    station = station_kind(kind)
    own = {name: fields[name] for name in inspect.signature(station).parameters}
    model = ModelGraph("g").station("s", station(**own)).at().closed(40)

    if station.can.product_form in (None, ServiceKind.VARYING):
        with pytest.raises(
            GraphError, match=f"{kind} cannot follow a measured load; use Delay, MM1, MMm, Par"
        ):
            model.compare(table([100.0, 200.0], [1e-3, 2e-3]))
    else:
        comparison = model.compare(table([100.0, 200.0], [1e-3, 2e-3]))
        assert np.isfinite(comparison.predicted).all()
