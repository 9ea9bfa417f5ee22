"""README: its commands run, and every figure in it is recomputed."""

import json
import re
import shlex
from functools import cache

import pytest

from headway.models import Measurements, data_path
from headway.models.inference.server import fit_server
from headway.models.plotting.figures import picture
from tests.support.command import headway
from tests.support.places import ROOT

TEXT = (ROOT / "README.md").read_text()
PROSE = " ".join(TEXT.split())
COMMANDS = re.findall(r"^    headway (.+)$", TEXT, re.MULTILINE)


@cache
def vendor():
    curve = data_path("sfs_results/curves/storage2020-20250929-00140.csv")
    return fit_server(Measurements.read(curve))


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What README's three commands answer: audit, fit, size."""
    place = tmp_path_factory.mktemp("readme")
    rows = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for line in COMMANDS:
            result = headway(*shlex.split(line), "--json")
            assert result.code == 0, (line, result.err)
            rows.append(json.loads(result.out))
    return rows


def test_the_figures_of_the_vendor_s_curve():
    fit = json.loads(vendor().to_json())
    summary = fit["summary"]
    limit = fit["saturation_throughput"]

    assert (
        f"with {summary['free_parameters']} parameters".replace(" 2 ", " two ")
        + f": its RMS error is {summary['rms_relative_error']:.1%}, "
        f"and its largest error is {summary['max_relative_error']:.1%}."
    ) in PROSE
    leave_last_load_out_relative_error = summary["leave_last_load_out_relative_error"]
    assert f"that load with an error of {leave_last_load_out_relative_error:.1%}." in PROSE
    low, high = (round(end, -3) for end in limit["ci95"])
    assert (
        f"saturates at {round(limit['value'], -3):,.0f} op/s "
        f"(95% interval: {low:,.0f} to {high:,.0f} op/s)"
    ) in PROSE


def test_the_picture_is_that_of_the_fit():
    words = re.findall(r"<!-- (.+) -->", picture(vendor().plot(), "svg").decode())

    shown = (ROOT / "docs/pictures/vendor.svg").read_text()
    assert "95% band" in words
    assert words == re.findall(r"<!-- (.+) -->", shown)


def test_the_figures_of_the_three_commands(answers):
    audit, fit, size = answers
    (little,) = (row for row in audit["findings"] if row["kind"] == "littles_law")
    assert f"by up to {little['value'] / 3 - 1:.0%}" in PROSE
    low, high = (end * 1e3 for end in fit["parameters"]["service_time"]["ci95"])
    assert f"tries {'ten' if len(fit['candidates']) == 10 else '?'} forms" in PROSE
    assert f"one queue with {fit['parameters']['servers']['value']:.0f} servers" in PROSE
    assert (
        f"takes {fit['parameters']['service_time']['value'] * 1e3:.2f} ms "
        f"(95% interval: {low:.2f} to {high:.2f} ms); "
        f"the RMS error is {fit['summary']['rms_relative_error']:.1%}."
    ) in PROSE
    best, less = size["cheapest"], size["next_cheaper"]
    assert (
        f"{best['values']['servers']:.0f} servers keep the response time within 50 ms with a "
        f"probability of {best['probability']:.3f}; {less['values']['servers']:.0f} servers do not"
    ) in PROSE
    assert not less["meets"]


def test_the_number_of_kinds_of_files():
    kinds = json.loads(headway("kinds", "--json").out)["files"]

    assert f"recognises {len(kinds)} kinds of files" in PROSE


def test_the_first_screen_holds_the_commands():
    first = "\n".join(TEXT.splitlines()[:60])

    assert all(line in first for line in COMMANDS)
    assert len(COMMANDS) == 3
