"""Shell scripts."""

from intarsia.infill.languages import PLAIN_STUB, braces

SHELLSCRIPT = braces(
    "shellscript",
    aliases=("bash", "ksh", "sh", "shell", "zsh"),
    extensions=(".sh", ".bash", ".zsh", ".ksh"),
    filenames=(".bashrc", ".bash_profile", ".profile", ".zshrc"),
    grammar="tree_sitter_bash",
    header=r"(?:^|[\s;])(?:then|do|else)$|^\s*case\s.*\sin$",
    flush_header=r"^\s*case\b",
    ends=("fi", "done", "esac"),
    lexer="bash",
    typical=(
        r"^\s*(?:fi|done|esac)$|\bthen$|; do$|\$\{\w+|\"\$\w+\""
        r"|^\s*(?:local|export) \w+="
    ),
    holes="""
        (function_definition body: (compound_statement) @named) @owner
        (compound_statement) @block
    """,
    modules="sourced",
    has_bare_variables=True,
    has_bare_values=True,
    stub=PLAIN_STUB,
    documentation=("# ", ""),
)
