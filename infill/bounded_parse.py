"""Runs a tree-sitter parser within a bound of CPU time: on some broken code it would never end.

Comes in: bytes, a grammar, an older tree; goes out: a tree, or None where the bound was reached.
"""

import time

import tree_sitter

SECONDS = 0.1
SECONDS_PER_MEGABYTE = 1.0
CHUNK_BYTES = 32 * 1024


def parse_bounded(
    data: bytes, grammar: tree_sitter.Language, older: tree_sitter.Tree | None = None
) -> tree_sitter.Tree | None:
    """Parse UTF-8 bytes; ten times what good code of that size takes is the most."""
    end = time.thread_time() + SECONDS + SECONDS_PER_MEGABYTE * len(data) / 1e6

    def read(byte: int, _point: tree_sitter.Point) -> bytes:
        return data[byte : byte + CHUNK_BYTES]

    def is_late(_byte: int, _has_error: bool) -> bool:
        return time.thread_time() > end

    parser = tree_sitter.Parser(grammar)
    try:
        if older is None:
            return parser.parse(read, progress_callback=is_late)
        return parser.parse(read, older, progress_callback=is_late)
    except ValueError:  # what the binding raises when the callback has stopped it
        return None
