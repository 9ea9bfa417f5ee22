"""Open or closed: what columns, numbers and names of files tell, and what is asked for."""

import json
import shutil

import numpy as np
import pytest

from headway.errors import MeasurementError
from headway.models import Measurements
from headway.models.measured.points import Loop, Point
from headway.models.reading.clients import NO_CLIENTS, NO_RATES, Told, driven, with_population
from headway.models.reading.loadtest import measurements_in, read_load_test
from headway.queueing import MM1, solve_closed
from tests.support.command import headway, refusal
from tests.support.tool_files import TOOLS

CLIENTS = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])


def closed_table(think=0.0, digits=4, column="outstanding", **further):
    """What a closed test of one server prints: exact answers, to so many digits."""
    each = [solve_closed([MM1(0.002)], [1.0], int(n), think) for n in CLIENTS]
    columns = {column: CLIENTS} if column else {}
    columns |= {
        "throughput_ops_s": [one.throughput for one in each],
        "response_ms": [1e3 * one.response_time for one in each],
        **further,
    }
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(f"{float(cell):.{digits}g}" for cell in row) for row in rows]
    return "\n".join([",".join(columns), *lines]) + "\n"


def table(text):
    return with_population(Measurements.parse(text, "a.csv"))


class TestColumns:
    @pytest.mark.parametrize("think", [0.0, 0.1])
    def test_requests_outstanding_that_were_set_are_the_population(self, think):
        known = table(closed_table(think))
        assert known.column("outstanding").role == "population"
        assert known.notes == ("closed: 1 to 32 clients (from outstanding)",)

    def test_a_think_time_closes_a_test(self):
        text = "outstanding,think_time_ms,throughput_ops_s\n1,10,90\n8,10,700\n"
        assert table(text).column("outstanding").role == "population"

    def test_requests_inside_that_were_measured_are_not(self):
        """Means of an open test: X R, rounded to two digits or to whole numbers."""
        rate = np.array([280.0, 400.0, 450.0, 475.0])
        time = 0.002 / (1 - 0.002 * rate)
        for decimals in (2, 0):
            inside = np.round(rate * time, decimals)
            rows = zip(inside, rate, 1e3 * time, strict=True)
            lines = ["outstanding,throughput_ops_s,response_ms"]
            lines += [",".join(f"{cell:.5g}" for cell in row) for row in rows]
            known = table("\n".join(lines))
            assert known.column("outstanding").role == ""
            assert not known.notes

    def test_whole_numbers_of_requests_inside_are_clients(self):
        known = table(closed_table(column=""))
        assert known.column("population").values.tolist() == CLIENTS.tolist()
        assert known.notes == ("closed: 1 to 32 clients (X R is a whole number at every point)",)

    @pytest.mark.slow
    def test_an_open_curve_is_hardly_ever_taken_for_closed(self):
        """Two thousand random open curves of 4 to 12 points, printed to four digits."""
        rng = np.random.default_rng(33)
        taken = 0
        for _ in range(2_000):
            share = np.sort(rng.uniform(0.05, 0.98, rng.integers(4, 13)))
            rate, servers = 1000 * share, rng.integers(1, 40)
            time = servers / 1000 * (1 + share ** rng.uniform(1, 20) / (1 - share))
            rows = zip(rate, 1e3 * time, strict=True)
            lines = [f"{x:.4g},{y:.4g}" for x, y in rows]
            known = table("\n".join(["throughput_ops_s,response_ms", *lines]))
            taken += bool(known.notes)
        assert taken <= 2  # 1e-4 each

    def test_an_offered_rate_or_a_population_is_all_there_is_to_know(self):
        assert not table(closed_table(offered_rate_ops_s=CLIENTS * 100)).notes
        assert not table(closed_table(clients=CLIENTS)).notes

    def test_a_fit_is_closed_and_says_so(self, tmp_path):
        path = tmp_path / "run.csv"
        path.write_text(closed_table(0.1))
        printed = " ".join(
            headway("fit", "server", "--forms", "server-single", "--data", path).out.split()
        )
        assert "closed: 1 to 32 clients (from outstanding)" in printed
        assert "population from outstanding" in headway("read", path).out
        document = json.loads(headway("read", path, "--json").out)
        assert document["notes"] == ["closed: 1 to 32 clients (from outstanding)"]
        assert {point["loop"] for point in document["points"]} == {"closed"}


def hey(folder, name, clients=8):
    """hey's report, whose clients it does not print, under a name."""
    source = next(path for path in sorted((TOOLS / "hey").glob("*.txt")))
    shutil.copy(source, folder / name)


def points(*named, loop=Loop.CLOSED, rate=10.0, time=0.1):
    return [Point("t", loop, throughput=rate, response_time=time, file=name) for name in named]


class TestNames:
    @pytest.mark.parametrize(
        "names",
        [
            ("u8_stats.csv", "u16_stats.csv"),
            ("c_8.txt", "c_16.txt"),
            ("qd8.json", "qd16.json"),
            ("a/t2-c8.txt", "a/t2-c16.txt"),
            ("users8/o.txt", "users16/o.txt"),
        ],
    )
    def test_a_number_that_varies_is_the_clients(self, names):
        known = driven(points(*names), NO_CLIENTS, NO_RATES)
        assert [point.population for point in known.points] == [8, 16]
        assert known.notes == ("closed: 8 to 16 clients (from names of files)",)

    def test_a_rate_that_was_asked_for(self):
        known = driven(points("R20.txt", "R40.txt", loop=Loop.OPEN), NO_CLIENTS, NO_RATES)
        assert [point.offered_rate for point in known.points] == [20, 40]
        assert known.notes == ("open: 20 to 40 requests/s asked for (from names of files)",)

    @pytest.mark.parametrize(
        "names", [("run1.txt", "run2.txt"), ("c8.txt", "c8-2.txt"), ("c8.txt",)]
    )
    def test_other_numbers_are_none(self, names):
        known = driven(points(*names), NO_CLIENTS, NO_RATES)
        assert known.notes == ()

    def test_names_that_contradict_the_numbers_are_not_believed(self):
        """Twenty requests inside, and names that speak of one and of two."""
        several = points("c1.txt", "c2.txt", rate=100.0, time=0.2)
        assert driven(several, NO_CLIENTS, NO_RATES).notes == ()

    def test_what_a_tool_prints_stands(self):
        printed = [
            Point("t", Loop.CLOSED, population=4, throughput=9.0, file=f"c{n}.txt") for n in (8, 16)
        ]
        known = driven(printed, NO_CLIENTS, NO_RATES)
        assert [point.population for point in known.points] == [4, 4]


class TestOptions:
    def test_clients_of_all_of_one_and_by_pattern(self):
        files = ["a/one.txt", "a/two.txt"]
        assert Told("--clients", ("8",)).of(files) == {"a/one.txt": 8, "a/two.txt": 8}
        assert Told("--clients", ("8", "two.txt=16")).of(files)["a/two.txt"] == 16
        assert Told("--rate", ("a/*.txt=5",)).of(files) == dict.fromkeys(files, 5)

    @pytest.mark.parametrize(
        ("texts", "words"),
        [
            (("one.txt=8",), "--clients gives no number for 1 of 2 files: two.txt; add --clients"),
            (("c{}.txt",), "--clients c{}.txt: matches none of the files one.txt, two.txt"),
        ],
    )
    def test_files_without_clients_are_named(self, texts, words):
        with pytest.raises(MeasurementError, match=words.replace("{", "\\{")):
            Told("--clients", texts).of(["one.txt", "two.txt"])

    @pytest.mark.parametrize("text", ["many", "-3", "0", "a.txt=", "nan"])
    def test_what_says_nothing_is_refused(self, text):
        assert f"--clients {text}: write a number for all files" in refusal(
            "read", "load_tests/wrk", "--clients", text
        )

    def test_a_number_that_contradicts_the_measurement_is_refused(self):
        several = points("a.txt", rate=100.0, time=0.2)
        with pytest.raises(MeasurementError, match="says 8, but 20 requests were inside"):
            driven(several, Told("--clients", ("8",)), NO_RATES)

    def test_a_closed_test_without_clients_is_asked_for_them(self, tmp_path):
        hey(tmp_path, "one.txt")
        shutil.copy(tmp_path / "one.txt", tmp_path / "two.txt")
        line = refusal("fit", "server", "--data", tmp_path)
        assert "waits for answers (a closed test), and its output does not say" in line
        assert "add --clients N" in line
        with pytest.raises(MeasurementError, match="closed test"):
            measurements_in(read_load_test([str(tmp_path)]))

    def test_names_answer_what_would_be_asked(self, tmp_path):
        hey(tmp_path, "c500.txt")
        hey(tmp_path, "c600.txt")
        test = read_load_test([str(tmp_path)])
        assert [point.population for point in test.points] == [500, 600]
        assert "closed: 500 to 600 clients (from names of files)" in headway("read", tmp_path).out
