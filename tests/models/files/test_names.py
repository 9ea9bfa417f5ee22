"""Names and words of strangers: of any length, with controls, with marks of mathematics."""

from pathlib import Path

import pytest

from headway.errors import GraphError
from headway.models.files.reading import parse_model
from headway.models.structure.graph import ModelGraph
from headway.queueing import MM1
from tests.support.cases import mostly_slow
from tests.support.command import headway, refusal
from tests.support.small_files import HEAD, REST, SINGLE, model


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "{}"),
        ("solve", "{}.toml"),
        ("solve", "nfs-server", "--plot", "{}.svg"),
        ("signature", "sfs", "{}"),
        ("fit", *SINGLE, "--anyway", "--out", "{}.toml"),
        ("report", *SINGLE, "--out", "{}.html"),
    ],
    ids=lambda arguments: " ".join(map(str, (arguments[0], arguments[-1]))),
)
def test_names_longer_than_a_file_system_takes(arguments):
    refusal(*(str(word).format("x" * 300) for word in arguments))


@pytest.mark.parametrize("name", ['"\\u001b[31mred"', '"a\\u009bb"', '"a\\u202eb"', '"a\\nb"'])
def test_names_hold_no_controls(name, tmp_path):
    path = tmp_path / "m.toml"
    for text in (model(name=name), model(preset=name)):
        path.write_text(text)
        assert "control character" in refusal("show", path)
    with pytest.raises(GraphError):
        ModelGraph("\x1b[31mred")


def test_names_of_any_length_are_refused(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(model(name=f'"{"x" * 300}"'))

    assert len(refusal("show", path)) < 300


def test_columns_hold_no_controls(tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text("throughput_ops_s,response_ms,\x1b[31mred\n1,2,3\n")

    assert "control character" in refusal("signature", "sfs", path)


@pytest.mark.parametrize("control", ["\x1b[31m", "\x9b31m", "\x07", "\u202e"])
def test_words_are_shown_with_their_controls_written_out(control, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    escaped = "".join(f"\\u{ord(c):04x}" if not c.isprintable() else c for c in control)
    Path("m.toml").write_text(
        model(doc=f'"mark{escaped}"') + f'\n[outputs.x]\nformula = "1"\ndoc = "{escaped}"\n'
    )
    hostile = Path(f"curve{control}.csv")
    hostile.write_text(HEAD + REST)
    commands = [
        ("show", "m.toml"),
        ("show", "m.toml", "--toml"),
        ("solve", "m.toml"),
        ("signature", "sfs", hostile),
        (
            "compare",
            "nfs-server",
            "--preset",
            "raid",
            "--data",
            hostile,
            "--plot",
            f"{control}.svg",
        ),
        ("signature", "sfs", f"missing{control}"),
        ("solve", f"missing{control}"),
        ("solve", "m.toml", "--set", f"{control}=1"),
        (f"{control}",),
        ("solve", "m.toml", f"--{control}"),
    ]
    for command in commands:
        result = headway(*command)
        assert control[0] not in result.out + result.err, command
        assert result.code in (0, 2), result


def test_a_model_with_controls_in_its_words_reads_back(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(model(doc='"a\\u009bb\\u202ec"'))
    text = headway("show", path, "--toml").out

    assert parse_model(text).doc == "a\x9bb\u202ec"


@pytest.mark.parametrize("mark", mostly_slow([r"\$a_$b^{$", "$x$"], 1))
def test_dollars_in_names_are_no_mathematics(mark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.toml").write_text(model(name=f"'{mark}'", preset=f"'{mark}'"))
    curve = Path(f"{mark}.csv")
    curve.write_text(HEAD + REST)
    commands = [
        ("show", "m.toml", "--preset", mark),
        ("show", "m.toml", "--formula"),
        ("solve", "m.toml", "--preset", mark, "--set", "arrival_rate=1,2,3"),
        ("sensitivity", "m.toml"),
        ("balance", "m.toml", "--preset", mark),
        ("compare", "m.toml", "--data", curve),
        ("fit", "m.toml", "--data", curve, "--free", "service_time"),
        ("signature", "sfs", curve),
    ]
    for command in commands:
        result = headway(*command, "--plot", "x.svg")
        assert result.code in (0, 2), result
        assert "Traceback" not in result.err


def test_stations_of_python_have_names_too():
    with pytest.raises(GraphError):
        ModelGraph("one").station("a\x1b", MM1(1.0))
