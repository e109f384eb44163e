"""Dart."""

from intarsia.infill.languages import StubStyle, braces

DART = braces(
    "dart",
    extensions=(".dart",),
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
