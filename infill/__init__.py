"""From text and cursor to a canvas, and from raw fill to suggestion: pure functions on text.

No I/O, no async, no LSP, no tokens. Offsets are Python string indices (code points).
"""
