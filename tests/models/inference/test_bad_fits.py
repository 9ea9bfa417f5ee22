"""A fit that does not describe its data says so first, and writes no model unasked."""

import json

import pytest

from headway.models import Measurements, catalogue_model
from headway.models.inference.fit import DESCRIBES
from tests.support.command import headway

JAGGED = "throughput_ops_s,response_ms\n100,5\n200,90\n300,6\n400,120\n500,4\n600,70\n"
SMOOTH = "throughput_ops_s,response_ms\n100,3\n200,3.2\n400,4.1\n600,6\n700,8.4\n"


@pytest.fixture
def jagged(tmp_path, monkeypatch):
    """In this folder: a long path would be broken in a title."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jagged.csv").write_text(JAGGED)
    return "jagged.csv"


def test_no_form_describes_what_no_curve_is(jagged):
    result = headway("fit", "server", "--data", jagged)
    assert result.code == 1
    first = " ".join(result.out.split("\n\n")[0].split())
    assert first.startswith(f"{jagged}: no form describes these data: the best of 10, server-")
    assert first.endswith("off (RMS)")


def test_a_model_that_does_not_describe_is_told_by_its_title(jagged):
    given = ("fit", "server-single", "--free", "service_time,delay", "--data", jagged)
    result = headway(*given)
    assert result.code == 1
    assert " ".join(result.out.split()).startswith(f"server-single does not describe {jagged}")
    assert json.loads(headway(*given, "--json").out)["describes"] is False


def test_no_model_is_written_unasked(jagged, tmp_path):
    out = tmp_path / "out.toml"
    given = ("fit", "server", "--forms", "server-single", "--data", jagged, "--out", out)
    refused = headway(*given)
    assert (refused.code, out.exists()) == (1, False)
    assert refused.err == (
        f"{out} is not written: the model does not describe these data; --anyway writes it\n"
    )
    asked = headway(*given, "--anyway")
    assert (asked.code, out.exists()) == (1, True)


def test_a_good_fit_is_written_as_before(tmp_path):
    path, out = tmp_path / "smooth.csv", tmp_path / "out.toml"
    path.write_text(SMOOTH)
    result = headway("fit", "server", "--data", path, "--out", out)
    assert (result.code, out.exists(), result.err) == (0, True, f"wrote {out}\n")
    assert "describes" not in result.out


def test_the_bound_is_that_of_the_error():
    curve = Measurements.parse(SMOOTH, "smooth.csv")
    fit = catalogue_model("server-single").fit(curve, ["service_time", "delay"])
    assert fit.describes
    assert fit.comparison.summary["rms_relative_error"] <= DESCRIBES
