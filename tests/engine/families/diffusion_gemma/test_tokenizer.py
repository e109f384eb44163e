"""Text round a hole as token ids, and a hole's ids as text."""

from pathlib import Path

import pytest
from tiny_diffusion_gemma import save_tiny_tokenizer
from tokenizers import Tokenizer

from intarsia.engine.families.diffusion_gemma.canvas.tokenizer import GemmaTokenizer, SpecialIds
from intarsia.engine.ipc.messages import ContextChunk, ProjectContext

PAD, EOS, BOS = 0, 1, 2


@pytest.fixture
def text(tmp_path: Path) -> GemmaTokenizer:
    tokenizer = Tokenizer.from_file(str(save_tiny_tokenizer(tmp_path)))
    return GemmaTokenizer(tokenizer, SpecialIds(begin=BOS, end=frozenset([EOS, 3]), pad=PAD))


@pytest.mark.parametrize("line", ["return total", "  x\t= 'ä€😀'\r\n", "", "<eos><bos>", "\ufffd"])
def test_pieces_joined_give_the_text(text: GemmaTokenizer, line: str) -> None:
    ids = text.encode(line)
    assert "".join(text.pieces(ids, after=[])) == line
    given = text.encode("self.")
    assert "".join(text.pieces(ids, after=given)) == line


def test_a_sign_cut_over_several_tokens_belongs_to_the_last(text: GemmaTokenizer) -> None:
    ids = text.encode("😀")
    assert len(ids) > 1
    assert text.pieces(ids, after=[]) == [""] * (len(ids) - 1) + ["😀"]


def test_special_tokens_in_a_file_are_plain_text(text: GemmaTokenizer) -> None:
    assert not {PAD, EOS, BOS, 3} & set(text.encode("a<eos><pad><turn|>"))


def test_the_context_ends_with_the_prefix_and_begins_with_the_far_suffix(
    text: GemmaTokenizer,
) -> None:
    near = text.context("x = ", "")
    assert near == [BOS, *text.encode("x = ")]
    far = text.context("x = ", "print(x)\n")
    longer = text.context("x = 1 +", "print(x)\n")
    num_shared = len(far) - len(near) + 1
    assert far[num_shared:] == near[1:]
    assert longer[:num_shared] == far[:num_shared]
    assert "print(x)" in "".join(text.pieces(far[1:num_shared], after=[]))


PROJECT = ProjectContext(
    repository="shop",
    path="shop/cart.py",
    chunks=(
        ContextChunk(path="shop/tax.py", text="RATE = 2"),
        ContextChunk(path="shop/price.py", text="<eos>\n"),
    ),
)


def test_other_files_come_first_as_text(text: GemmaTokenizer) -> None:
    project = text.project(PROJECT, max_tokens=900)
    ids = text.context("x = ", "print(x)\n", project)
    assert not {PAD, EOS, BOS, 3} & set(ids[1:])
    shown = "".join(text.pieces(ids[1:], after=[]))
    files = "# shop/tax.py\nRATE = 2\n\n# shop/price.py\n<eos>\n\n"
    assert shown.startswith(files)
    assert shown.endswith("# shop/cart.py\nx = ")
    assert "print(x)" in shown


def test_without_room_for_other_files_there_are_none(text: GemmaTokenizer) -> None:
    whole = len(text.project(PROJECT, max_tokens=900))
    assert 0 < len(text.project(PROJECT, max_tokens=whole - 1)) < whole
    assert len(text.project(PROJECT, max_tokens=9)) == 0
    assert len(text.project(None, max_tokens=900)) == 0


def test_a_hole_ends_at_the_first_end_or_padding(text: GemmaTokenizer) -> None:
    assert text.num_before_end([7, 8, 3, 9]) == 2
    assert text.num_before_end([PAD, 8]) == 0
    assert text.num_before_end([7, 8]) == 2


def test_a_model_without_an_end_token_is_refused() -> None:
    with pytest.raises(ValueError, match="no token ends a text"):
        SpecialIds(begin=BOS, end=frozenset(), pad=PAD)
