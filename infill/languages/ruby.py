"""Ruby."""

import re

from msgspec.structs import replace

from intarsia.infill.languages import PLAIN_STUB, braces

_DO = r"\bdo(?:\s*\|[^|]*\|)?$"
_HEADER = (
    r"^\s*(?:(?:private|public|protected|module_function)\s+)?"
    r"(?:def\b(?!.*=\s)|(?:class|module|if|unless|while|until|for|begin|case|else|elsif|when|rescue"
    r"|ensure|in)\b(?!.*\bend$))|=\s*(?:if|unless|case|begin)\b|" + _DO
)
_CLOSED = r"^\s*(?:begin|else|ensure)$|^\s*def\s[^=]*\)$|\bthen$|" + _DO

_MAX_STATE_BYTES = 1_000
_MAX_NAME_BYTES = 250
_BYTES_PER_HEREDOC = 4
_BYTES_PER_STRING = 5
_NAME = r"\"[^\"]{0,255}|'[^']{0,255}|`[^`]{0,255}|\w{1,255}"
_HEREDOC = rf"(?=<<[~-]?({_NAME}))"  # ahead only: one may begin within another's name


def _is_beyond_grammar(text: str) -> bool:
    """Whether names of heredocs and strings might fill what the grammar keeps of them.

    It has 1,024 bytes for the names of open heredocs and for the strings that interpolations nest,
    and miscounts at the edge. While a name's quote is still to be typed, the name may run to the
    end of the text. Fixed after 0.23.1, not yet released:
    https://github.com/tree-sitter/tree-sitter-ruby/issues/269
    """
    names = [len(it[1].encode("utf-8", "replace")) for it in re.finditer(_HEREDOC, text)]
    state = sum(names) + _BYTES_PER_HEREDOC * len(names) + _BYTES_PER_STRING * text.count("#{")
    return state > _MAX_STATE_BYTES or max(names, default=0) > _MAX_NAME_BYTES


RUBY = braces(
    "ruby",
    aliases=("rb",),
    extensions=(".rb", ".rake", ".gemspec", ".ru"),
    filenames=("Gemfile", "Rakefile"),
    header=_HEADER,
    closed_header=_CLOSED,
    flush_header=r"\bcase\b",
    ends=("end", "=end"),
    typical=(
        r"^\s*end$|^\s*def [\w.?!]+(?:\(.*\))?$|^require ['\"]|\bdo \|.*\|$|^\s*@\w+ = "
        r"|^\s*(?:attr_\w+|module) |\.(?:each|map|nil\?|empty\?)\b|^\s*(?:if|unless) [^({:]*$"
    ),
    is_beyond_grammar=_is_beyond_grammar,
    holes="""
        (method) @named @owner
        (singleton_method) @named @owner
        [(method) (singleton_method)] @block
    """,
    often_empty=("initialize",),
    modules="lib_folders",
    reach="near",
    stub=replace(PLAIN_STUB, class_end="end"),
    documentation=("# ", ""),
)
