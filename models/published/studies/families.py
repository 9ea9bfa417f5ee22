"""The five families of curves of Martin's thesis: in each, one network parameter is varied.

Latency and overhead were varied on both systems, bandwidth on one (Tables B.10 to B.14); each
table's rows name the varied parameter, and the others are at the apparatus's base.
"""

from collections.abc import Mapping

from headway.models.files.shipped import data_rows
from headway.models.measured.measurements import Measurements

BASE = {"latency_us": "10", "overhead_us": "80", "bandwidth_mb_s": "26"}
"""The apparatus when nothing was varied (sections 5.5.1, 5.5.3 and 5.5.4)."""

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


def family(system: str, *names: str) -> Measurements:
    """Families of one system in one table, with columns for everything that was varied in any.

    Parameters
    ----------
    system
        scsi or raid.
    names
        baseline, latency, overhead, bandwidth; by default all there are.

    Examples
    --------
    >>> family("raid", "overhead").column("overhead").values[:2].tolist()
    [8e-05, 8e-05]
    """
    titles = (*BASE, "throughput_ops_s", "response_ms", "family")
    rows = [row for name in names or FAMILIES[system] for row in _rows(system, name)]
    return Measurements.of_cells(titles, list(enumerate(rows, 2)), f"families of {system}")


def _rows(system: str, name: str) -> list[tuple[str, ...]]:
    entries = data_rows(f"network_sensitivity/{FAMILIES[system][name]}")
    return [
        (
            *(entry.get(key, base) for key, base in BASE.items()),
            entry["throughput_ops_s"],
            entry["response_ms"],
            name,
        )
        for entry in entries
    ]
