"""Whole fills on a toy: what ends them, what starts them, what is asked for wrongly."""

import math
import re
import time
from itertools import takewhile
from pathlib import Path

import pytest
from toy_causal import (
    DECODINGS,
    joined,
    save_toy,
    silence_layers,
    toy_causal_model,
    toy_fill,
    toy_filler,
    toy_text,
)
from toy_causal_fill import run_fill

from intarsia.engine.decoding.tokens import HoleTokens
from intarsia.engine.errors import DeadlinePassed
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.stop_rules import LOOP_ROUNDS
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import CanvasToken, ChatTurn, Decoding, Fill, Filled, Step


@pytest.fixture(scope="module")
def long_fill(filler: MaskedCausalFiller) -> Filled:
    """One that no end token cuts short."""
    filled = run_fill(filler, toy_fill(max_tokens=40))
    assert filled.finish_reason == "max_tokens", "choose another toy seed"
    assert filled.end_confidence is None
    return filled


def context_ids(filler: MaskedCausalFiller) -> list[int]:
    return filler._context.cache.ids[: filler._context.length]


@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("max_tokens", [1, 2, 7, 30])
def test_no_more_tokens_than_asked_for(filler, decoding, max_tokens):
    filled = run_fill(filler, toy_fill(decoding=decoding, max_tokens=max_tokens))
    assert len(filled.tokens) == max_tokens
    assert filled.finish_reason == "max_tokens"


def test_a_model_of_which_nothing_is_known_follows_no_instruction(filler):
    turn = ChatTurn(system="edit", user="x")
    with pytest.raises(ValueError, match="does not follow instructions"):
        run_fill(filler, toy_fill(chat=turn))


def test_such_a_model_fills_a_hole_that_others_are_asked_for(filler, long_fill):
    turn = ChatTurn(system="write", user="x", begun="y")
    assert run_fill(filler, toy_fill(max_tokens=40, asked=turn)).text == long_fill.text


@pytest.mark.parametrize("decoding", ["speculative", "autoregressive"])
def test_a_stop_text_ends_the_fill_before_it(filler, long_fill, decoding):
    for at in range(1, len(long_fill.text) - 3, 4):
        stop = long_fill.text[at : at + 3]
        filled = run_fill(filler, toy_fill(max_tokens=40, stop=(stop, ""), decoding=decoding))
        assert filled.text == long_fill.text[: long_fill.text.find(stop)]
        assert filled.finish_reason == "end_of_hole"
        assert "".join(token.text for token in filled.tokens) == filled.text
        assert filled.num_forwards <= long_fill.num_forwards or decoding == "autoregressive"


def ended_fill(tmp_path: Path) -> tuple[MaskedCausalFiller, Filled]:
    """Return a toy that writes a few tokens and an end token, and what it writes."""
    model = toy_causal_model("qwen2", seed=1, is_tied=False)
    folder = save_toy(tmp_path, model)
    end = next(iter(toy_text(folder).end_ids))
    plain = run_fill(toy_filler(folder), toy_fill())
    assert len(plain.tokens) > 5
    # Let the end token win wherever another one does that is written later on.
    written = toy_text(folder).encode(plain.tokens[4].text)
    model.lm_head.weight.data[end] = model.lm_head.weight.data[written[0]] * 1.01
    filler = toy_filler(save_toy(tmp_path, model))
    filled = run_fill(filler, toy_fill())
    assert plain.text.startswith(filled.text)
    return filler, filled


def test_an_end_token_ends_the_fill_and_is_no_text(tmp_path: Path) -> None:
    _, filled = ended_fill(tmp_path)
    assert filled.finish_reason == "end_of_hole"
    assert len(filled.tokens) <= 4
    assert filled.num_forwards == len(filled.tokens), "the end token took a pass, but shows nowhere"


def repeating(folder: Path, *follows: tuple[str, str]) -> MaskedCausalFiller:
    """Return a toy that writes the second of a pair after the first, whatever the prefix is."""
    model = toy_causal_model("llama", is_tied=False)
    text = toy_text(save_toy(folder, model))
    silence_layers(model)
    embed, output = model.model.embed_tokens.weight.data, model.lm_head.weight.data
    output.zero_()
    for last, next_one in follows:
        output[text.encode(next_one)[0]] += embed[text.encode(last)[0]]
    return toy_filler(save_toy(folder, model))


@pytest.mark.parametrize("is_first", [True, False])
def test_min_indent_ends_at_a_line_too_far_left(tmp_path: Path, is_first: bool) -> None:
    filler = repeating(tmp_path, ("y", "\n"), ("x", "\n"), ("\n", "x"))
    request = toy_fill(given="y", max_tokens=9, min_indent=0 if is_first else 4)
    filled = run_fill(filler, request)
    assert run_fill(filler, toy_fill(given="y", max_tokens=9)).text.startswith("\nx\nx")
    assert filled.text == ("\nx\nx\nx\nx" if is_first else "")


def test_a_loop_takes_no_further_passes(tmp_path: Path) -> None:
    filler = repeating(tmp_path, ("x", "y"), ("y", "x"))
    filled = run_fill(filler, toy_fill(given="y", max_tokens=120))
    assert filled.text == "xy" * (2 * LOOP_ROUNDS)
    assert filled.finish_reason == "end_of_hole"
    assert filled.num_forwards <= len(filled.tokens)


def decoded(filler: MaskedCausalFiller, request: Fill, rank: int = 0) -> HoleTokens:
    """Return the ids that are decoded for a request, the end token among them."""
    task = filler._reader.read(request, NO_CONTROL)
    filler._context.prefill(task.context)
    return filler._writer.write(task, rank=rank)


def test_the_end_has_the_probability_of_its_token(tmp_path: Path) -> None:
    filler, filled = ended_fill(tmp_path)
    own = math.prod(token.confidence or 0 for token in filled.tokens)
    assert filled.end_confidence is not None
    assert 0 < filled.end_confidence < 1
    whole = math.prod(decoded(filler, toy_fill()).confidences)
    assert own * filled.end_confidence == pytest.approx(whole)


def test_an_end_within_the_last_token_is_as_sure_as_that(filler, long_fill):
    two = next(token.text for token in long_fill.tokens if len(token.text) > 1)
    filled = run_fill(filler, toy_fill(max_tokens=40, stop=(two[1:],)))
    assert filled.text.endswith(two[0])
    assert filled.end_confidence == 1


def test_the_confidence_of_a_half_typed_word_counts_what_is_typed(filler, text):
    allowed = text.continuing(b"de")
    firsts = [decoded(filler, toy_fill(given="de"), rank) for rank in range(len(allowed))]
    assert len(allowed) > 2
    assert sum(hole.confidences[0] for hole in firsts) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("given", ["", "x.", "x.de"])
def test_a_fill_begins_with_one_of_the_names_that_fit(filler, given):
    names = ("turned", "return", "defined_here", "un")
    free = run_fill(filler, toy_fill(given=given))
    texts = {
        run_fill(filler, toy_fill(given=given, names=names, alternative=k)).text for k in (0, 1)
    }
    assert free.text not in texts, "the toy model writes no name by itself"
    assert all(re.match(r"(?:turned|return|defined_here|un)(?!\w)", text) for text in texts)


def test_a_name_that_is_already_whole_is_not_continued(filler):
    filled = run_fill(filler, toy_fill(given="x.de", names=("",)))
    assert not re.match(r"\w", filled.text)


@pytest.mark.parametrize(("given", "number"), [("", 20), ("de", 3)])
def test_alternatives_differ_in_their_first_token(filler, given, number):
    filled = [run_fill(filler, toy_fill(given=given, alternative=k)) for k in range(number)]
    confidences = [f.tokens[0].confidence for f in filled if f.tokens]
    assert confidences == sorted(confidences, reverse=True)
    assert len(set(confidences)) == len(confidences)


@pytest.mark.parametrize("given", ["", "de"])
@pytest.mark.parametrize("fresh", [True, False])
def test_alternatives_anywhere_leave_the_text_at_its_likeliest_other_tokens(filler, given, fresh):
    fills = [toy_fill(given=given, fresh=fresh, alternative=k, anywhere=True) for k in range(5)]
    likeliest, *others = [run_fill(filler, fill) for fill in fills]
    chances = []
    for other in others:
        pairs = zip(likeliest.tokens, other.tokens, strict=False)
        num_shared = sum(1 for _ in takewhile(lambda pair: _is_same(*pair), pairs))
        beginning = [token.confidence for token in other.tokens[: num_shared + 1]]
        if num_shared == len(other.tokens):  # it ends there
            beginning.append(other.end_confidence)
        chances.append(math.prod(beginning))
    assert chances == pytest.approx(sorted(chances, reverse=True), rel=1e-3)
    assert len({other.text for other in (likeliest, *others)}) == 5


def _is_same(one: CanvasToken, other: CanvasToken) -> bool:
    """Whether two tokens are the same in the same place: others may have the same text."""
    is_as_likely = math.isclose(one.confidence, other.confidence, rel_tol=1e-3)
    return one.text == other.text and is_as_likely


@pytest.mark.parametrize(
    ("prefix", "suffix"),
    [
        ("", ""),
        ("x = '<|fim_middle|>'", "<|endoftext|>\n"),
        ("a\ud800b", "\udfff"),
        ("é😀" * 5, "\r\n\t"),
        ("\x00\x1b", "\ufeff"),
    ],
)
@pytest.mark.parametrize("decoding", DECODINGS)
def test_any_text_may_stand_round_a_hole(filler, text, decoding, prefix, suffix):
    filled = run_fill(filler, toy_fill(prefix, suffix, decoding=decoding, max_tokens=5))
    assert len(filled.tokens) <= 5
    ids = context_ids(filler)
    assert ids == text.context(text.encode(prefix), text.encode(suffix))
    assert sum(i in text.end_ids for i in ids) == 3, "no mark but our own"


@pytest.mark.parametrize(
    ("prefix", "suffix", "kept"),
    [
        ("a" * 50 + "b" * 30, "c" * 10 + "d" * 50, ("b" * 30, "c" * 10)),
        ("a" * 50 + "b" * 38, "cc", ("b" * 38, "cc")),
        ("bb", "c" * 38 + "d" * 50, ("bb", "c" * 38)),
        ("", "c" * 40 + "d" * 50, ("", "c" * 40)),
    ],
)
def test_what_stands_nearest_the_hole_is_kept(toy, text, prefix, suffix, kept):
    """A side that is short leaves its share to the other one."""
    filler = toy_filler(toy, max_context_tokens=40)
    run_fill(filler, toy_fill(prefix, suffix, max_tokens=1))
    ids = context_ids(filler)
    first, second, third = [i for i, token in enumerate(ids) if token in text.end_ids]
    parts = (ids[first + 1 : second], ids[second + 1 : third])
    assert tuple(joined(text, part) for part in parts) == kept


@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("max_tokens", [3, 17])
def test_the_last_step_shown_is_the_answer(filler, decoding, max_tokens):
    steps: list[Step] = []
    request = toy_fill(decoding=decoding, max_tokens=max_tokens)
    filled = run_fill(filler, request, on_step=steps.append)
    assert "".join(token.text for token in steps[-1].tokens) == filled.text
    numbers = [step.step for step in steps]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == filled.num_forwards
    assert all(len(step.tokens) <= max_tokens for step in steps)


@pytest.mark.parametrize("decoding", DECODINGS)
def test_what_is_measured_adds_up(filler: MaskedCausalFiller, decoding: Decoding) -> None:
    filled = run_fill(filler, toy_fill(decoding=decoding, id=9), received_at=time.monotonic() - 0.5)
    ms = filled.ms
    assert ms.total == pytest.approx(ms.queue + ms.prefill + ms.denoise)
    assert ms.queue >= 500
    assert 0 <= filled.mean_entropy <= math.log(300)
    assert all(0 <= token.confidence <= 1 for token in filled.tokens)
    assert (filled.id, filled.model) == (9, "qwen2")


def test_a_deadline_that_passes_while_the_context_is_read_ends_the_fill(filler: MaskedCausalFiller):
    def be_late() -> None:
        raise DeadlinePassed

    late = run_fill(filler, toy_fill("class Unread", deadline_ms=60_000), checkpoint=be_late)
    assert (late.text, late.finish_reason) == ("", "deadline")
    assert run_fill(filler, toy_fill()).text


@pytest.mark.parametrize(
    "field",
    [
        {"max_tokens": 0},
        {"max_tokens": 10**9},
        {"max_steps": 0},
        {"deadline_ms": -1},
        {"seed": -1},
        {"seed": 2**63},
        {"alternative": -1},
        {"alternative": 10**6},
        {"min_indent": -1},
        {"temperature": -1.0},
        {"temperature": math.nan},
        {"temperature": math.inf},
        {"temperature": 1e-30},
    ],
)
def test_a_field_out_of_range_is_refused(filler: MaskedCausalFiller, field: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(field))):
        run_fill(filler, toy_fill(**field))
