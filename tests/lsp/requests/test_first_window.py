"""A first answer at a new place is written from less; what was read is not read again."""

from pathlib import Path

import pytest
from lsprotocol import types
from open_documents import at as at_range
from open_documents import changed, taken
from toy_causal import save_toy, toy_causal_model, toy_filler, toy_text
from toy_causal_fill import run_fill

from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.infill.canvas import Window, budget_chars, window_of
from intarsia.infill.filling.plan import FillPlan
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp import suggestions as suggestions_module
from intarsia.lsp.documents import Snapshot
from intarsia.lsp.requests.code_action import prefetch
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.session import Session
from intarsia.lsp.snapshots import options_of
from intarsia.lsp.suggestions import (
    FIRST_BUDGET,
    MAX_DOCUMENTS,
    MAX_WINDOWS,
    Suggestions,
    Windows,
    plan_suggestion,
    plan_whole,
)

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
    return taken(session, URI, types.Position(line, 12))


def planned(session: Session, line: int) -> tuple[FillPlan, bool]:
    """Return the plan of a request in this line, and whether it reads less than it might."""
    snapshot = at(session, line)
    plan = plan_suggestion(session.feature(Suggestions), snapshot)
    assert isinstance(plan, FillPlan)
    return plan, plan.canvas.is_short


def read_whole(session: Session, line: int) -> None:
    plan = plan_whole(session.feature(Suggestions), at(session, line))
    assert isinstance(plan, FillPlan)
    session.feature(Suggestions).windows.remember(URI, plan.canvas.window)


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


async def test_a_resting_cursor_has_that_read_which_a_request_there_sends(session, monkeypatch):
    places: list[Fill] = []
    monkeypatch.setattr(session.engine, "prefetch_hole", lambda fill, _: places.append(fill))
    session.documents.change(changed(URI, 2, (at_range(0, 0), "# edited\n")))
    await prefetch(session, URI, types.Position(400, 12))
    plan, is_short = planned(session, 400)
    assert is_short
    assert [(it.prefix, it.suffix) for it in places] == [(plan.canvas.prefix, plan.canvas.suffix)]


SHORT_LINES = [f"a{number}=b\n" for number in range(100, 300)]
WINDOW = {"maxPrefixTokens": 40, "maxSuffixTokens": 12}
NEAR = 25
"""Tokens of about three lines: those between boundary and hole, and where the suffix ends."""


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toy(tmp_path_factory.mktemp("toy"), toy_causal_model("qwen2"))


@pytest.fixture
def filler(toy: Path) -> MaskedCausalFiller:
    return toy_filler(toy)


@pytest.fixture
def narrow() -> Session:
    narrow = IntarsiaServer().session
    narrow.start_with(WINDOW, [])
    narrow.documents.open(types.TextDocumentItem(URI, "python", 1, "".join(SHORT_LINES)))
    return narrow


def hole_at(narrow: Session, line: int) -> Snapshot:
    return taken(narrow, URI, types.Position(line, len(SHORT_LINES[line]) - 2))


def fill_at(narrow: Session, filler: MaskedCausalFiller, line: int) -> tuple[Filled, str, str]:
    """Fill at the end of a line; return the answer with the prefix and suffix that were sent."""
    plan = plan_suggestion(narrow.feature(Suggestions), hole_at(narrow, line))
    assert not isinstance(plan, NoSuggestion)
    request = plan.request(options_of(narrow.settings, 10_000))
    return run_fill(filler, request), request.prefix, request.suffix


def num_tokens(toy: Path, text: str) -> int:
    return len(toy_text(toy).encode(text))


def test_a_jump_up_inside_the_window_reads_only_the_suffix(narrow, filler, toy):
    first, prefix, _ = fill_at(narrow, filler, 60)
    assert first.num_prefilled > num_tokens(toy, prefix) / 2
    up, shorter, suffix = fill_at(narrow, filler, 54)
    assert prefix.startswith(shorter)
    assert up.num_prefilled <= num_tokens(toy, suffix) + NEAR < first.num_prefilled


def test_going_back_after_a_jump_reads_next_to_nothing(narrow, filler):
    fill_at(narrow, filler, 60)
    fill_at(narrow, filler, 110)
    back, _, _ = fill_at(narrow, filler, 60)
    assert back.num_prefilled <= 1


@pytest.mark.parametrize("line", [55, 59, 61, 64])
def test_nearby_the_whole_suffix_is_not_read_before_an_answer(
    narrow, filler, toy, line, monkeypatch
):
    monkeypatch.setitem(suggestions_module.FIRST_BUDGET, "prefix_tokens", 20)
    monkeypatch.setitem(suggestions_module.FIRST_BUDGET, "suffix_tokens", 6)
    narrow.start_with({**WINDOW, "maxSuffixTokens": 40, "fillAhead": "always"}, [])
    whole = plan_whole(narrow.feature(Suggestions), hole_at(narrow, 60))
    assert isinstance(whole, FillPlan)
    read = run_fill(filler, whole.request(options_of(narrow.settings, 10_000)))
    narrow.feature(Suggestions).windows.remember(URI, whole.canvas.window)
    near, prefix, suffix = fill_at(narrow, filler, line)
    common = min(len(prefix), len(whole.canvas.prefix))
    assert prefix[:common] == whole.canvas.prefix[:common], "the prefix is the one that was read"
    new = num_tokens(toy, prefix[common:]) + num_tokens(toy, suffix)
    assert (
        near.num_prefilled <= new + NEAR < num_tokens(toy, whole.canvas.suffix) < read.num_prefilled
    )
    again, _, _ = fill_at(narrow, filler, line)
    assert again.num_prefilled <= 1


TEXT = "".join(f"line {number}\n" for number in range(100))


def window(start: int, suffix: str = "") -> Window:
    return window_of(TEXT, start, start, suffix)


def test_the_newest_is_the_first_and_each_start_is_held_once() -> None:
    windows = Windows()
    for start in (10, 20, 10):
        windows.remember(URI, window(start, suffix=str(start)))
    assert [it.start for it in windows.of(URI)] == [10, 20]
    windows.remember(URI, window(20, suffix="other"))
    assert [it.suffix for it in windows.of(URI)] == ["other", "10"]


def test_the_oldest_are_forgotten() -> None:
    windows = Windows()
    for start in range(MAX_WINDOWS + 3):
        windows.remember(URI, window(start))
    assert [it.start for it in windows.of(URI)] == list(range(MAX_WINDOWS + 2, 2, -1))
    for number in range(MAX_DOCUMENTS):
        windows.remember(f"file:///{number}.py", window(1))
    assert windows.of(URI) == ()
