"""The published disk rates as operating points of `disk-streams` and `parallel-file`.

Each printed rate (Russell, INRIA 3494) becomes a preset, settings and a rate, so that the models
can be compared with it, fitted to all, and fitted to all but one.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.models.files.shipped import catalogue_model, data_rows
from headway.models.structure.model import Model
from headway.records import dataclass

MB = 1e6


@dataclass(frozen=True)
class RatePoint:
    """A printed rate, and the operating point at which it was measured.

    Parameters
    ----------
    place
        The section or figure, and what was done.
    statement
        Rates of one statement, printed once for several operating points, share this.
    preset
        Preset of the model.
    settings
        Parameters with other values than the preset's.
    printed
        The rate as printed, in MB/s.
    """

    place: str
    statement: str
    preset: str
    settings: Mapping[str, float]
    printed: str

    @property
    def rate(self) -> float:
        """The printed rate [B/s]."""
        return MB * float(self.printed)


@dataclass(frozen=True)
class Free:
    """A fitted parameter, common to the named presets, or to all."""

    name: str
    presets: tuple[str, ...] = ()


@dataclass(frozen=True)
class RateTable:
    """A model, and the rates to which it is fitted."""

    model: str
    points: tuple[RatePoint, ...]
    free: tuple[Free, ...]

    def start(self) -> FloatArray:
        """The catalogue's values of the free parameters."""
        model = catalogue_model(self.model)
        chosen = [model.with_preset(f.presets[0]) if f.presets else model for f in self.free]
        return np.array([m.inputs[f.name] for m, f in zip(chosen, self.free, strict=True)], float)

    def predict(self, values: Sequence[float] | None = None) -> FloatArray:
        """The model's rate at each point [B/s], with the catalogue's or other values."""
        rates = np.empty(len(self.points))
        for preset in dict.fromkeys(point.preset for point in self.points):
            mine = [k for k, point in enumerate(self.points) if point.preset == preset]
            names = dict.fromkeys(n for k in mine for n in self.points[k].settings)
            model = self._with(preset, values)
            usual = model.inputs
            settings = {
                name: np.array([self.points[k].settings.get(name, usual[name]) for k in mine])
                for name in names
            }
            rates[mine] = np.broadcast_to(model.at(settings).solve()["rate"], len(mine))
        return rates

    def _with(self, preset: str, values: Sequence[float] | None) -> Model:
        model = catalogue_model(self.model).with_preset(preset)
        if values is None:
            return model
        pairs = zip(self.free, values, strict=True)
        return model.at({f.name: v for f, v in pairs if not f.presets or preset in f.presets})

    def relative_errors(self) -> FloatArray:
        """Relative error of each rate, with the catalogue's values."""
        return self.predict() / self.printed - 1

    @property
    def printed(self) -> FloatArray:
        """The printed rates [B/s]."""
        return np.array([point.rate for point in self.points])

    def one_a_statement(self) -> list[int]:
        """The first point of each statement: a rate printed once counts once."""
        counts: dict[str, int] = {}
        for index, point in enumerate(self.points):
            counts.setdefault(point.statement, index)
        return list(counts.values())


USUAL_ERROR = 0.05
"""Relative error above which a rate has less weight in the fit, so that outliers do not dominate.
"""


def refit(table: RateTable, keep: Any = None) -> FloatArray:
    """Fit the free parameters to the rates that `keep` selects, by default to all.

    Least squares of the logarithm of the rate, with soft L1 loss beyond 5%.
    """
    from scipy.optimize import least_squares

    chosen = slice(None) if keep is None else keep
    start = table.start()

    def missed(scales: FloatArray) -> FloatArray:
        rates = table.predict((start * scales).tolist())
        gone: FloatArray = np.log(rates / table.printed)[chosen]
        return gone

    ones = np.ones(len(start))
    optimum = least_squares(missed, ones, bounds=(0.2, 2.5), loss="soft_l1", f_scale=USUAL_ERROR)
    fitted: FloatArray = start * optimum.x
    return fitted


def leave_one_out(table: RateTable) -> FloatArray:
    """Relative error of each rate, predicted by a fit to all rates of other statements."""
    errors = np.empty(len(table.points))
    statements = np.array([point.statement for point in table.points])
    for name in dict.fromkeys(statements.tolist()):
        left = statements == name
        rates = table.predict(refit(table, ~left).tolist())
        errors[left] = (rates / table.printed - 1)[left]
    return errors


def _rows(name: str) -> list[dict[str, str]]:
    return data_rows(f"scsi_disk/{name}")


@lru_cache(maxsize=1)
def disk_streams() -> RateTable:
    """Rates of one disk: sections 2.1 and 2.2."""
    points = [_sequential(row, "2.1.3") for row in _rows("section_2_1_3_baselines")]
    points += [_sequential(row, row["section"]) for row in _rows("section_2_1_single_file")]
    points += [_several(row) for row in _rows("section_2_2_multiple_files")]
    writes = ("linux-write", "solaris-write")
    rates = [Free("sequential_rate", (name,)) for name in sorted({p.preset for p in points})]
    shared = [Free("positioning_time"), Free("run_length", writes)]
    gaps = [Free("gap_time"), Free("gap_time_per_byte")]
    return RateTable("disk-streams", tuple(points), (*rates, *shared, *gaps))


def _preset(row: Mapping[str, str]) -> str:
    return f"{row['platform']}-{row['operation']}".lower()


def _sequential(row: Mapping[str, str], section: str) -> RatePoint:
    size = f", {row['file_size_mb']} MB" if row.get("file_size_mb") else ", mean"
    place = f"{section} {row['platform']} {row['operation']}{size}"
    return RatePoint(place, place, _preset(row), {"block_size": 2.0**20}, row["rate_mb_s"])


def _several(row: Mapping[str, str]) -> RatePoint:
    streams, ways = row["streams_max"], row["write_interleaving"] or "1"
    in_turn = row["access"].startswith("one process")
    settings = {
        "streams": float(streams),
        "block_size": float(row["block_size_bytes"]),
        "write_interleaving": float(ways),
        "round_robin": float(in_turn),
    }
    several = streams if streams == row["streams_min"] else f"{row['streams_min']} to {streams}"
    place = (
        f"Figure {row['figure']} {row['platform']} {row['operation']}, {several} streams, "
        f"{row['block_size_bytes']} B, {ways}-way"
    )
    statement = f"Figure {row['figure']} {several} {row['rate_mb_s']}"
    return RatePoint(place, statement, _preset(row), settings, row["rate_mb_s"])


@lru_cache(maxsize=1)
def parallel_file() -> RateTable:
    """Rates of the parallel file system: sections 3 and 4."""
    points = [_one_client(row) for row in _rows("section_3_one_client_reading")]
    points += [_many_clients(row) for row in _rows("section_4_many_clients")]
    names = ("file_system_time", "disk_wait", "request_time", "knee", "interleaving_loss")
    free = [Free("shared_rate", ("read",)), Free("shared_rate", ("write",)), Free("write_limit")]
    return RateTable("parallel-file", tuple(points), (*free, *map(Free, names)))


def _one_client(row: Mapping[str, str]) -> RatePoint:
    disk = "" if row["disk_read"] == "yes" else " without disk"
    place = f"Figure {row['figure']} {row['servers']} servers, {row['block_size_bytes']} B{disk}"
    settings = {
        "servers": float(row["servers"]),
        "block_size": float(row["block_size_bytes"]),
        "disk_read": float(not disk),
    }
    return RatePoint(place, place, "read", settings, row["rate_mb_s"])


def _many_clients(row: Mapping[str, str]) -> RatePoint:
    ways = row["write_interleaving"] or "1"
    place = (
        f"Figure {row['figure']} {row['operation']}, {row['servers']} servers, "
        f"{row['clients_min']} clients, {ways}-way"
    )
    settings = {
        "servers": float(row["servers"]),
        "clients": float(row["clients_min"]),
        "write_interleaving": float(ways),
    }
    return RatePoint(place, place, row["operation"], settings, row["rate_mb_s"])
