"""Measured slowdowns of ten programs on slower networks, compared with models of the catalogue.

The runs are Tables B.2 to B.5 of Martin's thesis (1999), on 32 nodes, with ten programs; in each
table one machine parameter is varied.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.loggp.programs.burstiness import BurstinessFit, GapRuns, fit_burstiness
from headway.models.files.shipped import catalogue_model, data_path
from headway.models.language.verbs import perform
from headway.models.measured.measurements import Measurements
from headway.models.tables.shown import Shown
from headway.models.tables.table import Column, Table
from headway.records import dataclass

if TYPE_CHECKING:
    from headway.models.published.studies.slowdown_figures import SlowdownPanel

NODES = 32

PROGRAMS = {
    "radix": "Radix",
    "em3d-write": "EM3D(write)",
    "em3d-read": "EM3D(read)",
    "sample": "Sample",
    "barnes": "Barnes",
    "p-ray": "P-Ray",
    "murphi": "Murphi",
    "connect": "Connect",
    "now-sort": "NOW-sort",
    "radb": "Radb",
}
"""Programs of the tables by their presets."""


@dataclass(frozen=True)
class Varied:
    """A machine parameter that was varied.

    Parameters
    ----------
    table
        Table of the measured runs.
    base
        Its value on the unmodified machine [SI].
    setting
        The models' parameter for it: the level itself, or what was added.
    axis
        Its label in plots, with unit.
    shown
        Number of that unit in an SI unit.
    """

    table: str
    base: float
    setting: str
    axis: str
    shown: float

    def settings(self, levels: FloatArray) -> FloatArray:
        """Values of the models' parameter at measured levels [SI]."""
        if self.setting.startswith("added"):
            return np.maximum(levels - self.base, 0.0)
        return levels


VARIED = {
    "overhead": Varied(
        "table_b_02_overhead_32_nodes", 2.9e-6, "added_overhead", "added overhead [us]", 1e6
    ),
    "gap": Varied("table_b_03_gap", 5.8e-6, "added_gap", "added gap [us]", 1e6),
    "latency": Varied("table_b_04_latency", 5e-6, "added_latency", "added latency [us]", 1e6),
    "bandwidth": Varied("table_b_05_bandwidth", 37.5e6, "bandwidth", "bandwidth [MB/s]", 1e-6),
}
"""Varied parameters, by the column that holds their levels."""


@dataclass(frozen=True)
class Study(Shown):
    """Slowdowns of every program, measured and by some models.

    Parameters
    ----------
    axis
        The varied parameter, with unit.
    panels
        One panel per program: levels, measured and predicted slowdowns.
    errors
        Relative errors by model and program, at the levels that were changed.
    """

    axis: str
    panels: tuple["SlowdownPanel", ...]
    errors: Mapping[str, Mapping[str, FloatArray]]

    def __repr__(self) -> str:
        return f"Study({self.axis}: {', '.join(self.errors)})"

    def plot(self, log: str | None = None, dark: bool = False) -> Any:  # noqa: FBT001, FBT002
        """Draw a panel for each program."""
        from headway.models.published.studies.slowdown_figures import slowdown_figure

        return perform(slowdown_figure(self.panels, self.axis), "finish", log or "none", dark)

    def sizes(self, model: str) -> FloatArray:
        """Sizes of all relative errors of one model."""
        return np.asarray(np.abs(np.concatenate(list(self.errors[model].values()))))

    def tables(self) -> list[Table]:
        """Mean error of each model on each program, and the largest of them."""
        columns = [Column("program", tuple(PROGRAMS.values()))]
        for name, by_program in self.errors.items():
            percents = [100 * errors for errors in by_program.values()]
            means = tuple(f"{np.abs(errors).mean():.1f}" for errors in percents)
            worst = tuple(f"{errors[np.abs(errors).argmax()]:+.1f}" for errors in percents)
            columns += [Column(f"{name}, mean", means), Column("worst", worst)]
        return [Table(f"errors over {self.axis.partition(' [')[0]} [%]", tuple(columns))]


def measured_runs(parameter: str, program: str) -> tuple[FloatArray, FloatArray]:
    """Levels of a varied parameter and run times of a program on 32 nodes [SI].

    Parameters
    ----------
    parameter, program
        A key of `VARIED`; a program by its name in the tables.

    Examples
    --------
    >>> levels, run_times = measured_runs("gap", "Radix")
    >>> bool(levels.min() < 6e-6), run_times.size == levels.size
    (True, True)
    """
    path = data_path(f"network_sensitivity/{VARIED[parameter].table}.csv")
    read = Measurements.read(path)
    mine = np.array([name == program for name in read.labels["program"]])
    kept = read.only(mine & (read.column("nodes").values == NODES))
    return kept.column(parameter).values, kept.column("run_time").values


def predicted_slowdowns(model: str, preset: str, parameter: str, levels: FloatArray) -> FloatArray:
    """Slowdowns that a model of the catalogue predicts for a program.

    Parameters
    ----------
    model, preset
        Names in the catalogue.
    parameter, levels
        A key of `VARIED`, and its levels [SI].

    Examples
    --------
    >>> predicted_slowdowns("program-overhead", "radix", "overhead", np.array([2.9e-6])).tolist()
    [1.0]
    """
    varied = VARIED[parameter]
    chosen = catalogue_model(model).with_preset(preset)
    solved = chosen.at({varied.setting: varied.settings(levels)}).solve()
    return np.asarray(solved["slowdown"], float)


def slowdown_study(parameter: str, models: Mapping[str, str]) -> Study:
    """Compare models of the catalogue with every measured run.

    Parameters
    ----------
    parameter
        overhead, gap, latency or bandwidth.
    models
        Models of programs, by their names in plots and tables; slowdowns are relative to the first
        one's base run time, which is printed with more digits than the measured one.

    Examples
    --------
    >>> study = slowdown_study("overhead", {"overhead": "program-overhead"})
    >>> round(float(np.median(study.sizes("overhead"))), 2) < 0.2
    True
    """
    panels = []
    errors: dict[str, dict[str, FloatArray]] = {name: {} for name in models}
    for preset, program in PROGRAMS.items():
        panel, changed = _panel(parameter, models, preset)
        panels.append(panel)
        for name, slowdowns in panel.predicted.items():
            errors[name][program] = (slowdowns / panel.measured - 1)[changed]
    return Study(VARIED[parameter].axis, tuple(panels), errors)


def _panel(
    parameter: str, models: Mapping[str, str], preset: str
) -> tuple["SlowdownPanel", NDArray[np.bool_]]:
    """One program's slowdowns, and which of its levels were changed and measured."""
    from headway.models.published.studies.slowdown_figures import SlowdownPanel

    varied = VARIED[parameter]
    levels, run_times = measured_runs(parameter, PROGRAMS[preset])
    base = catalogue_model(next(iter(models.values()))).with_preset(preset).inputs["base_run_time"]
    measured = np.asarray(run_times / base)
    predicted = {
        name: predicted_slowdowns(model, preset, parameter, levels)
        for name, model in models.items()
    }
    shown = varied.shown * varied.settings(levels)
    changed = np.isfinite(measured) & (np.abs(levels - varied.base) > 1e-9 * varied.base)
    return SlowdownPanel(PROGRAMS[preset], shown, measured, predicted), changed


@dataclass(frozen=True)
class BurstinessStudy(Shown):
    """The share of each program's messages that are sent in bursts, fitted to its runs.

    Parameters
    ----------
    fits
        The fits, by program.
    """

    fits: Mapping[str, BurstinessFit]

    def __repr__(self) -> str:
        return f"BurstinessStudy({len(self.fits)} programs)"

    def sizes(self) -> FloatArray:
        """Errors of all runs, each left out of its fit."""
        return np.asarray(
            np.abs(np.concatenate([fit.leave_one_out_error for fit in self.fits.values()]))
        )

    def tables(self) -> list[Table]:
        """Burstiness and errors of each program."""
        own = [100 * np.abs(fit.relative_error) for fit in self.fits.values()]
        left = [100 * np.abs(fit.leave_one_out_error) for fit in self.fits.values()]
        columns = (
            Column("program", tuple(self.fits)),
            Column("burstiness", tuple(f"{fit.burstiness:.3f}" for fit in self.fits.values())),
            Column("mean error [%]", tuple(f"{errors.mean():.1f}" for errors in own)),
            Column("left out [%]", tuple(f"{errors.mean():.1f}" for errors in left)),
            Column("worst left out [%]", tuple(f"{errors.max():.1f}" for errors in left)),
        )
        return [Table("burstiness", columns)]


def burstiness_study() -> BurstinessStudy:
    """Fit the burstiness of every program to its runs with a larger gap.

    Examples
    --------
    >>> round(burstiness_study().fits["Sample"].burstiness, 1)
    0.7
    """
    return BurstinessStudy({program: _bursts(key) for key, program in PROGRAMS.items()})


def _bursts(preset: str) -> BurstinessFit:
    gaps, run_times = measured_runs("gap", PROGRAMS[preset])
    given = catalogue_model("program-gap").with_preset(preset).inputs
    added = gaps - given["gap"]
    runs = added > 1e-9
    names = ("base_run_time", "messages", "gap", "message_interval")
    run_time, messages, gap, interval = (float(given[name]) for name in names)
    return fit_burstiness(GapRuns(run_time, messages, gap, interval, added[runs], run_times[runs]))
