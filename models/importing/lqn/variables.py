"""Variables of SPEX in files of layered services: numbers, lists of them, and formulas.

``$name = 0.5`` is a parameter; for ``[1, 2, 4]`` or ``[1:9, 2]`` it has the first value and its
description lists the others; variables that depend on others are replaced by their formulas.
Source: Franks and others, *Layered Queueing Network Solver and Simulator User Manual*, Software
Performance Experiment Driver.
"""

import re
from collections.abc import Callable, Collection, Iterator

import numpy as np

from headway.errors import FormulaError, HeadwayError, quoted
from headway.models.importing.foreign.naming import plain_names
from headway.models.language.formula import Formula, formula
from headway.models.language.parameters import Parameter
from headway.models.language.units import ONE, unit
from headway.numerals import digits

_VARIABLE = re.compile(r"\$(\w+)")
_GIVEN = re.compile(r"\$(\w+)\s*=(?!=)")
_COMMENT = re.compile(r"(#|//)[^\n]*")
_LIST = re.compile(r"\[(.*)\]|array_create\s*\((.*)\)", re.DOTALL)
_RANGE = re.compile(r"([^:,]+):([^:,]+),([^:,]+)")
_MOST = 10_000  # most values of a list
_SLACK = 1e-9  # tolerance of the last value of a range, in steps

Wrong = Callable[[str, str], HeadwayError]
"""Makes the error of something at a place."""


class Variables:
    """The variables of a file, and which of them it uses.

    Parameters
    ----------
    text
        The definitions of all variables, one after the other.
    taken
        Names that already have another meaning.
    wrong
        Makes the error of something at a place.

    Examples
    --------
    >>> some = Variables("$n = [1:9, 4]  $half = $n / 2", (), lambda place, what: ValueError(what))
    >>> some.formula_of("1 + $half", "task web").text
    '1 + (n / 2)'
    >>> [(one.name, one.doc) for one in some.parameters()], some.values
    ([('n', 'the first of 1:9:4 in the file')], {'n': 1.0})
    """

    def __init__(self, text: str, taken: Collection[str], wrong: Wrong) -> None:
        self._wrong = wrong
        self._said: dict[str, str] = {}
        for name, said in _definitions(text):
            if name in self._said:
                raise self._error(name, "it has a value twice; delete one")
            self._said[name] = said
        self._names = dict(plain_names(self._said))
        for name, plain in self._names.items():
            if plain in taken:
                self._names[name] = f"{plain}_value"
        self._lists: dict[str, tuple[float, ...]] = {}
        self._told: dict[str, str] = {}
        self._alone: dict[str, bool] = {}
        self._path: list[str] = []

    @property
    def names(self) -> Collection[str]:
        """Names of all variables as parameters."""
        return self._names.values()

    def parameters(self) -> Iterator[Parameter]:
        """The variables that the file uses, except those that depend on others."""
        for name in self._lists:
            kind = unit("s") if self._alone[name] else ONE
            doc = f"the first of {self._told[name]} in the file" if name in self._told else ""
            yield Parameter(self._names[name], None, kind, doc=doc)

    @property
    def values(self) -> dict[str, float]:
        """Values of the variables in the file; for lists the first."""
        return {self._names[name]: values[0] for name, values in self._lists.items()}

    def formula_of(self, text: str, place: str, *, seconds: bool = False) -> Formula:
        """A formula of variables, in names of parameters.

        Parameters
        ----------
        text, place
            The formula as in the file, and its place.
        seconds
            Whether it is a time.

        Raises
        ------
        HeadwayError
            For variables without a value, and text that is not a formula.
        """
        alone = _VARIABLE.fullmatch(text.strip())
        plain = _VARIABLE.sub(lambda found: self._plain(found[1], place), text)
        for name in _VARIABLE.findall(text):
            if name in self._lists:
                self._alone[name] = self._alone.get(name, True) and bool(alone) and seconds
        return self._formula(plain.strip(), place, text)

    def value_of(self, text: str, place: str) -> float:
        """The value of a formula, with the values in the file."""
        found = self.formula_of(text, place)
        return float(found.evaluate(self.values))

    def _plain(self, name: str, place: str) -> str:
        """The formula that replaces a variable."""
        if name not in self._said:
            what = f"variable ${name} has no value; write ${name} = ... into the file's parameters"
            raise self._wrong(place, what)
        if name in self._path:
            what = f"its value depends on itself: {' -> '.join([*self._path, name])}"
            raise self._error(name, what)
        said = self._said[name]
        self._path.append(name)
        try:
            if _VARIABLE.search(said) and not _LIST.fullmatch(said):
                return f"({self.formula_of(said, f'variable ${name}').text})"
            if name not in self._lists:
                self._lists[name] = self._values(name, said)
            return self._names[name]
        finally:
            self._path.pop()

    def _values(self, name: str, said: str) -> tuple[float, ...]:
        """Its value, or all its values in order."""
        found = _LIST.fullmatch(said)
        if found is None:
            return (self._number(name, said),)
        inside = found[1] or found[2] or ""
        if ends := _RANGE.fullmatch(inside):
            first, last, step = (self._number(name, end) for end in ends.groups())
            count = (last - first) / step + 1 + _SLACK if step else np.inf
            if not 1 <= count < _MOST:
                raise self._error(name, f"{quoted(said)} has no value, or more than {_MOST:,}")
            self._told[name] = ":".join(map(digits, (first, last, step)))
            return tuple(first + step * k for k in range(int(count)))
        values = tuple(self._number(name, one) for one in inside.split(","))
        self._told[name] = ",".join(map(digits, values))
        return values

    def _number(self, name: str, text: str) -> float:
        found = self._formula(text.strip(), f"variable ${name}", text)
        if found.names:
            raise self._error(name, f"{quoted(text.strip())} is not a number")
        return float(found.evaluate({}))

    def _formula(self, plain: str, place: str, text: str) -> Formula:
        try:
            return formula(plain)
        except FormulaError as error:
            why = str(error).partition("': ")[2] or str(error).partition("' ")[2]
            raise self._wrong(place, f"{quoted(text.strip())}: {why}") from None

    def _error(self, name: str, what: str) -> HeadwayError:
        return self._wrong(f"variable ${name}", what)


def _definitions(text: str) -> Iterator[tuple[str, str]]:
    """Each variable with its definition."""
    _, *each = _GIVEN.split(_COMMENT.sub("", text))
    for name, said in zip(each[::2], each[1::2], strict=True):
        yield name, said.strip().rstrip(";").strip()
