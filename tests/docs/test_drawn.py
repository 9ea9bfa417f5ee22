"""Every picture of the documents is drawn by a command that stands beside it."""

import re

import pytest

from headway.models.plotting.looks.colours import DARK
from tests import drawn
from tests.support.cases import mostly_slow

BUILT = {"house.svg"}  # drawn from the code by the build of the documents, and not kept
NAMES = sorted(drawn.shown().keys() - BUILT)


def words_of(svg):
    """What is written in a picture, and how many lines are drawn; not pixels, nor letters."""
    return re.findall(r"<!-- (.+) -->", svg), len(re.findall(r'id="line2d_', svg))


def test_every_picture_is_shown_and_has_a_command():
    files = {path.name for path in drawn.FOLDER.iterdir() if path.is_file()}

    assert files - BUILT == set(NAMES) == drawn.commands().keys() - BUILT
    assert drawn.commands().keys() >= BUILT


LONG = ("mlperf_storage.svg", "vendor.svg")
"""Others are of a fit and of a signature too: fitted.svg and collectives.svg."""


@pytest.mark.parametrize("name", mostly_slow(NAMES, [name for name in NAMES if name not in LONG]))
def test_the_picture_is_what_its_command_draws(name, tmp_path):
    drawn.draw(name, drawn.commands()[name], tmp_path)

    fresh = (tmp_path / name).read_text()
    assert words_of(fresh) == words_of((drawn.FOLDER / name).read_text())


@pytest.mark.parametrize("name", mostly_slow(NAMES, 2))
def test_on_a_dark_page_only_the_colours_differ(name, tmp_path):
    drawn.draw(name, drawn.commands()[name], tmp_path, "--dark")

    dark = (tmp_path / name).read_text()
    assert words_of(dark) == words_of((drawn.FOLDER / name).read_text())
    assert f"fill: {DARK.paper}" in dark
    assert not re.search(r"(fill|stroke): (white|black|#ffffff|#000000)", dark)


def test_a_picture_without_a_command_is_named(monkeypatch, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("![lonely](pictures/lonely.svg), not by `headway solve x --plot other.svg`")
    monkeypatch.setattr(drawn, "PAGES", [page])

    assert drawn.commands() == {}
    assert drawn.main() == 1
    assert capsys.readouterr().err.startswith("lonely.svg: no page that shows it")


def test_a_console_block_states_a_command_too_and_one_picture_is_drawn_alone(monkeypatch, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "![one](pictures/one.svg) ![two](pictures/two.svg) by `headway show io-node --plot two.svg`"
        "\n```console\n$ headway show nfs-server --plot one.svg\n```\n"
    )
    drawn_now = []
    monkeypatch.setattr(drawn, "PAGES", [page])
    monkeypatch.setattr(drawn, "DARK", tmp_path)
    monkeypatch.setattr(drawn, "draw", lambda name, *_: drawn_now.append(name))

    assert drawn.commands()["one.svg"] == ["headway", "show", "nfs-server", "--plot", "one.svg"]
    assert drawn.main("one.svg") == 0
    assert set(drawn_now) == {"one.svg"}
    assert drawn.main("three.svg") == 1


def test_a_command_that_fails_stops_the_build(tmp_path):
    with pytest.raises(RuntimeError, match="nowhere"):
        drawn.draw("a.svg", ["headway", "solve", "nowhere", "--plot", "a.svg"], tmp_path)
