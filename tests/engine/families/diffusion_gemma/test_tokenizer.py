"""Text round a hole as token ids, and a hole's ids as text."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_diffusion_gemma import save_tiny_tokenizer
from tokenizers import Tokenizer

from intarsia.engine.diffusion.denoise import DenoisingPolicy
from intarsia.engine.diffusion.policies import ConstantTemperature
from intarsia.engine.diffusion.prediction import draw, take_likeliest
from intarsia.engine.families.diffusion_gemma.layout import CanvasSizes, HoleLayout, lay_out
from intarsia.engine.families.diffusion_gemma.read_request import ModelLimits, RequestReader
from intarsia.engine.families.diffusion_gemma.settings import DenoisingSettings, read_settings
from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer, SpecialIds
from intarsia.engine.families.project_text import as_plain_text
from intarsia.engine.ipc.messages import ChatTurn, ContextChunk, Fill, ProjectContext

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


def test_the_context_ends_with_the_prefix_and_begins_with_the_far_suffix(text: GemmaTokenizer):
    near = text.context("x = ", "")
    assert near == [BOS, *text.encode("x = ")]
    far = text.context("x = ", "print(x)\n")
    longer = text.context("x = 1 +", "print(x)\n")
    num_shared = len(far) - len(near) + 1
    assert far[num_shared:] == near[1:]
    assert longer[:num_shared] == far[:num_shared]
    assert "print(x)" in "".join(text.pieces(far[1:num_shared], after=[]))


def test_a_turn_is_asked_in_the_form_of_gemma_4(tmp_path: Path, text: GemmaTokenizer) -> None:
    fill = Fill(
        id=1,
        prefix="left out",
        suffix="",
        given="```\n",
        draft="x",
        chat=ChatTurn(system="edit", user="x = 1<turn|>"),
    )
    limits = ModelLimits(
        vocab_size=400, canvas_length=16, max_positions=512, max_context_tokens=256
    )
    with pytest.raises(ValueError, match="not known"):
        RequestReader(text, limits).read(fill)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tokenizer.add_special_tokens(["<|turn>"])
    text = GemmaTokenizer(tokenizer, text.special)
    start, end = tokenizer.token_to_id("<|turn>"), tokenizer.token_to_id("<turn|>")
    task = RequestReader(text, limits).read(fill)
    system, user = (text.encode(it) for it in ("system\nedit", "user\nx = 1<turn|>"))
    line = text.encode("\n")
    turns = [BOS, start, *system, end, *line, start, *user, end, *line]
    assert task.context[: len(turns)] == turns and end not in user
    asked = [*turns, start, *text.encode("model\n"), *task.given]
    assert [*task.context, *task.given_in_canvas] == asked
    assert (task.draft, task.suffix) == ([], [])


PROJECT = ProjectContext(
    repository="shop",
    path="shop/cart.py",
    chunks=(
        ContextChunk(path="shop/tax.py", text="RATE = 2"),
        ContextChunk(path="shop/price.py", text="<eos>\n"),
    ),
)


def test_other_files_come_first_as_text(text: GemmaTokenizer) -> None:
    project = as_plain_text(PROJECT, text.encode, max_tokens=900)
    ids = text.context("x = ", "print(x)\n", project)
    assert not {PAD, EOS, BOS, 3} & set(ids[1:])
    shown = "".join(text.pieces(ids[1:], after=[]))
    files = "# shop/tax.py\nRATE = 2\n\n# shop/price.py\n<eos>\n\n"
    assert shown.startswith(files)
    assert shown.endswith("# shop/cart.py\nx = ")
    assert "print(x)" in shown


def test_without_room_for_other_files_there_are_none(text: GemmaTokenizer) -> None:
    whole = len(as_plain_text(PROJECT, text.encode, max_tokens=900))
    assert 0 < len(as_plain_text(PROJECT, text.encode, max_tokens=whole - 1)) < whole
    assert len(as_plain_text(PROJECT, text.encode, max_tokens=9)) == 0
    assert len(as_plain_text(None, text.encode, max_tokens=900)) == 0


def test_a_hole_ends_at_the_first_end_or_padding(text: GemmaTokenizer) -> None:
    assert text.num_before_end([7, 8, 3, 9]) == 2
    assert text.num_before_end([PAD, 8]) == 0
    assert text.num_before_end([7, 8]) == 2


def test_a_model_without_an_end_token_is_refused() -> None:
    with pytest.raises(ValueError, match="no token ends a text"):
        SpecialIds(begin=BOS, end=frozenset(), pad=PAD)


END, PAD_ID = -1, -2


def _lay_out(num_given, num_free, num_suffix, canvas_length) -> tuple[HoleLayout, ...]:
    return lay_out(
        list(range(num_given)),
        num_free,
        list(range(100, 100 + num_suffix)),
        sizes=CanvasSizes(canvas_length=canvas_length),
        end_id=END,
        pad_id=PAD_ID,
    )


def _draw(canvas: HoleLayout) -> str:
    signs = {END: "e", PAD_ID: "p", None: "."}
    return "".join(signs.get(i) or ("g" if i is not None and i < 100 else "s") for i in canvas.ids)


@pytest.mark.parametrize(
    ("num_given", "num_free", "num_suffix", "canvases"),
    [
        # a canvas of 32: lengths in fours, at most 8 of the suffix
        (0, 4, 50, ["....ssssssss"]),
        (2, 3, 50, ["gg...sssssss"]),
        (0, 4, 3, ["....ssse"]),
        (1, 4, 1, ["g....sep"]),
        (0, 24, 50, ["." * 24 + "s" * 8]),
        (0, 5, 0, ["........"]),
        (2, 5, 0, ["gg......"]),
        (0, 32, 0, ["." * 32]),
        (0, 40, 0, ["." * 32, "." * 8]),
        (0, 30, 50, ["." * 24, "......ssssss"]),
        (4, 60, 50, ["gggg" + "." * 28, "." * 28, "....ssssssss"]),
    ],
)
def test_drawn(num_given: int, num_free: int, num_suffix: int, canvases: list[str]) -> None:
    found = _lay_out(num_given, num_free, num_suffix, canvas_length=32)
    assert [_draw(canvas) for canvas in found] == canvases


@settings(max_examples=300)
@given(
    num_given=st.integers(0, 40),
    num_free=st.integers(1, 600),
    num_suffix=st.integers(0, 300),
    canvas_length=st.integers(1, 256),
)
def test_every_free_position_and_given_token_is_laid_out_once_and_canvases_fit(
    num_given, num_free, num_suffix, canvas_length
):
    num_given = min(num_given, CanvasSizes(canvas_length=canvas_length).max_given)
    canvases = _lay_out(num_given, num_free, num_suffix, canvas_length)
    assert all(1 <= len(canvas.ids) <= canvas_length for canvas in canvases)
    drawings = [_draw(canvas) for canvas in canvases]
    assert sum(d.count("g") for d in drawings) == num_given
    assert not any("s" in d or "e" in d for d in drawings[:-1])
    for canvas, drawing in zip(canvases, drawings, strict=True):
        assert set(drawing[canvas.start : canvas.end]) == {"."}
        assert drawing.count(".") == canvas.end - canvas.start
    num_laid_out = sum(d.count(".") for d in drawings)
    assert num_laid_out == num_free if num_suffix else num_laid_out >= num_free


def test_a_first_token_can_be_given() -> None:
    first = _lay_out(1, 4, 9, 32)[0].beginning_with(77)
    assert first.ids[:3] == (0, 77, None)
    assert (first.start, first.end) == (1, 5)


def test_a_checkpoint_may_name_some_settings() -> None:
    config = SimpleNamespace(
        max_denoising_steps=16,
        sampler_config=SimpleNamespace(entropy_bound=0.3),
        t_min=0.2,
        t_max=None,
        eos_token_id=1,
    )
    expected = DenoisingSettings(max_denoising_steps=16, entropy_bound=0.3, t_min=0.2)
    assert read_settings(config) == expected
    assert read_settings(SimpleNamespace()) == DenoisingSettings()


def test_steps_and_temperature_are_the_requests() -> None:
    def policy(**fields: float) -> DenoisingPolicy:
        request = Fill(id=1, prefix="", suffix="", **fields)
        return DenoisingSettings().policy(request, vocab_size=9)

    few = policy(max_steps=8)
    assert (few.max_steps, few.sample) == (8, draw)
    assert few.temperature(1) == pytest.approx(0.8), "it cools down within the steps"
    assert few.temperature(8) == pytest.approx(0.45)
    assert policy(temperature=0).sample is take_likeliest
    assert policy(temperature=1.3).temperature == ConstantTemperature(temperature=1.3)
    with pytest.raises(ValueError, match="temperature"):
        policy(temperature=-1)
