"""Parses texts that arrive on standard input and writes their symbols to standard output.

A grammar is C code and may crash or loop on a strange file. Here this ends one small process,
which its owner starts again without that file. It reads no file and writes none.
"""

import os
import sys

import msgspec

from intarsia.infill.languages import language_for_id
from intarsia.workspace.index.frames import FrameError, read_frame, to_frame
from intarsia.workspace.index.parsed_file import ParsedFile, parse_text
from intarsia.workspace.index.priority import LOWEST, lower_priority


class ParseText(msgspec.Struct, frozen=True, kw_only=True):
    """A text to parse."""

    number: int
    text: str
    language_id: str


class TextParsed(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one ``ParseText``; ``parsed`` is None where ``reason`` says why."""

    number: int
    parsed: ParsedFile | None = None
    reason: str = ""


def run_parse_worker() -> None:
    """Answer until standard input is closed."""
    lower_priority(LOWEST)
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(2, 1)  # a stray print must not garble the frames
    decode = msgspec.msgpack.Decoder(ParseText).decode
    while (data := read_frame(stdin)) is not None:
        stdout.write(_answer(decode(data)))
        stdout.flush()


def _answer(request: ParseText) -> bytes:
    try:
        parsed = parse_text(request.text, language_for_id(request.language_id))
        return to_frame(TextParsed(number=request.number, parsed=parsed))
    except (ArithmeticError, FrameError, LookupError, MemoryError, RecursionError) as error:
        return _failure(request, error)
    except (AssertionError, AttributeError, TypeError, ValueError) as error:
        return _failure(request, error)


def _failure(request: ParseText, error: Exception) -> bytes:
    reason = f"cannot be parsed ({type(error).__name__})"
    return to_frame(TextParsed(number=request.number, reason=reason))
