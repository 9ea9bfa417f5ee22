"""`decode-step` and `training-step`: their laws by hand, their numbers from the data they name."""

from pathlib import Path

import numpy as np
import pytest

from headway.errors import InvalidParameter
from headway.loggp import LogGP, Pipeline, Stage, collective_time, ring_all_reduce_time
from headway.models import catalogue_model, data_path
from headway.models.reading.texts import file_text
from headway.models.signatures.collective import MeasuredCollective
from headway.models.signatures.collective_files import Chosen

FIVE = {"latency": 5e-6, "overhead": 1e-6, "gap": 4e-6, "gap_per_byte": 1e-9}


def test_the_ring_of_formulas_is_that_of_the_table():
    for n in (2, 3, 8):
        machine = LogGP(5e-6, 1e-6, 1e-6, 4e-6, 1e-9, processors=n)
        for size in (n, 4096 * n):
            law = collective_time(machine, "all-reduce", "ring", size)
            assert ring_all_reduce_time(n, size, **FIVE) == pytest.approx(law, rel=1e-12)


def test_one_gpu_reduces_nothing():
    times = ring_all_reduce_time(np.array([1.0, 2.0]), 4096.0, **FIVE)
    assert times[0] == 0
    assert times[1] > 0
    with pytest.raises(InvalidParameter, match="size is 0; it must be 1 or more"):
        ring_all_reduce_time(2, 0, **FIVE)


def fitted(system, size):
    """a, b, c and d of all-reduces of half at a size, in a shipped file."""
    path = Path(data_path(f"gpu_collectives/{system}.csv"))
    [level] = MeasuredCollective.of([file_text(path)], Chosen("all_reduce", "half")).fit.levels
    [piece] = [p for p in level.pieces if p.first_size <= size <= p.last_size]
    return piece.values


@pytest.mark.parametrize(
    ("preset", "system"),
    [("a100", "a100_sxm_2_27_3"), ("h100", "h100_sxm_2_29_2"), ("b200", "b200_sxm_2_27_5")],
)
def test_presets_are_fitted_to_the_data_they_name(preset, system):
    """Three digits of each, so within 0.5%; a ring has 2 (n - 1) rounds, hence the halves."""
    start, step, copy, wire = fitted(system, 2.0**18)
    inputs = catalogue_model("decode-step").with_preset(preset).inputs
    assert float(inputs["launch"]) == pytest.approx(start, rel=5e-3)
    assert float(inputs["joint.latency"]) == pytest.approx(step / 2, rel=5e-3)
    assert float(inputs["copy"]) == pytest.approx(copy, rel=5e-3)
    assert float(inputs["joint.gap_per_byte"]) == wire == 0


def test_training_starts_from_the_longest_messages_of_h100():
    start, step, copy, wire = fitted("h100_sxm_2_29_2", 2.0**27)
    inputs = catalogue_model("training-step").inputs
    assert float(inputs["launch"]) == pytest.approx(start, rel=5e-3)
    assert float(inputs["joint.latency"]) == step == 0
    assert float(inputs["copy"]) == pytest.approx(copy, rel=5e-3)
    assert float(inputs["joint.gap_per_byte"]) == pytest.approx(wire / 2, rel=5e-3)


def test_a_step_is_memory_and_two_all_reduces_a_layer():
    """One request, alone: its answer takes 200 such steps."""
    gpus = 4
    start, step, copy, _ = (5.08e-6, 2 * 0.904e-6, 7.18e-12, 0.0)
    row = 8192 * 2
    memory = (141e9 + 327680 * 2000) / (gpus * 0.8 * 3350e9)
    reduced = 2 * 80 * (start + (gpus - 1) * step + copy * row)
    model = catalogue_model("decode-step").with_preset("h100").at(tensor_parallel=gpus)
    alone = float(model.at(arrival_rate="1e-6 /s").solve()["response_time"])
    assert alone == pytest.approx(200 * (memory + reduced), rel=1e-4)


def test_a_full_batch_serves_what_its_law_says():
    """largest / (tokens (step + largest x per request)) answers a second."""
    model = catalogue_model("decode-step").with_preset("h100").at(tensor_parallel=8)
    fits = np.floor((0.8 * 80e9 * 8 - 141e9) / (327680 * 2000))
    together = min(256, fits)
    memory = 8 * 0.8 * 3350e9
    fixed = 141e9 / memory + 160 * (5.08e-6 + 14 * 0.904e-6)
    each = 327680 * 2000 / memory + 160 * 7.18e-12 * 8192 * 2
    rate = together / (200 * (fixed + together * each))
    saturation = float(model.solve()["saturation_throughput"])
    assert saturation == pytest.approx(rate, rel=1e-9)


def test_what_does_not_fit_says_so():
    model = catalogue_model("decode-step").with_preset("h100").at(tensor_parallel=1)
    assert float(model.at(arrival_rate="1e-6 /s").solve()["memory_used"]) > 1


@pytest.mark.parametrize("buckets", [1, 7, 160])
def test_training_is_a_pipeline_of_two_stages(buckets):
    """Backward and all-reduce, with a bucket as packet: `Pipeline` adds it up by itself."""
    model = catalogue_model("training-step").at(buckets=buckets)
    bucket = 16e9 / buckets
    reduced = 55.5e-6 + 1.77e-12 * bucket + 1.34e-12 * (2 * bucket * 7 / 8 - 14)
    stages = Pipeline((Stage("backward", 60e-3 / buckets, 0.0), Stage("reduce", reduced, 0.0)))
    expected = 30e-3 + stages.transfer_time(1, buckets)
    answer = model.solve()
    assert float(answer["step_time"]) == pytest.approx(expected, rel=1e-9)
    assert float(answer["exposed_time"]) == pytest.approx(expected - 90e-3, rel=1e-6)


def test_training_on_one_gpu_only_computes():
    answer = catalogue_model("training-step").at(gpus=1).solve()
    assert float(answer["step_time"]) == pytest.approx(90e-3, rel=1e-12)
    assert float(answer["efficiency"]) == pytest.approx(1, rel=1e-12)
