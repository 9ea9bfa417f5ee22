"""Tables as text: they fit their width, cut no number and lose no word."""

import io
import os
import pty
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from headway.models import catalogue_model, model_names
from headway.models.files.shipped import data_path
from headway.models.language.units import unit
from headway.models.tables.layout import EDGE, GAP, ColumnLayout, is_narrow, widths
from headway.models.tables.table import Column, Table
from tests.support.command import headway

TEMPLATE = data_path("").parent / "reports/assets/pieces.html"
RAID = str(data_path("network_sensitivity/table_a_5_raid_performance.csv"))
COMMANDS = [
    ("models",),
    *(("show", name) for name in ("nfs-server", "streaming-io", "program-overhead", "pipeline")),
    ("solve", "nfs-server", "--preset", "raid"),
    ("solve", "streaming-io", "--preset", "sort-cluster", "--set", "disk_rate=1,2,5MB/s"),
    ("solve", "nfs-server", "--set", "arrival_rate=1,2", "--set", "disks=4,8"),
    ("compare", "nfs-server", "--preset", "raid", "--data", RAID),
    ("sensitivity", "nfs-server", "--preset", "raid"),
    ("signature", "sfs", RAID),
    ("balance", "streaming-io", "--preset", "sort-cluster"),
    ("fit", "nfs-server", "--data", RAID, "--free", "delay,cpu_time"),
    ("fit", "server", "--data", RAID, "--next", "--target", "response_time<=40ms"),
    ("reproduce", "thesis/table-5.1"),
]


@pytest.fixture(autouse=True)
def _no_width(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_every_answer_fits_80_columns_in_a_pipe(arguments):
    result = headway(*arguments)

    assert result.code == 0
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.parametrize("width", [20, 40, 60, 100])
@pytest.mark.parametrize("arguments", COMMANDS[1:6], ids=" ".join)
def test_narrow_or_wide_it_says_the_same(arguments, width, monkeypatch):
    wide = headway(*arguments).out

    monkeypatch.setenv("COLUMNS", str(width))
    narrow = headway(*arguments)

    assert narrow.code == 0
    numbers = r"(?<![\w.])\d+\.\d{2,}(?![\w.])"
    assert set(re.findall(numbers, narrow.out)) == set(re.findall(numbers, wide))
    # A word that is longer than the terminal stands out; nothing else does.
    longest = max(width, *(len(word) + 2 for word in narrow.out.split()))
    assert max(map(len, narrow.out.splitlines())) <= longest


@pytest.mark.parametrize("name", model_names())
def test_every_model_of_the_catalogue_fits(name):
    text = str(catalogue_model(name))

    lines = [line for line in text.splitlines() if len(line) > 80]
    # A formula without a space has nowhere to break.
    assert all(max(map(len, line.split())) > 30 for line in lines), lines


words = st.text("abcdefgh", min_size=1, max_size=9)
sentences = st.lists(words, min_size=1, max_size=12).map(" ".join)


@given(
    st.lists(st.floats(-1e6, 1e6).map(float), min_size=1, max_size=4),
    st.integers(1, 9),
    sentences,
    st.integers(20, 120),
)
def test_no_number_is_cut_and_no_word_lost(numbers, count, sentence, width):
    columns = [Column("key", ("row",) * len(numbers))]
    columns += [Column.of(f"number {k}", numbers, unit("s")) for k in range(count)]
    columns.append(Column("words", (sentence,) * len(numbers)))

    text = Table("", tuple(columns)).text(width)

    result = text.split()
    for shown in columns[1].texts:
        assert result.count(shown) >= count
    assert set(sentence.split()) <= set(re.findall(r"[a-z]+", text))
    assert max(map(len, text.splitlines())) <= width


def test_a_table_has_the_same_rows_in_notebooks_and_reports():
    table = Table("a < b", (Column("name", ("cpu & disk",)), Column("busy", (0.5,))), ("5 > 4",))

    in_notebooks = re.sub(' style="[^"]*"', "", table.to_html())
    assert in_notebooks == table.grid_html() + table.notes_html()
    assert '<th scope="row" class="text">cpu &amp; disk</th><td class="number">0.500</td>' in (
        table.grid_html()
    )
    assert "<caption>a &lt; b</caption>" in table.grid_html()
    assert table.notes_html() == '<p class="note">5 &gt; 4</p>\n'
    assert "<td" not in TEMPLATE.read_text(encoding="utf-8")


def test_the_swept_inputs_stand_again_above_what_moved_below():
    numbers = [Column.of(f"long_name_of_output_{k}", [1.25, 2.5]) for k in range(6)]
    load, disks = Column.of("load", [10.0, 20.0]), Column.of("disks", [4.0, 8.0])

    text = Table("t", (load, disks, *numbers), keys=2).text(60)

    assert text.count("load") == text.count("disks") == 2
    assert max(map(len, text.splitlines())) <= 60


def test_decimal_points_and_units_stand_under_each_other():
    column = Column("value", ("3.4 ms", "650 us", "12.25 s"))

    lines = str(Table("", (Column("name", ("a", "b", "c")), column))).splitlines()[2:]

    assert [line.index(".") for line in (lines[0], lines[2])] == [11, 11]
    assert [line.index(u) for line, u in zip(lines, ("ms", "us", "s"), strict=True)] == [15] * 3


def on_terminal(*arguments, columns=80, **environment):
    """What a command writes to a terminal of some width."""
    import fcntl
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    code = f"import conftest; from headway.cli.main import main; main({list(arguments)!r})"
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "TERM")}
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=kept | {"TERM": "xterm-256color"} | environment,
    )
    os.close(follower)
    chunks = []
    try:
        while chunk := os.read(leader, 65536):
            chunks.append(chunk)
    except OSError:  # the other end is closed
        pass
    os.close(leader)
    return process.wait(), b"".join(chunks).decode()


def test_a_terminal_shows_colour_unless_told_not_to():
    arguments = ("solve", "nfs-server", "--preset", "raid")

    code, shown = on_terminal(*arguments)
    assert code == 0
    assert "\x1b[" in shown
    for setting in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        code, plain = on_terminal(*arguments, **setting)
        assert code == 0
        assert "\x1b" not in plain
        assert plain.split() == re.sub(r"\x1b\[[0-9;]*m", "", shown).split()


@pytest.mark.parametrize("columns", [20, 132])
def test_a_terminal_of_another_width(columns):
    code, shown = on_terminal("show", "nfs-server", columns=columns, NO_COLOR="1")

    lines = shown.splitlines()
    assert code == 0
    assert "Traceback" not in shown
    assert "nfs-server: NFS file" in lines[0]
    widest = max(map(len, lines))
    assert widest <= 26 if columns == 20 else 100 < widest <= 132


def test_a_table_too_long_to_read_shows_its_first_and_last_rows():
    table = Table("", (Column("n", tuple(range(100_000))),))
    lines = table.text().splitlines()

    assert [line.strip() for line in lines[2:4]] == ["0", "1"]
    assert "99,600 rows in between are not shown; --csv and --json have all" in lines
    assert len(lines) == 2 + 400 + 1 + 2
    assert table.to_csv().count("\n") == 100_001


CELLS = st.one_of(
    st.none(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text("ab_ 3.µ∞ρ\n", max_size=40),
)


@given(
    cells=st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=5),
    heading=st.text("time_ [sµ]", min_size=1, max_size=20),
    keys=st.integers(1, 2),
    width=st.integers(20, 120),
)
def test_a_pipe_gets_what_a_terminal_without_colour_would_show(cells, heading, keys, width):
    """Both lay a table out the same; a pipe's is written without rich."""
    table = Table("t", tuple(Column(heading, tuple(column)) for column in cells), keys=keys)
    stream = io.StringIO()
    console = Console(file=stream, width=width, color_system=None)
    shown = []
    for block in table.grids(width):
        if not isinstance(block, str):
            console.print(block)
            shown.append("\n".join(map(str.rstrip, stream.getvalue().split("\n"))).strip("\n"))
            stream.truncate(stream.seek(0))

    assert all(block in table.text(width) for block in shown)


def test_characters_taken_for_narrow_are_one_column_wide():
    characters = map(chr, range(0x20, 0x30000))
    narrow = [c for c in characters if is_narrow([ColumnLayout(c, [], is_text=True)])]

    assert {"a", "µ", "∞", "…", "²", "→"} <= set(narrow)
    assert {cell_len(c) for c in narrow} == {1}


def test_other_scripts_stand_in_line_too():
    table = Table("", (Column("station", ("磁盘", "cpu")), Column("visits", (2.0, 1.0))))

    lines = table.text().splitlines()

    assert len(set(map(cell_len, lines))) == 1


WORDS = st.lists(st.text("ab _", max_size=40), min_size=1, max_size=4)


@given(st.lists(WORDS, min_size=1, max_size=5), st.integers(1, 120))
def test_columns_share_a_width_by_the_widest_that_fits(cells: list[list[str]], width: int) -> None:
    """Each is as wide as it needs to be, up to the largest limit for all with which they fit."""
    shapes = [ColumnLayout("name", texts, is_text=True) for texts in cells]
    tried = ([max(x.least, min(x.most, cap)) for x in shapes] for cap in range(50, -1, -1))
    room = width - EDGE - GAP * (len(shapes) - 1)
    fitting = next((each for each in tried if sum(each) <= room), [x.least for x in shapes])
    assert widths(shapes, width) == fitting
