"""Pages as HTML that need nothing else: no network, and no script in order to be read."""

import base64
import hashlib

from headway.models.language.verbs import perform
from headway.models.reports.contents import Contents, arranged, worth_showing
from headway.models.reports.figures import palette
from headway.models.reports.templates import environment, shipped
from headway.models.reports.words import maker

STYLES = ("colours.css", "tables.css", "panel.css", "report.css")
"""The page's style sheet, in pieces; the last one resolves conflicts between the others."""


def page(report: object) -> str:
    """Write a report of any kind as HTML; the same report always gives the same page.

    Text from files or from the command line is escaped, and the page forbids itself to load
    anything, or to run any script but its own.

    Parameters
    ----------
    report
        The report to show; its contents are found through the door.
    """
    contents: Contents = perform(report, "contents")
    script = _script(contents)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    body = environment().get_template("body.html")
    shown = body.render(
        contents=contents, signs=worth_showing(contents), sections=arranged(contents), maker=maker()
    )
    return environment().get_template("page.html").render(
        contents=contents,
        body=shown,
        style=_style(shown),
        policy=_policy(f"'sha256-{digest}'"),
        script=script,
        maker=maker(),
    )  # fmt: skip


def _script(contents: Contents) -> str:
    """The page's scripts: names in tables, values under the pointer, and sliders if it has some."""
    panel = contents.panel
    own = [panel.script, *map(shipped, ("parts.js", "panel.js"))] if panel else []
    return "\n".join(["", *map(shipped, ("names.js", "pointer.js")), *own])


def _style(drawn: str) -> str:
    """The page's style sheet, with the colours of its figures on light and dark pages."""
    light, dark = palette(drawn)
    colours = f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{"
    return f"{''.join(map(shipped, STYLES))}{colours}\n  :root {{ {dark} }}\n}}"


def _policy(scripts: str) -> str:
    """What a page may load and run: nothing except scripts with these digests."""
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {scripts}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
