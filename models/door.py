"""The one door upwards: who does what a model or an answer is asked, by name, without imports.

Values are in rooms below those that solve, fit, show and draw them. What they are asked goes
through `headway.models.language.verbs`, which learns here where each verb is implemented.
"""

import re

import headway.queueing  # noqa: F401 - its methods stand before those for models
from headway.lazy import open_table
from headway.models.language.verbs import DESCRIBE, open_door

SHOWN: dict[str, tuple[str, str]] = {
    "Import": ("showing.solved.imports", ""),
    "LayeredImport": ("showing.solved.layered_imports", ""),
    "Simulation": ("showing.simulated.simulations", "simulated.figures"),
    "Simulations": ("showing.simulated.points", "simulated.figures"),
    "Check": ("showing.simulated.checks", "simulated.figures"),
    "Balance": ("showing.balance", "balance"),
    "Retries": ("showing.retries", "retries"),
    "Growth": ("showing.targeted.growth", "balance"),
    "Target": ("showing.targeted.targets", "targets"),
    "JointTarget": ("showing.targeted.joint", "targets"),
    "MeasuredSignature": ("showing.sfs", "signatures"),
    "MeasuredUse": ("showing.use", ""),
    "LoadTest": ("showing.loadtests", "loadtests"),
    "Timeline": ("showing.solved.timelines", "days"),
    "Solution": ("showing.solutions", "figures"),
    "QueueLengths": ("showing.solved.queue_lengths", "distributions.queue_lengths"),
    "Propagation": ("showing.uncertain.bands", "distributions.uncertain"),
    "Comparison": ("showing.comparisons", "figures"),
    "Audit": ("showing.audits", "loadtests"),
    "Sensitivity": ("showing.sensitivities", "sensitivities"),
    "Size": ("showing.targeted.sizing", "sizing"),
    "Sweep": ("showing.sweeps", "distributions.sweeps"),
    "Fit": ("showing.fitted.fits", "fits"),
    "ServerFit": ("showing.fitted.servers", "fits"),
    "Predictions": ("showing.fitted.predictions", ""),
    "NextLoads": ("showing.fitted.next_loads", ""),
    "HighestLoad": ("showing.fitted.highest_loads", ""),
    "NextRun": ("showing.fitted.next_runs", ""),
    "Forecast": ("showing.fitted.forecasts", ""),
    "Builds": ("showing.fitted.builds", ""),
    "Gate": ("showing.fitted.gates", ""),
    "SideBySide": ("showing.fitted.side_by_side", "fits"),
    "MeasuredSizes": ("showing.sizes", "signatures"),
    "MeasuredLogp": ("showing.logp", "signatures"),
    "MeasuredCollective": ("showing.collectives", "collectives"),
    "TracedModel": ("showing.fitted.traced", "graphs.layers"),
    "TracesBeside": ("showing.fitted.traced_beside", ""),
    "MeasuredStorage": ("showing.storage", "storage"),
    "Reproduction": ("published.tables", ""),
}
"""Where the ``describe`` of each kind of answer is, and its figure in `headway.models.plotting`.

All its forms follow from its description (`headway.models.tables.forms`); the figure of a
`LoadTest` is ``load_test_figure``. A kind that is not here has no figure, or a verb of its own
below.
"""

FORMS = {
    verb: f"headway.models.tables.forms:{verb}"
    for verb in ("scale", "tables", "rows", "document", "csv")
}
"""Functions that make each form of whatever has a ``describe``."""

PLACES: dict[str, dict[str, str]] = {
    "ModelGraph": {
        "at": "headway.models.structure.model:model_at",
        "closed_form": "headway.models.solving.symbolic:closed_form",
        "svg": "headway.models.reports.live.pictures:graph_svg",
    },
    "Model": {
        "solve": "headway.models.solving.solve:solve_model",
        "closed_form": "headway.models.solving.symbolic:model_form",
        "over": "headway.models.over.over:over_model",
        "compare": "headway.models.analysis.traces:compare_any",
        "fit": "headway.models.inference.fitting:fit_model",
        "sensitivity": "headway.models.analysis.sensitivity:sensitivity",
        "simulate": "headway.models.simulating.runs:simulate_model",
        "simulate_points": "headway.models.simulating.several:simulate_points",
        "check": "headway.models.simulating.check:check_model",
        "predict": "headway.models.solving.predicting:predict",
        "to_networkx": "headway.models.structure.parts.networks:model_to_networkx",
        "to_toml": "headway.models.files.writing:to_toml",
        "uncertain": "headway.models.structure.model:with_intervals",
        "draws": "headway.models.uncertain.sampling:draws",
        "propagate": "headway.models.uncertain.propagation:propagate",
        "size": "headway.models.sizing.sizing:size_model",
        "sweep": "headway.models.sweeping.sweeping:sweep_model",
        "global_sensitivity": "headway.models.sweeping.crossing.importance:global_sensitivity",
        "html": "headway.models.reports.live.pictures:model_html",
        "latex": "headway.models.reports.live.pictures:model_latex",
        "panel": "headway.models.reports.live.opening:open_panel",
        "scale": "headway.models.showing.models:description_scale",
        "tables": "headway.models.showing.models:description_tables",
        "plot": "headway.models.plotting.graphs.figure:model_figure",
        "plot_formulas": "headway.models.plotting.formulas:formula_figure",
    },
    "Measurements": {
        "read": "headway.models.reading.recognise:read_with",
        "from_columns": "headway.models.reading.frames:measurements_of_columns",
        "from_frame": "headway.models.reading.frames:measurements_of_frame",
        "to_frame": "headway.models.reading.frames:frame_of",
        "given": "headway.models.reading.curves:given",
    },
    "Solution": {
        "bounds": "headway.models.solving.bounds:bounds",
        "no_bounds": "headway.models.solving.bounds:no_bounds",
        "class_bounds": "headway.models.solving.classes.bounds:bounds",
        "percentiles": "headway.models.solving.response_times.percentiles:percentiles",
        "search_percentile": "headway.models.solving.response_times.percentiles:search_percentile",
        "all_at_once": "headway.models.solving.response_times.percentiles:all_at_once",
        "time_laws": "headway.models.solving.response_times.percentiles:time_laws",
        "exceedances": "headway.models.solving.response_times.percentiles:exceedances",
        "queue_lengths": "headway.models.solving.marginals.networks:queue_lengths",
        "station_numbers": "headway.models.solving.marginals.numbers:station_numbers",
        "to_xarray": "headway.models.solving.arrays:solution_dataset",
    },
    "Fit": {
        "sensitivity": "headway.models.inference.elasticities:elasticities",
        "quick_warnings": "headway.models.inference.warnings:quick_warnings",
        "costly_warnings": "headway.models.inference.warnings:costly_warnings",
        "provenance": "headway.models.showing.fitted.provenance:with_provenance",
        "next_loads": "headway.models.inference.advice:fit_next_loads",
        "highest_load": "headway.models.inference.advice:fit_highest_load",
        "saturation": "headway.models.inference.quantities:saturation_of_fit",
    },
    "Forecast": {
        "plot": "headway.models.showing.fitted.forecasts:forecast_figure",
    },
    "Reproduction": {
        "plot": "headway.models.published.figures:reproduction_figure",
    },
    "Figure": {
        "finish": "headway.models.plotting.looks.finish:finished",
    },
    "Paged": {
        "html": "headway.models.reports.page:page",
    },
    "Report": {
        "scale": "headway.models.reports.units:report_units",
        "contents": "headway.models.reports.kinds.modelled:measured_contents",
    },
    "DayReport": {
        "scale": "headway.models.reports.kinds.days:day_units",
        "contents": "headway.models.reports.kinds.days:day_contents",
    },
    "BuildsReport": {
        "scale": "headway.models.reports.kinds.builds:builds_units",
        "contents": "headway.models.reports.kinds.builds:builds_contents",
    },
    "AuditReport": {
        "scale": "headway.models.reports.kinds.audited:audit_units",
        "contents": "headway.models.reports.kinds.audited:audited_contents",
    },
    "TracesReport": {
        "scale": "headway.models.reports.kinds.traced:traces_units",
        "contents": "headway.models.reports.kinds.traced:traces_contents",
    },
    "ModelReport": {
        "scale": "headway.models.reports.units:model_units",
        "contents": "headway.models.reports.kinds.modelled:predicted_contents",
    },
}
"""Functions as ``module:name``, by verb and then by kind of value."""

for kind, (described, drawn) in SHOWN.items():
    places = PLACES.setdefault(kind, {})
    places[DESCRIBE] = f"headway.models.{described}:describe"
    if drawn:
        name = re.sub("(?<=[a-z])(?=[A-Z])", "_", kind).lower()
        places["plot"] = f"headway.models.plotting.{drawn}:{name}_figure"

open_door(PLACES, FORMS)
open_table("headway.methods", "headway.models.solving.rows:METHODS")
