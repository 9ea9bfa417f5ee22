"""Streaming I/O against Figures 2, 8 and 9 and the saturation rates in the text."""

import csv
import json
import re

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from headway.models import balance, catalogue_model, data_path
from tests.support.command import headway, refusal

FOLDER = "streaming_io"
MODEL = catalogue_model("streaming-io")
NAMES = {"D_r": "disk_rate", "D_w": "write_rate", "P": "processors", "rec": "record"}
KEPT = {"disk_rate", "write_rate", "processors", "record", "key", "bucket", "match_fraction"}


def rows(name):
    with data_path(f"{FOLDER}/{name}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def preset(row):
    return f"{row['benchmark']}-{row['platform']}".lower()


def printed(expression):
    """Figure 2's expression with the model's names."""
    text = expression.replace("match/total", "match_fraction")
    text = re.sub(r"\b(D_r|D_w|P|rec)\b", lambda actual: NAMES[actual[0]], text)
    return sympy.sympify(text, {name: sympy.Symbol(name, positive=True) for name in KEPT})


@pytest.mark.parametrize(
    "row",
    rows("figure_2_resource_models"),
    ids=lambda r: f"{preset(r)}-{r['bus']}-{r['phase']}",
)
def test_figure_2_in_symbols(row):
    model = MODEL.with_preset(preset(row))
    form = model.graph.closed_form(f"{row['phase']}_{row['bus']}_bus_traffic")
    numbers = {
        symbol: sympy.nsimplify(model.inputs[symbol.name])
        for symbol in form.free_symbols
        if symbol.name not in KEPT
    }
    # nothing to exchange on one processor, whatever P is
    assert sympy.expand(form.subs(numbers) - printed(row["expression_mb_s"])) == 0


@pytest.mark.parametrize(
    "row", rows("figure_8_instruction_rates"), ids=lambda r: f"{preset(r)}-{r['phase']}-{r['mode']}"
)
def test_figure_8(row):
    inputs = MODEL.with_preset(preset(row)).inputs

    assert inputs[f"{row['phase']}_{row['mode']}_instructions"] == float(
        row["instruction_rate_mips_per_mb_s"]
    )


def test_the_issues_example():
    settings = ["--set", "disk_rate=5.5MB/s", "--set", "processors=8"]

    result = headway("solve", "streaming-io", "--preset", "sort-cluster", *settings, "--json")

    outputs = json.loads(result.out)["points"][0]["outputs"]
    assert outputs["read_io_bus_traffic"] == pytest.approx(2.75 * 5.5e6, rel=1e-12)
    memory = 5 + 2 * 7 / 8 + 0.10 + 0.08
    assert outputs["read_memory_bus_traffic"] == pytest.approx(memory * 5.5e6, rel=1e-12)
    # printed "under 180" and (8/7) 160
    assert outputs["read_switch_saturation"] == pytest.approx(1280e6 / 7, rel=1e-12)
    assert outputs["read_link_saturation"] == pytest.approx(160e6 * 8 / 7, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "wanted"),
    # Printed in whole MB/s: known to half of one.
    [("sort-workstation", 114), ("sort-cluster", 67), ("sort-smp", 35)],
)
def test_memory_saturation_as_printed(name, wanted):
    read_memory_bus_saturation = MODEL.with_preset(name).solve()["read_memory_bus_saturation"]

    assert read_memory_bus_saturation / 1e6 == pytest.approx(wanted, abs=0.5)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("scan-workstation", 1 + 0.64 + 1.6 + 1.5),
        ("sort-workstation", 3 + 1.92 + 2.5),
        ("sort-cluster", 5 + 1.75 + 1.92 + 2.5 + 1.75),
    ],
)
def test_corrections_of_section_5_3_1(name, wanted):
    solution = MODEL.with_preset(name).solve()

    value = solution["read_corrected_memory_bus_traffic"] / solution.model.inputs["disk_rate"]
    assert value == pytest.approx(wanted, rel=1e-12)


def test_blocks_under_a_record():
    """Every second record of 100 bytes, over all places that such a record can begin at."""
    starts = [(200 * k) % 64 for k in range(64)]
    blocks = [(start + 100 + 63) // 64 for start in starts]

    assert sum(blocks) / len(blocks) == MODEL.inputs["blocks_per_record"]


@given(
    st.sampled_from(sorted(MODEL.presets)),
    st.integers(1, 64),
    st.floats(0, 1),
    st.sampled_from(["cache_block_term", "system_traffic", "contention_traffic", "send_copies"]),
)
def test_a_correction_never_lowers_traffic(name, processors, share, term):
    model = MODEL.with_preset(name).at(processors=processors, match_fraction=share)
    output = "read_corrected_memory_bus_traffic"

    without = model.at({term: 0}).solve()[output]
    assert model.solve()[output] >= without >= 0
    assert without >= model.solve()["read_memory_bus_traffic"] * (1 - 1e-12)


def test_order_of_bottlenecks():
    """Section 6: the processor is first but for the cluster's read phases that communicate."""
    machines = balance(MODEL, sorted(MODEL.presets)).machines

    first = {(b.title, phase): b.first(phase) for b in machines for phase in b.phases}
    transpose = ("streaming-io (transpose-cluster)", "read")
    sort = ("streaming-io (sort-cluster)", "read")
    assert first.pop(transpose) == "io bus (nearly at once: cpu)"
    assert first.pop(sort) == "cpu (nearly at once: io bus)"
    assert len(first) == 16
    assert all(resource.startswith("cpu") for resource in first.values())


def test_fast_ethernet():
    model = MODEL.with_preset("sort-cluster").at(link_bandwidth="100 Mbit/s", half_duplex=1)

    assert model.solve()["read_link_saturation"] == pytest.approx(12.5e6 / 2 * 8 / 7)
    # printed "about 6": the limit for many nodes
    many = model.at(processors=10_000).solve()["read_link_saturation"]
    assert many == pytest.approx(6.25e6, rel=1e-3)


def test_balance_of_a_network_of_stations():
    bars = balance(catalogue_model("nfs-server").with_preset("scsi").at(arrival_rate=800.0))

    assert bars.machines[0].order()[0].resource == "cpu"
    assert bars.machines[0].order()[0].load == pytest.approx(1 / 900e-6)


def test_balance_as_json_and_plot(tmp_path):
    picture = tmp_path / "balance.svg"
    machines = ["--preset", "sort-cluster", "--preset", "transpose-cluster"]

    result = headway("balance", "streaming-io", *machines, "--json", "--plot", picture)

    value = json.loads(result.out)["machines"]
    assert [row["first"] for row in value if row["phase"] == "read"] == ["cpu", "io bus"]
    assert value[1]["saturation"]["memory bus"] > 0
    assert picture.stat().st_size > 1000


def test_every_bar_is_seen_whole():
    bars = balance(MODEL, sorted(MODEL.presets))

    for axes in bars.plot().axes:
        low, high = axes.get_ylim()
        heights = [bar.get_height() for bar in axes.patches]
        assert low < min(heights) / 1.9
        assert max(heights) < high


def test_example_machine_says_that_it_is_one():
    model = catalogue_model("modern-machine")

    assert model.doc.startswith("EXAMPLE")
    assert all(entry.doc.startswith("EXAMPLE") for entry in model.presets.values())
    assert balance(model).machines[0].first("read").startswith("cpu")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--preset", "sort-mainframe"), "has no preset 'sort-mainframe'"),
        (("--set", "processors=0"), "processors is 0; it must be 1 or more"),
        (("--set", "match_fraction=1.5"), "match_fraction is 1.5; it must be between 0 and 1"),
        (("--set", "disk_rate=-5MB/s"), "disk_rate is -5 MB/s; it must be 0 MB/s or more"),
        (("--set", "gpu_bus=3GB/s"), "has no parameter 'gpu_bus'"),
    ],
)
@pytest.mark.parametrize("command", ["solve", "balance"])
def test_bad_input(command, arguments, words):
    assert words in refusal(command, "streaming-io", *arguments)


def test_missing_resources(tmp_path):
    path = tmp_path / "machine.toml"
    path.write_text(
        'name = "m"\n[parameters]\nbus = { unit = "MB/s" }\n[outputs]\nbus_saturation = "bus / 2"\n'
    )
    assert "no value for bus; set bus=..." in refusal("balance", path)
    path.write_text('name = "m"\n[parameters]\na = 1\n[outputs]\nrun_time = "a"\n')
    assert "m has no resource that can saturate" in refusal("balance", path)
    assert "remove lists and ranges" in refusal("balance", "streaming-io", "--set", "key=1,2")
