"""The one door up: who does what a model or an answer is asked, named and not imported.

Values stand below those who solve, fit, show and draw them. What they are asked goes through
`headway.models.language.verbs`, which learns here where each verb is done.
"""

import re

from headway import queueing as queueing  # whose methods stand before those for models
from headway.lazy import open_table
from headway.models.language.verbs import DESCRIBE, open_door

SHOWN: dict[str, tuple[str, str]] = {
    "Import": ("showing.solved.imports", ""),
    "Simulation": ("showing.simulated.simulations", "simulated.figures"),
    "Check": ("showing.simulated.checks", "simulated.figures"),
    "Balance": ("showing.balance", "balance"),
    "Growth": ("showing.targeted.growth", "balance"),
    "Target": ("showing.targeted.targets", "targets"),
    "JointTarget": ("showing.targeted.joint", "targets"),
    "MeasuredSignature": ("showing.sfs", "signatures"),
    "MeasuredUse": ("showing.use", ""),
}
"""Where the ``describe`` of each kind of answer is, and its figure in `headway.models.plotting`.

All its forms follow from its description (`headway.models.tables.forms`); the figure of a
`LoadTest` is ``load_test_figure``.
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
        "compare": "headway.models.analysis.comparison:compare_within",
        "fit": "headway.models.inference.fitting:fit_within",
        "sensitivity": "headway.models.analysis.sensitivity:sensitivity",
        "simulate": "headway.models.simulating.runs:simulate_model",
        "check": "headway.models.simulating.check:check_model",
        "to_toml": "headway.models.files.writing:to_toml",
        "uncertain": "headway.models.structure.model:with_intervals",
        "draws": "headway.models.uncertain.sampling:draws",
        "propagate": "headway.models.uncertain.propagation:propagate",
        "size": "headway.models.sizing.sizing:size_model",
        "sweep": "headway.models.sweeping.sweeping:sweep_model",
        "global_sensitivity": "headway.models.sweeping.crossing.importance:global_sensitivity",
        "html": "headway.models.reports.live.pictures:model_html",
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
    "LoadTest": {
        "scale": "headway.models.showing.loadtests:loadtest_scale",
        "tables": "headway.models.showing.loadtests:loadtest_tables",
        "rows": "headway.models.showing.loadtests:loadtest_rows",
        "document": "headway.models.showing.loadtests:loadtest_document",
        "csv": "headway.models.showing.loadtests:loadtest_csv",
        "plot": "headway.models.plotting.loadtests:load_test_figure",
    },
    "Solution": {
        "scale": "headway.models.showing.solutions:solution_scale",
        "tables": "headway.models.showing.solutions:solution_tables",
        "rows": "headway.models.showing.solutions:solution_rows",
        "document": "headway.models.showing.solutions:solution_document",
        "csv": "headway.models.showing.solutions:solution_csv",
        "plot": "headway.models.plotting.figures:solution_figure",
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
    "QueueLengths": {
        "scale": "headway.models.showing.solved.queue_lengths:length_scale",
        "tables": "headway.models.showing.solved.queue_lengths:length_tables",
        "rows": "headway.models.showing.solved.queue_lengths:length_rows",
        "document": "headway.models.showing.solved.queue_lengths:length_document",
        "csv": "headway.models.showing.solved.queue_lengths:length_csv",
        "plot": "headway.models.plotting.distributions.queue_lengths:queue_lengths_figure",
    },
    "Propagation": {
        "scale": "headway.models.showing.uncertain.tables:propagation_scale",
        "tables": "headway.models.showing.uncertain.tables:propagation_tables",
        "rows": "headway.models.showing.uncertain.documents:propagation_rows",
        "document": "headway.models.showing.uncertain.documents:propagation_document",
        "csv": "headway.models.showing.uncertain.documents:propagation_csv",
        "plot": "headway.models.plotting.distributions.uncertain:propagation_figure",
    },
    "Comparison": {
        "scale": "headway.models.showing.comparisons:comparison_scale",
        "tables": "headway.models.showing.comparisons:comparison_tables",
        "rows": "headway.models.showing.comparisons:comparison_rows",
        "document": "headway.models.showing.comparisons:comparison_document",
        "csv": "headway.models.showing.comparisons:comparison_csv",
        "plot": "headway.models.plotting.figures:comparison_figure",
    },
    "Audit": {
        "scale": "headway.models.showing.audits:audit_scale",
        "tables": "headway.models.showing.audits:audit_tables",
        "rows": "headway.models.showing.audits:audit_rows",
        "document": "headway.models.showing.audits:audit_document",
        "csv": "headway.models.showing.audits:audit_csv",
        "plot": "headway.models.plotting.loadtests:audit_figure",
    },
    "Sensitivity": {
        "scale": "headway.models.showing.sensitivities:sensitivity_scale",
        "tables": "headway.models.showing.sensitivities:sensitivity_tables",
        "rows": "headway.models.showing.sensitivities:sensitivity_rows",
        "document": "headway.models.showing.sensitivities:sensitivity_document",
        "csv": "headway.models.showing.sensitivities:sensitivity_csv",
        "plot": "headway.models.plotting.sensitivities:sensitivity_figure",
    },
    "Size": {
        "scale": "headway.models.showing.targeted.sizing:size_scale",
        "tables": "headway.models.showing.targeted.sizing:size_tables",
        "rows": "headway.models.showing.targeted.sizing:size_rows",
        "document": "headway.models.showing.targeted.sizing:size_document",
        "csv": "headway.models.showing.targeted.sizing:size_csv",
        "plot": "headway.models.plotting.sizing:size_figure",
    },
    "Sweep": {
        "scale": "headway.models.showing.sweeps:sweep_scale",
        "tables": "headway.models.showing.sweeps:sweep_tables",
        "rows": "headway.models.showing.sweeps:sweep_rows",
        "document": "headway.models.showing.sweeps:sweep_document",
        "csv": "headway.models.showing.sweeps:sweep_csv",
        "plot": "headway.models.plotting.distributions.sweeps:sweep_figure",
    },
    "Fit": {
        "scale": "headway.models.showing.fitted.fits:fit_scale",
        "tables": "headway.models.showing.fitted.fits:fit_tables",
        "rows": "headway.models.showing.fitted.fits:fit_rows",
        "document": "headway.models.showing.fitted.fits:fit_document",
        "csv": "headway.models.showing.fitted.fits:fit_csv",
        "plot": "headway.models.plotting.fits:fit_figure",
        "sensitivity": "headway.models.inference.elasticities:elasticities",
        "quick_warnings": "headway.models.inference.warnings:quick_warnings",
        "costly_warnings": "headway.models.inference.warnings:costly_warnings",
        "provenance": "headway.models.showing.fitted.provenance:with_provenance",
        "next_loads": "headway.models.inference.advice:fit_next_loads",
        "saturation": "headway.models.inference.quantities:saturation_of_fit",
    },
    "ServerFit": {
        "scale": "headway.models.showing.fitted.servers:server_scale",
        "tables": "headway.models.showing.fitted.servers:server_tables",
        "rows": "headway.models.showing.fitted.servers:server_rows",
        "document": "headway.models.showing.fitted.servers:server_document",
        "csv": "headway.models.showing.fitted.servers:server_csv",
        "plot": "headway.models.plotting.fits:server_fit_figure",
    },
    "Predictions": {
        "scale": "headway.models.showing.fitted.forecasts:prediction_scale",
        "tables": "headway.models.showing.fitted.forecasts:prediction_tables",
        "rows": "headway.models.showing.fitted.forecasts:prediction_rows",
        "document": "headway.models.showing.fitted.forecasts:prediction_document",
        "csv": "headway.models.showing.fitted.forecasts:prediction_csv",
    },
    "NextLoads": {
        "scale": "headway.models.showing.fitted.forecasts:next_scale",
        "tables": "headway.models.showing.fitted.forecasts:next_tables",
        "rows": "headway.models.showing.fitted.forecasts:next_rows",
        "document": "headway.models.showing.fitted.forecasts:next_document",
        "csv": "headway.models.showing.fitted.forecasts:next_csv",
    },
    "Forecast": {
        "scale": "headway.models.showing.fitted.forecasts:forecast_scale",
        "tables": "headway.models.showing.fitted.forecasts:forecast_tables",
        "rows": "headway.models.showing.fitted.forecasts:forecast_rows",
        "document": "headway.models.showing.fitted.forecasts:forecast_document",
        "csv": "headway.models.showing.fitted.forecasts:forecast_csv",
        "plot": "headway.models.showing.fitted.forecasts:forecast_figure",
    },
    "SideBySide": {
        "scale": "headway.models.showing.fitted.servers:side_scale",
        "tables": "headway.models.showing.fitted.servers:side_tables",
        "rows": "headway.models.showing.fitted.servers:side_rows",
        "document": "headway.models.showing.fitted.servers:side_document",
        "csv": "headway.models.showing.fitted.servers:side_csv",
        "plot": "headway.models.plotting.fits:side_by_side_figure",
    },
    "MeasuredSizes": {
        "scale": "headway.models.showing.sizes:sizes_scale",
        "tables": "headway.models.showing.sizes:sizes_tables",
        "rows": "headway.models.showing.sizes:sizes_rows",
        "document": "headway.models.showing.sizes:sizes_document",
        "csv": "headway.models.showing.sizes:sizes_csv",
        "plot": "headway.models.plotting.signatures:measured_sizes_figure",
    },
    "MeasuredLogp": {
        "scale": "headway.models.showing.logp:logp_scale",
        "tables": "headway.models.showing.logp:logp_tables",
        "rows": "headway.models.showing.logp:logp_rows",
        "document": "headway.models.showing.logp:logp_document",
        "csv": "headway.models.showing.logp:logp_csv",
        "plot": "headway.models.plotting.signatures:measured_logp_figure",
    },
    "Reproduction": {
        "scale": "headway.models.published.tables:printed_scale",
        "tables": "headway.models.published.tables:shown_tables",
        "rows": "headway.models.published.tables:cell_rows",
        "document": "headway.models.published.tables:document_of",
        "csv": "headway.models.published.tables:cells_csv",
        "plot": "headway.models.published.figures:reproduction_figure",
    },
    "Figure": {
        "finish": "headway.models.plotting.looks.finish:finished",
    },
    "Report": {
        "scale": "headway.models.reports.units:report_units",
        "html": "headway.models.reports.page:page",
    },
    "AuditReport": {
        "scale": "headway.models.reports.units:audit_units",
        "html": "headway.models.reports.audited:audit_page",
    },
    "ModelReport": {
        "scale": "headway.models.reports.units:model_units",
        "html": "headway.models.reports.page:page",
    },
}
"""Functions as ``module:name``, by verb, by the kind of value that is asked."""

for kind, (described, drawn) in SHOWN.items():
    places = PLACES.setdefault(kind, {})
    places[DESCRIBE] = f"headway.models.{described}:describe"
    if drawn:
        name = re.sub("(?<=[a-z])(?=[A-Z])", "_", kind).lower()
        places["plot"] = f"headway.models.plotting.{drawn}:{name}_figure"

open_door(PLACES, FORMS)
open_table("headway.methods", "headway.models.solving.rows:METHODS")
