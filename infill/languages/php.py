"""PHP."""

from intarsia.infill.languages.language import Grammar, HoleRules, braces

LANGUAGES = (
    braces(
        "php",
        extensions=(".php", ".phtml"),
        grammar=Grammar(module="tree_sitter_php", function="language_php"),
        header=r"^\s*(?:if|elseif|else|for|foreach|while|switch)\b.*:$",
        interpreters=("php",),
        typical=(r"^<\?php|\$\w+->|\$\w+ = |\bfunction \w*\(.*\$|\$this\b|::\w+\(|\$\w+[,)]"),
        holes=HoleRules(
            query="""
        (function_definition body: (compound_statement) @named) @owner
        (method_declaration body: (compound_statement) @named) @owner
        (anonymous_function body: (compound_statement) @function) @owner
        (compound_statement) @block
    """,
            names=frozenset({"__construct", "__destruct"}),
        ),
        modules="psr_4",
        reach="near",
        type_place="before",
        has_bare_variables=True,
    ),
)
