"""Whatever text, holes, fills, encoding and typing: an edit changes the holes, or it is refused."""

import asyncio

import msgspec
from client_edits import apply_edits, text_edits
from code_like_text import texts
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types
from open_documents import at, changed, taken
from scripted_engine import ScriptedEngine

from intarsia.engine.ipc.messages import Fill
from intarsia.infill.filling.plan import FillPlan
from intarsia.infill.replacement import with_replaced
from intarsia.lsp.edits.compute_edit import STALE, ComputedEdit, compute_edit
from intarsia.lsp.edits.workspace_edit import EditShape, workspace_edit
from intarsia.lsp.protocol_extensions import EditArguments
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.session import Session
from intarsia.lsp.suggestions import Suggestions, plan_suggestion

MARK = "@@"
URI = "file:///tmp/any.txt"
SHAPES = st.builds(
    EditShape,
    has_versions=st.booleans(),
    has_annotations=st.booleans(),
    needs_confirmation=st.booleans(),
)
encodings = st.sampled_from(["utf-8", "utf-16", "utf-32"])
language_ids = st.sampled_from(["python", "rust", "javascript", "plaintext"])


def opened(text: str, language_id: str, encoding: str) -> Session:
    session = IntarsiaServer().session
    session.configure({"holeMarks": [MARK]})
    session.documents.encoding = encoding
    session.documents.open(types.TextDocumentItem(URI, language_id, 1, text))
    return session


def worked_out(session, fills, arguments, typed_at=None) -> ComputedEdit:
    """Work an edit out; at request number ``typed_at``, the user types."""

    def script(request: Fill) -> str:
        number = len(engine.requests) - 1
        if number == typed_at:
            session.documents.change(changed(URI, 2, (at(0, 0), "typed")))
        return fills[number % len(fills)]

    engine = ScriptedEngine(script)
    session.engine = engine
    asked = msgspec.convert(
        {"textDocument": {"uri": URI, "version": 1}, **arguments}, EditArguments
    )
    return asyncio.run(compute_edit(session, asked, lambda progress: None))


def as_client_applies_it(text: str, work: ComputedEdit, shape: EditShape, encoding: str) -> str:
    assert work.document is not None
    edit = workspace_edit(work.document, work.replacements, "label", shape)
    return apply_edits(text, text_edits(edit), encoding)


def test_edits_of_every_kind_give_way_to_fills_at_a_cursor_and_those_do_not():
    everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 2}}
    for kind in ("fill", "fillAll", "rewrite"):
        session = opened(f"x = 1\n{MARK}\n", "python", "utf-16")
        worked_out(session, ["y = 2"], {"kind": kind, "range": everywhere})
        assert isinstance(session.engine, ScriptedEngine)
        assert {it.is_background for it in session.engine.requests} == {True}
        snapshot = taken(session, URI, types.Position(0, 5))
        plan = plan_suggestion(session.feature(Suggestions), snapshot)
        assert isinstance(plan, FillPlan)
        assert not plan.request(snapshot.options).is_background


@settings(max_examples=150)
@given(
    st.lists(texts, min_size=1, max_size=4),
    st.lists(texts, min_size=1),
    language_ids,
    encodings,
    SHAPES,
)
def test_an_edit_of_all_holes_changes_the_holes_and_nothing_else(
    pieces, fills, language_id, encoding, shape
):
    text = MARK.join(pieces)
    work = worked_out(opened(text, language_id, encoding), fills, {"kind": "fillAll"})
    expected = with_replaced(text, work.replacements)
    assert as_client_applies_it(text, work, shape, encoding) == expected
    assert len(work.replacements) <= work.num_holes
    for one in work.replacements:  # outside of marks only what asks for a fill by itself
        assert text[one.start : one.end] == MARK or MARK not in text[one.start : one.end]
    assert (work.reason is None) == (0 < len(work.replacements) == work.num_holes)


@settings(max_examples=100)
@given(
    texts, texts, language_ids, encodings, SHAPES, st.sampled_from(["fill", "rewrite"]), st.data()
)
def test_an_edit_of_a_selection_changes_the_selection_and_nothing_else(
    text, fill, language_id, encoding, shape, kind, data
):
    session = opened(text, language_id, encoding)
    document = session.documents.current(URI)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    place = {
        name: {"line": at.line, "character": at.character}
        for name, at in (("start", document.position_at(start)), ("end", document.position_at(end)))
    }
    work = worked_out(session, [fill], {"kind": kind, "range": place})
    expected = with_replaced(text, work.replacements)
    assert as_client_applies_it(text, work, shape, encoding) == expected
    for one in work.replacements:  # the inside of a CRLF is no place: its end is taken instead
        assert start - 1 <= one.start <= start + 1 and end - 1 <= one.end <= end + 1
        assert text[one.start : one.end] != one.new


@settings(max_examples=100)
@given(st.lists(texts, min_size=2, max_size=4), st.lists(texts, min_size=1), st.integers(0, 5))
def test_an_edit_of_a_text_that_is_typed_in_meanwhile_is_refused(pieces, fills, typed_at):
    text = MARK.join(pieces)
    session = opened(text, "plaintext", "utf-16")
    work = worked_out(session, fills, {"kind": "fillAll"}, typed_at)
    current = session.documents.current(URI)
    if current.version == 2:
        assert (work.replacements, work.reason) == ((), STALE.reason)
    else:
        assert work.reason != STALE.reason
