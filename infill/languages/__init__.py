"""The known languages, each in a file here that nothing else names. Any other file is plain text.

To add one, write its file: each public ``Language`` in it is a known one. A query in
``workspace/symbols/queries`` finds what its files define and import, and a row in
``research/holes/node_table.py`` lets it be evaluated.

An editor waits for the server to start. So the files are loaded when the first language is asked
for, grammars later, and what is said of a language are structs: their classes are made at once.
"""

from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib import import_module
from pathlib import PurePath
from pkgutil import iter_modules
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

BlockStyle = Literal["indent", "closed", "none"]
"""How a block ends: by indentation, by a closing text at the header's column, or unknown."""

ImportStyle = Literal["from", "braces", "quoted", "dotted", "use"]
"""The form of an import: ``from m import n``, ``import { n } from "m"``, ``import "m"``,
``import m.n;``, ``use m::n;``. ``infill/imports`` and ``workspace/imports`` write it."""

Embeds = Literal["", "fences", "scripts"]
"""Where code in other languages is: in fences of Markdown, or in ``<script>`` and ``<style>``."""

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


STRINGS = words(
    "ansi_c_string char_literal character character_literal charlist double_quote_scalar"
    " encapsed_string heredoc heredoc_body interpolated_string interpolated_string_expression"
    " interpreted_string_literal line_string_literal multi_line_string_literal multiline_string"
    " multiline_string_literal nowdoc_string raw_string raw_string_literal regex regex_literal"
    " sigil single_quote_scalar string string_array string_literal string_value template_string"
    " verbatim_string_literal"
)
INTERPOLATIONS = words(
    "command_substitution expansion interpolated_expression interpolation raw_str_interpolation"
    " string_interpolation template_substitution"
)
COMMENTS = words(
    "block_comment comment documentation_comment html_comment js_comment line_comment marginalia"
    " multiline_comment xml_comment"
)
"""Types of nodes, as grammars usually name them."""


class NameRules(Struct, frozen=True, kw_only=True, eq=False):
    """Which nodes use a name, which bind one, and how far it is seen.

    A place is ``PARENT.FIELD``, the type of a node's parent and the node's field in it, or
    ``PARENT`` where it has no field. ``scopes`` are types of nodes, all else are places.
    """

    known: frozenset[str] = frozenset()  # names that the language has without an import
    identifiers: frozenset[str]  # types of nodes that are names
    no_uses: frozenset[str] = frozenset()  # places where a name means no variable
    only_uses: frozenset[str] | None = None  # places where a name may be imported; None: all
    bindings: frozenset[str]  # places that bind a name
    own_names: frozenset[str] = frozenset()  # others, which bind it around their own node
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


class StubStyle(Struct, frozen=True, kw_only=True, eq=False):
    """The end of a header without its body, and the brackets around the members of a class."""

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
    aliases: tuple[str, ...] = ()  # of editors, in Markdown and in ``#!`` lines
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    declaration_files: tuple[str, ...] = ()  # endings of files where an empty body is no hole
    lexer: str = ""  # of Pygments, where it has another name
    typical: str = ""  # the pattern of a line that tells it from other languages
    dialect_of: str = ""  # the language that has all other lines of this one

    grammar: str = ""  # of tree-sitter: an installed module, ":", the function if not "language"
    has_macros: bool = False  # the grammar cannot parse every correct file
    takes_any_text: bool = False  # the grammar finds no error in single brackets and quotes
    is_beyond_grammar: Callable[[str], bool] | None = None  # the text might crash the grammar
    strings: frozenset[str] = STRINGS  # types of the grammar's nodes
    interpolations: frozenset[str] = INTERPOLATIONS
    comments: frozenset[str] = COMMENTS

    block_style: BlockStyle = "none"
    openers: str = ""  # a line that ends with one of these characters opens a block
    header: str | None = None  # a line above the cursor that opens a block without such a character
    closed_header: str | None = None  # another while the cursor is still at the line's end
    flush_header: str | None = None  # headers that allow their body at their own column
    are_pairs_blocks: bool = False  # "{}" on one line is a block, never a value
    ends: tuple[str, ...] = ()  # lines that may complete what a line began
    package: str | None = None  # a file's one line that no other code is above
    once: str | None = None  # a line that a file has only once
    has_clauses: bool = False  # a statement's clauses are lines in a fixed order
    stray: tuple[tuple[str, str], ...] = ()
    """Nodes that the grammar takes anywhere, each with the one that may hold it."""

    holes: str = ""  # the query of nodes that may be holes: see ``infill/holes/find_holes.py``
    hole_text: str | None = None  # the pattern of what is a hole anywhere
    often_empty: tuple[str, ...] = ()  # functions without a body on purpose
    documentation: tuple[str, str] | None = None  # around a comment above; {name}: of the function
    has_docstrings: bool = False  # a string that is a statement documents what it is in
    embeds: Embeds = ""
    tags: tuple[str, ...] = ()  # of HTML whose code is in this language, if they do not say which
    are_strings_prose: bool = True  # in data and markup they are the content
    has_characters: bool = False  # a single quote begins no string, and may have no partner
    has_bare_variables: bool = False  # in strings, without a bracket
    has_bare_values: bool = False  # without quotes; a short one is likelier a password

    name_marks: str = ""  # in names, besides letters, digits and _
    names: NameRules | None = None
    local_names: NameRules | None = None  # instead, where a header may bring any name
    imports: ImportRules | None = None  # None: no imports can be added
    modules: str = ""  # how those of an import are found: see ``workspace/modules/resolve.py``
    reach: Reach = "imports"
    type_place: TypePlace = "colon"
    library_members: Callable[[str], Collection[str] | None] | None = None
    """Returns the members of a class of the standard library; of "", those of all classes."""
    are_members_listed_whole: bool = False
    """By language servers after a dot, though pyright calls each first list incomplete."""
    stub: StubStyle = StubStyle()


_BRACES = Language(id="", block_style="closed", openers="{", ends=("*/",))


def braces(id: str, **fields: Any) -> Language:
    """Return a language with braces; grammar and files have its name if nothing else is given."""
    named = {"grammar": f"tree_sitter_{id}", "extensions": (f".{id}",)}
    return replace(_BRACES, id=id, **{**named, **fields})


PLAIN_TEXT = Language(id="plaintext", lexer="text")


@cache
def all_languages() -> tuple[Language, ...]:
    """Return all languages, in the order of their files."""
    files = (import_module(f"{__name__}.{file.name}") for file in iter_modules(__path__))
    public = (it for file in files for name, it in vars(file).items() if name[0] != "_")
    return tuple(it for it in public if isinstance(it, Language))


def language_for_id(language_id: str) -> Language:
    """Return the language of an LSP language id or of an alias, else plain text."""
    return _by_id().get(language_id.lower(), PLAIN_TEXT)


def language_of_tag(name: str) -> Language:
    """Return the language of the code in an HTML tag, or of a script's type; else plain text."""
    return next((one for one in all_languages() if name in one.tags), language_for_id(name))


def language_for_path(path: str) -> Language:
    """Return the language of a file's name or extension, else plain text."""
    name = PurePath(path).name
    known = _by_file_name()
    return known.get(name) or known.get(PurePath(name).suffix.lower(), PLAIN_TEXT)


def language_for(language_id: str, path: str) -> Language:
    """Return the language of the id, else of the path: an editor may not know the language."""
    named = language_for_id(language_id)
    return language_for_path(path) if named is PLAIN_TEXT else named


@cache
def _by_id() -> dict[str, Language]:
    return {name: one for one in all_languages() for name in (one.id, *one.aliases)}


@cache
def _by_file_name() -> dict[str, Language]:
    return {name: one for one in all_languages() for name in (*one.extensions, *one.filenames)}
