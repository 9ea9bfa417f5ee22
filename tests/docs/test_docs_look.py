"""How the documentation sets what commands print and what docstrings say."""

import importlib.util

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from pygments.token import Generic
from sphinx.ext.napoleon import NumpyDocstring
from sphinx.util.typing import stringify_annotation

from tests.support.pages import DOCS


@pytest.fixture(scope="module")
def conf():
    spec = importlib.util.spec_from_file_location("documentation", DOCS / "conf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("line", ["(exact for 1, within 5% of", "(no delay)", "a # b", "5% o"])
def test_no_line_of_an_answer_is_a_prompt(conf, line):
    tokens = list(conf.Terminal().get_tokens(f"$ headway models\n{line}\n"))

    assert tokens[0] == (Generic.Prompt, "$ ")
    assert tokens[-1] == (Generic.Output, f"{line}\n")


def test_a_file_with_a_setting_is_no_mailbox(conf):
    lines = ["Measurements; slow.csv@delay=+1ms."]

    conf.mark_options(None, None, lines)

    assert lines == ["Measurements; ``slow.csv@delay=+1ms``."]


def test_a_property_keeps_its_sentence(conf):
    sentence = "Whether it can be a bottleneck: not where everybody is served at once."
    lines = [sentence]

    conf.keep_colons(None, "property", "limits", None, None, lines)

    assert str(NumpyDocstring(lines, what="property", name="limits")).endswith(sentence)


def test_what_is_returned_is_a_sentence_and_no_type(conf):
    def bounds() -> tuple[NDArray[np.float64], bool]:
        raise NotImplementedError

    lines = ["Bounds.", "", "Returns", "-------", "Both ends [s], shape", "(points, 2)."]

    conf.keep_returns(None, "function", "bounds", bounds, None, lines)

    shown = str(NumpyDocstring(lines, what="function", name="bounds")).split()
    assert " ".join(shown) == (
        "Bounds. :returns: Both ends [s], shape (points, 2). :rtype: tuple[NDArray[float64], bool]"
    )


@pytest.mark.parametrize("mode", ["smart", "fully-qualified-except-typing"])
@pytest.mark.parametrize(
    ("alias", "name"),
    [
        (ArrayLike, "ArrayLike"),
        (NDArray[np.float64], "NDArray[float64]"),
        (list[NDArray[np.bool_]], "list[NDArray[bool]]"),
    ],
)
def test_arrays_have_the_names_that_numpy_gives_them(conf, alias, name, mode):
    assert conf.aliased(stringify_annotation(alias, mode)) == name


def test_classes_show_types_without_modules(conf):
    lines = [
        ":param many: As many.",
        ":type many: collections.abc.Sequence[headway.models.Model] | str",
    ]

    conf.short_fields(None, "class", "Two", None, None, lines)

    assert lines[1] == ":type many: ~collections.abc.Sequence[~headway.models.Model] | str"
