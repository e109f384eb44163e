"""What the index keeps of one file's text: its symbols, and the words of its passages."""

from dataclasses import dataclass
from hashlib import blake2b

from intarsia.infill.languages import Language
from intarsia.workspace.index.passages import Passage, cut_passages
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.symbols import FileSymbols


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedFile:
    """The symbols and passages of a text."""

    symbols: FileSymbols
    passages: list[Passage]


def parse_text(text: str, language: Language) -> ParsedFile:
    """Return what the index keeps of a text."""
    return with_passages(text, extract_symbols(text, language))


def with_passages(text: str, symbols: FileSymbols) -> ParsedFile:
    """Return a text's symbols with its passages, cut where definitions start."""
    starts = [it.start_line for it in symbols.definitions if it.kind != "field"]
    return ParsedFile(symbols=symbols, passages=cut_passages(text, starts))


def content_digest(text: str, language: Language) -> bytes:
    """Return 16 bytes that name a text in a language: the same text is parsed once."""
    digest = blake2b(language.id.encode() + b"\0", digest_size=16)
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()
