"""Computes one inline edit: the replacements in one version of a document, or why there are none.

Needs the infill package's grammars, so the server imports it on first use. Sends nothing to the
client. When the document changes, the computation stops.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

from lsprotocol import types

from intarsia.infill.filling.fill_places import (
    OnFillProgress,
    fill_all,
    fill_selection,
    rewrite_selection,
    write_documentation,
)
from intarsia.infill.filling.instruct import instruct_selection
from intarsia.infill.filling.outcome import Cursor, FilledPlace, FillResult, Place, Selection
from intarsia.infill.filling.plan import FillContext
from intarsia.infill.holes.find_holes import find_holes, holes_within, is_stub
from intarsia.infill.holes.hole import MarkedHole
from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.languages import Language
from intarsia.infill.replacement import Replacement, inserted_ranges, with_replaced
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents import Document, disk_path
from intarsia.lsp.edits.repair import STALE, compute_repair, fill_while_current, project_finder
from intarsia.lsp.project.index_connection import IndexConnection, needed_imports
from intarsia.lsp.protocol_extensions import EditArguments
from intarsia.lsp.session import Session
from intarsia.lsp.settings import Settings
from intarsia.lsp.snapshots import (
    fence_ineligibility,
    options_of,
    parse_if_long,
    read_text,
    refusal_of,
)

INSTRUCT_MS = 120_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ComputedEdit:
    """An edit's result. ``reason`` tells why some holes, or all, are not filled."""

    document: Document | None
    replacements: tuple[Replacement, ...] = ()
    imports: tuple[Replacement, ...] = ()  # that the replacements need
    num_holes: int = 0
    reason: str | None = None
    caution: str | None = None  # about the model, the first time


async def compute_edit(
    session: Session, arguments: EditArguments, on_progress: OnFillProgress
) -> ComputedEdit:
    """Fill the requested holes."""
    await session.settings_requests.settled()
    document = session.documents.current(arguments.text_document.uri)
    if document is None:
        return ComputedEdit(document=None, reason="the document is not open")
    if refusal := _refusal(session, document, arguments):
        return ComputedEdit(document=document, reason=refusal.reason)
    if arguments.kind == "repair":
        return await _repair(session, document, _selection(document, arguments))
    filled_places = await _fill(session, document, arguments, on_progress)
    if session.documents.current(document.uri) is not document:
        return ComputedEdit(document=document, num_holes=len(filled_places), reason=STALE.reason)
    filled_in = [it.replacement for it in filled_places if it.replacement is not None]
    imports = await _imports(session, document, filled_in)
    if session.documents.current(document.uri) is not document:
        return ComputedEdit(document=document, num_holes=len(filled_places), reason=STALE.reason)
    reasons = [filled.refusal.reason for filled in filled_places if filled.refusal]
    if not filled_places:
        reasons = ["there is no hole to fill here"]
    return ComputedEdit(
        document=document,
        replacements=tuple(filled_in),
        imports=imports,
        num_holes=len(filled_places),
        reason="; ".join(dict.fromkeys(reasons)) or None,
        caution=_new_caution(session, filled_places),
    )


def _new_caution(session: Session, filled_places: Sequence[FilledPlace]) -> str | None:
    """Return what the engine says against its model's edits, if that was not told before."""
    outcomes = (it.outcome for it in filled_places)
    found = {it.filled.caution for it in outcomes if isinstance(it, FillResult)} - {""}
    new = found - session.told_cautions
    session.told_cautions |= new
    return "; ".join(sorted(new)) or None


async def _imports(
    session: Session, document: Document, filled: Sequence[Replacement]
) -> tuple[Replacement, ...]:
    """Return the edits that import what the fills need; none that would touch a fill."""
    if not filled or not session.settings_of(document).add_imports:
        return ()
    text, language = with_replaced(document.text, filled), document.language
    inserted = inserted_ranges(filled)
    needed = await needed_imports(
        session.feature(IndexConnection), document, language, text, inserted
    )
    edits = import_edits(document.text, needed or (), filled[0].start, language)
    touched = any(
        one.start <= other.end and other.start <= one.end for one in edits for other in filled
    )
    return () if touched else edits


async def _repair(session: Session, document: Document, where: Selection) -> ComputedEdit:
    repair = await compute_repair(session, document, where.start, where.end)
    if isinstance(repair, NoSuggestion):
        return ComputedEdit(document=document, num_holes=1, reason=repair.reason)
    return ComputedEdit(document=document, replacements=(repair.replacement,), num_holes=1)


def holes_of(settings: Settings, document: Document) -> tuple[MarkedHole, ...]:
    """Return the marked holes of a document, without those in a fence of a disabled language."""
    is_stub_file = is_stub(disk_path(document.uri) or "")
    language, disabled = document.language, settings.disabled_languages
    return _holes(document.text, language, settings.hole_marks, disabled, is_stub_file)


@lru_cache(maxsize=2)  # clients request actions at every move of the selection
def _holes(
    text: str,
    language: Language,
    marks: tuple[str, ...],
    disabled: tuple[str, ...],
    is_stub_file: bool,
) -> tuple[MarkedHole, ...]:
    holes = find_holes(text, language, marks=marks, is_stub=is_stub_file)
    return tuple(
        hole
        for hole in holes
        if fence_ineligibility(disabled, text, hole.start, hole.end, language) is None
    )


def _refusal(session: Session, document: Document, arguments: EditArguments) -> NoSuggestion | None:
    if arguments.text_document.version not in (None, document.version):
        return STALE
    if refusal := refusal_of(session, document):
        return refusal
    disabled, text = session.settings_of(document).disabled_languages, document.text
    places: Sequence[Place] = _places(document, arguments)
    if any(one.end > other.start for one, other in pairwise(places)):
        return NoSuggestion(reason="two of the places overlap")
    if arguments.kind != "fillAll":  # whose holes are chosen by their language
        places = [_selection(document, arguments)]
    refusals = (
        fence_ineligibility(disabled, text, it.start, it.end, document.language) for it in places
    )
    return next((it for it in refusals if it is not None), None)


async def _fill(
    session: Session, document: Document, arguments: EditArguments, on_progress: OnFillProgress
) -> Sequence[FilledPlace]:
    settings, language = session.settings_of(document), document.language
    deadline_ms, seed = settings.invoked_deadline_ms, arguments.seed
    if arguments.kind == "instruct":  # half an answer is none, and the user can cancel
        deadline_ms = max(deadline_ms, INSTRUCT_MS)
    context = FillContext(
        ask=fill_while_current(session, document),
        language=language,
        # A suggestion while typing goes first.
        options=options_of(settings, deadline_ms, seed=seed, is_background=True),
        find_project=await project_finder(session, document),
    )
    selection = _selection(document, arguments)
    await parse_if_long(document.text, selection.start, language)
    match arguments.kind:
        case "fill":
            return [await fill_selection(context, document.text, selection)]
        case "rewrite":
            noise = arguments.noise or settings.rewrite_noise
            return [await rewrite_selection(context, document.text, selection, noise)]
        case "instruct":
            instruction = arguments.instruction
            return [await instruct_selection(context, document.text, selection, instruction)]
        case "document":
            return [await write_documentation(context, document.text, selection)]
        case "fillAll" if arguments.ranges:
            places = _places(document, arguments)
            return await fill_all(context, document.text, places, on_progress=on_progress)
        case "fillAll":
            holes = await read_text(document.text, partial(holes_of, settings, document))
            selected = holes_within(holes, selection.start, selection.end)
            others = [hole for hole in holes if hole not in selected]
            return await fill_all(context, document.text, selected, others, on_progress=on_progress)
        case "repair":
            raise AssertionError("a repair fills no place")


def _places(document: Document, arguments: EditArguments) -> Sequence[Cursor | Selection]:
    """Return the places that the client tells, in file order, none twice."""
    found = {_as_selection(document, it) for it in arguments.lsp_ranges}
    ordered = sorted(found, key=lambda it: (it.start, it.end))
    return [it if it.start < it.end else Cursor(start=it.start) for it in ordered]


def _selection(document: Document, arguments: EditArguments) -> Selection:
    """Return the range as offsets: without one the whole document."""
    where = arguments.lsp_range
    if where is None:
        return Selection(start=0, end=len(document.text))
    return _as_selection(document, where)


def _as_selection(document: Document, where: types.Range) -> Selection:
    """Return a range as offsets, empty where it is reversed."""
    start = document.offset_at(where.start)
    return Selection(start=start, end=max(start, document.offset_at(where.end)))
