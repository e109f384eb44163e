"""Kotlin."""

from intarsia.infill.languages import NO_SEMICOLON, braces

KOTLIN = braces(
    "kotlin",
    package=r"package [\w.]+",
    aliases=("kt",),
    extensions=(".kt", ".kts"),
    typical=r"\bfun (?:<.*> )?[\w.]+\(|\bva[lr] \w+(?:: [\w<>?]+)? = |\bwhen \(|^\s*data class",
    holes="""
        (function_declaration (function_body (block) @named)) @owner
        (secondary_constructor (block) @function) @owner
        (block) @block
        (call_expression) @anywhere
    """,
    hole_text=r"(?s)TODO\s*\(.*\)",
    modules="package_folders",
    reach="near",
    has_characters=True,
    has_bare_variables=True,
    stub=NO_SEMICOLON,
)
