"""Text that is already there at the hole's start: the answer goes on from it, never repeats it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_causal import DECODINGS, toy_fill
from toy_causal_fill import run_fill

from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.warm_start import rest_after, typed_since
from intarsia.engine.ipc.messages import Decoding, Fill, Filled


def hole_bytes(filler: MaskedCausalFiller, text: FimTokenizer, request: Fill) -> bytes:
    """All that the model holds after the request's last FIM mark."""
    ids = filler._context.cache.ids
    start = len(text.context(text.encode(request.prefix), text.encode(request.suffix)))
    return b"".join(text.bytes_of(i) for i in ids[start:])


def check_continues(
    filler: MaskedCausalFiller, text: FimTokenizer, request: Fill, filled: Filled
) -> None:
    whole = request.given.encode("utf-8", "replace")
    held = hole_bytes(filler, text, request)
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
def test_the_answer_goes_on_from_any_given_text(
    filler: MaskedCausalFiller,
    text: FimTokenizer,
    given_text: str,
    decoding: Decoding,
    alternative: int,
) -> None:
    request = toy_fill(given=given_text, decoding=decoding, alternative=alternative, max_tokens=40)
    check_continues(filler, text, request, run_fill(filler, request))


@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("given_text", ["def", " return", "é", "    "])
def test_several_short_tokens_may_spell_what_is_given(
    filler: MaskedCausalFiller, text: FimTokenizer, decoding: Decoding, given_text: str
) -> None:
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
def test_a_place_is_known_by_the_text_before_it(
    before: bytes, now: bytes, typed: bytes | None
) -> None:
    assert typed_since(before, now) == typed
