"""JavaScript and TypeScript, with and without elements of HTML (JSX)."""

from msgspec.structs import replace

from intarsia.infill.languages import (
    TAG_HEADER,
    ImportRules,
    NameRules,
    StubStyle,
    braces,
    places,
    words,
)

_KNOWN = words(
    "AggregateError Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Boolean"
    " DataView Date Error EvalError FinalizationRegistry Float32Array Float64Array Function"
    " Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object"
    " Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol"
    " SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray"
    " WeakMap WeakRef WeakSet arguments async await clearImmediate clearInterval clearTimeout"
    " console decodeURI decodeURIComponent document encodeURI encodeURIComponent escape eval"
    " exports globalThis global isFinite isNaN module parseFloat parseInt queueMicrotask"
    " require self setImmediate setInterval setTimeout structuredClone undefined unescape"
    " window __dirname __filename any bigint boolean never number object string symbol unknown"
    " void this const Awaited Capitalize ConstructorParameters Exclude Extract InstanceType"
    " Iterable IterableIterator Lowercase NonNullable Omit Parameters Partial Pick PromiseLike"
    " Readonly ReadonlyArray ReadonlyMap ReadonlySet Record Required ReturnType"
    " TemplateStringsArray ThisParameterType Uncapitalize Uppercase AsyncIterable"
    " AsyncIterator AsyncGenerator Generator ArrayLike PropertyKey"
)
_NAMES = NameRules(
    known=_KNOWN,
    identifiers=words(
        "identifier type_identifier shorthand_property_identifier"
        " shorthand_property_identifier_pattern"
    ),
    no_uses=words(
        "nested_type_identifier.name export_specifier.name export_specifier.alias"
        " type_predicate.name jsx_namespace_name jsx_attribute"
    ),
    bindings=words(
        "import_clause namespace_import import_specifier.name import_specifier.alias"
        " import_require_clause variable_declarator.name formal_parameters"
        " required_parameter.pattern optional_parameter.pattern arrow_function.parameter"
        " catch_clause.parameter for_in_statement.left function_expression.name class.name"
        " type_parameter.name infer_type mapped_type_clause.name"
    ),
    own_names=places(
        "name",
        "function_declaration generator_function_declaration class_declaration function_signature"
        " abstract_class_declaration enum_declaration type_alias_declaration interface_declaration"
        " internal_module module",
    ),
    patterns=words(
        "object_pattern pair_pattern.value rest_pattern array_pattern assignment_pattern.left"
        " object_assignment_pattern.left"
    ),
    scopes=words(
        "program function_declaration function_expression arrow_function method_definition"
        " generator_function_declaration generator_function class_declaration class"
        " abstract_class_declaration type_alias_declaration interface_declaration call_signature"
        " method_signature abstract_method_signature function_type function_signature"
        " construct_signature constructor_type conditional_type mapped_type_clause statement_block"
        " for_statement for_in_statement catch_clause switch_body"
    ),
    blocks=words("statement_block for_statement for_in_statement catch_clause switch_body"),
    members=places(
        "name",
        "property_signature public_field_definition method_definition method_signature"
        " abstract_method_signature enum_assignment enum_body",
    )
    | {"field_definition.property"},
    member_of=("member_expression", "object"),
    are_exports_marked=True,
)
_HOLES = """
    (function_declaration body: (statement_block) @named) @owner
    (generator_function_declaration body: (statement_block) @named) @owner
    (method_definition body: (statement_block) @named) @owner
    (arrow_function body: (statement_block) @function) @owner
    (function_expression body: (statement_block) @function) @owner
    (statement_block) @block
"""
_IMPORTS = ImportRules(
    style="braces",
    module=r"[@\w.~#$:/+-]+",
    reserved=words(
        "await break case catch class const continue debugger default delete do else enum export"
        " extends false finally for function if implements import in instanceof interface let new"
        " null package private protected public return static super switch this throw true try"
        " typeof var void while with yield arguments eval"
    ),
    are_scoped=True,
    has_require=True,
)
JAVASCRIPT = braces(
    "javascript",
    tags=("script", "module"),
    flush_header=r"\bswitch\b",
    aliases=("js", "node"),
    extensions=(".js", ".mjs", ".cjs"),
    header=TAG_HEADER,
    typical=(
        r"^\s*(?:export )?(?:const|let|var) [\w{\[][^:]*= |=>|[!=]==|\bfunction\b.*\{$"
        r"|^(?:import|export) .*\bfrom ['\"]|\brequire\(['\"]|^export "
    ),
    holes=_HOLES,
    often_empty=("constructor",),
    name_marks="$",
    names=_NAMES,
    imports=_IMPORTS,
    modules="tsconfig",
    stub=StubStyle(indent="  "),
    documentation=("/** ", " */"),
)

_MEMBERS_OF_ALL = words(
    "constructor toString toLocaleString valueOf hasOwnProperty isPrototypeOf"
    " propertyIsEnumerable name length prototype call apply bind"
)
TYPESCRIPT = replace(
    JAVASCRIPT,
    id="typescript",
    aliases=("ts",),
    extensions=(".ts", ".mts", ".cts"),
    grammar="tree_sitter_typescript:language_typescript",
    header=None,
    imports=replace(_IMPORTS, has_require=False),
    library_members={"": _MEMBERS_OF_ALL, "Error": words("name message stack cause")}.get,
    typical=(
        r"^\s*(?:export )?(?:interface|type|enum) \w+|[\w)?\]]: (?:string|number|boolean|void"
        r"|Promise<)"
        r"|^\s*readonly \w+|\bas (?:const|string|any)\b|^import type|\w+\?: \w|: \w+\[\]"
    ),
    dialect_of="javascript",
)

JAVASCRIPT_REACT = replace(
    JAVASCRIPT,
    id="javascriptreact",
    aliases=("jsx",),
    extensions=(".jsx",),
    typical="",
    lexer="javascript",
)
TYPESCRIPT_REACT = replace(
    TYPESCRIPT,
    id="typescriptreact",
    aliases=("tsx",),
    extensions=(".tsx",),
    grammar="tree_sitter_typescript:language_tsx",
    header=TAG_HEADER,
    typical="",
    dialect_of="",
    lexer="typescript",
)
