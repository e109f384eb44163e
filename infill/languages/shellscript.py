"""Shell scripts."""

from intarsia.infill.languages.language import PLAIN_STUB, Grammar, HoleRules, braces

LANGUAGES = (
    braces(
        "shellscript",
        aliases=("bash", "ksh", "sh", "zsh"),
        extensions=(".sh", ".bash", ".zsh", ".ksh"),
        filenames=(".bashrc", ".bash_profile", ".profile", ".zshrc"),
        grammar=Grammar(module="tree_sitter_bash"),
        header=r"(?:^|[\s;])(?:then|do|else)$|^\s*case\s.*\sin$",
        flush_header=r"^\s*case\b",
        ends=("fi", "done", "esac"),
        fence_names=("shell",),
        interpreters=("bash", "zsh", "ksh", "sh"),
        lexer="bash",
        typical=(
            r"^\s*(?:fi|done|esac)$|\bthen$|; do$|\$\{\w+|\"\$\w+\""
            r"|^\s*(?:local|export) \w+="
        ),
        holes=HoleRules(
            query="""
        (function_definition body: (compound_statement) @named) @owner
        (compound_statement) @block
    """,
        ),
        modules="sourced",
        has_bare_variables=True,
        has_bare_values=True,
        stub=PLAIN_STUB,
    ),
)
