"""The paper: every figure in it is recomputed, every source that it cites is listed."""

import csv
import doctest
import re
from functools import cache
from pathlib import Path

import pytest
import yaml

from headway.loggp import PLATFORMS, Convention, convert
from headway.models import (
    Measurements,
    ModelGraph,
    catalogue_model,
    data_path,
    model_names,
    reproduce,
    retries,
)
from headway.models.published.cells import Expectation
from headway.queueing import STATIONS, MMm
from tests.models.inference.test_fit_intervals import printed
from tests.support.pages import accuracy
from tests.support.places import ROOT

TEXT = (ROOT / "paper/paper.md").read_text()
_, HEAD, BODY = TEXT.split("---\n", 2)
CODE = re.search(r"```pycon\n(.*?)```", BODY, re.DOTALL)[1]
PROSE = " ".join(re.sub(r"```.*?```|\[@[^\]]*\]", "", BODY, flags=re.DOTALL).split())
SECTIONS = ["Summary", "Statement of need", "State of the field", "What headway does", "Tests"]


@cache
def published():
    reproduction = reproduce()
    wanted = [cell.expectation for part in reproduction.parts for cell in part.cells]
    counts = {kind: wanted.count(kind) for kind in Expectation}
    assert reproduction.holds
    return len(reproduction.parts), len(wanted), counts


def cells(*kinds):
    _, _, counts = published()
    return tuple(counts[kind] for kind in kinds)


@cache
def errors():
    """Largest errors of the model as published and as fitted, and how many points there are."""
    curve = Measurements.read(data_path("network_sensitivity/table_a_1_scsi_performance.csv"))
    model = catalogue_model("nfs-server").with_preset("scsi")
    fit = model.fit(curve, ["delay", "cpu_time", "disk_time", "touched_per_load"])
    both = model.compare(curve, low=190, high=1060), fit.comparison
    assert [len(one.relative_error) for one in both] == [7, 7]
    return tuple(f"{100 * one.summary['max_relative_error']:.1f}" for one in both)


def latencies():
    now = PLATFORMS["now"]
    both = convert(now, Convention.NETGAUGE), now
    return tuple(f"{1e6 * float(one.latency):.1f}" for one in both)


@cache
def textbooks():
    with (ROOT / "tests/data/queueing_oracles.csv").open() as table:
        rows = list(csv.DictReader(table))
    return len(rows), len({row["case"] for row in rows})


def shares(noise, *requested):
    """Shares in the documentation's table, of which test_fit_intervals recounts a part."""
    usual, robust = printed("## Intervals of fits")["single", noise]
    by_name = {"usual": usual, "robust": robust}
    return tuple(f"{100 * by_name[kind][name]:.1f}" for kind, name in requested)


def layers():
    """Errors of throughput by layers where chains are too large, the last table of the page."""
    line = r"^\| one phase \| throughput \| \d+ \| (.+) \|$"
    row = re.findall(line, accuracy(), re.MULTILINE)[-1]
    return tuple(cell.rstrip("%") for cell in row.split(" | "))


def tips(load=390.0):
    """Loads between which both states last."""
    clients = {"timeout": 0.1, "retries": 3}
    graph = ModelGraph("server").station("server", MMm(8.1e-3, 4)).impatient(clients)
    folds = retries(graph.at(arrival_rate=load)).tipping.folds
    return f"{folds.vanishes:.1f}", f"{folds.tips:.1f}"


def round_trips(line):
    """A line of the documentation's first table of round trips."""
    return re.search(rf"^{line} +([\d.]+)%", _page_on_traces(), re.MULTILINE)[1]


def _page_on_traces():
    return (ROOT / "docs/accuracy/traces.md").read_text()


CLAIMS = {
    r"The catalogue has (\d+) models": lambda: (len(model_names()),),
    r"with (\d+) published SPECsfs result curves": lambda: (
        len(list(Path(data_path("sfs_results/curves")).glob("*.csv"))),
    ),
    r"cluster this is ([\d.]+) µs instead of ([\d.]+) µs": latencies,
    r"There are (\d+) kinds of stations": lambda: (len(STATIONS),),
    r"error falls from ([\d.]+)% to ([\d.]+)%": errors,
    r"recomputes (\d+) tables": lambda: published()[:1],
    r"Of their (\d+) cells": lambda: published()[1:2],
    r"(\d+) set the model and prove nothing": lambda: cells(Expectation.INPUT),
    r"(\d+) need effects": lambda: cells(Expectation.BEYOND),
    r"and (\d+) are errors in print": lambda: cells(Expectation.ERRATUM),
    r"The remaining (\d+) all agree": lambda: cells(Expectation.AGREE),
    r"with (\d+) printed figures of (\d+) textbook cases": textbooks,
    r"([\d.]+)% of the 95% intervals contain the true delay and ([\d.]+)% the true service": (
        lambda: shares("3%, n = 10", ("usual", "delay"), ("usual", "service_time"))
    ),
    r"only ([\d.]+)% contain the true service time": lambda: shares(
        "1% to 8%, n = 10", ("usual", "service_time")
    ),
    r"off by ([\d.]+)% in the median, by less than ([\d.]+)% in nine of ten, and by ([\d.]+)% at": (
        layers
    ),
    r"trips over (\d+) random systems": lambda: (
        sum(
            map(int, re.search(r"trace_round_trips --count ([\d ]+)", _page_on_traces())[1].split())
        ),
    ),
    r"([\d.]+)% of the 95% intervals contain the true work": lambda: (
        round_trips("work within its 95% interval"),
    ),
    r"highest traced load are off by ([\d.]+)% in the median": lambda: (
        round_trips("response times at 1.3 times the highest load, off by"),
    ),
    r"after 100 ms, from ([\d.]+) to ([\d.]+) requests a second": tips,
    r"of which ([\d.]+)% contain it": lambda: shares(
        "1% to 8%, n = 10", ("robust", "service_time")
    ),
}
SETTINGS = [
    "at 1.3 times",
    "four workers of 8.1 ms",
    "M/M/1",
    "95% intervals and with",
    "with 50-digit arithmetic",
    "Of 400 simulated curves with ten points and 3% noise at every load",
    "grows from 1% to 8% with the load",
]
"""What is no result: names, and how a result was found."""


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_figure_is_what_is_computed(claim):
    (result,) = re.finditer(claim, PROSE)

    assert result.groups() == tuple(map(str, CLAIMS[claim]()))


def test_no_figure_goes_without_a_check():
    rest = PROSE
    for claim in CLAIMS:
        rest = re.sub(claim, "", rest)
    for words in SETTINGS:
        assert words in PROSE
        rest = rest.replace(words, "")

    assert re.findall(r"\S*\d\S*", rest) == []


def test_the_share_of_curves_is_of_as_many_as_the_paper_says():
    page = accuracy()

    for noise in ("3%, n = 10", "1% to 8%, n = 10"):
        assert f"| single | {noise} | 400 |" in page


def test_the_session_runs():
    test = doctest.DocTestParser().get_doctest(CODE, {}, "paper", "paper.md", 0)

    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_paper_has_what_its_journal_asks_for():
    head = yaml.safe_load(HEAD)

    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(head)
    assert (ROOT / "paper" / head["bibliography"]).exists()
    assert re.findall(r"^# (.+)$", BODY, re.MULTILINE)[:5] == SECTIONS
    assert 750 <= len(BODY.split()) <= 1750


def test_every_source_is_cited_and_listed_once():
    listed = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper/paper.bib").read_text(), re.MULTILINE)
    cited = re.findall(r"@(\w+)", " ".join(re.findall(r"\[(@[^\]]*)\]", BODY)))

    assert sorted(listed) == sorted(set(cited))
