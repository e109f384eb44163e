"""Dart."""

from intarsia.infill.languages.language import HoleRules, StubStyle, braces

LANGUAGES = (
    braces(
        "dart",
        extensions=(".dart",),
        holes=HoleRules(
            query="""
        (function_body (block) @named) @owner
        (block) @block
    """,
        ),
        modules="pubspec",
        reach="near",
        type_place="before",
        has_bare_variables=True,
        stub=StubStyle(indent="  "),
    ),
)
