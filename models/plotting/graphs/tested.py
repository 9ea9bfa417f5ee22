"""What a load test measured, drawn: the clients that send requests, and the system that answers."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from headway.models.measured.points import Loop
from headway.models.plotting.graphs.figure import scheme_figure
from headway.models.plotting.graphs.scheme import Edge, PictureBox, Scheme, Sort
from headway.models.reading.loadtest import LoadTest
from headway.numerals import four_digits


def tested_figure(test: LoadTest) -> Figure:
    """Draw what was tested: who sends requests, how many, and the system that answers them."""
    closed = all(point.loop is Loop.CLOSED for point in test.points)
    sent = [_ends([p.population for p in test.points], "clients, who wait for answers")] * closed
    sent += [_ends([p.offered_rate for p in test.points], "op/s, whatever the answers")]
    words = "\n".join(["load generator", *filter(None, sent[:1])])
    parts = {
        "generator": PictureBox(words, Sort.STATION),
        "server": PictureBox("system under test\nits inside is not known", Sort.STATION),
    }
    edges = (Edge("generator", "server", "requests", is_both=closed),)
    return scheme_figure(Scheme(parts, edges))


def _ends(numbers: Sequence[float | None], what: str) -> str:
    """The least and the largest of some numbers as text; empty if there are none."""
    known = [number for number in numbers if number is not None]
    if not known:
        return ""
    low, high = four_digits(min(known)), four_digits(max(known))
    return f"{low} {what}" if low == high else f"{low} to {high} {what}"
