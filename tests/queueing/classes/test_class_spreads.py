"""Several classes whose service times are of any scv, in order of arrival."""

import numpy as np
import pytest

from headway.errors import GraphError
from headway.models import ModelGraph, parse_model
from headway.queueing import (
    MD1,
    MG1,
    MM1,
    Discipline,
    GGm,
    JobClass,
    Method,
    MGm,
    SharedStation,
    solve_multiclass,
)
from headway.queueing.closed.measured import WITHIN
from tests.campaigns import spread_errors
from tests.support.class_networks import AGREE, closed, opened, shared
from tests.support.command import headway

TIMES, RATES = np.array([0.2, 2.0]), np.array([0.4, 0.4])


def line(times, scv, servers=1, **more):
    order = Discipline.FCFS
    return SharedStation("cpu", times, (1, 1), servers=servers, discipline=order, scv=scv, **more)


def test_one_server_gives_pollaczek_and_khinchines_wait_of_the_mixture():
    solution = solve_multiclass([line(TIMES, (2.0, 0.5))], [opened(rate) for rate in RATES])

    wait = (RATES * TIMES**2 * (1 + np.array([2.0, 0.5]))).sum() / 2 / (1 - RATES @ TIMES)
    assert solution.response_time == pytest.approx(TIMES + wait, rel=1e-12)
    assert not solution.approximation


@pytest.mark.parametrize("law", [MGm(0.2, 3, 2.0), GGm(0.2, 3, 0.5, 2.0), GGm(0.2, 1, 2.0, 0.5)])
def test_classes_alike_are_one_class(law):
    more = {"arrival_scv": law.arrival_scv} if isinstance(law, GGm) else {}
    place = line((0.2, 0.2), (law.scv, law.scv), law.servers, **more)
    rate = 0.8 * law.capacity
    solution = solve_multiclass([place], [opened(rate / 4), opened(rate * 3 / 4)])
    assert solution.response_time == pytest.approx([law.response_time(rate)] * 2, rel=1e-12)
    assert "are not exponential" in solution.approximation


def test_exponential_times_are_what_they_are_without_an_scv():
    classes = [closed(3, 1.0), closed(2)]
    place = SharedStation("cpu", TIMES, (1, 1), discipline=Discipline.FCFS)
    plain = solve_multiclass([place, shared("d", (0.3, 0.1))], classes)
    solution = solve_multiclass([line(TIMES, (1.0, 1.0)), shared("d", (0.3, 0.1))], classes)
    assert solution.throughput == pytest.approx(plain.throughput, rel=1e-12)


def test_sharing_does_not_ask_how_times_vary():
    place = SharedStation("cpu", TIMES, (1, 1), discipline="ps", scv=(4.0, 0.0))
    plain = SharedStation("cpu", TIMES, (1, 1), discipline="ps")
    for classes in ([opened(0.2), opened(0.1)], [closed(3, 1.0), opened(0.2)]):
        one, two = solve_multiclass([place], classes), solve_multiclass([plain], classes)
        assert one.response_time.tolist() == two.response_time.tolist()
        assert not one.approximation


def test_closed_classes_miss_no_more_than_is_said():
    for method in (Method.SCHWEITZER, Method.LINEARIZER):
        rates, times = spread_errors.closed_errors(6, seed=5, method=method)
        text = WITHIN[method][-1][-1]
        assert 100 * rates.max() <= text[0]
        assert 100 * times.max() <= text[1]
        assert np.median(rates) < 0.15


def test_more_spread_is_a_longer_wait_in_closed_networks_too():
    values = [
        solve_multiclass(
            [line((0.2, 0.4), (scv, scv)), shared("d", (0.15, 0.1))],
            [closed(4, 3.0), closed(2, 2.0)],
        ).throughput
        for scv in (0.0, 0.5, 1.0, 2.0)
    ]
    assert (np.diff(values, axis=0) < 0).all()


def test_open_and_closed_classes_together_are_refused():
    with pytest.raises(GraphError, match="cpu: open and closed classes together"):
        solve_multiclass([line(TIMES, (2.0, 0.5))], [opened(0.1), closed(2)])


FILE = """
name = "mixed"
[parameters]
burst = 4
[classes.web]
{web}
[classes.batch]
{batch}
[stations.cpu]
kind = "{kind}"
service_time = {{ web = "20 ms", batch = "200 ms" }}
{more}
"""
OPEN = {"web": 'arrival_rate = "10 /s"', "batch": 'arrival_rate = "2 /s"'}
CLOSED = {"web": 'population = 3\nthink_time = "1 s"', "batch": "population = 2"}
SCV = 'scv = { web = "burst", batch = 0.5 }'


def model(kind="MG1", more=SCV, numbers=OPEN):
    return parse_model(FILE.format(kind=kind, more=more, **numbers))


def test_a_file_says_the_scv_by_class_and_everything_follows():
    mixed = model()
    solution = mixed.solve()
    wait = (10 * 0.02**2 * 5 + 2 * 0.2**2 * 1.5) / 2 / (1 - 0.6)

    assert solution["class web.response_time"] == pytest.approx(0.02 + wait, rel=1e-12)
    assert solution.approximation == ""
    assert parse_model(mixed.to_toml()).solve().response_time == solution.response_time
    form = mixed.graph.closed_form("class batch.response_time")
    value = form.subs(dict.fromkeys(form.free_symbols, 4.0))
    assert float(value) == pytest.approx(0.2 + wait, rel=1e-12)
    law = solution.with_percentile(99)
    assert "gamma-distributed" in law.approximation
    assert law["class web.response_time_p99"] > 0.02 + wait
    sweep = mixed.solve(burst=[0.5, 4.0])
    assert sweep["class web.response_time"][1] == pytest.approx(0.02 + wait, rel=1e-12)


def test_constant_times_by_class_wait_as_their_mixture():
    wait = (10 * 0.02**2 + 2 * 0.2**2) / 2 / (1 - 0.6)
    constant = model("MD1", "")
    assert constant.solve()["class web.response_time"] == pytest.approx(0.02 + wait, rel=1e-12)
    with pytest.raises(GraphError, match=r"if some are \(almost\) constant"):
        constant.solve().with_percentile(99)


def test_several_servers_and_arrivals_of_an_scv_are_labelled():
    for kind, more in (("MGm", ""), ("GGm", "arrival_scv = 2")):
        solution = model(kind, f"{SCV}\nservers = 2\n{more}").solve()
        assert solution.approximation.startswith("cpu: first come first served with times")


def test_closed_classes_are_approximate_and_their_percentiles_refused():
    solution = model(numbers=CLOSED).solve()
    assert solution.method == "linearizer"
    assert "are not exponential" in solution.approximation
    with pytest.raises(GraphError, match="cpu: the response time of MG1 has no known"):
        solution.with_percentile(99)
    with pytest.raises(GraphError, match="no product form"):
        model(numbers=CLOSED).solve(method="exact")


def test_it_is_simulated_with_an_scv_by_class():
    simulation = model(numbers=CLOSED).simulate(half_width=0.2, seed=1)
    assert "service times with an scv are gamma-distributed" in simulation.notes
    throughput, solution = simulation["class batch.throughput"], model(numbers=CLOSED).solve()
    low, high = throughput.interval(0.999)
    error = WITHIN[Method.LINEARIZER][-1][-1][0] / 100
    assert low * (1 - error) <= solution["class batch.throughput"] <= high * (1 + error)


def test_what_has_no_scv_refuses_one_by_class(tmp_path):
    graph = ModelGraph("one")
    with pytest.raises(GraphError, match="cpu: a MM1 has no scv; use MG1, MGm or GGm"):
        graph.station("cpu", MM1(0.1), scvs={"a": 2.0})
    with pytest.raises(GraphError, match="there is no class 'b'"):
        graph.station("cpu", MG1(0.1, 1.0), scvs={"b": 2.0}).job_class("a", 1.0).job_class(
            "c", 1.0
        ).at().solve()
    with pytest.raises(GraphError, match="cpu: no scv for class c"):
        graph.station("cpu", MG1(0.1, 1.0), scvs={"a": 2.0}).job_class("a", 1.0).job_class(
            "c", 1.0
        ).at().solve()
    path = tmp_path / "mixed.toml"
    more = f'{SCV}\narrival_scv = 2\nservers = 2\ndiscipline = "ps"'
    path.write_text(FILE.format(kind="GGm", more=more, **OPEN))
    refused = headway("solve", str(path)).err
    assert "a GGm does not support the discipline ps" in refused
    with pytest.raises(GraphError, match="cannot share a GGm if some are closed"):
        model("GGm", f"{SCV}\narrival_scv = 2\nservers = 2", CLOSED).solve()


def test_one_class_takes_its_own_scv():
    graph = ModelGraph("one").station("cpu", MG1(0.1, 1.0), scvs={"a": 3.0}).job_class("a", 5.0)
    assert graph.at().solve().response_time == pytest.approx(MG1(0.1, 3.0).response_time(5.0))
    assert MD1(0.1).scv == 0


def test_a_spread_of_arrivals_may_differ_from_point_to_point():
    def wait(arrival_scv):
        station = line(TIMES, (2.0, 0.5), arrival_scv=arrival_scv)
        return solve_multiclass([station], [opened(r) for r in RATES]).response_time

    swept, first, last = wait(np.array([0.5, 3.0])).T, wait(0.5), wait(3.0)
    assert list(map(list, swept)) == [
        pytest.approx(first, rel=1e-12),
        pytest.approx(last, rel=1e-12),
    ]


def test_a_pool_with_a_server_for_everybody_is_a_delay():
    """Nobody waits, whatever the spread: R = S, exactly (seed 2149 of the random models)."""
    pool = SharedStation("pool", (0.005, 0.005), (1, 1), servers=3, scv=(0.5, 0.5),
                         discipline=Discipline.FCFS)  # fmt: skip
    classes = [JobClass("a", population=np.array([1, 2]), think_time=0.02),
               JobClass("b", population=1)]  # fmt: skip
    solution = solve_multiclass([pool], classes)
    assert not solution.approximation
    np.testing.assert_allclose(solution.response_time, 0.005, rtol=AGREE)
