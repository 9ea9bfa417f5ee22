"""Every published table reproduces as far as it is known to, and the command says so."""

import dataclasses
import json

import pytest

from headway.models.published import reproduction
from headway.models.published.cells import (
    Cell,
    Expectation,
    Outcome,
    PublishedTable,
    cell_of_print,
)
from headway.models.published.documents import programs
from headway.models.published.reproduction import (
    DOCUMENTS,
    Document,
    Recomputed,
    Reproduction,
    published,
    reproduce,
)
from tests.support.command import headway, refusal

REPRODUCTION = reproduce()
PARTS = {part.name: part for part in REPRODUCTION.parts}

ANSWERS = [
    "streaming-io/figure-2",
    "streaming-io/section-5",
    "streaming-io/figure-8",
    "streaming-io/figure-9",
    "logp/table-3",
    "logp/table-4",
    "logp/table-5",
    "scsi-disk/section-2",
    "scsi-disk/section-3",
    "io-node/table-2",
    "io-node/table-3",
    "io-node/table-4",
    "thesis/table-2.1",
    "thesis/table-2.2",
    "thesis/table-3.3",
    "thesis/table-3.4",
    "thesis/table-4.2",
    "thesis/table-4.3",
    "thesis/table-5.1",
    "thesis/table-6.1",
    "thesis/table-6.2",
    "thesis/section-5.5",
]

KNOWN = {
    "streaming-io/section-5": 1,
    "streaming-io/figure-8": 1,
    "logp/table-3": 1,
    "logp/table-4": 1,
    "thesis/table-3.3": 10,
    "thesis/table-3.4": 7,
    "thesis/table-4.2": 2,
    "thesis/table-4.3": 2,
    "thesis/table-5.1": 7,
    "thesis/section-5.5": 1,
}
"""Cells that print got wrong, by table."""


@pytest.mark.parametrize("part", REPRODUCTION.parts, ids=lambda part: part.name)
def test_every_cell_that_should_agree_does(part):
    assert [cell for cell in part.cells if cell.outcome is Outcome.DIFFERS] == []
    assert part.cells


def test_every_table_asked_for_is_there():
    assert set(ANSWERS) <= set(PARTS)
    assert len(PARTS) == len(REPRODUCTION.parts)


@pytest.mark.parametrize("part", REPRODUCTION.parts, ids=lambda part: part.name)
def test_errata_are_the_known_ones_and_explained(part):
    assert len(part.errata) == KNOWN.get(part.name, 0)
    for cell in part.cells:
        if cell.expectation is Expectation.AGREE:
            assert cell.explanation == ""
        else:
            assert len(cell.explanation) > 20, cell
        if cell.expectation is Expectation.ERRATUM:
            assert not cell.is_near, cell


def test_counts_of_the_thesis():
    """85, 80, 17 and 17 printed predictions; Connect's other columns and Barnes's levels beside."""
    assert len(PARTS["streaming-io/figure-2"].cells) == 36
    printed = {
        name: [c for c in PARTS[f"thesis/{name}"].cells if "other column" not in c.name]
        for name in ("table-3.3", "table-3.4", "table-4.2", "table-4.3")
    }
    shifted = [c for c in printed["table-3.3"] if "printed at" in c.name]
    assert len(printed["table-3.3"]) - len(shifted) == 85
    assert len(printed["table-3.4"]) == 80
    assert len([c for c in printed["table-4.2"] if "as the text" not in c.name]) == 17
    assert len(printed["table-4.3"]) == 17


@pytest.mark.parametrize(
    ("table", "cell", "recomputed"),
    # what source-models' recomputation found, to its printed digits
    [
        ("thesis/table-4.2", "FT 110 us as the text says", 189.3 - 7.9),
        ("thesis/table-4.3", "IS 15 MB/s", 20.3),
        ("thesis/table-5.1", "RAID measured y_intercept", -6.84),
        ("thesis/table-5.1", "SCSI predicted slope", 19.8),
        ("thesis/section-5.5", "SCSI r squared, service time free", 0.912),
        ("logp/table-4", "Intel Paragon, latency", 6.45),
        ("streaming-io/section-5", "I/O bus at its peak utilisation", 52),
    ],
)
def test_errata_come_to_what_was_found_by_hand(table, cell, recomputed):
    (result,) = [c for c in PARTS[table].errata if c.name == cell]

    digits = len(str(recomputed).partition(".")[2])
    assert result.recomputed == pytest.approx(recomputed, abs=0.6 * 10.0**-digits)


def test_a_wrong_law_is_noticed(monkeypatch):
    """With one overhead a message instead of two, Table 3.3 must not agree."""
    law = programs.overhead_run_time
    monkeypatch.setattr(programs, "overhead_run_time", lambda base, m, do: law(base, m, do / 2))

    result = headway("reproduce", "thesis/table-3.3")

    assert result.code == 1
    assert result.out.count("DIFFERS") > 30


def test_a_changed_model_file_is_noticed(monkeypatch):
    from headway.models.files import shipped
    from headway.models.published.documents import io_node

    model = shipped.catalogue_model("io-node")
    spoiled = dataclasses.replace(
        model,
        parameters={
            **model.parameters,
            "interruption_time": model.parameters["interruption_time"].at(2e-4),
        },
    )
    monkeypatch.setattr(io_node, "catalogue_model", lambda _: spoiled)

    assert not reproduce("io-node/table-3").holds


def test_summary_fits_a_screen():
    result = headway("reproduce")

    assert result.code == 0
    assert result.err == ""
    lines = result.out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 90
    total = sum(len(part.expected) for part in REPRODUCTION.parts)
    assert f"{total} of {total} agree that should" in result.out
    assert total > 400


def test_errata_alone():
    result = headway("reproduce", "--errata")

    assert result.code == 0
    rows = [
        line
        for line in result.out.splitlines()
        if line.startswith((" thesis/", " logp/", " streaming"))
    ]
    assert len(rows) == sum(KNOWN.values())
    assert "errata of print" in result.out
    assert "there are none" in headway("reproduce", "io-node", "--errata").out
    assert "table-4: LINPACK" in headway("reproduce", "--cells").out


def test_json_contract():
    result = headway("reproduce", "--json")

    document = json.loads(result.out, parse_constant=pytest.fail)
    table = next(t for t in document["tables"] if t["table"] == "thesis/table-3.3")
    assert table["cells"] == 96
    assert table["reproduced"] == table["expected"] == 86
    assert table["largest_difference"] <= 0.5
    assert set(table["errata"][0]) == {"cell", "printed", "recomputed", "explanation"}
    assert set(table["values"][0]) >= {"cell", "printed", "recomputed", "difference", "tolerance"}
    assert document["different"] == 0


def test_csv_and_plot(tmp_path):
    picture = tmp_path / "all.svg"

    result = headway("reproduce", "logp", "--csv", "--plot", picture)

    lines = result.out.splitlines()
    assert lines[0].startswith("table,unit,cell,printed,recomputed,difference,tolerance,outcome")
    assert len(lines) == 1 + 3 + 5 + 3
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("name", "count"),
    [("thesis", 13), ("004", 13), ("io_node_compute", 3), ("thesis/5.1", 1), ("3.3", 1)],
)
def test_names_of_tables(name, count):
    assert len(published(name)) == count


def test_names_are_unique():
    names = [f"{document.name}/{table.name}" for document, table in published()]
    assert len(names) == len(set(names))
    assert len({n for d in DOCUMENTS for n in (d.name, *d.aliases)}) == 3 * len(DOCUMENTS)


def test_progress_names_each_table():
    rows = []
    reproduction.recompute(published("io-node"), rows.append)
    assert rows == ["io-node/table-2", "io-node/table-3", "io-node/table-4"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("thesis/table-9.9",), "thesis has no table 'table-9.9'"),
        (("table-3.33",), "there is no table 'table-3.33'; did you mean"),
        (("table-4",), "'table-4' is a table of several documents: logp/table-4, io-node/table-4"),
        (("thesis", "--plot", "all.doc"), "pictures end in .svg, .png, .pdf"),
    ],
)
def test_bad_input(arguments, words):
    assert words in refusal("reproduce", *arguments)


def test_words_and_numbers_as_cells():
    assert Cell("first", "cpu", "cpu").outcome is Outcome.AGREES
    assert Cell("first", "cpu", "io bus").outcome is Outcome.DIFFERS
    assert Cell("edge", 1.0, 1.05, 0.05).outcome is Outcome.AGREES
    assert Cell("off", 1.0, 1.0501, 0.05).outcome is Outcome.DIFFERS
    assert cell_of_print("endless", "1.0", float("inf")).outcome is Outcome.DIFFERS


def test_a_cell_that_differs_is_named():
    table = PublishedTable("table-1", "a test", "s", list, "none")
    part = Recomputed(Document("d", "D", "none"), table, (Cell("x", 1.0, 2.0, 0.1),))

    text = str(Reproduction((part,)))

    assert "DIFFERS: d/table-1: x: printed 1.0, recomputed 2.0" in text
    assert not Reproduction((part,)).holds
