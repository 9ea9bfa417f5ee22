"""Several outputs of one run count once; repeats count each."""

import shutil

from headway.models.measured.points import Loop, Point
from headway.models.reading import one_run
from headway.models.reading.loadtest import read_load_test
from headway.models.reading.one_run import Output, runs_of
from tests.support.tool_files import TOOLS


def counted(*outputs):
    return [(run.name, [each.name for each in others]) for run, others in runs_of(outputs)]


def point(**numbers):
    return [Point("t", **{"throughput": 100.0, "response_time": 0.02, **numbers})]


def test_outputs_of_one_name_and_alike_are_one_run():
    text = Output("a/c8.txt", "text", point())
    log = Output("a/c8.json", "log", point(throughput=100.4, samples=900.0))
    assert counted(text, log) == [("a/c8.json", ["a/c8.txt"])]


def test_a_purpose_at_the_end_of_a_name_is_not_part_of_it():
    totals = Output("run_stats.csv", "totals", point())
    history = Output("run_stats_history.csv", "history", point(samples=9.0))
    assert counted(totals, history) == [("run_stats_history.csv", ["run_stats.csv"])]


def test_repeats_are_of_one_kind():
    each = [Output(f"{n}.txt", "text", point(samples=900.0)) for n in ("c8", "c8-again")]
    assert len(counted(*each)) == 2


def test_what_differs_is_another_run():
    """Another throughput, another folder, another kind of load, or nothing in common."""
    one = Output("a/c8.txt", "text", point(loop=Loop.CLOSED))
    others = {
        "rate": Output("a/c8.json", "log", point(throughput=110.0)),
        "folder": Output("b/c8.json", "log", point()),
        "loop": Output("a/c8.json", "log", point(loop=Loop.OPEN)),
        "number": Output("a/c8.json", "log", [*point(), *point()]),
        "nothing": Output("a/c8.json", "log", [Point("t", utilisation={"cpu": 0.5})]),
    }
    assert {name: len(counted(one, other)) for name, other in others.items()} == dict.fromkeys(
        others, 2
    )


def test_without_a_name_in_common_the_same_requests_are_counted():
    summary = Output("summary.json", "summary", point(samples=1234.0))
    log = Output("points.ndjson", "log", point(samples=1234.0, duration=12.34))
    assert len(counted(summary, log)) == 1
    assert len(counted(summary, Output("points.ndjson", "log", point(samples=1235.0)))) == 2


def test_outputs_are_compared_with_those_of_their_name_only(monkeypatch):
    """Repeats by the thousand, in text and JSON: once each, not each with each."""
    compared = []
    agree = one_run._agree
    monkeypatch.setattr(
        one_run, "_agree", lambda *pair, named: compared.append(0) or agree(*pair, named=named)
    )
    outputs = [
        Output(f"a/c{n}.{kind}", kind, point(samples=900.0))
        for kind in ("txt", "json")
        for n in range(1000)
    ]
    assert len(counted(*outputs)) == 1000
    assert len(compared) == 1000


def test_what_one_output_leaves_open_another_fills():
    text = Output("c8.txt", "text", point(population=8.0, mean_of_rate=True))
    tail = Output(
        "c8.hdr", "tail", [Point("t", throughput=100.0, percentiles={99.0: 0.1, 50.0: 0.01})]
    )
    [(run, _)] = runs_of([text, tail])
    assert run.points[0].population == 8
    assert run.points[0].percentiles[99.0] == 0.1
    assert run.points[0].mean_of_rate


def test_a_folder_of_two_kinds_is_read_once(tmp_path):
    """A summary of k6 beside what else says the same of it."""
    shutil.copy(TOOLS / "k6" / "closed-summary.json", tmp_path / "run.json")
    [known] = read_load_test([str(tmp_path)]).points
    (tmp_path / "run.csv").write_text(
        f"throughput_ops_s,response_s\n{known.throughput:.3f},{known.response_time:.4f}\n"
    )
    test = read_load_test([str(tmp_path)])
    assert len(test.points) == 1
    assert [each.reason for each in test.left_out] == [
        f"{tmp_path}/run.csv: is another output of {tmp_path}/run.json"
    ]
