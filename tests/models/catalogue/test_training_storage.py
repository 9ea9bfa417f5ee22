"""Training from storage: a closed network whose think time is the published computation."""

import pytest

from headway.models import catalogue_model
from headway.models.measured.tools.mlperf_storage import PUBLISHED

V1 = {key: work for key, work in PUBLISHED.items() if key[1] != "v100"}


def mean_value(population, think, service):
    """Throughput of one queue and a think time, by the recursion of mean values."""
    inside = rate = 0.0
    for jobs in range(1, population + 1):
        response = service * (1 + inside)
        rate = jobs / (think + response)
        inside = rate * response
    return rate


def test_presets_are_what_the_reader_knows_as_published():
    model = catalogue_model("training-storage")
    assert {f"{workload}-{machine}" for workload, machine in V1} == set(model.presets)
    for (workload, machine), work in V1.items():
        preset = model.with_preset(f"{workload}-{machine}")
        assert preset.inputs["compute_time"] == pytest.approx(work.compute, rel=1e-12)
        assert preset.inputs["batch"] == work.batch


@pytest.mark.parametrize("population", [1, 8, 60, 200])
def test_without_prefetching_it_is_the_machine_repairman_with_a_delay(population):
    """Computation never queues: it is think time, here with a wait of 5 ms and a queue of 3 ms."""
    result = catalogue_model("training-storage").at(population=population).solve()
    rate = mean_value(population, 0.323 + 0.005, 0.003)
    assert result.throughput == pytest.approx(rate, rel=1e-9)
    stall = population / rate - 0.323
    busy = result.values["compute.utilisation"]
    assert busy == pytest.approx(0.323 / (0.323 + stall), rel=1e-9)


def test_a_window_hides_waits_until_storage_is_full():
    """8 accelerators: 3 ms a batch are a tenth of what storage can give."""
    model = catalogue_model("training-storage")
    loads = [(8 * (1 + window), window) for window in (0, 1, 3)]
    solved = [model.at(population=jobs, prefetch=window).solve() for jobs, window in loads]
    busy = [each.values["compute.utilisation"] for each in solved]
    assert busy[0] < busy[1] < busy[2] <= 1 + 1e-12
    assert busy[2] > 0.999
