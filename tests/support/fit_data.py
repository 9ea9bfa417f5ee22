"""Small models and curves that the tests of fitting share."""

import numpy as np

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
