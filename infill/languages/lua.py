"""Lua."""

from intarsia.infill.languages import PLAIN_STUB, braces

_HEADER = (
    r"\b(?:then|do|else|repeat)$|\bfunction\b[^()]*\([^()]*\)$|^\s*(?:local\s+)?function\b.*\)$"
)

LUA = braces(
    "lua",
    extensions=(".lua", ".rockspec"),
    header=_HEADER,
    ends=("end", "]]"),
    typical=r"^\s*local (?:function )?\w+|\bthen$|^\s*end,?\)?$|^function [\w.:]+\(|~=",
    holes="""
        (function_declaration) @named @owner
        (function_definition) @function @owner
        [(function_declaration) (function_definition)] @block
    """,
    modules="dotted_paths",
    stub=PLAIN_STUB,
)
