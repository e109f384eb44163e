"""A reference for positions and edits of a text: it walks over all characters, one by one.

Lines end at LF, CRLF or CR. Written for the tests alone, and shares nothing with the product.
"""

from collections.abc import Sequence

from lsprotocol import types

from intarsia.lsp.positions import PositionEncoding

ENCODINGS: Sequence[PositionEncoding] = ("utf-8", "utf-16", "utf-32")


def slowly_changed(
    text: str, changes: Sequence[types.TextDocumentContentChangeEvent], encoding: PositionEncoding
) -> str:
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            text = change.text
        elif encoding == "utf-16":
            units = split(text)
            start = slow_offset(units, change.range.start, encoding)
            end = max(start, slow_offset(units, change.range.end, encoding))
            text = units[:start] + change.text + units[end:]
        else:
            start = slow_offset(text, change.range.start, encoding)
            end = max(start, slow_offset(text, change.range.end, encoding))
            text = text[:start] + change.text + text[end:]
        text = split(text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def split(text: str) -> str:
    """Return the text with two halves for each character that UTF-16 has a pair for."""
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(data[at] + 256 * data[at + 1]) for at in range(0, len(data), 2))


def slow_offset(text: str, position: types.Position, encoding: PositionEncoding) -> int:
    """Return the offset of a position, at most the end of its line or of the text."""
    offset = line = units = 0
    while offset < len(text) and line < position.line:
        is_crlf = text[offset : offset + 2] == "\r\n"
        line += text[offset] in "\r\n"
        offset += 2 if is_crlf else 1
    while offset < len(text) and text[offset] not in "\r\n" and line == position.line:
        units += num_units(text[offset], encoding)
        if units > position.character:
            break
        offset += 1
    return offset


def slow_position(text: str, offset: int, encoding: PositionEncoding) -> types.Position:
    """Return the position of an offset that is not between CR and LF."""
    line = units = at = 0
    while at < offset:
        if text[at] in "\r\n":
            at += 2 if text[at : at + 2] == "\r\n" else 1
            line, units = line + 1, 0
        else:
            units += num_units(text[at], encoding)
            at += 1
    return types.Position(line, units)


def num_units(character: str, encoding: PositionEncoding) -> int:
    code = ord(character)
    match encoding:
        case "utf-8":
            return 1 + (code > 0x7F) + (code > 0x7FF) + (code > 0xFFFF)
        case "utf-16":
            return 1 + (code > 0xFFFF)
        case "utf-32":
            return 1
