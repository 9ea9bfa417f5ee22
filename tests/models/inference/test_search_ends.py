"""A search ends at the least cost a form has, wherever it starts."""

import numpy as np
import pytest

from headway.models import ModelGraph, catalogue_model
from headway.models.files.reading import parse_model
from headway.models.inference.certainty.profile import gradient
from headway.models.inference.fitting import fit_model
from headway.models.inference.forms import catalogue_forms, started
from headway.models.inference.searching.descent import Valley, descend, reflected
from headway.models.inference.searching.posing import problem
from headway.models.inference.searching.search import search
from headway.models.inference.searching.starts import feasible, linear_ways
from headway.models.inference.server import fit_server
from headway.models.measured.matching import match
from headway.models.measured.measurements import Measurements
from headway.models.signatures.sfs import curve
from headway.models.solving.evaluate import differences
from headway.models.structure.loads import Load
from headway.queueing import MM1
from tests.campaigns.search_ends import CURVES, SOURCES, least_costs, missed


@pytest.mark.parametrize("value", [1e-9, 1.0])
def test_a_difference_asks_for_nothing_at_the_end_of_a_range(value):
    """A station refuses a service time of 0, at which its parameter's range ends."""
    asked = []

    def predict(values):
        asked.extend(np.ravel(values["time"]).tolist())
        return 3 * values["time"]

    both = differences(predict, {"time": 1.0}, {"time": (0.0, np.inf)})
    here, slopes = both({"time": value}, ["time"])
    assert here == 3 * value
    assert slopes == pytest.approx(3, rel=1e-6)
    assert min(asked) > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("sfs97r1-20031103-00166", "server-cache (no delay)"),
        ("sfs2008-20140303-00241", "server-cache (no delay)"),
        ("sfs2008-20090430-00116", "server-misses"),
        ("sfs2008-20091016-00139", "server-pool"),
        ("storage2020-20240708-00080", "server-contention"),
    ],
)
def test_every_start_ends_at_the_least_cost(name, form):
    """These forms have several valleys on these curves, up to fifty times as high."""
    path = next(path for path in CURVES if path.stem == name)

    [(_, costs)] = least_costs(Measurements.read(path), 8, {form})

    assert missed(costs) == 0


def test_a_step_is_looked_for_among_the_measured_loads_only():
    """Below them it was a delay, from which 69 of 600 starts did not come back."""
    measurements = SOURCES["open"][0]()
    loads = measurements.column("throughput_ops_s").values
    server = fit_server(measurements, forms=["server-step"])
    step = server.best.model.parameters["step_load"]

    assert (step.minimum, step.maximum) == (loads.min(), loads.max())
    assert parse_model(server.to_toml()).form.least == server.form.made.form.least


@pytest.mark.slow
def test_a_batch_larger_than_the_room_is_left_behind():
    """From here a search of one count at a time ended at a cost 20 times as high."""
    measurements = SOURCES["offered"][0]()
    far = {"batch_time": 0.238, "request_time": 0.229, "largest_batch": 893.0, "room": 1780.0}
    model = catalogue_model("server-batch-room").at(far)
    limits = dict.fromkeys(("largest_batch", "room"), (1.0, 1780.0))

    outputs = ["response_s", "throughput_ops_s"]
    fit = fit_model(model, measurements, [*far], "offered_rate_ops_s", outputs, bounds=limits)

    assert fit.optimum.cost == pytest.approx(11.9701, rel=1e-4)
    assert (fit.values["largest_batch"], fit.values["room"]) == (111.0, 413.0)


def two():
    graph = ModelGraph("two").declare("delay").declare("s").declare("m")
    graph = graph.station("node", MM1("s"), visits="1 / m")
    graph = graph.output("response_time", "delay + node.response_time")
    rows = "\n".join(
        f"{x},{1e3 * (0.002 + 0.001 / (1 - x / 1000)):.9g}" for x in range(100, 1000, 100)
    )
    measured = Measurements.parse(f"throughput_ops_s,response_ms\n{rows}\n", "curve")
    matched = match(graph.at(delay=1.0, s=0.1, m=3.0), measured)
    return problem(matched.model, matched, ("delay", "s", "m"), "curve")


def test_delays_and_servers_that_grow_together_are_straight():
    posed = two()

    assert linear_ways(posed, feasible(posed, posed.initial)) == ((0,), (1, 2))


def test_what_is_straight_is_solved_for():
    # Tolerance: the search stops where a step gains 1e-10 of the cost.
    assert search(two()).free == pytest.approx([0.002, 0.001, 1.0], rel=1e-5)


def test_several_sets_of_values_are_predicted_as_each_alone():
    posed = two()
    sets = np.array([[0.002, 0.001, 1.0], [0.001, 0.0005, 2.0], [0.002, 0.01, 1.0]])

    assert np.array_equal(posed.predict(sets), [posed.predict(free) for free in sets])
    assert np.array_equal(posed.residuals(sets), [posed.residuals(free) for free in sets])
    assert np.array_equal(posed.jacobian(sets[:2]), [posed.jacobian(free) for free in sets[:2]])
    assert np.isinf(posed.residuals(sets)[2]).all()


def test_values_without_effect_make_no_further_starts():
    """From here a wake-up of no time was solved for at any load: forty starts, all of them one."""
    measured = Measurements.read(next(p for p in CURVES if p.stem == "sfs2008-20100427-00159"))
    result = curve(measured)
    [form] = [f for f in catalogue_forms(Load.OPEN) if f.name == "server-batching (no delay)"]
    own = started(form, result.load.values, result.response_time.values)
    start = {
        "wake_up": 4.9e-05,
        "batching_load": 871.49,
        "service_time": 2.8885e-05,
        "servers": 37.436,
    }

    costs = []
    for model in (own, own.at(start)):
        matched = match(model, measured)
        costs.append(search(problem(matched.model, matched, form.free, "curve")).cost)

    assert missed(costs) == 0


def test_what_is_held_still_does_not_move():
    """SciPy's steps move a value without any effect, and a count was 31.94 in the end."""
    wanted = np.array([1.0, 2.0, 3.0])

    def residuals(values, rows):
        return values[:, :3] * values[:, 3:4] / 7 - wanted

    def jacobian(values, rows):
        each = np.zeros((1, 3, 4))
        each[0, range(3), range(3)] = values[0, 3] / 7
        return each

    low, high = np.full(4, 1e-3), np.full(4, 1e3)
    valley = Valley(residuals, jacobian, low, high, np.ones((1, 4)))
    start = np.array([5.0, 5.0, 5.0, 33.0])

    result, cost = reflected(valley, start, 100, 1e-13, np.array([True, True, True, False]))
    kept_inside, still = reflected(valley, start, 100, 1e-13, np.zeros(4, bool))

    assert result == pytest.approx([*(7 / 33 * wanted), 33.0], rel=1e-6)
    assert result[3] == 33.0
    assert cost < 1e-12
    assert kept_inside.tolist() == start.tolist()
    assert still == pytest.approx(0.5 * float((residuals(start[None], None) ** 2).sum()))


@pytest.mark.parametrize("shared", [True, False])
def test_what_comes_with_residuals_is_not_asked_for_again(shared):
    asked = []

    def residuals(values, rows):
        asked.append("residuals")
        return values**2 - [1.0, 4.0]

    def jacobian(values, rows):
        asked.append("jacobian")
        return 2 * values[:, :, None] * np.eye(2)

    def both(values, rows):
        asked.append("both")
        return values**2 - [1.0, 4.0], 2 * values[:, :, None] * np.eye(2)

    wide = np.full(2, 9.0)
    scale = np.ones((2, 2))
    valley = Valley(residuals, jacobian, -wide, wide, scale, both=both if shared else None)
    starts = np.array([[3.0, 3.0], [0.5, 8.0]])

    each, _ = descend(valley, starts, 50, 1e-12)
    one, _ = reflected(valley.of(1), starts[1], 50, 1e-13, np.ones(2, bool))

    assert [*each.ravel(), *one] == pytest.approx([1.0, 2.0] * 3, rel=1e-6)
    assert set(asked) == ({"both"} if shared else {"residuals", "jacobian"})


def test_gradients_of_several_sets_are_those_of_each():
    sets = np.array([[0.002, 0.001, 1.0], [0.001, 0.0005, 2.0]])

    slopes = gradient(two(), lambda free: free[..., 0] + free[..., 1] * free[..., 2] ** 2, sets)

    expected = [[1.0, m**2, 2 * s * m] for _, s, m in sets]
    np.testing.assert_allclose(slopes, expected, rtol=1e-7)
