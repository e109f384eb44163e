"""How a file without bodies is written in each language: a stub, as its readers know it."""

from dataclasses import dataclass, replace

from intarsia.infill.languages import Language


@dataclass(frozen=True, kw_only=True, slots=True)
class StubStyle:
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


_BRACES = StubStyle()
_TWO_BLANKS = replace(_BRACES, indent="  ")
_NO_SEMICOLON = replace(_BRACES, function_end="", empty_class_end="")
_PYTHON = StubStyle(
    function_end=": ...",
    class_start=":",
    class_end="",
    empty_class_end=": ...",
    unshown_members=": ...",
    trimmed=" \t:",
    are_decorators_lines=True,
)
_RUBY = StubStyle(
    indent="  ",
    function_end="",
    class_start="",
    class_end="end",
    empty_class_end="",
    unshown_members="",
    trimmed=" \t",
)
_PLAIN = replace(_RUBY, class_end="")

_STYLES: dict[str, StubStyle] = {
    "python": _PYTHON,
    "javascript": _TWO_BLANKS,
    "javascriptreact": _TWO_BLANKS,
    "typescript": _TWO_BLANKS,
    "typescriptreact": _TWO_BLANKS,
    "dart": _TWO_BLANKS,
    "go": replace(_NO_SEMICOLON, indent="\t", are_methods_outside=True),
    "rust": replace(_BRACES, empty_class_end=";", needs_impl=True),
    "kotlin": _NO_SEMICOLON,
    "swift": _NO_SEMICOLON,
    "scala": replace(_NO_SEMICOLON, indent="  "),
    "ruby": _RUBY,
    "elixir": replace(_RUBY, class_start=" do"),
    "lua": _PLAIN,
    "markdown": _PLAIN,
    "yaml": _PLAIN,
    "toml": _PLAIN,
    "json": _PLAIN,
    "css": _PLAIN,
    "html": _PLAIN,
    "sql": _PLAIN,
    "shellscript": _PLAIN,
}


def stub_style(language: Language) -> StubStyle:
    """Return the style of a language; one without a row has braces."""
    return _STYLES.get(language.id, _BRACES)
