"""The five families of curves of Martin's thesis: one system each, one network parameter varied.

Latency and overhead were varied on both systems, bandwidth on one (Tables B.10 to B.14); each
table's rows name the varied parameter, the others stand at the apparatus's base.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.models.fit import Fit, fit_model
from headway.models.fit_loss import Loss
from headway.models.fit_paced import bent_by_level
from headway.models.measurements import Measurements
from headway.models.model import Model
from headway.models.shipped import catalogue_model, data_path

BASE = {"latency_us": "10", "overhead_us": "80", "bandwidth_mb_s": "26"}
"""The apparatus as it was where nothing was varied (sections 5.5.1, 5.5.3 and 5.5.4)."""

FAMILIES: Mapping[str, Mapping[str, str]] = {
    "scsi": {
        "baseline": "table_a_1_scsi_performance",
        "latency": "table_b_10_sfs_latency_scsi",
        "overhead": "table_b_13_sfs_overhead_scsi",
        "bandwidth": "table_b_14_sfs_bandwidth_scsi",
    },
    "raid": {
        "baseline": "table_a_5_raid_performance",
        "latency": "table_b_11_sfs_latency_raid",
        "overhead": "table_b_12_sfs_overhead_raid",
    },
}
"""Tables by system and family."""

FREE = (
    *("trips", "trips_on_miss", "cpu_time", "messages", "disk_time", "touched_per_load"),
    *("growth", "delay", "writes", "population", "think_time"),
)
"""What all families of a system together determine; bytes too where bandwidth was varied."""

START = {
    "touched_per_load": "0.2 MB*s",
    "delay": "2 ms",
    "disk_time": "9 ms",
    "think_time": "3 ms",
}

WORKLOAD = {
    "trips": 2,
    "trips_on_miss": 0,
    "messages": 2.42,
    "bytes": 1700,
    "growth": 1,
    "writes": 0,
    "delay": "4 ms",
}
"""What is known before anything is fitted: exchanges, messages and data an operation (section
5.3.3); misses that grow with the load, writes into the cache."""


def family(system: str, *names: str) -> Measurements:
    """Families of one system in one table, with columns for all that was varied in any.

    Parameters
    ----------
    system
        scsi or raid.
    names
        baseline, latency, overhead, bandwidth; all there are if none is named.

    Examples
    --------
    >>> family("raid", "overhead").column("overhead").values[:2].tolist()
    [8e-05, 8e-05]
    """
    titles = (*BASE, "throughput_ops_s", "response_ms", "family")
    rows = [row for name in names or FAMILIES[system] for row in _rows(system, name)]
    text = "\n".join(",".join(row) for row in (titles, *rows))
    return Measurements.parse(text, f"families of {system}")


def _rows(system: str, name: str) -> list[tuple[str, ...]]:
    import csv

    path = data_path(f"network_sensitivity/{FAMILIES[system][name]}.csv")
    with path.open(encoding="utf-8", newline="") as stream:
        entries = list(csv.DictReader(stream))
    return [
        (
            *(entry.get(key, base) for key, base in BASE.items()),
            entry["throughput_ops_s"],
            entry["response_ms"],
            name,
        )
        for entry in entries
    ]


def on_bend(data: Measurements) -> Any:
    """Which rows of a table of families lie on branches that bend back."""
    settings = {name: data.column(name).values for name in ("latency", "overhead", "bandwidth")}
    rate, time = data.column("throughput").values, data.column("response").values
    return bent_by_level(settings, rate, time)


def calibrated(system: str) -> Fit:
    """Fit one parameter set to all families of a system, by a loss that outliers pull less."""
    free = (*FREE, "bytes") if "bandwidth" in FAMILIES[system] else FREE
    model = catalogue_model("server-nfs").with_preset(system).at(START)
    return fit_model(model, family(system), free, loss=Loss.SOFT_L1, starts=24)


@dataclass(frozen=True)
class FamilyErrors:
    """How well a family's rising branch is predicted from the baseline alone.

    Parameters
    ----------
    system, family
        Which curves.
    errors
        Relative, of `server-nfs` fitted to the baseline.
    thesis_errors
        Relative, of the thesis's open model with its stated inputs, where it sustains the load.
    not_sustained
        Points at which the thesis's model is saturated.
    """

    system: str
    family: str
    errors: FloatArray
    thesis_errors: FloatArray
    not_sustained: int


def predicted_from_baseline(system: str) -> list[FamilyErrors]:
    """Calibrate on a system's baseline curve alone, and predict its families."""
    start = catalogue_model("server-nfs").with_preset(system).at(WORKLOAD)
    free = ("delay", "cpu_time", "disk_time", "touched_per_load")
    alone = fit_model(start, family(system, "baseline"), free).model
    thesis = catalogue_model("nfs-server").with_preset(system)
    return [_family_errors(system, name, alone, thesis) for name in FAMILIES[system]]


def _family_errors(system: str, name: str, alone: Model, thesis: Model) -> FamilyErrors:
    data = family(system, name)
    rising = ~on_bend(data)
    latency, overhead = data.column("latency").values, data.column("overhead").values
    slowed = thesis.at(
        added_latency=np.maximum(latency - 10e-6, 0), added_overhead=np.maximum(overhead - 80e-6, 0)
    )
    solved = slowed.solve(arrival_rate=data.column("throughput").values)
    theirs = np.asarray(solved.response_time) / data.column("response").values - 1
    known = np.isfinite(theirs[rising])
    ours = alone.compare(data).relative_error[rising]
    return FamilyErrors(system, name, ours, theirs[rising][known], int((~known).sum()))
