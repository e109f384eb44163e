"""PHP."""

from intarsia.infill.languages import braces

PHP = braces(
    "php",
    flush_header=r"\bswitch\b",
    extensions=(".php", ".phtml"),
    grammar="tree_sitter_php:language_php",
    package=r"namespace [\w\\]+;",
    header=r"^\s*(?:if|elseif|else|for|foreach|while|switch)\b.*:$",
    typical=r"^<\?php|\$\w+->|\$\w+ = |\bfunction \w*\(.*\$|\$this\b|::\w+\(|\$\w+[,)]",
    holes="""
        (function_definition body: (compound_statement) @named) @owner
        (method_declaration body: (compound_statement) @named) @owner
        (anonymous_function body: (compound_statement) @function) @owner
        (compound_statement) @block
    """,
    often_empty=("__construct", "__destruct"),
    modules="psr_4",
    reach="near",
    type_place="before",
    has_bare_variables=True,
    documentation=("/** ", " */"),
)
