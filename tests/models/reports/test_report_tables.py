"""Tables of a report, beside its curve."""

from headway.models import Measurements, catalogue_model
from headway.models.reports.alone import report_model
from headway.models.reports.report import measured_report
from headway.models.reports.words import parameter_table, summary_tables


def test_each_table_of_a_fit_has_its_own_title():
    text = "clients,throughput_ops_s,response_ms\n1,199,5.02\n2,386,5.18\n4,684,5.85\n8,964,8.30\n"
    model = catalogue_model("server-single").at(delay="4 ms", service_time="1 ms")
    both = "response_ms,throughput_ops_s"
    report = measured_report(
        model, Measurements.parse(text, "two.csv"), ["delay", "service_time"], y=both
    )

    titles = {table.title: table.columns[0].name for table in summary_tables(report)}

    assert titles["Errors by output"] == "output"
    assert titles["Correlations of the estimates"] == "correlation"


def test_a_comparison_of_several_outputs_has_errors_of_each():
    text = "clients,throughput_ops_s,response_ms\n1,199,5.02\n2,386,5.18\n4,684,5.85\n8,964,8.30\n"
    model = catalogue_model("server-single").at(delay="4 ms", service_time="1 ms")

    tables = summary_tables(measured_report(model, Measurements.parse(text, "two.csv")))

    assert [table.title for table in tables] == ["Errors by output", "Errors in sum"]


def test_intervals_that_a_model_states_are_in_its_table():
    model = catalogue_model("server-single").at(delay="4 ms", service_time="1 ms", arrival_rate=500)
    certain = parameter_table(report_model(model))
    assert "95% interval" not in [column.name for column in certain.columns]

    drawn = model.uncertain({"service_time": ("0.9 ms", "1.2 ms")})
    columns = {column.name: column.texts for column in parameter_table(report_model(drawn)).columns}

    shown = dict(zip(columns["parameter"], columns["95% interval"], strict=True))
    assert shown == {"delay": "-", "service_time": "0.9 to 1.2 ms", "arrival_rate": "-"}
