"""Disciplines are declared once: what is known of each follows from its row."""

import json
import math
import pickle
import re
import sys

import mpmath
import numpy as np
import pytest
from jsonschema import Draft7Validator

from headway.errors import GraphError, InvalidParameter, ModelFileError, PackageError
from headway.models import ModelGraph, parse_model
from headway.models.files.editors import json_schema
from headway.models.importing.writing import to_jmva
from headway.queueing import (
    MG1,
    MM1,
    Discipline,
    JobClass,
    MGm,
    MMm,
    SharedStation,
    solve_multiclass,
)
from headway.queueing.disciplines.discipline import ProductForm, SojournLaw, Waiting
from headway.queueing.disciplines.table import DISCIPLINES, discipline_names, find_discipline
from tests.support.command import headway, refusal
from tests.support.outside import DISCIPLINE, make_package

POINT = {"headway.disciplines": "sjf = shortest:SHORTEST"}
FILE = """name = "short"

[parameters]
arrival_rate = "{rate} op/s"

[stations.cpu]
kind = "{kind}"
service_time = "1 s"
discipline = "sjf"
"""
CLASSES = """name = "two"

[classes.web]
arrival_rate = "0.4 op/s"

[classes.batch]
arrival_rate = "0.2 op/s"

[stations.cpu]
kind = "MM1"
service_time = { web = "0.5 s", batch = "2 s" }
discipline = "sjf"
"""


@pytest.fixture
def shortest(tmp_path, monkeypatch):
    """A package of one file and one row that adds shortest job first."""
    make_package(tmp_path, "shortest", {"__init__.py": DISCIPLINE}, POINT)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("shortest", None)


def phipps(streams, own=0):
    """Mean wait of exponential streams (rate, mean time), integrated over the work of one."""
    residual = sum(rate * mean**2 for rate, mean in streams)

    def shorter(x):
        return sum(r * m * (1 - mpmath.exp(-x / m) * (1 + x / m)) for r, m in streams)

    time = streams[own][1]

    def density(x):
        return residual / (1 - shorter(x)) ** 2 * mpmath.exp(-x / time) / time

    return float(mpmath.quad(density, [0, time, 4 * time, 16 * time, 64 * time, mpmath.inf]))


def solved(text, method="auto"):
    return parse_model(text).solve(method=method)


class TestTable:
    @pytest.mark.parametrize("name", DISCIPLINES)
    def test_a_name_finds_one_value(self, name):
        found = Discipline(name)
        assert found == name
        assert found is find_discipline(name)
        assert found.name == str(found) == name
        assert pickle.loads(pickle.dumps(found)).form is found.form  # noqa: S301
        assert found.doc
        assert found.words
        assert found.waits

    def test_names_of_an_enumeration_find_them(self):
        assert list(Discipline) == list(DISCIPLINES) == discipline_names()
        assert Discipline.FCFS == "fcfs"
        assert Discipline.SHARING.shares
        assert not hasattr(Discipline, "SECOND")

    def test_an_unknown_name_is_refused_with_those_there_are(self):
        with pytest.raises(InvalidParameter, match="unknown discipline 'lifo'; it must be one of"):
            Discipline("lifo")

    def test_product_forms_are_those_of_bcmp_and_kelly(self):
        assert {each for each in Discipline if each.form is ProductForm.ANY} == {"ps", "lcfs"}
        assert {each for each in Discipline if each.pool_form is ProductForm.ANY} == {"ps"}

    def test_who_is_next(self):
        first, later = Waiting(1, 2, 3.0), Waiting(2, 1, 2.0)
        own = ("ps", "fcfs", "siro", "lcfs", "priority", "preemptive")
        next_one = [min((first, later), key=Discipline(name).turn).number for name in own]
        assert next_one == [1, 1, 1, 2, 2, 2]

    def test_without_a_product_form_for_any_times_it_looks_at_them(self):
        with pytest.raises(InvalidParameter, match="discipline lifo: it has a product form for eq"):
            Discipline("lifo", "the last is next")

    def test_a_value_needs_no_package_in_python(self):
        own = Discipline(
            "lifo",
            "the last is next",
            words="last in first out",
            form=ProductForm.ALIKE,
            waits=Discipline.FCFS.waits,
            times=SojournLaw.UNKNOWN,
        )
        graph = ModelGraph("one").station("cpu", MM1(0.5), discipline=own)
        assert graph.at(arrival_rate=1.0).solve().response_time == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(
    ("discipline", "times", "ranks", "words"),
    [
        ("fcfs", (0.5, 2.0), (), "different times in order of arrival, which has no product form"),
        ("siro", (0.5, 2.0), (), "different times in random order, which has no product form"),
        ("priority", (0.5, 0.5), (1, 2), "serves classes with priorities, which has no product"),
        ("preemptive", (0.5, 0.5), (1, 2), "serves classes with preemptive priorities, which has"),
        ("lcfs", (0.5, 2.0), (), ""),
        ("siro", (0.5, 0.5), (), ""),
        ("priority", (0.5, 0.5), (1, 1), ""),
    ],
)
def test_only_a_product_form_is_written_as_jmva(discipline, times, ranks, words):
    """A JMVA file stands for the product form of its network, whatever the discipline was."""
    names = ("web", "batch")
    graph = ModelGraph("two").station(
        "cpu", MM1(0.5), None, dict(zip(names, times, strict=True)), discipline
    )
    for name, rank in zip(names, ranks or (None, None), strict=True):
        more = {} if rank is None else {"priority": rank}
        graph = graph.job_class(name, population=2, think_time=1.0, **more)
    if words:
        with pytest.raises(ModelFileError, match=words):
            to_jmva(graph.at())
    else:
        assert "listation" in to_jmva(graph.at())


LIFO = Discipline(
    "lifo",
    "the last to arrive is next, without preemption",
    words="last in first out",
    how="last in first out",
    form=ProductForm.ALIKE,
    pool_form=ProductForm.ALIKE,
    scv=True,
    waits=Discipline.FCFS.waits,
)
"""Declares its means alone: those in order of arrival, as it does not look at service times."""


def lifo(times, *classes, **also):
    cpu = SharedStation("cpu", times, (1,) * len(times), discipline=LIFO, **also)
    return solve_multiclass([cpu], classes)


class TestWhatIsNotDeclared:
    """A discipline that declares its waits alone: more is refused by name, never approximated."""

    def test_open_classes_at_one_server_wait_alike(self):
        solution = lifo((0.5, 2.0), JobClass("a", 0.4), JobClass("b", 0.2))
        wait = (0.4 * 0.5**2 + 0.2 * 2.0**2) / (1 - 0.6)
        assert solution.response_time.tolist() == pytest.approx([0.5 + wait, 2 + wait], rel=1e-12)
        assert not solution.approximation

    def test_an_scv_matters(self):
        solution = lifo((0.5, 2.0), JobClass("a", 0.4), JobClass("b", 0.2), scv=(0.5, 3.0))
        wait = (0.4 * 0.5**2 * 1.5 + 0.2 * 2.0**2 * 4) / 2 / (1 - 0.6)
        assert solution.response_time.tolist() == pytest.approx([0.5 + wait, 2 + wait], rel=1e-12)

    def test_equal_times_have_a_product_form(self):
        solution = lifo((0.5, 0.5), JobClass("a", None, 2), JobClass("b", None, 1))
        assert solution.throughput.tolist() == pytest.approx([4 / 3, 2 / 3], rel=1e-12)

    def test_what_was_not_measured_is_refused(self):
        words = (
            "cpu: discipline lifo (last in first out with times that differ by class) has no app"
        )
        with pytest.raises(GraphError, match=re.escape(words)):
            lifo((0.5, 2.0), JobClass("a", None, 2), JobClass("b", None, 1))
        with pytest.raises(GraphError, match=re.escape(words)):
            lifo((0.5, 2.0), JobClass("a", 0.1), JobClass("b", 0.1), servers=2)

    def test_percentiles_forks_and_simulation_are_refused_by_name(self):
        graph = ModelGraph("one").station("cpu", MM1(0.5), discipline=LIFO)
        with pytest.raises(GraphError, match="cpu: headway cannot simulate discipline lifo, which"):
            graph.at(arrival_rate=1.0).simulate()
        with pytest.raises(GraphError, match="only mean response times are known for discipline l"):
            graph.at(arrival_rate=1.0).solve().with_percentile(95)
        with pytest.raises(GraphError, match="its branch cpu is lifo; a branch must serve in ord"):
            graph.station("disk", MM1(0.5)).fork("all", ["cpu", "disk"])

    def test_states_solve_small_networks_exactly(self):
        from dataclasses import replace

        from headway.queueing.network.routing import Routing

        known = replace(LIFO, states=Discipline.RANDOM.states)
        ways = Routing(np.ones((2, 1, 1)), np.zeros((2, 1, 1, 2, 1)))
        classes = [JobClass(name, population=1, think_time=1.0) for name in "ab"]
        answers = [
            solve_multiclass(
                [SharedStation("cpu", (0.5, 2.0), (1, 1), discipline=each)], classes, ways=ways
            )
            for each in (known, Discipline.RANDOM)
        ]
        assert answers[0].method == answers[1].method == "chain"
        assert answers[0].throughput.tolist() == answers[1].throughput.tolist()


@pytest.mark.usefixtures("shortest")
class TestShortestJobFirst:
    @pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
    def test_mean_of_exponential_times(self, rate):
        solution = solved(FILE.format(rate=rate, kind="MM1"))
        wait = phipps([(rate, 1.0)])
        assert solution.response_time == pytest.approx(1 + wait, rel=1e-9)
        assert solution["cpu.queue_length"] == pytest.approx(rate * (1 + wait), rel=1e-9)
        assert solution["cpu.utilisation"] == pytest.approx(rate, rel=1e-12)
        assert not solution.approximation
        assert wait < rate / (1 - rate)  # the wait in order of arrival

    def test_mean_of_times_with_an_scv(self):
        """Erlang times of two phases: F(x) = 1 - exp(-2 x) (1 + 2 x), with scv 1/2."""
        text = FILE.format(rate=0.6, kind="MG1") + "scv = 0.5\n"

        def shorter(x):
            return 0.6 * (1 - mpmath.exp(-2 * x) * (1 + 2 * x + 2 * x**2))

        def density(x):
            return 0.6 * 1.5 / 2 / (1 - shorter(x)) ** 2 * 4 * x * mpmath.exp(-2 * x)

        wait = float(mpmath.quad(density, [0, 1, 4, 16, 64, mpmath.inf]))
        assert solved(text).response_time == pytest.approx(1 + wait, rel=1e-9)

    def test_many_points_and_overload(self):
        graph = ModelGraph("one").station("cpu", MM1(1.0), discipline="sjf")
        times = graph.at(arrival_rate=[0.2, 0.7, 1.2]).solve()["cpu.residence_time"]
        exact = [1 + phipps([(rate, 1.0)]) for rate in (0.2, 0.7)]
        assert times.tolist() == pytest.approx([*exact, math.inf], rel=1e-9)

    def test_two_classes(self):
        solution = solved(CLASSES)
        streams = [(0.4, 0.5), (0.2, 2.0)]
        for own, (name, time) in enumerate((("web", 0.5), ("batch", 2.0))):
            exact = time + phipps(streams, own)
            assert solution[f"class {name}.response_time"] == pytest.approx(exact, rel=1e-9)
        assert not solution.approximation

    def test_two_classes_with_an_scv(self):
        text = CLASSES.replace('"MM1"', '"MG1"').replace(
            "discipline", "scv = { web = 0.5, batch = 1 }\ndiscipline"
        )

        def shorter(x):
            web = 0.2 * (1 - mpmath.exp(-4 * x) * (1 + 4 * x + 8 * x**2))
            return web + 0.4 * (1 - mpmath.exp(-x / 2) * (1 + x / 2))

        def density(x):
            left = (0.4 * 0.25 * 1.5 + 0.2 * 4 * 2) / 2
            return left / (1 - shorter(x)) ** 2 * 16 * x * mpmath.exp(-4 * x)

        wait = float(mpmath.quad(density, [0, 1, 4, 16, mpmath.inf]))
        assert solved(text)["class web.response_time"] == pytest.approx(0.5 + wait, rel=1e-9)

    def test_one_class_is_the_same_as_none(self):
        text = FILE.format(rate=0.5, kind="MM1").replace(
            "[parameters]\narrival_rate", "[classes.web]\narrival_rate"
        )
        assert solved(text)["class web.response_time"] == pytest.approx(
            1 + phipps([(0.5, 1.0)]), rel=1e-9
        )

    def test_simulation_holds_the_law(self):
        run = parse_model(FILE.format(rate=0.7, kind="MM1")).simulate(half_width=0.02, seed=3)
        exact = 1 + phipps([(0.7, 1.0)])
        assert run["response_time"].holds(exact)

    def test_simulation_of_classes_holds_the_law(self):
        run = parse_model(CLASSES).simulate(half_width=0.03, seed=5)
        exact = 0.5 + phipps([(0.4, 0.5), (0.2, 2.0)])
        assert run["class web.response_time"].holds(exact)

    def test_it_is_listed_and_written(self, tmp_path):
        text = FILE.format(rate=0.5, kind="MM1")
        listed = json.loads(headway("kinds", "--json").out)["disciplines"]
        schema = json.loads(headway("kinds", "--schema").out)
        path = tmp_path / "short.toml"
        path.write_text(text)
        tables = {"stations": {"cpu": {"kind": "MM1", "service_time": 1, "discipline": "sjf"}}}

        assert listed[-1] == {"discipline": "sjf", "doc": "the shortest job is next"}
        assert "the shortest job is next" in headway("kinds").out
        assert Draft7Validator(schema).is_valid({"name": "short", **tables})
        assert not Draft7Validator(json_schema()).is_valid({"name": "short", **tables})
        assert "MM1, sjf" in headway("show", str(path)).out
        assert parse_model(parse_model(text).to_toml()) == parse_model(text)
        assert parse_model(text).network.graph.stations["cpu"].discipline == "sjf"

    def test_what_is_not_known_is_refused_by_name(self, tmp_path):
        path = tmp_path / "short.toml"
        path.write_text(FILE.format(rate=0.5, kind="MM1"))
        needs = "mean waits under discipline sjf (shortest job first) are known only where one"
        closed = refusal("solve", str(path), "--closed", "3")
        tail = refusal("solve", str(path), "--percentile", "95")
        form = headway("show", str(path), "--formula").out

        assert "MM1 under discipline sjf has no closed product form" in closed
        assert "only mean response times are known for discipline sjf" in tail
        assert "mean waits under discipline sjf have no closed form" in form
        path.write_text(CLASSES.replace('arrival_rate = "0.2 op/s"', "population = 2"))
        assert needs in refusal("solve", str(path))
        path.write_text(CLASSES)
        assert "only mean response times are known for discipline sjf" in refusal(
            "solve", str(path), "--percentile", "95"
        )
        assert (
            "cpu serves the shortest job first, which has no closed form"
            in headway("show", str(path), "--formula").out
        )

    def test_networks_are_refused_by_name(self):
        one = ModelGraph("one").station("cpu", MM1(0.1), discipline="sjf")
        for graph in (
            one.station("disk", MM1(0.1)).route("cpu", "disk"),
            one.route("cpu", "cpu", 0.5),
            ModelGraph("one").station("cpu", MM1(0.1), visits=2.0, discipline="sjf"),
            ModelGraph("one").station("cpu", MMm(0.1, 2), discipline="sjf"),
        ):
            with pytest.raises(GraphError, match="mean waits under discipline sjf"):
                graph.at(arrival_rate=1.0).solve()

    def test_kinds_that_cannot_serve_by_it_are_named(self):
        with pytest.raises(GraphError, match=r"does not support the discipline sjf; .*MM1"):
            ModelGraph("one").station("cpu", MGm(0.5, 2, 2.0), discipline="sjf")
        graph = ModelGraph("one").station("cpu", MG1(0.5, 2.0), discipline="sjf")
        assert graph.at(arrival_rate=1.0).solve().response_time < MG1(0.5, 2.0).response_time(1.0)

    def test_classes_in_python(self):
        cpu = SharedStation("cpu", (0.5, 2.0), (1, 1), discipline="sjf")
        solution = solve_multiclass([cpu], [JobClass("a", 0.4), JobClass("b", 0.2)])
        exact = [0.5 + phipps([(0.4, 0.5), (0.2, 2.0)]), 2 + phipps([(0.4, 0.5), (0.2, 2.0)], 1)]
        assert solution.response_time.tolist() == pytest.approx(exact, rel=1e-9)
        assert pickle.loads(pickle.dumps(cpu)).discipline.by_size  # noqa: S301


def test_a_row_that_is_none_is_blamed_on_its_package(tmp_path, monkeypatch):
    make_package(tmp_path, "spoilt", {"__init__.py": "SJF = 'sjf'\n"},
                 {"headway.disciplines": "sjf = spoilt:SJF"})  # fmt: skip
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(PackageError, match=r"package spoilt: 'sjf' .* is not a headway\.queueing"):
        Discipline("sjf")
    assert "sjf" not in list(Discipline)
    sys.modules.pop("spoilt", None)
