"""C#."""

from intarsia.infill.languages import NOT_IMPLEMENTED, braces

CSHARP = braces(
    "csharp",
    flush_header=r"\bswitch\b",
    aliases=("cs", "c#"),
    extensions=(".cs", ".csx"),
    grammar="tree_sitter_c_sharp",
    ends=("*/", "#endif", "#endregion"),
    typical=(
        r"^using [\w.]+;$|^namespace [\w.]+|\{ get; |\bvar \w+ = new|\basync Task"
        r"|^\s*(?:public|private|internal)\b.*\)$|\bstring \w+"
    ),
    holes="""
        (method_declaration body: (block) @named) @owner
        (local_function_statement body: (block) @named) @owner
        (constructor_declaration body: (block) @function) @owner
        (accessor_declaration body: (block) @function) @owner
        (lambda_expression body: (block) @function) @owner
        (block) @block
        (arrow_expression_clause (throw_expression) @anywhere)
    """,
    hole_text=NOT_IMPLEMENTED,
    modules="namespace_folders",
    reach="near",
    type_place="before",
    has_characters=True,
    documentation=("/// <summary>", "</summary>"),
)
