"""Kotz, Exploring the use of I/O nodes for computation: Tables 2, 3 and 4."""

from collections.abc import Iterator

from headway.models.files.shipped import Row, catalogue_model
from headway.models.files.shipped import data_rows as rows
from headway.models.published.cells import Cell, Expectation, PublishedTable, cell_of_print

_SYSTEMS = {"traditional caching": "caching", "disk-directed": "disk-directed"}
_POINTS = 3.0


def _table(name: str) -> list[Row]:
    return rows(f"io_node_compute/{name}")


def _preset(row: Row) -> str:
    return f"{row['pattern']}-{row['operation']}-{_SYSTEMS[row['file_system']]}"


def _share(row: Row, output: str) -> float:
    return 100 * float(catalogue_model("io-node").with_preset(_preset(row)).solve()[output])


def _table_2() -> Iterator[Cell]:
    """Shares are solved from the table itself; the utilisation of the disks is not."""
    why = "time per byte and per request are solved from these two patterns"
    for row in _table("table_2_cpu_and_throughput"):
        printed = float(row["cpu_available_percent"])
        share = _share(row, "available")
        yield Cell(_preset(row), printed, share, 0.1, Expectation.INPUT, why)
    parameters = {row["parameter"]: row["value"] for row in _table("table_1_simulator_parameters")}
    peak = float(parameters["disks"]) * float(parameters["disk_peak_transfer_rate"])
    easy = [r for r in _table("table_2_cpu_and_throughput") if r["pattern"] == "easy"]
    used = [100 * float(row["io_throughput_mb_s"]) / peak for row in easy]
    yield cell_of_print("least share of peak disk rate, section 3.6", "86", min(used))
    yield cell_of_print("largest share of peak disk rate, section 3.6", "89", max(used))


_VARIED = (
    "services vary widely there, and a processor in the midst of a long one holds up all others; "
    "their lengths are not printed, the model has one length"
)
_SPREAD = (
    "within 3 points, yet 1.7 and 2.2 times too high: with hundreds of interruptions in an "
    "interval their spread counts, which the model leaves out"
)


def _table_3() -> Iterator[Cell]:
    """With barriers: the expected slowest of 16 processors."""
    for row in _table("table_3_barriers"):
        if row["barriers"] == "no":
            continue
        share, printed = _share(row, "available_with_barriers"), row["cpu_available_percent"]
        if row["pattern"] == "easy":
            yield Cell(_preset(row), float(printed), share, _POINTS)
        else:
            reason = _VARIED if row["file_system"] == "traditional caching" else _SPREAD
            yield Cell(_preset(row), float(printed), share, 0.0, Expectation.BEYOND, reason)


def _table_4() -> Iterator[Cell]:
    """Efficiency of LINPACK beside NFS: run time alone over run time with it."""
    base, *loaded = _table("table_4_measured_execution")
    for row in loaded:
        efficiency = 100 * float(base["run_time_s"]) / float(row["run_time_s"])
        yield cell_of_print(row["io_load"], row["efficiency_percent"], efficiency)


TABLES = (
    PublishedTable(
        "table-2",
        "processor left by file service",
        "%",
        _table_2,
        "half of the last digit of the two shares of peak disk rate",
    ),
    PublishedTable(
        "table-3",
        "processor usable with barriers",
        "%",
        _table_3,
        "3 points; one length of interruption is fitted to these four rows",
    ),
    PublishedTable(
        "table-4", "LINPACK on a node that serves NFS", "%", _table_4, "half of the last digit"
    ),
)
