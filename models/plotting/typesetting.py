"""Closed forms as typeset mathematics, in the subset of TeX that matplotlib draws without TeX.

Names stay whole words, as in the model. A form wider than a line is broken between the terms of a
sum; if that is not possible, its widest or most repeated part is replaced by a letter.
"""

import math
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import sympy
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser
from sympy.printing.latex import LatexPrinter

from headway.errors import FormulaError
from headway.records import dataclass

_LETTERS = "abcdefghjkmnpqrstuvwxyz"
_SHARES = (1.0, 0.8, 0.6, 0.45)
_LETTER, _SIGN, _DOT, _BRACKETS = 0.58, 1.2, 0.75, 1.0  # widths relative to the size of the letters
_PARSER: Any = MathTextParser("path")


class _Printer(LatexPrinter):  # type: ignore[misc]
    """SymPy's LaTeX, restricted to what matplotlib knows: no environments, words as names.

    The names of the methods are SymPy's.
    """

    def _print_Symbol(self, expr: Any) -> str:  # noqa: N802
        return word(expr.name)

    def _print_Float(self, expr: Any) -> str:  # noqa: N802
        mantissa, _, power = f"{float(expr):.4g}".partition("e")
        return rf"{mantissa} \cdot 10^{{{int(power)}}}" if power else mantissa

    def _print_Function(self, expr: Any, exp: str | None = None) -> str:  # noqa: N802
        inside = ", ".join(self._print(argument) for argument in expr.args)
        name, power = expr.func.__name__, f"^{{{exp}}}" if exp else ""
        shown = rf"\{name}" if name in ("max", "min") else rf"\mathrm{{{name}}}"
        return rf"{shown}\left({inside}\right){power}"

    def _print_Piecewise(self, expr: Any) -> str:  # noqa: N802
        return r"\left[" + r"\ ".join(_cases(expr)) + r"\right]"


def _cases(expr: Any) -> list[str]:
    """The cases of a conditional form."""
    return [
        rf"{tex(value)}\ \mathrm{{otherwise}}"
        if condition is sympy.true
        else rf"{tex(value)}\ \mathrm{{if}}\ {tex(condition)},"
        for value, condition in expr.args
    ]


def word(name: str) -> str:
    r"""A name as upright letters.

    Examples
    --------
    >>> print(word("cpu_time"))
    \mathrm{cpu\_time}
    """
    return rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}"


@lru_cache(maxsize=8192)
def tex(form: Any) -> str:
    r"""A form in matplotlib's subset of TeX.

    Examples
    --------
    >>> print(tex(sympy.Symbol("cpu_time") / 2))
    \dfrac{\mathrm{cpu\_time}}{2}
    """
    printer = _Printer({"mul_symbol": "dot"})
    text: str = printer.doprint(form)
    return text.replace(r"\frac", r"\dfrac")


@lru_cache(maxsize=4096)
def extent(text: str, size: float) -> tuple[float, float, float]:
    """Width, height above and depth below the line, of typeset text [points]."""
    try:
        drawn = _PARSER.parse(f"${text}$", dpi=72, prop=FontProperties(size=size))
    except RecursionError:
        raise FormulaError("a formula is nested too deep to be drawn; name its parts") from None
    return drawn.width, drawn.height - drawn.depth, drawn.depth


@lru_cache(maxsize=65536)
def breadth(form: Any) -> float:
    """Approximate width of a form, relative to the size of its letters; quick to compute."""
    if form.is_Atom:
        return _LETTER * len(str(form))
    above, below = sympy.fraction(form) if form.is_Mul or form.is_Pow else (form, sympy.S.One)
    if below != 1:
        return max(breadth(above), breadth(below))
    joint = _SIGN if form.is_Add else _DOT
    brackets = 0.0 if form.is_Add else _BRACKETS * sum(x.is_Add for x in form.args)
    if not (form.is_Add or form.is_Mul or form.is_Pow):
        brackets = _BRACKETS + _LETTER * len(_name(form))
    return sum(map(breadth, form.args)) + joint * (len(form.args) - 1) + brackets


def _name(form: Any) -> str:
    """What is written before or between the arguments of a function."""
    if isinstance(form, sympy.Piecewise):
        return "if otherwise"
    return str(form.func.__name__) if isinstance(form, sympy.Function) else ""


@dataclass(frozen=True)
class Typesetter:
    """Breaks forms into lines of a given width, and names parts that are too wide.

    Parameters
    ----------
    room
        Width of a line [points].
    size
        Size of the letters [points].
    named
        Letters given to parts so far, by the part.
    """

    room: float
    size: float
    named: dict[Any, Any]

    def lines(self, name: str, form: Any) -> list[str]:
        """The lines of ``name = form``; tried again for a smaller width if they do not fit."""
        before = dict(self.named)
        for share in _SHARES:
            self.named.clear()
            self.named.update(before)
            lines = self._lines(name, form, share * self.room)
            if all(extent(line, self.size)[0] <= self.room for line in lines):
                break
        return lines

    def _lines(self, name: str, form: Any, room: float) -> list[str]:
        head = f"{word(name)} = "
        left = room - self.size * _LETTER * len(name)
        terms = list(self._packed(self._narrowed(form, left), left))
        is_wide = isinstance(form, sympy.Piecewise) and extent(head + terms[0], self.size)[0] > room
        first = [head.strip()] if is_wide else [head + terms.pop(0)]
        return [*first, *(rf"\qquad {line}" for line in terms)]

    def _packed(self, form: Any, room: float) -> Iterator[str]:
        """Terms of a sum, as many per line as fit; for cases, one per line."""
        if isinstance(form, sympy.Piecewise) and self._width(form) > room:
            yield from _cases(form)
            return
        line, filled = "", 0.0
        for term in sympy.Add.make_args(form) if self._width(form) > room else [form]:
            text, needed = tex(term), self._width(term) + _SIGN * self.size
            if line and filled + needed > room:
                yield line
                line, filled = text if text[0] == "-" else f"+ {text}", needed
            else:
                joint = " " if not line or text[0] == "-" else " + "
                line, filled = f"{line}{joint}{text}".strip(), filled + needed
        yield line

    def _width(self, form: Any) -> float:
        return breadth(form) * self.size

    def _narrowed(self, form: Any, room: float) -> Any:
        """A form whose terms fit on a line, in which parts may have become letters."""
        form = form.xreplace({p: letter for p, letter in self.named.items() if p != form})
        while wide := [x for x in sympy.Add.make_args(form) if self._width(x) > room]:
            part = self._part(form, wide[0], room)
            whole = None if part is not None else self._endless(wide[0], room)
            if whole is not None:
                half = len(whole.args) // 2
                part = whole.func(*whole.args[:half])
            if part is None:
                return form
            letter = self.named.setdefault(part, self._letter(form))
            shorter = letter if whole is None else whole.func(letter, *whole.args[half:])
            form = form.xreplace({part if whole is None else whole: shorter})
        return form

    def _endless(self, term: Any, room: float) -> Any:
        """A part with many short arguments, which can be split into two halves; None if none is."""
        long = (
            part
            for part in sympy.preorder_traversal(term)
            if (part.is_Add or part.is_Mul or _name(part) in ("max", "min"))
            and len(part.args) > 3
            and self._width(part) > room / 2
        )
        return next(long, None)

    def _part(self, form: Any, term: Any, room: float) -> Any:
        """The part of a term whose name saves most space: wide, or repeated in the form."""
        met = Counter(sympy.preorder_traversal(form))
        parts = {
            part: math.sqrt(met[part]) * self._width(part)
            for part in set(sympy.preorder_traversal(term)) - {term}
            if _is_nameable(part)
        }
        fitting = [part for part in parts if self._width(part) < room]
        if fitting:
            return max(fitting, key=lambda part: (parts[part], str(part)))
        return min(parts, key=lambda part: (parts[part], str(part)), default=None)

    def _letter(self, form: Any) -> Any:
        taken = {symbol.name for symbol in (form.free_symbols | set(self.named.values()))}
        names = [*_LETTERS, *(f"{letter}_{k}" for k in range(2, 9) for letter in _LETTERS)]
        return sympy.Symbol(next(name for name in names if name not in taken))


def _is_nameable(part: Any) -> bool:
    """Whether a part is worth a letter: it joins at least two names, and is not a condition."""
    return isinstance(part, sympy.Expr) and sum(leaf.is_Symbol for leaf in _leaves(part)) > 1


def _leaves(part: Any) -> Iterator[Any]:
    return (leaf for leaf in sympy.preorder_traversal(part) if leaf.is_Atom)


def bare(form: Any) -> Any:
    """A form with functions as mere names, which SymPy decomposes and rebuilds quickly."""
    for kind in (sympy.Max, sympy.Min):
        form = form.replace(kind, sympy.Function(kind.__name__.lower()))
    return form
