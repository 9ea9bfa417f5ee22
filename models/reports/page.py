"""Pages as HTML that needs nothing but itself: no network, and no script to read it."""

import base64
import hashlib

from headway.models.language.verbs import perform
from headway.models.reports.contents import Contents, arranged
from headway.models.reports.figures import palette
from headway.models.reports.templates import environment, shipped
from headway.models.reports.words import maker

STYLES = ("colours.css", "tables.css", "panel.css", "report.css")
"""The page's style sheet, in pieces; the last one says where the others give way."""


def page(report: object) -> str:
    """Write a report of any kind as HTML; the same report gives the same page.

    Whatever comes from files or from the command line is escaped, and the page forbids itself
    to load anything, and to run any script but its own.

    Parameters
    ----------
    report
        What to show: its contents are asked for through the door.
    """
    contents: Contents = perform(report, "contents")
    script = _script(contents)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    body = environment().get_template("body.html")
    shown = body.render(contents=contents, sections=arranged(contents), maker=maker())
    return environment().get_template("page.html").render(
        contents=contents,
        body=shown,
        style=_style(shown),
        policy=_policy(f"'sha256-{digest}'"),
        script=script,
        maker=maker(),
    )  # fmt: skip


def _script(contents: Contents) -> str:
    """What runs in the page: values under the pointer, and sliders where it has some."""
    panel = contents.panel
    own = [panel.script, *map(shipped, ("parts.js", "panel.js"))] if panel else []
    return "\n".join(["", shipped("pointer.js"), *own])


def _style(drawn: str) -> str:
    """The page's style sheet, with the colours of its figures on light and on dark."""
    light, dark = palette(drawn)
    colours = f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{"
    return f"{''.join(map(shipped, STYLES))}{colours}\n  :root {{ {dark} }}\n}}"


def _policy(scripts: str) -> str:
    """What a page may load and run: nothing, but for scripts of these digests."""
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {scripts}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
