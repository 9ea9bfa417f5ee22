"""What people see of the forms of a server: the chosen one first, then a line for each other."""

import json
import re
from contextlib import contextmanager

import pytest

from headway.cli.commands import fit
from headway.models import Measurements, catalogue_model, data_path, parse_model
from headway.models.inference.certainty.weights import akaike_weights
from headway.models.inference.forms import catalogue_forms
from headway.models.inference.server import ServerFit, fit_server
from headway.models.inference.side_by_side import SideBySide
from headway.models.language.formula import formula
from headway.models.structure.loads import Load
from tests.support.command import headway

IBM = data_path("sfs_results/curves/laddis-1994q1-ibm-7051-1fp.csv")
TIMES = re.compile(r"(?<=[\w)])\s+(?=[A-Za-z_(])")
"""Where a multiplication sign is left out."""


@pytest.fixture(scope="module")
def ibm():
    return fit_server(Measurements.read(IBM))


def evaluated(term, values):
    """A term of an equation with multiplication signs; None where it holds words."""
    term, _, where = term.partition(", where ")
    name, _, where = where.partition(" = ")
    term, where = (TIMES.sub(" * ", text.replace("^", "**")) for text in (term, where))
    if where:
        values = values | {name: formula(where).evaluate(values)}
    return formula(term).evaluate(values)


@pytest.mark.parametrize("form", catalogue_forms(Load.OPEN), ids=lambda form: form.name)
def test_equations_are_those_of_the_models(form):
    """All that are written in numbers give what the model does, below saturation."""
    assert form.equation
    if any("wait" in term for term in form.equation):
        return
    model = catalogue_model(form.model).at(dict.fromkeys(form.variant.without, 0.0))
    values = {name: float(value) for name, value in model.inputs.items()}
    top = float(model.form.saturation.evaluate(values))

    for x in (0.1 * top, 0.4 * top, 0.9 * top):
        added = sum(evaluated(term, values | {"x": x}) for term in form.equation)
        solved = float(model.at(arrival_rate=x).solve().response_time)
        assert added == pytest.approx(solved, rel=1e-9), x


def test_a_term_of_what_a_variant_lacks_is_not_said():
    without = {f.name: f for f in catalogue_forms(Load.OPEN)}["server (no delay)"]

    assert "delay" not in " ".join(without.equation)
    assert without.equation


def test_the_chosen_form_comes_first_with_its_equation(ibm):
    shown = str(ibm)
    first, *_, last = re.split(r"\n\n", shown)

    assert first.replace("\n", " ").endswith(
        f"server-cache (no delay), the best of {len(ibm.candidates)} forms "
        "(RMS error 0.85%, leave-one-out error 1.2%)"
    )
    assert "response time = miss_time max(0, 1 - cached_load / x)\n              + serv" in shown
    assert shown.index("response time =") < shown.index("parameter")
    assert shown.index("parameter") < shown.index("bottleneck: node")
    assert shown.index("derived quantity") < shown.index("AICc weight") < shown.index("chosen:")
    assert "server-cache: separate servers, and a cache" in last


@pytest.mark.parametrize("width", [80, 120])
def test_a_form_takes_one_line(ibm, width):
    table = ibm.tables()[-1].text(width).splitlines()

    for form, _ in ibm.candidates:
        assert sum(line.strip().startswith(f"{form.name}  ") for line in table) == 1


def test_weights_are_those_of_aicc(ibm):
    document = json.loads(ibm.to_json())
    weights = [candidate["weight"] for candidate in document["candidates"]]

    assert weights == pytest.approx(akaike_weights([c["aicc"] for c in document["candidates"]]))
    assert sum(weights) == pytest.approx(1)
    assert f"{weights[0]:.1%}" in str(ibm)
    assert "below 0.1%" in str(ibm)


def test_a_choice_against_aicc_says_so():
    """Where left-out points are predicted better by a fifth, the least AICc does not decide."""
    name = "sfs2008-20080506-00092"
    server = fit_server(Measurements.read(IBM.with_name(f"{name}.csv")))
    least = min(fit.aicc for _, fit in server.candidates)
    result = re.sub(r"\s+", " ", str(server))

    assert ("(lowest AICc)" in result) == (server.best.aicc == least)
    assert ("smaller leave-one-out error than" in result) == (server.best.aicc != least)


def test_forms_that_may_be_right_are_drawn(ibm):
    """Those first that fit not significantly worse, of a weight that is not 0%; four at most."""
    labels = ibm.plot().axes[0].get_legend_handles_labels()[1]
    drawn = [label for label in labels if "weight" in label]
    weights = dict(zip((form for form, _ in ibm.candidates), ibm.weights, strict=True))
    likely = {form for form, weight in weights.items() if weight >= 0.005 and form != ibm.form}
    plausible = [form for form, _ in ibm.plausible if form in likely]

    assert 1 < len(drawn) == min(len(likely), 4)
    expected = [f"{form.name}, weight {weights[form]:.0%}" for form in plausible[: len(drawn)]]
    assert expected
    assert drawn[: len(expected)] == expected


def test_one_form_alone_is_shown(ibm):

    alone = ServerFit(ibm.candidates[:1])

    assert "chosen: server-cache" in str(alone)
    assert "runners-up" not in str(alone)
    assert alone.weights.tolist() == [1.0]
    assert "runner-up" in str(SideBySide((alone, alone)))


def test_progress_moves_with_the_forms():
    lines = []

    server = fit_server(Measurements.read(IBM), progress=lambda *step: lines.append(step))

    doing = [step[0] for step in lines]
    assert sum(share for _, share in lines) == pytest.approx(1)
    for form, _ in server.candidates:
        assert form.name in doing
        assert f"{form.name}: points left out" in doing


def test_progress_names_the_curve_of_several(monkeypatch):

    lines = []

    @contextmanager
    def telling(what, steps):
        yield lambda doing="", share=1.0: lines.append((doing, share))

    monkeypatch.setattr(fit, "progress", telling)
    headway("fit", "server", "--forms", "server-single", "--data", IBM, "--data", IBM)

    assert {doing.partition(":")[0] for doing, _ in lines} == {IBM.name}
    assert sum(share for _, share in lines) == pytest.approx(2)


def test_an_equation_is_written_and_read(ibm):
    model = ibm.best.model

    assert parse_model(model.to_toml()).form.equation == model.form.equation != ()
