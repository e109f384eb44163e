"""C and C++."""

from msgspec.structs import replace

from intarsia.infill.languages import NameRules, braces, places, words

_NAMES = NameRules(
    identifiers=words("identifier type_identifier"),
    no_uses=words("struct_specifier.name union_specifier.name enum_specifier.name"),
    bindings=words("enumerator.name preproc_def.name preproc_function_def.name")
    | places("declarator", "function_definition declaration parameter_declaration type_definition"),
    own_names=places("declarator", "function_definition declaration"),
    patterns=places(
        "declarator", "function_declarator init_declarator pointer_declarator array_declarator"
    )
    | {"parenthesized_declarator"},
    scopes=words(
        "translation_unit function_definition declaration compound_statement for_statement"
    ),
    members=words("field_declaration.declarator"),
)
_HOLES = """
    (function_definition type: (_) body: (compound_statement) @named) @owner
    (function_definition body: (compound_statement) @function) @owner
    (compound_statement) @block
"""

C = braces(
    "c",
    flush_header=r"\bswitch\b|\bextern\s+\"C\"",
    ends=("*/", "#endif"),
    has_macros=True,
    holes=_HOLES,
    local_names=_NAMES,
    modules="include_folders",
    reach="near",
    type_place="before",
    has_characters=True,
    documentation=("/** ", " */"),
)
CPP = replace(
    C,
    id="cpp",
    aliases=("c++", "cuda-cpp"),
    # A .h may hold either; the C++ grammar reads C, and not the other way round.
    extensions=(".cpp", ".cc", ".cxx", ".h", ".hpp", ".hh", ".hxx", ".ipp", ".cu", ".cuh"),
    grammar="tree_sitter_cpp",
    flush_header=r"\b(?:switch|namespace|class|struct)\b|\bextern\s+\"C\"",
    typical=(
        r"^#\s*(?:include [<\"][\w/.]+[>\"]|define|ifn?def|endif)|\b\w+->\w+|^typedef struct"
        r"|^(?:static |const |unsigned )*(?:int|char|void|size_t|struct \w+) \*?\w+\(|\bstd::"
        r"|^\s*template ?<|^\s*namespace\b|^\s*(?:public|private):$"
        r"|\bauto[&*]? \w+ = |^\w+::\w+\("
    ),
    holes=_HOLES + "(lambda_expression body: (compound_statement) @function) @owner",
    local_names=None,
)
