"""From text and cursor to a canvas, and from raw fill to suggestion: pure functions on text.

A request passes through ``holes`` (what to fill), ``canvas`` (what the model sees), the engine, and
``postprocess`` (what is left of its text). ``syntax`` parses; ``filling`` joins the steps.
``next_edit`` finds what an edit has left to change. Only these two know the engine's messages. No
I/O, no LSP and no tokenizer anywhere in here.
Offsets are Python string indices (code points).
"""
