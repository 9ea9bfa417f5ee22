"""Files of load tests: gathered from folders, patterns and archives, read into points by load."""

import io
import json
import math
import tarfile
import zipfile

import click
import pytest

from headway.cli import options
from headway.cli.options import measured
from headway.errors import MeasurementError
from headway.models.measured.columns import POPULATION, find
from headway.models.measured.points import Point, measurements_of
from headway.models.reading.gather import LARGEST_ARCHIVE, gather, unpacked
from headway.models.reading.hints import Hints
from headway.models.reading.loadtest import LoadTest, read_load_test
from headway.models.reading.recognise import read_any
from tests.models.reading.test_readers import SFSSUM_2008
from tests.support.command import headway, refusal
from tests.support.tool_files import TOOLS, sample

LOW = "throughput_ops_s,response_ms\n100,3.5\n"
HIGH = "throughput_ops_s,response_ms\n300,9\n"


@pytest.fixture
def runs(tmp_path):
    folder = tmp_path / "runs"
    (folder / "deep").mkdir(parents=True)
    (folder / "b.csv").write_text(HIGH)
    (folder / "deep" / "a.csv").write_text(LOW)
    (folder / ".hidden.csv").write_text("no table")
    return folder


def zipped(*files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in files:
            archive.writestr(name, text)
    return stream.getvalue()


def tarred(*files):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, text in files:
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return stream.getvalue()


def test_a_folder_gives_points_by_load(runs):
    test = read_load_test([str(runs)])
    assert [point.throughput for point in test.points] == [100, 300]
    assert [point.response_time for point in test.points] == [0.0035, 0.009]
    assert {point.tool for point in test.points} == {"CSV"}


@pytest.mark.parametrize("pattern", ["*.csv", "**/*.csv"])
def test_a_pattern_names_files(runs, pattern):
    names = [name.rpartition("/")[2] for name, _ in gather([str(runs / pattern)])]
    assert names == (["b.csv"] if pattern == "*.csv" else ["b.csv", "a.csv"])


@pytest.mark.parametrize(("pack", "ending"), [(zipped, "zip"), (tarred, "tgz")])
def test_an_archive_is_a_folder(tmp_path, pack, ending):
    path = tmp_path / f"runs.{ending}"
    path.write_bytes(pack(("b.csv", HIGH), ("a/a.csv", LOW)))
    test = read_load_test([str(path)])
    assert [point.file for point in test.points] == [f"{path}/a/a.csv", f"{path}/b.csv"]


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("name", ["../evil.csv", "/etc/passwd"])
def test_an_archive_stays_in_itself(pack, name):
    with pytest.raises(MeasurementError, match="outside the archive"):
        list(unpacked("runs.zip", pack((name, LOW))))


def test_an_archive_that_unpacks_to_much_is_refused(monkeypatch):
    monkeypatch.setattr("headway.models.reading.gather.LARGEST_ARCHIVE", 50)
    assert LARGEST_ARCHIVE == 256_000_000
    with pytest.raises(MeasurementError, match="unpacks to"):
        list(unpacked("bomb.zip", zipped(("a.csv", LOW * 10))))


def test_a_broken_archive_is_refused():
    with pytest.raises(MeasurementError, match="cannot be unpacked"):
        list(unpacked("a.zip", zipped(("a.csv", LOW)).replace(b"100,3.5", b"900,3.5")))


def test_a_file_that_cannot_be_read_is_named(runs):
    (runs / "c.csv").write_text("throughput_ops_s,response_ms\n1,x\n")
    line = refusal("read", runs)
    assert "c.csv:2: response_ms is 'x', not a number" in line
    result = headway("read", runs, "--skip-bad")
    assert result.code == 0
    assert "left out:" in result.out
    document = json.loads(headway("read", runs, "--skip-bad", "--json").out)
    assert [entry["file"] for entry in document["left_out"]] == [str(runs / "c.csv")]


def test_nothing_to_read_is_said(tmp_path):
    assert "is a folder without files; give one with result files" in refusal("read", tmp_path)
    assert "there is no such file" in refusal("read", tmp_path / "none.csv")
    assert "matches no file; check the pattern" in refusal("read", tmp_path / "*.json")


def test_the_contract_of_a_point(runs):
    document = json.loads(headway("read", runs / "b.csv", "--json").out)
    point = document["points"][0]
    names = {"file", "tool", "loop", "offered_rate", "population", "throughput", "response_time"}
    names |= {f"response_time_p{q}" for q in (50, 90, 95, 99)} | {"errors", "samples", "duration"}
    assert names <= set(point)
    assert (point["throughput"], point["response_time"]) == (300, 0.009)
    assert point["errors"] is None


def test_what_is_written_is_read_again(runs, tmp_path):
    out = tmp_path / "curve.csv"
    assert headway("read", runs, "--out", out).code == 0
    again = read_load_test([str(out)])
    assert [p.throughput for p in again.points] == [100, 300]
    assert [p.response_time for p in again.points] == pytest.approx([0.0035, 0.009])


def test_a_table_of_points_has_the_columns_that_are_filled():
    points = [
        Point("k6", throughput=10.0, percentiles={99.9: 0.5}, utilisation={"cpu": 0.5}),
        Point("k6", throughput=20.0, response_time=0.1, more={"bandwidth_bytes_s": 5.0}),
    ]
    table = measurements_of(points, "runs")
    assert list(table.columns) == [
        "throughput_ops_s", "response_s", "p99_9_s", "cpu_util", "bandwidth_bytes_s",
    ]  # fmt: skip
    assert math.isnan(table.column("response").values[0])
    with pytest.raises(MeasurementError, match="contains no measured point"):
        measurements_of([], "runs")


def test_data_may_be_a_folder_a_pattern_or_an_archive(runs, tmp_path):
    archive = tmp_path / "runs.zip"
    archive.write_bytes(zipped(("b.csv", HIGH), ("a.csv", LOW)))
    for place in (runs, runs / "**" / "*.csv", archive):
        table = measured(place)
        assert table.column("throughput").values.tolist() == [100, 300]
    assert len(measured(runs / "b.csv")) == 1


def test_kinds_of_files_are_listed_with_what_they_tell():
    table = headway("kinds", "--files").out
    assert "kinds of measured files" in table
    assert "kinds of station" not in table


LICENCE = "Permission is hereby granted, free of charge, to any person obtaining a copy.\n"
SCRIPT = "#!/bin/sh\nfor n in 1 2 4; do\n  wrk -c $n http://localhost\ndone\n"
BESIDE = {"LICENSE": LICENCE, "README.md": "# Runs\n\nOf May, 2, 2026.\n", "run.sh": SCRIPT}
LEFT_OUT = "contains no measurements: no reader recognises it, and it is not a table"


def beside(folder, **further):
    for name, text in {**BESIDE, **further}.items():
        (folder / name).write_text(text)
    (folder / "plot.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    return folder


def test_prose_and_scripts_among_outputs_are_left_out(runs):
    test = read_load_test([str(beside(runs))])
    assert [point.throughput for point in test.points] == [100, 300]
    names = [each.file.rpartition("/")[2] for each in test.left_out]
    assert names == ["LICENSE", "README.md", "plot.png", "run.sh"]
    assert [each.reason for each in test.left_out] == [
        f"{each.file}: {LEFT_OUT}" for each in test.left_out
    ]


def test_prose_in_an_archive_is_left_out(tmp_path):
    path = tmp_path / "runs.zip"
    path.write_bytes(zipped(("LICENSE", LICENCE), ("a.csv", LOW)))
    test = read_load_test([str(path)])
    assert [each.file for each in test.left_out] == [f"{path}/LICENSE"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cut.json", '{"fio version": "fio-3.33", "jobs": [{"jobname"'),
        ("cut.csv", "load_ops_s,response_ms\n1,x\n"),
        ("short.csv", "clients,latency_ms\n1,2,3\n"),
        ("wrk.txt", "Running 5s test @ http://localhost\n  2 threads and 8 connections\n"),
    ],
)
def test_what_may_be_a_spoilt_output_is_refused_in_a_folder_too(runs, name, text):
    with pytest.raises(MeasurementError, match=f"{name}.*; --skip-bad goes on without it$"):
        read_load_test([str(beside(runs, **{name: text}))])
    assert name in str(read_load_test([str(runs)], hints=Hints(skip_bad=True)).left_out)


NOTHING = {
    "unknown.json": '{"latency_of_something": 3}',
    "page.html": "<html><body>502 Bad Gateway</body></html>",
    "empty.txt": "",
    "blank.err": "\n\n",
    "plan.jmx": '<?xml version="1.0"?>\n<jmeterTestPlan version="1.2">\n</jmeterTestPlan>\n',
    "run_exceptions.csv": "Count,Message,Traceback,Nodes\n",
    "run_failures.csv": "Method,Name,Error,Occurrences\n",
    "plot.tsv": "starttime\tseconds\tctime\tdtime\tttime\twait\nMon\t1\t0\t3\t3\t3\n",
    "words.csv": "name,colour\na,red\nb,blue\n",
}


def test_what_no_reader_knows_is_left_out_of_a_folder_and_counted(runs):
    """By read, audit and fit alike, and in Python."""
    for name, text in NOTHING.items():
        (runs / name).write_text(text)
    test = read_load_test([str(runs)])
    assert [point.throughput for point in test.points] == [100, 300]
    assert {each.file.rpartition("/")[2] for each in test.left_out} == set(NOTHING)
    said = "left out: 2 empty, 7 of unknown kind: "
    assert said in " ".join(headway("read", runs).out.split())
    assert said in " ".join(headway("audit", runs).out.split())
    fitted = headway("fit", "server-single", "--free", "service_time", "--data", runs)
    assert fitted.err.startswith(said)
    assert fitted.err.count("\n") == 1


def test_a_report_on_several_files_says_what_it_left_out(runs):
    """As one on a folder does."""
    (runs / "d.csv").write_text("throughput_ops_s,response_ms\n150,3.6\n200,3.8\n250,4.2\n")
    (runs / "deep" / "e.csv").write_text("")
    page = ("--free", "service_time", "--out", runs.parent / "page.html")
    given = ("report", "server-single", "--data", runs / "deep", "--data", runs / "d.csv", *page)
    assert "left out: 1 empty: e.csv" in headway(*given).err


def test_what_completes_a_column_says_nothing_of_files(runs, capfd):
    (runs / "empty.txt").write_text("")
    context = click.Context(click.Command("fit"))
    context.params = {"data": (str(runs),)}
    assert "response_s" in options._complete_column(context, None, "")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("unknown.json", "is JSON of a kind that headway does not know; headway kinds --files"),
        ("plan.jmx", "is a test plan of JMeter, which headway does not read; read the results"),
        ("run_exceptions.csv", "is Locust's list of exceptions, which headway does not read"),
        ("plot.tsv", "for gnuplot, which headway does not read; read what ab prints"),
    ],
)
def test_what_is_named_is_refused_with_what_it_is(tmp_path, name, words):
    (tmp_path / name).write_text(NOTHING[name])
    assert words in refusal("read", tmp_path / name)
    assert words in refusal("fit", "server", "--data", tmp_path / name)


@pytest.mark.parametrize("command", ["read", "audit", "fit", "compare", "signature"])
def test_every_command_goes_on_without_bad_files(runs, command):
    (runs / "c.csv").write_text("throughput_ops_s,response_ms\n1,x\n")
    (runs / "d.csv").write_text("throughput_ops_s,response_ms\n150,3.6\n200,3.8\n250,4.2\n")
    given = {
        "read": ("read", runs),
        "audit": ("audit", runs),
        "fit": ("fit", "server-single", "--free", "service_time", "--data", runs),
        "compare": ("compare", "nfs-server", "--preset", "raid", "--data", runs),
        "signature": ("signature", "sfs", runs),
    }[command]
    assert "c.csv:2: response_ms is 'x', not a number" in refusal(*given)
    done = headway(*given, "--skip-bad")
    assert done.code == 0, done.err
    assert "c.csv:2: response_ms is 'x'" in " ".join((done.out + done.err).split())


def test_prose_that_is_named_is_refused(runs):
    with pytest.raises(MeasurementError, match="LICENSE"):
        read_load_test([str(beside(runs) / "LICENSE"), str(runs / "b.csv")])


def test_a_folder_of_nothing_lists_what_was_seen(tmp_path):
    folder = beside(tmp_path, **{"notes.txt": "nothing yet", "todo": "all", "more": "of it"})
    message = refusal("read", folder)
    expected = "seen: LICENSE, README.md, more, notes.txt, plot.png and 2 more"
    assert message == f"{folder}: contains no measured point ({expected})"


def test_what_else_a_tool_tells_is_shown_where_there_is_room():
    """iostat tells of queues and bytes; sixteen columns are more than a terminal shows."""
    points = (Point("t", throughput=2.0, more={"bandwidth_bytes_s": 2e6, "queue": 0.5}),)
    (table,) = LoadTest(points).tables()
    assert [column.name for column in table.columns] == ["throughput", "bandwidth", "queue"]
    assert str(table.columns[1].unit) == "MB/s"


def test_what_has_no_room_is_named_and_shown_on_demand(runs):
    path = TOOLS / "ycsb" / "basic_a_0.18.txt"
    plain, wide = headway("read", path).out, headway("read", path, "--wide").out
    assert "--wide shows further columns: " in plain
    assert "read_p99_s" in plain
    assert "--wide" not in wide
    assert "update_p99" in wide


def test_points_that_tell_no_load_come_last(runs):
    (runs / "p.csv").write_text(sample("ab/percentiles.csv"))
    points = read_load_test([str(runs)]).points
    assert [point.throughput for point in points] == [100, 300, None]
    assert "inf" not in headway("read", runs, "--json").out.lower()


def test_clients_of_sfssum_are_machines_and_no_population():
    table = read_any(SFSSUM_2008, "sfssum")
    assert find(table, POPULATION) is None
    assert "client_machines" in table.columns


@pytest.mark.parametrize("name", ["runs.tar.gz", "runs.tgz", "runs.tar"])
def test_data_may_be_any_archive_that_is_read(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(tarred(("a.csv", LOW), ("b.csv", HIGH)))

    assert len(measured(path)) == 2
