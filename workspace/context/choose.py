"""Chooses what the model reads of other files before a hole.

Each kind of chunk has its file; here they share one budget. Passages have fixed shares of it, and
signatures get all that is left (``chunk.SHARES``). What they leave widens the similar passage.

The order of reading: passages first, signatures after them, members of the receiver's type last.
A model uses best what is nearest to the hole (most relevant last: up to 3 % in arXiv 2510.06606).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from intarsia.infill.canvas import budget_chars
from intarsia.infill.languages import language_for_path
from intarsia.workspace.context.candidate import Surroundings
from intarsia.workspace.context.chunk import SHARES, Chunk, ChunkKind, ChunkOptions, Place
from intarsia.workspace.context.imported import imported_definitions, named_definitions
from intarsia.workspace.context.passage import known_lines, split_lines
from intarsia.workspace.context.ranked import Ranked, Reached, rank
from intarsia.workspace.context.receiver import receiver_members
from intarsia.workspace.context.similar_passage import (
    SimilarPassage,
    passage_of_test,
    recent_edits,
    similar_passage,
    tested_definitions,
)
from intarsia.workspace.context.stub import Stub
from intarsia.workspace.index.project_index import ProjectIndex

READING_ORDER: Sequence[ChunkKind] = ("sibling", "similar", "recent_edit", "signatures", "members")


def choose_chunks(index: ProjectIndex, place: Place, options: ChunkOptions) -> tuple[Chunk, ...]:
    """Return the chunks for a hole in the order in which the model reads them.

    With their paths they have at most ``options.budget_tokens`` estimated tokens. None is from the
    file itself, from outside its opened folder or from a secret, and none repeats what the file
    says. The same index and place give the same chunks.
    """
    around = Surroundings(index, place, options)
    passages, similar = _passages(around)
    max_chars = budget_chars(options.budget_tokens)
    stubs = list(_stubs(around, max_chars - around.total_cost(passages)))
    shown = known_lines("\n".join(one.text for one in stubs))
    chosen = [one for one in passages if not shown.has_most_of(split_lines(one.text))] + stubs
    if similar is not None and similar.chunk in chosen:
        chosen.remove(similar.chunk)
        left = max_chars - around.total_cost(chosen)
        chosen.append(similar.widened(around, chosen, left))
    chosen.sort(key=lambda one: READING_ORDER.index(one.kind))  # stable within a kind
    return tuple(
        replace(one, path=around.shown_path(one.path), seen=around.index.seen(one.path))
        for one in chosen
    )


def _passages(around: Surroundings) -> tuple[list[Chunk], SimilarPassage | None]:
    """Return the passages within their shares, and the similar one with its place in its file.

    None repeats the file or another passage.
    """
    taken: list[Chunk] = []
    similar = None
    num_chars = budget_chars(around.options.budget_tokens)
    known_of_file = around.known

    def take(one: Chunk) -> None:
        taken.append(one)
        around.known = around.known.with_text(one.text)

    if "recent_edit" in around.options.kinds:
        for edit in recent_edits(around, _room("recent_edit", num_chars)):
            take(edit)  # one by one: each becomes known
    if "similar" in around.options.kinds:
        similar = similar_passage(around, _room("similar", num_chars))
        if similar is not None:
            take(similar.chunk)
    if "sibling" in around.options.kinds:
        sibling = passage_of_test(around, _room("sibling", num_chars))
        if sibling is not None:
            take(sibling)
    around.known = known_of_file
    return taken, similar


def _stubs(around: Surroundings, max_chars: int) -> Iterable[Chunk]:
    kinds = around.options.kinds
    stubs = Stubs(around)
    members = _ranked(around, receiver_members(around)) if "members" in kinds else ()
    stubs.fill("members", members, _room("members", max_chars))
    if "signatures" in kinds:
        reached = chain(imported_definitions(around), named_definitions(around))
        stubs.fill("signatures", _ranked(around, reached), max_chars)
    stubs.fill("members", members, max_chars)
    if "sibling" in kinds:
        stubs.fill("sibling", _ranked(around, tested_definitions(around)), max_chars)
    return stubs.candidates()


def _ranked(around: Surroundings, reached: Iterable[Reached]) -> Sequence[Ranked]:
    return rank(reached, around.neighbourhood, around.names)


def _room(kind: ChunkKind, num_chars: int) -> int:
    return int(SHARES[kind] * num_chars)


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

    def candidates(self) -> Iterator[Chunk]:
        """Yield one candidate for each file, the least valuable first within each kind."""
        for path, one in sorted(self._files.items(), key=lambda item: item[1].score):
            names = ", ".join(one.names[:MAX_NAMES_IN_REASON])
            more = ", …" if len(one.names) > MAX_NAMES_IN_REASON else ""
            is_named = one.kind == "signatures" and one.is_named
            word = "named near the hole" if is_named else _WORDS[one.kind]
            reason = f"{word}: {names}{more}" if names else word
            yield Chunk(path=path, text=one.stub.text(), kind=one.kind, reason=reason)

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
        stub = Stub(definitions, language_for_path(path))
        return _FileStub(stub=stub, kind=kind, score=one.score, num_chars=0)


def _name(at: _FileStub, reached: Reached) -> None:
    """Remember what the user is told: the names that brought the file in, not what came along."""
    name = reached.owner if reached.relation in ("receiver", "member", "module") else reached.local
    if reached.relation != "neighbour" and name and name not in at.names:
        at.names.append(name)
        at.is_named = reached.relation == "named"
