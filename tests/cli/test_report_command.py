"""``headway report``: what it writes, what it refuses, and what must not get into a page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from headway import audit, load, read
from headway.errors import GraphError
from headway.models import catalogue_model, data_path, retries
from headway.models.reports.contents import SECTIONS
from headway.models.reports.kinds.audited import AuditReport
from tests.support.cases import mostly_slow
from tests.support.command import headway, refusal
from tests.support.report_pages import PROGRAM, RAID, VENDOR, parsed

pytestmark = pytest.mark.usefixtures("fits_once")

TRACES = data_path("traces/open-010.otlp.jsonl.gz")
SEVERITIES = ("error", "warning", "note")
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>-->$x^$"


def test_what_was_set_by_hand_says_so(tmp_path):
    out = tmp_path / "x.html"
    headway(
        "report",
        "nfs-server",
        "--preset",
        "raid",
        "--set",
        "delay=3ms",
        "--data",
        RAID,
        "--out",
        out,
    )

    (table,) = (t for t in parsed(out.read_text()).every("table") if "Parameters of" in t.text)
    rows = {row.children[0].text: [c.text for c in row.children] for row in table.every("tr")}
    assert rows["delay"][1:3] == ["3 ms", "set by hand"]
    assert rows["cpu_time"][1:3] == ["0.65 ms", "preset raid: section 5.3.1 and Table A.6"]
    assert rows["arrival_rate"][1:3] == ["298 to 1503 op/s", "the data"]


@pytest.mark.slow
def test_other_seeds_of_chance_give_the_same_page(tmp_path):
    """One in a process of its own, the other here, where strings are hashed by another seed."""
    out = tmp_path / "raid.html"
    typed = ["report", "nfs-server", "--data", str(RAID), "--out", str(out)]
    code = f"import conftest; from headway.cli.main import main; main({typed!r})"
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    page = out.read_bytes()

    assert headway(*typed).code == 0

    assert out.read_bytes() == page


def test_what_comes_from_files_is_text_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quoted = HOSTILE.replace('"', '\\"')
    words = "\n".join(f'{key} = "{quoted}"' for key in ("name", "doc", "source", "assumptions"))
    model = (
        f'{words}\n[parameters]\ns = {{ value = "1 ms", doc = "{quoted}", source = "{quoted}" }}\n'
        '[stations.cpu]\nkind = "MM1"\nservice_time = "s"\n'
        f'[presets."{quoted}"]\ndoc = "{quoted}"\nsource = "{quoted}"\ns = "2 ms"\n'
    )
    (tmp_path / "hostile.toml").write_text(model)
    header = '"' + HOSTILE.replace('"', '""') + '"'
    data = tmp_path / "<b onclick=alert(3)>.csv"
    data.write_text(f"throughput_ops_s,response_ms,{header}\n100,3,{header}\n300,5,{header}\n")

    result = headway(
        "report", "hostile.toml", "--preset", HOSTILE, "--data", data.name, "--out", "page.html"
    )

    assert result.code == 0, result
    text = (tmp_path / "page.html").read_text()
    page = parsed(text)
    assert HOSTILE in page.text
    assert "<b onclick=alert(3)>.csv" in page.text
    assert not list(page.every("img", "b"))
    assert len(list(page.every("script"))) == 2
    assert not [n for n in page.every() if any(k.startswith("on") for k in n.attributes)]


def test_the_command_writes_a_page_and_says_so(tmp_path):
    out = tmp_path / "raid.html"
    arguments = ["report", "nfs-server", "--preset", "raid", "--data", str(RAID), "--out", str(out)]

    result = headway(*arguments)

    assert (result.code, result.out) == (0, "")
    assert result.err == f"wrote {out} ({out.stat().st_size / 1000:.0f} kB)\n"
    assert " ".join(["headway", *arguments]) in parsed(out.read_text()).text
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "x.html", "--free", "delay"], "--free needs measurements; give --data FILE"),
        (["--out", "x.html", "--set", "delay=1ms,2ms"], "give delay one value"),
        (["--data", "nothing.csv", "--out", "x.html"], "nothing.csv: there is no such file"),
        (["--data", RAID], "--out is missing; as in headway report"),
        (["--data", RAID, "--out", "x.pdf"], "the name of a page must end in .html"),
        (["--data", RAID, "--out", "no/x.html"], "cannot be written (there is no such folder)"),
        (["--data", RAID, "--out", "folder.html"], "cannot be written (it is a folder)"),
        (["--data", RAID, "--out", "/proc/x.html"], "cannot be written"),
        (["--data", RAID, "--out", "x.html", "--free", "speed"], "speed"),
        (["--data", RAID, "--out", "x.html", "--set", "arrival_rate=5000"], "saturates at"),
        (["--data", RAID, "--out", "x.html", "--set", "arrival_rate=1,2"], "several values"),
        (
            ["--data", RAID, "--out", "x.html", "--from", "9000"],
            "there is no load of 9000 op/s or more",
        ),
        (["--data", RAID, "--out", "x.html", "--y", "jitter"], "there is no column 'jitter'"),
        (["--data", "program.csv", "--out", "x.html"], "there is no column"),
    ],
)
def test_refused_in_one_line_and_nothing_written(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "program.csv").write_text(PROGRAM)
    before = sorted(tmp_path.rglob("*"))

    line = refusal("report", "nfs-server", *arguments)

    assert message in line
    assert sorted(tmp_path.rglob("*")) == before


def test_a_model_file_without_anything_in_it_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.toml").write_text('name = "empty"\n')

    line = refusal("report", "empty.toml", "--data", RAID, "--out", "x.html")

    assert "empty" in line
    assert not (tmp_path / "x.html").exists()


def test_a_model_without_data_has_a_page_of_its_own(tmp_path):
    out = tmp_path / "raid.html"

    result = headway("report", "nfs-server", "--preset", "raid", "--set", "delay=3ms", "--out", out)

    assert result.code == 0, result
    page = parsed(out.read_text())
    headings = [node.text for node in page.every("h2")]
    assert headings == [
        "What would change it",
        "How sure is this?",
        "The system",
        "Method",
        "Data",
        "How this page was made",
    ]
    assert "Assumptions" in page.text
    assert "measured" not in "".join(node.text for node in page.every("figcaption"))
    assert "set by hand" in page.text
    solution = catalogue_model("nfs-server").with_preset("raid").at(delay=3e-3).solve()
    assert f"{1e3 * float(solution.response_time):.4g} ms" in page.text
    assert len(list(page.every("input"))) == 2 * len(solution.model.parameters)


KINDS = ("server-closed", "program-overhead", "cluster-file-server")


@pytest.mark.parametrize("name", mostly_slow(KINDS, 2))
def test_models_of_every_kind_have_a_page(name, tmp_path):
    result = headway("report", name, "--out", tmp_path / "x.html")

    assert result.code == 0, result
    page = parsed((tmp_path / "x.html").read_text())
    assert "Sensitivities" in page.text


def test_several_runs_of_a_load_test_make_one_report(tmp_path):
    runs = sorted(map(str, data_path("load_tests/wrk").glob("*")))[:4]
    both = [part for run in runs for part in ("--data", run)]

    result = headway("report", "server-single", *both, "--out", tmp_path / "x.html")

    assert result.code == 0, result
    assert "4, all used" in parsed((tmp_path / "x.html").read_text()).text


def test_the_template_library_is_imported_for_reports_only():
    code = (
        "import sys, conftest; from headway.models import catalogue_model; "
        "catalogue_model('server').solve(); print('jinja2' in sys.modules)"
    )
    command = [sys.executable, "-c", code]

    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert out.strip() == "False"


def test_measurements_alone_make_a_page_of_their_audit(tmp_path):
    result = headway("report", "--data", "load_tests/wrk", "--out", tmp_path / "x.html")

    assert result.code == 0, result
    text = (tmp_path / "x.html").read_text()
    page = parsed(text)
    findings = audit(read("load_tests/wrk"))
    assert [node.text for node in page.every("h2")] == [
        "What would change it",
        "How sure is this?",
        "The system",
        "Data",
        "How this page was made",
    ]
    shown = [node.text for node in page.every("li") if node.text.partition(":")[0] in SEVERITIES]
    assert shown == [f"{each.severity.value}: {each.text}." for each in findings.findings]
    rows = {row.children[0].text: row.children[-1].text for row in page.every("tr")}
    assert rows["Little's law"] == "1"
    assert rows["ran out of clients"] == "none"
    assert "--wide" not in text
    typed = f"headway report --data load_tests/wrk --out {tmp_path}/x.html"
    assert AuditReport(findings, typed).to_html() == text


def test_a_test_without_findings_says_so(tmp_path):
    curve = tmp_path / "curve.csv"
    curve.write_text("throughput_ops_s,response_ms\n100,2.2\n300,2.9\n500,4\n")

    headway("report", "--data", curve, "--out", tmp_path / "x.html")

    page = parsed((tmp_path / "x.html").read_text())
    assert "None of the checks below found anything." in page.text


def test_a_family_is_chosen_from_the_forms_that_are_listed(tmp_path):
    out = tmp_path / "x.html"
    forms = "server-single,server-pool"
    result = headway("report", "server", "--forms", forms, "--data", VENDOR, "--out", out)

    assert result.code == 0, result
    (tried,) = (t for t in parsed(out.read_text()).every("table") if "tried" in t.text)
    names = [row.children[0].text for row in tried.every("tr")][1:]
    assert len(names) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "a report needs a model, measurements or both; give MODEL, --data FILE or both"),
        (["--data", RAID, "--free", "delay"], "--free needs a model; give MODEL"),
        (["--data", RAID, "--set", "delay=1ms"], "--set needs a model; give MODEL"),
        (["server", "--forms", "server-pool"], "--forms needs measurements; give --data FILE"),
        (["nfs-server", "--data", RAID, "--forms", "all"], "--forms needs server as the model"),
        (["nfs-server", "--data", RAID, "--baseline", RAID], "--baseline needs a page without a"),
        (["server", "--data", RAID, "--baseline", RAID], "--baseline needs a page without a model"),
        (["nfs-server", "--data", TRACES, "--from", "3"], "--from needs measurements in a table"),
    ],
)
def test_options_that_have_nothing_to_work_on_are_refused(arguments, message, tmp_path):
    assert message in refusal("report", *arguments, "--out", tmp_path / "x.html")


def test_a_page_without_data_tells_a_few_predictions(tmp_path):
    headway("report", "nfs-server", "--preset", "raid", "--out", tmp_path / "x.html")

    page = parsed((tmp_path / "x.html").read_text())
    (table,) = (t for t in page.every("table") if t.text.startswith("Predictions"))
    raid = catalogue_model("nfs-server").with_preset("raid")
    rows = [[cell.text for cell in row.children] for row in table.every("tr")][1:]
    assert len(rows) == 11  # the own load beside ten
    for rate, time, *_ in rows:
        # the table shows milliseconds with two decimals
        assert 1e3 * raid.solve(float(rate)).response_time == pytest.approx(float(time), abs=0.0051)


def answer_of(path):
    paragraphs = parsed(path.read_text()).every("p")
    return next(p.text for p in paragraphs if p.attributes.get("class") == "answer")


def test_a_target_is_answered_first(tmp_path):
    """Of M/M/1 with 2 ms besides, R = 2 ms + 1 ms / (1 - X / 1000): 12 ms at 900 op/s."""
    curve = tmp_path / "curve.csv"
    points = [(x, 2 + 1 / (1 - x / 1000)) for x in range(100, 900, 100)]
    scattered = [f"{x},{y * (1 + 0.01 * (-1) ** k):.4f}" for k, (x, y) in enumerate(points)]
    curve.write_text("\n".join(["throughput_ops_s,response_ms", *scattered]))
    out, given = tmp_path / "x.html", ["--target", "response_time<=12ms"]
    values = ["--set", "delay=2ms", "--set", "service_time=1ms", "--set", "arrival_rate=500"]

    headway("report", "server-single", *values, *given, "--out", out)
    assert answer_of(out) == "Up to 900 op/s keep the mean response time under 12 ms."

    headway("report", "server", "--forms", "server-single", "--data", curve, *given, "--out", out)
    text = r"Up to (\S+) op/s \(95%: (\S+) to (\S+)\) keep the mean response time under 12 ms\."
    value, low, high = map(float, re.fullmatch(text, answer_of(out)).groups())
    assert low <= 900 <= high
    assert low <= value <= high
    assert "highest load" in parsed(out.read_text()).text


ASKS_AGAIN = """
name = "again"
[parameters]
arrival_rate = "390 op/s"
[stations.server]
kind = "MMm"
service_time = "8.1 ms"
servers = 4
[arrivals]
server = { timeout = "100 ms", retries = 1 }
"""
APART = """
name = "apart"
[parameters]
arrival_rate = "60 /s"
[stations.disk]
kind = "MM1"
service_time = "8 ms"
[arrivals]
disk = "arrival_rate + 20"
"""


def test_a_server_that_retries_may_bring_down_says_so_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "again.toml").write_text(ASKS_AGAIN)

    headway("report", "again.toml", "--out", "x.html")

    found = retries(load("again.toml")).tipping
    low, high = (f"{rate:.1f} op/s" for rate in (found.folds.vanishes, found.folds.tips))
    said = answer_of(tmp_path / "x.html")
    assert said.startswith(f"They can: between {low} and {high} a burst can tip it over")
    page = parsed((tmp_path / "x.html").read_text())
    assert "Erlang" not in page.text  # its law knows nobody who asks again
    states, response = map(page.text.index, ("Attempts over the load", "Predictions over"))
    assert states < response  # the chart of the first screen is of what is asked
    with pytest.raises(GraphError, match="its clients give up"):
        load("again.toml").closed_form("response_time")


def test_the_load_that_saturates_is_that_of_the_chart(tmp_path, monkeypatch):
    """A disk of 8 ms, to which 20 requests/s come besides, takes 125 - 20 = 105 more."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "apart.toml").write_text(APART)

    headway("report", "apart.toml", "--out", "x.html")

    assert answer_of(tmp_path / "x.html").startswith("Up to 105 requests/s, where the queue grows")


@pytest.mark.parametrize(
    ("arguments", "question", "answer"),
    [
        (
            ["server-pool", "--set", "delay=1ms", "--set", "service_time=10ms", "--set",
             "servers=5", "--set", "arrival_rate=220", "--over", "office", "--target",
             "response_time<=5ms"],
            "Does server-pool hold up all day?",
            r"No: the mean is over 5 ms for [\d.]+ minutes; worst at 10:\d\d, where .*",
        ),
        (
            ["--data", "runs", "--baseline", "runs"],
            "Is the new build slower?",
            r"(No|Undecided): the response time did not change .*",
        ),
    ],
)  # fmt: skip
def test_a_day_and_two_builds_have_pages_of_the_same_order(
    arguments, question, answer, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for clients in ("01", "02", "04", "08"):  # four loads: few forms have so few parameters
        name = f"connections-{clients}.txt"
        (tmp_path / "runs" / name).symlink_to(data_path("load_tests/wrk") / name)
    out = tmp_path / "x.html"

    headway("report", *arguments, "--out", out)

    page = parsed(out.read_text())
    assert [node.text for node in page.every("h1")] == [question]
    assert re.fullmatch(answer, answer_of(out)), answer_of(out)
    order = [section.heading for section in SECTIONS]
    shown = [node.text for node in page.every("h2")][:-1]
    assert shown == [heading for heading in order if heading in shown]
    assert len(list(page.every("svg"))) >= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["server", "--target", "throughput>=5"], "a load is sought under a limit"),
        (["--data", RAID, "--target", "response_time<=5ms"], "--target needs a model"),
        (["server", "--over", "office", "--data", RAID], "--data needs a page without --over"),
        (["server", "--method", "fluid"], "--method needs a load over time; give --over DAY"),
        (["server", "--over", "office", "--method", "mva"], "mva"),
        (["program-overhead", "--target", "response_time<=5ms"], "response_time"),
    ],
)
def test_targets_and_days_that_cannot_be_answered_are_refused(arguments, message, tmp_path):
    assert message in refusal("report", *arguments, "--out", tmp_path / "x.html")


def test_a_day_is_solved_by_the_method_asked_for(tmp_path):
    pool = ["--set", "delay=1ms", "--set", "service_time=10ms", "--set", "servers=5"]
    out = tmp_path / "x.html"
    headway("report", "server-pool", *pool, "--over", "office", "--method", "fluid", "--out", out)
    assert "method: fluid" in parsed(out.read_text()).text


def test_the_how_to_quotes_the_answer_of_its_page(tmp_path):
    given = ["--preset", "raid", "--target", "response_time<=20ms", "--out", tmp_path / "x.html"]
    headway("report", "nfs-server", *given)

    how_to = Path(__file__).parents[2] / "docs/how-to/write-a-page.md"
    assert answer_of(tmp_path / "x.html") in " ".join(how_to.read_text().split())
