"""The place of an error in a model file, so that messages can give its line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from headway.errors import HeadwayError, ModelFileError
from headway.records import dataclass


@dataclass(frozen=True)
class KeyLines:
    """Finds the line of a key, so that messages can give it."""

    text: str
    source: str
    before: tuple[str, ...] = ()

    def under(self, *keys: str) -> "KeyLines":
        """The places in a part of the file, whose keys are under these."""
        return KeyLines(self.text, self.source, (*self.before, *keys))

    def of(self, path: list[str]) -> str:
        """File, line and key of a path of keys."""
        path = [*self.before, *path]
        line = self.line(path)
        where = f" [{'.'.join(path)}]" if path else ""
        return f"{self.source}{f':{line}' if line else ''}{where}"

    def error(self, what: str, *path: str) -> ModelFileError:
        """Make an error that begins with the place."""
        return ModelFileError(f"{self.of(list(path))}: {what}")

    def line(self, path: list[str]) -> int | None:
        """Line of the longest part of the path that the text contains."""
        best, table, deepest = None, [], 0
        for number, content in enumerate(self.text.splitlines(), 1):
            head = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", content)
            key = re.match(r"\s*(\"[^\"]*\"|[\w.\"'-]+)\s*=", content)
            if head:
                table = [part.strip(" \"'") for part in head[1].split(".")]
            names = table if head else [*table, *key[1].replace('"', "").split(".")] if key else []
            common = len(names) if names == path[: len(names)] else 0
            if common > deepest:
                best, deepest = number, common
        return best

    @contextmanager
    def __call__(self, *path: str) -> Iterator[None]:
        """Put file and line before whatever is refused inside."""
        try:
            yield
        except ModelFileError:
            raise
        except HeadwayError as error:
            raise self.error(str(error), *path) from None
