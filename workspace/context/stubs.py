"""Fills a budget with the signatures that rank highest, one stub for each file.

A definition costs what its line adds to the stub of its file; one that does not fit is passed over
for shorter ones.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from intarsia.infill.languages import language_for_path
from intarsia.workspace.context.candidate import Candidate, Surroundings
from intarsia.workspace.context.chunk import ChunkKind
from intarsia.workspace.context.ranked import Ranked, Reached
from intarsia.workspace.context.stub import LineLimits, Stub

MAX_FILES = 8
MAX_TRIED = 150
"""Definitions that are tried, the highest first: those after them would not be worth their time."""

MIN_LINE_CHARS = 12
"""No signature is shorter: with less room than this, no more are tried."""

MAX_NAMES_IN_REASON = 6

_WORDS = {"signatures": "imported", "members": "members of", "sibling": "this file tests it"}


@dataclass(kw_only=True, slots=True)
class _FileStub:
    stub: Stub
    kind: ChunkKind
    score: float
    num_chars: int  # with the path
    names: list[str] = field(default_factory=list)
    is_named: bool = False  # near the hole, without an import


class Stubs:
    """The stubs of all files so far. A file has the kind of the most valuable definition in it."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        options = around.options
        self._limits = LineLimits(
            signature=options.max_signature_chars, member=options.max_member_chars
        )
        self._files: dict[str, _FileStub] = {}

    @property
    def num_chars(self) -> int:
        """Characters of all stubs with their paths."""
        return sum(one.num_chars for one in self._files.values())

    def fill(self, kind: ChunkKind, ranked: Iterable[Ranked], max_chars: int) -> None:
        """Add definitions, highest first, while all stubs have at most ``max_chars``."""
        for number, one in enumerate(ranked):
            if number == MAX_TRIED or self.num_chars > max_chars - MIN_LINE_CHARS:
                return
            self._add(kind, one, max_chars)

    def candidates(self) -> Iterator[Candidate]:
        """Yield one candidate for each file, the least valuable first within each kind."""
        for path, one in sorted(self._files.items(), key=lambda item: item[1].score):
            names = ", ".join(one.names[:MAX_NAMES_IN_REASON])
            more = ", …" if len(one.names) > MAX_NAMES_IN_REASON else ""
            is_named = one.kind == "signatures" and one.is_named
            word = "named near the hole" if is_named else _WORDS[one.kind]
            reason = f"{word}: {names}{more}" if names else word
            yield Candidate(path=path, text=one.stub.text(), kind=one.kind, reason=reason)

    def _add(self, kind: ChunkKind, one: Ranked, max_chars: int) -> None:
        reached = one.reached
        known = self._files.get(reached.path)
        if known is None and len(self._files) == MAX_FILES:
            return
        at = known or self._new(kind, one)
        if reached.definition in at.stub:
            _name(at, reached)
            return
        line = at.stub.line(reached.definition)
        room = max_chars - (self.num_chars - at.num_chars)  # for this file
        is_known = self._around.known.has_header(at.stub.header(reached.definition))
        if is_known or at.num_chars + len(line) >= room:
            return
        cost = self._around.cost(reached.path, "") + at.stub.cost_with(reached.definition)
        if cost > room:
            return
        at.stub.add(reached.definition)
        at.num_chars = cost
        _name(at, reached)
        self._files[reached.path] = at

    def _new(self, kind: ChunkKind, one: Ranked) -> _FileStub:
        path = one.reached.path
        symbols = self._around.symbols_of(path)
        definitions = symbols.definitions if symbols else ()
        stub = Stub(definitions, language_for_path(path), self._limits)
        return _FileStub(stub=stub, kind=kind, score=one.score, num_chars=0)


def _name(at: _FileStub, reached: Reached) -> None:
    """Remember what the user is told: the names that brought the file in, not what came along."""
    name = reached.owner if reached.relation in ("receiver", "member", "module") else reached.local
    if reached.relation != "neighbour" and name and name not in at.names:
        at.names.append(name)
        at.is_named = reached.relation == "named"
