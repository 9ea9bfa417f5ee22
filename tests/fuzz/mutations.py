"""Ways to spoil a text: each takes a random source and a text, and gives another text."""

import re

# fmt: off
EXTREMES = (
    "0", "-0", "1", "-1", "0.5", "1e300", "1e308", "1e-308", "5e-324", "1e400", "0e400", "-1e300",
    "1e-400", "3e14", "9" * 400, "9" * 5000, "0." + "0" * 400 + "1", "nan", "inf", "-inf", "1_0",
    "٣", "１２", "0x1f", "1e", "1e+", ".", "1.2.3", "--1", "+1", "1,000", "2.0000001", "4096",
    "1e9", "1e18", "2147483648", "True", "null", "",
)
ORDINARY = (
    "2", "3", "7", "10", "0.1", "0.999", "1.001", "100", "1e3", "1e6", "1e-6", "1e9", "1e15",
)
STRANGE = (
    "\x00", "\x1b[31m", "\x9b", "\x07", "\u202e", "\ufeff", "\xa0", "\u2028", "\r", "\r\n", "\t",
    "\n", "é", "漢", "𝟘", "🙂", "$", "$x$", "\\", "\\frac", "{", "}", "%", "%s", "{0}", "'", '"',
    "'''", '"""', "#", ",", ";", "|", "<", "<!ENTITY", "&amp;", "..", "__class__", "=", ":", "[",
    "]", "/",
)
# fmt: on
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_TOKEN = re.compile(r"[A-Za-z_]\w*|[0-9.]+|\S")
_STANZA = re.compile(r"(?m)^(?=\[)|(?<=\n\n)")
_HUGE = 3000


def _span(chance, text, most=40):
    start = chance.randrange(len(text) + 1)
    return start, min(len(text), start + chance.randrange(most))


def flip(chance, text, _others):
    """Another character in the place of one."""
    place = chance.randrange(len(text) + 1)
    return (
        text[:place] + chr(chance.choice((32, 48, 127)) + chance.randrange(80)) + text[place + 1 :]
    )


def strange(chance, text, _others):
    """Something strange between two characters."""
    place = chance.randrange(len(text) + 1)
    return text[:place] + chance.choice(STRANGE) + text[place:]


def cut(chance, text, _others):
    """A piece left out."""
    start, stop = _span(chance, text)
    return text[:start] + text[stop:]


def end(chance, text, _others):
    """The text up to somewhere."""
    return text[: chance.randrange(len(text) + 1)]


def repeat(chance, text, _others):
    """A piece twice, or very often."""
    start, stop = _span(chance, text)
    often = 2 if chance.random() < 0.8 else _HUGE // max(1, stop - start)
    return text[:start] + text[start:stop] * often + text[stop:]


def splice(chance, text, others):
    """A piece of another text in the place of one."""
    other = chance.choice(others)
    (start, stop), (a, b) = _span(chance, text), _span(chance, other, 200)
    return text[:start] + other[a:b] + text[stop:]


def extreme(chance, text, _others):
    """An extreme number in the place of one."""
    items = list(_NUMBER.finditer(text))
    if not items:
        return text + chance.choice(EXTREMES)
    match = chance.choice(items)
    return text[: match.start()] + chance.choice(EXTREMES) + text[match.end() :]


def ordinary(chance, text, _others):
    """Another number in the place of one."""
    items = list(_NUMBER.finditer(text))
    if not items:
        return text
    match = chance.choice(items)
    return text[: match.start()] + chance.choice(ORDINARY) + text[match.end() :]


def stanza(chance, text, others):
    """A part between blank lines or headings of another text, added or in the place of one."""
    own, strange = _STANZA.split(text), _STANZA.split(chance.choice(others))
    place = chance.randrange(1, len(own) + 1)
    keep = place if chance.random() < 0.5 else place + 1
    return "".join([*own[:place], chance.choice(strange), *own[keep:]])


def swap(chance, text, _others):
    """Two words in each other's place."""
    items = list(_TOKEN.finditer(text))
    if len(items) < 2:
        return text
    first, second = sorted(chance.sample(items, 2), key=lambda match: match.start())
    between = text[first.end() : second.start()]
    return text[: first.start()] + second[0] + between + first[0] + text[second.end() :]


def word(chance, text, others):
    """A word of another text in the place of one."""
    items, strangers = list(_TOKEN.finditer(text)), _TOKEN.findall(chance.choice(others))
    if not items or not strangers:
        return text
    match = chance.choice(items)
    return text[: match.start()] + chance.choice(strangers) + text[match.end() :]


def lines(chance, text, _others):
    """Lines left out, doubled, or in another order."""
    rows = text.split("\n")
    place = chance.randrange(len(rows))
    kind = chance.randrange(3)
    if kind == 0:
        del rows[place]
    elif kind == 1:
        rows.insert(chance.randrange(len(rows)), rows[place])
    else:
        chance.shuffle(rows)
    return "\n".join(rows)


def nest(chance, text, _others):
    """Brackets around a piece, once or very deep."""
    start, stop = _span(chance, text)
    opening, closing = chance.choice(("()", "[]", "{}", "<>"))
    deep = 1 if chance.random() < 0.7 else chance.choice((50, 250, 2000))
    return text[:start] + opening * deep + text[start:stop] + closing * deep + text[stop:]


MUTATIONS = (
    flip, strange, cut, end, repeat, splice, extreme, extreme, extreme, ordinary, ordinary,
    ordinary, stanza, stanza, swap, word, word, lines, nest,
)  # fmt: skip


def mutated(chance, text, others):
    """A text after one to four mutations."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        text = chance.choice(MUTATIONS)(chance, text, others)
    return text


def encoded(chance, text):
    """The text as bytes, once in a while with some of them spoilt."""
    content = bytearray(text.encode("utf-8", "surrogatepass"))
    if content and chance.random() < 0.1:
        for _ in range(chance.randrange(1, 4)):
            content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content)
