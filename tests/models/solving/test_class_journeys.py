"""Percentiles of open classes with their own routes: exact, labelled, or refused."""

import json
from dataclasses import replace
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError
from headway.models import ModelGraph
from headway.models.language.formula import of_number
from headway.models.solving.response_times.class_routes import ALIKE, BACK, UNLIKE, class_route_laws
from headway.models.solving.response_times.open_classes import UNLIKE as COMMON
from headway.queueing import MG1, MM1, Delay, MMm
from headway.queueing.passages.whole_chain import SMOOTHED
from headway.queueing.times.inversion import exceedance
from tests.campaigns import closed_journeys
from tests.campaigns.closed_journeys import model
from tests.campaigns.journey_errors import PAGES, errors, lines, stored
from tests.support.command import headway, refusal
from tests.support.pages import accuracy

TOGETHER = "percentiles assume independent visits"


def fork():
    """Class a goes x -> y, b comes in at y, and half of a become c, which goes on to z."""
    graph = ModelGraph("g").station("x", MM1(0.1)).station("y", MM1(0.08))
    graph = graph.station("z", MMm(0.3, 2)).route("x", "y", 0.5, "a")
    graph = graph.route("x", "z", 0.5, "a", "c")
    graph = graph.job_class("a", 4.0, arrives="x").job_class("b", 5.0, arrives="y")
    return graph.job_class("c", 1.0, arrives="z")


def beyond(*rates):
    """Chance that a sum of independent exponential times takes longer, in 30 digits."""
    rates = [mpmath.mpf(rate) for rate in rates]

    def chance(time):
        weights = [mpmath.fprod(o / (o - r) for o in rates if o != r) for r in rates]
        return sum(w * mpmath.exp(-r * time) for w, r in zip(weights, rates, strict=True))

    return chance


def test_ways_on_which_nobody_overtakes_are_exact():
    """Independent sojourns (Walrand and Varaiya): chances beyond times by hand; 1e-9."""
    solution = fork().at().solve()
    laws = class_route_laws(solution)
    rate, load = 1 / 0.3, 3.0 * 0.3
    waits = load**2 / 2 / (1 - load / 2) / (1 + load + load**2 / 2 / (1 - load / 2))
    theta = 2 * rate - 3.0  # Erlang's pool: W beyond t with chance C exp(-theta t)
    for time in (0.05, 0.3, 1.0):
        first, second = beyond(6.0)(time), beyond(1 / 0.08 - 7.0)(time)
        pool = (1 - waits) * mpmath.exp(-rate * time) + waits * beyond(rate, theta)(time)
        way = (1 - waits) * beyond(6.0, rate)(time) + waits * beyond(6.0, rate, theta)(time)
        both = 0.5 * beyond(6.0, 1 / 0.08 - 7.0)(time) + 0.5 * way
        assert first > 0
        assert exceedance(laws["a"], time) == pytest.approx(float(both), rel=1e-8)
        assert exceedance(laws["b"], time) == pytest.approx(float(second), rel=1e-8)
        assert exceedance(laws["c"], time) == pytest.approx(float(pool), rel=1e-8)
        mixed = (4 * both + 5 * second + pool) / 10
        assert exceedance(laws[""], time) == pytest.approx(float(mixed), rel=1e-8)
    solved = solution.with_percentiles([50, 99])
    assert solved.approximation == ""
    for share, name in ((0.5, "class a.response_time_p50"), (0.01, "class a.response_time_p99")):
        assert exceedance(laws["a"], solved[name]) == pytest.approx(share, rel=1e-6)


def test_two_ways_of_any_classes_are_labelled():
    """b overtakes a on the way to z, so that visits of a depend on each other."""
    graph = ModelGraph("g").station("x", MM1(0.1)).station("y", MM1(0.08)).station("z", MM1(0.05))
    graph = graph.route("x", "y", 1.0, "a").route("y", "z", 1.0, "a")
    graph = graph.job_class("a", 4.0, arrives="x").job_class("b", 3.0, arrives="x")
    assert graph.at().solve().with_percentile(99).approximation == ""
    twice = graph.route("x", "z", 1.0, "b").at().solve().with_percentile(99)
    assert TOGETHER in twice.approximation
    assert "up to the 99th within 7%" in twice.approximation


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_laws_have_the_means_of_the_solution(seed):
    """Random classes, turns, disciplines and kinds without returns; 1e-6."""
    random = np.random.default_rng(seed)
    count, classes = int(random.integers(1, 5)), [f"c{k}" for k in range(random.integers(2, 4))]
    graph = ModelGraph("g")
    for k in range(count):
        kind = [MM1(0.05), MMm(0.08, 2), Delay(0.2)][random.integers(3)]
        times = {c: float(random.uniform(0.01, 0.1)) for c in classes}
        shared = random.random() < 0.5 and not isinstance(kind, MMm)
        graph = graph.station(f"s{k}", kind, None, times if shared else None,
                              "ps" if random.random() < 0.5 else "fcfs")  # fmt: skip
    for name in classes:
        graph = graph.job_class(
            name, float(random.uniform(0.5, 3)), arrives=f"s{random.integers(count)}"
        )
    for k in range(count - 1):
        for name in classes:
            target = f"s{random.integers(k + 1, count)}"
            becomes = str(random.choice(classes))
            chance = float(random.uniform(0.2, 1))
            try:
                graph = graph.route(
                    f"s{k}", target, chance, name, "" if becomes == name else becomes
                )
                graph.at()
            except GraphError:
                return  # a route of a class that never comes there
    solution = graph.at().solve()
    laws = class_route_laws(solution) if graph.ways_by_class else {}
    for name, law in laws.items():
        mean = solution[f"class {name}.response_time"] if name else solution.response_time
        assert law.mean == pytest.approx(mean, rel=1e-6)


def test_the_same_routes_said_by_class_say_the_same():
    """Percentiles of routes for all classes, and of the same ones given class by class; 1e-9."""
    graph = ModelGraph("g").station(
        "x", MM1(0.1), service_times={"a": 0.1, "b": 0.05}, discipline="ps"
    )
    graph = graph.station("y", MM1(0.05)).job_class("a", 3.0).job_class("b", 4.0)
    each = graph.route("x", "y", 0.7, "a").route("x", "y", 0.7, "b").at().solve()
    every = graph.route("x", "y", 0.7).at().solve()
    for name in ("class a.response_time_p99", "class b.response_time_p50", "response_time_p95"):
        assert each[name] == pytest.approx(every[name], rel=1e-9)


def test_sweeps_and_saturated_points():
    """Every point as alone; a class that comes to a full station takes for ever."""
    graph = fork().declare("rate").job_class("d", "rate", arrives="z")
    solution = graph.at(rate=[0.5, 2.0, 9.0]).solve().with_percentile(95)
    for k, rate in enumerate((0.5, 2.0)):
        alone = graph.at(rate=rate).solve()
        assert solution["class a.response_time_p95"][k] == alone["class a.response_time_p95"]
    assert solution["class a.response_time_p95"][2] == np.inf
    assert np.isfinite(solution["class b.response_time_p95"][2])


def closed(*stations, jobs=(2, 2), think=(1.0, 0.5), order="fcfs"):
    """Two classes that go round stations, a from the first on and b from the last back."""
    graph = ModelGraph("g")
    for name, station, times in stations:
        graph = graph.station(name, station, None, times, order)
    names = [name for name, _, _ in stations]
    for c, way in (("a", names), ("b", names[::-1])):
        for source, target in pairwise(way):
            graph = graph.route(source, target, 1.0, c)
        graph = graph.route(way[-1], way[0], 1.0, c)
    for c, number, time, way in zip("ab", jobs, think, (names, names[::-1]), strict=True):
        graph = graph.job_class(c, population=number, think_time=time, reference=way[0])
    return graph


@pytest.mark.parametrize("order", ["fcfs", "ps", "siro", "lcfs", "priority", "preemptive"])
def test_a_closed_job_takes_as_long_as_the_solution_says(order):
    """Means of the laws are those of the chain, whatever the discipline; 1e-6."""
    graph = closed(
        ("x", MM1(1.0), {"a": 0.2, "b": 0.7}), ("y", MMm(1.0, 2), {"a": 0.5, "b": 0.3}), order=order
    )
    if "pri" in order or order == "preemptive":
        graph = replace(
            graph,
            classes={n: {**graph.classes[n], "priority": of_number(k)} for k, n in zip((2, 1), "ab",
                     strict=True)},
        )  # fmt: skip
    solution = graph.at().solve(method="chain")
    laws = class_route_laws(solution)
    for name in "ab":
        assert laws[name].mean == pytest.approx(solution[f"class {name}.response_time"], rel=1e-6)
        assert laws[name].notes == ()


@settings(max_examples=10)
@given(st.integers(0, 30))
def test_laws_of_closed_networks_have_their_means(number):
    """Random ones without delays; 1e-6."""
    solution = model(2 * number).solve()
    for name, law in class_route_laws(solution).items():
        mean = solution[f"class {name}.response_time"] if name else solution.response_time
        assert law.mean == pytest.approx(mean, rel=1e-6)


def test_closed_jobs_in_a_line_take_as_long_as_the_theorem_says():
    """No job overtakes: the exact law of lines, which knows no chain; 1e-5."""
    line = ModelGraph("g").station("x", MM1(0.2)).station("y", MM1(0.3)).route("x", "y")
    known = line.at().solve(population=5, think_time=1.0).with_percentiles([50, 95, 99.9])
    graph = ModelGraph("g").station("x", MM1(0.2)).station("y", MM1(0.3)).route("x", "y", 1.0, "a")
    graph = graph.route("x", "y", 1.0, "b")
    graph = graph.job_class("a", population=3, think_time=1.0)
    graph = graph.job_class("b", population=2, think_time=1.0)
    solution = graph.at().solve().with_percentiles([50, 95, 99.9])
    assert solution.approximation == ""
    for share in ("50", "95", "99.9"):
        for name in ("", "class a.", "class b."):
            time = solution[f"{name}response_time_p{share}"]
            assert time == pytest.approx(known[f"response_time_p{share}"], rel=1e-5)


def test_closed_jobs_that_change_and_think_for_no_time():
    """A chain of classes; means as the solution has them, 1e-6, and one that nobody begins as."""
    graph = ModelGraph("g").station("x", MM1(1.0), None, {"a": 0.2, "b": 0.7}, "ps")
    graph = graph.route("x", "x", 0.5, "a", "b").route("x", "x", 0.5, "a")
    graph = graph.route("x", "x", 1, "b", "a")
    graph = graph.job_class("a", population=3, reference="x").job_class("b", population=0)
    solution = graph.at().solve()
    for name, law in class_route_laws(solution).items():
        mean = solution[f"class {name}.response_time"] if name else solution.response_time
        assert law.mean == pytest.approx(mean, rel=1e-6)


@pytest.mark.slow
def test_what_is_not_known_says_why(tmp_path):
    mixed = fork().job_class("d", population=3, think_time=1.0, reference="x").at().solve()
    with pytest.raises(GraphError, match="not for both: a is open and d closed; simulate"):
        mixed.with_percentile(99)
    large = closed(("x", MM1(0.2), {}), ("y", MM1(0.1), {}), jobs=(40, 40)).at().solve()
    with pytest.raises(GraphError, match="state by state: .* states than the 10,000 .*; simulate"):
        large.with_percentile(99)
    spread = closed(("x", MG1(0.2, 2.0), {}), ("y", MM1(0.1), {})).at().solve()
    with pytest.raises(GraphError, match="state by state: services must be exponential"):
        spread.with_percentile(99)
    path = tmp_path / "large.toml"
    path.write_text(closed(("x", MM1(0.2), {}), jobs=(40, 300)).at().to_toml(), encoding="utf-8")
    assert "more states than the 10,000" in refusal("solve", path, "--percentile", "99")


def test_open_jobs_that_come_back_are_labelled():
    """A few are within their label; those who come back often are refused."""
    back = fork().route("y", "x", 0.1, "b", "a").at().solve().with_percentile(99)
    assert BACK in back.approximation
    often = fork().route("y", "x", 0.7, "b", "b").route("x", "y", 1.0, "b").at().solve()
    with pytest.raises(GraphError, match="g: .*rarely come back.* times on average.*; simulate"):
        often.with_percentile(99)


def test_the_command_says_them_by_class(tmp_path):
    path = tmp_path / "fork.toml"
    path.write_text(fork().at().to_toml(), encoding="utf-8")
    point = json.loads(headway("solve", path, "--percentile", "99", "--json").out)["points"][0]
    assert (
        point["classes"]["a"]["response_time_p99"]
        == fork().at().solve()["class a.response_time_p99"]
    )
    assert "a_response_time_p99_s" in headway("solve", path, "--percentile", "99", "--csv").out
    assert "p99 [ms]" in headway("solve", path, "--percentile", "99").out


@pytest.mark.slow
@pytest.mark.parametrize("kind", PAGES)
def test_the_tables_of_the_page_and_the_labels_follow_from_the_files(kind):
    """The largest errors stored are those that labels state, rounded up to whole percents."""
    page, table = accuracy(), stored(kind)
    for line in lines(table, kind):
        assert line in page, line
    rows, alike = errors(table, kind)
    for label, some in LABELS[kind]:
        largest = 100 * np.abs(rows[np.isin(alike, some)]).max()
        assert f"up to the 99th within {np.ceil(largest):.0f}%" in label


LABELS = {
    "own": [(ALIKE, [True]), (UNLIKE, [False])],
    "back": [(BACK, [True, False])],
    "common": [(COMMON, [False])],
}


@pytest.mark.slow
def test_the_table_of_closed_classes_follows_from_its_file():
    """Queues alone are within simulations' intervals, 0.5% beside; delays within their label."""
    page, table = accuracy(), closed_journeys.stored()
    for line in closed_journeys.lines(table):
        assert line in page, line
    rows, beyond, delays = closed_journeys.errors(table)
    assert beyond[~delays].max() < 5e-3
    assert f"up to the 99th within {np.ceil(100 * rows[delays].max()):.0f}%" in SMOOTHED
