"""README: its commands run, and every figure in it is recomputed."""

import json
import re
from functools import cache

from headway.models import Measurements, data_path
from headway.models.plotting.figures import picture
from tests.support.command import headway
from tests.support.fits import fit_server
from tests.support.places import ROOT

TEXT = (ROOT / "README.md").read_text()
PROSE = " ".join(TEXT.split())
SHOWN = re.findall(r"^```console\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)[0]
COMMANDS = re.findall(r"^\$ (headway .+)$", SHOWN, re.MULTILINE)


@cache
def vendor():
    curve = data_path("sfs_results/curves/storage2020-20250929-00140.csv")
    return fit_server(Measurements.read(curve))


def test_the_figures_of_the_vendor_s_curve():
    fit = json.loads(vendor().to_json())
    summary = fit["summary"]
    limit = fit["saturation_throughput"]

    assert summary["free_parameters"] == 2
    assert (
        f"two parameters, an RMS error of {summary['rms_relative_error']:.1%}, and "
        f"{summary['leave_last_load_out_relative_error']:.1%} at the highest load"
    ) in PROSE
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


def test_the_words_on_the_three_commands_are_what_these_show():
    """What they show is compared with what they print by tests/docs/test_documents.py."""
    (servers,) = re.findall(r"^ servers +(\d+)", SHOWN, re.MULTILINE)
    (best,) = re.findall(r"^ cheapest +(\d+)", SHOWN, re.MULTILINE)
    (less,) = re.findall(r"^ nearest +(\d+)", SHOWN, re.MULTILINE)

    assert f"the tested server does have {servers} workers" in PROSE
    assert f"With 32 clients, {best} workers keep the response time within 50 ms" in PROSE
    assert f"and {less} do not" in PROSE
    assert "response_time<=50ms" in SHOWN
    assert "population=32" in SHOWN


def test_the_number_of_kinds_of_files():
    kinds = json.loads(headway("kinds", "--json").out)["files"]

    assert f"recognises {len(kinds)} kinds of files" in PROSE


def test_the_first_screen_holds_the_sentence_the_picture_and_three_commands():
    first = "\n".join(TEXT.splitlines()[:60])

    assert [line.split()[1] for line in COMMANDS] == ["audit", "fit", "size"]
    assert SHOWN in first
    assert "](docs/pictures/vendor.svg)" in first


def test_the_first_page_of_the_documentation_shows_the_same_screen():
    settings = (ROOT / "docs/conf.py").read_text()
    (begin,) = re.findall(r':start-after: "(.+)"', settings)
    (end,) = re.findall(r':end-before: "(.+)"', settings)

    assert SHOWN in TEXT.partition(begin)[2].partition(end)[0]


def test_the_first_page_has_three_ways_in_and_no_long_list():
    index = (ROOT / "docs/index.md").read_text()

    assert "```{" not in index  # GitHub would show a directive as it stands
    assert re.findall(r"^\*\*I have (.+?)\.\*\*", index, re.MULTILINE) == [
        "a load test", "a design", "a vendor's curve",
    ]  # fmt: skip
    assert len(re.findall(r"\]\(", index)) <= 30
