"""A jump within a file: what a real engine with a toy model reads again, counted in tokens."""

from pathlib import Path

import pytest
from lsprotocol import types
from pytest import MonkeyPatch
from toy_causal import save_toy, toy_causal_model, toy_filler, toy_text
from toy_causal_fill import run_fill

from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.ipc.messages import Filled
from intarsia.infill.filling.plan import FillPlan
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.snapshot import Snapshot, take_snapshot
from intarsia.lsp.requests import plan as plan_module
from intarsia.lsp.requests.plan import plan_suggestion, plan_whole, request_for
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.session import Session

URI = "file:///tmp/a.py"
LINES = [f"a{number}=b\n" for number in range(100, 300)]
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
def session() -> Session:
    session = IntarsiaServer().session
    session.start_with(WINDOW, [])
    session.documents.open(types.TextDocumentItem(URI, "python", 1, "".join(LINES)))
    return session


def at(session: Session, line: int) -> Snapshot:
    where = types.Position(line, len(LINES[line]) - 2)
    snapshot = take_snapshot(session.documents, URI, where)
    assert not isinstance(snapshot, NoSuggestion)
    return snapshot


def fill_at(session: Session, filler: MaskedCausalFiller, line: int) -> tuple[Filled, str, str]:
    """Fill at the end of a line; return the answer with the prefix and suffix that were sent."""
    plan = plan_suggestion(session, at(session, line))
    assert not isinstance(plan, NoSuggestion)
    request = request_for(plan, session.settings, 10_000)
    return run_fill(filler, request), request.prefix, request.suffix


def num_tokens(toy: Path, text: str) -> int:
    return len(toy_text(toy).encode(text))


def test_a_jump_up_inside_the_window_reads_only_the_suffix(
    session: Session, filler: MaskedCausalFiller, toy: Path
) -> None:
    first, prefix, _ = fill_at(session, filler, 60)
    assert first.num_prefilled > num_tokens(toy, prefix) / 2
    up, shorter, suffix = fill_at(session, filler, 54)
    assert prefix.startswith(shorter)
    assert up.num_prefilled <= num_tokens(toy, suffix) + NEAR < first.num_prefilled


def test_a_jump_down_reads_only_the_new_part_and_the_suffix(
    session: Session, filler: MaskedCausalFiller, toy: Path
) -> None:
    first, prefix, _ = fill_at(session, filler, 60)
    down, longer, suffix = fill_at(session, filler, 66)
    assert longer.startswith(prefix)
    new = num_tokens(toy, longer.removeprefix(prefix)) + num_tokens(toy, suffix)
    assert down.num_prefilled <= new + NEAR < first.num_prefilled


def test_a_jump_out_of_the_window_reads_all(session: Session, filler: MaskedCausalFiller) -> None:
    _, prefix, _ = fill_at(session, filler, 60)
    far, other, _ = fill_at(session, filler, 110)
    assert not other.startswith(prefix[:20])
    assert far.num_reused < 10


def test_going_back_after_a_jump_reads_next_to_nothing(
    session: Session, filler: MaskedCausalFiller
) -> None:
    fill_at(session, filler, 60)
    fill_at(session, filler, 110)
    back, _, _ = fill_at(session, filler, 60)
    assert back.num_prefilled <= 1


@pytest.mark.parametrize("line", [55, 59, 61, 64])
def test_nearby_the_whole_suffix_is_not_read_before_an_answer(
    session: Session, filler: MaskedCausalFiller, toy: Path, line: int, monkeypatch: MonkeyPatch
) -> None:
    monkeypatch.setitem(plan_module.FIRST_BUDGET, "prefix_tokens", 20)
    monkeypatch.setitem(plan_module.FIRST_BUDGET, "suffix_tokens", 6)
    session.start_with({**WINDOW, "maxSuffixTokens": 40, "fillAhead": "always"}, [])
    whole = plan_whole(session, at(session, 60))
    assert isinstance(whole, FillPlan)
    read = run_fill(filler, request_for(whole, session.settings, 10_000))
    session.windows.remember(URI, whole.canvas.window)
    near, prefix, suffix = fill_at(session, filler, line)
    common = min(len(prefix), len(whole.canvas.prefix))
    assert prefix[:common] == whole.canvas.prefix[:common], "the prefix is the one that was read"
    new = num_tokens(toy, prefix[common:]) + num_tokens(toy, suffix)
    assert (
        near.num_prefilled <= new + NEAR < num_tokens(toy, whole.canvas.suffix) < read.num_prefilled
    )
    again, _, _ = fill_at(session, filler, line)
    assert again.num_prefilled <= 1
