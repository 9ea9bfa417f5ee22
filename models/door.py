"""The one door up: who does what a model or an answer is asked, named and not imported.

Values stand below those who solve, fit, show and draw them. What they are asked goes through
`headway.models.language.verbs`, which learns here where each verb is done.
"""

from headway.models.language.verbs import open_door

PLACES: dict[str, dict[str, str]] = {
    "ModelGraph": {
        "at": "headway.models.structure.model:model_at",
        "closed_form": "headway.models.solving.symbolic:closed_form",
    },
    "Model": {
        "solve": "headway.models.solving.solve:solve_model",
        "closed_form": "headway.models.solving.symbolic:model_form",
        "compare": "headway.models.analysis.comparison:compare_within",
        "fit": "headway.models.inference.fitting:fit_within",
        "sensitivity": "headway.models.analysis.sensitivity:sensitivity",
        "to_toml": "headway.models.files.writing:to_toml",
        "tables": "headway.models.showing.models:description_tables",
        "plot": "headway.models.plotting.graphs:model_figure",
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
        "tables": "headway.models.showing.loadtests:loadtest_tables",
        "rows": "headway.models.showing.loadtests:loadtest_rows",
        "document": "headway.models.showing.loadtests:loadtest_document",
        "csv": "headway.models.showing.loadtests:loadtest_csv",
        "plot": "headway.models.plotting.loadtests:loadtest_figure",
    },
    "Solution": {
        "tables": "headway.models.showing.solutions:solution_tables",
        "rows": "headway.models.showing.solutions:solution_rows",
        "document": "headway.models.showing.solutions:solution_document",
        "csv": "headway.models.showing.solutions:solution_csv",
        "plot": "headway.models.plotting.figures:solution_figure",
        "bounds": "headway.models.solving.closed.solve:bounds",
        "percentile": "headway.models.solving.percentile:percentile",
        "to_xarray": "headway.models.solving.arrays:solution_dataset",
    },
    "Comparison": {
        "tables": "headway.models.showing.comparisons:comparison_tables",
        "rows": "headway.models.showing.comparisons:comparison_rows",
        "document": "headway.models.showing.comparisons:comparison_document",
        "csv": "headway.models.showing.comparisons:comparison_csv",
        "plot": "headway.models.plotting.figures:comparison_figure",
    },
    "Audit": {
        "tables": "headway.models.showing.audits:audit_tables",
        "rows": "headway.models.showing.audits:audit_rows",
        "document": "headway.models.showing.audits:audit_document",
        "csv": "headway.models.showing.audits:audit_csv",
        "plot": "headway.models.plotting.loadtests:audit_figure",
    },
    "Balance": {
        "tables": "headway.models.showing.balance:balance_tables",
        "rows": "headway.models.showing.balance:balance_rows",
        "document": "headway.models.showing.balance:balance_document",
        "csv": "headway.models.showing.balance:balance_csv",
        "plot": "headway.models.plotting.balance:balance_figure",
    },
    "Growth": {
        "tables": "headway.models.showing.targeted.growth:growth_tables",
        "rows": "headway.models.showing.targeted.growth:growth_rows",
        "document": "headway.models.showing.targeted.growth:growth_document",
        "csv": "headway.models.showing.targeted.growth:growth_csv",
        "plot": "headway.models.plotting.balance:growth_figure",
    },
    "Sensitivity": {
        "tables": "headway.models.showing.sensitivities:sensitivity_tables",
        "rows": "headway.models.showing.sensitivities:sensitivity_rows",
        "document": "headway.models.showing.sensitivities:sensitivity_document",
        "csv": "headway.models.showing.sensitivities:sensitivity_csv",
        "plot": "headway.models.plotting.sensitivities:tornado",
    },
    "Target": {
        "tables": "headway.models.showing.targeted.targets:target_tables",
        "rows": "headway.models.showing.targeted.targets:target_rows",
        "document": "headway.models.showing.targeted.targets:target_document",
        "csv": "headway.models.showing.targeted.targets:target_csv",
        "plot": "headway.models.plotting.targets:target_figure",
    },
    "JointTarget": {
        "tables": "headway.models.showing.targeted.joint:joint_tables",
        "rows": "headway.models.showing.targeted.joint:joint_rows",
        "document": "headway.models.showing.targeted.joint:joint_document",
        "csv": "headway.models.showing.targeted.joint:joint_csv",
        "plot": "headway.models.plotting.targets:joint_figure",
    },
    "Size": {
        "tables": "headway.models.showing.targeted.sizing:size_tables",
        "rows": "headway.models.showing.targeted.sizing:size_rows",
        "document": "headway.models.showing.targeted.sizing:size_document",
        "csv": "headway.models.showing.targeted.sizing:size_csv",
        "plot": "headway.models.plotting.sizing:size_figure",
    },
    "Fit": {
        "tables": "headway.models.showing.fitted.fits:fit_tables",
        "rows": "headway.models.showing.fitted.fits:fit_rows",
        "document": "headway.models.showing.fitted.fits:fit_document",
        "csv": "headway.models.showing.fitted.fits:fit_csv",
        "plot": "headway.models.plotting.fits:fit_figure",
        "sensitivity": "headway.models.inference.elasticities:elasticities",
        "quick_warnings": "headway.models.inference.warnings:quick_warnings",
        "costly_warnings": "headway.models.inference.warnings:costly_warnings",
        "provenance": "headway.models.showing.fitted.fits:with_provenance",
        "next_loads": "headway.models.inference.advice:fit_next_loads",
        "saturation": "headway.models.inference.told:saturation_of_fit",
    },
    "ServerFit": {
        "tables": "headway.models.showing.fitted.servers:server_tables",
        "rows": "headway.models.showing.fitted.servers:server_rows",
        "document": "headway.models.showing.fitted.servers:server_document",
        "csv": "headway.models.showing.fitted.servers:server_csv",
        "plot": "headway.models.plotting.fits:server_figure",
    },
    "Predictions": {
        "tables": "headway.models.showing.fitted.forecasts:prediction_tables",
        "rows": "headway.models.showing.fitted.forecasts:prediction_rows",
        "document": "headway.models.showing.fitted.forecasts:prediction_document",
        "csv": "headway.models.showing.fitted.forecasts:prediction_csv",
    },
    "NextLoads": {
        "tables": "headway.models.showing.fitted.forecasts:next_tables",
        "rows": "headway.models.showing.fitted.forecasts:next_rows",
        "document": "headway.models.showing.fitted.forecasts:next_document",
        "csv": "headway.models.showing.fitted.forecasts:next_csv",
    },
    "Forecast": {
        "tables": "headway.models.showing.fitted.forecasts:forecast_tables",
        "rows": "headway.models.showing.fitted.forecasts:forecast_rows",
        "document": "headway.models.showing.fitted.forecasts:forecast_document",
        "csv": "headway.models.showing.fitted.forecasts:forecast_csv",
        "plot": "headway.models.showing.fitted.forecasts:forecast_figure",
    },
    "SideBySide": {
        "tables": "headway.models.showing.fitted.servers:side_tables",
        "rows": "headway.models.showing.fitted.servers:side_rows",
        "document": "headway.models.showing.fitted.servers:side_document",
        "csv": "headway.models.showing.fitted.servers:side_csv",
        "plot": "headway.models.plotting.fits:side_figure",
    },
    "MeasuredSignature": {
        "tables": "headway.models.showing.sfs:curve_tables",
        "rows": "headway.models.showing.sfs:curve_rows",
        "document": "headway.models.showing.sfs:curve_document",
        "csv": "headway.models.showing.sfs:curve_csv",
        "plot": "headway.models.plotting.figures:signature_figure",
    },
    "MeasuredUse": {
        "tables": "headway.models.showing.sfs:use_tables",
        "rows": "headway.models.showing.sfs:use_rows",
        "document": "headway.models.showing.sfs:use_document",
        "csv": "headway.models.showing.sfs:use_csv",
    },
    "MeasuredSizes": {
        "tables": "headway.models.showing.sizes:sizes_tables",
        "rows": "headway.models.showing.sizes:sizes_rows",
        "document": "headway.models.showing.sizes:sizes_document",
        "csv": "headway.models.showing.sizes:sizes_csv",
        "plot": "headway.models.plotting.signatures:sizes_figure",
    },
    "MeasuredLogp": {
        "tables": "headway.models.showing.logp:logp_tables",
        "rows": "headway.models.showing.logp:logp_rows",
        "document": "headway.models.showing.logp:logp_document",
        "csv": "headway.models.showing.logp:logp_csv",
        "plot": "headway.models.plotting.signatures:logp_figure",
    },
    "Reproduction": {
        "tables": "headway.models.published.tables:shown_tables",
        "rows": "headway.models.published.tables:cell_rows",
        "document": "headway.models.published.tables:document_of",
        "csv": "headway.models.published.tables:cells_csv",
        "plot": "headway.models.published.figures:reproduction_figure",
    },
    "Report": {
        "html": "headway.models.reports.page:page",
    },
}
"""Functions as ``module:name``, by verb, by the kind of value that is asked."""

open_door(PLACES)
