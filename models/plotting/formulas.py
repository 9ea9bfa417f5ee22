"""Closed forms of a model as a picture of typeset mathematics."""

import textwrap
from collections.abc import Iterator
from typing import Any

from matplotlib.figure import Figure

from headway.errors import HeadwayError
from headway.models.plotting.looks.page import LETTER, WIDTH
from headway.models.plotting.pieces import literal
from headway.models.plotting.typesetting import Typesetter, bare, extent, word
from headway.models.showing.models import formula_names
from headway.models.solving.symbolic import symbol
from headway.models.structure.model import Model
from headway.records import dataclass

SIZE = LETTER
"""Size of the letters [points]."""

_MARGIN, _SPACE, _POINTS = 0.2, 9.0, 72.0  # margin in inches; points between lines; points per inch
_LETTERS = 75  # letters of words in a line


@dataclass(frozen=True)
class _Row:
    """A line of the picture: mathematics or words."""

    text: str
    is_mathematics: bool = True

    @property
    def extent(self) -> tuple[float, float]:
        """Height and depth [points]."""
        _, height, depth = extent(self.text if self.is_mathematics else "x", SIZE)
        return height, depth


def formula_figure(model: Model) -> Figure:
    r"""Draw the closed form of each output, in the model's own names.

    Bindings keep their names and are listed below, with other parts that had to be named. An output
    without a closed form says why it has none.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> print(formula_figure(catalogue_model("server-single")).texts[2].get_text())
    $\mathrm{node.utilisation} = \mathrm{arrival\_rate} \cdot \mathrm{service\_time}$
    """
    rows = list(_rows(model))
    height = sum(sum(row.extent) + _SPACE for row in rows) / _POINTS
    tall = height + 2 * _MARGIN + 0.3
    figure = Figure(figsize=(WIDTH, tall))
    figure.suptitle(literal(model.name), x=0.5, y=1 - 0.15 / tall, va="top")
    down = _MARGIN + 0.3
    for row in rows:
        above, below = (points / _POINTS for points in row.extent)
        down += above
        text = f"${row.text}$" if row.is_mathematics else row.text
        figure.text(_MARGIN / WIDTH, 1 - down / tall, text, fontsize=SIZE, va="baseline")
        down += below + _SPACE / _POINTS
    return figure


def _rows(model: Model) -> Iterator[_Row]:
    """Outputs first, then the definitions of their bindings and letters."""
    room = (WIDTH - 2 * _MARGIN) * _POINTS
    setter = Typesetter(room, SIZE, {})
    bindings = _bindings(model)
    shown = {name: _form(model, name) for name in formula_names(model.graph)}
    forms = {n: f.xreplace(bindings) for n, f in shown.items() if not isinstance(f, str)}
    for name, form in forms.items():
        if form != 0:
            yield from map(_Row, setter.lines(name, form))
    yield from _where(forms, bindings, setter)
    reasons = {f for f in shown.values() if isinstance(f, str)}
    for reason in sorted(reasons):
        without = ", ".join(name for name, form in shown.items() if form == reason)
        for line in textwrap.wrap(f"{without}: {reason}", _LETTERS):
            yield _Row(line, is_mathematics=False)


def _where(forms: dict[str, Any], bindings: dict[Any, Any], setter: Typesetter) -> Iterator[_Row]:
    """The bindings that the forms use, and the letters."""
    rows = []
    for form, name in _used(list(forms.values()), bindings).items():
        rows += setter.lines(name.name, form)
    defined = 0
    while defined < len(setter.named):  # a definition may need further letters
        part, letter = list(setter.named.items())[defined]
        rows += setter.lines(letter.name, part)
        defined += 1
    if rows:
        yield _Row(word("where"))
        yield from map(_Row, rows)


def _used(forms: list[Any], bindings: dict[Any, Any]) -> dict[Any, Any]:
    """Bindings that forms use, and those that these use, each in terms of the others."""
    used: dict[Any, Any] = {}
    names = {name for form in forms for name in form.free_symbols}
    for form, name in bindings.items():
        others = {f: n for f, n in bindings.items() if n != name}
        if name in names and name not in used.values():
            used[form.xreplace(others)] = name
            names |= form.xreplace(others).free_symbols
    return used


def _form(model: Model, name: str) -> Any:
    """The closed form, or the reason why there is none."""
    try:
        return bare(model.closed_form(name))
    except HeadwayError as error:
        return str(error)


def _bindings(model: Model) -> dict[Any, Any]:
    """Names of bindings by their form, the longest first, so that the widest is named."""
    by_form = {}
    for name in model.graph.bindings:
        form = _form(model, name)
        if not isinstance(form, str) and not form.is_Atom:
            by_form[form] = symbol(name)
    return dict(sorted(by_form.items(), key=lambda item: -item[0].count_ops()))
