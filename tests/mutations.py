"""Texts spoilt in a fixed way: cut, bytes changed, lines dropped, doubled and swapped."""

import random


def mutations(text, count):
    """That many spoilt texts, the same in every run."""
    chance = random.Random(len(text))
    for _ in range(count):
        yield chance.choice((_cut, _changed, _dropped, _doubled, _swapped))(text, chance)


def _cut(text, chance):
    return text[: chance.randrange(len(text))]


def _changed(text, chance):
    found = list(text)
    for _ in range(chance.randint(1, 4)):
        found[chance.randrange(len(found))] = chance.choice('0-9.,:{}[]"\n eNx\0µ')
    return "".join(found)


def _dropped(text, chance):
    lines = text.splitlines(keepends=True)
    del lines[chance.randrange(len(lines))]
    return "".join(lines)


def _doubled(text, chance):
    lines = text.splitlines(keepends=True)
    place = chance.randrange(len(lines))
    return "".join([*lines[:place], *lines[place : place + 1] * 2, *lines[place + 1 :]])


def _swapped(text, chance):
    words = text.split(" ")
    one, other = chance.randrange(len(words)), chance.randrange(len(words))
    words[one], words[other] = words[other], words[one]
    return " ".join(words)
