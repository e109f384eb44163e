"""When each token of a text is hidden, and by what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_diffusion_gemma import save_tiny_tokenizer
from tokenizers import Tokenizer

from intarsia.engine.families.diffusion_gemma.canvas.tokenizer import GemmaTokenizer, SpecialIds
from intarsia.engine.families.diffusion_gemma.next_edit.hidden_text import (
    NUM_PASSES,
    HiddenText,
    hide,
)

VOCAB_SIZE = 320


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> GemmaTokenizer:
    path = save_tiny_tokenizer(tmp_path_factory.mktemp("tokenizer"))
    special = SpecialIds(begin=2, end=frozenset({1}), pad=0)
    return GemmaTokenizer(Tokenizer.from_file(str(path)), special)


def hidden(text: GemmaTokenizer, lines: str) -> HiddenText:
    return hide(text.tokenize(lines), vocab_size=VOCAB_SIZE)


@given(lines=st.text(max_size=60))
def test_each_token_is_hidden_in_one_pass_by_another_token(
    text: GemmaTokenizer, lines: str
) -> None:
    lines = lines.encode("utf-8", "replace").decode()
    found = hidden(text, lines)
    assert found.ids.tolist() == text.encode(lines)
    shown = [found.shown_in(number) for number in range(NUM_PASSES)]
    num_hidden = sum((one != found.ids).long() for one in shown)
    assert (num_hidden == 1).all() if len(found.ids) else num_hidden is not None
    assert ((found.noise >= 0) & (found.noise < VOCAB_SIZE)).all()


def test_all_places_of_a_word_are_hidden_together(text: GemmaTokenizer) -> None:
    lines = "total = old_name(first)\nx = 1\nreturn old_name\n"
    tokens, found = text.tokenize(lines), hidden(text, lines)
    starts = [lines.index("old_name"), lines.rindex("old_name")]
    own = {
        int(found.passes[i])
        for start in starts
        for i in range(tokens.token_at(start), tokens.token_at(start + 7) + 1)
    }
    assert len(own) == 1
    assert len(set(found.passes.tolist())) == NUM_PASSES, "others are hidden at other times"


def test_a_line_has_the_same_noise_wherever_it_is(text: GemmaTokenizer) -> None:
    line = "    total = first + second\n"
    alone, below = hidden(text, line), hidden(text, "import os\nx = 1\n" + line)
    num = len(alone.ids) - 1  # its first token begins in the line above
    assert below.noise[-num:].tolist() == alone.noise[-num:].tolist()
    assert below.passes[-num:].tolist() == alone.passes[-num:].tolist()
    other = hidden(text, "    total = first - second\n")
    shifts = [((it.noise - it.ids) % VOCAB_SIZE).tolist() for it in (alone, other)]
    assert shifts[0] != shifts[1]
