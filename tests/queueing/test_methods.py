"""The table of methods: what a row says is what is done, and a package adds one by one row."""

import json
import sys
from dataclasses import replace

import pytest

from headway.errors import GraphError, InvalidParameter, PackageError
from headway.models import catalogue_model
from headway.queueing import (
    MM1,
    Delay,
    JobClass,
    MMm,
    SharedStation,
    solve_closed,
    solve_multiclass,
)
from headway.queueing.methods.method import Answers
from headway.queueing.methods.registry import methods, methods_at
from tests.brute.kinds import drawn
from tests.brute.rows import TITLES, hold, main, stored
from tests.support.cases import mostly_slow
from tests.support.command import headway, refusal
from tests.support.outside import METHOD, make_package

POINT = {"headway.methods": "bard = bard_package:BARD"}


@pytest.fixture
def bard(tmp_path, monkeypatch):
    """A package of one file and one row that adds Bard's approximation."""
    make_package(tmp_path, "bard_package", {"__init__.py": METHOD}, POINT)
    monkeypatch.syspath_prepend(str(tmp_path))
    methods_at.cache_clear()
    yield
    sys.modules.pop("bard_package", None)
    methods_at.cache_clear()


def by_hand(demands, think, jobs):
    """Bard's fixed point by scalars: throughputs of the classes; demands by class and station."""
    queue = [0.0] * len(demands[0])
    for _ in range(5_000):
        stays = [[d * (1 + q) for d, q in zip(row, queue, strict=True)] for row in demands]
        rates = [n / (z + sum(r)) for n, z, r in zip(jobs, think, stays, strict=True)]
        queue = [sum(x * r[k] for x, r in zip(rates, stays, strict=True))
                 for k in range(len(queue))]  # fmt: skip
    return rates


@pytest.mark.usefixtures("bard")
class TestAMethodOfAnotherPackage:
    stations = (SharedStation("cpu", (0.2, 0.5), (1, 1)), SharedStation("disk", (0.4, 0.1), (1, 1)))
    classes = (JobClass("a", population=3, think_time=1.0), JobClass("b", population=2))
    file = """
    name = "two"
    [stations.cpu]
    kind = "MM1"
    discipline = "ps"
    service_time = { a = "200 ms", b = "500 ms" }
    [stations.disk]
    kind = "MM1"
    discipline = "ps"
    service_time = { a = "400 ms", b = "100 ms" }
    [classes.a]
    population = 3
    think_time = "1 s"
    [classes.b]
    population = 2
    [[routes]]
    from = "cpu"
    to = "disk"
    probability = 1
    """

    def test_it_is_right_for_one_class(self):
        solution = solve_closed([MM1(0.2), MM1(0.4)], [1, 1], 5, 1.0, method="bard")
        (rate,) = by_hand([[0.2, 0.4]], [1.0], [5])
        assert solution.throughput == pytest.approx(rate, rel=1e-9)
        assert solution.response_time == pytest.approx(5 / rate - 1.0, rel=1e-9)
        assert (solution.method, solution.approximation) == (
            "bard",
            "Bard's approximate mean value analysis",
        )

    def test_it_is_right_for_several_classes(self):
        solution = solve_multiclass(self.stations, self.classes, "bard")
        rates = by_hand([[0.2, 0.4], [0.5, 0.1]], [1.0, 0.0], [3, 2])
        linearizer = solve_multiclass(self.stations, self.classes, "linearizer")
        assert solution.throughput == pytest.approx(rates, rel=1e-9)
        assert solution.throughput != pytest.approx(linearizer.throughput, rel=1e-3)

    def test_it_solves_arrays_of_points(self):
        swept = solve_closed([MM1(0.2), Delay(0.4)], [1, 1], [1, 5, 9], 1.0, method="bard")
        for number, jobs in enumerate((1, 5, 9)):
            alone = solve_closed([MM1(0.2), Delay(0.4)], [1, 1], jobs, 1.0, method="bard")
            assert swept.throughput[number] == pytest.approx(alone.throughput, rel=1e-12)

    def test_it_solves_models_and_says_so(self, tmp_path):
        path = tmp_path / "two.toml"
        path.write_text(self.file)
        document = json.loads(headway("solve", path, "--method", "bard", "--json").out)
        rates = by_hand([[0.2, 0.4], [0.5, 0.1]], [1.0, 0.0], [3, 2])
        assert document["method"] == "bard"
        assert document["approximation"] == "Bard's approximate mean value analysis"
        found = document["points"][0]["classes"]["a"]
        assert found["throughput"] == pytest.approx(rates[0], rel=1e-9)
        assert "method: bard" in headway("solve", path, "--method", "bard").out
        assert "bard" in headway("solve", path, "--method", "bard", "--csv").out

    def test_it_is_listed_with_what_it_needs_and_may_miss(self, tmp_path):
        path = tmp_path / "two.toml"
        path.write_text(self.file)
        listed = json.loads(headway("methods", "--json").out)["methods"]
        assert listed[-1]["name"] == "bard"
        assert "bard" in headway("methods").out
        document = json.loads(headway("methods", path, "--json").out)
        row = next(row for row in document["methods"] if row["name"] == "bard")
        assert document["chosen"] == "exact"
        assert (row["applies"], row["exact"]) == (True, False)
        assert row["error"]["response_time"] == 100.0

    def test_numbers_of_jobs_are_refused_above_it(self, tmp_path):
        path = tmp_path / "two.toml"
        path.write_text(self.file)
        asked = refusal("solve", path, "--method", "bard", "--queue-lengths", "cpu")
        assert "an approximate solution has means only" in asked

    def test_what_it_cannot_solve_is_refused_by_name(self):
        with pytest.raises(GraphError, match="its speed depends on the number present"):
            solve_closed([MMm(0.2, 3)], [1], 5, 1.0, method="bard")
        with pytest.raises(GraphError, match="no class is closed"):
            solve_multiclass(self.stations, [JobClass(c, arrival_rate=0.1) for c in "ab"], "bard")


def test_what_is_no_row_is_refused(tmp_path, monkeypatch):
    make_package(
        tmp_path, "no_row", {"__init__.py": "ROW = 3\n"}, {"headway.methods": "x = no_row:ROW"}
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    methods_at.cache_clear()
    with pytest.raises(PackageError, match="MethodRow"):
        methods()
    monkeypatch.undo()
    methods_at.cache_clear()


def test_rows_are_named_once_and_have_words():
    for name, row in methods().items():
        assert row.name == name
        assert row.doc
        assert row.answers
        assert all(other in methods() for other in row.otherwise)


def test_a_name_that_gives_no_means_is_refused():
    with pytest.raises(InvalidParameter, match="does not give means"):
        catalogue_model("server-single").at(arrival_rate=1).solve(method="bounds")


JSON_KEYS = {"name", "answers", "applies", "reason", "exact", "error", "seconds"}


@pytest.mark.parametrize(("closed", "chosen"), [((), "open"), (("--closed", "45"), "convolution")])
def test_methods_of_a_model(closed, chosen):
    load = closed or ("--set", "arrival_rate=800")
    ask = ("methods", "nfs-server", "--preset", "raid", *load)
    document = json.loads(headway(*ask, "--json").out)
    assert (document["model"], document["chosen"]) == ("nfs-server", chosen)
    assert [row["name"] for row in document["methods"]] == list(methods())
    for row in document["methods"]:
        assert row.keys() == JSON_KEYS
        assert bool(row["reason"]) is not row["applies"]
        assert set(row["answers"]) <= set(Answers)
    applying = {row["name"]: row for row in document["methods"] if row["applies"]}
    assert applying[chosen]["exact"]
    assert chosen in headway(*ask).out
    assert len(headway(*ask, "--csv").out.splitlines()) == 1 + len(methods())


@pytest.mark.parametrize("first", mostly_slow(range(0, 200, 10), 1))
def test_every_method_holds_on_every_network_that_its_row_declares(first):
    """Ten random networks of 200; ``python -m tests.brute.rows --count 2000`` does so for more."""
    rows = [row for seed in range(first, first + 10) for row in hold(seed)]
    assert rows
    assert [str(row) for row in rows if row.is_wrong] == []


def test_what_misses_most_is_within_what_its_row_states():
    """Of 9,000 networks, those that approximations miss by more than half of what they state."""
    misses = stored()
    assert {one.method for one in misses} >= {"linearizer", "schweitzer", "aggregation"}
    assert [one for one in misses if not one.is_within] == []


@pytest.mark.slow
def test_stored_misses_are_those_that_are_found():
    """Four digits are stored; 1%, as fixed points end where their steps are small."""
    for one in stored()[:: max(len(stored()) // 2, 1)]:
        (row,) = (row for row in hold(one.seed) if row.method == one.method)
        for part in row.missed:
            if part in TITLES:
                assert getattr(one, part) == pytest.approx(row.missed[part], rel=1e-2, abs=1e-3)


def test_the_campaign_says_how_far_each_method_is_off(capsys):
    assert main(["--count", "1", "--seed", "0"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("1 networks held to their chains or simulations")
    assert "linearizer" in printed


def test_a_row_that_does_not_hold_is_found():
    """Schweitzer's answer for seed 0, if its row said that it were exact."""
    (row,) = (row for row in hold(0) if row.method == "schweitzer")
    assert not row.is_wrong
    assert replace(row, allowed=dict.fromkeys(row.allowed, 1e-6)).is_wrong


def test_a_network_that_no_method_solves_is_listed_with_the_reasons(tmp_path):
    """Classes of unlike times at a station with little room; only a simulation answers."""
    path = tmp_path / "little.toml"
    path.write_text(drawn(15).text)
    document = json.loads(headway("methods", path, "--json").out)
    rows = {row["name"]: row for row in document["methods"]}
    assert document["chosen"] is None
    assert [name for name, row in rows.items() if row["applies"]] == ["simulation"]
    assert "cannot share a MMmK" in rows["exact"]["reason"]
    assert "none, as none applies" in headway("methods", path).out


def test_a_program_has_no_method():
    assert "is a program without stations" in refusal("methods", "mpi-message")


def test_options_of_models_need_one():
    assert "need a model" in refusal("methods", "--closed", "3")
