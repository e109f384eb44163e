"""The table of nodes that can be cut out as holes: bodies, expressions and arguments by language.

To add a language, add one ``HoleNodes`` row to ``_ROWS``; the language itself is a file of
``infill/languages``. Patterns are in tree-sitter's query language; no grammar is loaded here.
"""

from dataclasses import dataclass, replace
from functools import cache

from intarsia.infill.languages import Language


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleNodes:
    """One language's nodes.

    The captures of ``blocks`` are ``@block`` (the node's children are the statements of a body),
    ``@opener`` (a word that the statements follow) and ``@other`` (a block that is not a body).
    """

    language_ids: tuple[str, ...]
    blocks: str  # patterns
    expressions: str  # names of nodes that are expressions wherever they are found
    # Nodes that are, unless a longer expression or an assignment begins with them.
    members: tuple[str, ...] = ()
    arguments: str = ""  # patterns that capture @arguments, a node with its brackets
    prose: frozenset[str] = frozenset()  # nodes that are not code, besides strings and comments

    @property
    def query(self) -> str:
        """Return one query for all kinds of nodes."""
        nodes = [
            *(f"({name}) @expression" for name in self.expressions.split()),
            *(f"({name}) @member" for name in self.members),
        ]
        return "\n".join([self.blocks, self.arguments, *nodes])


_JAVASCRIPT = HoleNodes(
    language_ids=("javascript", "javascriptreact"),
    blocks="(statement_block) @block",
    expressions="""
        call_expression new_expression await_expression arrow_function binary_expression
        unary_expression ternary_expression subscript_expression array object string template_string
        regex
    """,
    members=("member_expression",),
    arguments="""
        (call_expression arguments: (arguments) @arguments)
        (new_expression arguments: (arguments) @arguments)
    """,
    prose=frozenset({"jsx_text"}),
)
_TYPESCRIPT = replace(
    _JAVASCRIPT,
    language_ids=("typescript",),
    expressions=_JAVASCRIPT.expressions + " as_expression satisfies_expression",
    prose=frozenset(),
)
_C = HoleNodes(
    language_ids=("c",),
    blocks="(compound_statement) @block",
    expressions="""
        call_expression binary_expression unary_expression conditional_expression
        subscript_expression cast_expression pointer_expression sizeof_expression initializer_list
        string_literal
    """,
    members=("field_expression",),
    arguments="(call_expression arguments: (argument_list) @arguments)",
)

_ROWS: tuple[HoleNodes, ...] = (
    HoleNodes(
        language_ids=("python",),
        blocks="(block) @block (class_definition body: (block) @other)",
        expressions="""
            call await lambda subscript conditional_expression binary_operator boolean_operator
            comparison_operator not_operator unary_operator list dictionary set tuple
            list_comprehension dictionary_comprehension set_comprehension generator_expression
            string concatenated_string
        """,
        members=("attribute",),
        arguments="(call arguments: (_) @arguments)",
    ),
    _JAVASCRIPT,
    _TYPESCRIPT,
    replace(_TYPESCRIPT, language_ids=("typescriptreact",), prose=_JAVASCRIPT.prose),
    HoleNodes(
        language_ids=("java",),
        blocks="[(block) (constructor_body)] @block",
        expressions="""
            method_invocation object_creation_expression lambda_expression binary_expression
            unary_expression ternary_expression array_access cast_expression instanceof_expression
            array_initializer string_literal
        """,
        members=("field_access",),
        arguments="""
            (method_invocation arguments: (argument_list) @arguments)
            (object_creation_expression arguments: (argument_list) @arguments)
            (explicit_constructor_invocation arguments: (argument_list) @arguments)
        """,
    ),
    _C,
    replace(
        _C,
        language_ids=("cpp",),
        expressions=_C.expressions + " new_expression lambda_expression raw_string_literal",
        arguments=_C.arguments
        + """
            (new_expression arguments: (argument_list) @arguments)
            (init_declarator value: (argument_list) @arguments)
            (field_initializer (argument_list) @arguments)
        """,
    ),
    HoleNodes(
        language_ids=("csharp",),
        blocks="(block) @block",
        expressions="""
            invocation_expression object_creation_expression await_expression binary_expression
            prefix_unary_expression conditional_expression element_access_expression cast_expression
            is_pattern_expression lambda_expression initializer_expression string_literal
            interpolated_string_expression verbatim_string_literal
        """,
        members=("member_access_expression",),
        arguments="""
            (invocation_expression arguments: (argument_list) @arguments)
            (object_creation_expression arguments: (argument_list) @arguments)
            (constructor_initializer (argument_list) @arguments)
        """,
    ),
    HoleNodes(
        language_ids=("go",),
        blocks="(block) @block",
        expressions="""
            call_expression binary_expression unary_expression index_expression slice_expression
            composite_literal func_literal type_assertion_expression interpreted_string_literal
            raw_string_literal
        """,
        members=("selector_expression",),
        arguments="(call_expression arguments: (argument_list) @arguments)",
    ),
    HoleNodes(
        language_ids=("rust",),
        blocks="(block) @block",
        expressions="""
            call_expression macro_invocation closure_expression await_expression binary_expression
            unary_expression reference_expression try_expression index_expression range_expression
            type_cast_expression struct_expression tuple_expression array_expression string_literal
        """,
        members=("field_expression",),
        arguments="""
            (call_expression arguments: (arguments) @arguments)
            (macro_invocation (token_tree) @arguments)
        """,
    ),
    HoleNodes(
        language_ids=("ruby",),
        blocks="""
            [(body_statement) (block_body) (then) (do) (else) (ensure)] @block
            (class body: (body_statement) @other)
            (module body: (body_statement) @other)
            (singleton_class body: (body_statement) @other)
        """,
        expressions="""
            call binary unary conditional element_reference range lambda array hash string
            string_array symbol_array regex
        """,
        arguments="(call arguments: (argument_list) @arguments)",
        prose=frozenset({"symbol_array", "uninterpreted"}),
    ),
    HoleNodes(
        language_ids=("php",),
        blocks="(compound_statement) @block",
        expressions="""
            function_call_expression member_call_expression scoped_call_expression
            nullsafe_member_call_expression object_creation_expression binary_expression
            unary_op_expression conditional_expression subscript_expression cast_expression
            array_creation_expression arrow_function string encapsed_string
        """,
        members=("member_access_expression",),
        arguments="""
            (function_call_expression arguments: (arguments) @arguments)
            (member_call_expression arguments: (arguments) @arguments)
            (scoped_call_expression arguments: (arguments) @arguments)
            (nullsafe_member_call_expression arguments: (arguments) @arguments)
            (object_creation_expression (arguments) @arguments)
        """,
        prose=frozenset({"text"}),
    ),
    HoleNodes(
        language_ids=("shellscript",),
        blocks="""
            (compound_statement) @block
            (do_group "do" @opener)
            (if_statement "then" @opener)
            (elif_clause "then" @opener)
            (else_clause "else" @opener)
        """,
        expressions="""
            command_substitution process_substitution arithmetic_expansion expansion concatenation
            test_command binary_expression array string raw_string
        """,
    ),
    HoleNodes(
        language_ids=("kotlin",),
        blocks="(block) @block",
        expressions="""
            call_expression binary_expression unary_expression index_expression as_expression
            in_expression is_expression lambda_literal string_literal multiline_string_literal
        """,
        members=("navigation_expression",),
        arguments="(call_expression (value_arguments) @arguments)",
    ),
    HoleNodes(
        language_ids=("swift",),
        blocks="(statements) @block",
        expressions="""
            call_expression additive_expression multiplicative_expression comparison_expression
            equality_expression conjunction_expression disjunction_expression
            nil_coalescing_expression ternary_expression try_expression await_expression
            array_literal dictionary_literal lambda_literal line_string_literal prefix_expression
            as_expression
        """,
        members=("navigation_expression",),
        arguments="(call_suffix (value_arguments) @arguments)",
    ),
    HoleNodes(
        language_ids=("scala",),
        blocks="(block) @block",
        expressions="""
            call_expression infix_expression prefix_expression instance_expression lambda_expression
            tuple_expression generic_function string interpolated_string_expression
        """,
        members=("field_expression",),
        arguments="""
            (call_expression arguments: (arguments) @arguments)
            (instance_expression arguments: (arguments) @arguments)
        """,
    ),
    HoleNodes(
        language_ids=("dart",),
        blocks="(block) @block",
        # The grammar reads "a && b ? c : d" as "a && (b ? c : d)", so neither is here.
        expressions="""
            additive_expression multiplicative_expression relational_expression equality_expression
            if_null_expression await_expression function_expression list_literal set_or_map_literal
            string_literal
        """,
        arguments="(argument_part (arguments) @arguments)",
    ),
    HoleNodes(
        language_ids=("zig",),
        blocks="(block) @block",
        expressions="""
            call_expression binary_expression unary_expression index_expression builtin_function
            struct_initializer try_expression catch_expression anonymous_struct_initializer string
            range_expression
        """,
        members=("field_expression",),
        arguments="(builtin_function (arguments) @arguments)",
    ),
    HoleNodes(
        language_ids=("lua",),
        blocks="(block) @block",
        expressions="""
            function_call binary_expression unary_expression function_definition
            bracket_index_expression table_constructor string
        """,
        members=("dot_index_expression",),
        arguments="(function_call arguments: (arguments) @arguments)",
    ),
    HoleNodes(
        language_ids=("elixir",),
        blocks="""
            (call
              target: (identifier) @_keyword
              (do_block "do" @opener)
              (#not-match? @_keyword "^(defmodule|defprotocol|defimpl)$"))
        """,
        expressions="binary_operator access_call anonymous_function list map tuple string sigil",
        arguments='(call target: (dot) (arguments . "(") @arguments)',
    ),
)


def hole_nodes(language: Language) -> HoleNodes | None:
    """Return the row of a language; None if only its lines give holes."""
    return _rows_by_id().get(language.id)


@cache
def _rows_by_id() -> dict[str, HoleNodes]:
    return {name: row for row in _ROWS for name in row.language_ids}
