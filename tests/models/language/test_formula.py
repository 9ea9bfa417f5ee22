import math

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import FormulaError, InvalidParameter
from headway.models.language.algorithms import LAWS
from headway.models.language.formula import formula, render
from headway.models.language.from_sympy import from_sympy
from tests.support.pages import model_files

VALUES = {"a": 2.0, "b": 3.0, "lan.overhead": 5.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a + b * 2", 8.0),
        ("-a ** 2", -4.0),
        ("(a - b) / b", -1 / 3),
        ("max(a, b, 7) + min(a, b)", 9.0),
        ("where(a < b, 10, 20)", 10.0),
        ("sqrt(a) * exp(0) + log(1) + abs(-b) + ceil(1.2) + floor(1.8)", math.sqrt(2) + 6),
        ("2.4 * lan.overhead", 12.0),
        ("+a", 2.0),
        ("sin(pi / 6) + cos(pi / b) + sin(0)", 1.0),
        ("a * (1 + sin(2 * pi * 6 / 24) / 2)", 3.0),
    ],
)
def test_values(text, value):
    assert formula(text).evaluate(VALUES) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("burst_gap_run_time(10, a * 1e6, 5e-6)", 20.0),
        ("overhead_run_time(10, 1e6, 5e-6)", 20.0),
        ("1 + overhead_run_time(10, 1e6, 5e-6, 2e5)", 22.0),
        ("max(slowest_regular(0.5, a), usable_share(b, 1, b))", 0.75),
    ],
)
def test_laws_are_called_by_name(text, value):
    assert formula(text).evaluate(VALUES) == pytest.approx(value, rel=1e-12)
    assert formula(render(formula(text).tree)).tree == formula(text).tree


@pytest.mark.parametrize("law", sorted(LAWS))
def test_laws_take_symbols(law):
    arguments = LAWS[law].arguments
    text = f"{law}({', '.join(arguments)})"

    written = formula(text).evaluate({n: sympy.Symbol(n, positive=True) for n in arguments})

    assert isinstance(written, sympy.Expr)
    assert {str(s) for s in written.free_symbols} == set(arguments)


def test_a_law_refuses_what_it_cannot_take():
    with pytest.raises(InvalidParameter, match="messages is -1; it must be zero or more"):
        formula("burst_gap_run_time(10, -1, 5e-6)").evaluate({})


def test_laws_stand_in_the_document():
    text = model_files()

    assert [law for law in LAWS if f"`{law}`" not in text] == []


def test_arrays_go_through_whole():
    result = formula("where(a > 1.5, a, 0) + b").evaluate({"a": np.array([1.0, 2.0]), "b": 1.0})

    assert result.tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not arithmetic"),
        ("a +", "not arithmetic"),
        ("__import__('os')", "not a function"),
        ("a.__class__", "have a dot"),
        ("a.b.c", "have a dot"),
        ("(a).b()", "not a function"),
        ("lambda: 1", "lambda"),
        ("[1]", "not allowed"),
        ("a if b else 1", "if/else"),
        ("'text'", "not a number"),
        ("1j", "not a number"),
        ("True", "not a number"),
        ("a % 2", "Mod"),
        ("a @ b", "MatMult"),
        ("a < b < 3", "compare two"),
        ("tan(a)", "not a function"),
        ("sin(90 deg)", "not arithmetic"),
        ("sin(a, b)", "2 arguments"),
        ("pi()", "not a function"),
        ("max(*a)", "not allowed"),
        ("max()", "0 arguments"),
        ("exp(a, b)", "2 arguments"),
        ("serialisation_time(a)", "1 arguments; it takes serial_messages, added_overhead"),
        ("interface_gap(a, b, 1)", "3 arguments"),
        ("interface_gap(best_gap=a, bubbles=b)", "not a function"),
        ("overhead_runtime(a, b, 1)", "where; did you mean overhead_run_time"),
        ("a ** 1e6", "exponent"),
        ("1e999", "above 1e300"),
        ("(" * 10_000 + "a" + ")" * 10_000, "longer"),
        ("(" * 200 + "a" + ")" * 200, "nested"),
        ("a" + "+a" * 400, "too many terms"),
        ("-" * 300 + "a", "too many terms"),
        ("a := 2", "not arithmetic"),
        ("a; b", "not arithmetic"),
        ("{a: b for a in b}", "not allowed"),
    ],
)
def test_refused(text, why):
    with pytest.raises(FormulaError, match=why):
        formula(text)


def test_arithmetic_is_that_of_arrays_for_scalars_too():
    values = {"a": 0.0, "b": -2.0}

    assert formula("1 / a").evaluate(values) == math.inf
    assert math.isnan(formula("b ** 0.5").evaluate(values))
    assert formula("min(1, 1 / a)").evaluate(values) == 1.0


leaves = st.sampled_from(["a", "b", "c"]) | st.floats(0.1, 9).map(lambda x: f"{x!r}")
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(
            lambda t: f"{t[0]}({t[1]}, {t[2]})"
        ),
    ),
    max_leaves=8,
)


@given(expressions)
def test_rendered_text_reads_back(text):
    tree = formula(text).tree

    assert formula(render(tree)).tree == tree


@given(expressions, st.tuples(*[st.floats(0.5, 2)] * 3))
def test_numbers_symbols_and_back_agree(text, numbers):
    values = dict(zip("abc", numbers, strict=True))
    symbols = {name: sympy.Symbol(name, positive=True) for name in "abc"}
    read = formula(text)
    expected = read.evaluate(values)

    expression = sympy.sympify(read.evaluate(symbols))

    if math.isfinite(expected) and not expression.has(sympy.zoo, sympy.nan):
        # Tolerance: SymPy reorders sums, and differences of near-equal terms lose digits.
        assert from_sympy(expression).evaluate(values) == pytest.approx(
            expected, rel=1e-6, abs=1e-6
        )
