"""The highest load under a limit: its interval, the runs that lead to it, and when they end."""

import numpy as np
import pytest

from headway.errors import HeadwayError, InvalidParameter, MeasurementError
from headway.models import catalogue_model
from headway.models.inference.forecasting.highest_load import read_limit
from headway.models.inference.limit_search import next_run
from headway.models.inference.server import fit_server
from headway.models.measured.measurements import Measurements
from headway.models.measured.points import Loop, Point
from headway.models.reading.loadtest import LoadTest
from tests.campaigns.limit_runs import BUDGET, FIRST, compared
from tests.support.cases import mostly_slow


@pytest.mark.parametrize("servers", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_half_the_runs_of_a_bisection_for_the_same_interval(servers):
    """Over 200 servers 0.49 of its runs, and 98% of the intervals hold the truth."""
    found = [compared(FIRST + seed) for seed in range(servers)]

    runs = sum(each.advised for each in found), sum(each.bisected for each in found)
    assert runs[0] <= 0.6 * runs[1]
    assert max(each.advised for each in found) <= BUDGET
    assert sum(each.high / each.low <= 1.05 for each in found) >= 0.9 * servers
    assert sum(each.is_covered for each in found) >= 0.8 * servers


def test_simple_forms_that_agree_do_not_end_it():
    """One queue behind a delay, whose waits are twice as long as one server's: 3 parameters.

    Two forms of 2 parameters fit four runs of it well, and both are wrong about the limit.
    """
    loads, errors = np.array([120.0, 240.0, 480.0, 960.0]), np.array([-1.0, -1.0, 0.5, 1.0])
    times = 1e-3 * (1 + 2 / (1 - loads / 1000)) * np.exp(0.03 * errors)
    points = [
        Point("mine", throughput=x, response_time=y) for x, y in zip(loads, times, strict=True)
    ]

    found = next_run(LoadTest(tuple(points)), "response_time<=12ms")

    low, _, high = found.highest
    assert low <= 1000 * (1 - 2 / 11) <= high


def test_a_load_that_was_not_sustained_is_not_tried_again():
    """A server that completes less than its curve promises: each further load is lower."""
    test, tried = runs(single, 100.0, 200.0, 400.0, 780.0, offered=[(905.0, 850.0)]), 905.0

    found = next_run(test, "response_time<=8.5ms")

    assert found.at is None or found.at < tried
    again = runs(single, 100.0, 400.0, offered=[(905.0, 850.0)])
    assert 400 < next_run(again, "response_time<=8.5ms").at < 905


def test_what_was_completed_in_overload_says_where_to_measure():
    """R = A / (1 - x / C) through one run: x = C (1 - A / L)."""
    found = next_run(runs(single, 250.0, offered=[(2000.0, 1000.0)]), "response_time<=10ms")

    light = single(250.0) * 0.75
    assert found.at == pytest.approx(1000 * (1 - light / 10e-3))


def curve(loads, response, extra=""):
    rows = "".join(f"{x:g},{1e3 * response(x):.9g}\n" for x in loads)
    return Measurements.parse(f"throughput_ops_s,response_ms\n{rows}", "curve.csv")


def single(load):
    return 1e-3 + 1e-3 / (1 - load / 1000)


@pytest.mark.parametrize("limit", [3, 6, 21])
def test_the_interval_holds_the_closed_form(limit):
    """R = D + S / (1 - S x) reaches L at x = (1 - S / (L - D)) / S."""
    server = fit_server(curve(range(100, 1000, 100), single), forms=["server-single"])
    truth = 1000 * (1 - 1 / (limit - 1))

    low, middle, high = server.highest_load(f"response_time<={limit}ms").highest

    assert low <= middle <= high
    assert low * 0.995 <= truth <= high * 1.005
    assert middle == pytest.approx(truth, rel=5e-3)


@pytest.mark.parametrize("output", ["response_time", "response_time_p95"])
def test_a_limit_below_all_curves_is_met_at_no_load(output):
    """The mean is 2 ms at any load or more, and its 95th percentile is no lower."""
    server = fit_server(curve(range(100, 1000, 100), single), forms=["server-single"])

    found = server.highest_load(f"{output}<=1.5ms")

    assert found.highest.tolist() == [0.0, 0.0, 0.0]
    assert not found.ahead.loads.size
    assert "above the limit at any load" in found.reason
    assert "no load, however low, meets" in str(found)


def test_a_percentile_follows_from_the_law_of_the_form():
    """M/M/1 without delay: p99 = ln(100) / (1 / S - x)."""
    model = catalogue_model("server-single").at(delay=0.0, service_time=2e-3)
    table = curve(range(50, 500, 50), lambda x: 2e-3 / (1 - x / 500))
    fit = model.fit(table, ["service_time"])
    truth = 500 - np.log(100) / 0.05

    low, middle, high = fit.highest_load("response_time_p99<=50ms").highest

    assert middle == pytest.approx(truth, rel=5e-3)
    assert low * 0.995 <= truth <= high * 1.005


def test_where_there_is_no_law_a_percentile_is_refused_with_the_reason():
    table = curve(range(100, 1000, 100), single)
    server = fit_server(table, forms=["server-batching"])

    with pytest.raises(HeadwayError, match="percentile|distribution|law"):
        server.highest_load("response_time_p99<=50ms")


def runs(response, *loads, offered=None):
    points = [Point("mine", Loop.OPEN, throughput=x, response_time=response(x)) for x in loads]
    more = [
        Point("mine", Loop.OPEN, offered_rate=x, throughput=y, response_time=9.0)
        for x, y in offered or ()
    ]
    return LoadTest(tuple(points + more))


def test_loads_double_until_the_limit_is_passed_and_gaps_are_halved():
    ask = "response_time<=10ms"

    assert next_run(None, ask).at == 1
    assert next_run(None, ask, within=(0.0, 1600.0)).at == 100
    assert next_run(runs(single, 50.0), ask).at == 200
    assert next_run(runs(single, 50.0, 150.0), ask, within=(0.0, 240.0)).at == 240
    between = next_run(runs(single, 400.0, offered=[(1600.0, 990.0)]), ask).at
    assert 400 < between < 1600
    assert next_run(runs(single, 950.0), ask).at == 475


def test_what_fell_behind_bounds_the_answer():
    test = runs(single, 200.0, 400.0, 600.0, 800.0, offered=[(1100.0, 995.0)])

    found = next_run(test, "response_time<=10ms")

    assert found.at is None or found.at < 1100
    assert found.highest[2] < 1100


def test_a_budget_ends_it_with_what_is_known():
    found = next_run(runs(single, 100.0, 200.0), "response_time<=10ms", budget=2)

    assert found.at is None
    assert found.reason == "the budget is spent"
    assert found.highest.tolist() == [200.0, 200.0, np.inf]


def test_the_ends_of_what_may_be_measured_end_it_too():
    low = next_run(runs(single, 100.0), "response_time<=1ms", within=(100.0, np.inf))
    high = next_run(runs(single, 100.0), "response_time<=9ms", within=(10.0, 100.0))

    assert (low.at, high.at) == (None, None)
    assert "lowest" in low.reason
    assert "highest" in high.reason


@pytest.mark.slow
def test_measured_percentiles_count():
    def run(rate):
        tail = {99.0: np.log(100) / (500 - rate)}
        return Point("mine", throughput=rate, response_time=1 / (500 - rate), percentiles=tail)

    test = LoadTest(tuple(map(run, [50.0, 100.0, 200.0, 400.0, 410.0])))

    found = next_run(test, "response_time_p99<=50ms")

    truth = 500 - np.log(100) / 0.05
    assert found.highest[1] == pytest.approx(truth, rel=0.02)


@pytest.mark.parametrize(
    "clients", mostly_slow([(1.0, 2.0), (1.0, 2.0, 4.0, 8.0, 16.0)], 1), ids=["two", "five"]
)
def test_clients_come_in_whole_numbers(clients):
    def run(clients):
        time = max(0.02, clients / 200.0)
        return Point(
            "mine",
            Loop.CLOSED,
            population=clients,
            throughput=clients / time,
            response_time=time,
        )

    found = next_run(LoadTest(tuple(map(run, clients))), "response_time<=50ms")
    if len(clients) == 2:
        assert found.at == 4
    ends = [found.at] if found.at is not None else found.highest.tolist()
    assert all(end == round(end) for end in ends)


def test_runs_that_contradict_each_other_are_refused():
    test = runs(lambda x: 0.1 / x, 1.0, 2.0, 40.0, 80.0)

    with pytest.raises(MeasurementError, match="falls with the load"):
        next_run(test, "response_time<=10ms")


@pytest.mark.parametrize(
    "target", ["throughput>=5", "response_time>=5ms", "response_time<=0s", "response_time", "x<=1"]
)
def test_other_targets_are_refused(target):
    with pytest.raises(HeadwayError):
        read_limit(target)


@pytest.mark.parametrize(
    "wrong",
    [{"budget": -1}, {"precision": 0.0}, {"precision": 1.5}, {"within": (5.0, 2.0)}],
)
def test_settings_that_are_none_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        next_run(None, "response_time<=5ms", **wrong)
