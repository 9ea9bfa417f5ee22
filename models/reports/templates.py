"""The files that pages and panels are made of, and how text is escaped on its way into them."""

from functools import cache
from importlib.resources import files
from typing import Any

import jinja2

from headway.errors import visible


def shipped(name: str) -> str:
    """The text of a template, style sheet or script.

    Examples
    --------
    >>> shipped("panel.css").startswith(".panel-picture")
    True
    """
    return (files("headway.models.reports") / "assets" / name).read_text(encoding="utf-8")


@cache
def environment() -> jinja2.Environment:
    """Templates that escape text from files or from the command line."""
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(shipped),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
    )


def _shown(value: Any) -> Any:
    """Write out control characters in text from files; what the page itself is made of is kept."""
    return visible(value, "\n\t") if type(value) is str else value
