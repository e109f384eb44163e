"""Several answers to one hole, and text that is already there at its start."""

import math
import time

import pytest
import torch
from cancel_when import cancel_when
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_causal import DECODINGS, toy_fill, toy_text
from toy_causal_fill import run_fill
from transformers import AutoModelForCausalLM

from intarsia.engine.decoding.tokens import HoleTokens
from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal import rerank
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.read_request import FillTask
from intarsia.engine.families.masked_causal.warm_start import rest_after, typed_since
from intarsia.engine.families.masked_causal.writer import Answer
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.ipc.messages import CanvasToken, Decoding, Fill, Filled

NUM_CANDIDATES = 5


def several(**fields: object) -> Fill:
    return toy_fill(
        **({"num_candidates": NUM_CANDIDATES, "prefix": "def f(val):\n    x = "} | fields)
    )


def texts(filled: Filled) -> list[str]:
    return [filled.text, *(other.text for other in filled.others)]


@pytest.mark.parametrize("decoding", DECODINGS)
def test_the_greedy_answer_is_among_several(decoding: Decoding, filler: MaskedCausalFiller) -> None:
    greedy = run_fill(filler, several(num_candidates=1, decoding=decoding))
    filled = run_fill(filler, several(decoding=decoding))
    assert greedy.others == ()
    assert greedy.text in texts(filled)
    assert len(set(texts(filled))) == NUM_CANDIDATES
    assert filled.num_forwards > greedy.num_forwards
    assert all("".join(token.text for token in it.tokens) == it.text for it in filled.others)


def ranked(filler: MaskedCausalFiller, request: Fill) -> list[tuple[FillTask, Answer]]:
    task = filler._reader.read(request, NO_CONTROL)
    filler._context.prefill(task.context)
    answers, _ = filler._reranker.rank(task, filler._writer.write(task))
    return [(task, answer) for answer in answers]


@pytest.mark.parametrize("given_text", ["", "va", "    re"])
def test_the_best_makes_the_whole_text_likeliest(filler, toy, given_text):
    """Weighed again by transformers, in whole passes without a cache."""
    reference, text = AutoModelForCausalLM.from_pretrained(toy, dtype=torch.float32), toy_text(toy)

    def log_chance(before: list[int], after: list[int]) -> float:
        with torch.inference_mode():
            logits = reference(torch.tensor([[*before, *after]])).logits[0]
        logs = torch.log_softmax(logits[len(before) - 1 : -1], dim=-1)
        return float(logs.gather(-1, torch.tensor(after)[:, None]).sum())

    fits = []
    for task, answer in ranked(filler, several(given=given_text, suffix="\n    return val\n")):
        healed = task.healed.decode()
        own = text.encode(healed + answer.text)
        both = text.encode(healed + answer.text + task.request.suffix)[: len(own) + 24]
        plain = text.without_suffix(task.context)
        ahead = log_chance([*plain, *both[: len(own)]], both[len(own) :])
        decoded = sum(map(math.log, answer.hole.confidences))
        fits.append(0.2 * decoded + 0.8 * log_chance(plain, own) + ahead)
    assert len(fits) > 1
    assert fits == pytest.approx(sorted(fits, reverse=True), abs=1e-3)


def test_an_answer_that_the_model_ended_goes_on_over_a_line_more(filler: MaskedCausalFiller):
    signs = map(chr, range(33, 127))
    plain = (run_fill(filler, several(given=it, max_tokens=60, num_candidates=1)) for it in signs)
    ended, greedy = next(
        (chr(33 + n), filled.text)
        for n, filled in enumerate(plain)
        if filled.finish_reason == "end_of_hole"
    )
    request = several(given=ended, max_tokens=60)
    longer = [it for it in texts(run_fill(filler, request)) if it.startswith(greedy + "\n")]
    assert longer
    one_line = run_fill(filler, several(given=ended, max_tokens=60, stop=("\n",)))
    assert not any("\n" in it for it in texts(one_line))


@pytest.mark.parametrize(
    ("before", "written", "first_line"),
    [
        ("    if ", "val > 0:\n        val += 1", "val > 0:"),
        ("    if va", "l:  \n\n    return val", "l:"),
        ("    if val:", "\n        val = 1\n    val += 1", "\n        val = 1"),
        ("    if ", "val > 0:", None),
        ("    if ", "val > 0:\n  \n", None),
        ("    ", "val += 1\n    return val", None),
        ("", "    val += 1\n    return val", None),
    ],
)
def test_an_answer_within_a_line_may_end_with_its_first_line(filler, before, written, first_line):
    request = several(prefix=f"def f(val):\n{before}")
    task = filler._reader.read(request, NO_CONTROL)
    filler._context.prefill(task.context)
    tokens = (CanvasToken(text=written, confidence=0.5, is_settled=True),)
    longer = Answer(hole=HoleTokens(), tokens=tokens, end_confidence=None)
    shorter = filler._reranker._first_line(task, longer)
    if shorter is None:
        assert first_line is None
        return
    answer = filler._writer.answer(task, shorter)
    assert answer.text == first_line
    assert answer.end_confidence == shorter.confidences[-1]
    assert len(shorter.confidences) == len(shorter.ids) == shorter.num_committed


def test_an_empty_answer_before_nothing_is_scored(filler: MaskedCausalFiller):
    task = filler._reader.read(several(prefix="def f(val):", suffix=""), NO_CONTROL)
    filler._context.prefill(task.context)
    empty = Answer(hole=HoleTokens(confidences=[0.5]), tokens=(), end_confidence=0.5)
    assert filler._reranker._score(task, empty) == pytest.approx(0.2 * math.log(0.5))


def test_a_sure_answer_is_the_only_one(filler: MaskedCausalFiller, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rerank, "_SURE", -math.inf)
    greedy = run_fill(filler, several(num_candidates=1))
    filled = run_fill(filler, several())
    assert (filled.text, filled.others, filled.num_forwards) == (
        greedy.text,
        (),
        greedy.num_forwards,
    )


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"draft": "return val", "noise": 0.5}, "end_of_hole"),
        ({"deadline_ms": 1}, "deadline"),
        ({"max_steps": 2}, "max_steps"),
    ],
)
def test_a_rewritten_draft_and_an_answer_cut_short_have_no_others(filler, fields, reason):
    filled = run_fill(filler, several(**fields), received_at=time.monotonic() - 1)
    assert (filled.others, filled.finish_reason) == ((), reason)


@pytest.mark.parametrize("num_looks", [20, 40, 80])
def test_a_cancel_ends_it_at_any_time(filler: MaskedCausalFiller, num_looks: int) -> None:
    looks = iter(range(1000))
    with pytest.raises(Cancelled):
        run_fill(filler, several(), checkpoint=cancel_when(lambda: next(looks) >= num_looks))
    assert next(looks) == num_looks + 1, "and there was no further checkpoint"
    assert run_fill(filler, several(num_candidates=1)).text


def test_a_deadline_among_the_others_returns_the_first_and_its_reason(filler, monkeypatch):
    """So that no caller tries again with the whole time."""
    greedy = run_fill(filler, several(num_candidates=1))
    write, begun = filler._writer.write, []

    def watched_write(task: FillTask, *args: object, **options: object) -> object:
        begun.append(task)
        return write(task, *args, **options)

    monkeypatch.setattr(filler._writer, "write", watched_write)
    monkeypatch.setattr(FillControl, "is_late", property(lambda control: len(begun) == 2))
    filled = run_fill(filler, several())
    assert (filled.text, filled.others) == (greedy.text, ())
    assert filled.finish_reason == "deadline"
    assert len(begun) == 2, "no more is begun"


def test_what_was_written_pushes_no_other_context_out(filler: MaskedCausalFiller) -> None:
    elsewhere = toy_fill(prefix="val = 1\n" * 12, suffix="\nelse\n")
    run_fill(filler, elsewhere)
    before = filler.cached_tokens()
    filled = run_fill(filler, several(max_tokens=60))
    assert filled.others
    assert filler.cached_tokens() - before < 3 * 60, "the context, and the plain one"
    assert run_fill(filler, elsewhere).num_prefilled == 0


def check_continues(filler, text, request, filled) -> None:
    whole = request.given.encode("utf-8", "replace")
    start = len(text.context(text.encode(request.prefix), text.encode(request.suffix)))
    held = b"".join(map(text.bytes_of, filler._context.cache.ids[start:]))
    assert held.startswith(whole) or whole.startswith(held), "the hole begins with what is given"
    continued = held[len(whole) :].decode("utf-8", "replace")
    if held.startswith(whole):
        end = min(len(continued.rstrip("\ufffd")), len(filled.text.rstrip("\ufffd")))
        assert filled.text[:end] == continued[:end], "and the answer is what follows it"


@settings(max_examples=60)
@given(
    given_text=st.text(max_size=12) | st.text(alphabet="def return val é😀\n", max_size=12),
    decoding=st.sampled_from(DECODINGS),
    alternative=st.integers(0, 5),
)
def test_the_answer_goes_on_from_any_given_text(filler, text, given_text, decoding, alternative):
    request = toy_fill(given=given_text, decoding=decoding, alternative=alternative, max_tokens=40)
    check_continues(filler, text, request, run_fill(filler, request))


@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("given_text", ["def", " return", "é", "    "])
def test_several_short_tokens_may_spell_what_is_given(filler, text, decoding, given_text):
    """Every first token that fits is tried: whole, longer, or one byte of it."""
    lengths = set()
    for alternative in range(8):
        request = toy_fill(
            given=given_text, decoding=decoding, alternative=alternative, max_tokens=12
        )
        check_continues(filler, text, request, run_fill(filler, request))
        start = len(text.context(text.encode(request.prefix), text.encode(request.suffix)))
        lengths.add(len(text.bytes_of(filler._context.cache.ids[start])))
    assert min(lengths) < len(given_text.encode()) <= max(lengths)


def test_fewer_tokens_than_the_given_text_needs_give_nothing(filler: MaskedCausalFiller):
    for alternative in range(8):
        request = toy_fill(given="return", max_tokens=1, alternative=alternative)
        filled = run_fill(filler, request)
        assert not filled.text.startswith("r")
        assert filled.finish_reason in ("max_tokens", "end_of_hole")


def test_a_stop_text_counts_only_behind_the_given_text(filler: MaskedCausalFiller) -> None:
    assert run_fill(filler, toy_fill(given="de\nf", stop=("\nf",))).text == (
        run_fill(filler, toy_fill(given="de\nf")).text
    )


@pytest.mark.parametrize(
    ("typed", "written", "rest"),
    [
        ("tot", "total = f(x)", "al = f(x)"),
        ("", "total", "total"),
        ("total", "total", ""),
        ("totals", "total = f(x)", " = f(x)"),
        ("tosum = ", "total = f(x)", "f(x)"),
        ("total = g", "total = f(x)", "(x)"),
        ("total = g(y, ", "total = f(x, z)", "z)"),
        ("total += ", "total = f(x)", None),
        ("totals and more", "total", None),
        ("é", "e)", ")"),
    ],
)
def test_after_a_word_that_differs_the_rest_is_kept(typed: str, written: str, rest: str | None):
    found = rest_after(typed.encode(), written.encode())
    assert found == (None if rest is None else rest.encode())


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_what_is_typed_along_leaves_the_rest(typed: bytes, rest: bytes) -> None:
    assert rest_after(typed, typed + rest) == rest


_BEFORE = b"def main(values):\n    total = "
_FAR_DOWN = b"#\n" * 100 + _BEFORE + b"a" * 40


@pytest.mark.parametrize(
    ("before", "now", "typed"),
    [
        (_BEFORE, _BEFORE, b""),
        (_BEFORE, _BEFORE + b"sum", b"sum"),
        (_BEFORE, _BEFORE[:-1], None),  # deleted
        (_BEFORE, b"def man(values):\n    total = ", None),  # changed close by
        (_BEFORE, _BEFORE + b"x" * 1_000, None),  # far off
        (_FAR_DOWN, b"# new\n" + _FAR_DOWN[3:] + b"+ 1", b"+ 1"),  # an edit further up
        (b"x", b"x = 1", b" = 1"),
        (b"x", b"y = x", None),  # at the start of a file only the same text will do
    ],
)
def test_a_place_is_known_by_the_text_before_it(before, now, typed):
    assert typed_since(before, now) == typed
