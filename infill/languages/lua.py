"""Lua."""

from intarsia.infill.languages.language import PLAIN_STUB, HoleRules, braces

_HEADER = (
    r"\b(?:then|do|else|repeat)$|\bfunction\b[^()]*\([^()]*\)$|^\s*(?:local\s+)?function\b.*\)$"
)

LANGUAGES = (
    braces(
        "lua",
        extensions=(".lua", ".rockspec"),
        header=_HEADER,
        flush_header=None,
        ends=("end", "]]"),
        interpreters=("lua",),
        typical=(r"^\s*local (?:function )?\w+|\bthen$|^\s*end,?\)?$|^function [\w.:]+\(|~="),
        holes=HoleRules(
            query="""
        (function_declaration) @named @owner
        (function_definition) @function @owner
        [(function_declaration) (function_definition)] @block
    """,
        ),
        modules="dotted_paths",
        stub=PLAIN_STUB,
    ),
)
