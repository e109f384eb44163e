"""Zig."""

from intarsia.infill.languages.language import HoleRules, braces

LANGUAGES = (
    braces(
        "zig",
        extensions=(".zig", ".zon"),
        flush_header=None,
        ends=(),
        holes=HoleRules(
            query="""
        (function_declaration body: (block) @named) @owner
        (block) @block
    """,
        ),
        modules="relative_paths",
        has_characters=True,
    ),
)
