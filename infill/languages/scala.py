"""Scala."""

from msgspec.structs import replace

from intarsia.infill.languages.language import NO_SEMICOLON, HoleRules, braces

LANGUAGES = (
    braces(
        "scala",
        extensions=(".scala", ".sc", ".sbt"),
        flush_header=None,
        holes=HoleRules(
            query="""
        (function_definition body: (block) @named) @owner
        (block) @block
        (operator_identifier) @anywhere
    """,
            anywhere=(r"\?\?\?"),
        ),
        modules="package_folders",
        reach="near",
        has_characters=True,
        has_bare_variables=True,
        stub=replace(NO_SEMICOLON, indent="  "),
    ),
)
