"""Martin's thesis, programs: Tables 3.3, 3.4, 4.2 and 4.3.

The base run times from which the published predictions start are printed rounded. In their place is
the number nearest to print with which every cell of a program reproduces; Tables 3.1 and 4.1 say
whether it rounds to what is printed.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from headway.loggp import (
    bulk_gap_run_time,
    burst_gap_run_time,
    mpi_overhead_run_time,
    overhead_run_time,
)
from headway.models.files.shipped import Row
from headway.models.files.shipped import data_rows as rows
from headway.models.published.cells import (
    Cell,
    Expectation,
    PublishedTable,
    cell_of_print,
    half_unit,
)
from headway.records import dataclass

_US, _MB = 1e-6, 1e6
_FOLDER = "network_sensitivity"
OVERHEADS = (2.9, 3.9, 4.9, 6.9, 7.9, 12.9, 22.9, 52.9, 102.9)
"""Levels of Table B.2 [us]; Table 3.3 prints them rounded."""

GAPS = (5.8, 8.3, 10.8, 15.8, 30.8, 55.8, 80.8, 105.8)
"""Levels of Table B.3 [us]; Table 3.4 prints them rounded."""

BANDWIDTHS = {"37": 37.5, "1.2": 1.19}
"""Levels of Table B.9 [MB/s] where Table 4.3 rounds them."""

BARNES_LEVELS = {4.9: 7.9, 6.9: 12.9}
EXCHANGED, MEASURED, PREDICTED = "Connect", "measured_run_time_s", "published_prediction_s"

_COLUMNS = (
    "Connect's columns are exchanged: the one headed measured holds the model's predictions, to "
    "the digit, and the other the measurements"
)
_SHIFTED = "Barnes's predictions for 7.9 and 12.9 us are printed at 4.9 and 6.9 us"
_SWAPPED = "both numbers of IS at 15 MB/s are those of MG"
_FRAGMENTS = (
    "the text of section 2.3.2 charges one overhead for each 4 KB fragment; the table charges two, "
    "a fragment being a request with a reply"
)
_FT_BASE = "Table 4.1 has 173.2, and all of FT's other cells need 173.16"


@dataclass(frozen=True)
class Prediction:
    """A published prediction: what the law adds to the base run time.

    Parameters
    ----------
    name
        Program and level.
    printed
        Run time as printed [s].
    added
        What the law adds to the base [s].
    erratum
        The error in print, if there is one.
    """

    name: str
    printed: str
    added: float
    erratum: str = ""


def base_run_time(predictions: Iterable[Prediction], printed: float) -> float:
    """The base run time nearest to print with which all predictions agree to the digit [s].

    Examples
    --------
    >>> round(base_run_time([Prediction("a", "7.8", 0.0), Prediction("b", "10.3", 2.56)], 7.76), 3)
    7.76
    """
    sound = [p for p in predictions if not p.erratum]
    low = max(float(p.printed) - half_unit(p.printed) - p.added for p in sound)
    high = min(float(p.printed) + half_unit(p.printed) - p.added for p in sound)
    return min(max(printed, low), high)


def _cells(predictions: Iterable[Prediction], base: float) -> Iterator[Cell]:
    for item in predictions:
        cell = cell_of_print(item.name, item.printed, base + item.added)
        if item.erratum and not cell.is_near:
            known = Expectation.ERRATUM
            cell = Cell(item.name, cell.printed, base + item.added, 0.0, known, item.erratum)
        yield cell


@lru_cache(maxsize=1)
def _messages() -> dict[str, float]:
    """Largest message count of each Split-C program."""
    table = rows(f"{_FOLDER}/table_3_2_split_c_communication")
    return {row["program"]: float(row["max_messages_per_processor"]) for row in table}


def _of(table: str, program: str) -> list[Row]:
    return [row for row in rows(f"{_FOLDER}/{table}") if row["program"] == program]


def overheads(program: str) -> list[Prediction]:
    """A Split-C program's cells of Table 3.3, including corrected exchanges and shifts.

    Examples
    --------
    >>> cell = overheads("Radix")[-1]
    >>> cell.name, cell.printed, round(cell.added, 1)
    ('Radix 103 us', '263.6', 255.8)
    """
    cells = []
    table = _of("table_3_3_overhead_predictions", program)
    for level, row in zip(OVERHEADS, table, strict=True):
        if program == "Barnes" and level in BARNES_LEVELS:
            cells += _shifted(level, row)
        elif row[PREDICTED]:
            cells += _read(program, f"{row['overhead_us']} us", row, _added(program, level))
    return cells


def _added(program: str, level: float) -> float:
    return float(overhead_run_time(0.0, _messages()[program], (level - OVERHEADS[0]) * _US))


def _shifted(level: float, row: Row) -> list[Prediction]:
    """Barnes: the cell as printed, and the same number at the level it belongs to."""
    right = BARNES_LEVELS[level]
    return [
        Prediction(f"Barnes {level} us", row[PREDICTED], _added("Barnes", level), _SHIFTED),
        Prediction(
            f"Barnes {right} us, printed at {level}", row[PREDICTED], _added("Barnes", right)
        ),
    ]


def _read(program: str, level: str, row: Row, added: float) -> list[Prediction]:
    """A cell; for Connect, the cell as printed and the one from the column where it belongs."""
    name = f"{program} {level}"
    if program != EXCHANGED:
        return [Prediction(name, row[PREDICTED], added)]
    return [
        Prediction(name, row[PREDICTED], added, _COLUMNS),
        Prediction(f"{name}, other column", row[MEASURED], added),
    ]


def gaps(program: str) -> list[Prediction]:
    """A Split-C program's cells of Table 3.4, including corrected exchanges."""
    cells = []
    for level, row in zip(GAPS, _of("table_3_4_gap_predictions", program), strict=True):
        added = float(burst_gap_run_time(0.0, _messages()[program], (level - GAPS[0]) * _US))
        cells += _read(program, f"{row['gap_us']} us", row, added)
    return cells


@lru_cache(maxsize=1)
def printed_run_times() -> dict[str, str]:
    """Base run times of the Split-C programs on 32 nodes, as printed [s]."""
    table = rows(f"{_FOLDER}/table_3_1_split_c_applications")
    return {row["program"]: row["run_time_s"] for row in table if row["nodes"] == "32"}


def _split_c_base(program: str) -> float:
    cells = [*overheads(program), *gaps(program)]
    return base_run_time(cells, float(printed_run_times()[program]))


def _table_3_1() -> Iterator[Cell]:
    for program, printed in printed_run_times().items():
        yield cell_of_print(program, printed, _split_c_base(program))


def _table_3_3() -> Iterator[Cell]:
    for program in _messages():
        yield from _cells(overheads(program), _split_c_base(program))


def _table_3_4() -> Iterator[Cell]:
    for program in _messages():
        yield from _cells(gaps(program), _split_c_base(program))


@lru_cache(maxsize=1)
def _npb() -> dict[str, Row]:
    table = rows(f"{_FOLDER}/table_4_1_npb_communication")
    return {row["program"]: row for row in table}


def _mpi_added(program: str, overhead: float, per_fragment: float = 2.0) -> float:
    """What an overhead [us] adds, less that of the base of 10 us."""
    row = _npb()[program]
    messages = float(row["mpi_device_messages"])
    fragments = float(row["active_message_4k_fragments"]) * per_fragment / 2
    return float(mpi_overhead_run_time(0.0, messages, fragments, (overhead - 10) * _US))


def npb_overheads(program: str) -> list[Prediction]:
    """A NAS program's cells of Table 4.2."""
    cells = []
    for row in _of("table_4_2_npb_overhead_predictions", program):
        level = row["overhead_us"]
        if row[PREDICTED]:
            wrong = _FT_BASE if program == "FT" and level == "10" else ""
            added = _mpi_added(program, float(level))
            cells.append(Prediction(f"{program} {level} us", row[PREDICTED], added, wrong))
    return cells


def npb_bandwidths(program: str) -> list[Prediction]:
    """A NAS program's cells of Table 4.3."""
    cells = []
    sent = float(_npb()[program]["mpi_device_bytes"])
    for row in _of("table_4_3_npb_bulk_gap_predictions", program):
        level = row["bandwidth_mb_s"]
        if row[PREDICTED]:
            rate = BANDWIDTHS.get(level, float(level)) * _MB
            added = float(bulk_gap_run_time(0.0, sent, rate, BANDWIDTHS["37"] * _MB))
            wrong = {("IS", "15"): _SWAPPED, ("FT", "37"): _FT_BASE}.get((program, level), "")
            cells.append(Prediction(f"{program} {level} MB/s", row[PREDICTED], added, wrong))
    return cells


def _npb_base(program: str) -> float:
    cells = [*npb_overheads(program), *npb_bandwidths(program)]
    return base_run_time(cells, float(_npb()[program]["run_time_s"]))


def _table_4_1() -> Iterator[Cell]:
    for program, row in _npb().items():
        yield cell_of_print(f"{program} run time", row["run_time_s"], _npb_base(program))


def _table_4_2() -> Iterator[Cell]:
    for program in _npb():
        yield from _cells(npb_overheads(program), _npb_base(program))
    last = npb_overheads("FT")[-1]
    once = _npb_base("FT") + _mpi_added("FT", 110, per_fragment=1)
    known, name = Expectation.ERRATUM, f"{last.name} as the text says"
    yield Cell(name, float(last.printed), once, 0.0, known, _FRAGMENTS)


def _table_4_3() -> Iterator[Cell]:
    for program in _npb():
        yield from _cells(npb_bandwidths(program), _npb_base(program))


_DIGIT = "half of the last digit, with one unrounded base run time a program"
_BASE = "half of the last digit; the base is the one that the predictions need"

TABLES = (
    PublishedTable("table-3.1", "base run times on 32 nodes", "s", _table_3_1, _BASE),
    PublishedTable("table-3.3", "run time with a greater overhead", "s", _table_3_3, _DIGIT),
    PublishedTable("table-3.4", "run time with a greater gap, bursts", "s", _table_3_4, _DIGIT),
    PublishedTable("table-4.1", "base run times of the NAS programs", "s", _table_4_1, _BASE),
    PublishedTable("table-4.2", "NAS programs with a greater overhead", "s", _table_4_2, _DIGIT),
    PublishedTable("table-4.3", "NAS programs with less bandwidth", "s", _table_4_3, _DIGIT),
)
