"""Which language a hole is in: the APIs have no field for it, so it is read from what there is.

In this order: our own field, the file's path, a comment that the client puts before the text, a
``#!`` line, the other files that it sends, and the code itself.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from intarsia.cli.api.holes.request import Context
from intarsia.infill.languages import PLAIN_TEXT, Language, language_for_id, language_for_path

LINES_BEFORE, LINES_AFTER = 120, 60
MAX_LINE_CHARS = 200
MIN_LINES = 2
"""Fewer typical lines are no evidence."""
MIN_LEAD = 1.5
"""The best language has this many times the lines of the next one."""

_TYPICAL: dict[str, str] = {
    "python": r"^\s*(?:async )?def \w+\(.*[:(,]$|^(?:from [\w.]+ )?import [\w., ()]+$|\bself\."
    r"|^\s*(?:class|if|elif|else|for|while|with|try|except)\b.*:$|^\s*\"\"\"",
    "javascript": r"^\s*(?:export )?(?:const|let|var) [\w{\[][^:]*= |=>|[!=]==|\bfunction\b.*\{$"
    r"|^(?:import|export) .*\bfrom ['\"]|\brequire\(['\"]|^export ",
    "java": r"^\s*(?:public|private|protected|static|final)\b[^:$]*[;{(,]$|^import java[\w.]*;$"
    r"|^(?:package|import) [\w.]+;$|^\s*@Override|\bthrows |\b[A-Z]\w+(?:<.*>)? \w+ = new ",
    "cpp": r"^#\s*(?:include [<\"][\w/.]+[>\"]|define|ifn?def|endif)|\b\w+->\w+|^typedef struct"
    r"|^(?:static |const |unsigned )*(?:int|char|void|size_t|struct \w+) \*?\w+\(|\bstd::"
    r"|^\s*template ?<|^\s*namespace\b|^\s*(?:public|private):$|\bauto[&*]? \w+ = |^\w+::\w+\(",
    "csharp": r"^using [\w.]+;$|^namespace [\w.]+|\{ get; |\bvar \w+ = new|\basync Task"
    r"|^\s*(?:public|private|internal)\b.*\)$|\bstring \w+",
    "go": r"^package \w+$|^func |:= |^\s*if err != nil|^import \($|\bchan |^type \w+ struct",
    "rust": r"\bfn \w+[(<]|\blet (?:mut )?\w+.*;$|^use \w+::|&mut |\bmatch .*\{$|#\[\w+"
    r"|\b(?:Self|crate|Vec)::|^\s*(?:pub(?:\(\w+\))? )?(?:impl|struct|enum|mod|fn)\b|\bOk\(",
    "ruby": r"^\s*end$|^\s*def [\w.?!]+(?:\(.*\))?$|^require ['\"]|\bdo \|.*\|$|^\s*@\w+ = "
    r"|^\s*(?:attr_\w+|module) |\.(?:each|map|nil\?|empty\?)\b|^\s*(?:if|unless) [^({:]*$",
    "php": r"^<\?php|\$\w+->|\$\w+ = |\bfunction \w*\(.*\$|\$this\b|::\w+\(|\$\w+[,)]",
    "shellscript": r"^\s*(?:fi|done|esac)$|\bthen$|; do$|\$\{\w+|\"\$\w+\""
    r"|^\s*(?:local|export) \w+=",
    "kotlin": r"\bfun (?:<.*> )?[\w.]+\(|\bva[lr] \w+(?:: [\w<>?]+)? = |\bwhen \(|^\s*data class",
    "swift": r"\bfunc \w+[(<].*\{$|\bguard let|^import [A-Z]\w+$|-> \w+ \{$|\bvar \w+: \w+"
    r"|\blet \w+(?:: [\w\[\]?]+)? = [^;]*$|\bself\.\w+ = [^:;]*$",
    "lua": r"^\s*local (?:function )?\w+|\bthen$|^\s*end,?\)?$|^function [\w.:]+\(|~=",
    "elixir": r"^\s*defp? \w+.*do$|^defmodule |\|>|\bdo$|^\s*end$|%\{",
}
_TYPESCRIPT = re.compile(
    r"^\s*(?:export )?(?:interface|type|enum) \w+|[\w)?\]]: (?:string|number|boolean|void|Promise<)"
    r"|^\s*readonly \w+|\bas (?:const|string|any)\b|^import type|\w+\?: \w|: \w+\[\]"
)
"""Lines of TypeScript that are none of JavaScript."""
_PATTERNS = {name: re.compile(pattern) for name, pattern in _TYPICAL.items()}


def guess_language(prefix: str, suffix: str) -> Language:
    """Return the language of the code on both sides, else plain text.

    The line with the hole does not count, so that typing in it gives the same answer, from a cache.
    """
    before = prefix.splitlines()[:-1][-LINES_BEFORE:]
    return _guess((*before, *suffix.splitlines()[1 : LINES_AFTER + 1]))


@lru_cache(maxsize=256)
def _guess(around: tuple[str, ...]) -> Language:
    lines = [line[:MAX_LINE_CHARS].rstrip() for line in around if line.strip()]
    counts = {name: _count(pattern, lines) for name, pattern in _PATTERNS.items()}
    num_typed = _count(_TYPESCRIPT, lines)
    counts["javascript"] += num_typed
    (best, most), (_, next_most) = sorted(counts.items(), key=lambda pair: -pair[1])[:2]
    if most < MIN_LINES or most < next_most * MIN_LEAD:
        return PLAIN_TEXT
    if best == "javascript" and num_typed >= MIN_LINES:
        best = "typescript"
    return language_for_id(best)


def _count(pattern: re.Pattern[str], lines: Sequence[str]) -> int:
    return sum(1 for line in lines if pattern.search(line))


_HEAD_LINES = 60
"""Within these first lines clients describe the file."""

_NAMED = re.compile(r"^\W{0,8}[Ll]anguage: (?:[\w+# ]+\()?([\w+#]+)\)?")  # minuet and twinny
_FILE_URI = re.compile(r"^\W{0,8}File uri: (\S+)")  # twinny
_COMMENTED_PATH = re.compile(r"^(?:#|//|--|;|%|<!--)\s*(?:[Pp]ath: )?([\w./\\-]+\.\w+)\s*(?:-->)?$")
_INTERPRETER = re.compile(r"^#!.*?\b(python|bash|zsh|ksh|sh|node|ruby|php|lua|elixir)[\d.]*\b")
_BY_INTERPRETER = {"node": "javascript"}


def language_of(context: Context, language_id: str | None) -> Language:
    """Return the language, else plain text: then a hole is one line."""
    found = language_for_id(language_id) if language_id else PLAIN_TEXT
    if found is PLAIN_TEXT and context.path:
        found = language_for_path(context.path)
    if found is PLAIN_TEXT:
        found = _described(context.prefix.split("\n", _HEAD_LINES)[:_HEAD_LINES])
    if found is PLAIN_TEXT:  # that of the file that was sent last: clients append to their list
        others = (language_for_path(file.path) for file in reversed(context.files) if file.path)
        found = next((one for one in others if one is not PLAIN_TEXT), PLAIN_TEXT)
    if found is PLAIN_TEXT:
        found = guess_language(context.prefix, context.suffix)
    return found


def _described(lines: Sequence[str]) -> Language:
    """Return the language that the first lines tell; the last such line is the nearest."""
    interpreter = _INTERPRETER.match(lines[0]) if lines else None
    found = PLAIN_TEXT
    if interpreter is not None:
        found = language_for_id(_BY_INTERPRETER.get(interpreter[1], interpreter[1]))
    for line in lines:
        named, path = _NAMED.match(line), _FILE_URI.match(line) or _COMMENTED_PATH.match(line)
        if named is not None:
            told = language_for_id(named[1])
        elif path is not None:
            told = language_for_path(path[1])
        else:
            continue
        found = told if told is not PLAIN_TEXT else found
    return found
