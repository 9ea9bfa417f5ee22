"""Priorities at one server whose times have any scv by class: Cobham's formula, or a refusal."""

import pytest

from headway.errors import GraphError, ModelFileError
from headway.models import parse_model
from headway.models.files.writing import to_toml
from headway.queueing import PriorityMG1
from headway.queueing.classes.solve_classes import solve_multiclass
from headway.queueing.network.network import JobClass, SharedStation
from headway.queueing.times.inversion import percentile_of

TIMES, SCVS, RATES = (0.01, 0.03), (0.5, 3.0), (30.0, 10.0)
WEB = '[classes.web]\narrival_rate = "30 op/s"\npriority = 1\n'
BATCH = '[classes.batch]\narrival_rate = "10 op/s"\npriority = 2\n'
CPU = """
[stations.cpu]
kind = "MG1"
service_time = {web = "10 ms", batch = "30 ms"}
scv = {web = 0.5, batch = 3}
discipline = "priority"
"""
SERVER = 'name = "server"\n' + WEB + BATCH + CPU


def times_of(text):
    solution = parse_model(text).solve()
    assert not solution.approximation
    return [float(solution[f"class {name}.response_time"]) for name in ("web", "batch")]


def test_head_of_line_is_cobhams_with_each_classs_scv():
    exact = PriorityMG1(TIMES, SCVS).response_times(RATES)

    assert times_of(SERVER) == pytest.approx(exact, rel=1e-12)
    assert times_of(to_toml(parse_model(SERVER))) == pytest.approx(exact, rel=1e-12)


def test_preemptive_resume_is_that_of_any_service():
    left = [r * s**2 * (1 + c) / 2 for r, s, c in zip(RATES, TIMES, SCVS, strict=True)]
    web = 0.01 + left[0] / (1 - 0.3)
    batch = 0.03 / (1 - 0.3) + sum(left) / ((1 - 0.3) * (1 - 0.6))

    result = times_of(SERVER.replace('"priority"', '"preemptive"'))
    assert result == pytest.approx([web, batch], rel=1e-12)


def test_constant_times_go_by_priority_too():
    text = SERVER.replace('"MG1"', '"MD1"').replace("scv = {web = 0.5, batch = 3}\n", "")

    exact = PriorityMG1(TIMES, (0.0, 0.0)).response_times(RATES)
    assert times_of(text) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("discipline", ["priority", "preemptive"])
def test_one_priority_for_all_is_the_order_of_arrival(discipline):
    alike = SERVER.replace("priority = 2", "priority = 1").replace('"priority"', f'"{discipline}"')
    plain = SERVER.replace("priority = 1\n", "").replace("priority = 2\n", "")
    plain = plain.replace('discipline = "priority"\n', "")

    assert times_of(alike) == pytest.approx(times_of(plain), rel=1e-12)


def test_a_class_that_saturates_the_server_leaves_the_first_one_its_wait():
    text = SERVER.replace('"10 op/s"', '"50 op/s"')
    solution = parse_model(text).solve()

    exact = PriorityMG1(TIMES, SCVS).response_times((30.0, 50.0))
    assert float(solution["class web.response_time"]) == pytest.approx(exact[0], rel=1e-12)
    assert solution["class batch.response_time"] == float("inf")


def test_percentiles_are_those_of_one_station():
    solution = parse_model(SERVER).solve()

    laws = PriorityMG1(TIMES, SCVS).time_laws(RATES)
    values = [float(solution[f"class {name}.response_time_p95"]) for name in ("web", "batch")]
    assert values == pytest.approx([percentile_of(law, 0.95) for law in laws], rel=1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SERVER.replace('arrival_rate = "10 op/s"', "population = 3"),
            "cpu: priorities with non-exponential",
        ),
        (
            SERVER
            + '[stations.disk]\nkind = "MM1"\nservice_time = "1 ms"\n'
            + '[[routes]]\nfrom = "cpu"\nto = "disk"\n',
            "cpu: priorities with non-exponential .* simulate other networks",
        ),
        (
            SERVER.replace('"MG1"', '"MGm"\nservers = 2'),
            "cpu: a MGm does not support the discipline priority; .* MG1",
        ),
    ],
)
def test_what_has_no_exact_law_is_refused(text, message):
    with pytest.raises((GraphError, ModelFileError), match=message):
        parse_model(text).solve()


def test_several_servers_are_refused_in_python():
    cpu = SharedStation("cpu", TIMES, (1, 1), servers=2, scv=SCVS, discipline="priority")
    classes = [JobClass("web", 30.0), JobClass("batch", 10.0, priority=2)]

    with pytest.raises(GraphError, match="visit one single server once"):
        solve_multiclass([cpu], classes)


def test_what_lies_beyond_the_mean_or_in_symbols_is_refused():
    constant = SERVER.replace("web = 0.5", "web = 0")

    with pytest.raises(GraphError, match=r"if some are \(almost\) constant"):
        parse_model(constant).solve()["class batch.response_time_p95"]
    with pytest.raises(GraphError, match="cpu serves by priority, which has no closed form"):
        parse_model(SERVER).graph.closed_form("class web.response_time")


def test_a_simulation_agrees():
    text = SERVER.replace('"priority"', '"preemptive"')
    model = parse_model(text)

    solution, simulated = model.solve(), model.simulate(half_width=0.15, seed=1)

    for name in ("web", "batch"):
        time = f"class {name}.response_time"
        # half the 95% intervals of two means each miss less than 15%
        assert simulated[time].mean == pytest.approx(float(solution[time]), rel=0.2)
