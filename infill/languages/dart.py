"""Dart."""

from intarsia.infill.languages import StubStyle, braces

DART = braces(
    "dart",
    flush_header=r"\bswitch\b",
    holes="""
        ((function_signature) @owner . (function_body (block) @named))
        ((method_signature (_) @owner) . (function_body (block) @named))
        (block) @block
    """,
    modules="pubspec",
    reach="near",
    type_place="before",
    has_bare_variables=True,
    stub=StubStyle(indent="  "),
)
