"""Communication of programs drawn: how much each sends and to whom, how often, how evenly.

No message counts by pair of processors have been published for the programs of the catalogue; for
them `communication_figure` draws the contents of Table 3.2 of Martin's thesis. `message_map` draws
a map of the user's own counts.
"""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from headway.errors import InvalidParameter
from headway.kinds import FloatArray, check_positive
from headway.models.files.shipped import data_rows as rows
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import MODELLED, QUIET, light_grid
from headway.numerals import digits
from headway.records import dataclass

_TABLE = "network_sensitivity/table_3_2_split_c_communication"
_LETTERS, _LINE = 0.4, 3.2  # decades and percent within which labels would overlap


@dataclass(frozen=True)
class Communication:
    """The messages of a program.

    Parameters
    ----------
    program
        Its name.
    mean_messages, most_messages
        Mean number of messages per processor, and the number of the processor that sends most.
    message_rate
        Mean rate of messages per processor [1/s].
    bulk_share, read_share
        Share of messages that carry bulk data, and share that are reads, 0 to 1.

    Examples
    --------
    >>> Communication("sort", 1000.0, 1500.0, 2e4, bulk_share=0.1, read_share=0.0).balance
    1.5
    """

    program: str
    mean_messages: float
    most_messages: float
    message_rate: float
    bulk_share: float
    read_share: float

    def __post_init__(self) -> None:
        check_positive(f"{self.program}: mean_messages", self.mean_messages)
        if self.most_messages < self.mean_messages:
            msg = f"{self.program}: most_messages {digits(self.most_messages)} is below the mean"
            raise InvalidParameter(msg)

    @property
    def balance(self) -> float:
        """Communication balance: most messages of a processor over the mean; 1 is even.

        Examples
        --------
        >>> even = Communication("even", 1000.0, 1000.0, 2e4, bulk_share=0.1, read_share=0.0)
        >>> even.balance
        1.0
        """
        return self.most_messages / self.mean_messages


def published_communication() -> tuple[Communication, ...]:
    """The ten Split-C programs on 32 processors.

    Martin, A Systematic Characterization of Application Sensitivity to Network Performance, 1999,
    Table 3.2.

    Examples
    --------
    >>> sample = published_communication()[3]
    >>> sample.program, round(sample.balance, 2)
    ('Sample', 1.27)
    """
    return tuple(
        Communication(
            row["program"],
            float(row["average_messages_per_processor"]),
            float(row["max_messages_per_processor"]),
            1e3 * float(row["message_rate_per_processor_per_ms"]),
            float(row["bulk_percent"]) / 100,
            float(row["reads_percent"]) / 100,
        )
        for row in rows(_TABLE)
    )


def communication_figure(programs: Sequence[Communication]) -> Figure:
    """Draw programs by message rate and bulk share, and their communication balance.

    Parameters
    ----------
    programs
        One or more programs, such as from `published_communication`.

    Examples
    --------
    >>> len(communication_figure(published_communication()).axes)
    2
    """
    if not programs:
        raise InvalidParameter("there is no program to draw; give at least one")
    height = 1.5 + 0.28 * len(programs)
    figure = sheet(4.5 + height)
    left, right = figure.subplots(2, 1, height_ratios=[4.5, height])
    _draw_map(left, programs)
    _draw_balance(right, programs)
    figure.suptitle("communication of programs: measured")
    for axes in (left, right):
        light_grid(axes)
    return figure


def _draw_map(axes: Axes, programs: Sequence[Communication]) -> None:
    """Dots, filled for programs that mostly read; labels one above the other where crowded."""
    labels: list[tuple[float, float]] = []
    for one in sorted(programs, key=lambda one: -one.message_rate):
        x, y = one.message_rate / 1e3, 100 * one.bulk_share
        filling = MODELLED if one.read_share > 0.5 else "white"
        axes.plot(x, y, "o", color=MODELLED, markerfacecolor=filling, markersize=7, zorder=3)
        height = y + 0.35 * _LINE
        while any(abs(math.log10(x / a)) < _LETTERS and abs(height - b) < _LINE for a, b in labels):
            height += _LINE
        labels.append((x, height))
        axes.plot([x, x], [y, height], color=QUIET, linewidth=0.6)
        axes.text(x, height, one.program, va="bottom", ha="center")
    axes.plot([], [], "o", color=MODELLED, label="mostly reads, which wait for an answer")
    axes.plot([], [], "o", color=MODELLED, markerfacecolor="white", label="mostly writes")
    axes.set_xscale("log")
    axes.margins(x=0.12)
    axes.set_ylim(-3, max(top for _, top in labels) + 4 * _LINE)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("messages of a processor [1/ms]")
    axes.set_ylabel("share of bulk messages [%]")
    axes.legend(frameon=False, loc="upper right")


def _draw_balance(axes: Axes, programs: Sequence[Communication]) -> None:
    ranked = sorted(programs, key=lambda one: one.balance)
    bars = axes.barh([one.program for one in ranked], [one.balance for one in ranked])
    for bar in bars:
        bar.set_color(MODELLED)
    axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.axvline(1, color=QUIET, linestyle=":")
    axes.margins(x=0.12)
    axes.set_xlabel("communication balance, most / mean [1]")


def message_map(messages: ArrayLike, title: str = "") -> Figure:
    """Draw the number of messages between each pair of processors, dark for many.

    Parameters
    ----------
    messages
        Messages from processor (row) to processor (column), 0 or more, shape (p, p).
    title
        The title.

    Raises
    ------
    InvalidParameter
        For counts that are not square, are negative, or are all zero.

    Examples
    --------
    >>> figure = message_map([[0, 2], [4, 0]], "two processors")
    >>> figure.axes[0].get_title()
    'two processors: balance 1.33'
    """
    counts = _checked(messages)
    sent = counts.sum(axis=1)
    figure = sheet(5)
    axes = figure.subplots()
    image = axes.imshow(counts, cmap="Greys", vmin=0, origin="upper", interpolation="nearest")
    figure.colorbar(image, ax=axes, label="messages")
    axes.set_xlabel("receiving processor [number]")
    axes.set_ylabel("sending processor [number]")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(f"{title}: balance {sent.max() / sent.mean():.2f}".removeprefix(": "))
    return figure


def _checked(messages: ArrayLike) -> FloatArray:
    counts = np.asarray(messages, float)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        msg = f"messages have the shape {counts.shape}; give a row and a column a processor"
        raise InvalidParameter(msg)
    if not np.isfinite(counts).all() or counts.min() < 0 or counts.sum() == 0:
        raise InvalidParameter("messages are counts: finite, 0 or more, and not all 0")
    return counts
