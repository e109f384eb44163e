"""Text for logs and terminals: no raw escapes, and no marks that change how a line looks."""

import unicodedata

_NOT_PRINTED = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_KEPT = frozenset("\n\t")


def is_printable(character: str) -> bool:
    """Whether the character is seen as itself: no control, mark, surrogate or private sign."""
    return (character.isascii() and character.isprintable()) or (
        unicodedata.category(character) not in _NOT_PRINTED
    )


def printable(text: str) -> str:
    """Return the text with escapes such as ``\\x1b`` for all that is not seen, but LF and tab."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character if character in _KEPT or is_printable(character) else ascii(character)[1:-1]
        for character in text
    )


_TAB = "    "
_CONTROL_PICTURES = {code: chr(0x2400 + code) for code in range(32)} | {0x7F: "\u2421"}


class _Signs(dict[int, str]):
    """The shown form of each character. Controls and invisible marks could forge a line."""

    def __missing__(self, code: int) -> str:
        is_shown = is_printable(chr(code))
        self[code] = chr(code) if is_shown else "\N{REPLACEMENT CHARACTER}"
        return self[code]


_SIGNS = _Signs(_CONTROL_PICTURES | {0x09: _TAB, 0x0A: "\n"})


def displayable(text: str) -> str:
    """Return the text with LF line ends and a visible sign for every other control or mark."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_SIGNS)
