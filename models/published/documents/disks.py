"""Russell, End-User SCSI Disk Performance: rates of one disk and of a parallel file system."""

from collections.abc import Iterator

import numpy as np

from headway.models.files.shipped import catalogue_model
from headway.models.files.shipped import data_rows as rows
from headway.models.published.cells import Cell, Expectation, PublishedTable, cell_of_print
from headway.models.published.studies.disk_rates import (
    MB,
    RatePoint,
    RateTable,
    disk_streams,
    parallel_file,
)
from headway.records import dataclass

_ONE, _MEDIAN, _ABOUT = 0.2, 0.1, 0.1
_BLOCKS = (
    "blocks of 2 KB of an interleaved file: 2-, 4- and 8-way at 0.7, 1.6 and 0.8 MB/s follow no "
    "order; the model has one rate for all"
)


def _is_scattered(point: RatePoint) -> bool:
    settings = point.settings
    ways, size = settings.get("write_interleaving", 1), settings.get("block_size", 0)
    return bool(ways > 1 and settings.get("round_robin") and size <= 2048)


def _rates(table: RateTable) -> Iterator[Cell]:
    """All printed rates, and the median relative error in per cent."""
    for point, predicted in zip(table.points, table.predict(), strict=True):
        printed, name = float(point.printed), point.place
        beyond = table.model == "disk-streams" and _is_scattered(point)
        known = Expectation.BEYOND if beyond else Expectation.AGREE
        why = _BLOCKS if beyond else ""
        yield Cell(name, printed, predicted / MB, _ONE * printed, known, why)
    errors = np.abs(table.relative_errors())
    yield Cell("median relative error, all rates", 0.0, float(np.median(errors)), _MEDIAN)
    once = errors[table.one_a_statement()]
    yield Cell("median relative error, each statement once", 0.0, float(np.median(once)), _MEDIAN)


def _one_disk() -> Iterator[Cell]:
    return _rates(disk_streams())


def _parallel() -> Iterator[Cell]:
    yield from _rates(parallel_file())
    rate = float(catalogue_model("parallel-file").inputs["network_rate"]) / MB
    why = (
        "the model takes the plain transfer at 16 KB for all sizes; the text suspects its software"
    )
    for row in rows("scsi_disk/section_3_network_blast"):
        size, printed = row["block_size_kb"], float(row["rate_mb_s"])
        known = Expectation.INPUT if size == "16" else Expectation.BEYOND
        yield Cell(f"Figure 22 plain transfer, {size} KB", printed, rate, 0.0, known, why)


@dataclass(frozen=True)
class PercentChange:
    """A percentage in the text, with its figure, quantity and rates.

    Parameters
    ----------
    name
        What the text says.
    figure, quantity
        The figure and quantity that it is about.
    high, low
        The printed rates [MB/s].
    is_left
        Whether it is the remaining share, rather than the loss.
    """

    name: str
    figure: str
    quantity: str
    high: float
    low: float
    is_left: bool = False

    @property
    def percent(self) -> float:
        """The percentage that the rates give."""
        left = 100 * self.low / self.high
        return left if self.is_left else 100 - left

    @property
    def rounding(self) -> float:
        """Rounding error of rates printed to 0.05, in percentage points."""
        return 100 * (0.05 / self.high + 0.05 * self.low / self.high**2)


_ONE_PROCESS, _SEQUENTIAL = "share_of_single_process_rate", "share_of_sequential_rate"
_EIGHT = "drop_1_to_8_servers_without_disk"
_PRINTED_CHANGES = (
    PercentChange("loss in writing several files", "5", "drop_writing_two_or_more", 5.4, 4.8),
    PercentChange("left in reading several files", "6", _ONE_PROCESS, 6.0, 3.5, is_left=True),
    PercentChange("left of a file written 2-way", "10", _SEQUENTIAL, 6.3, 0.7, is_left=True),
    PercentChange(
        "loss in reading several interleaved files", "12", "drop_reading_several", 4.3, 3.2
    ),
    PercentChange("loss against the one-way rate", "12", "below_one_way_rate", 3.7, 3.2),
    PercentChange("loss with eight servers", "23", _EIGHT, 25.6, 24.8),
    PercentChange("loss by the file system", "23", "file_system_overhead", 28.2, 25.2),
    PercentChange("loss by waiting for disks", "21", "loss_from_disk_wait", 24.8, 18.9),
)


def _changes() -> Iterator[Cell]:
    """Percentages in the text, from the rates in the text."""
    table = rows("scsi_disk/in_text_relative_changes")
    printed = {(row["figure"], row["quantity"]): row for row in table}
    for change in _PRINTED_CHANGES:
        row = printed[change.figure, change.quantity]
        value, name = row["value_percent"], f"Figure {change.figure}, {change.name}"
        about = _ABOUT * float(value) if row["qualifier"] == "about" else 0.0
        yield cell_of_print(name, value, change.percent, slack=change.rounding + about)


TABLES = (
    PublishedTable(
        "section-2",
        "rates of one disk (disk-streams)",
        "MB/s",
        _one_disk,
        "20% for one rate, 10% for the median; most rates are said 'about'",
    ),
    PublishedTable(
        "section-3",
        "rates of parallel files, sections 3 and 4 (parallel-file)",
        "MB/s",
        _parallel,
        "20% for one rate, 10% for the median",
    ),
    PublishedTable(
        "percentages",
        "percentages of the text from its rates",
        "%",
        _changes,
        "half of the last digit, the rounding of both rates, 10% of what is said 'about'",
    ),
)
