"""Looking names up, and telling the nearest ones when there is no such name."""

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """Say which known names a wrong one may have meant, as the end of a message.

    Examples
    --------
    >>> nearest("cpu_tiem", ["cpu_time", "delay"])
    '; did you mean cpu_time?'
    >>> nearest("x", ["cpu_time", "delay"])
    '; there are cpu_time, delay'
    """
    import difflib

    names = sorted(known)
    close = difflib.get_close_matches(name, names, 3, 0.6)
    if close:
        return f"; did you mean {', '.join(close)}?"
    shown = names if len(names) <= 12 else [*names[:12], "..."]
    return f"; there are {', '.join(shown)}" if names else ""
