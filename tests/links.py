"""Every link inside built pages leads to a page that is there and an anchor that is in it.

    python -m tests.links build/docs    check a folder of built pages; exit code 1 says where

Links to other sites are counted, not followed.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKS = {"a": "href", "link": "href", "img": "src", "script": "src"}


@dataclass
class Page(HTMLParser):
    """What a page links to, and where one can link to in it."""

    links: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value for name, value in attrs if value}
        self.anchors += [named[name] for name in ("id", "name") if name in named]
        if LINKS.get(tag) in named:
            self.links.append(named[LINKS[tag]])


def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def broken(folder: Path) -> Iterator[str]:
    """Each link that leads nowhere, as ``page: link``."""
    root = folder.resolve()
    pages = {path: read(path) for path in sorted(root.rglob("*.html"))}
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            if not urlsplit(link).scheme and not leads(link, path, pages):
                yield f"{path.relative_to(root)}: {link}"


def leads(link: str, path: Path, pages: dict[Path, Page]) -> bool:
    """Whether a link of a page finds a file, and in a page its anchor."""
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    anchor = unquote(parts.fragment)
    if target in pages and anchor:
        return anchor in pages[target].anchors
    return target.is_file()


def main(arguments: list[str] | None = None) -> int:
    folder = built_pages(arguments, "check links inside built pages")
    count = len(list(folder.rglob("*.html")))
    wrong = broken(folder) if count else [f"{folder}: no pages"]
    return report(wrong, f"{count} pages: every link leads somewhere")


def built_pages(arguments: list[str] | None, purpose: str) -> Path:
    """The folder of built pages that a checker's command line names."""
    parser = argparse.ArgumentParser(description=purpose)
    parser.add_argument("folder", type=Path)
    return Path(parser.parse_args(arguments).folder)


def report(findings: Iterable[str], good: str) -> int:
    """Print what is wrong, or that nothing is; returns the exit code."""
    wrong = list(findings)
    print(*(wrong or [good]), sep="\n", file=sys.stderr if wrong else sys.stdout)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
