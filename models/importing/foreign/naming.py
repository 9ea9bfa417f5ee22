"""Convert names of other tools to names that formulas can use."""

from collections.abc import Iterable, Mapping

from headway.models.language.names import LONGEST_NAME

_LONGEST = LONGEST_NAME // 4


def plain_names(names: Iterable[str]) -> Mapping[str, str]:
    """Map each name to one of letters, digits and _; names that are already so stay the same.

    Examples
    --------
    >>> list(plain_names(["cpu", "Queue 1", "Queue-1", "M/M/1/11", "2nd"]).values())
    ['cpu', 'Queue_1', 'Queue_1_2', 'M_M_1_11', 'n_2nd']
    """
    names = list(names)
    plain = {name: name for name in names if _plain(name) == name}
    taken = set(plain)
    for name in names:
        if name not in plain:
            plain[name] = _free(_plain(name), taken)
            taken.add(plain[name])
    return {name: plain[name] for name in names}


def _plain(name: str) -> str:
    text = "".join(c if f"a{c}".isidentifier() else "_" for c in name[:_LONGEST]).strip("_")
    return text if text.isidentifier() else f"n_{text}".rstrip("_")


def _free(name: str, taken: set[str]) -> str:
    count, candidate = 1, name
    while candidate in taken:
        count += 1
        candidate = f"{name}_{count}"
    return candidate
