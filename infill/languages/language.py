"""What the other parts ask about a language. Each file beside this one answers it for its own.

These are structs, not dataclasses: their classes are made at once, and an editor waits for that.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

BlockStyle = Literal["indent", "closed", "none"]
"""How a block ends: by indentation, by a closing text at the header's column, or unknown."""

ImportStyle = Literal["from", "braces", "quoted", "dotted", "use"]
"""The form of an import: ``from m import n``, ``import { n } from "m"``, ``import "m"``,
``import m.n;``, ``use m::n;``. ``infill/imports`` and ``workspace/imports`` write it."""

ModuleScheme = Literal[
    "search_path",
    "tsconfig",
    "go_mod",
    "crates",
    "package_folders",
    "namespace_folders",
    "include_folders",
    "lib_folders",
    "dotted_paths",
    "relative_paths",
    "pubspec",
    "snake_case",
    "psr_4",
    "sourced",
]
"""How the files that an import means are found: see ``workspace/modules/resolve.py``."""

Reach = Literal["imports", "folder", "package", "near"]
"""Which files' names a file knows: of imports alone, of its folder too, of its package's folders
too, or of some folders that cannot be told, the nearest first."""

TypePlace = Literal["colon", "blank", "before"]
"""Where a type is written: ``name: Type``, ``name Type`` or ``Type name``."""

NOT_IMPLEMENTED = (
    r"(?s)\s*(?:throw|raise|panic|assert)\b.*?"
    r"(?:NotImplemented|Unimplemented|(?i:\bnot\s+(?:yet\s+)?(?:been\s+)?implemented\b"
    r"|\bnot\s+supported\s+yet\b|\bunimplemented\b|\bto\s+be\s+implemented\b|\bimplement\s+me\b"
    r"|\bto-?do\b)).*"
)
"""A statement such as ``raise NotImplementedError``: a function that holds only this is a hole."""

TAG_HEADER = (
    r"(?:^|\s)<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)"
    r"[A-Za-z][\w:.-]*(?:\s[^<>]*)?(?<!/)>$"
)
"""A line that ends with an opened element of HTML."""


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def places(field: str, types: str) -> frozenset[str]:
    """Return ``TYPE.field`` for each of these types of nodes."""
    return frozenset(f"{one}.{field}" for one in types.split())


class Grammar(Struct, frozen=True, kw_only=True):
    """A tree-sitter grammar: an installed module, and the function that returns it."""

    module: str
    function: str = "language"


class HoleRules(Struct, frozen=True, kw_only=True, eq=False):
    """Which syntax nodes may be holes: a query of tree-sitter's. All its captures are optional.

    - ``@named``: the body of an ``@owner`` with a name; a hole if it is empty.
    - ``@function``: the body of any other ``@owner``; a hole if it says "not implemented".
    - ``@block``: any block; a hole if it holds only a TODO comment.
    - ``@anywhere``: a statement or expression that is a hole wherever it is found.
    - ``@meant``: a body that is empty on purpose.
    """

    query: str
    anywhere: str | None = None  # the pattern of the text that ``@anywhere`` must have
    names: frozenset[str] = frozenset()  # functions that are often empty on purpose


class NameRules(Struct, frozen=True, kw_only=True, eq=False):
    """Which nodes use a name, which bind one, and how far it is seen.

    A place is ``PARENT.FIELD``, the type of a node's parent and the node's field in it, or
    ``PARENT`` where it has no field. ``scopes`` are types of nodes, all else are places.
    """

    known: frozenset[str] = frozenset()  # names that the language has without an import
    are_whole: bool = True  # nothing else may bring a name, as a header does
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
    has_arguments: bool = False  # by the names of parameters, from other files too
    are_exports_marked: bool = False  # other files see only what says so
    export_list: str = ""  # the variable whose strings name what is passed on


class ImportRules(Struct, frozen=True, kw_only=True, eq=False):
    """How imports are written, and what may stand in one: nothing else is added to a file."""

    style: ImportStyle
    module: str  # the pattern of its name
    is_path: bool = False  # a module is made of identifiers
    needs_name: bool = False  # of something in the module
    reserved: frozenset[str]  # words that are no identifiers
    standard: Mapping[str, str] = {}  # what the library has: name, module
    are_scoped: bool = False  # what is imported is bound like other names of the file
    may_name_modules: bool = False  # ``n`` of ``from m import n`` may be a module
    may_bring_any: bool = False  # an import of all names from elsewhere has any name
    may_be_circular: bool = True
    may_be_nested: bool = False  # in a function, and so run later
    has_aliases: bool = True
    has_require: bool = False  # a file may also be a script of CommonJS
    has_directives: bool = False  # strings before the imports, such as "use strict"


class StubStyle(Struct, frozen=True, kw_only=True, eq=False):
    """What ends a header without its body, and what is around the members of a class."""

    indent: str = "    "
    function_end: str = ";"
    class_start: str = " {"
    class_end: str = "}"  # a line after the members; "" where none is needed
    empty_class_end: str = " {}"
    unshown_members: str = " { ... }"  # instead, if the class has members that are left out
    trimmed: str = " \t{;"  # removed from the end of a header as it is written
    are_methods_outside: bool = False  # of the class: their headers name it
    are_decorators_lines: bool = False  # before the header
    needs_impl: bool = False  # methods are in a block of their own


PLAIN_STUB = StubStyle(
    indent="  ",
    function_end="",
    class_start="",
    class_end="",
    empty_class_end="",
    unshown_members="",
    trimmed=" \t",
)
NO_SEMICOLON = StubStyle(function_end="", empty_class_end="")


class Language(Struct, frozen=True, kw_only=True):
    """One language. Its patterns are read against one line of code without its comment."""

    id: str
    aliases: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    declaration_files: tuple[str, ...] = ()  # endings of files where an empty body is no hole
    fence_names: tuple[str, ...] = ()  # other names in Markdown
    interpreters: tuple[str, ...] = ()  # names in ``#!`` lines
    lexer: str = ""  # of Pygments, where it has another name
    typical: str = ""  # the pattern of a line that tells it from other languages
    dialect_of: str = ""  # the language that has all other lines of this one

    grammar: Grammar | None = None
    has_macros: bool = False  # the grammar cannot parse every correct file
    takes_any_text: bool = False  # the grammar finds no error in single brackets and quotes
    is_beyond_grammar: Callable[[str], bool] | None = None  # the text might crash the grammar

    block_style: BlockStyle = "none"
    openers: str = ""  # a line that ends with one of these characters opens a block
    header: str | None = None  # a line above the cursor that opens a block without such a character
    closed_header: str | None = None  # another while the cursor is still at the line's end
    flush_header: str | None = None  # headers that allow their body at their own column
    are_pairs_blocks: bool = False  # "{}" on one line is a block, never a value
    ends: tuple[str, ...] = ()  # lines that may complete what a line began

    holes: HoleRules | None = None  # None: only the user's marks are holes
    has_docstrings: bool = False  # a string that is a statement documents what it is in
    has_fences: bool = False  # of code in other languages
    are_strings_prose: bool = True  # in data and markup they are the content
    has_characters: bool = False  # a single quote begins no string, and may have no partner
    has_bare_variables: bool = False  # in strings, without a bracket
    has_bare_values: bool = False  # without quotes; a short one is likelier a password

    name_marks: str = ""  # in names, besides letters, digits and _
    names: NameRules | None = None
    imports: ImportRules | None = None  # None: no imports can be added
    modules: ModuleScheme | None = None
    reach: Reach = "imports"
    type_place: TypePlace = "colon"
    stub: StubStyle = StubStyle()


BRACES = Language(
    id="", block_style="closed", openers="{", flush_header=r"\bswitch\b", ends=("*/",)
)


def braces(id: str, **fields: Any) -> Language:
    """Return a language with braces; its grammar has its name if none is given."""
    return replace(BRACES, id=id, **{"grammar": Grammar(module=f"tree_sitter_{id}"), **fields})
