"""Writes a definition's header as it is in the text, on one line and without its body."""

import re

from intarsia.workspace.symbols.found import Found, node_text

MAX_SIGNATURE_CHARS = 300
MAX_VALUE_CHARS = 60
MAX_DECORATOR_CHARS = 60

_LINE_AFTER_OPENER = re.compile(r"([(\[])\s*\n\s*")
_LINE_BEFORE_CLOSER = re.compile(r",?\s*\n\s*([)\]])")
_TYPE_MARK = re.compile(r"^(?:->|:(?!:))\s*")
_INFERRED = "auto"  # of C++: the type comes later, or the compiler finds it
_CUT = "..."


def signature_of(one: Found) -> str:
    """Return decorators and header; a value stays if it is short, else three dots replace it.

    What only leads to a body at the end, such as ``{``, ``:`` or ``=>``, is left out.
    """
    names = one.names
    body = one.first("body")
    value = one.first("value") if len(names) == 1 else None
    end = one.node.end_byte
    is_long = False
    if body is not None:
        end = body.start_byte
    elif value is not None:
        is_long = _is_long(node_text(value, one.data))
        end = value.start_byte if is_long else value.end_byte
    header = one_line(_without_hidden(one, end))
    if is_long:
        header = f"{header} {_CUT}"
    else:
        header = _without_opener(header)
        if names[0] not in header:  # typedef struct {...} Name
            header = f"{header} {names[0]}"
    keyword = one.text("keyword")
    parts = [*_decorators(one), f"{keyword} {header}" if keyword else header]
    return shorten(" ".join(parts), MAX_SIGNATURE_CHARS)


def type_of(one: Found) -> str:
    """Return the declared type on one line, without the mark before it."""
    type_name = next((text for text in one.texts("type") if text != _INFERRED), "")
    return shorten(_TYPE_MARK.sub("", one_line(type_name)), MAX_SIGNATURE_CHARS)


def one_line(text: str) -> str:
    """Return a text on one line, as its author would have written it there."""
    if "\n" in text:
        text = _LINE_AFTER_OPENER.sub(r"\1", text)
        text = _LINE_BEFORE_CLOSER.sub(r"\1", text)
    return " ".join(text.split())


def shorten(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - len(_CUT)].rstrip() + _CUT


def _is_long(value: str) -> bool:
    return len(value) > MAX_VALUE_CHARS or "\n" in value


def _without_hidden(one: Found, end: int) -> str:
    """Return the text from the definition's start to a byte, without its hidden parts."""
    kept = []
    at = one.node.start_byte
    for node in one.captures.get("hidden", ()):
        if at <= node.start_byte and node.end_byte <= end:
            kept.append(one.data[at : node.start_byte])
            at = node.end_byte
            while one.data[at : at + 1].isspace():
                at += 1
    kept.append(one.data[at:end])
    return b"".join(kept).decode("utf-8", "replace")


def _without_opener(header: str) -> str:
    for opener in ("=>", "{", ":", "=", ";", ","):
        header = header.removesuffix(opener).rstrip()
    return header


def _decorators(one: Found) -> list[str]:
    return [shorten(one_line(text), MAX_DECORATOR_CHARS) for text in one.texts("decorator")]
