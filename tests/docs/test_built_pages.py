"""The checks of built pages find what they are for; `make docs` runs them on every page."""

import importlib
import re

import pytest

import headway
from tests import links, narrow
from tests.support.places import ROOT

INDEX = """<html><body><article><h1 id="top">index</h1>
<a href="#top">up</a> <a href="how-to/fit.html#a-fit">fit</a> <a href="how-to/fit.html">fit</a>
<a href="https://example.org/nowhere#x">out</a> <img src="pictures/a%20b.svg">
</article></body></html>"""
FIT = """<html><body><article><h2 id="a-fit">fit</h2>
<a href="../index.html">back</a></article></body></html>"""


@pytest.fixture
def site(tmp_path):
    for name, text in {"index.html": INDEX, "how-to/fit.html": FIT, "pictures/a b.svg": ""}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def add(site, body):
    (site / "index.html").write_text(INDEX.replace("</article>", body + "</article>"))


def test_links_that_lead_somewhere_pass(site, capsys):
    assert links.main([str(site)]) == 0
    assert capsys.readouterr().out == "2 pages: every link leads somewhere\n"


@pytest.mark.parametrize(
    "link",
    ["#nowhere", "how-to/fit.html#a-fitt", "how-to/gone.html", "../index.html", "how-to/"],
)
def test_a_link_that_leads_nowhere_is_named(site, link, capsys):
    add(site, f'<a href="{link}">x</a>')

    assert links.main([str(site)]) == 1
    assert capsys.readouterr().err == f"index.html: {link}\n"


def test_a_folder_without_pages_is_no_success(tmp_path):
    assert links.main([str(tmp_path)]) == 1


LONG = "x" * 300
BODIES = {
    "long.html": f"<pre>{LONG}</pre>",
    "open.html": '<div class="sidebar-drawer">contents</div>',
    "folded.html": '<div class="sidebar-drawer" style="position: absolute; left: -90em"></div>',
    "scrolls.html": f'<pre style="overflow-x: auto">{LONG}</pre>',
}


@pytest.mark.skipif(narrow.BROWSER is None, reason="needs Chromium or Chrome, not on the path")
def test_what_is_wider_than_a_phone_is_named(site):
    pytest.importorskip("playwright.sync_api", reason="needs playwright")
    for name, body in BODIES.items():
        (site / name).write_text(INDEX.replace("</article>", body + "</article>"))

    items = list(narrow.too_wide(site))

    assert {line.split(":")[0] for line in items} == {"long.html", "open.html"}
    assert "long.html: the page scrolls sideways" in items
    assert "open.html: the navigation is open" in items


def test_the_python_reference_opens_with_ten_names_that_are_there():
    page = (ROOT / "docs/reference/python.md").read_text()
    first = page[: page.index("```pycon")]
    names = re.findall(r"\{py:(?:func|class)\}`headway\.(\w+) <(\S+)\.(\w+)>`", first)

    assert len(names) == 10
    assert sorted(name for name, _, _ in names) == headway.__all__
    for name, module, own in names:
        assert getattr(importlib.import_module(module), own) is getattr(headway, name)


@pytest.mark.parametrize("room", ["models", "queueing", "loggp"])
def test_the_reference_shows_the_names_to_import_before_the_modules(room):
    page = (ROOT / f"docs/reference/{room}.md").read_text()

    assert page.index(f"{{public-names}} headway.{room}\n") < page.index("{modules}")
    assert ":members:" not in page
