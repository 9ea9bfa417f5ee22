"""Inputs that ended in a traceback, or went through as something else: one line and exit 2."""

import re

import pytest

from headway.errors import HeadwayError, UnitError
from headway.models import Measurements
from headway.models.language.formula import formula
from headway.models.language.units import quantity, unit
from tests.fuzz.seeds import CLASSES, CLOSED_LOOP, SHARED
from tests.models.reading.test_readers import SFSRES
from tests.support.command import headway, refusal
from tests.support.small_files import HEAD, RAID, REST, model


@pytest.mark.parametrize("load", ["1e10", "3e14", "1e300"])
def test_a_load_mistyped_by_decades(load, tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text(HEAD + REST + f"{load},3\n")

    assert "throughput_ops_s" in refusal("fit", "server", "--data", path)


@pytest.mark.parametrize(
    "cell",
    ["0e400", "1e400", "1e" + "9" * 5000, "9" * 5000, "1_0", "٣", "0x10", "inf", "nan"],
    ids=lambda cell: cell[:9],
)
def test_cells_that_are_no_number(cell, tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text(HEAD + REST + f"600,{cell}\n")

    line = refusal("signature", "sfs", path)

    assert line.startswith(f"{path}:7: response_ms is ")
    assert len(line) < 300


def test_numbers_of_a_unit_beyond_floats(tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text("load_tb\n1e300\n")
    with pytest.raises(HeadwayError, match="not a finite number"):
        Measurements.read(path).column("load")
    with pytest.raises(UnitError, match="too large"):
        quantity("1e300 PB", unit("B"))
    with pytest.raises(UnitError, match="beyond what"):
        unit("ps9" * 20)


def test_minus_zero_is_zero(tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text(HEAD + "100,-0\n" + REST)

    assert "-0" not in headway("signature", "sfs", path).out
    assert "-0.0" not in headway("signature", "sfs", path, "--json").out


@pytest.mark.parametrize(
    "span", ["0:1e308:1e-308", "-1e308:1e308:1", "0:1:1e-320", "0:1e9:1", "1:2:-1", "1:2:0"]
)
def test_endless_sweeps(span):
    line = refusal("solve", "nfs-server", "--set", f"arrival_rate={span}")

    assert "arrival_rate is" in line or "operating points exceed the limit" in line


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "nfs-server", "--percentile", "9_5"),
        ("solve", "nfs-server", "--percentile", "٩"),
        ("solve", "nfs-server", "--percentile", "inf"),
        ("fit", "server", "--data", RAID, "--bootstrap", "1_0"),
        ("signature", "logp", RAID, "--window", "٤"),
        ("solve", "nfs-server", "--set", "arrival_rate=1_0"),
        ("solve", "nfs-server", "--set", "arrival_rate=1:٣:1"),
    ],
    ids=lambda arguments: " ".join(map(str, arguments[-2:])),
)
def test_what_only_python_takes_for_a_number(arguments):
    refusal(*arguments)


@pytest.mark.parametrize("text", ["1_0", "0x10", "0b1", "1_0 * 2"])
def test_formulas_hold_decimal_digits(text):
    with pytest.raises(HeadwayError, match="not a number in decimal digits"):
        formula(text)


def test_a_netgauge_file_without_rows(tmp_path):
    path = tmp_path / "netgauge.out"
    path.write_text("# size n PRTT(1,0,s) PRTT(n,0,s)\n# nothing came of it\n")

    assert "contains no measurements" in refusal("signature", "loggp", path)


def test_a_share_with_two_points(tmp_path):
    path = tmp_path / "sfsres"
    path.write_text(re.sub(r"[0-9.]+%", "0.09.7%", SFSRES))

    assert "is '0.09.7' %, not a number" in refusal("signature", "sfs", path)


def test_numbers_of_a_model_file_without_end(tmp_path):
    path = tmp_path / "m.toml"
    for number in ("9" * 5000, "1e999", "inf", "nan", '"1_0"', '"٣"'):
        path.write_text(model() + f'[[routes]]\nfrom = "cpu"\nto = "cpu"\nprobability = {number}\n')
        refusal("show", path)


MANY = 300_000
PAGE = "SPECsfs97_R1.v3 = 300 Ops/Sec (Overall Response Time = 1.0 msec)\n100 0.9\n300 1.5\n"


@pytest.mark.parametrize(
    "text",
    [
        "<html>" + "<a " * MANY,
        "<html>" + "<!--" * MANY,
        "<html>" + "<td>1" * 10 * MANY,
        "<summary>" + "<run>" * MANY + "</run>" * MANY + "</summary>",
        PAGE + "Memory" + " " * MANY,
        PAGE + "\n" * MANY + "x\n" * 30_000,
        "SFS Aggregate Results" + "\n" * MANY,
        "a," * MANY + "b\n1,2\n",
        "#\n" * MANY,
    ],
    ids=lambda text: repr(text[:30]),
)
def test_texts_that_patterns_would_take_for_ever_over(text, tmp_path):
    """Each took time by the square of its length, or worse: this ends, whatever the machine."""
    path = tmp_path / "input"
    path.write_text(text)

    assert headway("signature", "sfs", path).code in (0, 2)


@pytest.mark.parametrize("value", ["9" * 400, "true"])
def test_presets_hold_numbers(value, tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(model().replace('"2 ms"', value))

    assert "presets.fast" in refusal("show", path)


def test_sweeps_that_do_not_fit_measured_points(tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text(HEAD + REST)
    sweep = ("--set", "service_time=1ms,2ms", "--set", "delay=1ms")

    line = refusal("compare", "server-single", *sweep, "--closed", "5", "--data", path)

    assert "have different lengths" in line


def test_a_header_of_any_length_is_named_in_short(tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text("a" * 100_000 + "\n1\n")

    assert len(refusal("signature", "loggp", path)) < 400


@pytest.mark.parametrize(
    "text",
    [
        '[outputs]\ndouble = "2 * response_time"\n',
        '[outputs]\nx = "2"\n[classes.b]\narrival_rate = "10 /s"\n',
    ],
)
def test_programs_have_no_jobs(text, tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(f'name = "program"\n{text}')

    assert "station" in refusal("solve", path)


def test_a_fit_at_values_that_do_not_fit_its_points(tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text(HEAD + REST)
    settings = ("--fix", "delay=1ms,2ms", "--free", "service_time")

    assert "have different lengths" in refusal("fit", "server-single", *settings, "--data", path)


def test_a_pool_of_endless_servers_beside_open_jobs(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(SHARED.replace("servers = 2", "servers = 3e14"))

    assert "3e+14 servers" in refusal("solve", path)


def test_a_formula_too_deep_to_draw(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text('name = "x"\n[parameters]\ns = 2\n[outputs]\ny = "' + "s**" * 60 + '1"\n')

    line = refusal("show", path, "--formula", "--plot", tmp_path / "x.svg")

    assert "too deep to be drawn" in line


def test_a_parameter_named_population_beside_classes(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(CLASSES + "[parameters.population]\nvalue = 50\n")

    assert "class" in headway("solve", path).out


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rates_at_the_end_of_floats(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(CLOSED_LOOP.replace("rates = [1,", "rates = [5e-324,"))

    assert "too far apart" in refusal("solve", path)


def test_a_large_population_where_times_depend_on_the_throughput(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(CLOSED_LOOP.replace("population = 6", "population = 1e6"))

    assert "supports at most 200000 jobs" in refusal("solve", path)
