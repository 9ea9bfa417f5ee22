"""Write answers: tables to a terminal or pipe, files completely or not at all."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

import click

from headway.cli.options import Format
from headway.cli.pictures import Drawing
from headway.errors import InvalidParameter, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.models.sweeping.sweeping import Progress
    from headway.models.tables.table import Table


NARROWEST = 20
"""Least width for text."""


def width() -> int:
    """Width of output: the terminal's, or 80 in a pipe; ``COLUMNS`` overrides both."""
    from headway.models.tables.table import WIDTH

    if not (sys.stdout.isatty() or os.environ.get("COLUMNS")):
        return WIDTH
    from shutil import get_terminal_size

    return max(NARROWEST, get_terminal_size().columns)


def is_coloured() -> bool:
    """Whether to use bold and colour: on terminals that support them, without ``NO_COLOR``."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and sys.stdout.isatty()


def print_tables(tables: "Sequence[Table]") -> None:
    """Print tables in the available width, in colour on a terminal."""
    if is_coloured():
        _print_coloured(tables)
    else:
        click.echo("\n\n".join(table.text(width()) for table in tables))


def _print_coloured(tables: "Sequence[Table]") -> None:
    from rich.console import Console

    from headway.models.tables.layout import paragraph

    room = width()
    console = Console(highlight=False, width=room, markup=False)
    for table in tables:
        if table.title:
            console.print(paragraph(table.title, room), style="bold cyan")
        for grid in table.grids(room):
            console.print(grid)
        if table.notes:
            console.print(table.noted(room), style="dim")
        console.print()


def print_prose(text: str) -> None:
    """Print a paragraph in the available width."""
    from headway.models.tables.layout import paragraph

    click.echo(paragraph(text, width()))


class Advance(Protocol):
    """Called after each step or part of a step, or before it with a description."""

    def __call__(self, doing: str = "", share: float = 1.0, /) -> None:
        """Advance the bar by a step, or by part of one."""


EVERY = 10.0
"""Seconds between two lines about work that goes on."""

SURE = 0.01
"""Share of work whose time tells how long the rest takes."""


class _Lines:
    """Progress without a terminal: nothing for ten seconds, then a line every ten seconds."""

    def __init__(self, what: str, steps: int) -> None:
        self.what, self.steps, self.done = what, steps, 0.0
        self.start = self.last = monotonic()

    def __call__(self, doing: str = "", share: float = 1.0) -> None:
        """Count a step, and write a line where it is time."""
        self.done += share
        now = monotonic()
        if now - self.last >= EVERY:
            self.last = now
            share, spent = min(self.done / self.steps, 1.0), now - self.start
            known = share >= SURE or spent >= 6 * EVERY  # what begins slowly says little
            left = f", about {duration(spent / share - spent)} to go" if known and share else ""
            click.echo(f"{doing or self.what}: {share:.0%} after {spent:.0f} s{left}", err=True)


def duration(seconds: float) -> str:
    """A time that is only estimated, in words.

    Examples
    --------
    >>> duration(47.0), duration(600.0), duration(2e5)
    ('47 s', '10 minutes', '56 hours')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"


@contextmanager
def progress(what: str, steps: int) -> Iterator[Advance]:
    """Show a progress bar on a terminal's stderr; elsewhere a line there every ten seconds.

    Parameters
    ----------
    what
        The work, in words.
    steps
        Number of calls of the function that it yields; calls with a share count as that share.
    """
    if steps == 0 or not sys.stderr.isatty():
        yield _Lines(what, steps)
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=steps)
        yield lambda doing="", share=1.0: bar.update(task, advance=share, description=doing or what)


@contextmanager
def working(what: str) -> Iterator[Callable[[str, float], None]]:
    """Show that work goes on: a line every ten seconds, or a moving bar.

    Parameters
    ----------
    what
        The work, in words.

    Yields
    ------
    A function to call with the part of the work being done; its share of progress is ignored.
    """
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda part, _share: bar.update(task, description=f"{what}: {part}")
        return
    from threading import Event, Thread

    start, done, parts = monotonic(), Event(), [""]

    def tell() -> None:
        while not done.wait(EVERY):
            click.echo(f"{what}: {parts[-1]}{monotonic() - start:.0f} s so far", err=True)

    teller = Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield lambda part, _share: parts.append(f"{part}, ")
    finally:
        done.set()
        teller.join()


@contextmanager
def points_progress(what: str) -> "Iterator[Progress]":
    """Show a progress bar for solved points, with their rate.

    Parameters
    ----------
    what
        The work, in words.
    """
    last = 0
    with progress(what, 1) as report:

        def advance(points: int, size: int, rate: float) -> None:
            nonlocal last
            report(f"{what}, {rate:,.0f} points/s", (points - last) / size)
            last = points

        yield advance


class Presentable(Protocol):
    """Anything that commands can present: solutions, comparisons, signatures."""

    def plot(self, log: str | None = None, dark: bool = False) -> Any:  # noqa: FBT001, FBT002
        """The answer as a matplotlib Figure."""

    def tables(self) -> "list[Table]":
        """The tables to show."""

    def to_json(self) -> str:
        """The answer as strict JSON."""

    def to_csv(self) -> str:
        """The answer as CSV."""


def present(
    answer: Presentable,
    output_format: Format | None,
    plot: Drawing | None = None,
    files: Sequence[tuple[Path, bytes]] = (),
) -> None:
    """Draw an answer if requested, write further files, and print it as table, JSON or CSV."""
    for path, content in (*files, *drawings(answer, plot)):
        write_and_say(path, content)
    if output_format is Format.JSON:
        click.echo(answer.to_json())
    elif output_format is Format.CSV:
        click.echo(answer.to_csv(), nl=False)
    else:
        print_tables(answer.tables())


def drawings(answer: Presentable, plot: Drawing | None) -> list[tuple[Path, bytes]]:
    """The picture of an answer with its path, if requested."""
    from headway.models.language.verbs import NotOffered

    if plot is None:
        return []
    try:
        figure = answer.plot(plot.log, plot.dark)
    except NotOffered:
        msg = "--plot: there is no picture of this answer; leave it out, or write a page by report"
        raise InvalidParameter(msg) from None
    return [rendered(figure, plot)]


def rendered(figure: "Figure", plot: Drawing) -> tuple[Path, bytes]:
    """A figure in the format of its file name."""
    from headway.models.plotting.figures import picture, picture_format

    return plot.path, picture(figure, picture_format(plot.path))


def write_and_say(path: Path, content: bytes) -> None:
    """Write a file completely, and report it on stderr."""
    from headway.models.files.whole import write_whole

    write_whole(path, content)
    click.echo(f"wrote {visible(str(path))}", err=True)
