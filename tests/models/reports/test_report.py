"""Reports by their structure: what stands in the page, that nothing else gets in or out."""

import base64
import hashlib
import itertools
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from headway.errors import InvalidParameter, Saturated
from headway.models import Measurements, catalogue_model
from headway.models.files.reading import read_model
from headway.models.reading.recognise import read_any
from headway.models.reports import solved
from headway.models.reports.controls import ControlRole
from headway.models.reports.formulas import equations
from headway.models.reports.panel import NoPanel, Panel, panel
from headway.models.reports.report import measured_report
from tests.support.cases import mostly_slow
from tests.support.report_pages import CASES, QUICK, RAID, SCSI, TAIL, html, made, parsed, report


@pytest.mark.parametrize("name", mostly_slow(CASES, QUICK))
def test_structure(name):
    page = parsed(html(name))

    assert html(name).startswith("<!DOCTYPE html>")
    (document,) = page.every("html")
    assert document.attributes["lang"] == "en"
    levels = [int(node.tag[1]) for node in page.every("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert [node.tag for node in document.children] == ["head", "body"]
    assert {"header", "nav", "main"} <= {node.tag for node in page.every()}


@pytest.mark.parametrize("name", mostly_slow(CASES, QUICK))
def test_everything_has_words_for_those_who_cannot_see_it(name):
    page = parsed(html(name))

    figures = list(page.every("svg"))
    assert len(figures) >= 2
    for svg in figures:
        assert svg.attributes["role"] == "img"
        titles = [node.text for node in svg.children if node.tag == "title"]
        assert len((titles or [svg.attributes["aria-label"]])[0]) > 40
    for mathematics in page.every("math"):
        assert mathematics.attributes["alttext"]
    for table in page.every("table"):
        (caption,) = table.every("caption")
        assert caption.text
        assert all(head.attributes["scope"] in ("row", "col") for head in table.every("th"))
        rows = [
            [c.tag for c in row.children] for body in table.every("tbody") for row in body.children
        ]
        assert all(cells[0] == "th" and set(cells[1:]) <= {"td"} for cells in rows)
    names = {node.attributes["for"] for node in page.every("label")}
    for control in page.every("input"):
        assert control.attributes.get("aria-label") or control.attributes["id"] in names


@pytest.mark.parametrize("name", mostly_slow(CASES, QUICK))
def test_names_inside_do_not_collide_and_references_lead_somewhere(name):
    page = parsed(html(name))

    values = [node.attributes["id"] for node in page.every() if "id" in node.attributes]
    assert len(values) == len(set(values))
    text = html(name)
    wanted = set(re.findall(r"url\(#([^)]+)\)", text)) | set(re.findall(r'href="#([^"]+)"', text))
    wanted |= set(re.findall(r'aria-(?:labelledby|describedby)="([^"]+)"', text))
    assert wanted <= set(values)


@pytest.mark.parametrize("name", mostly_slow(CASES, QUICK))
def test_it_is_small_and_loads_nothing(name):
    page, text = parsed(html(name)), html(name)

    assert len(text.encode()) < 1_000_000
    for node in page.every():
        for key in ("src", "href", "xlink:href", "data", "action", "poster", "srcset"):
            assert node.attributes.get(key, "#").startswith(("#", "data:,")), node
        assert not [key for key in node.attributes if key.startswith("on")]
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


@pytest.mark.parametrize("name", mostly_slow(CASES, {"nfs-raid", "server-fitted", "mixed"}))
def test_it_is_the_same_each_time(name):
    assert CASES[name]().to_html() == html(name)


def test_only_its_own_script_may_run():
    page = parsed(html("nfs-raid"))

    (policy,) = (
        node.attributes["content"]
        for node in page.every("meta")
        if node.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    data, script = page.every("script")
    assert data.attributes["type"] == "application/json"
    digest = hashlib.sha256(script.text.encode()).digest()
    allowed = re.search(r"script-src 'sha256-([^']+)'", policy)[1]
    assert base64.b64decode(allowed) == digest
    assert policy.startswith("default-src 'none';")


def contrast(first, second):
    """Ratio of luminances as WCAG 2.1 defines it."""

    def luminance(colour):
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return np.dot(linear, [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("ink", "paper"),
    [
        ("ink", "paper"),
        ("muted", "paper"),
        ("accent", "paper"),
        ("ink", "wash"),
        ("muted", "wash"),
        ("accent", "wash"),
        ("ink", "alarm-wash"),
        ("alarm", "alarm-wash"),
        ("good", "wash"),
        ("look", "wash"),
    ],
)
def test_text_can_be_read(ink, paper):
    light, dark = html("nfs-raid").split("(prefers-color-scheme: dark)", 2)[:2]

    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    for style in (light, dark):
        colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", style))
        assert contrast(colours[ink], colours[paper]) >= 4.5


@pytest.mark.parametrize("name", ["nfs-scsi-fitted", "mixed"])
def test_every_colour_of_a_figure_has_another_one_on_a_dark_page(name):
    drawn = "".join(re.findall(r"(?s)<svg viewBox.*?</svg>", html(name)))
    *_, light, dark = re.findall(r":root \{ (--c-[^}]+)\}", html(name))

    used = set(re.findall(r"var\((--c-[0-9a-f]{6})\)", drawn))
    assert {"--c-000000", "--c-ffffff"} <= used
    for style in (light, dark):
        assert set(re.findall(r"(--c-[0-9a-f]{6}):", style)) == used
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", dark))
    assert contrast(colours["c-000000"], colours["c-ffffff"]) > 10
    assert not re.search(r'(?:fill|stroke)(?::|=") ?#', drawn)


def signs(mathml):
    return re.sub(r"<[^>]+>|[()/]", "", unescape(mathml))


def test_formulas_break_where_a_line_may_end_and_lose_nothing():
    for equation in equations(catalogue_model("nfs-server")):
        for pieces in equation.lines.values():
            assert signs("".join(pieces)) == signs(equation.mathml)
    lines = {e.name: e.lines for e in equations(catalogue_model("nfs-server"))}
    assert len(lines["cpu.residence_time"][" on-wide"]) == 2  # the left side, and all of the right
    assert len(lines["cpu.residence_time"][" on-narrow"]) > 4


def test_captions_name_only_what_is_drawn():
    fitted, given = parsed(html("nfs-scsi-fitted")), parsed(html("pool"))

    captions = [" ".join(c.text for c in page.every("figcaption")) for page in (fitted, given)]
    assert "95% band" in captions[0]
    assert "95% band" not in captions[1]
    assert "derived quantities" in captions[0]
    assert "derived quantities" not in captions[1]


def test_a_fit_names_its_own_data_even_where_the_model_was_fitted_before(tmp_path):
    first = catalogue_model("server-single").at(delay=2e-3, service_time=5e-4)
    before = Measurements.parse("throughput_ops_s,response_ms\n100,3\n300,4\n600,5\n", "old.csv")
    path = tmp_path / "server.toml"
    path.write_text(first.fit(before, ["delay", "service_time"]).to_toml("headway fit old.csv"))
    again = report(read_model(path), SCSI, ("delay", "service_time"))

    page = parsed(replace(again, command="headway report new").to_html()).text
    digest = hashlib.sha256(SCSI.read_bytes()).hexdigest()[:12]
    text = f"This fit: delay, service_time fitted to {SCSI.name} (sha256 {digest})"
    assert f"{text} by: headway report new" in page


def test_colours_of_text_come_from_that_list():
    style = re.search(r"<style>(.*?)</style>", html("nfs-raid"), re.DOTALL)[1]
    body = style.partition("}")[2]

    assert set(re.findall(r"(?<![-\w])color: ([^;]+);", body)) <= {
        f"var(--{name})" for name in ("ink", "muted", "accent", "alarm", "good", "look")
    }


def test_it_says_what_it_was_made_of():
    page = parsed(html("nfs-raid")).text

    assert hashlib.sha256(RAID.read_bytes()).hexdigest() in page
    assert "table_a_5_raid_performance.csv" in page
    assert "12, all used" in page
    assert "A Systematic Characterization of Application Sensitivity" in page
    assert str(RAID.parent) not in page
    assert "cpu is the bottleneck: it is 59% busy at 901 op/s and saturates at 1538 op/s." in page
    assert "If it were faster, disks would be the next bottleneck, at 2845 op/s." in page
    assert "the model misses the measured curve by 19.1% (RMS); it was not fitted" in page


def test_a_fit_shows_values_with_uncertainty_and_admits_what_is_wrong():
    report = made("nfs-scsi-fitted")
    page = parsed(report.to_html())

    (table,) = (t for t in page.every("table") if "Parameters of" in t.text)
    rows = {row.children[0].text: [c.text for c in row.children] for row in table.every("tr")}
    low, high = (1e3 * end for end in report.fit.ci95["delay"])
    assert rows["delay"][1].startswith(f"{1e3 * report.fit.values['delay']:.2f}")
    assert rows["delay"][2] == f"{low:.4g} to {high:.4g} ms"
    assert rows["delay"][3] == "fitted to the data"
    assert rows["disks"][1:4] == ["24", "-", "preset scsi: section 5.3.1 and Table A.2"]
    for warning in report.fit.warnings:
        assert warning in page.text
    assert "95% band" in page.text


def test_measured_values_stand_as_printed():
    page = parsed(html("nfs-raid"))

    (table,) = (t for t in page.every("table") if "point by point" in t.text)
    rows = [[cell.text for cell in row.children] for row in table.every("tr")]
    assert rows[0] == ["throughput [op/s]", "measured [ms]", "predicted [ms]", "error"]
    assert rows[1] == ["298", "3.4", "4.21", "+23.7%"]


def test_a_program_has_a_picture_of_its_numbers():
    page = parsed(html("program"))

    assert "so nothing saturates. What matters most is the messages: 1% more of it" in page.text
    assert [svg.attributes.get("aria-labelledby") for svg in page.every("svg")] == [
        "curve-title",
        None,
        "tornado-title",
        "errors-title",
        "graph-title",
    ]
    (graph,) = (s for s in page.every("svg") if "graph-title" in s.attributes.values())
    assert "calculated from" in graph.text


def test_a_percentile_has_its_formula_in_the_times_that_it_adds_up():
    first = equations(made("percentile").model, made("percentile").comparison.output)[0]

    assert first.name == "response_time_p99"
    assert first.text == "cpu.residence_time*log(100) + network.residence_time"
    assert "node.response_time*log(100)" in tail_of("server-single").to_html()


def test_a_percentile_without_closed_form_has_a_table_of_solved_points():
    tail = tail_of("server-pool", servers=4.0)

    assert equations(tail.model, "response_time_p99")[0].name == "response_time"
    assert "solved points; in the middle of their cells" in panel(tail).note
    assert panel(tail).note in parsed(tail.to_html()).text


def tail_of(name, **values):
    return report(name, TAIL, y="p99_ms", delay=2e-3, service_time=1e-3, **values)


def test_a_closed_network_says_why_it_has_no_panel():
    page = parsed(html("closed")).text

    assert isinstance(panel(made("closed")), NoPanel)
    assert "This page has no sliders: the network is closed" in page
    how = "it is solved numerically (method: throughput-driven, approximate)"
    assert f"A closed network has no single formula; {how}" in page
    assert "approximate: throughput-driven: Schweitzer at the delivered throughput" in page
    assert "closedForm" not in html("closed")  # what runs tells the values under the pointer
    assert len(list(parsed(html("closed")).every("script"))) == 1


def test_every_model_with_a_panel_has_its_load_first_and_values_within_bounds():
    for name in QUICK - {"closed"}:
        page = panel(made(name))
        assert isinstance(page, Panel), (name, page)
        assert [c.role for c in page.controls].count(ControlRole.LOAD) == 1
        assert page.controls[0].role is ControlRole.LOAD
        for control in page.controls:
            assert control.parameter.minimum <= control.low <= control.value <= control.high
            assert control.high <= control.parameter.maximum
    whole = {c.parameter.name for c in panel(made("nfs-raid")).controls if c.is_whole}
    assert whole == {"disks"}


def test_a_table_that_is_too_far_off_says_why_there_is_no_formula_either(monkeypatch):
    monkeypatch.setattr(solved, "LARGEST_ERROR", 1e-9)
    reads = catalogue_model("lopc").with_preset("em3d-read")
    data = Measurements.parse("added_latency_us,run_time_s\n0,114\n50,360\n100,600\n", "own")

    refused = panel(measured_report(reads, data))

    assert isinstance(refused, NoPanel)
    assert "no formula that a page could evaluate" in refused.reason
    assert "and its answers between solved points would be up to" in refused.reason


def test_formulas_are_those_of_the_model():
    forms = {e.name: e for e in equations(catalogue_model("nfs-server"))}

    assert forms["network.residence_time"].text == "2*added_latency + delay"
    assert forms["miss"].text == "1 - Min(1, (memory + nvram)/(throughput*touched_per_load))"
    assert "<mi>C</mi>" in forms["disks.residence_time"].mathml
    cases = {e.name: e.mathml for e in equations(made("mixed").model)}
    assert "<mtext>otherwise</mtext>" in cases["pool.residence_time"]
    assert "&gt;" in cases["pool.residence_time"]


def test_an_output_is_followed_by_the_parts_it_is_made_of():
    names = [e.name for e in equations(catalogue_model("server-cache"))]

    assert names == ["response_time", "node.response_time", "miss"]


def test_a_published_curve_shows_what_its_collection_and_its_page_say():
    page = parsed(html("server-fitted")).text

    assert "Auspex Systems, Inc." in page
    assert "spec.sfsaus.sfs1.9_94.notes.html" in page
    disclosed = "SPECsfs97.v2 = 300 Ops/Sec (Overall Response Time = 1.0 msec)\n"
    disclosed += "Memory Size | 3 GB\n100 0.9\n200 1.1\n300 1.5\n"
    data = read_any(disclosed, "page.txt")
    (table,) = (
        t
        for t in parsed(
            measured_report(catalogue_model("server").at(service_time=1e-4), data).to_html()
        ).every("table")
        if t.text.strip().startswith("Data")
    )
    rows = {row.children[0].text: row.children[1].text for row in table.every("tr")}
    assert rows["kind"] == "SPEC result page"
    assert rows["memory"] == "3 GB"
    assert "sha256" not in rows  # it came from no file


def test_a_fitted_value_at_its_bound_is_called_that():
    page = parsed(html("server-fitted"))

    (table,) = (t for t in page.every("table") if "Parameters of" in t.text)
    rows = {row.children[0].text: [c.text for c in row.children] for row in table.every("tr")}
    assert rows["delay"][1:4] == ["0 ms", "-", "fitted, at its bound"]


def test_a_fit_gives_elasticities_their_intervals():
    page = parsed(html("nfs-scsi-fitted"))

    (table,) = (t for t in page.every("table") if "per 1% of each parameter" in t.text)
    rows = {row.children[0].text: [c.text for c in row.children] for row in table.every("tr")}
    assert rows["cpu_time"][-1] == "-1.000 ± 0.000"
    assert re.fullmatch(r"\+\d\.\d{3} ± \d\.\d{3}", rows["delay"][-2])
    assert "± is half of a 95% interval, from the fit" in page.text


def test_an_interval_without_an_end_is_a_question_mark():
    sensitivity = made("nfs-scsi-fitted").sensitivity
    unknown = {
        output: {name: replace(effect, half_width=np.inf) for name, effect in effects.items()}
        for output, effects in sensitivity.effects.items()
    }

    shown = str(replace(sensitivity, effects=unknown))

    assert "-1.000 ± ?" in shown
    assert "inf" not in shown


def test_the_operating_point_is_the_median_that_is_sustained_or_as_set():
    raid = catalogue_model("nfs-server").with_preset("raid")
    data = Measurements.read(RAID)
    slow = raid.at(cpu_time=1e-3, arrival_rate=1234.0)

    assert measured_report(slow, data).sensitivity.model.inputs["arrival_rate"] == 595.0
    named = raid.at(arrival_rate=1234.0)
    page = measured_report(named, data, fixed=("arrival_rate",))
    assert page.sensitivity.model.inputs["arrival_rate"] == 1234.0
    with pytest.raises(Saturated, match="saturates at 1000"):
        measured_report(slow, data, fixed=("arrival_rate",))
    several = raid.at(arrival_rate=np.linspace(100, 200, 12))
    with pytest.raises(InvalidParameter, match="one operating point; arrival_rate"):
        measured_report(several, data, fixed=("arrival_rate",))


def test_a_model_that_sustains_nothing_is_reported_as_that():
    text = measured_report(
        catalogue_model("nfs-server").at(cpu_time=0.1), Measurements.read(RAID)
    ).to_html()

    page = parsed(text).text
    assert "Every measured load saturates the model: cpu: utilisation" in page
    assert "12 points beyond saturation and not counted" in page
    assert "The model sustains none of the measured loads" in page
