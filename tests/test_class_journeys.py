"""Percentiles of open classes that go ways of their own: exact, labelled, or refused."""

import json

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import GraphError
from headway.models import ModelGraph
from headway.models.solving.classes.journeys import ALIKE, UNLIKE, journey_laws
from headway.queueing import MM1, Delay, MMm
from headway.queueing.times.inversion import exceedance
from tests.command import headway, refusal
from tests.journey_errors import errors, lines, stored
from tests.pages import accuracy

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
    laws = journey_laws(solution)
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
    assert "up to the 99th within 7 %" in twice.approximation


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
    laws = journey_laws(solution) if graph.ways_by_class else {}
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


def test_what_is_not_known_says_why(tmp_path):
    back = fork().route("y", "x", 0.1, "b", "a").at().solve()
    with pytest.raises(GraphError, match="g: .*no job comes back to a station.* to x; simulate"):
        back.with_percentile(99)
    closed = fork().job_class("d", population=3, think_time=1.0, reference="x").at().solve()
    with pytest.raises(GraphError, match="not for closed ones such as d; simulate"):
        closed.with_percentile(99)
    path = tmp_path / "back.toml"
    path.write_text(fork().route("y", "x", 0.1, "b", "a").at().to_toml(), encoding="utf-8")
    assert "jobs come back to x" in refusal("solve", path, "--percentile", "99")


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


def test_the_table_of_the_page_and_the_labels_follow_from_the_file():
    """The largest errors stored are those that labels state, rounded up to whole percents."""
    page = accuracy()
    for line in lines(stored()):
        assert line in page, line
    rows, alike = errors(stored())
    for label, some in ((ALIKE, rows[alike]), (UNLIKE, rows[~alike])):
        assert f"within {np.ceil(100 * np.abs(some).max()):.0f} %" in label
