"""One answer, one unit a dimension: what is printed reads back to what was meant."""

import json
import math
import re
from html import unescape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

from headway.models import catalogue_model, parse_model
from headway.models.door import PLACES
from headway.models.language.digits import in_unit, shown_unit, slope_unit, with_error
from headway.models.language.scales import Scale, units_of
from headway.models.language.units import unit
from headway.models.reports import figures as drawing
from headway.models.reports.figures import inline_svg
from headway.models.reports.kinds import audited, builds, days, traced
from headway.models.tables.table import Column
from headway.numerals import digits, four_digits, settled
from tests.support.answer_examples import EXAMPLES, PAGES

TIMES = ("s", "ms", "us", "min", "us/message", "ms/op")
NUMBER = re.compile(r"[-+]?[\d,]*\.?\d+(?:e[-+]?\d+)?")
sizes = st.floats(1e-6, 1e3)


def back(text: str) -> tuple[float, str]:
    """A printed number and its unit."""
    match = NUMBER.match(text)
    assert match is not None, text
    return float(match[0].replace(",", "")), text[match.end() :].strip()


@given(st.lists(st.tuples(sizes, st.sampled_from(TIMES)), min_size=1, max_size=8))
def test_all_times_of_an_answer_are_in_one_unit_and_read_back(
    given_: list[tuple[float, str]],
) -> None:
    """Four digits: within 5e-4 of the value; what would need a power of ten has its own unit."""
    shown = [(value, unit(expected)) for value, expected in given_]
    scale = Scale.of(shown)
    own = scale.unit(unit("s"))
    for value, expected in shown:
        number, text = back(scale.text(value, expected))
        assert number * unit(text).scale == pytest.approx(value, rel=5.001e-4)
        assert text == str(own) or settled(value / own.scale) < 1e-4
        assert number >= 0.9999e-4


@given(st.lists(sizes, min_size=1, max_size=5), st.sampled_from(("s", "ms", "us")))
def test_a_stated_unit_stays_where_it_suits(values: list[float], stated: str) -> None:
    own, middle = unit(stated), sorted(values)[len(values) // 2]
    chosen = Scale.of([(values, unit("s"))], [own]).unit(unit("s"))
    if 0.1 <= middle / own.scale < 1e4:
        assert chosen == own


@given(st.floats(1.0, 1e8), st.floats(1e-3, 0.3))
def test_an_error_has_two_digits_and_the_value_ends_where_it_does(
    value: float, share: float
) -> None:
    text = with_error(value, share * value, unit("op/s"))
    number, error = (float(x.replace(",", "")) for x in text.removesuffix(" op/s").split(" ± "))
    assert error == pytest.approx(share * value, rel=0.051)
    assert abs(number - value) <= 0.051 * max(error, 10 * share * value)
    assert len(f"{error:.10g}".replace(".", "").strip("0")) <= 2


@given(st.floats(1e-14, 1e3))
def test_slopes_read_back_and_are_of_powers_of_a_thousand(slope: float) -> None:
    shown = slope_unit(unit("ms"), unit("op/s"), slope)
    number = float(in_unit(slope, shown).replace(",", ""))
    match = re.fullmatch(r"ms per (?:(1(?:,000)+) )?op/s", shown.text)
    assert match is not None
    times = float((match[1] or "1").replace(",", ""))
    assert number * 1e-3 / times == pytest.approx(slope, rel=5.001e-4)
    if slope > 1e-10:
        assert number >= 0.0999


@given(st.integers(0, 10**12 - 1))
def test_counts_have_their_thousands_apart(count: int) -> None:
    assert digits(float(count)) == (f"{count:,}" if count >= 10_000 else str(count))


def test_sizes_are_as_people_write_them() -> None:
    for size, text in ((1048576, "MiB"), (4096, "KiB"), (3 * 2**29, "MiB"), (512, "B")):
        assert str(shown_unit(unit("B"), size)) == text
    assert Scale().stated(1048576, unit("B")) == "1 MiB"
    assert four_digits(30910.4) == "30,910"


@given(
    st.sampled_from([800.0, 1.0, 0.1, 1000.0, 9999.5, 12.25, 0.001, 1e4, 102.4, 1048576.0, 2.5e-7]),
    st.lists(st.floats(0, 1e4), max_size=3),
    st.floats(-1e-13, 1e-13),
)
def test_the_last_bits_of_another_processor_are_not_seen(
    value: float, others: list[float], noise: float
) -> None:
    """A few hundred roundings of 1e-16 change neither decimals nor units nor digits."""
    near = value * (1 + noise)
    for exact, other in ((value, near), (0.0, noise * max([value, *others]))):
        shown = [Column("x", (each, value, *others)).texts for each in (exact, other)]
        assert shown[0] == shown[1]
    for text in (digits, four_digits, lambda x: with_error(x, 0.1 * x, unit("ms"))):
        assert text(near) == text(value)
    for expected in map(unit, ("s", "B", "MB/s", "op/s")):
        assert shown_unit(expected, near) == shown_unit(expected, value)
        assert Scale.of([(near, expected)]) == Scale.of([(value, expected)])
    by = unit("op/s")
    assert slope_unit(unit("s"), by, near / 1e4) == slope_unit(unit("s"), by, value / 1e4)


@pytest.mark.parametrize("load", [100.0, 900.0])
def test_a_solution_has_its_times_in_one_unit(load: float) -> None:
    """Of a delay of 5 us and a service time of 1 ms no us stands beside ms."""
    model = catalogue_model("server-single").at(delay="5 us", service_time="1 ms")
    for tables in (model.solve(load).tables(), model.at(arrival_rate=load).sensitivity().tables()):
        text = "\n".join(map(str, tables))
        assert "ms" in text
        assert not re.search(r"\bus\b", text)
        assert not math.isnan(load)


SHOWN = sorted(kind for kind, verbs in PLACES.items() if "tables" in verbs)
"""Every kind that headway shows, as its one door knows them."""

TIME = re.compile(r"(?:\[|(?<=\d)\s+|∞ )(ns|us|ms|s|min|h)(?:/(?:op|message|job))?(?![\w/*·])")
BANDWIDTH = re.compile(r"(?:\[|(?<=\d)\s+)([kMGT]?B/s)(?!\w)")
CROWDED = re.compile(r"(?<![\w.,:#/-])\d{5,}(?![\w-])")
LENGTH = re.compile(r"duration\s+\[\w+\]")  # of a run, minutes beside times of milliseconds
EFFORT = re.compile(r"simulated: .*")
"""How long a simulation ran is no number of its answer."""


def drawn(answer: object) -> list[str]:
    """All words of an answer's figure, where it has one."""
    if "plot" not in PLACES[type(answer).__name__]:
        return []
    figure = answer.plot()  # type: ignore[attr-defined]
    return [text.get_text() for text in figure.findobj(Text)]


@pytest.mark.parametrize("kind", SHOWN)
def test_an_answer_of_any_kind_has_one_unit_a_dimension(kind: str) -> None:
    """In tables, notes and figure; a new kind needs an example in
    tests/support/answer_examples.py."""
    answer = EXAMPLES[kind]()
    assert type(answer).__name__ == kind
    tables = [table.text(400) for table in answer.tables()]
    text = EFFORT.sub("", "\n".join(tables))
    words = [text, *drawn(answer)]

    for units in (TIME, BANDWIDTH):
        names = {unit_text for each in words for unit_text in units.findall(each)}
        assert len(names) <= 1, (names, words)
    for each in words:
        assert not re.search(r"\b0(\.0+)? \w+ per ", each), each
        assert not re.search(r"\d(e[-+]\d+)? ?bytes|\d{5,} B\b", each), each
    assert not CROWDED.findall(text), text


PAGED = sorted(kind for kind, verbs in PLACES.items() if "contents" in verbs)
"""Every kind of page."""


def spy(figures: list[Any]) -> Any:
    """Write figures as pages do, and keep them."""

    def written(figure: Any, name: str, words: str) -> str:
        figures.append(figure)
        return inline_svg(figure, name, words)

    return written


def words_of(page: str) -> str:
    """What a page says; without scripts, styles and mathematics. Letters of figures are paths."""
    bare = re.sub(r"(?s)<(script|style|math)\b.*?</\1>", " ", page)
    return unescape(re.sub(r"<[^>]*>", " ", bare))


@pytest.mark.parametrize("kind", PAGED)
def test_a_page_has_one_unit_a_dimension(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In tables, sentences, captions, figures and sliders; a new kind needs examples in `PAGES`."""
    figures: list[Any] = []
    for module in (drawing, audited, builds, days, traced):
        monkeypatch.setattr(module, "inline_svg", spy(figures))
    for report in PAGES[kind]():
        assert type(report).__name__ == kind
        figures.clear()
        page = report.to_html()
        letters = [each.get_text() for figure in figures for each in figure.findobj(Text)]
        assert any("response time" in each for each in letters)
        own, words = units_of(report), LENGTH.sub("", "\n".join([words_of(page), *letters]))
        for expected, units in (("s", TIME), ("B/s", BANDWIDTH)):
            names = set(units.findall(words))
            assert names <= {str(own.unit(unit(expected)))}, (report, names)
        assert not CROWDED.findall(words), report
        data = re.search(r'(?s)id="panel-data">(.*?)</script>', page)
        panel = json.loads(data[1]) if data else {"controls": []}
        for each in [*panel["controls"], *(panel[k] for k in ("output", "rate") if k in panel)]:
            shown = unit(each["unit"])
            assert own.unit(shown).scale == shown.scale == each["scale"], each


def test_a_timeline_has_the_unit_of_its_answer() -> None:
    """Also of a transfer that takes much longer than its first packets."""
    for size in ("64 KiB", "64 MiB"):
        solution = catalogue_model("pipeline").at(transfer=size).solve()
        [axes] = solution.plot().axes
        [shown] = re.findall(r"\[(\w+)\]", axes.get_xlabel())
        assert shown == str(units_of(solution).unit(unit("s")))


@pytest.mark.parametrize("kind", SHOWN)
def test_a_kind_says_its_units_once_for_table_and_figure(kind: str) -> None:
    assert "scale" in PLACES[kind]


LITERAL = """
name = "literal"
doc = "numbers that stand in its stations"

[classes.web]
arrival_rate = "30 /s"
[classes.desk]
population = 4
think_time = "2 s"

[stations.cpu]
kind = "MM1"
service_time = { web = "4 ms", desk = "9 ms" }
[stations.disk]
kind = "Quota"
service_time = "2 ms"
quota = 0.5
period = "0.1 s"
[[routes]]
from = "cpu"
to = "disk"
"""


def test_numbers_of_a_model_s_own_parts_have_units() -> None:
    """A file may give its stations and classes numbers, where no parameter has a unit for them."""
    model = parse_model(LITERAL)
    shown = " ".join("\n".join(table.text(200) for table in model.tables()).split())

    assert shown.startswith("literal: numbers that stand in its stations station")
    assert "service_time[web] = 4 ms, service_time[desk] = 9 ms" in shown
    assert "service_time = 2 ms, quota = 0.5, period = 100 ms" in shown
    assert "web 30 requests/s - -" in shown
    assert "desk - 4 2000 ms" in shown


def test_a_rate_given_as_a_number_alone_is_one_a_second() -> None:
    text = '[parameters]\narrival_rate = 12\n[stations.cpu]\nkind = "MM1"\nservice_time = 0.1\n'
    solution = parse_model(f'name = "bare"\n{text}').solve()

    assert "saturation_throughput   10 requests/s" in str(solution)
    assert solution.saturation_message.endswith(
        "1.20 at 12 requests/s; it saturates at 10 requests/s"
    )
