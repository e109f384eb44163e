"""Parses texts that arrive on standard input and writes their symbols to standard output.

A grammar is C code and may crash or loop on a strange file. Here this ends one small process,
which its owner starts again without that file. It reads no file and writes none.
"""

import os
import sys
from contextlib import suppress

import msgspec
import psutil

from intarsia.infill.languages import language_for_id
from intarsia.workspace.index.frames import read_frame, to_frame
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.symbols import FileSymbols

LOWEST = 19
LOW = 10
"""For a process that also answers: at the lowest, a busy machine would hardly let it."""


def lower_priority(niceness: int) -> None:
    """Lower this process's share of processor and disk; does what the system allows."""
    process = psutil.Process()
    with suppress(OSError, psutil.Error, AttributeError, ValueError):
        if sys.platform == "win32":
            process.nice(psutil.IDLE_PRIORITY_CLASS)
            process.ionice(psutil.IOPRIO_VERYLOW)
        else:
            os.nice(max(0, niceness - os.nice(0)))
            if hasattr(process, "ionice"):
                process.ionice(psutil.IOPRIO_CLASS_IDLE)


MAX_BYTES = 90_000_000
"""Of memory: trees of large files leave gaps that only a new process is free of."""
MIN_ANSWERS = 100
"""Of a process, since starting one costs half a second."""


class ParseText(msgspec.Struct, frozen=True, kw_only=True):
    """A text to parse."""

    number: int
    text: str
    language_id: str


class TextParsed(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one ``ParseText``; ``symbols`` are None where ``reason`` says why."""

    number: int
    symbols: FileSymbols | None = None
    reason: str = ""
    is_last: bool = False  # the process ends after this answer


def run_parse_worker() -> None:
    """Answer until standard input is closed."""
    lower_priority(LOWEST)
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(2, 1)  # a stray print must not garble the frames
    decode = msgspec.msgpack.Decoder(ParseText).decode
    process, num_answers, is_last = psutil.Process(), 0, False
    while not is_last and (data := read_frame(stdin)) is not None:
        num_answers += 1
        answer = _answer(decode(data))
        is_last = num_answers >= MIN_ANSWERS and process.memory_info().rss > MAX_BYTES
        stdout.write(to_frame(msgspec.structs.replace(answer, is_last=is_last)))
        stdout.flush()


def _answer(request: ParseText) -> TextParsed:
    try:
        symbols = extract_symbols(request.text, language_for_id(request.language_id))
        answer = TextParsed(number=request.number, symbols=symbols)
        to_frame(answer)
    except Exception as error:  # noqa: BLE001  one odd file must not end the process
        reason = f"cannot be parsed ({type(error).__name__})"
        return TextParsed(number=request.number, reason=reason)
    return answer
