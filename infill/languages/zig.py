"""Zig."""

from intarsia.infill.languages import braces

ZIG = braces(
    "zig",
    extensions=(".zig", ".zon"),
    ends=(),
    holes="""
        (function_declaration body: (block) @named) @owner
        (block) @block
    """,
    modules="relative_paths",
    has_characters=True,
)
