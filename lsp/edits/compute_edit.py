"""One inline edit, worked out: arguments → replacements in one version of a document, or why none.

Needs the infill package's grammars, which the server loads on first use. Sends nothing to the
client; a document that moves on meanwhile ends the work.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pygls.uris import to_fs_path

from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.infill.filling.fill_all import OnFillProgress, fill_all
from intarsia.infill.filling.fill_in_order import fill_selection, rewrite_selection
from intarsia.infill.filling.options import AskEngine, FillContext, OnStep
from intarsia.infill.filling.outcome import FilledPlace
from intarsia.infill.filling.places import Selection
from intarsia.infill.filling.replacement import Replacement
from intarsia.infill.holes.find_holes import find_holes, holes_within
from intarsia.infill.holes.hole_rules import is_stub
from intarsia.infill.holes.marked_hole import MarkedHole
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.documents.eligibility import refusal
from intarsia.lsp.edits.edit_arguments import EditArguments
from intarsia.lsp.fill_options import language_of, options_of
from intarsia.lsp.session import Session
from intarsia.lsp.settings import Settings

MOVED = NoSuggestion(reason="the document has changed meanwhile: ask again")


@dataclass(frozen=True, kw_only=True, slots=True)
class ComputedEdit:
    """What an edit came to. ``reason``: why not all holes are filled, or none."""

    document: Document | None
    replacements: tuple[Replacement, ...] = ()
    num_holes: int = 0
    reason: str | None = None


async def compute_edit(
    session: Session, arguments: EditArguments, on_progress: OnFillProgress
) -> ComputedEdit:
    """Have the model fill what is asked for."""
    document = session.documents.current(arguments.text_document.uri)
    if document is None:
        return ComputedEdit(document=None, reason="the document is not open")
    if refused := _why_not(session, document, arguments):
        return ComputedEdit(document=document, reason=refused.reason)
    fillings = await _fill(session, document, arguments, on_progress)
    if session.documents.current(document.uri) is not document:
        return ComputedEdit(document=document, num_holes=len(fillings), reason=MOVED.reason)
    changes = [filling.replacement for filling in fillings]
    reasons = [filling.refusal.reason for filling in fillings if filling.refusal]
    if not fillings:
        reasons = ["nothing here asks to be filled"]
    return ComputedEdit(
        document=document,
        replacements=tuple(change for change in changes if change),
        num_holes=len(fillings),
        reason="; ".join(dict.fromkeys(reasons)) or None,
    )


def holes_of(settings: Settings, document: Document) -> tuple[MarkedHole, ...]:
    """Return all that asks to be filled in a document."""
    path = to_fs_path(document.uri) or ""
    return _holes(document.text, language_of(document), settings.hole_marks, is_stub(path))


@lru_cache(maxsize=2)  # actions are asked for again at every move of the selection
def _holes(
    text: str, language: Language, marks: tuple[str, ...], is_declared: bool
) -> tuple[MarkedHole, ...]:
    return find_holes(text, language, marks=marks, is_stub=is_declared)


def _why_not(session: Session, document: Document, arguments: EditArguments) -> NoSuggestion | None:
    if arguments.text_document.version not in (None, document.version):
        return MOVED
    return refusal(session.settings, document)


async def _fill(
    session: Session,
    document: Document,
    arguments: EditArguments,
    on_progress: OnFillProgress,
) -> Sequence[FilledPlace]:
    settings, language = session.settings, language_of(document)
    options = options_of(settings, settings.invoked_deadline_ms, seed=arguments.seed)
    options = replace(options, is_background=True)  # typing goes on meanwhile
    context = FillContext(ask=_asking(session, document), language=language, options=options)
    selection = _selection(document, arguments)
    match arguments.kind:
        case "fill":
            return [await fill_selection(context, document.text, selection)]
        case "rewrite":
            noise = arguments.noise or settings.rewrite_noise
            return [await rewrite_selection(context, document.text, selection, noise)]
        case "fillAll":
            holes = holes_of(settings, document)
            wanted = holes_within(holes, selection.start, selection.end)
            others = [hole for hole in holes if hole not in wanted]
            return await fill_all(context, document.text, wanted, others, on_progress=on_progress)


def _selection(document: Document, arguments: EditArguments) -> Selection:
    """No range is the whole document; one from right to left is empty."""
    where = arguments.lsp_range
    if where is None:
        return Selection(start=0, end=len(document.text))
    start = document.offset_at(where.start)
    return Selection(start=start, end=max(start, document.offset_at(where.end)))


def _asking(session: Session, document: Document) -> AskEngine:
    """Return what asks the engine for as long as the document stays as it is."""

    async def ask(request: Fill, on_step: OnStep | None = None) -> Filled | NoSuggestion:
        if session.documents.current(document.uri) is not document:
            return MOVED
        filled = await session.engine.fill(request, on_step)
        return filled if session.documents.current(document.uri) is document else MOVED

    return ask
