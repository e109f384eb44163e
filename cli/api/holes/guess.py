"""Guesses the language of code around a hole, where a client does not tell it.

Counts lines that are typical of one language. A guess that is wrong costs more than none, so it
takes several lines, and clearly more than any other language has. C counts as C++, with a grammar
that reads both.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from intarsia.infill.languages import PLAIN_TEXT, Language, language_for_id

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
