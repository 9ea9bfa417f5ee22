"""A page on two load tests: whether the second build is slower, and how sure that is."""

import math
from dataclasses import replace

import matplotlib

from headway.models.inference.builds import Builds, Difference
from headway.models.language.scales import Scale, units_of
from headway.models.plotting.builds import builds_chart
from headway.models.reading.loadtest import LoadTest
from headway.models.reports.contents import (
    DATA,
    SYSTEM,
    TRUST,
    Block,
    Contents,
    Grid,
    Headline,
    Light,
    Sign,
    Words,
)
from headway.models.reports.figures import PageFigure, inline_svg
from headway.models.reports.kinds.audited import tested
from headway.models.reports.paged import Paged
from headway.models.reports.pointer import readings
from headway.models.showing.fitted.builds import change_words
from headway.models.tables.forms import tables
from headway.numerals import digits
from headway.records import dataclass


@dataclass(frozen=True)
class BuildsReport(Paged):
    """What a page shows of two builds.

    Parameters
    ----------
    builds
        The comparison of their load tests.
    test
        The load test of the second build.
    command
        The command that made the page.

    Examples
    --------
    >>> import headway
    >>> from headway.models.inference.builds import compare_builds
    >>> runs = [f"load_tests/wrk/connections-{clients}.txt" for clients in ("01", "04", "08")]
    >>> test = headway.read(*runs)
    >>> "Is " in BuildsReport(compare_builds(test, test), test).to_html()
    True
    """

    builds: Builds
    test: LoadTest
    command: str = ""


def builds_units(report: BuildsReport) -> Scale:
    """Units of the comparison."""
    return units_of(report.builds)


def builds_contents(report: BuildsReport) -> Contents:
    """The contents of a page on two builds."""
    builds, scale = report.builds, units_of(report)
    over_all, *each = tables(builds, scale)
    notes: list[Block]
    notes = [Words(f"{note[0].upper()}{note[1:]}.") for note in over_all.notes]
    sections: dict[str, list[Block]] = {
        TRUST.name: [*notes, Grid(replace(over_all, notes=()))],
        SYSTEM.name: tested(report.test),
        DATA.name: [*map(Grid, each)],
    }
    subject = f"{builds.second} against {builds.first}"
    chart = _chart(builds, scale)
    caption = chart.words if chart else ""
    return Contents(
        subject, _headline(builds), _signs(builds), chart, caption, sections, report.command
    )


def _chart(builds: Builds, scale: Scale) -> PageFigure | None:
    """The response time of both builds over the load."""
    with matplotlib.rc_context({"text.parse_math": False}):
        figure = builds_chart(builds, scale)
        if figure is None:
            return None
        words = "Mean response time over the load, of both builds; a mark for each load of both."
        return PageFigure(inline_svg(figure, "builds", words), words, readings(figure))


def _headline(builds: Builds) -> Headline:
    """Whether the second build is worse by more than is allowed, or may be."""
    limit = f"{digits(100 * builds.at_most)}%"
    question = "Is the new build slower?"
    if builds.worse:
        first, *others = builds.worse
        told = f"{first.quantity.replace('_', ' ')} {change_words(first)}"
        named = [one.quantity.removeprefix("response_time_").replace("_", " ") for one in others]
        also = f"; also {', '.join(named)}" if named else ""
        return Headline(question, f"Yes, worse by more than {limit}: {told}{also}.")
    open_ = ", ".join(one.quantity.replace("_", " ") for one in builds.undecided)
    if open_ and builds.overall[0].is_worse:
        told = f"Yes: {_main(builds)}; these runs do not show whether by more than {limit}."
        return Headline(question, told)
    if open_:
        may = f"but {open_} may be worse by more than {limit}"
        return Headline(question, f"Undecided: {_main(builds)}, {may}.")
    return Headline(question, f"No: {_main(builds)}, and nothing is worse by more than {limit}.")


def _main(builds: Builds) -> str:
    """The change of the first quantity, which is the mean response time if that was measured."""
    first = builds.overall[0]
    words = change_words(first)
    change, _, ends = words.partition(" ")
    turn = f"did not change {ends}".strip() if change == "+0%" else f"changed by {words}"
    return f"the {first.quantity.replace('_', ' ')} {turn}"


def _signs(builds: Builds) -> list[Sign]:
    """The change of each quantity over all loads, with its light."""
    return [
        Sign(one.quantity.replace("_", " "), change_words(one), _light(builds, one))
        for one in builds.overall
    ]


def _light(builds: Builds, one: Difference) -> Light | None:
    if one in builds.worse:
        return Light.BAD
    if one in builds.undecided:
        return None if math.isnan(one.low) else Light.LOOK
    return Light.GOOD
