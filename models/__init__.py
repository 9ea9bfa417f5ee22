"""Models: the graph that joins queueing and LogGP, its parameters, answers and data.

Names are imported when they are first used, so that a command pays for what it needs only.
"""

from typing import TYPE_CHECKING

from headway.lazy import lazy_names

if TYPE_CHECKING:
    from headway.models.comparison import Comparison, compare
    from headway.models.files.reading import parse_model, read_model
    from headway.models.fitting.fit import Fit, fit_model
    from headway.models.graph import ModelGraph
    from headway.models.machine_balance import Balance, balance
    from headway.models.measurements import Measurements
    from headway.models.model import Model
    from headway.models.parameters import Parameter, Preset
    from headway.models.plotting.communication import (
        Communication,
        communication_figure,
        message_map,
        published_communication,
    )
    from headway.models.plotting.formulas import formula_figure
    from headway.models.plotting.slowdowns import SlowdownPanel, slowdown_figure
    from headway.models.reports.report import Report, make_report
    from headway.models.reproductions.reproduction import Reproduction, reproduce
    from headway.models.sensitivities.effects import Sensitivity
    from headway.models.sensitivities.target import Target, what_it_takes
    from headway.models.shipped import catalogue_model, data_path, find_model, model_names
    from headway.models.signatures.loggp import MeasuredSizes, read_sizes
    from headway.models.signatures.logp import MeasuredLogp
    from headway.models.signatures.sfs import Range, SfsSignature, curve, sfs_signature
    from headway.models.solution import Solution

__all__ = [
    "Balance",
    "Communication",
    "Comparison",
    "Fit",
    "MeasuredLogp",
    "MeasuredSizes",
    "Measurements",
    "Model",
    "ModelGraph",
    "Parameter",
    "Preset",
    "Range",
    "Report",
    "Reproduction",
    "Sensitivity",
    "SfsSignature",
    "SlowdownPanel",
    "Solution",
    "Target",
    "balance",
    "catalogue_model",
    "communication_figure",
    "compare",
    "curve",
    "data_path",
    "find_model",
    "fit_model",
    "formula_figure",
    "make_report",
    "message_map",
    "model_names",
    "parse_model",
    "published_communication",
    "read_model",
    "read_sizes",
    "reproduce",
    "sfs_signature",
    "slowdown_figure",
    "what_it_takes",
]

__getattr__ = lazy_names(
    __name__,
    {
        "machine_balance": ("Balance", "balance"),
        "plotting.communication": (
            "Communication",
            "communication_figure",
            "message_map",
            "published_communication",
        ),
        "comparison": ("Comparison", "compare"),
        "files.reading": ("parse_model", "read_model"),
        "fitting.fit": ("Fit", "fit_model"),
        "plotting.formulas": ("formula_figure",),
        "graph": ("ModelGraph",),
        "measurements": ("Measurements",),
        "model": ("Model",),
        "parameters": ("Parameter", "Preset"),
        "reports.report": ("Report", "make_report"),
        "reproductions.reproduction": ("Reproduction", "reproduce"),
        "sensitivities.effects": ("Sensitivity",),
        "sensitivities.target": ("Target", "what_it_takes"),
        "shipped": ("catalogue_model", "data_path", "find_model", "model_names"),
        "signatures.sfs": ("Range", "SfsSignature", "curve", "sfs_signature"),
        "signatures.loggp": ("MeasuredSizes", "read_sizes"),
        "signatures.logp": ("MeasuredLogp",),
        "plotting.slowdowns": ("SlowdownPanel", "slowdown_figure"),
        "solution": ("Solution",),
    },
)
