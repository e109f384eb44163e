"""Python: its blocks, placeholders, names and imports."""

import builtins
import collections.abc
import contextlib
import enum
import keyword
import re
import typing
from collections.abc import Collection, Mapping
from functools import cache

from intarsia.infill.languages import ImportRules, Language, NameRules, StubStyle, places, words

_HEADER = (
    r"^\s*(?:async\s+)?(?:def|class|if|elif|else|for|while|with|try|except|finally|match|case)"
    r"\b.*:$"
)
_KNOWN = frozenset(dir(builtins)) | words(
    "__name__ __file__ __doc__ __path__ __spec__ __package__ __loader__ __builtins__"
    " __annotations__ __class__ __module__ __qualname__ reveal_type self cls _"
)
_NAMES = NameRules(
    known=_KNOWN,
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
    ),
    own_names=places("name", "function_definition class_definition"),
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
    has_arguments=True,
    export_list="__all__",
)


_LIBRARY = (builtins, collections, collections.abc, contextlib, enum, typing)
_NOT_CLASSES: Mapping[str, Collection[str]] = {
    "ABC": (),
    "NamedTuple": dir(tuple),
    "TypedDict": dir(dict),
}
_OF_NAMED_TUPLES = ("_asdict", "_replace", "_make", "_fields", "_field_defaults")


@cache
def _library_members(name: str) -> Collection[str] | None:
    if not name:
        return (*dir(type), "__dict__", "__annotations__", "__slots__")
    found = (getattr(library, name, None) for library in _LIBRARY)
    value = next((it for it in found if isinstance(it, type)), None)
    if value is None:
        of_tuple = _OF_NAMED_TUPLES if name == "NamedTuple" else ()
        return (*_NOT_CLASSES[name], *of_tuple) if name in _NOT_CLASSES else None
    of_enum = ("name", "value") if isinstance(value, enum.EnumMeta) else ()
    return (*of_enum, *(it for it in dir(value) if it.startswith("__") or not it.startswith("_")))


_HOLES = """
    (function_definition body: (block) @named) @owner
    (block) @block
    (expression_statement . (ellipsis) .) @anywhere
    (class_definition superclasses: (_) body: (block) @meant)
    (decorated_definition
      (decorator) @decorator
      definition: (function_definition body: (block) @meant)
      (#match? @decorator "overload|abstract"))
    (class_definition
      superclasses: (_) @bases
      body: (block [
        (function_definition body: (block) @meant)
        (decorated_definition definition: (function_definition body: (block) @meant))])
      (#match? @bases "Protocol"))
"""
_IMPORTS = ImportRules(
    style="from",
    module=r"\.+|\.*\w+(?:\.\w+)*",
    reserved=frozenset(keyword.kwlist),
    is_path=True,
    are_scoped=True,
    may_name_modules=True,
    may_bring_any=True,
    may_be_circular=False,
    may_be_nested=True,
)
_STUB = StubStyle(
    function_end=": ...",
    class_start=":",
    class_end="",
    empty_class_end=": ...",
    unshown_members=": ...",
    trimmed=" \t:",
    are_decorators_lines=True,
)
_MAX_OPEN_BLOCKS = 350
"""Each takes two bytes, and up to 255 open strings take one each."""
_FEWEST_INDENT_CHARS = _MAX_OPEN_BLOCKS // 8
"""With more blocks than that, one line begins with at least as many blanks, even of tabs."""
_BLANKS = r"(?<![^\n\r\f])[ \t]*"
_DEEP_BLANKS = rf"[ \t]{{{_FEWEST_INDENT_CHARS}}}"
_CONTINUATION = r"\\[\r\n]"


def _is_beyond_grammar(text: str) -> bool:
    """Each block is indented further than the one around it. Blanks may go on in the next line.

    The grammar (0.25.0) keeps open blocks, two bytes each, and open strings in 1,024 bytes: with a
    string open in the 511th block it writes past the end.
    """
    ends = [match.start() for match in re.finditer(_CONTINUATION, text)]
    before = (text[text.rfind("\n", 0, end) + 1 : end].rstrip(" \t\f") for end in ends)
    num_continued = sum(line[-1:] in ("", "\r") for line in before)
    is_deep = " " * _FEWEST_INDENT_CHARS in text or (
        "\t" in text and re.search(_DEEP_BLANKS, text) is not None
    )
    if not is_deep and not num_continued:
        return False
    num_columns = len({match[0] for match in re.finditer(_BLANKS, text)})
    return num_columns * (1 + num_continued) > _MAX_OPEN_BLOCKS


PYTHON = Language(
    id="python",
    package=r"from __future__ import ",
    aliases=("py", "ipython"),
    extensions=(".py", ".pyi", ".pyw"),
    grammar="tree_sitter_python",
    block_style="indent",
    header=_HEADER,
    ends=('"""', "'''", "def _(): pass"),
    stray=(("constrained_type", "type_parameter"),),  # x: int : str
    declaration_files=(".pyi",),
    typical=(
        r"^\s*(?:async )?def \w+\(.*[:(,]$|^(?:from [\w.]+ )?import [\w., ()]+$|\bself\."
        r"|^\s*(?:class|if|elif|else|for|while|with|try|except)\b.*:$|^\s*\"\"\""
    ),
    is_beyond_grammar=_is_beyond_grammar,
    has_docstrings=True,
    holes=_HOLES,
    names=_NAMES,
    imports=_IMPORTS,
    modules="search_path",
    are_members_listed_whole=True,
    library_members=_library_members,
    stub=_STUB,
)
