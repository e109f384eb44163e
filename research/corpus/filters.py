"""Filter files that must not be in a corpus. Each filter returns a reason, or None to keep.

The manifest counts files by these reasons. The filters look at the path, the size, the text and
its syntax, in this order: the cheap ones first.
"""

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from intarsia.infill.languages import PLAIN_TEXT, Language
from intarsia.infill.syntax.tree import num_errors, parse
from intarsia.workspace.files.secret_text import holds_key

MIN_BYTES = 200
MAX_BYTES = 100_000
MAX_MEAN_LINE_CHARS = 100
MAX_LINE_CHARS = 1_000
HEAD_CHARS = 2_000
"""How much of a file is searched for a note that it is generated, or for its licence."""

MAX_ADDRESSES = 5
MAX_DATA_SHARE = 0.3
MAX_ERRORS = 3
LINES_PER_ERROR = 100
LINES_PER_ERROR_WITH_MACROS = 25

NOT_TAUGHT = frozenset({"json", "markdown", "toml", "yaml", PLAIN_TEXT.id})
"""Languages that are no code."""

_VENDORED = frozenset(
    {
        "_vendor",
        "_vendored",
        "bower_components",
        "extern",
        "external",
        "node_modules",
        "third-party",
        "third_party",
        "thirdparty",
        "vendor",
        "vendored",
        "vendors",
    }
)
_FIXTURES = frozenset(
    {
        "__fixtures__",
        "__snapshots__",
        "baselines",
        "corpora",
        "expected",
        "fixture",
        "fixtures",
        "golden",
        "snapshots",
        "test-data",
        "test_data",
        "testdata",
    }
)
_BUILT = frozenset({"amd", "build", "bundles", "cjs", "dist", "fesm2022", "umd"})
_BUILT_ENDINGS = frozenset({".cjs", ".css", ".html", ".js", ".mjs", ".mts", ".ts", ".tsx"})
_GENERATED_NAME = re.compile(
    r"_pb2(?:_grpc)?\.pyi?$|\.pb\.(?:go|cc|h)$|\.min\.(?:js|css|mjs)$|[.-]bundle\.js$|\.d\.[mc]?ts$"
    r"|\.generated\.|_generated\.|zz_generated"
    r"|(?:^|/)(?:parsetab|lextab|_version)\.py$|\.tab\.[ch]$|\.lex\.c$|(?:^|/)configure$"
    r"|(?:^|/)(?:config\.(?:guess|sub)|ltmain\.sh|install-sh|depcomp|missing|compile|test-driver)$"
)
_GENERATED_HEAD = re.compile(
    r"generated (?:by|from|with|using|file|code)|\bauto[- ]?generated|@generated|do not edit"
    r"|don't edit|do not modify|machine generated|this file (?:is|was) generated",
    re.IGNORECASE,
)
_COMPILED = (
    'Object.defineProperty(exports, "__esModule"',
    "Object.defineProperty(exports, '__esModule'",
    "__webpack_require__",
    "_interopRequireDefault(",
    "_jsx(",
    "sourceMappingURL=",
    "var __awaiter",
    "var __create = Object.create",
)
_OTHER_LICENCE = re.compile(
    r"\b(?:GNU (?:Lesser |Library |Affero )?General Public|[AL]?GPL|Mozilla Public License|MPL"
    r"|Creative Commons|Business Source License|Server Side Public|Elastic License|Commons Clause"
    r"|Eclipse Public License|Common Development and Distribution|proprietary and confidential)\b",
    re.IGNORECASE,
)
_SPDX_HEAD = re.compile(r"SPDX-License-Identifier:\s*([^\n]+)")
_DATA = re.compile(r"0x[0-9a-fA-F]+|\d[\d.eE+-]*|\\[xu][0-9a-fA-F]+")

_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,12}\b")
_NO_ADDRESS = re.compile(r"@(?:[\w-]+\.)*(?:example|test|localhost|invalid)\b", re.IGNORECASE)


def reason_in_path(path: str) -> str | None:
    """Return why a path is left out: vendored code, test data or a tool's output."""
    pure = PurePosixPath(path)
    folders = {part.lower() for part in pure.parts[:-1]}
    if folders & _VENDORED:
        return "vendored"
    if folders & _FIXTURES:
        return "fixture"
    if folders & _BUILT and pure.suffix.lower() in _BUILT_ENDINGS:
        return "built"
    if _GENERATED_NAME.search(path):
        return "generated"
    return None


def reason_in_size(num_bytes: int) -> str | None:
    """Return why a file of this size is left out."""
    if num_bytes < MIN_BYTES:
        return "too small"
    return "too large" if num_bytes > MAX_BYTES else None


def reason_in_text(text: str, *, permitted: Callable[[str], str | None]) -> str | None:
    """Return why a text is left out; ``permitted`` looks up a licence."""
    head = text[:HEAD_CHARS]
    if _GENERATED_HEAD.search(head) or any(marker in text for marker in _COMPILED):
        return "generated"
    if _has_other_licence(head, permitted):
        return "other licence"
    if _has_long_lines(text):
        return "long lines"
    if _is_data(text):
        return "data"
    return "secret" if _contains_secret(text) else None


def reason_in_syntax(text: str, language: Language) -> str | None:
    """Return why a text is left out that its language's parser cannot read well enough."""
    if not language.grammar:
        return None
    syntax = parse(text, language)
    if syntax is None:
        return "parse errors"
    lines_per_error = LINES_PER_ERROR_WITH_MACROS if language.has_macros else LINES_PER_ERROR
    max_errors = max(MAX_ERRORS if language.has_macros else 1, text.count("\n") // lines_per_error)
    return "parse errors" if num_errors(syntax) > max_errors else None


def _has_other_licence(head: str, permitted: Callable[[str], str | None]) -> bool:
    identifier = _SPDX_HEAD.search(head)
    if identifier is not None:
        return permitted(identifier[1].strip(" */#->;'\"")) is None
    return _OTHER_LICENCE.search(head) is not None


def _has_long_lines(text: str) -> bool:
    lengths = [len(line) for line in text.splitlines()]
    is_wide = sum(lengths) > MAX_MEAN_LINE_CHARS * max(1, len(lengths))
    return is_wide or max(lengths, default=0) > MAX_LINE_CHARS


def _contains_secret(text: str) -> bool:
    """Whether a text has a private key, an access token or over MAX_ADDRESSES e-mail addresses."""
    if holds_key(text):
        return True
    if text.count("@") <= MAX_ADDRESSES:
        return False
    addresses = {address for address in _ADDRESS.findall(text) if not _NO_ADDRESS.search(address)}
    return len(addresses) > MAX_ADDRESSES


def _is_data(text: str) -> bool:
    """Whether numbers and escaped bytes are too large a share of the text without whitespace."""
    num_chars = sum(map(len, text.split()))
    return sum(map(len, _DATA.findall(text))) > MAX_DATA_SHARE * num_chars
