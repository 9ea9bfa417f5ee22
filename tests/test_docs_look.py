"""How the documentation sets what commands print and what docstrings say."""

import importlib.util

import pytest
from pygments.token import Generic
from sphinx.ext.napoleon import NumpyDocstring

from tests.pages import DOCS


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
