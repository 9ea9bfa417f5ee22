"""A link's numbers as parameters: set, swept, fitted, differentiated and written like any other."""

import csv
import io
import json

import numpy as np
import pytest
from click.shell_completion import ShellComplete
from hypothesis import given
from hypothesis import strategies as st

from headway.cli.main import cli
from headway.errors import InvalidParameter, UnitError, UnknownParameter
from headway.loggp import PLATFORMS, LogGP
from headway.models import Measurements, ModelGraph, make_report, parse_model
from headway.models.reports.panel import panel
from headway.queueing import MM1
from tests.support.command import headway, refusal

REMOTE = """
name = "remote"

[parameters]
arrival_rate = "3000 op/s"
work = {{ value = "60 us", min = "0 us" }}
answer = "4096 B"

[links.eth]
platform = "now"
{keys}

[stations.wire]
kind = "Delay"
service_time = "2 * eth.latency"

[stations.server]
kind = "MM1"
service_time = "work + eth.send_overhead + eth.receive_overhead"

[stations.interface]
kind = "MMm"
service_time = "eth.gap + (answer - 1) * eth.gap_per_byte"
servers = "eth.processors"

[[routes]]
from = "wire"
to = "server"

[[routes]]
from = "server"
to = "interface"

[outputs]
one_way = {{ formula = "eth.latency + 2 * eth.overhead", unit = "us" }}
"""
TIMES = {
    "latency": "s",
    "overhead": "s",
    "send_overhead": "s",
    "receive_overhead": "s",
    "gap": "s",
    "gap_per_byte": "s/B",
}


def remote(keys=""):
    return parse_model(REMOTE.format(keys=keys))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "remote.toml"
    path.write_text(REMOTE.format(keys=""))
    return path


@given(st.sampled_from(sorted(TIMES)), st.floats(0.0, 0.02))
def test_what_is_set_equals_a_file_with_that_number(part, value):
    value *= 1e-6 if part == "gap_per_byte" else 1e-2
    result = remote(f'{part} = "{value!r} {TIMES[part]}"')
    given = remote().at({f"eth.{part}": value})

    # texts with a unit are read by a division by the unit's inverse: 1 ulp
    for one, other in ((result.solve(), given.solve()), (result, parse_model(given.to_toml()))):
        one, other = (m if hasattr(m, "values") else m.solve() for m in (one, other))
        for output in one.outputs:
            assert one[output] == pytest.approx(other[output], rel=1e-12), output


def test_processors_are_a_count():
    swept = remote().at({"eth.processors": [1, 2, 3]}).solve()
    files = [remote(f"processors = {n}").solve().response_time for n in (1, 2, 3)]

    assert swept.response_time == pytest.approx(files, rel=1e-12)
    with pytest.raises(InvalidParameter, match=r"eth\.processors is 2\.5; it must be a whole"):
        remote().at({"eth.processors": 2.5})
    effect = remote().sensitivity().effects["response_time"]["eth.processors"]
    assert effect.more == pytest.approx(files[2], rel=1e-12)


def test_derivatives_are_those_of_differences():
    model = remote().at({"eth.gap": "40 us"})
    effects = model.sensitivity().effects
    for name in ("eth.latency", "eth.send_overhead", "eth.gap", "eth.gap_per_byte"):
        here = model.inputs[name]
        step = 1e-4 * here  # whose square, times third derivatives of some units, is below 1e-7
        up, down = (model.at({name: here + by}).solve() for by in (step, -step))
        for output in ("response_time", "saturation_throughput", "one_way"):
            difference = (up[output] - down[output]) / (2 * step)
            slope = effects[output][name].derivative
            assert slope == pytest.approx(difference, rel=1e-6, abs=1e-12), (name, output)


def test_one_overhead_for_both_sides_and_each_again():
    model = remote().at({"eth.send_overhead": "1 us", "eth.receive_overhead": "5 us"})
    both = model.at({"eth.overhead": "2 us"})
    apart = both.at({"eth.receive_overhead": "4 us"})

    assert "eth.overhead" not in model.parameters
    assert not {"eth.send_overhead", "eth.receive_overhead"} & both.parameters.keys()
    assert both.solve()["one_way"] == pytest.approx(5e-6 + 4e-6, rel=1e-12)
    assert (apart.inputs["eth.send_overhead"], apart.inputs["eth.receive_overhead"]) == (2e-6, 4e-6)
    assert "eth.overhead" not in apart.parameters
    assert model.exposing("eth.overhead").inputs["eth.overhead"] == 3e-6  # their mean
    with pytest.raises(UnknownParameter, match="give it, or send_overhead and receive_overhead"):
        model.at({"eth.overhead": 1e-6, "eth.send_overhead": 1e-6})


def test_a_file_may_give_one_overhead():
    model = remote('overhead = { value = "3 us", max = "1 ms", source = "mine" }')

    overhead = model.parameters["eth.overhead"]
    assert (overhead.value, overhead.maximum, overhead.source) == (3e-6, 1e-3, "mine")
    assert parse_model(model.to_toml()) == model
    with pytest.raises(ValueError, match=r"overhead and send_overhead are both given"):
        remote('overhead = "3 us"\nsend_overhead = "2 us"')


def test_presets_set_links():
    text = REMOTE.format(keys="") + '[presets.far]\neth.latency = "1 ms"\neth.overhead = "1 us"\n'
    model = parse_model(text)

    far = model.with_preset("far")
    assert far.solve()["one_way"] == pytest.approx(1e-3 + 2e-6, rel=1e-12)
    assert parse_model(far.to_toml()).solve()["one_way"] == far.solve()["one_way"]
    assert parse_model(model.to_toml()) == model
    assert "eth.latency = 1000 us, eth.overhead = 1 us" in " ".join(str(model).split())


def test_where_numbers_come_from():
    model = remote('gap = "9 us"')

    assert model.parameters["eth.latency"].source == "Berkeley NOW: Martin 1999, Table 2.1"
    assert model.parameters["eth.gap"].source == ""
    assert 'platform = "now"\ngap = "9 us"\n' in model.to_toml()
    columns = model.tables()[0].columns
    shown = {row[0]: row[1:] for row in zip(*(c.cells for c in columns), strict=True)}
    assert shown["eth.latency"][:3] == ("5", "us", "L: one-way network time")


def test_what_is_a_formula_is_no_parameter():
    graph = ModelGraph("one").declare("hop").link("lan", LogGP("2 * hop", 1e-6, 1e-6, 1e-6, 0.0))
    model = graph.output("time", "lan.latency + lan.gap").at(hop=1e-6)

    assert set(model.parameters) == {
        "hop", "lan.send_overhead", "lan.receive_overhead",
        "lan.gap", "lan.gap_per_byte", "lan.processors",
    }  # fmt: skip
    with pytest.raises(UnknownParameter, match=r"lan\.latency is the formula '2 \* hop'.*set hop"):
        model.at({"lan.latency": 1e-6})


def test_closed_forms_have_symbols_of_links():
    graph = ModelGraph("one").link("lan", PLATFORMS["now"]).station("cpu", MM1("lan.overhead"))

    assert str(graph.at().closed_form("cpu.utilisation")) == (
        "arrival_rate*(lan.receive_overhead/2 + lan.send_overhead/2)"
    )


def curve_of(model, rates):
    times = model.at(arrival_rate=rates).solve().response_time
    rows = [f"{rate!r},{1e3 * time!r}" for rate, time in zip(rates, times.tolist(), strict=True)]
    return Measurements.parse("\n".join(["throughput_ops_s,response_ms", *rows]), "curve.csv")


@pytest.mark.parametrize("name", ["eth.latency", "eth.overhead", "eth.gap_per_byte"])
def test_fits_find_the_number_that_made_a_curve(name):
    truth = {"eth.latency": 80e-6, "eth.overhead": 30e-6, "eth.gap_per_byte": 1.2e-7}[name]
    curve = curve_of(remote().at({name: truth}), np.linspace(200.0, 3500.0, 8).tolist())

    fit = remote().fit(curve, [name])

    # exact points: what the search leaves, over the noise that it supposes
    assert fit.values[name] == pytest.approx(truth, rel=1e-6)
    assert fit.model.parameters[name].value == fit.values[name]


def test_columns_of_data_set_links():
    text = "eth.latency_us,eth.overhead_us,one_way_us\n5,2,9\n50,2,50\n"
    table = Measurements.parse(text, "sweep.csv")
    model = parse_model(
        'name = "p"\n[links.eth]\nplatform = "now"\n[outputs]\n'
        'one_way = { formula = "eth.latency + 2 * eth.overhead", unit = "us" }\n'
    )

    comparison = model.compare(table)

    assert comparison.relative_error == pytest.approx([0.0, 54 / 50 - 1], abs=1e-12)


def test_a_report_has_a_slider_for_each():
    curve = curve_of(remote(), [500.0, 1500.0, 2500.0])

    page = panel(make_report(remote(), curve))

    controls = {c.parameter.name: c for c in page.controls}
    assert controls["eth.latency"].value == 5e-6
    assert str(controls["eth.gap_per_byte"].unit) == "ns/B"
    assert controls["eth.processors"].is_whole


def test_sweeps_by_command(path):
    run = headway("solve", path, "--set", "eth.latency=10us:100us:10us", "--csv")
    rows = list(csv.DictReader(io.StringIO(run.out)))

    assert [float(row["eth.latency_s"]) for row in rows] == pytest.approx(
        [n * 1e-5 for n in range(1, 11)], rel=1e-12
    )
    grown = float(rows[-1]["response_time_s"]) - float(rows[0]["response_time_s"])
    assert grown == pytest.approx(2 * 90e-6, rel=1e-9)
    document = json.loads(headway("solve", path, "--set", "eth.latency=50us", "--json").out)
    assert document["points"][0]["inputs"]["eth.latency"] == 5e-5


def test_targets_by_command(path):
    goal = ("--target", "one_way=20us", "--solve-for", "eth.overhead")
    document = json.loads(headway("sensitivity", path, *goal, "--json").out)

    assert document["value"] == pytest.approx(7.5e-6, rel=1e-12)


def test_show_lists_them(path):
    printed = headway("show", path, "--set", "eth.latency=50us").out

    assert "Berkeley NOW" in printed
    tables = json.loads(headway("show", path, "--set", "eth.latency=50us", "--json").out)
    assert tables["links"] == {"eth": {"platform": "now", "latency": "50 us"}}


def test_completion_offers_them(path):
    def offered(*words, text):
        complete = ShellComplete(cli, {}, "headway", "_HEADWAY_COMPLETE")
        return [item.value for item in complete.get_completions(list(words), text)]

    settings = offered("solve", str(path), "--set", text="eth.o")
    free = offered("fit", str(path), "--free", text="work,eth.g")
    assert settings == ["eth.overhead="]
    assert free == ["work,eth.gap", "work,eth.gap_per_byte"]


def test_wrong_names_and_units(path):
    assert refusal("solve", path, "--set", "eth.latncy=1us") == (
        "remote has no parameter 'eth.latncy'; did you mean eth.latency?"
    )
    assert "did you mean eth.overhead" in refusal("solve", path, "--set", "eth.overhed=1us")
    assert "which is data (B); it needs time" in refusal("solve", path, "--set", "eth.gap=3B")
    assert "eth.latency is -5 us" in refusal("solve", path, "--set", "eth.latency=-5us")
    with pytest.raises(UnitError, match="which is time .* such as ns/B"):
        remote().at({"eth.gap_per_byte": "3 us"})
    with pytest.raises(UnknownParameter, match="did you mean eth.gap"):
        remote().solve(**{"eth.gpa": 1})
