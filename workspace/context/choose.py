"""Chooses what the model reads of other files before a hole.

Each kind of chunk has its file; here they share one budget. Passages have fixed shares of it, and
signatures get all that is left (``options.SHARES``).

The order of reading: passages first, signatures after them, members of the receiver's type last.
A model uses best what is nearest to the hole (most relevant last: up to 3 % in arXiv 2510.06606).
"""

from collections.abc import Iterable, Sequence
from itertools import chain

from intarsia.workspace.context.candidate import Candidate, Surroundings, surroundings_of
from intarsia.workspace.context.chunk import Chunk, ChunkKind
from intarsia.workspace.context.imported import imported_definitions
from intarsia.workspace.context.options import ChunkOptions
from intarsia.workspace.context.passage import known_lines, split_lines
from intarsia.workspace.context.place import Place
from intarsia.workspace.context.ranked import Ranked, Reached, rank
from intarsia.workspace.context.receiver import receiver_members
from intarsia.workspace.context.same_package import named_definitions
from intarsia.workspace.context.sibling_file import passage_of_test, tested_definitions
from intarsia.workspace.context.similar_passage import recent_edits, similar_passage
from intarsia.workspace.context.stubs import Stubs
from intarsia.workspace.index.reader import IndexReader

READING_ORDER: Sequence[ChunkKind] = ("sibling", "similar", "recent_edit", "signatures", "members")


def choose_chunks(index: IndexReader, place: Place, options: ChunkOptions) -> tuple[Chunk, ...]:
    """Return the chunks for a hole in the order in which the model reads them.

    With their paths they have at most ``options.budget_tokens`` estimated tokens. None is from the
    file itself, from outside its opened folder or from a secret, and none repeats what the file
    says. The same index and place give the same chunks.
    """
    around = surroundings_of(index, place, options)
    passages = _passages(around)
    num_chars = sum(around.cost(one.path, one.text) for one in passages)
    stubs = list(_stubs(around, options.budget_chars - num_chars))
    chosen = [*_not_shown_by(stubs, passages), *stubs]
    chosen.sort(key=lambda one: READING_ORDER.index(one.kind))  # stable within a kind
    return tuple(
        Chunk(
            path=around.shown_path(one.path),
            text=one.text,
            kind=one.kind,
            reason=one.reason,
            seen=around.index.seen(one.path),
        )
        for one in chosen
    )


def _passages(around: Surroundings) -> list[Candidate]:
    """Return the passages within their shares. None repeats the file or another passage."""
    taken: list[Candidate] = []
    known_of_file = around.known
    for kind in ("recent_edit", "similar", "sibling"):
        if kind not in around.options.kinds:
            continue
        for one in _passages_of(kind, around):
            taken.append(one)
            around.known = around.known.with_text(one.text)
    around.known = known_of_file
    return taken


def _not_shown_by(stubs: Iterable[Candidate], passages: Iterable[Candidate]) -> list[Candidate]:
    """Return the passages that say more than the signatures do."""
    shown = known_lines("\n".join(one.text for one in stubs))
    return [one for one in passages if not shown.has_most_of(split_lines(one.text))]


def _passages_of(kind: ChunkKind, around: Surroundings) -> Iterable[Candidate]:
    room = _room(kind, around, around.options.budget_chars)
    match kind:
        case "recent_edit":
            return recent_edits(around, room)  # one by one: each becomes known
        case "similar":
            found = similar_passage(around, room)
        case _:
            found = passage_of_test(around, room)
    return () if found is None else (found,)


def _stubs(around: Surroundings, max_chars: int) -> Iterable[Candidate]:
    kinds = around.options.kinds
    stubs = Stubs(around)
    members = _ranked(around, receiver_members(around)) if "members" in kinds else ()
    stubs.fill("members", members, _room("members", around, max_chars))
    if "signatures" in kinds:
        reached = chain(imported_definitions(around), named_definitions(around))
        stubs.fill("signatures", _ranked(around, reached), max_chars)
    stubs.fill("members", members, max_chars)
    if "sibling" in kinds:
        stubs.fill("sibling", _ranked(around, tested_definitions(around)), max_chars)
    return stubs.candidates()


def _ranked(around: Surroundings, reached: Iterable[Reached]) -> Sequence[Ranked]:
    return rank(reached, around.neighbourhood, around.names)


def _room(kind: ChunkKind, around: Surroundings, num_chars: int) -> int:
    return int(around.options.shares.get(kind, 0.0) * num_chars)
