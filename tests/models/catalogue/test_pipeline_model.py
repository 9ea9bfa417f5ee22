"""Pipelines and contention as components of models: figures, simulation, files, pictures."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import HeadwayError, ModelFileError
from headway.loggp import BlockingRequests, PacketTransfer, Pipeline, Stage, lopc_cycle_time
from headway.models import ModelGraph, catalogue_model, parse_model
from headway.models.solving.symbolic import numeric, symbol
from tests.oracles.loggp_tables import rows
from tests.support.command import headway, refusal

KIB = 1024

stage_lists = st.lists(
    st.tuples(st.floats(0, 100e-6), st.floats(1e-10, 100e-9)), min_size=1, max_size=6
)
sizes = st.floats(1, 1e5)


def gam(**values):
    return catalogue_model("pipeline").with_preset("gam").at(values).solve()


def simulated(stages, packets):
    """Follow each packet through each stage, one at a time; end and idle time of stages."""
    free = [0.0] * len(stages)
    idle = 0.0
    for number, size in enumerate(packets):
        ready = 0.0
        for stage, (occupancy, gap) in enumerate(stages):
            start = max(ready, free[stage])
            if number:
                idle += start - free[stage]
            ready = free[stage] = start + occupancy + gap * size
    return free[-1], idle


def cut(transfer, packet):
    """Full packets and the rest, counted off one by one."""
    packets = []
    while transfer > packet * (1 + 1e-12):
        packets.append(packet)
        transfer -= packet
    return [*packets, transfer]


# N34, in us and MB/s to the printed digit: 2 KB packets, one and two of them; 4 KB packets.
def test_figures_of_generic_active_messages():
    one, two = gam(transfer=2 * KIB, packet=2 * KIB), gam(transfer=4 * KIB, packet=2 * KIB)
    long = gam(transfer=1024 * KIB, packet=4 * KIB)

    assert one["total_time"] * 1e6 == pytest.approx(154.6, abs=0.05)
    assert two["total_time"] * 1e6 == pytest.approx(208.9, abs=0.05)
    assert one["bottleneck_time"] * 1e6 == pytest.approx(54.3, abs=0.05)
    assert one["bandwidth"] / 1e6 == pytest.approx(37.7, abs=0.05)
    # 39.65 is printed as 39.7 in N34
    assert long["bandwidth"] / 1e6 == pytest.approx(39.7, abs=0.06)
    assert one["bubbles"] == pytest.approx(0, abs=1e-15)


def test_send_interface_and_wire_in_one_stage_would_be_too_slow():
    printed = {row["stage"]: row for row in rows("table_6_1_gam_pipeline")}
    merged = [printed["Send LANai"], printed["Wire"]]
    occupancy = sum(float(row["occupancy_us"]) for row in merged) * 1e-6
    gap = sum(float(row["gap_us_per_kb"]) for row in merged) * 1e-6 / KIB

    transfer = PacketTransfer((occupancy,), (gap,), 4 * KIB, 4 * KIB)

    assert transfer.bandwidth / 1e6 == pytest.approx(31.7, abs=0.05)


def test_the_preset_is_table_6_1():
    values = list(catalogue_model("pipeline").presets["gam"].values.values())

    for row, occupancy, gap in zip(
        rows("table_6_1_gam_pipeline"), values[::2], values[1::2], strict=True
    ):
        # read from text with a unit and divided here: roundings apart
        assert occupancy == pytest.approx(float(row["occupancy_us"]) * 1e-6, rel=1e-12)
        assert gap == pytest.approx(float(row["gap_us_per_kb"]) * 1e-6 / KIB, rel=1e-12)


@given(stage_lists, sizes, st.floats(1e-2, 2.0))
def test_a_transfer_is_what_a_simulation_gives(stages, transfer, share):
    packet = max(transfer * share, 1e-3)
    occupancy, gaps = zip(*stages, strict=True)

    result = PacketTransfer(occupancy, gaps, transfer, packet)

    packets = [result.full_packet] * int(result.packets - 1) + [result.rest]
    end, idle = simulated(stages, packets)
    # 1e-12: sums of at most a few hundred terms of one sign
    assert result.total_time == pytest.approx(end, rel=1e-12)
    assert result.bubbles == pytest.approx(idle, abs=1e-12 * end)
    assert len(packets) in {len(cut(transfer, packet)), len(cut(transfer, packet)) + 1}
    assert sum(packets) == pytest.approx(transfer, rel=1e-12)


@given(stage_lists, st.integers(1, 300))
def test_no_other_number_of_equal_packets_takes_less(stages, transfer):
    occupancy, gaps = zip(*stages, strict=True)
    result = PacketTransfer(occupancy, gaps, float(transfer), 1.0)
    pipeline = Pipeline(tuple(Stage("stage", *stage) for stage in stages))

    least = min(pipeline.equal_packets(transfer, n).total_time for n in range(1, transfer + 1))

    assert result.best_time == pytest.approx(least, rel=1e-12)
    assert result.best_time == pytest.approx(
        PacketTransfer(occupancy, gaps, float(transfer), result.best_packet).total_time, rel=1e-9
    )


def test_arrays_and_symbols_give_what_points_give():
    model = catalogue_model("pipeline").with_preset("gam")
    transfer, packet = (grid.ravel() for grid in np.meshgrid([1.5, 700, 5e4], [1, 999, 4e3, 1e6]))
    whole = model.at(transfer=transfer, packet=packet).solve()
    outputs = [name for name in whole.outputs if not name.startswith("best")]
    forms = [model.graph.closed_form(output) for output in outputs]
    form = numeric(forms, [symbol(name) for name in model.inputs])

    for place in range(transfer.size):
        point = whole.point(place)
        slack = 1e-12 * point["total_time"]  # bubbles are differences of such times
        written = form(*point.model.inputs.values())
        for output, symbolic in zip(outputs, written, strict=True):
            assert whole[output][place] == pytest.approx(point[output], rel=1e-12, abs=slack)
            assert point[output] == pytest.approx(float(symbolic), rel=1e-12, abs=slack)
        assert whole["best_packet"][place] == point["best_packet"]


FILE = """
name = "path"
[parameters]
data = "64 KiB"
piece = { value = "2 KiB", min = "1 B" }
[pipelines.net]
stages = ["host", "wire"]
occupancy = ["5 us", "1 us"]
gap_per_byte = ["10 ns/B", "8 us/KiB"]
transfer = "data"
packet = "piece"
[outputs]
run_time = { formula = "1e-3 + net.total_time", unit = "s" }
rate = { formula = "net.delivered_bandwidth", unit = "MB/s" }
"""


def test_a_model_file_with_a_pipeline():
    model = parse_model(FILE)
    stages = [(5e-6, 1e-8), (1e-6, 8e-6 / KIB)]

    solution = model.solve()

    assert solution["run_time"] == pytest.approx(
        1e-3 + simulated(stages, [2 * KIB] * 32)[0], rel=1e-12
    )
    again = parse_model(model.to_toml())
    assert again.solve()["run_time"] == solution["run_time"]
    assert again.to_toml() == model.to_toml()


def test_stages_in_python():
    stages = {"host": ("o", 1e-8), "wire": (1e-6, 8e-9)}
    graph = ModelGraph("path").declare("o").pipeline("net", stages, transfer=6e4, packet=2e3)

    solution = graph.output("run_time", "net.total_time").at(o=5e-6).solve()

    assert solution["run_time"] == pytest.approx(
        simulated([(5e-6, 1e-8), (1e-6, 8e-9)], [2e3] * 30)[0], rel=1e-12
    )


BAD_FILES = [
    ('gap_per_byte = ["10 ns/B", "8 us/KiB"]', "", "net needs gap_per_byte, a list"),
    ('occupancy = ["5 us", "1 us"]', 'occupancy = ["5 us"]', "2 stages, but 1 occupancy"),
    ('occupancy = ["5 us", "1 us"]', 'occupancy = ["5 MB", "1 us"]', "it needs time"),
    ('occupancy = ["5 us", "1 us"]', 'occupancy = "5 us"', "a list with one entry for each stage"),
    ('packet = "piece"', 'packet = { a = "piece" }', "net needs packet, a number"),
    ('stages = ["host", "wire"]', 'stages = ["host"]', "1 stages, but 2 occupancy"),
    ('packet = "piece"', 'packet = "pieces"', "did you mean piece"),
    ("net.total_time", "net.totaltime", "did you mean net.total_time"),
    ('packet = "piece"', 'packt = "piece"', "net has no 'packt'"),
]


@pytest.mark.parametrize(("old", "new", "words"), BAD_FILES)
def test_bad_files(old, new, words):
    assert old in FILE
    with pytest.raises(ModelFileError, match="model:") as caught:
        parse_model(FILE.replace(old, new))
    assert words in str(caught.value)


def test_numbers_out_of_domain_are_refused_by_the_components_name():
    with pytest.raises(HeadwayError, match="path: packet is 0"):
        parse_model(FILE.replace("[pipelines.net]", "[pipelines.path]").replace("net.", "path.")
                    .replace(', min = "1 B"', "")).at(piece=0.0).solve()  # fmt: skip
    assert "transfer is 0 KiB" in refusal("solve", "pipeline", "--set", "transfer=0")
    with pytest.raises(HeadwayError, match="at least one"):
        PacketTransfer((), (), 1.0, 1.0)
    with pytest.raises(HeadwayError, match="slowest stage"):
        PacketTransfer((0.0,), (0.0,), 1.0, 1.0)


def test_timeline_picture(tmp_path):
    result = headway(
        "solve", "pipeline", "--preset", "gam", "--plot", tmp_path / "timeline.png", "--json"
    )
    (axes,) = gam(transfer=20 * KIB).plot().axes

    outputs = json.loads(result.out)["points"][0]["outputs"]
    assert outputs["packets"] == 16
    assert (tmp_path / "timeline.png").stat().st_size > 10_000
    labels = [tick.get_text() for tick in axes.get_yticklabels()]
    assert labels == ["send CPU", "send interface", "wire", "receive interface", "receive CPU"]
    boxes = [patch for patch in axes.patches if not patch.get_hatch()]
    assert len(boxes) == 5 * len(labels)
    last = max(box.get_x() + box.get_width() for box in boxes)
    assert last == pytest.approx(gam(transfer=20 * KIB)["total_time"] * 1e6, rel=1e-9)
    assert axes.get_xlabel() == "time [us]"
    assert "first 24 of 64" in gam(transfer=256 * KIB).plot().axes[0].get_title()


@given(st.floats(0, 1e-3), st.floats(0, 1e-4), st.floats(1e-6, 1e-4), st.floats(0, 1))
def test_contention_in_a_file_is_the_law(work, latency, handler, scv):
    model = parse_model(
        """
        name = "readers"
        [parameters]
        w = "1 us"
        l = "1 us"
        s = "1 us"
        c = 1
        [contention.read]
        work = "w"
        latency = "l"
        handler_time = "s"
        handler_scv = "c"
        [outputs]
        cycle = "read.cycle_time"
        more = "read.contention_time"
        """
    ).at(w=work, l=latency, s=handler, c=scv)

    solution = model.solve()

    cycle = lopc_cycle_time(work, latency, handler, scv)
    assert solution["cycle"] == cycle
    assert solution["more"] == BlockingRequests(work, latency, handler, scv).contention_time


def test_lopc_of_a_program_is_the_latency_law_and_contention():
    """With next to no contention a read costs 2 L + 4 o, as in program-latency."""
    for preset in ("em3d-read", "barnes", "p-ray", "connect"):
        added = {"added_latency": 1e-3}  # so long that processors hardly ever meet
        latency = catalogue_model("program-latency").with_preset(preset).at(added).solve()
        lopc = catalogue_model("lopc").with_preset(preset).at(added).solve()
        # what contention adds to the base run time is up to a tenth of it
        assert (
            0
            <= lopc["run_time"] - latency["run_time"]
            < 0.1 * latency.model.inputs["base_run_time"]
        )
        assert lopc["contention"] < 0.01
