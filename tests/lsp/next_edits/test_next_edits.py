"""Looks in idle time: what they wait for, what ends them, and what is read before an edit."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from engine_watch import until
from looking_window import BEFORE, EDITED, URI, Window
from lsprotocol import types
from open_documents import changed

from intarsia.engine.ipc.messages import FindNextEdits
from intarsia.lsp.next_edits import next_edits, watched
from intarsia.lsp.status import NextEditCounts

PAUSE_S, LONG_PAUSE_S = 0.05, 0.3


@pytest_asyncio.fixture
async def window(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Window]:
    monkeypatch.setattr(next_edits, "PAUSE_S", PAUSE_S)
    monkeypatch.setattr(next_edits, "LONG_PAUSE_S", LONG_PAUSE_S)
    monkeypatch.setattr(watched, "AFTER_INTERRUPTION_S", 0.01)
    found = Window()
    yield found
    found.looks.configured(None)


@pytest_asyncio.fixture
async def offering(window: Window) -> Window:
    """A window with two offers after an edit."""
    await window.look(EDITED)
    return window


async def test_an_edit_is_looked_at_once_it_is_at_rest(window: Window) -> None:
    window.write(EDITED)
    assert window.engine.asked == []
    await window.looked()
    first, further = window.engine.asked
    assert (first.direction, first.model, first.max_places) == ("below", "a model", 1)
    assert (further.direction, further.max_places) == ("below", 2)
    assert first.example is not None and first.example.before == "old(1)\n"
    assert [[offer.text for offer in offers] for offers in window.offers] == [
        ["new(2)\n"],
        ["new(2)\n", "new(3)\n"],
    ]
    assert window.count == NextEditCounts(settled=1, offered=2)


async def test_a_dismissed_suggestion_is_not_waited_for(window, monkeypatch):
    monkeypatch.setattr(next_edits, "LONG_PAUSE_S", 60.0)
    window.write(EDITED)
    window.looks.suggested(window.document, 0, "a text that is being read")
    await asyncio.sleep(2 * PAUSE_S)
    assert window.engine.asked == []
    window.looks.dismissed_suggestion()
    await asyncio.wait_for(window.looked(), 5)
    assert window.offered()


async def test_uses_of_a_renamed_declaration_wait_for_no_engine(window: Window) -> None:
    window.documents.change(changed(URI, 2, "def old(): pass\n" + BEFORE))
    window.looks.closed(URI)
    window.engine.is_awaited = window.ahead.is_filling = True
    window.looks.suggested(window.document, 0, "a text that is being read")
    await window.look(window.document.text.replace("def old", "def new"))
    assert window.offered() == ["new(1)\n", "new(2)\n", "new(3)\n", "new(4)\n"]
    last = window.offers[-1][-1]
    await window.look(window.document.text.replace("old(4)", "new(4)"))
    assert window.offered() == ["new(1)\n", "new(2)\n", "new(3)\n"]
    assert last.level == "sure" and window.count.accepted == 1
    assert window.engine.asked == []


async def test_the_first_place_is_not_kept_waiting_for_further_ones(window: Window) -> None:
    window.engine.hold_further = asyncio.Event()
    await window.look(EDITED)
    assert window.offered() == ["new(2)\n"]
    window.looks.dismiss(URI, window.offers[-1][0].id)
    window.engine.hold_further.set()
    await until(lambda: len(window.offers) == 3)
    assert window.offered() == ["new(3)\n"]


async def test_every_key_ends_the_look_and_begins_the_pause_again(window: Window) -> None:
    await window.held()
    window.write(EDITED.replace("new(1)", "newer(1)"))
    window.engine.hold.set()
    await window.looked()
    assert [request.example and request.example.after for request in window.engine.asked] == [
        "new(1)\n",
        "newer(1)\n",
        "newer(1)\n",
    ]
    assert window.count.offered == 2
    assert len(window.offers) == 2  # the first look offered nothing


async def test_it_waits_while_the_user_waits_or_fills_run_ahead(window: Window) -> None:
    window.engine.is_awaited = window.ahead.is_filling = True
    window.write(EDITED)
    await asyncio.sleep(4 * PAUSE_S)
    window.engine.is_awaited = False
    await asyncio.sleep(4 * PAUSE_S)
    assert window.engine.asked == []
    window.ahead.is_filling = False
    await window.looked()
    assert len(window.engine.asked) == 2


async def test_fills_ahead_wait_while_a_look_is_due(window: Window) -> None:
    await window.looks.none_due()
    await window.held()
    waiting = asyncio.create_task(window.looks.none_due())
    await asyncio.sleep(PAUSE_S)
    assert not waiting.done()
    window.engine.hold.set()
    await asyncio.wait_for(waiting, 5)


async def test_fills_ahead_go_on_where_a_key_ends_the_look(window: Window) -> None:
    await window.held()
    window.looks.closed(URI)
    await asyncio.wait_for(window.looks.none_due(), 5)


async def test_a_look_that_was_interrupted_is_made_again(window: Window) -> None:
    window.engine.num_interruptions = 3
    await window.look(EDITED)
    assert len(window.engine.asked) == 5
    assert window.count == NextEditCounts(settled=1, offered=2)


async def test_after_the_first_suggestion_the_text_is_read_once(window: Window) -> None:
    window.looks.suggested(window.document, 2, None)
    await window.looked()
    (request,) = window.engine.asked
    assert request.example is None
    assert [part.after for part in request.parts] == [BEFORE]
    window.looks.suggested(window.document, 3, None)
    await window.looked()
    assert len(window.engine.asked) == 1
    assert window.offers == []


async def test_a_suggestion_in_another_document_keeps_the_search_quiet(window: Window) -> None:
    other = types.TextDocumentItem("file:///other.py", "python", 1, "x = 1\n")
    window.documents.open(other)
    reading = window.documents.current("file:///other.py")
    assert reading is not None
    started = time.monotonic()
    window.write(EDITED)
    window.looks.suggested(reading, 0, "more")
    await window.looked()
    assert time.monotonic() - started >= LONG_PAUSE_S


async def test_fills_ahead_do_not_wait_for_a_text_that_is_only_read(window: Window) -> None:
    window.engine.hold = asyncio.Event()
    window.looks.suggested(window.document, 2, None)
    await until(lambda: len(window.engine.asked) == 1)
    await asyncio.wait_for(window.looks.none_due(), 5)


async def test_after_accepting_a_suggestion_the_pause_is_longer(window: Window) -> None:
    shown = "x = 1\n" * 9  # as long as a paste that is not looked at
    window.looks.suggested(window.document, 0, shown)
    await window.looked()
    started = time.monotonic()
    await window.look("x = 1\n" + BEFORE, shown)
    assert time.monotonic() - started >= LONG_PAUSE_S
    assert window.count.settled == 1


async def test_a_long_paste_and_undo_are_not_looked_at(window: Window) -> None:
    pasted = "x = 1\n" * 9
    await window.look(BEFORE + pasted, pasted)
    await window.look(BEFORE)
    assert window.engine.asked == []
    await window.look(EDITED)
    assert len(window.engine.asked) == 2


async def test_nothing_is_offered_right_after_undo_and_again_after_the_next_change(offering):
    offered = offering.offered()
    offering.write(EDITED + "x = 1\n")
    assert offering.offered() == offered
    offering.write(EDITED)  # undo
    assert offering.offered() == []
    assert offering.looks.rename_in(offering.document) is None
    offering.write(EDITED + "x = 1\n")  # redo
    assert offering.offered() == []
    offering.write(EDITED + "x = 12\n")
    assert offering.offered() == offered


async def test_an_accepted_offer_is_a_changed_part_and_the_example_stays(offering: Window) -> None:
    offering.write(EDITED.replace("old(2)", "new(2)"))
    assert offering.count.accepted == 1
    assert offering.offered() == ["new(3)\n"]
    await offering.looked()
    request = offering.engine.asked[-1]
    assert request.example is not None and request.example.before == "old(1)\n"
    assert "".join(part.before for part in request.parts) == BEFORE
    assert [part.after for part in request.parts if part.may_change] == ["old(3)\nold(4)\n"]
    assert offering.offered() == ["new(3)\n", "new(4)\n"]
    assert offering.count.settled == 1


async def test_a_rename_is_offered_with_offers_that_go_on_with_it(offering: Window) -> None:
    rename = offering.looks.rename_in(offering.document)
    assert (rename.old_name, rename.new_name, rename.starts) == ("old", "new", (0,))
    offering.write(EDITED.replace("old(2)", "new(2)"))  # an accepted offer is part of it
    await offering.looked()
    rename = offering.looks.rename_in(offering.document)
    assert rename is not None and rename.starts == (0, 7)
    offering.write(offering.document.text + "x = 1\n")
    assert len(offering.offers[-1]) == 2
    assert offering.looks.rename_in(offering.document) is None


async def test_what_a_rename_changes_is_not_looked_at_and_closes_the_offers(offering):
    offering.looks.hold()
    offering.write(BEFORE)
    assert offering.looks.offers_of(URI) == ()
    offering.write(BEFORE.replace("old", "new"))
    assert len(offering.offers) == 2  # nothing is sent while it runs
    offering.looks.release(is_renamed=True)
    assert list(offering.offers[-1]) == []
    offering.looks.cursor_moved(URI, 2)
    await offering.looked()
    offering.write(BEFORE)  # undo
    await offering.looked()
    offering.write(BEFORE.replace("old", "new"))  # redo
    await offering.looked()
    assert len(offering.engine.asked) == 2
    await offering.look(BEFORE.replace("old", "new").replace("new(1)", "newer(1)"))
    request = offering.engine.asked[-1]
    assert request.example is not None and request.example.before == "new(1)\n"


async def test_a_rename_changes_other_documents_too(window: Window) -> None:
    uri = "file:///b.py"
    window.documents.open(types.TextDocumentItem(uri, "python", 1, "old(9)\n"))
    await window.look(EDITED)
    window.looks.hold()
    before = window.documents.current(uri)
    assert before is not None
    window.documents.change(changed(uri, 2, "new(9)\n"))
    after = window.documents.current(uri)
    assert after is not None
    window.looks.document_changed(before, after, ())
    window.looks.release(is_renamed=True)
    await window.looks.settled(uri)
    assert len(window.engine.asked) == 2
    assert len(window.offers[-1]) == 2  # those of the document that it did not change


async def test_a_rename_that_failed_leaves_the_offers_open(offering: Window) -> None:
    ids = [offer.id for offer in offering.offers[-1]]
    offering.looks.hold()
    offering.write(BEFORE)
    offering.write(EDITED)
    offering.looks.release(is_renamed=False)
    assert [offer.id for offer in offering.offers[-1]] == ids
    assert offering.looks.rename_in(offering.document) is not None
    offering.looks.release(is_renamed=True)  # without a rename that runs it means nothing
    assert len(offering.looks.offers_of(URI)) == 2


async def test_what_is_typed_during_a_rename_that_failed_is_a_change_of_the_user(offering):
    offering.looks.hold()
    offering.write(BEFORE)
    offering.write(BEFORE + "x = 1\n")
    offering.write(EDITED + "x = 1\n")
    offering.looks.release(is_renamed=False)
    assert len(offering.offers[-1]) == 2
    await offering.looked()
    assert offering.count.settled == 2


async def test_a_client_that_never_says_how_a_rename_ended_is_not_waited_for(window, monkeypatch):
    monkeypatch.setattr(watched, "LONGEST_HOLD_S", PAUSE_S)
    window.looks.hold()
    window.write(EDITED)
    assert window.engine.asked == []
    await until(lambda: window.count.offered == 2)


async def test_a_document_that_is_closed_during_a_rename_is_forgotten(offering: Window) -> None:
    offering.looks.hold()
    offering.write(BEFORE)
    offering.looks.closed(URI)
    offering.documents.close(URI)
    offering.looks.release(is_renamed=True)
    assert list(offering.offers[-1]) == []


async def test_a_dismissed_place_may_not_change(offering: Window) -> None:
    offering.looks.dismiss(URI, offering.offers[-1][0].id)
    assert offering.offered() == ["new(3)\n"]
    offering.looks.dismiss(URI, "unknown")
    assert offering.count.dismissed == 1
    await offering.look(EDITED.replace("new(1)", "newer(1)"))
    held = [part.after for part in offering.engine.asked[-1].parts if not part.may_change]
    assert held == ["newer(1)\n", "old(2)\n"]
    assert offering.offered() == ["new(3)\n", "new(4)\n"]


async def test_an_edit_that_leaves_nothing_to_change_keeps_the_offers_of_the_one_before(offering):
    commented = EDITED + "# the last one is kept\n"
    offering.engine.rules = []
    await offering.look(commented)
    assert len(offering.engine.asked) > 2
    assert offering.offered() == ["new(2)\n", "new(3)\n"]
    commented = commented.replace("old(2)", "new(2)")
    await offering.look(commented)
    assert (offering.offered(), offering.count.accepted) == (["new(3)\n"], 1)
    await offering.look(commented.replace("new(1)", "newer(1)"))
    assert offering.offered() == [], "the edit that they follow goes on"


async def test_a_closed_document_loses_its_offers(offering: Window) -> None:
    offering.looks.closed(URI)
    assert list(offering.offers[-1]) == []
    assert offering.looks.offers_of(URI) == ()
    offering.looks.cursor_moved(URI, 1)
    offering.looks.dismiss(URI, "1")
    await offering.looked()


async def test_a_fault_is_logged_and_ends_only_its_look(window, caplog):
    find = window.engine.find_next_edits

    async def fail(request: FindNextEdits) -> None:
        raise RuntimeError("a fault")

    window.engine.find_next_edits = fail
    await window.look(EDITED)
    assert "looking for next edits failed" in caplog.text
    window.engine.find_next_edits = find
    await window.look(EDITED.replace("new(1)", "newer(1)"))
    assert window.count.offered == 2
