"""Martin's thesis, NFS server: Table 5.1 and the regressions of section 5.5."""

from collections.abc import Iterator

import numpy as np

from headway.kinds import FloatArray
from headway.models.files.shipped import Row, catalogue_model
from headway.models.files.shipped import data_rows as rows
from headway.models.measured.regression import RegressionLine, r_squared, regression_line
from headway.models.published.cells import Cell, Expectation, PublishedTable, cell_of_print
from headway.models.structure.model import Model
from headway.records import dataclass

_FOLDER = "network_sensitivity"
_STEPS = 2.4
"""Messages per operation whose overhead affects the saturation point (section 5.3.3)."""


@dataclass(frozen=True)
class System:
    """A measured server and its requested loads.

    Parameters
    ----------
    name, preset
        As printed, and in the catalogue.
    curve, overhead
        Tables of its base curve, and of its curves by overhead.
    requested
        Requested loads [op/s], one for each row of the curve; the delivered ones are slightly less.
    low
        Least requested load in the regression.
    high
        Greatest requested load in the regression.
    """

    name: str
    preset: str
    curve: str
    overhead: str
    requested: tuple[int, ...]
    low: int
    high: int

    def line(self, response: FloatArray) -> RegressionLine:
        """Regression of response times [ms] on the requested loads in its range."""
        loads = np.array(self.requested, float)
        inside = (loads >= self.low) & (loads <= self.high)
        return regression_line(loads[inside], response[inside])


_SCSI = System(
    "SCSI",
    "scsi",
    "table_a_1_scsi_performance",
    "table_b_13_sfs_overhead_scsi",
    (200, 400, 600, 800, 950, 1000, 1050),
    200,
    1050,
)
_RAID = System(
    "RAID",
    "raid",
    "table_a_5_raid_performance",
    "table_b_12_sfs_overhead_raid",
    (300, 400, 500, 600, 700, 800, 900, 1000, 1200, 1300, 1400, 1500),
    500,
    1400,
)
_EXCHANGED = (
    "the two RAID intercepts are exchanged: -6.8 ms belongs to the measurement, -0.04 ms to the "
    "prediction"
)
_SERVICE = (
    "the modelled columns do not reproduce with the service times of section 5.3.1; 0.71 and "
    "0.585 ms instead of 0.90 and 0.65 come nearest, and other choices come as near"
)


def _quantities(line: RegressionLine, base: float) -> dict[str, float]:
    return {
        "slope": 1000 * line.slope,
        "y_intercept": line.intercept,
        "base": base,
        "r_squared": line.r_squared,
    }


def _measured(system: System) -> dict[str, float]:
    table = rows(f"{_FOLDER}/{system.curve}")
    response = np.array([float(row["response_ms"]) for row in table])
    inside = [r for r, load in zip(response, system.requested, strict=True) if load >= system.low]
    return _quantities(system.line(response), min(inside))


def _predicted(system: System) -> dict[str, float]:
    model: Model = catalogue_model("nfs-server").with_preset(system.preset)
    loads = np.array(system.requested, float)
    response = 1000 * np.asarray(model.solve(arrival_rate=loads)["response_time"])
    within = loads >= system.low
    return _quantities(system.line(response), float(response[within].min()))


def _printed(system: System) -> dict[str, Row]:
    table = rows(f"{_FOLDER}/table_5_1_sfs_regressions")
    return {row["quantity"]: row for row in table if row["system"] == system.name}


def _table_5_1() -> Iterator[Cell]:
    for system in (_SCSI, _RAID):
        printed = _printed(system)
        for quantity, value in _measured(system).items():
            yield _measured_cell(system, quantity, printed[quantity], value)
        for quantity, value in _predicted(system).items():
            yield _predicted_cell(system, quantity, printed[quantity], value)


_SURE = {("RAID", "base"): 0.07, ("RAID", "r_squared"): 0.005}
"""Modelled cells that do reproduce, with their tolerances."""


def _predicted_cell(system: System, quantity: str, row: Row, computed: float) -> Cell:
    name = f"{system.name} predicted {quantity}"
    printed, key = float(row["published_prediction"]), (system.name, quantity)
    if key in _SURE:
        return Cell(name, printed, computed, _SURE[key])
    reason = _EXCHANGED if key == ("RAID", "y_intercept") else ""
    return Cell(
        name, printed, computed, 0.0, Expectation.ERRATUM, "; ".join((reason, _SERVICE)).strip("; ")
    )


_LAST_DIGIT = {"slope": 0.0, "y_intercept": 0.005, "base": 0.0, "r_squared": 0.0}
"""Tolerance beyond half of the last digit, as the inputs are response times rounded to 0.1 ms."""


def _measured_cell(system: System, quantity: str, row: Row, computed: float) -> Cell:
    name = f"{system.name} measured {quantity}"
    if (system.name, quantity) == ("RAID", "y_intercept"):
        value = float(row["measured_value"])
        return Cell(name, value, computed, 0.0, Expectation.ERRATUM, _EXCHANGED)
    return cell_of_print(name, row["measured_value"], computed, slack=_LAST_DIGIT[quantity])


def _peaks(system: System) -> tuple[FloatArray, FloatArray]:
    """Added overhead [us] and largest throughput [op/s] of each curve."""
    table = rows(f"{_FOLDER}/{system.overhead}")
    levels = sorted({float(row["overhead_us"]) for row in table})
    peaks = [
        max(float(r["throughput_ops_s"]) for r in table if float(r["overhead_us"]) == level)
        for level in levels
    ]
    return np.array(levels) - levels[0], np.array(peaks)


def _service_time_free(system: System) -> float:
    """Share of variance explained, r squared, of 1/(Serv + 2.4 o) with Serv fitted."""
    from scipy.optimize import minimize_scalar

    overhead, peaks = _peaks(system)

    def missed(service: float) -> float:
        return float(np.sum((peaks - 1e6 / (service + _STEPS * overhead)) ** 2))

    best = minimize_scalar(missed, bounds=(300.0, 2000.0), method="bounded").x
    return r_squared(peaks, 1e6 / (best + _STEPS * overhead))


def _reciprocal_line(system: System) -> float:
    """Share of variance explained, r squared, of the straight line of 1/throughput on overhead."""
    overhead, peaks = _peaks(system)
    return regression_line(overhead, 1 / peaks).r_squared


def _latency_slope(load: float) -> float:
    """Increase of the SCSI system's response time per added latency, from 500 us on."""
    table = rows(f"{_FOLDER}/table_b_10_sfs_latency_scsi")
    levels: dict[float, list[Row]] = {}
    for row in table:
        levels.setdefault(float(row["latency_us"]), []).append(row)
    points = []
    for latency, curve in levels.items():
        near = [r for r in curve if abs(float(r["throughput_ops_s"]) - load) < _LOAD_SLACK]
        if latency >= _FLAT and near:
            points.append((latency, 1000 * float(near[0]["response_ms"])))
    across, up = np.array(points).T
    return regression_line(across, up).slope


_FLAT, _LOAD_SLACK, _LOADS = 500.0, 15.0, (200.0, 400.0, 600.0)
_METHOD = (
    "with the service time free and 2.4 messages, which gives RAID its .93, SCSI has 0.912; its "
    ".99 comes from the straight line of 1/throughput on overhead; no one method gives both"
)


def _section_5_5() -> Iterator[Cell]:
    """Saturation against overhead, messages per operation, response time against latency."""
    free, line = "service time free", "line of 1/throughput"
    raid, scsi = _service_time_free(_RAID), _service_time_free(_SCSI)
    yield cell_of_print(f"RAID r squared, {free}", "0.93", raid)
    yield Cell(f"SCSI r squared, {free}", 0.99, scsi, 0.0, Expectation.ERRATUM, _METHOD)
    yield cell_of_print(f"SCSI r squared, {line}", "0.99", _reciprocal_line(_SCSI))
    yield cell_of_print("messages an operation, 2 + 2 (0.14 + 0.07)", "2.4", 2 + 2 * 0.21)
    slopes = [_latency_slope(load) for load in _LOADS]
    yield cell_of_print("SCSI response per latency, mean over loads", "3", float(np.mean(slopes)))


TABLES = (
    PublishedTable(
        "table-5.1",
        "lines of NFS response on requested load",
        "",
        _table_5_1,
        "half of the last digit, 0.01 ms for the intercept; 0.07 ms for a modelled base",
    ),
    PublishedTable(
        "section-5.5",
        "regressions of saturation and latency",
        "",
        _section_5_5,
        "half of the last digit",
    ),
)
