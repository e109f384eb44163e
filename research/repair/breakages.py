"""Seeded breakages: one token of good code is deleted, inserted, replaced or swapped.

Only those count after which a file that parsed no longer parses.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from intarsia.infill.languages import Language
from intarsia.infill.repair.tokens import Token, apart, tokens_between
from intarsia.infill.syntax.parse import Syntax, parse_afresh

BreakageKind = Literal["delete", "insert", "replace", "swap"]

MAX_ATTEMPTS = 400
"""Breakages that are drawn for each one that is wanted, until the file no longer parses."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Breakage:
    """A broken text, the good one, and the offset in the broken text where they part."""

    path: str
    language: Language
    kind: BreakageKind
    original: str
    broken: str
    offset: int


def draw_breakages(
    files: Mapping[str, str], language: Language, *, count: int, seed: int
) -> list[Breakage]:
    """Return up to ``count`` breakages of one language, even over the kinds and the files."""
    drawn = random.Random(f"{language.id} {seed}")
    parsed = {path: parse_afresh(text, language) for path, text in sorted(files.items())}
    good = {path: it for path, it in parsed.items() if it and not it.tree.root_node.has_error}
    tokens = {path: tokens_between(it, 0, len(it.text)) for path, it in good.items()}
    usable = [path for path in good if len(tokens[path]) > 1]
    found: list[Breakage] = []
    kinds = list(_BREAK)
    for number in range(count if usable else 0):
        kind = kinds[number % len(kinds)]
        breakage = _draw(drawn, [(it, good[it], tokens[it]) for it in usable], kind)
        if breakage is not None and breakage.broken not in [it.broken for it in found]:
            found.append(breakage)
    return found


def _draw(
    drawn: random.Random,
    files: Sequence[tuple[str, Syntax, Sequence[Token]]],
    kind: BreakageKind,
) -> Breakage | None:
    for _ in range(MAX_ATTEMPTS):
        path, syntax, tokens = drawn.choice(files)
        start, end, new = _BREAK[kind](drawn, syntax.text, tokens)
        broken = syntax.text[:start] + new + syntax.text[end:]
        parsed = parse_afresh(broken, syntax.language)
        if parsed is not None and parsed.tree.root_node.has_error:
            return Breakage(
                path=path,
                language=syntax.language,
                kind=kind,
                original=syntax.text,
                broken=broken,
                offset=start,
            )
    return None


_Change = tuple[int, int, str]


def _delete(drawn: random.Random, text: str, tokens: Sequence[Token]) -> _Change:
    token = drawn.choice(tokens)
    return token.start, token.end, apart(text[: token.start], "", text[token.end :])


def _insert(drawn: random.Random, text: str, tokens: Sequence[Token]) -> _Change:
    place, token = drawn.choice(tokens), drawn.choice(tokens)
    new = text[token.start : token.end] + " "
    return place.start, place.start, apart(text[: place.start], new, "")


def _replace(drawn: random.Random, text: str, tokens: Sequence[Token]) -> _Change:
    place, token = drawn.choice(tokens), drawn.choice(tokens)
    new = text[token.start : token.end]
    return place.start, place.end, apart(text[: place.start], new, text[place.end :])


def _swap(drawn: random.Random, text: str, tokens: Sequence[Token]) -> _Change:
    index = drawn.randrange(len(tokens) - 1)
    one, other = tokens[index], tokens[index + 1]
    between = text[one.end : other.start]
    new = apart(text[other.start : other.end], between, text[one.start : one.end])
    swapped = text[other.start : other.end] + new + text[one.start : one.end]
    return one.start, other.end, apart(text[: one.start], swapped, text[other.end :])


_BREAK: Mapping[BreakageKind, Callable[[random.Random, str, Sequence[Token]], _Change]] = {
    "delete": _delete,
    "insert": _insert,
    "replace": _replace,
    "swap": _swap,
}


def has_same_code(one: str, other: str) -> bool:
    """Whether two texts are equal but for blanks within their lines, not those that indent them."""
    return list(_lines(one)) == list(_lines(other))


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        code = line.lstrip(" \t")
        yield line[: len(line) - len(code)], "".join(code.split())
