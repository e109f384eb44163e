"""Swift."""

from intarsia.infill.languages import NO_SEMICOLON, braces

SWIFT = braces(
    "swift",
    flush_header=r"\bswitch\b",
    ends=("*/", "#endif"),
    typical=(
        r"\bfunc \w+[(<].*\{$|\bguard let|^import [A-Z]\w+$|-> \w+ \{$|\bvar \w+: \w+"
        r"|\blet \w+(?:: [\w\[\]?]+)? = [^;]*$|\bself\.\w+ = [^:;]*$"
    ),
    holes="""
        (function_declaration body: (function_body) @named) @owner
        (init_declaration body: (function_body) @function) @owner
        (function_body) @block
    """,
    reach="near",
    has_characters=True,
    stub=NO_SEMICOLON,
)
