"""Rust: its blocks, placeholders, names and imports."""

from intarsia.infill.languages import ImportRules, NameRules, StubStyle, braces, places, words

_KNOWN = words(
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
_NAMES = NameRules(
    known=_KNOWN,
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
    ),
    own_names=places(
        "name",
        "function_item struct_item enum_item union_item trait_item type_item mod_item const_item"
        " static_item macro_definition function_signature_item",
    ),
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
    members=places("name", "field_declaration enum_variant"),
)
_HOLES = """
    (function_item body: (block) @named) @owner
    (closure_expression body: (block) @function) @owner
    (block) @block
    (expression_statement . (macro_invocation) .) @anywhere
    (macro_invocation) @anywhere
"""
_LIBRARY = {
    "std::collections": "BTreeMap BTreeSet BinaryHeap HashMap HashSet VecDeque",
    "std::rc": "Rc",
    "std::cell": "Cell RefCell OnceCell",
    "std::sync": "Arc Mutex RwLock OnceLock Condvar",
    "std::path": "Path PathBuf",
    "std::time": "Duration Instant SystemTime",
    "std::borrow": "Cow",
    "std::marker": "PhantomData",
    "std::ffi": "CStr CString OsStr OsString",
    "std::num": "NonZeroU32 NonZeroU64 NonZeroUsize",
    "std::str": "FromStr",
    "std::ops": "Deref DerefMut",
    "std": "fs io mem env",
}
_IMPORTS = ImportRules(
    style="use",
    module=r"(?:::)?(?:r#)?\w+(?:::(?:r#)?\w+)*",
    reserved=words(
        "_ abstract as async await become box break const continue crate do dyn else enum extern"
        " false final fn for gen if impl in let loop macro match mod move mut override priv pub ref"
        " return self Self static struct super trait true try type typeof unsafe unsized use"
        " virtual where while yield"
    ),
    is_path=True,
    needs_name=True,
    may_name_modules=True,
    standard={name: module for module, names in _LIBRARY.items() for name in names.split()},
)

RUST = braces(
    "rust",
    aliases=("rs",),
    extensions=(".rs",),
    typical=(
        r"\bfn \w+[(<]|\blet (?:mut )?\w+.*;$|^use \w+::|&mut |\bmatch .*\{$|#\[\w+"
        r"|\b(?:Self|crate|Vec)::|^\s*(?:pub(?:\(\w+\))? )?(?:impl|struct|enum|mod|fn)\b|\bOk\("
    ),
    holes=_HOLES,
    hole_text=r"(?s)(?:(?:std|core)::)?(?:todo|unimplemented)!.*",
    names=_NAMES,
    imports=_IMPORTS,
    modules="crates",
    reach="near",
    has_characters=True,
    stub=StubStyle(empty_class_end=";", needs_impl=True),
    documentation=("/// ", ""),
)
