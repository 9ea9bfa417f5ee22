"""Several classes, some points of which open ones saturate."""

import numpy as np
import pytest

from headway.errors import Saturated
from headway.models import parse_model
from headway.queueing import JobClass, Saturation, ServiceKind, solve_multiclass
from tests.support.class_networks import BY_VISITS, closed, opened, shared


def test_unstable_open_class_names_station_and_limit():
    stations = [shared("cpu", [0.01, 0.1]), shared("disk", [0.02, 0.001])]
    classes = [JobClass("web", arrival_rate=60.0), closed(3, name="batch")]

    with pytest.raises(Saturated, match="disk: utilisation 1.2 .* web at 60 /s; .* at 50 /s"):
        solve_multiclass(stations, classes)


def test_no_rate_of_a_class_is_low_enough_where_others_fill_the_station():
    classes = [JobClass("web", arrival_rate=20.0), JobClass("log", arrival_rate=15.0)]

    with pytest.raises(Saturated, match="web at 20 /s; the others alone saturate it"):
        solve_multiclass([shared("cpu", [0.1, 0.1])], classes)


def test_saturated_points_are_marked_and_the_others_answered():
    stations = [shared("cpu", [0.1, 0.2, 0.0, 0.3]), shared("disk", [0.0, 0.0, 0.5, 0.1])]
    rates = np.array([5.0, 10.0])
    classes = [opened(rates, "web"), closed(3, 1.0, "batch"), opened(0.4, "log"), opened(0.0)]

    marked = solve_multiclass(stations, classes, saturation=Saturation.MARK)

    assert marked.saturated.tolist() == [False, True]
    assert marked.overload.endswith("web at 10 /s; it saturates at 10 /s")
    sound = [opened(5.0, "web"), closed(3, 1.0, "batch"), opened(0.4, "log"), opened(0.0)]
    alone = solve_multiclass(stations, sound)
    assert not alone.saturated
    assert not alone.overload
    assert marked.response_time[:, 0] == pytest.approx(alone.response_time, rel=1e-12)
    # Whoever needs the full station waits for ever, also an idle class; batch comes to rest.
    assert marked.response_time[:, 1].tolist() == [np.inf, np.inf, pytest.approx(0.5 / 0.8), np.inf]
    assert marked.throughput[:, 1].tolist() == [10.0, 0.0, 0.4, 0.0]
    assert marked.queue_length[0, :, 1].tolist() == [np.inf, 3.0, 0.0, 0.0]
    with pytest.raises(Saturated, match="cpu: utilisation 1 by open classes"):
        solve_multiclass(stations, classes)


def test_at_a_load_of_exactly_one_each_class_has_its_own_throughput():
    text = """
        name = "full"
        [stations.cpu]
        kind = "MM1"
        service_time = {web = "100 ms", batch = "200 ms", log = 0}
        visits = {web = 1, batch = 1}
        [stations.disk]
        kind = "MM1"
        service_time = {web = 0, batch = "500 ms", log = "500 ms"}
        visits = {batch = 1, log = 1}
        [classes.web]
        arrival_rate = "10 /s"
        [classes.batch]
        population = 3
        [classes.log]
        arrival_rate = "0.4 /s"
    """

    solution = parse_model(text).solve()

    rates = [solution[f"class {name}.throughput"] for name in ("web", "batch", "log")]
    assert rates == pytest.approx([10.0, 0.0, 0.4], rel=1e-12)
    assert solution["throughput"] == pytest.approx(10.4, rel=1e-12)
    assert solution["class web.response_time"] == np.inf
    assert solution["class log.response_time"] == pytest.approx(0.5 / 0.8, rel=1e-9)


def test_closed_jobs_slow_down_towards_saturation_as_marked():
    stations = [shared("cpu", [0.1, 0.2]), shared("disk", [0.0, 0.5])]
    classes = [opened(10 * (1 - np.array([1e-3, 1e-6, 0.0]))), closed(3, 1.0)]

    solution = solve_multiclass(stations, classes, saturation=Saturation.MARK)

    assert (np.diff(solution.throughput[1]) < 0).all()
    assert solution.throughput[1, 1] < 1e-5
    assert solution.queue_length[0, 1, 1] == pytest.approx(solution.queue_length[0, 1, 2], rel=1e-4)


@pytest.mark.parametrize("method", BY_VISITS)
@pytest.mark.parametrize("kind", [ServiceKind.QUEUE, ServiceKind.PARALLEL])
def test_servers_may_differ_by_point(method, kind):
    counts = np.array([4, 3, 2, 3] if method.approximate else [1, 3, 2, 3])
    classes = [opened(0.4), closed(3, 1.0), closed(2)]

    def solved(servers):
        places = [shared("pool", [1.0, 0.8, 1.5], servers, kind), shared("one", [0.1, 0.7, 0.4])]
        return solve_multiclass(places, classes, method)

    table = solved(counts)
    for i, count in enumerate(counts):
        one = solved(int(count))
        assert table.throughput[:, i] == pytest.approx(one.throughput, rel=1e-9)
        assert table.queue_length[..., i] == pytest.approx(one.queue_length, rel=1e-8)
        assert table.utilisation[..., i] == pytest.approx(one.utilisation, rel=1e-9)


def test_servers_decide_what_is_saturated():
    places = [shared("pool", [1.0, 1.0], np.array([1, 2, 3]))]

    solution = solve_multiclass(places, [opened(1.5), closed(2)], saturation=Saturation.MARK)

    assert solution.saturated.tolist() == [True, False, False]
    assert solution.overload.startswith("pool: utilisation 1.5 by open")
    assert np.isfinite(solution.response_time[:, 1:]).all()
