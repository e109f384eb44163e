"""A first answer at a new place is written from less; once more was read, the next ones are not."""

import pytest
from lsprotocol import types

from intarsia.engine.ipc.messages import Prefetch
from intarsia.infill.canvas.window import budget_chars
from intarsia.infill.filling.plan import FillPlan
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.snapshot import Snapshot, take_snapshot
from intarsia.lsp.requests.plan import FIRST_BUDGET, is_first, plan_suggestion, plan_whole
from intarsia.lsp.requests.prefetch import prefetch
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.session import Session

URI = "file:///tmp/a.py"
LINES = [f"value_{number} = compute({number})\n" for number in range(100, 900)]
FIRST_CHARS = budget_chars(FIRST_BUDGET["prefix_tokens"])


@pytest.fixture
def session() -> Session:
    session = IntarsiaServer().session
    session.configure({"fillAhead": "always"})
    session.documents.open(types.TextDocumentItem(URI, "python", 1, "".join(LINES)))
    return session


def at(session: Session, line: int) -> Snapshot:
    snapshot = take_snapshot(session.documents, URI, types.Position(line, 12))
    assert not isinstance(snapshot, NoSuggestion)
    return snapshot


def planned(session: Session, line: int) -> tuple[FillPlan, bool]:
    """Return the plan of a request in this line, and whether it reads less than it might."""
    snapshot = at(session, line)
    plan = plan_suggestion(session, snapshot)
    assert isinstance(plan, FillPlan)
    return plan, is_first(session, snapshot, plan)


def read_whole(session: Session, line: int) -> None:
    plan = plan_whole(session, at(session, line))
    assert isinstance(plan, FillPlan)
    session.windows.remember(URI, plan.canvas.window)


def test_the_first_answer_reads_little(session: Session) -> None:
    plan, is_short = planned(session, 400)
    assert is_short
    assert len(plan.canvas.prefix) <= FIRST_CHARS
    assert len(plan.canvas.suffix) <= budget_chars(FIRST_BUDGET["suffix_tokens"])


def test_until_more_is_read_the_same_window_stays(session: Session) -> None:
    one, _ = planned(session, 400)
    other, is_short = planned(session, 403)
    assert is_short
    assert other.canvas.prefix.startswith(one.canvas.prefix)


def test_once_all_is_read_it_is_used(session: Session) -> None:
    planned(session, 400)
    read_whole(session, 400)
    plan, is_short = planned(session, 400)
    assert not is_short
    assert len(plan.canvas.prefix) > FIRST_CHARS


@pytest.mark.parametrize("line", [330, 390, 401, 410])
def test_nearby_the_prefix_that_is_read_is_used(session: Session, line: int) -> None:
    """The suffix would have to be read again: the first answer is written from less of it."""
    planned(session, 400)
    read_whole(session, 400)
    plan, is_short = planned(session, line)
    assert is_short
    assert len(plan.canvas.prefix) > FIRST_CHARS
    assert len(plan.canvas.suffix) <= budget_chars(FIRST_BUDGET["suffix_tokens"])
    assert planned(session, line)[0].canvas == plan.canvas
    read_whole(session, line)
    assert not planned(session, line)[1]


@pytest.mark.parametrize("line", [100, 300, 470, 700])
def test_elsewhere_it_is_a_first_answer_again(session: Session, line: int) -> None:
    read_whole(session, 400)
    assert planned(session, line)[1]


def test_going_back_finds_what_was_read(session: Session) -> None:
    read_whole(session, 400)
    assert planned(session, 700)[1]
    assert not planned(session, 400)[1]


def test_all_is_read_at_once_where_idle_time_is_not_used(session: Session) -> None:
    session.configure({"fillAhead": "off"})
    plan, is_short = planned(session, 400)
    assert not is_short
    assert len(plan.canvas.prefix) > FIRST_CHARS


def test_a_short_file_is_read_whole(session: Session) -> None:
    text = "".join(LINES[:40])
    session.documents.open(types.TextDocumentItem(URI, "python", 1, text))
    plan, is_short = planned(session, 20)
    assert not is_short
    assert len(plan.canvas.prefix) + len(plan.canvas.suffix) > len(text) - 40


async def test_a_resting_cursor_has_that_read_which_a_request_there_sends(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    places: list[Prefetch] = []
    monkeypatch.setattr(session.engine, "prefetch", places.append)
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    change = types.TextDocumentContentChangePartial(start, "# edited\n")
    document = types.VersionedTextDocumentIdentifier(2, URI)
    session.change_document(types.DidChangeTextDocumentParams(document, [change]))
    await prefetch(session, URI, types.Position(400, 12))
    plan, is_short = planned(session, 400)
    assert is_short
    assert [(it.prefix, it.suffix) for it in places] == [(plan.canvas.prefix, plan.canvas.suffix)]
