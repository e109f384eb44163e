"""Files of a hostile project: texts near the bounds of fragile grammars, and any ignore rules."""

import atexit
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import joined

from intarsia.infill.languages import Language, language_for_id
from intarsia.infill.syntax.tree import is_beyond_grammar, parse_afresh, parse_edited
from intarsia.workspace.files.file_rules import FileRules
from intarsia.workspace.files.paths import RootSettings

RUBY = ("<<A", '<<~"long name"', "<<-'b", "<<`c\n", '"#{', "%w[#{", "\n", "A\n", '"', "}", " ")
RUBY += ("<<" + "N" * 120, '<<"' + "m" * 200 + '"', "/#{", ":'", "%q(", "=begin\n", "def a\n")
RUBY += ("end\n",)
YAML = ("- ", "? ", ": ", "a: ", "\n", "\n ", "\n  ", "|\n", ">-\n", "&a ", "{", "[", ",", "]", "}")
YAML += ("!!x ", '"', "'", "# c", "---\n", "\t", "- - - - ", "? ? ? ")
PYTHON = ("if x:\n", '"""', "'''", 'f"{', "'", '"', "\n", "\\\n", "(", ")", "}", "x = ", "#")
PYTHON += ("\x0c", "while 1:\n", 'f"""{', "b'", "r'''", "\t", "else:\n")
FRAGILE = {"ruby": RUBY, "yaml": YAML, "python": PYTHON}
RULES = ("*", "**", "**/", "/", "?", "[a-z]", "[!", "]", "\\", "!", "#", " ", "\n", "a", "ab")
RULES += (".py",)
RULES += (
    "src/",
    "a*",
    "*a",
    "{a,b}",
    "\r\n",
    "\t",
    "é",
    "[[:alpha:]]",
    "**/**/",
    "secrets/",
    ".env",
)
NAMES = ("a", "ab", "src", "a" * 60, "é", "a.py", "aaaa.py", ".env", "id_rsa", "x y", "[a]")
NAMES += ("secrets",)
SECRETS = (".env", "id_rsa", "src/.env", "secrets/a.py", "a/b/c.pem")


def repeated(pieces: tuple[str, ...]) -> st.SearchStrategy[str]:
    runs = st.builds(lambda unit, times: unit * times, joined(pieces, 4), st.integers(0, 400))
    return st.lists(runs, min_size=1, max_size=4).map("".join)


def blocks(depth: int, blank: str, text: str) -> str:
    """Return Python blocks that are each deeper than the one around them."""
    heads = "".join(blank * level + "if x:\n" for level in range(depth))
    return heads + blank * depth + text[:4_000]


def drafts(name: str) -> st.SearchStrategy[tuple[str, str, str, str]]:
    """Return a language, a text of many nested parts, and what is added and inserted then."""
    pieces = FRAGILE[name]
    nested = repeated(pieces)
    if name == "python":
        blanks = st.sampled_from((" ", "\t", " \t", "  "))
        nested = st.builds(blocks, st.integers(0, 510), blanks, nested)
    return st.tuples(st.just(name), nested, joined(pieces, 12), joined(pieces, 6))


@settings(max_examples=30)
@given(st.sampled_from(sorted(FRAGILE)).flatmap(drafts), st.integers(0), st.integers(0))
def test_a_text_just_within_its_bounds_crashes_no_grammar(draft, start, end):
    """What nests is built up to where it is refused, and then changed."""
    name, nested, added, inserted = draft
    language = language_for_id(name)
    text = within_bounds(nested, language) + added
    syntax = parse_afresh(text, language)
    if syntax is not None:
        start, end = sorted(at % (len(text) + 1) for at in (start, end))
        parse_edited(syntax, start, end, inserted)


def within_bounds(text: str, language: Language) -> str:
    """Return the longest beginning that is parsed, by bisection."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if is_beyond_grammar(text[:middle], language):
            high = middle - 1
        else:
            low = middle
    return text[:low]


ROOT = Path(tempfile.mkdtemp(prefix="intarsia-fuzz-"))
atexit.register(shutil.rmtree, ROOT, ignore_errors=True)


@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")  # rules such as [[a]
@given(
    st.sampled_from((".gitignore", ".intarsiaignore")),
    joined(RULES, 60),
    joined(RULES, 8),
    st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join), max_size=3),
)
@example(".gitignore", "*a" * 14, "", ["a" * 60])
def test_secrets_are_excluded_whatever_the_rules(name, written, excluded, paths):
    for other in (".gitignore", ".intarsiaignore"):
        (ROOT / other).write_text(written if other == name else "")
    root = RootSettings(path=ROOT.as_posix(), exclude=(excluded,), exclude_secrets=True)
    rules = FileRules(root, is_source=lambda _: True)
    for path in paths:
        rules.why_not(f"{ROOT.as_posix()}/{path}")
    for secret in SECRETS:
        assert rules.why_not(f"{ROOT.as_posix()}/{secret}") is not None
