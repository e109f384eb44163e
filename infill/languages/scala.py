"""Scala."""

from msgspec.structs import replace

from intarsia.infill.languages import NO_SEMICOLON, braces

SCALA = braces(
    "scala",
    extensions=(".scala", ".sc", ".sbt"),
    holes="""
        (function_definition body: (block) @named) @owner
        (block) @block
        (operator_identifier) @anywhere
    """,
    hole_text=r"\?\?\?",
    modules="package_folders",
    reach="near",
    has_characters=True,
    has_bare_variables=True,
    stub=replace(NO_SEMICOLON, indent="  "),
)
