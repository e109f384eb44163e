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
