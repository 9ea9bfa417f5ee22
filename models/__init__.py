"""Models: the graph that joins queueing and LogGP, its parameters, answers and data.

Names are imported when they are first used, so that a command pays for what it needs only.
"""

from typing import TYPE_CHECKING

from headway.lazy import lazy_names

if TYPE_CHECKING:
    from headway.models.analysis.balance import Balance, balance
    from headway.models.analysis.comparison import Comparison, compare
    from headway.models.analysis.sensitivity import Sensitivity
    from headway.models.analysis.target import Target, what_it_takes
    from headway.models.files.reading import parse_model, read_model
    from headway.models.files.shipped import catalogue_model, data_path, find_model, model_names
    from headway.models.inference.fit import Fit, fit_model
    from headway.models.language.parameters import Parameter, Preset
    from headway.models.measured.measurements import Measurements
    from headway.models.plotting.formulas import formula_figure
    from headway.models.published.reproduction import Reproduction, reproduce
    from headway.models.published.studies.communication import (
        Communication,
        communication_figure,
        message_map,
        published_communication,
    )
    from headway.models.published.studies.slowdown_figures import SlowdownPanel, slowdown_figure
    from headway.models.reports.report import Report, make_report
    from headway.models.signatures.loggp import MeasuredSizes, read_sizes
    from headway.models.signatures.logp import MeasuredLogp
    from headway.models.signatures.sfs import Range, SfsSignature, curve, sfs_signature
    from headway.models.solving.solution import Solution
    from headway.models.structure.graph import ModelGraph
    from headway.models.structure.model import Model

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
        "analysis.balance": ("Balance", "balance"),
        "published.studies.communication": (
            "Communication",
            "communication_figure",
            "message_map",
            "published_communication",
        ),
        "analysis.comparison": ("Comparison", "compare"),
        "files.reading": ("parse_model", "read_model"),
        "inference.fit": ("Fit", "fit_model"),
        "plotting.formulas": ("formula_figure",),
        "structure.graph": ("ModelGraph",),
        "measured.measurements": ("Measurements",),
        "structure.model": ("Model",),
        "language.parameters": ("Parameter", "Preset"),
        "reports.report": ("Report", "make_report"),
        "published.reproduction": ("Reproduction", "reproduce"),
        "analysis.sensitivity": ("Sensitivity",),
        "analysis.target": ("Target", "what_it_takes"),
        "files.shipped": ("catalogue_model", "data_path", "find_model", "model_names"),
        "signatures.sfs": ("Range", "SfsSignature", "curve", "sfs_signature"),
        "signatures.loggp": ("MeasuredSizes", "read_sizes"),
        "signatures.logp": ("MeasuredLogp",),
        "published.studies.slowdown_figures": ("SlowdownPanel", "slowdown_figure"),
        "solving.solution": ("Solution",),
    },
)
