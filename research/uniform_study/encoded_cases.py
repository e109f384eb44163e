"""Cases as token ids: a gzipped file of a ``Header`` and then a ``EncodedCase`` on each line."""

import gzip
from collections.abc import Sequence
from pathlib import Path

import msgspec

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.infill.suggestion import NoSuggestion
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case
from intarsia_research.uniform_study.read_cases import CaseReader

SUFFIX_TOKENS = 64


class CaseSource(msgspec.Struct, frozen=True, kw_only=True):
    """Which cases of ``eval`` these are, so that they are found again."""

    sets: list[str]
    limit: int | None
    seed: int
    humaneval: str | None = None  # folder of the benchmark's files


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """The ids that may come first where ``bytes`` are typed already.

    ``then``: an id that is shorter than these bytes → the index of the start that binds the next
    token. After any other id the text is free.
    """

    bytes: str  # in hexadecimal
    ids: list[int]
    then: dict[int, int]


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line."""

    source: CaseSource
    starts: list[Start]


class EncodedCase(msgspec.Struct, frozen=True, kw_only=True):
    """A hole. With ``reason`` there is none: nothing can be suggested, and all else is empty."""

    set: str
    case: str
    context: list[int] = []  # prefix, suffix and text before the hole, with marks
    suffix: list[int] = []  # of the text right after the hole, at most SUFFIX_TOKENS
    truth: list[int] = []  # with the healed bytes, without an end token
    healed: int | None = None  # index of the start that binds the first token
    max_tokens: int = 0  # of the hole, healed bytes and end token included
    reason: str | None = None


class Starts:
    """The table of starts, without repetitions."""

    def __init__(self, text: FimTokenizer) -> None:
        self._text = text
        self._found: dict[bytes, tuple[int, Start]] = {}

    @property
    def rows(self) -> list[Start]:
        """The table by index."""
        return [start for _, start in sorted(self._found.values(), key=lambda it: it[0])]

    def index(self, healed: bytes) -> int | None:
        """Return the index of a start, None for no bytes. What it leads to has lower indexes."""
        if not healed:
            return None
        if healed not in self._found:
            ids, then = self._text.continuing(healed), {}
            for token in ids:
                rest = self.index(healed[len(self._text.bytes_of(token)) :])
                if rest is not None:
                    then[token] = rest
            start = Start(bytes=healed.hex(), ids=ids, then=then)
            self._found[healed] = len(self._found), start
        return self._found[healed][0]


def encode_case(case: Case, reader: CaseReader, starts: Starts) -> EncodedCase:
    """Return the case; its start is added to the table."""
    task = reader.read(case)
    if isinstance(task, NoSuggestion):
        return EncodedCase(set=case.set, case=case.id, reason=task.reason)
    return EncodedCase(
        set=case.set,
        case=case.id,
        context=task.fill.context,
        suffix=reader.text.encode(task.fill.request.suffix)[:SUFFIX_TOKENS],
        truth=reader.truth(task),
        healed=starts.index(task.fill.healed),
        max_tokens=task.fill.request.max_tokens,
    )


def write_cases(path: Path, header: Header, cases: Sequence[EncodedCase]) -> None:
    """Write the file; equal cases give equal bytes."""
    lines = b"\n".join(map(msgspec.json.encode, (header, *cases)))
    path.write_bytes(gzip.compress(lines + b"\n", mtime=0))


def read_header(path: Path) -> Header:
    """Read the first line. Raises EvaluationFault if the file was not written by this."""
    try:
        with gzip.open(path) as stream:
            return msgspec.json.decode(stream.readline(), type=Header)
    except (OSError, EOFError, msgspec.DecodeError) as error:
        raise EvaluationFault(f"{path} is no file of `uniform encode` ({error})") from error


def read_encoded(path: Path) -> list[EncodedCase]:
    """Read the cases of a file whose header was read. Raises EvaluationFault."""
    try:
        with gzip.open(path) as stream:
            next(stream)
            return [msgspec.json.decode(line, type=EncodedCase) for line in stream]
    except (OSError, EOFError, msgspec.DecodeError) as error:
        raise EvaluationFault(f"{path} is damaged ({error}): encode it again") from error
