"""For each language: which nodes of its grammar use a name, which bind one, and how far it is seen.

A place is ``PARENT.FIELD``, the type of a node's parent and the node's field in it, or ``PARENT``
where it has no field. Names that only browsers know are not among those that JavaScript has:
projects also import such.
"""

import builtins
from collections.abc import Mapping
from dataclasses import dataclass

from intarsia.infill.languages import ECMASCRIPT_IDS


@dataclass(frozen=True, kw_only=True, slots=True)
class NameRules:
    """The rules of one language. ``scopes`` are types of nodes, all else are places."""

    known: frozenset[str]  # names that the language has without an import
    identifiers: frozenset[str]  # types of nodes that are names
    no_uses: frozenset[str] = frozenset()  # places where a name means no variable
    only_uses: frozenset[str] | None = None  # places where a name may be imported; None: all
    bindings: frozenset[str]  # places that bind a name
    own_names: frozenset[str] = frozenset()  # bindings that are seen around their own node
    patterns: frozenset[str] = frozenset()  # places that pass a binding on to what is in them
    first_only: frozenset[str] = frozenset()  # types that count by their first name
    scopes: frozenset[str]
    blocks: frozenset[str] = frozenset()  # scopes that JavaScript's ``var`` leaves
    member_of: tuple[str, str] | None = None  # type and field of ``object.member``
    members: frozenset[str] = frozenset()  # places that declare a member, and bind no variable


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _fields(field: str, types: str) -> frozenset[str]:
    return frozenset(f"{one}.{field}" for one in types.split())


_PYTHON_NAMES = frozenset(dir(builtins)) | words(
    "__name__ __file__ __doc__ __path__ __spec__ __package__ __loader__ __builtins__"
    " __annotations__ __class__ __module__ __qualname__ reveal_type self cls _"
)

_ECMASCRIPT_NAMES = words(
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

_GO_NAMES = words(
    "any append bool byte cap clear close comparable complex complex128 complex64 copy delete"
    " error false float32 float64 imag int int16 int32 int64 int8 iota len make max min new nil"
    " panic print println real recover rune string true uint uint16 uint32 uint64 uint8 uintptr"
    " _"
)

_JAVA_NAMES = words(
    "AbstractMethodError Appendable ArithmeticException ArrayIndexOutOfBoundsException"
    " ArrayStoreException AssertionError AutoCloseable Boolean Byte CharSequence Character Class"
    " ClassCastException ClassLoader ClassNotFoundException CloneNotSupportedException Cloneable"
    " Comparable Deprecated Double Enum Error Exception ExceptionInInitializerError Float"
    " FunctionalInterface IllegalAccessError IllegalAccessException IllegalArgumentException"
    " IllegalMonitorStateException IllegalStateException IllegalThreadStateException"
    " IndexOutOfBoundsException InheritableThreadLocal InstantiationException Integer"
    " InternalError InterruptedException Iterable LinkageError Long Math ModuleLayer"
    " NegativeArraySizeException NoClassDefFoundError NoSuchFieldError NoSuchFieldException"
    " NoSuchMethodError NoSuchMethodException NullPointerException Number NumberFormatException"
    " Object OutOfMemoryError Override Package Process ProcessBuilder ProcessHandle Readable"
    " Record ReflectiveOperationException Runnable Runtime RuntimeException SafeVarargs"
    " SecurityException SecurityManager Short StackOverflowError StackTraceElement StackWalker"
    " StrictMath String StringBuffer StringBuilder StringIndexOutOfBoundsException"
    " SuppressWarnings System Thread ThreadDeath ThreadGroup ThreadLocal Throwable"
    " TypeNotPresentException UnsupportedClassVersionError UnsupportedOperationException"
    " VerifyError VirtualMachineError Void var this super"
)

_RUST_NAMES = words(
    "AsMut AsRef Box Clone Copy Debug Default DoubleEndedIterator Drop Eq Err"
    " ExactSizeIterator Extend Fn FnMut FnOnce From FromIterator Hash Into IntoIterator Iterator"
    " None Ok Option Ord PartialEq PartialOrd Result Self Send Sized Some String Sync ToOwned"
    " ToString TryFrom TryInto Unpin Vec _ alloc assert assert_eq assert_ne bool cfg char column"
    " compile_error concat core crate dbg debug_assert debug_assert_eq debug_assert_ne drop env"
    " eprint eprintln f32 f64 file format format_args i128 i16 i32 i64 i8 include include_bytes"
    " include_str isize line macro_rules matches module_path option_env panic print println self"
    " std str stringify super thread_local todo u128 u16 u32 u64 u8 unimplemented unreachable"
    " usize vec write writeln"
)

_PYTHON = NameRules(
    known=_PYTHON_NAMES,
    identifiers=words("identifier"),
    no_uses=words(
        "attribute.attribute keyword_argument.name keyword_pattern global_statement"
        " nonlocal_statement import_from_statement.module_name"
    ),
    bindings=words(
        "assignment.left for_statement.left for_in_clause.left named_expression.name"
        " as_pattern_target as_pattern aliased_import.alias import_statement.name"
        " import_from_statement.name parameters lambda_parameters typed_parameter"
        " default_parameter.name typed_default_parameter.name case_pattern keyword_pattern"
        " splat_pattern global_statement nonlocal_statement function_definition.type_parameters"
        " class_definition.type_parameters type_alias_statement.left"
    )
    | _fields("name", "function_definition class_definition"),
    own_names=_fields("name", "function_definition class_definition"),
    patterns=words(
        "pattern_list tuple_pattern list_pattern list_splat_pattern dictionary_splat_pattern tuple"
        " list dotted_name type type_parameter generic_type"
    ),
    first_only=words("dotted_name"),
    scopes=words(
        "module function_definition class_definition lambda list_comprehension set_comprehension"
        " dictionary_comprehension generator_expression"
    ),
    member_of=("attribute", "object"),
)

_ECMASCRIPT_NAMED = (
    "function_declaration generator_function_declaration class_declaration function_signature"
    " abstract_class_declaration enum_declaration type_alias_declaration interface_declaration"
    " internal_module module"
)
_ECMASCRIPT = NameRules(
    known=_ECMASCRIPT_NAMES,
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
    )
    | _fields("name", _ECMASCRIPT_NAMED),
    own_names=_fields("name", _ECMASCRIPT_NAMED),
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
    members=_fields(
        "name",
        "property_signature public_field_definition method_definition method_signature"
        " abstract_method_signature enum_assignment enum_body",
    )
    | {"field_definition.property"},
    member_of=("member_expression", "object"),
)

_GO = NameRules(
    known=_GO_NAMES,
    identifiers=words("identifier package_identifier type_identifier"),
    only_uses=words("selector_expression.operand qualified_type.package"),
    bindings=words(
        "parameter_declaration.name variadic_parameter_declaration.name short_var_declaration.left"
        " range_clause.left type_switch_statement.alias var_spec.name const_spec.name"
        " receive_statement.left function_declaration.name type_spec.name type_alias.name"
        " type_parameter_declaration.name import_spec.name"
    ),
    own_names=words("function_declaration.name"),
    patterns=words("expression_list"),
    scopes=words(
        "source_file function_declaration method_declaration func_literal block if_statement"
        " for_statement expression_switch_statement type_switch_statement expression_case"
        " default_case type_case communication_case select_statement"
    ),
    member_of=("selector_expression", "operand"),
    members=_fields("name", "field_declaration method_declaration method_elem"),
)

_JAVA_NAMED = (
    "class_declaration interface_declaration enum_declaration record_declaration"
    " annotation_type_declaration method_declaration"
)
_JAVA = NameRules(
    known=_JAVA_NAMES,
    identifiers=words("identifier type_identifier"),
    no_uses=words(
        "package_declaration scoped_identifier.name scoped_identifier.scope switch_label"
        " element_value_pair.key"
    ),
    bindings=words(
        "type_parameter variable_declarator.name formal_parameter.name catch_formal_parameter.name"
        " resource.name enhanced_for_statement.name lambda_expression.parameters"
        " inferred_parameters instanceof_expression.name enum_constant.name import_declaration"
        " type_pattern record_pattern_component"
    )
    | _fields("name", _JAVA_NAMED),
    own_names=_fields("name", _JAVA_NAMED),
    patterns=words("scoped_identifier.name"),
    first_only=words("scoped_type_identifier method_reference"),
    scopes=words(
        "program class_declaration interface_declaration enum_declaration record_declaration"
        " annotation_type_declaration method_declaration constructor_declaration block"
        " lambda_expression for_statement enhanced_for_statement try_with_resources_statement"
        " catch_clause"
    ),
    member_of=("field_access", "object"),
)

_RUST_NAMED = (
    "function_item struct_item enum_item union_item trait_item type_item mod_item const_item"
    " static_item macro_definition function_signature_item"
)
_RUST = NameRules(
    known=_RUST_NAMES,
    identifiers=words("identifier type_identifier shorthand_field_identifier"),
    no_uses=words(
        "scoped_identifier.name scoped_type_identifier.name attribute attribute.path lifetime"
        " enum_variant.name type_binding.name"
    ),
    bindings=words(
        "let_declaration.pattern parameter.pattern parameters closure_parameters"
        " for_expression.pattern match_pattern let_condition.pattern type_parameter.name"
        " const_parameter.name associated_type.name use_declaration.argument use_as_clause.alias"
        " extern_crate_declaration.name extern_crate_declaration.alias"
    )
    | _fields("name", _RUST_NAMED),
    own_names=_fields("name", _RUST_NAMED),
    patterns=words(
        "tuple_pattern tuple_struct_pattern field_pattern.name field_pattern.pattern struct_pattern"
        " captured_pattern ref_pattern mut_pattern reference_pattern slice_pattern or_pattern"
        " parameter.pattern scoped_identifier.name use_list scoped_use_list.list"
        " scoped_use_list.path"
    ),
    scopes=words(
        "source_file function_item function_signature_item block closure_expression match_arm"
        " for_expression if_expression while_expression impl_item trait_item struct_item enum_item"
        " union_item type_item mod_item"
    ),
    members=_fields("name", "field_declaration enum_variant"),
)

_C = NameRules(
    known=frozenset(),
    identifiers=words("identifier type_identifier"),
    no_uses=words("struct_specifier.name union_specifier.name enum_specifier.name"),
    bindings=words("enumerator.name preproc_def.name preproc_function_def.name")
    | _fields(
        "declarator", "function_definition declaration parameter_declaration type_definition"
    ),
    own_names=_fields("declarator", "function_definition declaration"),
    patterns=_fields(
        "declarator", "function_declarator init_declarator pointer_declarator array_declarator"
    )
    | {"parenthesized_declarator"},
    scopes=words(
        "translation_unit function_definition declaration compound_statement for_statement"
    ),
    members=words("field_declaration.declarator"),
)

RULES: Mapping[str, NameRules] = {
    "python": _PYTHON,
    **dict.fromkeys(ECMASCRIPT_IDS, _ECMASCRIPT),
    "go": _GO,
    "java": _JAVA,
    "rust": _RUST,
}
"""By the language's id."""

SCOPE_RULES: Mapping[str, NameRules] = {**RULES, "c": _C}
"""Of these languages the uses of a name are found; C has no imports to add."""
