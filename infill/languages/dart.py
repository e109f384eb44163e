"""Dart."""

from intarsia.infill.languages import StubStyle, braces

DART = braces(
    "dart",
    flush_header=r"\bswitch\b",
    holes="""
        (function_body (block) @named) @owner
        (block) @block
    """,
    modules="pubspec",
    reach="near",
    type_place="before",
    has_bare_variables=True,
    stub=StubStyle(indent="  "),
)
