"""Reports in a browser: they open offline, work by keyboard, and calculate as Python does."""

import re
import shutil
from contextlib import contextmanager
from functools import cache
from importlib.resources import files

import numpy as np
import pytest
import sympy

from headway.kinds import apply
from headway.models import model_names
from headway.models.reports.contents import SECTIONS
from headway.models.reports.controls import ControlRole
from headway.models.reports.panel import javascript, panel
from headway.models.solving.symbolic import symbol
from tests.support.cases import mostly_slow
from tests.support.report_pages import CASES, QUICK, html, made, of_catalogue

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
playwright = pytest.importorskip(
    "playwright.sync_api", reason="needs playwright, which is not installed"
)
pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="needs Chromium or Chrome, which is not on the path"
)

WITH_PANEL = sorted(CASES.keys() - {"closed"})
ROUNDS = 40
# Both sides round each operation to 1e-16; 1/(1 - U) makes that some 1e-12 at most here. Six
# digits are promised.
DIGITS = 1e-9


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@contextmanager
def opening(browser, folder):
    """Open reports offline; until the end, nothing may have failed or been complained of."""
    context = browser.new_context(offline=True)
    complaints, requests = [], []

    def open_page(name):
        path = folder / f"{name}.html"
        path.write_text(html(name), encoding="utf-8")
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda request: complaints.append(request.url))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_page
    context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []


@pytest.fixture
def opened(browser, folder):
    """Open a page for one test, which may change it."""
    with opening(browser, folder) as open_page:
        yield open_page


@pytest.fixture(scope="module")
def asked(browser, folder):
    """Open a page for all tests that only look at it and calculate."""
    with opening(browser, folder) as open_page:
        yield cache(open_page)


@pytest.mark.parametrize("name", mostly_slow(CASES, QUICK))
def test_it_opens_offline_without_a_complaint(name, asked):
    page = asked(name)

    assert page.title().endswith(": report")
    assert page.locator(".subject").inner_text().startswith(made(name).title)
    assert page.locator("h1").inner_text().endswith("?")
    assert page.locator("#panel:visible").count() == (name in WITH_PANEL)
    assert page.locator("#panel-needs:visible").count() == 0
    drawn = page.locator("figure svg").evaluate_all("all => all.map(one => one.getBBox().width)")
    assert min(drawn) > 150
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0


def random_values(controls):
    """Values over the whole of each slider, whole where they have to be."""
    random = np.random.default_rng(7)
    values = {}
    for control in controls:
        drawn = random.uniform(control.low, control.high, ROUNDS)
        values[control.parameter.name] = (
            np.maximum(1, np.round(drawn)) if control.is_whole else drawn
        )
    return values


@pytest.mark.parametrize("name", mostly_slow(WITH_PANEL, QUICK))
def test_the_browser_calculates_what_python_does(name, asked):
    values, report = random_values(panel(made(name)).controls), made(name)
    rows = [
        dict(zip(values, map(float, row), strict=True))
        for row in zip(*values.values(), strict=True)
    ]

    value = asked(name).evaluate("rows => rows.map(row => window.headway.evaluate(row))", rows)

    solution = report.model.at(values).solve()
    expected = np.broadcast_to(solution[report.comparison.output], ROUNDS)
    stable = ~solution.saturated if solution.stations else np.isfinite(expected)
    assert stable.sum() >= 3
    output = np.array([one["output"] for one in value])
    np.testing.assert_array_equal(np.isfinite(output), stable)
    np.testing.assert_allclose(output[stable], expected[stable], rtol=DIGITS)
    for station in solution.stations:
        shares = [one["utilisation"][station] for one in value]
        np.testing.assert_allclose(shares, solution[f"{station}.utilisation"], rtol=DIGITS)
    if solution.stations:
        limits = [one["saturation_throughput"] for one in value]
        np.testing.assert_allclose(limits, solution.saturation_throughput, rtol=DIGITS)


# Those of CASES aside; lopc and closed networks have no closed form, pipeline's is slow to make.
OTHERS = set(model_names()) - {"lopc", "pipeline", "server-closed", "server-nfs"}
OTHERS -= {"server-batch", "server-slowing", "server-usl"}  # of populations, as server-closed
OTHERS -= {"server-batch-room", "server-pool-room", "server-room"}  # rooms: sums over their places
OTHERS -= {"server-wakeup"}  # its chain's sum goes over the servers; its page reads a table
OTHERS -= {"nfs-server", "server", "server-pool", "server-cache", "server-contention"}
OTHERS -= {"program-overhead", "program-gap"}
OTHERS -= {"decode-step", "training-storage"}  # batches and a population: their pages read tables
OTHERS -= {"training-step"}  # its processors are whole numbers only
OTHERS -= {"nfs-server-raid5"}  # forks, which have no closed form


@pytest.fixture(scope="module")
def calculator(browser):
    """A blank page, and a function that calculates closed forms in it."""
    blank = browser.new_page()
    script = (files("headway.models.reports") / "assets" / "panel.js").read_text(encoding="utf-8")
    erlang = script.partition("(() =>")[0]

    def calculate(form, rows):
        each = "return rows.map(v => closedForm(v, erlangB, erlangC)[0]);"
        return np.array(blank.evaluate(f"rows => {{ {erlang} {form} {each} }}", rows), float)

    return calculate


def test_quotients_are_rounded_as_python_rounds_them(calculator):
    x, y = symbol("x"), symbol("y")
    sizes = np.random.default_rng(5).uniform(1, 1e6, 300)
    pairs = [(float(size), float(size / n)) for n, size in enumerate(sizes, 1)]
    pairs += [(274.0, 274 / 102), (7.0, 2.0), (1e300, 1.0)]

    for form, rule in ((sympy.ceiling(x / y), "ceil"), (sympy.floor(x / y), "floor")):
        shown = calculator(javascript([form], [x, y]), [list(pair) for pair in pairs])
        assert shown.tolist() == [apply(rule, size / part) for size, part in pairs]


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_every_closed_form_of_the_catalogue_is_written_right(name, calculator):
    report = of_catalogue(name)
    page = panel(report)
    values = random_values(page.controls)
    if not report.model.graph.stations:  # zeros, where conditions may change their minds
        zeros = [c.parameter.name for c in page.controls if c.parameter.minimum == 0]
        for row, parameter in enumerate(zeros):
            values[parameter][row] = 0.0

    output = calculator(page.script, np.stack(list(values.values()), axis=1).tolist())

    solution = report.model.at(values).solve()
    expected = np.broadcast_to(solution[report.comparison.output], ROUNDS)
    stable = np.isfinite(expected) & ~(solution.saturated if solution.stations else False)
    assert stable.sum() >= 3
    np.testing.assert_allclose(output[stable], expected[stable], rtol=DIGITS)


@pytest.mark.parametrize("name", mostly_slow(WITH_PANEL, QUICK))
def test_the_error_is_that_of_the_comparison(name, asked):
    report = made(name)

    value = asked(name).evaluate("window.headway.evaluate()")

    expected = report.comparison.summary["rms_relative_error"]
    assert value["rms_relative_error"] == pytest.approx(expected, rel=DIGITS)
    assert value["points"] == report.comparison.counted.sum()


def control(page, name, kind="slider"):
    index = page.evaluate("name => window.headway.parameters.indexOf(name)", name)
    return page.locator(f"#panel-{kind}-{index}")


def curve(page):
    """Places along the drawn curve."""
    path = page.locator("#panel-curve").get_attribute("d")
    return np.array([list(map(float, pair.split(","))) for pair in path[1:].split("L")])


def test_a_slider_moves_the_curve_and_reset_brings_it_back(opened):
    page = opened("nfs-raid")
    before, result = curve(page), page.locator(".readings").inner_text()

    control(page, "delay").fill("6.8")

    after = curve(page)
    # 3.4 ms more, everywhere on the picture the same height, at a scale of pixels a millisecond.
    lift = (before - after)[:, 1]
    high = before[:, 1] > 0
    np.testing.assert_allclose(lift[high & (after[:, 1] > 0)], lift[0], atol=0.02)
    assert lift[0] > 5
    assert "13.55 ms" in page.locator("#panel-out-output").inner_text()
    assert control(page, "delay", "number").input_value() == "6.8"
    page.get_by_role("button", name="Reset").click()
    np.testing.assert_array_equal(curve(page), before)
    assert page.locator(".readings").inner_text() == result


def test_beyond_saturation_the_curve_ends_and_the_panel_says_so(opened):
    page = opened("nfs-raid")

    control(page, "cpu_time", "number").fill("1")
    control(page, "arrival_rate", "number").fill("1200")

    assert page.locator("#panel-out-saturation").inner_text() == "1000 op/s"
    assert page.locator("#panel-out-output").inner_text() == "beyond saturation"
    assert page.locator("#panel-out-bottleneck").inner_text() == "cpu, saturated"
    assert "over 7 of 12 points" in page.locator("#panel-out-error").inner_text()
    limit = float(page.locator("#panel-picture .limit").get_attribute("x1"))
    assert curve(page)[:, 0].max() == pytest.approx(limit, abs=0.02)
    assert limit < float(page.locator("#panel-picture .point").last.get_attribute("cx"))


def test_values_out_of_bounds_and_broken_servers_are_not_taken(opened):
    page = opened("nfs-raid")

    for text, taken in (("-5", "1"), ("7.6", "8"), ("", "8")):
        control(page, "disks", "number").fill(text)
        control(page, "disks", "number").blur()
        assert control(page, "disks", "number").input_value() == taken


def test_the_keyboard_suffices(opened):
    page = opened("pool")
    sliders = [f"panel-slider-{k}" for k in range(len(panel(made("pool")).controls))]
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
        if reached[-1] == sliders[1]:
            break
    before = curve(page)
    page.keyboard.press("ArrowRight")
    moved = curve(page)
    page.keyboard.press("Tab")
    page.keyboard.type("9")
    for _ in range(60):
        if page.evaluate("document.activeElement.id") == "panel-reset":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    assert sliders[0] in reached
    assert (moved[:, 1] != before[:, 1]).any()
    np.testing.assert_array_equal(curve(page), before)
    assert control(page, "servers").get_attribute("aria-valuetext") == "8"


@pytest.mark.parametrize("name", ["nfs-scsi-fitted", "closed"])
def test_the_first_screen_has_the_answer_and_the_whole_chart(name, opened):
    page = opened(name)
    for width, height in ((1200, 900), (400, 800)):
        page.set_viewport_size({"width": width, "height": height})
        chart = page.locator("#answer svg").bounding_box()
        assert page.locator(".answer").bounding_box()["y"] < chart["y"]
        assert chart["y"] + chart["height"] < height


def test_the_pointer_tells_the_values(opened):
    page = opened("nfs-scsi-fitted")
    chart, words = page.locator("#answer svg"), page.locator("#answer .reading")
    assert words.is_hidden()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    told = r"throughput \[op/s\]: (\S+)\. response time \[ms\]: (.*)\."
    said = re.fullmatch(told, words.inner_text())
    assert said is not None, words.inner_text()
    values = dict(re.findall(r"(fit|95% band) ([\d.]+)", said[2]))
    expected = 1e3 * made("nfs-scsi-fitted").fit.model.solve(float(said[1])).response_time
    assert float(values["fit"]) == pytest.approx(expected, rel=0.01)  # between points of the curve
    assert float(values["95% band"]) < float(values["fit"])
    chart.focus()
    page.keyboard.press("ArrowRight")
    assert words.inner_text() != said[0]


def test_it_can_be_read_without_scripts(browser, folder):
    path = folder / "still.html"
    path.write_text(html("nfs-raid"), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(path.as_uri())

    assert page.locator("#panel").is_hidden()
    assert page.locator("#panel-needs").is_visible()
    for section in SECTIONS:
        assert page.get_by_role("heading", name=section.heading, exact=True).is_visible()
    assert page.locator("#answer svg").is_visible()
    assert page.locator("math").first.is_visible()
    context.close()


def test_it_fits_a_telephone_and_a_printer(opened):
    page = opened("nfs-scsi-fitted")

    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    width = "all => all.map(one => one.scrollWidth - one.clientWidth)"
    assert max(page.locator(".equations").evaluate_all(width)) <= 0
    drawn = page.locator("figure > svg")
    ends = drawn.evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")
    assert max(ends) <= 400  # whole: a curve whose end is out of sight says the wrong thing
    page.locator(".note").first.evaluate("one => { one.textContent = 'models/data/'.repeat(9) }")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    scrolled = page.locator(".scroll").filter(has_text="Parameters of")
    assert scrolled.evaluate("one => one.scrollWidth > one.clientWidth")
    assert "linear-gradient" in scrolled.evaluate("one => getComputedStyle(one).backgroundImage")
    whole = page.locator(".scroll").filter(has_text="Measured and predicted")  # headings wrap
    assert whole.evaluate("one => one.scrollWidth <= one.clientWidth")
    name = page.locator(".scroll th").filter(has_text="touched_per_load").last
    assert name.inner_text() == "touched_per_load"  # on two lines, and copied as one word
    line = name.evaluate("one => parseFloat(getComputedStyle(one).lineHeight)")
    assert name.bounding_box()["height"] > 2 * line
    page.set_viewport_size({"width": 1200, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200
    right = page.locator("#trust .beside table").last.bounding_box()  # not below the figure
    assert right["x"] > 600
    page.emulate_media(media="print")
    assert page.locator("#panel").is_hidden()
    assert page.locator("details").first.is_hidden()  # on paper nobody opens it
    graph = page.locator("#system figure svg").first
    assert graph.bounding_box()["height"] > 300  # 60 mm were not legible
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_data_may_set_another_parameter_row_by_row(asked):
    """Each measured point keeps its own value, whatever the slider says of the curve."""
    page = asked("families")
    report = made("families")

    value = page.evaluate("window.headway.evaluate({added_overhead: 5e-4})")

    roles = {c.parameter.name: c.role for c in panel(report).controls}
    assert roles["added_overhead"] is ControlRole.DATA
    expected = report.comparison.summary["rms_relative_error"]
    assert value["rms_relative_error"] == pytest.approx(expected, rel=DIGITS)
