"""What the index keeps of one file's text: its symbols, and the words of its passages.

A passage has 12 to 20 lines; where a definition starts within these bounds, the next one begins.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from intarsia.infill.languages import Language
from intarsia.workspace.symbols.symbols import FileSymbols
from intarsia.workspace.words import identifiers, words_of

FEWEST_LINES = 12
MOST_LINES = 20

_MAX_WORDS = 400
"""Words of one passage; a table of data has more and means nothing."""
_MAX_REPEATS = 4
"""A word counts at most this often: BM25 gains little from more."""
_MAX_PASSAGES = 1_000
_MAX_WORD_CHARS = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """Lines of a text, and their words in lower case, separated by spaces."""

    start_line: int  # 0-based
    end_line: int  # exclusive
    words: str


def cut_passages(text: str, starts: Sequence[int]) -> list[Passage]:
    """Return the passages of a text in order; ``starts`` are the first lines of definitions."""
    lines = text.split("\n")
    passages = []
    for start, end in _bounds(len(lines), frozenset(starts)):
        words = passage_words("\n".join(lines[start:end]))
        if words:
            passages.append(Passage(start_line=start, end_line=end, words=" ".join(words)))
        if len(passages) == _MAX_PASSAGES:
            break
    return passages


def passage_words(text: str) -> list[str]:
    """Return the words of all identifiers of a text, keywords left out."""
    counts = Counter(word for name in identifiers(text) for word in words_of(name))
    words = [word for word, n in counts.items() for _ in range(min(n, _MAX_REPEATS))]
    return [word for word in words if len(word) <= _MAX_WORD_CHARS][:_MAX_WORDS]


def _bounds(num_lines: int, starts: frozenset[int]) -> Iterator[tuple[int, int]]:
    start = 0
    while start < num_lines:
        most = min(start + MOST_LINES, num_lines)
        within = range(start + FEWEST_LINES, most)
        end = next((line for line in within if line in starts), most)
        yield start, end
        start = end


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedFile:
    """The symbols and passages of a text."""

    symbols: FileSymbols
    passages: list[Passage]


def with_passages(text: str, symbols: FileSymbols) -> ParsedFile:
    """Return a text's symbols with its passages, cut where definitions start."""
    starts = [it.start_line for it in symbols.definitions if it.kind != "field"]
    return ParsedFile(symbols=symbols, passages=cut_passages(text, starts))


def content_digest(text: str, language: Language) -> bytes:
    """Return 16 bytes that name a text in a language: the same text is parsed once."""
    digest = blake2b(language.id.encode() + b"\0", digest_size=16)
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()
