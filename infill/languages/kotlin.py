"""Kotlin."""

from intarsia.infill.languages.language import NO_SEMICOLON, HoleRules, braces

LANGUAGES = (
    braces(
        "kotlin",
        aliases=("kt",),
        extensions=(".kt", ".kts"),
        flush_header=None,
        typical=(
            r"\bfun (?:<.*> )?[\w.]+\(|\bva[lr] \w+(?:: [\w<>?]+)? = |\bwhen \(|^\s*data class"
        ),
        holes=HoleRules(
            query="""
        (function_declaration (function_body (block) @named)) @owner
        (secondary_constructor (block) @function) @owner
        (block) @block
        (call_expression) @anywhere
    """,
            anywhere=(r"(?s)TODO\s*\(.*\)"),
        ),
        modules="package_folders",
        reach="near",
        has_characters=True,
        has_bare_variables=True,
        stub=NO_SEMICOLON,
    ),
)
