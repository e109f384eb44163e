"""Takes the snapshot that a request answers from, with why its document gets no suggestions, if so.

All of a snapshot is resolved here, once, under the settings that are in force now. They say in
which documents there are suggestions, by language and path; in which fences of Markdown; for
automatic requests, whether in comments and strings; and how holes are filled. ``lsp/manners.py``
goes by what the user does. Long texts are read and parsed in a thread.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from lsprotocol import types

from intarsia.infill.canvas import Budget
from intarsia.infill.filling.plan import FillOptions
from intarsia.infill.languages import PLAIN_TEXT, Language, language_for_id
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.embedded_code import code_at
from intarsia.infill.syntax.tree import Prose, parse, prose_in
from intarsia.lsp.documents import Document, Folder, Snapshot, folder_of, scheme_of, uri_path
from intarsia.lsp.session import Session
from intarsia.lsp.settings import Settings
from intarsia.workspace.files.exclusion import SECRETS, excluding_pattern, excluding_pattern_on_disk


async def seen(
    session: Session,
    uri: str,
    position: types.Position,
    selected: types.SelectedCompletionInfo | None = None,
) -> Snapshot | NoSuggestion:
    """Return what a request sees of a document as it is now, once its settings are known."""
    document = session.documents.current(uri)
    if document is None:
        return NoSuggestion(reason=session.documents.why_none(uri))
    await session.settings_requests.settled()
    return snapshot_of(session, document, position, selected)


def snapshot_of(
    session: Session,
    document: Document,
    position: types.Position,
    selected: types.SelectedCompletionInfo | None = None,
) -> Snapshot:
    """Return what is seen of a document at a position."""
    text, offset = document.text, document.offset_at(position)
    if selected is not None:
        start = document.offset_at(selected.range.start)
        end = max(start, document.offset_at(selected.range.end))
        text, offset = text[:start] + selected.text + text[end:], start + len(selected.text)
    around, settings = session.documents.text_around(document.uri), session.in_force.of(document)
    return Snapshot(
        document=document,
        text=around.before + text + around.after,
        offset=len(around.before) + offset,
        place=offset,
        selected=selected,
        language=document.language,
        settings=settings,
        options=options_of(settings, settings.deadline_ms),
        refusal=ineligibility(settings, document, session.in_force.folders),
        # None fits beside a word that is selected in the client's own menu.
        shows_drafts=session.extensions.drafts and settings.drafts and selected is None,
        extensions=session.extensions,
    )


def refusal_of(session: Session, document: Document) -> NoSuggestion | None:
    """Return why a document gets no suggestions, None where it gets them."""
    return ineligibility(session.in_force.of(document), document, session.in_force.folders)


MAX_CHARS_ON_LOOP = 100_000

T = TypeVar("T")


async def read_text(text: str, work: Callable[[], T]) -> T:
    """Return what ``work`` makes of the text; it runs in a thread if the text is long."""
    return await asyncio.to_thread(work) if len(text) > MAX_CHARS_ON_LOOP else work()


async def parse_if_long(text: str, offset: int, language: Language) -> None:
    """Parse a long text in a thread. Planning a fill at this offset then finds it parsed."""
    if len(text) > MAX_CHARS_ON_LOOP:
        await asyncio.to_thread(parse_at, text, offset, language)


def parse_at(text: str, offset: int, language: Language) -> None:
    """Parse a text, and the code at an offset of it."""
    code = code_at(text, offset, offset, language)
    parse(text, language)
    parse(code.text, code.language)


_VIEWS = ("", "git", "gitlens", "fugitive", "diffview", "jdt", "output", "debug", "comment")
"""Schemes of documents that editors show and nobody writes in. A malformed URI has none."""


def ineligibility(
    settings: Settings, document: Document, folders: Iterable[Folder] = ()
) -> NoSuggestion | None:
    """Return why the document gets no suggestions, None where it gets them.

    A document need not be a file on disk, but a view of one gets none. A new document may already
    have the path under which it will be saved.
    """
    if not settings.enabled:
        return NoSuggestion(reason="suggestions are switched off (option enabled)", kind="off")
    if document.language_id in settings.disabled_languages:
        reason = f"{document.language_id} is in disabledLanguages"
        return NoSuggestion(reason=reason, kind="language")
    uri = document.file_uri
    scheme = scheme_of(uri)
    if scheme in _VIEWS and folder_of(uri, folders) is None:
        reason = "the document is not a file on disk, but a view of one: open the file itself"
        return NoSuggestion(reason=reason, kind="excluded")
    path, secrets = uri_path(uri), SECRETS if settings.exclude_secrets else ()
    find_pattern = excluding_pattern_on_disk if scheme == "file" else excluding_pattern
    if pattern := find_pattern(path, (*settings.exclude, *secrets)):
        reason = f"{path.name} is excluded by the pattern {pattern!r}"
        return NoSuggestion(reason=reason, kind="excluded")
    return None


def fence_ineligibility(
    disabled_languages: Iterable[str], text: str, start: int, end: int, language: Language
) -> NoSuggestion | None:
    """Return why a range of the text gets none: it is in code of a disabled language."""
    if not language.embeds or not disabled_languages:
        return None
    code = code_at(text, start, end, language).language
    disabled = {language_for_id(name).id for name in disabled_languages}
    if code.id == language.id or code.id not in disabled - {PLAIN_TEXT.id}:
        return None
    reason = f"{code.id} is in disabledLanguages, also in {language.id}"
    return NoSuggestion(reason=reason, kind="language")


def refusal_of_fence(snapshot: Snapshot) -> NoSuggestion | None:
    """Return why nothing is suggested in the fence around the cursor, None where something is."""
    disabled, offset = snapshot.settings.disabled_languages, snapshot.offset
    return fence_ineligibility(disabled, snapshot.text, offset, offset, snapshot.language)


_IN_COMMENT = NoSuggestion(reason="the cursor is in a comment (inComments)", kind="comment")
_REASONS: Mapping[Prose, NoSuggestion] = {
    "comment": _IN_COMMENT,
    "documentation": _IN_COMMENT,
    "string": NoSuggestion(reason="the cursor is in a string (inStrings)", kind="string"),
}


def prose_silence(snapshot: Snapshot) -> NoSuggestion | None:
    """Return why an automatic request gets nothing in this comment or string, None elsewhere."""
    settings = snapshot.settings
    if settings.in_strings and settings.in_comments == "always":
        return None
    prose = prose_in(snapshot.text, snapshot.language, snapshot.offset)
    if prose is None or prose in _wanted(settings):
        return None
    return _REASONS[prose]


def _wanted(settings: Settings) -> set[Prose]:
    wanted: set[Prose] = {"string"} if settings.in_strings else set()
    if settings.in_comments != "never":
        wanted.add("documentation")
    if settings.in_comments == "always":
        wanted.add("comment")
    return wanted


def options_of(settings: Settings, deadline_ms: int, **others: Any) -> FillOptions:
    """Return the options; ``others`` are fields that no setting is for."""
    return FillOptions(
        decoding=settings.decoding,
        num_candidates=settings.edit_candidates,
        is_fresh=not settings.warm_start,
        deadline_ms=deadline_ms,
        model=settings.model,
        budget=Budget(
            prefix_tokens=settings.max_prefix_tokens,
            suffix_tokens=settings.max_suffix_tokens,
            hole_tokens=settings.max_hole_tokens,
        ),
        **others,
    )
