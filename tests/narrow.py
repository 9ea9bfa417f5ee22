"""Built pages on a phone: nothing is wider than the window, and the navigation is folded away.

    python -m tests.narrow build/docs    look at a folder of built pages in Chromium at 400 px

What scrolls inside a block of its own may be as long as it likes. Exit code 1 says where it fails;
without Chromium nothing is looked at, which it says.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.links import built_pages, report

WIDTH = 400
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
LOOK = """() => {
  const wide = document.documentElement.clientWidth;
  const scrolls = (e) => {
    for (let up = e.parentElement; up; up = up.parentElement)
      if (up !== document.body && getComputedStyle(up).overflowX !== "visible") return true;
    return false;
  };
  const found = [];
  for (const e of document.querySelectorAll("article *")) {
    const box = e.getBoundingClientRect();
    if (box.width > 0 && box.right > wide + 1 && !scrolls(e))
      found.push(`${e.tagName.toLowerCase()} reaches ${Math.round(box.right)} px`);
  }
  const aside = document.querySelector(".sidebar-drawer");
  if (aside && aside.getBoundingClientRect().right > 0) found.push("the navigation is open");
  if (document.documentElement.scrollWidth > wide) found.push("the page scrolls sideways");
  return found;
}"""


def too_wide(folder: Path, width: int = WIDTH) -> Iterator[str]:
    """What of each page is not as it should be, as ``page: what``."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900})
        for path in sorted(folder.resolve().rglob("*.html")):
            page.goto(path.as_uri())
            yield from (
                f"{path.relative_to(folder.resolve())}: {what}" for what in page.evaluate(LOOK)
            )
        browser.close()


def main(arguments: list[str] | None = None) -> int:
    folder = built_pages(arguments, "look at built pages at 400 px")
    if BROWSER is None:
        print("no Chromium: the pages were not looked at")
        return 0
    return report(too_wide(folder), f"every page fits {WIDTH} px")


if __name__ == "__main__":
    sys.exit(main())
