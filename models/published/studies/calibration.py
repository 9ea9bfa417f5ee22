"""Two systems calibrated on their five families of curves, and predicted from the baseline alone.

The data are Tables A.1, A.5 and B.10 to B.14 of Martin's thesis (1999); see `families`.
"""

from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.models.files.shipped import catalogue_model
from headway.models.inference.fit import Fit
from headway.models.inference.fitting import fit_model
from headway.models.inference.searching.loss import Loss
from headway.models.measured.bends import bends_by_level
from headway.models.measured.measurements import Measurements
from headway.models.published.studies.families import BASE, FAMILIES, family
from headway.models.tables.shown import Shown
from headway.models.tables.table import Column, Table
from headway.records import dataclass

SHARED = (
    *("trips", "trips_on_miss", "cpu_time", "messages", "disk_time", "touched_per_load"),
    *("growth", "delay", "writes", "population", "think_time"),
)
"""Parameters of `server-nfs` that all families determine; bandwidth adds ``bytes``."""

START = {
    **{"touched_per_load": "0.2 MB*s", "delay": "2 ms"},
    **{"disk_time": "9 ms", "think_time": "3 ms"},
}
"""Where the search starts; its end does not depend on this."""

_STARTS = 24
_WORKLOAD: dict[str, Any] = {
    **{"trips": 2, "trips_on_miss": 0, "messages": 2.42, "bytes": 1700},
    **{"growth": 1, "writes": 0, "delay": "4 ms"},
}
"""What the workload itself prescribes: two latencies, 2.42 messages and 1.7 kB per operation."""


def calibrated(system: str) -> Fit:
    """Fit one parameter set to all families of a system together.

    Parameters
    ----------
    system
        scsi or raid.
    """
    free = [*SHARED, *(["bytes"] if "bandwidth" in FAMILIES[system] else [])]
    model = catalogue_model("server-nfs").with_preset(system).at(START)
    return fit_model(model, family(system), free, loss=Loss.SOFT_L1, starts=_STARTS)


def from_baseline(system: str) -> Fit:
    """Fit only the baseline curve of a system; the workload prescribes the rest.

    Parameters
    ----------
    system
        scsi or raid.

    Examples
    --------
    >>> sorted(from_baseline("scsi").free)
    ['cpu_time', 'delay', 'disk_time', 'touched_per_load']
    """
    start = catalogue_model("server-nfs").with_preset(system).at(_WORKLOAD)
    free = ["delay", "cpu_time", "disk_time", "touched_per_load"]
    return fit_model(start, family(system, "baseline"), free)


def on_bends(data: Measurements) -> Any:
    """Which points lie on branches that bend back.

    Parameters
    ----------
    data
        Families of one system.

    Examples
    --------
    >>> int(on_bends(family("raid")).sum())
    21
    """
    settings = {name: data.column(name).values for name in ("latency", "overhead", "bandwidth")}
    rate, time = data.column("throughput").values, data.column("response").values
    return np.asarray(bends_by_level(settings, rate, time))


@dataclass(frozen=True)
class FamilyErrors:
    """Errors of the rising points of one family.

    Parameters
    ----------
    system, name
        The family.
    errors
        Sizes of the relative errors of `server-nfs`, fitted to the baseline alone.
    open_errors
        Errors of the thesis's open model with its stated inputs; infinite beyond its saturation.
    """

    system: str
    name: str
    errors: FloatArray
    open_errors: FloatArray


@dataclass(frozen=True)
class FromBaseline(Shown):
    """Families predicted from the baseline alone.

    Parameters
    ----------
    families
        The errors of each.
    """

    families: tuple[FamilyErrors, ...]

    def __repr__(self) -> str:
        return f"FromBaseline({len(self.families)} families)"

    def medians(self) -> dict[str, float]:
        """Median size of the errors by system and family."""
        return {f"{f.system} {f.name}": float(np.median(f.errors)) for f in self.families}

    def tables(self) -> list[Table]:
        """Errors of each family, with those of the thesis's open model."""
        theirs = [f.open_errors for f in self.families]
        stable = [errors[np.isfinite(errors)] for errors in theirs]
        columns = (
            Column("system", tuple(f.system for f in self.families)),
            Column("family", tuple(f.name for f in self.families)),
            Column("median error", tuple(f"{np.median(f.errors):.1%}" for f in self.families)),
            Column(
                "90th percentile",
                tuple(f"{np.percentile(f.errors, 90):.1%}" for f in self.families),
            ),
            Column("thesis's model, median", tuple(f"{np.median(e):.1%}" for e in stable)),
            Column("beyond its saturation", tuple(str(np.isinf(e).sum()) for e in theirs)),
        )
        return [Table("predicted from the baseline alone", columns)]


def predicted_from_baseline() -> FromBaseline:
    """Predict every family of both systems from fits to their baselines."""
    predictions = []
    for system, names in FAMILIES.items():
        fit = from_baseline(system)
        predictions += [_predicted(fit, system, name) for name in names]
    return FromBaseline(tuple(predictions))


def _predicted(fit: Fit, system: str, name: str) -> FamilyErrors:
    data = family(system, name)
    rising = ~on_bends(data)
    errors = np.abs(fit.model.compare(data).relative_error)
    return FamilyErrors(system, name, errors[rising], _open_errors(system, data)[rising])


def _open_errors(system: str, data: Measurements) -> FloatArray:
    added_latency = data.column("latency").values - float(BASE["latency_us"]) * 1e-6
    added_overhead = data.column("overhead").values - float(BASE["overhead_us"]) * 1e-6
    model = (
        catalogue_model("nfs-server")
        .with_preset(system)
        .at(
            added_latency=np.maximum(added_latency, 0.0),
            added_overhead=np.maximum(added_overhead, 0.0),
        )
    )
    predicted = model.solve(arrival_rate=data.column("throughput").values).response_time
    return np.asarray(np.abs(predicted / data.column("response").values - 1))
