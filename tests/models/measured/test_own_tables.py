"""Tables that people wrote: their cells, and what is said of their columns by options."""

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import HeadwayError, InvalidParameter, MeasurementError, UnitError
from headway.models import Measurements
from headway.models.measured.columns import response_column
from headway.models.measured.points import Loop
from headway.models.measured.statistic import percentile_of
from headway.models.reading.hints import Hints
from headway.models.reading.loadtest import points_of, read_load_test
from tests.support.command import headway, refusal

SHEET = """\
Users;Requests/sec;Average;99% Line;CPU;Host;note_ms
1;199,2;5,02;8;12%;a;see below
2;386,1;5,18;9;23%;a;3
4;683,8;5,85;;41%;a;
8;963,9;8,30;16;70%;a;
16;1.003,1;15,95;31;99%;a;
"""
HINTS = ("--unit", "Average=ms", "--unit", "99% Line=ms", "--role", "Average=response_time")


@pytest.fixture
def sheet(tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text(SHEET)
    return path


def cells(*lines, decimal=""):
    table = Measurements.parse("\n".join(["a;b", *lines]), "own.csv", decimal)
    return [table.column(name).values.tolist() for name in table.columns]


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        (["3,4;1"], [[3.4], [1]]),
        (["3,4;1.234"], [[3.4], [1234]]),  # one table, one convention
        (["1,234.5;1,234"], [[1234.5], [1234]]),
        (["1.234.567;1,5"], [[1234567], [1.5]]),
        (["1 234,5;7"], [[1234.5], [7]]),
        (["1\u202f234,5;7"], [[1234.5], [7]]),
        (["1'234.5;7"], [[1234.5], [7]]),
        (["0,123;1"], [[0.123], [1]]),  # no thousands begin with 0
        (["1234,567;1"], [[1234.567], [1]]),
        (["1.234;5.678"], [[1.234], [5.678]]),  # a lone point is a decimal one
        (["3.4;1,5"], [[3.4], [1.5]]),  # each column by itself where it tells
        (["-1,5e3;1"], [[-1500], [1]]),
        (["12%;12%"], [[0.12], [0.12]]),
    ],
)
def test_the_decimal_mark_is_found(lines, values):
    assert cells(*lines) == values


def test_what_reads_both_ways_is_asked_for():
    for lines in (["1,234;1"], ["1,234;2,5", "1,500;3.4"]):
        table = Measurements.parse("\n".join(["a;b", *lines]), "own.csv")
        with pytest.raises(MeasurementError, match=r"own.csv:2: a is '1,234', which may be"):
            table.column("a")
    assert cells("1,234;1", decimal=",") == [[1.234], [1]]
    assert cells("1,234;1", decimal=".") == [[1234], [1]]
    with pytest.raises(MeasurementError, match="b_s is '1.5', not a number; the decimal mark"):
        Measurements.parse("a_s;b_s\n1;1.5\n", "own.csv", ",").column("b")


@given(
    st.lists(st.decimals(0, 10**9, places=2), min_size=1, max_size=5),
    st.sampled_from([(".", ","), (",", "."), (",", " "), (".", "'"), (".", "")]),
)
def test_numbers_of_two_places_are_read_in_any_convention(numbers, marks):
    decimal, thousands = marks

    def written(number):
        text = f"{number:,.2f}".replace(",", "t").replace(".", decimal)
        return text.replace("t", thousands)

    table = Measurements.parse("\n".join(["load;x", *(f"{written(n)};1" for n in numbers)]), "a")

    assert table.column("load").values.tolist() == [float(n) for n in numbers]
    assert set(table.column("load").resolution.tolist()) == {0.005}


@pytest.mark.parametrize(
    ("header", "cell", "message"),
    [
        ("p99_ms", "12%", "p99_ms is '12%', but the column is in ms"),
        ("errors", "-3%", "errors is -3%; it cannot be negative"),
        ("load_ops_s", "1.2.3", "'1.2.3', not a number"),
        ("load_ops_s", "1,23,4", "'1,23,4', not a number"),
        ("load_ops_s", "1e999", "not a finite number"),
    ],
)
def test_bad_cells_are_said_once_they_are_asked_for(header, cell, message):
    table = Measurements.parse(f"x;{header}\n1;{cell}\n", "own.csv")

    assert list(table.columns) == ["x"]
    with pytest.raises(MeasurementError, match="own.csv:2: ") as refused:
        table.column(header)
    assert message in str(refused.value)


def test_cells_in_per_cent_and_not_are_not_mixed():
    table = Measurements.parse("errors\n12%\n3\n", "own.csv")
    with pytest.raises(
        MeasurementError, match="own.csv:3: errors is '3', but other cells are in %"
    ):
        table.column("errors")


def test_a_held_complaint_is_frozen_goes_through_pickle_and_stays_with_its_rows():
    table = Measurements.parse("load_ops_s,response_ms,note_ms\n1,2,x\n3,4,5\n", "own.csv")
    again = pickle.loads(pickle.dumps(table))  # noqa: S301 - our own bytes

    assert again.spoilt["note_ms"].complaint == "own.csv:2: note_ms is 'x', not a number"
    assert len(again.only(again.column("load").values > 1).spoilt["note_ms"].values) == 1
    with pytest.raises(AttributeError):
        again.spoilt["note_ms"].complaint = ""


def test_a_sheet_is_read_with_what_is_said_of_it(sheet):
    document = json.loads(headway("read", sheet, *HINTS, "--json").out)
    first, last = document["points"][0], document["points"][-1]

    assert (last["population"], last["throughput"]) == (16, 1003.1)
    assert (last["response_time"], last["response_time_p99"]) == (0.01595, 0.031)
    assert first["utilisation"] == {"cpu": 0.12}
    assert first["loop"] == "closed"
    assert document["points"][2]["response_time_p99"] is None
    roles = {each["column"]: each["role"] for each in document["columns"]}
    assert roles == {
        "Users": "population", "Requests/sec": "throughput", "Average": "response time",
        "99% Line": "response time p99", "CPU": "utilisation cpu", "note_ms": None, "Host": None,
    }  # fmt: skip
    table = headway("read", sheet, *HINTS).out
    assert (
        "population from Users, throughput from Requests/sec, response time from Average" in table
    )
    assert "not used: note_ms, Host" in table


def test_every_command_takes_what_is_said(sheet, tmp_path):
    model = ("server-single", "--set", "delay=4ms")
    for command in (
        ("compare", *model),
        ("fit", *model, "--free", "service_time"),
        ("sensitivity", *model, "--free", "service_time"),
    ):
        result = headway(*command, "--data", sheet, *HINTS, "--decimal", ",")
        assert result.code == 0, result.err
        assert "Average, Requests/sec over Users" in " ".join(result.out.split())
    out = tmp_path / "page.html"
    assert headway("report", *model, "--data", sheet, *HINTS, "--out", out).code == 0
    assert "Average, Requests/sec over Users" in out.read_text()
    audited = headway("audit", sheet, *HINTS)
    assert "response time from Average" in " ".join(audited.out.split())
    columns = json.loads(headway("audit", sheet, *HINTS, "--json").out)["columns"]
    assert {"column": "Average", "unit": "ms", "role": "response time", "why": None} in columns
    signed = headway("signature", "sfs", sheet, *HINTS, "--x", "Requests/sec", "--json").out
    assert json.loads(signed)["y"] == "Average"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--unit", "Averag=ms"), "there is no column 'Averag'; did you mean Average"),
        (("--role", "Averag=throughput"), "there is no column 'Averag'; did you mean Average"),
        (("--unit", "Average=mss"), "unit of column 'Average': unit 'mss' is not known; did you"),
        (("--unit", "Requests/sec=ms"), "Requests/sec is in op/s, not ms; drop --unit"),
        (("--unit", "Average"), "--unit Average: write COLUMN=VALUE, such as --unit rate=ms"),
        (("--unit", "Host=ms"), "2: Host is 'a', not a number"),
        (("--role", "Average=latenzy"), "'latenzy' is not a column role; "),
        (("--role", "Average=throughput"), "column Average has no unit in its name; as throughput"),
        (("--role", "Users=users", "--role", "CPU=population"), "both be the population"),
        (("--role", "Users="), "--role Users=: write COLUMN=VALUE, such as --role rate=through"),
        (("--decimal", "x"), "decimal is 'x'; it must be . or ,"),
        (
            (*HINTS, "--decimal", "."),
            "2: Average is '5,02', not a number; use --decimal to change the decimal mark",
        ),
        ((), "column 99% Line has no unit in its name; as response time p99 it needs one"),
    ],
)
@pytest.mark.parametrize("command", ["read", "compare"])
def test_what_is_said_wrongly_is_refused(sheet, command, options, message):
    given = ("--data", sheet) if command == "compare" else (sheet,)
    before = ("server-single", "--set", "delay=4ms") if command == "compare" else ()
    if command == "compare" and not options:
        given, message = (*given, "--y", "Average"), "column Average has no unit in its name"
    assert message in refusal(command, *before, *given, *options)


def test_what_may_be_one_thing_or_another_is_said_with_how_to_say_it(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("rate_per_s,cpu_util,latency_ms\n10,85,3\n")
    load_test = read_load_test([str(path)])

    assert [str(each) for each in load_test.columns if not each.role] == [
        "rate_per_s (throughput or offered rate? --role rate_per_s=throughput)",
        "cpu_util (it may be a share or per cent: --unit cpu_util=% or --unit cpu_util=1)",
    ]
    message = refusal("compare", "server-single", "--set", "delay=1ms", "--data", path)
    assert message.endswith(
        "rate_per_s may be throughput or offered rate: use --role rate_per_s=throughput"
    )
    hints = Hints({"cpu_util": "%"}, {"rate_per_s": "offered_rate"})
    point = read_load_test([str(path)], hints=hints).points[0]
    assert (point.offered_rate, dict(point.utilisation)) == (10, {"cpu": 0.85})


def test_a_table_of_nothing_known_is_refused(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("a,b\n1,2\n")
    assert "no column has a known role (a, b); give one, such as --role" in refusal("read", path)


def test_a_role_that_is_said_goes_before_the_titles():
    table = Measurements.parse("latency_ms,p95_ms,clients\n1,2,3\n", "own.csv")
    mean = Hints(roles={"p95_ms": "response_time"}).of(table)
    tail = Hints(roles={"latency_ms": "p99"}).of(table)

    assert response_column(mean).header == "p95_ms"
    assert percentile_of("own.csv", response_column(mean)) is None
    assert percentile_of("own.csv", tail.column("latency_ms")) == 99
    assert Hints(roles={"clients": "none"}).of(table).column("clients").role == "none"


def test_roles_of_every_kind_become_parts_of_points():
    text = (
        "arrival_rate_ops_s,throughput_ops_s,response_ms,median_ms,p99_9_ms,errors,samples,"
        "duration_s,think_time_s,cpu_util,cores,outstanding\n9,8,3,2,7,1,500,60,0.5,0.25,4,0.3\n"
    )
    [point] = points_of(text, "own.csv")

    assert (point.offered_rate, point.throughput, point.response_time) == (9, 8, 0.003)
    assert dict(point.percentiles) == {50: 0.002, 99.9: 0.007}
    assert (point.errors, point.samples, point.duration, point.think_time) == (1, 500, 60, 0.5)
    assert dict(point.utilisation) == {"cpu": 0.25}
    assert dict(point.more) == {"cores": 4, "outstanding": 0.3}
    assert point.loop is None
    assert points_of("clients,rps\n1,2\n", "own.csv")[0].loop is Loop.CLOSED


def test_what_read_writes_is_read_as_the_same_points(sheet, tmp_path):
    out = tmp_path / "curve.csv"
    assert headway("read", sheet, *HINTS, "--out", out).code == 0
    hints = Hints({"Average": "ms", "99% Line": "ms"}, {"Average": "response_time"})
    first, again = read_load_test([str(sheet)], hints=hints), read_load_test([str(out)])
    words = ("file", "tool", "loop", "name", "notes", "utilisation")
    for one, other in zip(first.points, again.points, strict=True):
        ours, theirs = one.document(), other.document()
        assert [ours.pop(word) for word in words][1:] == [theirs.pop(word) for word in words][1:]
        assert {k for k, v in ours.items() if v is None} == {k for k in theirs if theirs[k] is None}
        for name, value in ours.items():
            if value is not None:  # Tolerance: one more unit, there and back.
                assert value == pytest.approx(theirs[name], rel=1e-12)


def test_hints_in_python(sheet):
    table = Measurements.read(sheet, {"Average": "ms"}, {"Average": "response_time"}, ",")

    assert response_column(table).values[0] == pytest.approx(5.02e-3, rel=1e-12)
    with pytest.raises(InvalidParameter, match=r"decimal is ';'; it must be \. or ,"):
        Measurements.read(sheet, decimal=";")
    with pytest.raises(UnitError, match="unit of column 'Average'"):
        Measurements.read(sheet, {"Average": "K"})
    with pytest.raises(HeadwayError, match="is not a column role"):
        Measurements.read(sheet, role={"Average": "mean thing"})


TYPED = {
    "aligned": "Throughput (ops/s)   Latency (ms)\n   1000   1.2\n  12000   9.5\n",
    "brackets end titles": "Throughput (ops/s) Latency (ms)\n1000 1.2\n12000 9.5\n",
    "decimal commas": "kops/s lat_ms\n1 1,2\n12 9,5\n",
    "titles in a comment": "# typed on Monday\n# kops/s lat_us\n1 1200\n# the knee\n\n12 9500\n",
}


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED)
def test_blanks_separate_the_columns_of_a_typed_table(text, tmp_path):
    path = tmp_path / "typed.txt"
    path.write_text(text)

    points = read_load_test([path]).points

    assert [point.throughput for point in points] == [1000, 12000]
    assert [point.response_time for point in points] == pytest.approx([1.2e-3, 9.5e-3])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1000 1.2\n2000 1.3\n", "begin with titles"),
        ("offered load mean response\n1000 1.2\n", "2 columns need 2 titles"),
        ("kops/s lat_ms\n1 1.2\n2 1.3 4\n", "no column has a known role"),
        ("kops/s lat_ms\n1 1.2\n2 fast\n", "no column has a known role"),
    ],
)
def test_typed_tables_with_a_fault_are_refused(text, why, tmp_path):
    path = tmp_path / "typed.txt"
    path.write_text(text)

    assert why in refusal("read", path)


def test_a_lone_column_of_times_is_proposed_as_the_response_time(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("kops/s,server avg us,host\n1,1200,a\n2,1400,a\n4,1900,a\n8,9000,a\n")

    said = refusal("fit", "server", "--data", path)

    assert said.endswith("say --role 'server avg us=response_time'")
    option = said.partition("say ")[2].replace("'", "").removeprefix("--role ")
    assert headway("fit", "server", "--data", path, "--role", option).code == 0
