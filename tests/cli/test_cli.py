import json
import shlex
import subprocess
import sys

import numpy as np
import pytest

from headway.cli.main import COMMANDS
from headway.cli.sweeps import sweep
from headway.errors import InvalidParameter
from headway.models import Measurements, catalogue_model, data_path
from headway.models.language.units import unit
from tests.support.command import headway, refusal
from tests.support.figures import logp_text, sizes_text
from tests.support.places import DATA

RAID = data_path("network_sensitivity/table_a_5_raid_performance.csv")
JSIMG = DATA / "peer_models/open_1class_1stat_mm1k.jsimg"


def test_help_lists_every_command_and_imports_none():
    result = headway("--help")

    assert result.code == 0
    assert all(line in result.out for line in COMMANDS.values())


def test_a_group_that_is_asked_nothing_shows_its_help():
    result = headway("signature")

    assert result == headway("signature", "--help")
    assert (result.code, result.err) == (0, "")
    assert len(result.out.splitlines()) > 5


def test_the_name_alone_greets_with_three_commands_that_run():
    result = headway()

    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert len(lines) <= 10
    assert max(map(len, lines)) <= 80
    typed = [line.partition("   ")[0] for line in (line[2:] for line in lines if line[:2] == "  ")]
    commands = [shlex.split(line)[1:] for line in typed if line]
    assert [name for name, *_ in commands] == ["audit", "fit", "solve"]
    for command in commands[::2]:  # the tutorial fits
        assert headway(*command).code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_and_fits_a_screen(name):
    result = headway(name, "--help")

    assert result.code == 0
    assert COMMANDS[name] in result.out
    lines = result.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 24


SERVER = """
name = "server"
[parameters]
arrival_rate = "390 op/s"
[stations.server]
kind = "MMm"
service_time = "8.1 ms"
servers = 4
[arrivals]
server = { timeout = "100 ms", retries = 3 }
"""


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("fits_once")
def test_each_example_runs_as_printed(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "curve.csv").write_text(RAID.read_text())
    (tmp_path / "signature.csv").write_text(logp_text())
    (tmp_path / "netgauge.out").write_text(sizes_text())
    (tmp_path / "shop.jsimg").write_text(JSIMG.read_text())
    (tmp_path / "server.toml").write_text(SERVER)
    for build, time in (("before", 10), ("after", 10.1)):
        points = f"1,{1000 / time},{time}\n2,150,13"
        (tmp_path / f"{build}.csv").write_text(f"clients,throughput_ops_s,response_ms\n{points}\n")
    kinds = [(), ("sfs",), ("logp",), ("loggp",)] if name == "signature" else [()]
    for kind in kinds:
        text = headway(name, *kind, "--help").out
        assert max(map(len, text.splitlines())) <= 80
        assert len(text.splitlines()) <= 24
        usage = text.partition("\n\n")[0].removeprefix("Usage: ").replace("\\\n", "")
        *forms, every = [shlex.split(line) for line in usage.splitlines()]
        assert len(forms) == 2
        assert all(form[: 2 + len(kind)] == ["headway", name, *kind] for form in (*forms, every))
        shorter, longer = forms
        for form in forms if set(shorter) - set(longer) else [longer]:
            assert headway(*form[1:]).code == 0, form


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("650us", [650e-6]),
        ("1,2,5", [1, 2, 5]),
        ("1,2,5 ms", [1e-3, 2e-3, 5e-3]),
        ("200us,1ms", [2e-4, 1e-3]),
        ("1:4", [1, 2, 3, 4]),
        ("0:1:0.1", np.arange(11) / 10),
        ("1:3:1ms", [1e-3, 2e-3, 3e-3]),
        ("5:1:-2", [5, 3, 1]),
        ("1e-3", [1e-3]),
    ],
)
def test_sweeps(value, expected):
    np.testing.assert_allclose(sweep(value, unit("s"), "x"), expected, rtol=1e-12)


@pytest.mark.parametrize("value", ["1:2:3:4", "1:2:0", "2:1:1", "0:1:1e-9"])
def test_sweeps_refused(value):
    with pytest.raises(InvalidParameter):
        sweep(value, unit("s"), "x")


def test_two_sweeps_make_a_grid():
    result = headway(
        "solve", "nfs-server", "--set", "arrival_rate=100,200", "--set", "disks=4,8", "--json"
    )

    points = json.loads(result.out)["points"]
    values = [(p["inputs"]["arrival_rate"], p["inputs"]["disks"]) for p in points]
    assert values == [(100, 4), (100, 8), (200, 4), (200, 8)]


def test_csv_reads_back_with_units():
    result = headway("solve", "nfs-server", "--set", "arrival_rate=100:500:100", "--csv")

    read = Measurements.parse(result.out, "out.csv")
    assert read.column("arrival_rate").values.tolist() == [100, 200, 300, 400, 500]
    assert str(read.column("response_time").unit) == "s"


def test_tables_are_plain_text_in_a_pipe():
    result = headway("compare", "nfs-server", "--preset", "raid", "--data", RAID)

    assert result.code == 0
    assert "\x1b" not in result.out
    assert "27.2% at 696" not in result.out  # over all points the worst is elsewhere
    assert "28.3% at 1503 op/s" in result.out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--set", "cpu_time=1ms", "--set", "disks=12"], "set: cpu_time 1 ms, disks 12"),
        (["--preset", "scsi", "--set", "cpu_time=1ms"], "set: cpu_time 1 ms"),
        (["--set", "arrival_rate=100,200", "--set", "cpu_time=1ms"], "set: cpu_time 1 ms"),
        (["--closed", "8", "--think", "20ms"], "set: population 8, think_time 20 ms"),
        (["--set", "cpu_time=650us"], None),  # the model's own
        (["--preset", "scsi", "--set", "disks=24"], None),  # the preset's own
        (["--set", "arrival_rate=100,200"], None),  # a column shows it
    ],
)
def test_a_table_says_what_was_set(arguments, line):
    printed = headway("solve", "nfs-server", *arguments).out.splitlines()

    assert [text for text in printed if text.startswith("set")] == ([line] if line else [])


def test_python_s_tables_say_what_was_set_too():
    model = catalogue_model("server-single")

    assert "set: service_time 0.5 ms" in str(model.solve(service_time=0.0005))
    assert "set: population 8" in str(model.solve(population=8))
    assert "set:" not in str(model.at(service_time=0.0005).at(service_time=0.001).solve())
    assert model.at(service_time=0.0005).at(service_time=0.001) == model


def test_pictures_in_every_format(tmp_path):
    for ending in ("svg", "png", "pdf"):
        path = tmp_path / f"out.{ending}"
        result = headway(
            "compare", "nfs-server", "--preset", "raid", "--data", RAID, "--plot", path
        )
        assert result.code == 0
        assert path.stat().st_size > 5000
    assert list(tmp_path.glob(".out*")) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "nfs-sever"], "did you mean nfs-server"),
        (["solv"], "there is no command 'solv'; did you mean solve"),
        (["solve", "nothing.toml"], "nothing.toml: there is no such file"),
        (["solve", "nfs-server", "--preset", "riad"], "did you mean raid?"),
        (["solve", "nfs-server", "--set", "disk=3"], "did you mean disks"),
        (["solve", "nfs-server", "--set", "disks"], "write NAME=VALUE"),
        (["solve", "nfs-server", "--set", "cpu_time=3MB"], "needs time"),
        (["solve", "nfs-server", "--set", "cpu_time=-1us"], "cpu_time is -1 us"),
        (["solve", "nfs-server", "--set", "cpu_time=-1ms"], "it must be 0 us or more"),
        (["solve", "nfs-server", "--set", "disks=2.5"], "whole number"),
        (["solve", "nfs-server", "--set", "disks=0"], "disks is 0; it must be 1 or more"),
        (["solve", "nfs-server", "--set", "arrival_rate=-5"], "it must be 0 op/s or more"),
        (["solve", "nfs-server", "--set", "cpu_time=abc"], "not a finite number"),
        (["solve", "nfs-server", "--plot", "x.gif"], "pictures end in .svg"),
        (["solve", "nfs-server", "--plot", "x.svg"], "needs a swept input"),
        (["solve", "nfs-server", "--plto", "x.svg"], "did you mean --plot?"),
        (["compare", "nfs-server"], "give a model and --data FILE, or two load tests"),
        (["compare", "nfs-server", "--data", "nothing.csv"], "there is no such file"),
        (["compare", "nfs-server", "--data", RAID, "--x", "load"], "there is no column 'load'"),
        (["compare", "nfs-server", "--data", RAID, "--from", "5 ms"], "--from is '5 ms'"),
        (["signature", "sfs", "nothing.csv"], "there is no such file"),
        (["signature", "nfs", "nothing.csv"], "there is no command 'nfs'; did you mean sfs?"),
        (["show", "nfs-server", "--preset", ""], "no preset"),
        (["grow"], "there is no command 'grow'; there are models, kinds, "),
        (["solve"], "MODEL is missing; as in headway solve nfs-server --preset raid --set"),
        (["import", "shop.toml"], "shop.toml: is a model file of headway; use it as it is"),
        (["solve", "."], ".: is a folder; give the path of a model file in it"),
        (["solve", "nfs-server", "--plot"], "--plot needs a value"),
        (["solve", "nfs-server", "--method", "exakt"], "--method: there is no method 'exakt'"),
        (["kinds", "extra"], "headway kinds does not take 'extra'; as in headway kinds"),
        (["kinds", "--csv=no"], "--csv takes no value"),
        (["size", "nfs-server"], "raid --target 'response_time<=15ms' --choose disks=4:32 --cost"),
        (["next", "x", "--target", "p99<=3ms"], "as in response_time_p99<=300ms"),
    ],
)
def test_refused_in_one_line(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    line = refusal(*arguments)

    assert message in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("100,3.4\n200,4\n", "no header"),
        ("throughput_ops_s,response_ms\n100,3.4\n", "needs at least 3 points; this range has 1"),
        ("throughput_ops_s,wait_ms\n100,3.4\n", "there is no column 'response_time'"),
        ("throughput_ops_s,response_ms\n100,x\n", "curve.csv:2: response_ms is 'x'"),
        ("throughput_ops_s,response_ms\n100,nan\n", "not a finite number"),
        ("throughput_ops_s,response_ms\n100,-1\n", "it cannot be negative"),
        ("throughput_ops_s,response_kg\n100,1\n", "'kg' in response_kg is not a known unit"),
    ],
)
def test_bad_curves(text, message, tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text(text)

    assert message in refusal("signature", "sfs", path)


def test_show_in_every_form(monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    assert "of the touched data" in headway("show", "nfs-server").out
    assert "assumptions: Requests arrive" in headway("show", "nfs-server").out
    assert json.loads(headway("show", "nfs-server", "--json").out)["name"] == "nfs-server"
    assert 'kind = "MMm"' in headway("show", "nfs-server", "--toml").out
    forms = headway("show", "nfs-server", "--formula").out
    line = next(x for x in forms.splitlines() if x.startswith("response_time = "))
    for name in ("delay", "cpu_time", "disk_time", "disks", "memory", "touched_per_load"):
        assert name in line


def test_models_in_every_form():
    assert "nfs-server" in headway("models").out
    entries = json.loads(headway("models", "--json").out)["models"]
    assert {"scsi", "raid"} <= set(
        next(e for e in entries if e["model"] == "nfs-server")["presets"]
    )
    assert headway("models", "--csv").out.startswith("model,presets,")


def python(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


HEAVY = ("sympy", "pandas", "matplotlib", "scipy", "networkx")
OTHERWISE = (
    *("rich", "cattrs", "attr", "tomli_w", "jinja2"),
    *("json", "csv", "html", "tempfile", "zipfile", "importlib.metadata"),
    "headway.models.solving.closed.closed_values",
    "headway.models.solving.classes.class_values",
    "headway.models.solving.response_times.percentiles",
    "headway.queueing.network.network",
    "headway.queueing.closed.demands",
)
"""What other commands need, or other models: a table in a pipe takes none of it."""


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["--help"], (*HEAVY, "numpy", "rich")),
        (["sweep", "--help"], HEAVY),
        (["solve", "nfs-server", "--preset", "raid"], (*HEAVY, *OTHERWISE)),
        (["show", "nfs-server"], (*HEAVY, *OTHERWISE)),
        (["compare", "nfs-server", "--data", str(RAID)], HEAVY),
    ],
)
def test_no_command_imports_what_it_does_not_use(arguments, unwanted):
    code = (
        "import sys, conftest, contextlib, io\n"
        "from headway.cli.main import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        f"    main({arguments!r})\n"
        f"print([name for name in {unwanted!r} if name in sys.modules])"
    )

    assert python(code).strip() == "[]"


def test_solving_a_model_reads_no_other_file_of_the_catalogue():
    code = (
        "import sys, tomllib, contextlib, io\n"
        "read, loads = [], tomllib.loads\n"
        "tomllib.loads = lambda text: read.append(text) or loads(text)\n"
        "from headway.cli.main import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "    main(['solve', 'nfs-server', '--preset', 'raid'])\n"
        "print([loads(text)['name'] for text in read])"
    )

    assert python(code).strip() == "['nfs-server']"


def test_a_command_ends_without_collecting_what_the_system_takes_back():
    code = (
        "import gc, sys\n"
        "sys.argv = ['headway', '--version']\n"
        "gc.freeze = lambda: print('left to the system')\n"
        "from headway.cli.main import main\n"
        "main()"
    )

    assert python(code).splitlines()[-1] == "left to the system"
