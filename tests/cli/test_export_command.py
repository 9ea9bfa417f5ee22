"""What is exported: read by Prometheus's own parser, and asked for by the dashboard."""

import json
import math
import re

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from headway.models import Measurements, catalogue_model, data_path
from headway.models.showing.solved.openmetrics import FAMILIES, openmetrics
from tests.models.tracing.test_traced_models import SHOP
from tests.oracles.traced_services import play
from tests.support.command import headway, refusal
from tests.support.places import ROOT

SCSI = str(data_path("network_sensitivity/table_a_1_scsi_performance.csv"))
ASKED = ("export", "nfs-server", "--preset", "scsi", "--data", SCSI, "--openmetrics")


def families(text):
    return {family.name: family for family in text_string_to_metric_families(text)}


@pytest.fixture(scope="module")
def exported():
    result = headway(*ASKED)
    assert result.code == 0, result.err
    return families(result.out)


@pytest.fixture(scope="module")
def dashboard():
    return json.loads(headway("export", "--dashboard").out)


def known_names():
    """Labels by the names that are queried."""
    return {f"{f.name}_info" if f.kind == "info" else f.name: {*f.labels} for f in FAMILIES}


def values(family, **labels):
    found = [s for s in family.samples if labels.items() <= s.labels.items()]
    return {sample.labels["load"]: sample.value for sample in found}


def test_predictions_stand_beside_measurements_at_each_load(exported):
    model = catalogue_model("nfs-server").with_preset("scsi")
    comparison = model.compare(Measurements.read(data_path(SCSI)))
    times = exported["headway_response_time_seconds"]
    loads = [str(round(load)) for load in comparison.load.values]

    assert times.unit == "seconds"
    for source, numbers in (
        ("measured", comparison.measured.values),
        ("predicted", comparison.predicted),
    ):
        assert values(times, source=source, of="system") == dict(zip(loads, numbers, strict=True))
    errors = dict(zip(loads, comparison.relative_error, strict=True))
    assert values(exported["headway_relative_error"]) == errors
    busy = values(exported["headway_utilisation_ratio"], of="cpu")
    assert math.isclose(busy["1006"], 1006 * model.inputs["cpu_time"], rel_tol=1e-9)
    (saturation,) = exported["headway_saturation_throughput"].samples
    assert math.isclose(saturation.value, 1 / model.inputs["cpu_time"], rel_tol=1e-9)
    (info,) = exported["headway_model"].samples
    assert info.labels == {"model": "nfs-server", "x": "throughput_ops_s", "y": "response_ms"}


def test_closed_tests_percentiles_and_what_cannot_be_sustained():
    closed = headway("export", "server-pool", "--data", "load_tests/wrk", "--openmetrics")
    counted = families(closed.out)
    table = Measurements.parse("load_ops_s,p99_ms\n500,9\n1200,90\n1200,95\n", "odd.csv")
    server = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    times = families(openmetrics(server.compare(table)))["headway_response_time_seconds"]

    assert closed.code == 0, closed.err
    assert set(values(counted["headway_throughput"], source="measured")) >= {"1", "16"}
    assert {sample.labels["statistic"] for sample in times.samples} == {"p99"}
    assert values(times, source="predicted")["1200"] == math.inf


def test_a_model_of_traces_stands_beside_them(tmp_path):
    data, shop = tmp_path / "day.jsonl", tmp_path / "shop.toml"
    data.write_text("\n".join(play(SHOP, 60.0, 150, 3).lines))
    assert headway("model", data, "--out", shop).code == 0
    exported = families(headway("export", shop, "--data", data, "--openmetrics").out)
    beside = json.loads(headway("compare", shop, "--data", data, "--json").out)
    times = exported["headway_response_time_seconds"]
    for name, of in ((None, "system"), ("stock", "stock"), ("price_quote", "price_quote")):
        part = next(each for each in beside["parts"] if each["name"] == name)
        for source in ("measured", "predicted"):
            assert [*values(times, of=of, source=source).values()] == [part[source]]


HEADER = 'a\\b "x"_ops_s'


def test_names_in_quotes_are_escaped():
    table = Measurements.parse('"a\\b ""x""_ops_s",response_ms\n500,9\n', "odd.csv")
    server = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")

    (info,) = families(openmetrics(server.compare(table, x=HEADER)))["headway_model"].samples
    assert info.labels["x"] == HEADER


def test_the_dashboard_has_what_the_published_schema_requires(dashboard):
    """Required there: grafana-foundation-sdk, jsonschema/dashboard and xychart."""
    assert {"schemaVersion", "templating", "annotations"} <= dashboard.keys()
    charts = [panel["options"] for panel in dashboard["panels"] if panel["type"] == "xychart"]
    assert len(charts) == 2
    for options in charts:
        assert options.keys() == {"mapping", "legend", "tooltip", "series"}
        assert options["legend"].keys() == {"displayMode", "placement", "showLegend", "calcs"}
        assert options["tooltip"].keys() == {"mode", "sort"}


def test_the_dashboard_asks_for_what_is_exported(dashboard):
    known = known_names()
    panels = dashboard["panels"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    variables = {each["name"] for each in dashboard["templating"]["list"]}
    asked = [
        (name, {*re.findall(r"(\w+)=", matchers)})
        for query in queries
        for name, matchers in re.findall(r"(headway_\w+)\{(.*?)\}", query)
    ]

    assert {name for name, _ in asked} == known.keys()
    assert [(name, labels) for name, labels in asked if not labels <= known[name]] == []
    assert {*re.findall(r"\$(\w+)", " ".join(queries))} == variables - {"source"}
    (model,) = (v for v in dashboard["templating"]["list"] if v["name"] == "model")
    assert model["query"]["query"] == "label_values(headway_model_info, model)"
    legends = [t.get("legendFormat", "") for panel in panels for t in panel["targets"]]
    labels = {label for found in known.values() for label in found}
    assert {*re.findall(r"\{\{(\w+)\}\}", " ".join(legends))} <= labels


def test_the_page_lists_every_metric():
    page = (ROOT / "docs/how-to/watch-a-model-in-grafana.md").read_text()

    assert {*re.findall(r"^\| `(headway_\w+)` \|", page, re.MULTILINE)} == {*known_names()}


def test_panels_of_the_dashboard_do_not_overlap(dashboard):
    cells = [
        (place["x"] + right, place["y"] + down)
        for place in (panel["gridPos"] for panel in dashboard["panels"])
        for right in range(place["w"])
        for down in range(place["h"])
    ]

    assert len(cells) == len({*cells})
    assert max(right for right, _ in cells) == 23
    assert [panel["id"] for panel in dashboard["panels"]] == [*range(1, 8)]


def test_a_file_is_written_and_what_is_missing_is_said(tmp_path):
    place = tmp_path / "headway.prom"

    assert headway(*ASKED, "--out", place).err == f"wrote {place}\n"
    assert place.read_text() == headway(*ASKED).out
    assert refusal("export").startswith("give --openmetrics or --dashboard")
    assert "needs a model and --data" in refusal("export", "--openmetrics")
    assert "leave out MODEL" in refusal("export", "nfs-server", "--dashboard")
