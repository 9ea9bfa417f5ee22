"""Small models and curves that the tests of fitting share."""

import re
from pathlib import Path

import numpy as np
import pytest

from headway.models import (
    Measurements,
    ModelGraph,
    data_path,
)
from headway.queueing import MM1, Delay, MMm

SCSI = data_path("network_sensitivity/table_a_1_scsi_performance.csv")
RAID = data_path("network_sensitivity/table_a_5_raid_performance.csv")
FREE = ["delay", "cpu_time", "disk_time", "touched_per_load"]
ONE = ModelGraph("one").declare("s").station("cpu", MM1("s"))
TWO = (
    ModelGraph("two")
    .declare("delay", "s")
    .station("wire", Delay("delay"))
    .station("cpu", MM1("s"))
    .route("wire", "cpu")
)
POOL = ModelGraph("pool").declare("s", "servers").station("cpu", MMm("s", "servers"))


def table(loads, times, header="throughput_ops_s,response_s"):
    rows = "\n".join(
        f"{x!r},{y!r}" for x, y in zip(map(float, loads), map(float, times), strict=True)
    )
    return Measurements.parse(f"{header}\n{rows}\n", "curve")


def noisy(model, loads, seed=0, noise=0.03):
    exact = np.asarray(model.solve(arrival_rate=loads).response_time)
    return table(
        loads, exact * (1 + noise * np.random.default_rng(seed).standard_normal(len(loads)))
    )


def check_coverage(name, hits, curves):
    """Hold the counts against what is promised, and against what the documentation prints."""
    page = (Path(__file__).parent.parent / "docs/explanation/intervals.md").read_text()
    for parameter, count in hits.items():
        assert 0.92 <= count / curves <= 0.98, (parameter, count)
        printed = re.search(rf"\| {name} \| `{parameter}` \| {curves} \| (\d+) \| ([\d.]+)%", page)
        # another machine's rounding may move an end or two across the truth
        assert abs(int(printed[1]) - count) <= 2, (parameter, count)
        assert float(printed[2]) == pytest.approx(100 * int(printed[1]) / curves, abs=0.051)
