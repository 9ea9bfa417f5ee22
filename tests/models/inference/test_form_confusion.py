"""A slice of the confusion matrix of forms, and its table in the documents."""

import re

import numpy as np
import pytest

from headway.models.inference.fitting import fit_model
from headway.models.inference.forms import catalogue_forms, started
from headway.models.inference.server import choose_form
from headway.models.signatures.sfs import curve as curve_of
from headway.models.structure.loads import Load
from tests.campaigns.form_confusion import (
    BENT,
    CASES,
    CURVES,
    FEWER,
    NOISE,
    OPEN,
    POINTS,
    POPULATION,
    UNBENT,
    chosen,
    curve,
)
from tests.support.pages import accuracy

PAGE = accuracy()
ROW = re.compile(r"^\| `([\w-]+)`, ([\w ]+) \| (.*) \| (\d+) of (\d+) \| (\d+) \|", re.MULTILINE)
ROWS = {(form, load): rest for form, load, *rest in ROW.findall(PAGE)}
LIMITED = [case for case in CASES if case.load in (OPEN, BENT)]


def test_every_form_of_open_and_closed_curves_is_drawn():
    wanted = {form.model for form in catalogue_forms(Load.OPEN, Load.CLOSED, Load.POPULATION)}

    assert wanted == {case.form for case in CASES}


def test_the_table_has_a_row_for_each_and_adds_up():
    assert list(ROWS) == [(case.form, case.load) for case in CASES]
    for case in CASES:
        words, right, count, likely = ROWS[case.form, case.load]
        assert words == case.words
        assert int(count) == (CURVES // FEWER if case.load == POPULATION else CURVES)
        assert int(right) <= int(likely) <= int(count)
    right = sum(int(ROWS[case.form, case.load][1]) for case in LIMITED)
    assert f"{right} of {CURVES * len(LIMITED)} ({right / CURVES / len(LIMITED):.1%})" in PAGE
    assert right >= 0.95 * CURVES * len(LIMITED)


def test_curves_are_as_noisy_as_said():
    """2% of 10 points each; the standard deviation of 400 draws is known within a tenth."""
    case = next(case for case in CASES if case.form == "server-single")
    errors = []
    for seed in range(40):
        values = curve(case, seed).column("response").values
        assert values.shape == (POINTS,)
        fitted = np.polynomial.Polynomial.fit(np.arange(POINTS), np.log(values), 6)
        errors.append(np.log(values) - fitted(np.arange(POINTS)))
    # Seven coefficients leave three tenths of the squares.
    assert np.sqrt(np.mean(np.square(errors)) / 0.3) == pytest.approx(NOISE, rel=0.2)


@pytest.mark.slow
def test_forms_are_told_apart():
    """One curve of each: at least 95% are right in the table, 8 of 9 at least of these."""
    ends = {case.name: chosen(case, 2)[0] == case.form for case in LIMITED}

    assert sum(ends.values()) >= len(LIMITED) - 1, ends


@pytest.mark.slow
def test_forms_of_populations_are_told_apart():
    plain = {"server-single", "server-slowing"}
    cases = [case for case in CASES if case.load == POPULATION and case.form in plain]

    assert [chosen(case, 0)[0] for case in cases] == [case.form for case in cases]


@pytest.mark.slow
def test_a_closed_curve_that_does_not_bend_is_not_told():
    """A population takes a parameter more, and ten points do not pay for it."""
    case = next(case for case in CASES if case.load == UNBENT)
    measured = curve(case, 0)
    server, result = choose_form(measured), curve_of(measured)
    [form] = catalogue_forms(Load.CLOSED)
    model = started(form, result.load.values, result.response_time.values)

    closed = fit_model(model, measured, form.free)

    assert server.form.model != case.form
    assert closed.aicc > server.best.aicc + 4
    assert ROWS[case.form, case.load][1] == "0"
