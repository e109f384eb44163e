"""The table of known languages: one row each. Any other file is plain text.

To add a language, add one ``Language`` row to ``LANGUAGES``. One row in ``holes/hole_rules.py``
lets its placeholders be found, and one in ``research/holes/node_table.py`` lets it be evaluated. A
query in ``workspace/symbols/queries`` finds what its files define and import.
Grammars are named here but not loaded.
"""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePath
from typing import Any, Literal

BlockStyle = Literal["indent", "closed", "none"]
"""How a block ends: by indentation, by a closing text at the header's column, or unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Grammar:
    """A tree-sitter grammar: an installed module, and the function that returns it."""

    module: str
    function: str = "language"


@dataclass(frozen=True, kw_only=True, slots=True)
class Language:
    """One language. The patterns are read against one line of code without its comment."""

    id: str
    aliases: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    grammar: Grammar | None = None
    block_style: BlockStyle = "none"
    openers: str = ""  # a line that ends with one of these characters opens a block
    header: str | None = None  # a line above the cursor that opens a block without such a character
    closed_header: str | None = None  # another while the cursor is still at the line's end
    flush_header: str | None = None  # headers that allow their body at their own column
    are_pairs_blocks: bool = False  # "{}" on one line is a block, never a value
    has_macros: bool = False  # the grammar cannot parse every correct file
    ends: tuple[str, ...] = ()  # lines that may complete what a line began


_PYTHON_HEADER = (
    r"^\s*(?:async\s+)?(?:def|class|if|elif|else|for|while|with|try|except|finally|match|case)"
    r"\b.*:$"
)
_TAG_HEADER = (
    r"(?:^|\s)<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)"
    r"[A-Za-z][\w:.-]*(?:\s[^<>]*)?(?<!/)>$"
)
_RUBY_DO = r"\bdo(?:\s*\|[^|]*\|)?$"
_RUBY_HEADER = (
    r"^\s*(?:(?:private|public|protected|module_function)\s+)?"
    r"(?:def\b(?!.*=\s)|(?:class|module|if|unless|while|until|for|begin|case|else|elsif|when|rescue"
    r"|ensure|in)\b(?!.*\bend$))|=\s*(?:if|unless|case|begin)\b|" + _RUBY_DO
)
_RUBY_CLOSED = r"^\s*(?:begin|else|ensure)$|^\s*def\s[^=]*\)$|\bthen$|" + _RUBY_DO
_BASH_HEADER = r"(?:^|[\s;])(?:then|do|else)$|^\s*case\s.*\sin$"
_PHP_HEADER = r"^\s*(?:if|elseif|else|for|foreach|while|switch)\b.*:$"

_LUA_HEADER = (
    r"\b(?:then|do|else|repeat)$|\bfunction\b[^()]*\([^()]*\)$|^\s*(?:local\s+)?function\b.*\)$"
)
_ELIXIR_HEADER = r"\b(?:do|else|rescue|catch|after|fn)$|->$"
_YAML_HEADER = r"(?:^|\s)[^#\s].*:(?:\s+[|>][+-]?\d?)?$|^\s*-$"

_FLUSH_SWITCH = r"\bswitch\b"

PLAIN_TEXT = Language(id="plaintext")

ECMASCRIPT_IDS = ("javascript", "javascriptreact", "typescript", "typescriptreact")

_BRACES = Language(
    id="", block_style="closed", openers="{", flush_header=_FLUSH_SWITCH, ends=("*/",)
)


def _braces(id: str, **fields: Any) -> Language:
    """Return the row of a language with braces; its grammar has its name if none is given."""
    return replace(_BRACES, id=id, **{"grammar": Grammar(module=f"tree_sitter_{id}"), **fields})


_JAVASCRIPT = _braces(
    "javascript",
    aliases=("js",),
    extensions=(".js", ".mjs", ".cjs"),
    header=_TAG_HEADER,
)

LANGUAGES: tuple[Language, ...] = (
    Language(
        id="python",
        aliases=("py",),
        extensions=(".py", ".pyi", ".pyw"),
        grammar=Grammar(module="tree_sitter_python"),
        block_style="indent",
        header=_PYTHON_HEADER,
        ends=('"""', "'''", "def _(): pass"),
    ),
    _JAVASCRIPT,
    replace(_JAVASCRIPT, id="javascriptreact", aliases=("jsx",), extensions=(".jsx",)),
    _braces(
        "typescript",
        aliases=("ts",),
        extensions=(".ts", ".mts", ".cts"),
        grammar=Grammar(module="tree_sitter_typescript", function="language_typescript"),
    ),
    replace(
        _JAVASCRIPT,
        id="typescriptreact",
        aliases=("tsx",),
        extensions=(".tsx",),
        grammar=Grammar(module="tree_sitter_typescript", function="language_tsx"),
    ),
    _braces("java", extensions=(".java",)),
    _braces(
        "c",
        extensions=(".c",),
        flush_header=r"\bswitch\b|\bextern\s+\"C\"",
        ends=("*/", "#endif"),
        has_macros=True,
    ),
    _braces(
        "cpp",
        aliases=("c++", "cuda-cpp"),
        # A .h may hold either; the C++ grammar reads C, and not the other way round.
        extensions=(".cpp", ".cc", ".cxx", ".h", ".hpp", ".hh", ".hxx", ".ipp", ".cu", ".cuh"),
        flush_header=r"\b(?:switch|namespace|class|struct)\b|\bextern\s+\"C\"",
        ends=("*/", "#endif"),
        has_macros=True,
    ),
    _braces(
        "csharp",
        aliases=("cs", "c#"),
        extensions=(".cs", ".csx"),
        grammar=Grammar(module="tree_sitter_c_sharp"),
        ends=("*/", "#endif", "#endregion"),
    ),
    _braces(
        "go",
        aliases=("golang",),
        extensions=(".go",),
        flush_header=r"\b(?:switch|select)\b",
    ),
    _braces(
        "rust",
        aliases=("rs",),
        extensions=(".rs",),
        flush_header=None,
    ),
    _braces(
        "ruby",
        aliases=("rb",),
        extensions=(".rb", ".rake", ".gemspec", ".ru"),
        filenames=("Gemfile", "Rakefile"),
        header=_RUBY_HEADER,
        closed_header=_RUBY_CLOSED,
        flush_header=r"\bcase\b",
        ends=("end", "=end"),
    ),
    _braces(
        "php",
        extensions=(".php", ".phtml"),
        grammar=Grammar(module="tree_sitter_php", function="language_php"),
        header=_PHP_HEADER,
    ),
    _braces(
        "shellscript",
        aliases=("bash", "ksh", "sh", "zsh"),
        extensions=(".sh", ".bash", ".zsh", ".ksh"),
        filenames=(".bashrc", ".bash_profile", ".profile", ".zshrc"),
        grammar=Grammar(module="tree_sitter_bash"),
        header=_BASH_HEADER,
        flush_header=r"^\s*case\b",
        ends=("fi", "done", "esac"),
    ),
    _braces(
        "html",
        extensions=(".html", ".htm", ".xhtml"),
        header=_TAG_HEADER,
        flush_header=None,
        ends=("-->",),
    ),
    _braces(
        "css",
        extensions=(".css",),
        are_pairs_blocks=True,
        flush_header=None,
    ),
    _braces(
        "json",
        aliases=("jsonc",),
        extensions=(".json", ".jsonc", ".webmanifest"),
        openers="{[",
        are_pairs_blocks=True,
        flush_header=None,
    ),
    _braces(
        "kotlin",
        aliases=("kt",),
        extensions=(".kt", ".kts"),
        flush_header=None,
    ),
    _braces(
        "swift",
        extensions=(".swift",),
        ends=("*/", "#endif"),
    ),
    _braces(
        "scala",
        extensions=(".scala", ".sc", ".sbt"),
        flush_header=None,
    ),
    _braces("dart", extensions=(".dart",)),
    _braces(
        "zig",
        extensions=(".zig", ".zon"),
        flush_header=None,
        ends=(),
    ),
    _braces(
        "lua",
        extensions=(".lua", ".rockspec"),
        header=_LUA_HEADER,
        flush_header=None,
        ends=("end", "]]"),
    ),
    _braces(
        "elixir",
        aliases=("ex",),
        extensions=(".ex", ".exs"),
        openers="{[",
        header=_ELIXIR_HEADER,
        flush_header=None,
        ends=("end", '"""'),
    ),
    Language(
        id="sql",
        aliases=("pgsql", "postgres"),
        extensions=(".sql",),
        grammar=Grammar(module="tree_sitter_sql"),
        block_style="closed",
        openers="(",
        has_macros=True,
        ends=("*/", "$$"),
    ),
    Language(
        id="yaml",
        aliases=("dockercompose", "github-actions-workflow"),
        extensions=(".yaml", ".yml"),
        filenames=(".clang-format", ".clang-tidy"),
        grammar=Grammar(module="tree_sitter_yaml"),
        block_style="indent",
        header=_YAML_HEADER,
    ),
    Language(
        id="toml",
        extensions=(".toml",),
        filenames=("Pipfile",),
        grammar=Grammar(module="tree_sitter_toml"),
        block_style="closed",
        openers="[{",
        ends=('"""', "'''"),
    ),
    Language(
        id="markdown",
        aliases=("md",),
        extensions=(".md", ".markdown", ".mdx"),
        grammar=Grammar(module="tree_sitter_markdown"),
        ends=("```",),
    ),
)


def language_for_id(language_id: str) -> Language:
    """Return the row of an LSP language id or of an alias, else plain text."""
    return _rows_by_id().get(language_id.lower(), PLAIN_TEXT)


def language_for_path(path: str) -> Language:
    """Return the row of a file's name or extension, else plain text."""
    name = PurePath(path).name
    rows = _rows_by_file_name()
    return rows.get(name) or rows.get(PurePath(name).suffix.lower(), PLAIN_TEXT)


def language_for(language_id: str, path: str) -> Language:
    """Return the row of the id, else that of the path: an editor may not know the language."""
    named = language_for_id(language_id)
    return language_for_path(path) if named is PLAIN_TEXT else named


@cache
def _rows_by_id() -> dict[str, Language]:
    return {name: row for row in LANGUAGES for name in (row.id, *row.aliases)}


@cache
def _rows_by_file_name() -> dict[str, Language]:
    return {name: row for row in LANGUAGES for name in (*row.extensions, *row.filenames)}
