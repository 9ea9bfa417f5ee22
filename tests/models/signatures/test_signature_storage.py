"""`headway signature storage`: runs of accelerators in; stalls and how many storage feeds out."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.models import data_path
from headway.models.reading.loadtest import read
from headway.models.signatures.storage import FedLoad, MeasuredStorage, ceiling, fed
from tests.support.command import headway, refusal

RUNS = str(data_path("mlperf_storage/runs.csv"))
TITLES = (
    "submitter,system,workload,accelerator,accelerators,hosts,accelerator_utilisation_percent,"
    "throughput_samples_per_s,io_mb_per_s,run"
)


def table(*rows):
    """Runs of unet3d on h100 by number of accelerators and utilisation in per cent."""
    lines = [f"x,filer,unet3d,h100,{n},1,{au},{n * au / 100 * 7 / 0.323},1,r{k}"
             for k, (n, au) in enumerate(rows)]  # fmt: skip
    return "\n".join([TITLES, *lines]) + "\n"


def loads_of(*pairs):
    return [FedLoad(n, share, None, None, None, None, 1) for n, share in pairs]


def fed_by(place, asked=0.9):
    return MeasuredStorage.of(read(str(place)).points, asked)


def repairman(number, think, service, servers):
    """Utilisation of N machines with some repairmen, by the chain of machines that are down."""
    logs = [0.0]
    for down in range(number):
        rate = (number - down) / think
        logs.append(logs[-1] + math.log(rate * service / min(down + 1, servers)))
    weights = np.exp(np.array(logs) - max(logs))
    return 1 - float(weights @ np.arange(number + 1) / weights.sum()) / number


# -- what is bounded -------------------------------------------------------------------------------


@given(
    numbers=st.lists(st.integers(1, 60), min_size=2, max_size=4, unique=True).map(sorted),
    more=st.integers(1, 60),
    service=st.floats(0.001, 1.0),
    servers=st.integers(1, 5),
    asked=st.floats(0.05, 0.95),
)
def test_any_number_of_repairmen_keeps_within_the_bounds(numbers, more, service, servers, asked):
    """The chain says what AU is at every number; all from lower loads, whatever the station."""

    def share(number):
        return repairman(number, 1.0, service, servers)

    loads = loads_of(*((n, share(n)) for n in numbers))
    assert share(numbers[-1] + more) <= ceiling(loads, numbers[-1] + more) * (1 + 1e-9)
    least, most = fed(loads, asked)
    if least:
        assert share(least) >= asked * (1 - 1e-9)
    if most < math.inf:
        assert share(int(most) + 1) < asked * (1 + 1e-9)


def test_a_load_below_the_utilisation_asked_ends_the_range():
    assert fed(loads_of((4, 0.95), (8, 0.85)), 0.9) == (4, 7)  # 3.8 are 90% of 4.2


def test_what_rises_is_said_and_bounds_nothing(tmp_path):
    (tmp_path / "runs.csv").write_text(table((2, 95.0), (4, 91.0), (8, 96.0)))
    (system,) = fed_by(tmp_path / "runs.csv").systems
    assert system.rises
    assert system.least == 8  # 8 x 0.96 / 0.9 = 8.5
    assert system.most == math.inf
    shown = headway("signature", "storage", str(tmp_path / "runs.csv"))
    assert "8 or more*" in shown.out
    assert "AU rises with N" in shown.out


# -- what is said of published runs ----------------------------------------------------------------


def test_stalls_follow_from_the_mean_utilisation():
    answer = json.loads(headway("signature", "storage", RUNS, "--json").out)
    assert len(answer["systems"]) == 51
    for system in answer["systems"]:
        for load in system["loads"]:
            if system["compute_time"] is None:
                assert load["stall"] is None
                continue
            stall = system["compute_time"] * (1 / load["utilisation"] - 1)
            assert load["stall"] == pytest.approx(stall, rel=1e-9)
            low, high = load["stalls"]
            assert low <= high
    least = [system["feeds_at_least"] for system in answer["systems"]]
    assert sum(least) > 0


def test_megabytes_read_are_of_1024_times_1024_bytes():
    """A sample of 3D U-Net has 146,600,628 bytes on average (unet3d_h100.yaml: record_length)."""
    for system in fed_by(RUNS).systems:
        if system.work.startswith("unet3d on"):
            (*_, load) = system.loads
            assert load.bandwidth / (7 * load.throughput) == pytest.approx(146600628, rel=1e-4)


def test_csv_has_a_row_for_each_number_of_accelerators():
    rows = headway("signature", "storage", RUNS, "--utilisation", "70%", "--csv").out.splitlines()
    assert len(rows) == 1 + 72
    assert rows[0].startswith("name,accelerators,runs,utilisation,stall_s,stall_low_s,")


def test_more_is_fed_where_less_is_asked():
    by_share = [fed_by(RUNS, share).systems for share in (0.95, 0.9, 0.7)]
    least = np.array([[system.least for system in systems] for systems in by_share])
    assert (np.diff(least, axis=0) >= 0).all()


# -- what is refused -------------------------------------------------------------------------------


def test_other_tests_have_no_accelerators():
    line = refusal("signature", "storage", "load_tests/wrk")
    assert "has no accelerators; give summaries of MLPerf Storage" in line


@pytest.mark.parametrize("share", ["0", "120%", "-5%"])
def test_no_accelerator_is_that_busy(share):
    line = refusal("signature", "storage", RUNS, f"--utilisation={share}")
    assert "it must be above 0 and at most 100%" in line


def test_runs_without_a_time_of_computation_are_fed_but_not_drawn(tmp_path):
    place = tmp_path / "runs.csv"
    place.write_text(table((2, 95.0)).replace("h100", ""))
    (system,) = fed_by(place).systems
    assert (system.compute, system.loads[0].stall, system.least) == (None, None, 2)
    line = refusal("signature", "storage", str(place), "--plot", str(tmp_path / "a.svg"))
    assert "no stall is known to draw" in line
