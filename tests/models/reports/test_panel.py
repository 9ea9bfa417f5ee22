"""The panel of a notebook: what its sliders set is solved, drawn, and exported as code."""

import shutil
import sys

import numpy as np
import pytest

from headway.errors import InvalidParameter, PackageError, UnknownParameter
from headway.models import ModelGraph, catalogue_model
from headway.models.reports.live.controls import live_controls
from headway.queueing import MM1, Delay

pytest.importorskip("anywidget", reason="needs anywidget, which is not installed")

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


def raid():
    return catalogue_model("nfs-server").with_preset("raid")


def classes():
    graph = ModelGraph("shop").declare("web_rate", "cpu_time").station("cpu", MM1("cpu_time"))
    graph = graph.station("wire", Delay(2e-3)).route("wire", "cpu").route("cpu", "wire", 0.0)
    graph = graph.job_class("web", "web_rate").job_class("batch", 20.0)
    return graph.at(web_rate=50.0, cpu_time=0.005)


def link():
    from headway.loggp import LogGP

    time = "lan.send_overhead + lan.latency + lan.receive_overhead + extra"
    graph = ModelGraph("one").declare("extra").link("lan", LogGP(5e-6, 2e-6, 4e-6, 6e-6, 0.0))
    return graph.output("one_way", time).at(extra=1e-6)


def stiff():
    """A model of the user's own, whose panel refuses what the solver refuses."""
    graph = ModelGraph("stiff").declare("s", "jobs").station("cpu", MM1("s"))
    return graph.at(s=0.1, jobs=1.0).closed(4)


MODELS = {
    "open": raid,
    "closed": lambda: raid().closed(45, think_time="5 ms"),
    "catalogue closed": lambda: catalogue_model("server-closed"),
    "classes": classes,
    "program": lambda: catalogue_model("lopc").with_preset("barnes"),
    "link": link,
    "own": stiff,
}


@pytest.mark.parametrize("name", MODELS)
def test_the_view_is_what_the_solver_says(name):
    model = MODELS[name]()
    panel = model.panel()
    over = panel.over

    panel.values = {over: 1.25 * panel.values[over] if name == "open" else panel.values[over] + 1}

    assert panel.model == model.at({over: panel.values[over]})
    view = panel.view
    assert view["error"] == ""
    loads, values = np.array(view["curve"]).T
    expected = np.ravel(model.at({over: loads}).solve()[panel.output])
    # Both come from the same solver; a closed network is solved along populations in another order.
    np.testing.assert_allclose(values, np.broadcast_to(expected, values.shape), rtol=1e-12)
    here = float(np.ravel(panel.solution[panel.output])[0])
    assert view["marker"] == [panel.values[over], here]
    assert view["before"][0] != []
    assert "<table" in view["tables"]


def moved(control):
    """Half as much again, or one of its unit; within the bounds, and whole where it counts."""
    value = 1.5 * control["value"] or control["scale"]
    return min(round(value) if control["whole"] else value, control["maximum"] or np.inf)


@pytest.mark.parametrize("name", MODELS)
def test_the_code_makes_an_equal_model(name):
    model = MODELS[name]()
    panel = model.panel()
    for count in (1, len(panel.controls)):
        panel.values = {c["name"]: moved(c) for c in panel.controls[:count]}

        names = {"model": model}
        exec(panel.code(), names)  # noqa: S102 - code that headway has written
        assert names["model"] == panel.model
        assert names["model"] != model


def test_the_code_of_a_catalogue_model_stands_alone():
    panel = raid().panel()

    panel.values = {"cpu_time": "0.5 ms", "disks": 30, "touched_per_load": "1.2 MB*s"}

    assert panel.code().splitlines() == [
        "import headway",
        "",
        'model = headway.load("nfs-server").with_preset("raid")',
        'model = model.at(cpu_time="500 us", disks=30, touched_per_load="1.2 MB*s")',
    ]
    panel.reset()
    assert panel.code().splitlines()[2:] == [
        'model = headway.load("nfs-server").with_preset("raid")'
    ]
    assert panel.model == raid()


def test_a_value_of_a_slider_is_written_with_its_unit():
    panel = raid().panel()

    panel.values = {"cpu_time": 1.207 * 1e-3}  # 0.0012070000000000002

    assert panel.code().splitlines()[-1] == 'model = model.at(cpu_time="1207 us")'


def test_names_with_dots_are_given_as_a_mapping():
    panel = link().panel()

    panel.values = {"lan.latency": "50 us"}

    assert panel.code() == 'model = model.at({"lan.latency": "50 us"})'


def test_sliders_of_decades_move_along_the_logarithm_and_stay_in_bounds():
    controls = {c.parameter.name: c for c in live_controls(raid())}

    assert next(iter(controls)) == "arrival_rate"
    assert controls["arrival_rate"].high == pytest.approx(1.1 / 0.00065, rel=1e-9)
    assert not controls["arrival_rate"].is_log
    assert controls["cpu_time"].is_log
    low, high = controls["cpu_time"].ends
    assert (low, high) == pytest.approx((np.log10(0.065), np.log10(6.5)), abs=1e-9)
    for model in (raid(), catalogue_model("server-closed"), catalogue_model("lopc")):
        for control in live_controls(model):
            parameter = control.parameter
            assert parameter.minimum <= control.low < control.high <= parameter.maximum


def test_the_curve_ends_where_the_model_saturates():
    panel = raid().panel()

    limit = 1 / 0.00065  # of the CPU
    # The last cell is a step of the slider, cut four times into 16.
    assert panel.view["limit"] == pytest.approx(limit, rel=1e-6)
    assert panel.view["curve"][-1][0] < limit
    panel.values = {"arrival_rate": 1600}
    assert panel.view["marker"] == [1600, None]
    assert ("response time there", "beyond saturation") in panel.view["readings"]


def test_other_outputs_and_parameters():
    panel = raid().panel(over="cpu_time", output="response_time_p95")

    assert panel.view["x"]["log"]
    expected = raid().solve()["response_time_p95"]
    assert panel.view["marker"][1] == pytest.approx(expected, rel=1e-12)
    panel.output = "disks.utilisation"
    assert panel.view["marker"][1] == pytest.approx(raid().solve()["disks.utilisation"], rel=1e-12)
    panel.over = "disk_time"
    assert panel.view["x"]["name"] == "disk_time"
    shop = classes().panel(output="class web.response_time")
    assert shop.view["marker"][1] == pytest.approx(
        classes().solve()["class web.response_time"], rel=1e-12
    )


def test_what_the_solver_refuses_is_said_and_the_last_curve_stays():
    graph = ModelGraph("half").declare("s").bind("rest", "where(s < 1, 1 - s, -1)")
    panel = graph.station("cpu", MM1("rest")).at(s=0.5, arrival_rate=0.1).panel()
    before = panel.view["curve"]

    panel.values = {"s": 2.0}

    assert "service_time" in panel.view["error"]
    assert panel.view["curve"] == before
    panel.values = {"s": 0.25}
    assert panel.view["error"] == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"values": {"cpu_tim": 1.0}}, "no slider 'cpu_tim'; did you mean cpu_time?"),
        ({"values": {"cpu_time": -1.0}}, "it must be 0 s or more"),
        ({"over": "cpu"}, "the panel has no slider 'cpu'"),
        ({"output": "response"}, "the panel has no output 'response'"),
    ],
)
def test_what_there_is_not_is_refused(change, words):
    panel = raid().panel()
    ((name, value),) = change.items()

    with pytest.raises(InvalidParameter, match=words.replace("?", r"\?")):
        setattr(panel, name, value)


def test_models_without_an_operating_point_are_refused():
    with pytest.raises(InvalidParameter, match="give cpu_time one value"):
        raid().at(cpu_time=[0.1, 0.2]).panel()
    with pytest.raises(UnknownParameter, match="no parameter 'cpu_tim'"):
        raid().panel(free=["cpu_tim"])
    with pytest.raises(InvalidParameter, match="no parameter that a slider could move"):
        raid().panel(free=[])


def test_a_missing_package_is_named_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(PackageError, match="needs anywidget; install: python -m pip install"):
        raid().panel()


def test_the_widget_styles_nothing_else():
    """All rules are nested in the panel's own class, and none names the root of the notebook."""
    style = raid().panel()._css

    assert style.startswith(".headway-panel {")
    assert style.count("{") == style.count("}")
    depth = np.cumsum([(c == "{") - (c == "}") for c in style.rstrip()])
    assert depth[:-1][style.index("{") :].min() == 1
    assert ":root" not in style
    assert "html" not in style


HARNESS = """
<!DOCTYPE html><html><body style="background: BACKGROUND; margin: 1rem"><style>STYLE</style>
<style>.notebook dt { float: left; width: 20%; } .notebook dd { margin-left: 2em; }</style>
<div id="cell" class="notebook"></div></body></html>
"""
"""A page whose style of terms is that of JupyterLab, which a panel has to stand."""
START = """async ({ code, state }) => {
  const file = new Blob([code], { type: "text/javascript" });
  const { default: widget } = await import(URL.createObjectURL(file));
  const listeners = {};
  const changed = {};
  const model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; changed[name] = value; },
    on: (event, listener) => { (listeners[event] ??= []).push(listener); },
    off: () => {},
    save_changes: async () => {
      const told = await window.tell(JSON.stringify(changed));
      for (const name of Object.keys(changed)) delete changed[name];
      Object.assign(state, told);
      for (const name of Object.keys(told)) {
        for (const one of listeners[`change:${name}`] ?? []) one();
      }
    },
  };
  widget.render({ model, el: document.getElementById("cell") });
}"""
SAME = "before => document.querySelector('.curve').getAttribute('d') === before"
OTHER = SAME.replace("===", "!==")
SYNCED = ("markup", "controls", "choices", "values", "over", "output", "view")


@pytest.fixture
def page():
    """A browser's page, and whatever it complained of."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright, which is not installed"
    )
    if BROWSER is None:
        pytest.skip("needs Chromium or Chrome, which is not on the path")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 900, "height": 900})
        complaints = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        yield page
        chromium.close()
        assert complaints == []


def shown(panel, page, background="#ffffff"):
    """Show a widget as a notebook does, its messages carried by hand."""
    import json

    def tell(text):
        for name, value in json.loads(text).items():
            setattr(panel, name, value)
        return {name: json.loads(json.dumps(getattr(panel, name))) for name in ("values", "view")}

    page.expose_function("tell", tell)
    page.set_content(HARNESS.replace("STYLE", panel._css).replace("BACKGROUND", background))
    state = {name: getattr(panel, name) for name in SYNCED}
    page.evaluate(START, {"code": panel._esm, "state": json.loads(json.dumps(state))})
    return page


def test_a_slider_reaches_the_solver_and_the_curve_comes_back(page):
    panel = raid().panel()
    shown(panel, page, background="#111111")
    curve = page.locator(".headway-panel .curve")
    before = curve.get_attribute("d")
    index = [c["name"] for c in panel.controls].index("cpu_time")

    page.locator("input[type=range]").nth(index).fill("-0.3")  # 10**-0.3 ms
    page.wait_for_function(OTHER, arg=before)

    # the slider's value in four digits
    assert panel.model.inputs["cpu_time"] == pytest.approx(501.2e-6, rel=1e-9)
    assert page.locator("input[type=number]").nth(index).input_value() == "0.5012"
    assert "saturates at\n1995 op/s" in page.locator(".readings").inner_text()
    assert page.locator("pre").text_content() == panel.code()
    assert page.locator(".headway-panel.dark").count() == 1
    page.get_by_role("button", name="Reset").click()
    page.wait_for_function(SAME, arg=before)
    assert panel.model == raid()
    names, texts = (
        page.locator(f".readings {kind}").evaluate_all(
            "all => all.map((one) => one.getBoundingClientRect())"
        )
        for kind in ("dt", "dd")
    )
    for name, text in zip(names, texts, strict=True):
        assert text["top"] >= name["bottom"] - 1
    page.locator("select").first.select_option("cpu.utilisation")
    page.wait_for_function(OTHER, arg=before)
    assert panel.output == "cpu.utilisation"
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0
