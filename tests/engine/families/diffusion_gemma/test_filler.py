"""From a folder on the disk to an answered fill, on a small random checkpoint."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_diffusion_gemma import CODE, save_tiny_checkpoint
from toy_causal_fill import run_fill

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.filler import DiffusionGemmaFiller
from intarsia.engine.families.diffusion_gemma.load import load_diffusion_gemma
from intarsia.engine.families.protocol import ReadingSpeed
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import (
    ContextChunk,
    Fill,
    Filled,
    FindNextEdits,
    Prefetch,
    ProjectContext,
    Step,
    TextPart,
)

PREFIX, SUFFIX = CODE.split("first + second")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_checkpoint(tmp_path_factory.mktemp("tiny-diffusion-gemma"))


@pytest.fixture(scope="module")
def filler(folder: Path) -> DiffusionGemmaFiller:
    return load_diffusion_gemma(folder, device="cpu", dtype=torch.float32, name="tiny")


@pytest.fixture
def unread(filler: DiffusionGemmaFiller) -> DiffusionGemmaFiller:
    """The filler, which holds another context."""
    fill(filler, prefix="# another", suffix="\n")
    return filler


def fill(filler: Filler, **fields: Any) -> Filled:
    request = Fill(**{"id": 7, "prefix": PREFIX, "suffix": SUFFIX, "max_tokens": 12, **fields})
    return run_fill(filler, request)


def test_a_fill_is_answered(filler: DiffusionGemmaFiller) -> None:
    filled = fill(filler)
    assert filled.id == 7
    assert filled.model == "tiny"
    assert "".join(token.text for token in filled.tokens) == filled.text
    assert all(0 <= token.confidence <= 1 and token.is_settled for token in filled.tokens)
    assert filled.finish_reason in ("end_of_hole", "max_steps")
    assert filled.num_forwards > 3  # three candidate lengths, then the denoising
    assert filled.mean_entropy >= 0
    assert filled.ms.total >= filled.ms.prefill + filled.ms.denoise >= 0


def test_a_warm_fill_reads_only_what_has_changed(unread: DiffusionGemmaFiller) -> None:
    """That it predicts the same is tested of the cache: rounding may change the toy's text."""
    filler = unread
    cold = fill(filler, prefix=PREFIX)
    assert cold.num_prefilled > cold.num_reused
    fill(filler, prefix=PREFIX[:-9] + "other = ")
    back = fill(filler, prefix=PREFIX)
    assert 0 < back.num_prefilled < cold.num_prefilled
    again = fill(filler, prefix=PREFIX)
    assert again.text == back.text
    assert (again.num_prefilled, again.num_reused) == (0, filler.cached_tokens())


def test_a_prefetched_context_is_not_read_again(unread: DiffusionGemmaFiller) -> None:
    filler = unread
    filler.prefetch(Prefetch(prefix=PREFIX, suffix=SUFFIX), NO_CONTROL)
    num_held = filler.cached_tokens()
    filled = fill(filler)
    assert (filled.num_prefilled, filled.num_reused) == (0, num_held)
    assert num_held > 10


PROJECT = ProjectContext(
    repository="pkg",
    path="pkg/a.py",
    chunks=(ContextChunk(path="pkg/b.py", text="def other(first, second): ...\n" * 3),),
)


def test_code_of_other_files_is_read_first_or_when_it_is_there(unread, monkeypatch):
    filler = unread
    monkeypatch.setattr(ReadingSpeed, "tokens_per_s", 100.0)
    own = fill(filler, project=PROJECT)
    whole = fill(filler, project=PROJECT, project_use="always")
    assert own.num_project == 0
    assert whole.num_project > 50
    own_tokens = own.num_prefilled + own.num_reused
    assert whole.num_prefilled + whole.num_reused == own_tokens + whole.num_project
    fill(filler)
    filler.prefetch(Prefetch(prefix=PREFIX, suffix=SUFFIX, project=PROJECT), NO_CONTROL)
    ahead = fill(filler, project=PROJECT)
    assert (ahead.num_prefilled, ahead.num_project) == (0, whole.num_project)
    assert ahead.text == whole.text


def test_it_never_takes_the_room_of_a_hole(filler: DiffusionGemmaFiller) -> None:
    def num_project(max_tokens: int) -> int:
        request = Fill(id=1, prefix=PREFIX, suffix=SUFFIX, max_tokens=max_tokens, project=PROJECT)
        return filler._reader.read(request).num_project

    backbone, num_own = filler._backbone, len(filler._text.context(PREFIX, SUFFIX))
    most = backbone.max_positions - backbone.canvas_length - num_own
    whole = num_project(1)
    assert whole > 50
    assert num_project(most - whole) == whole
    assert num_project(most - whole + 1) == 0


def test_a_suffix_too_long_for_the_canvas_stays_cached_while_the_prefix_grows(filler):
    before = fill(filler, suffix=CODE * 3, prefix="x = 1\n")
    after = fill(filler, suffix=CODE * 3, prefix="x = 1\ny")
    assert before.num_prefilled > 100
    assert after.num_prefilled <= 3


@pytest.mark.parametrize(("prefix", "suffix"), [("", ""), (PREFIX, SUFFIX), (PREFIX, CODE * 3)])
@pytest.mark.parametrize("given", ["", "fir", "a_rather_long_name_that_was_already_typed"])
@pytest.mark.parametrize(
    "fields",
    [
        {"max_tokens": 1},
        {"max_tokens": 30},
        {"max_tokens": 200},
        {"draft": "x", "noise": 0.4},
        {"draft": CODE, "noise": 0.4, "max_tokens": 300},
    ],
)
def test_any_size_of_given_text_hole_draft_and_suffix_is_filled(
    filler, prefix, suffix, given, fields
):
    filled = fill(filler, prefix=prefix, suffix=suffix, given=given, **fields)
    assert filled.num_forwards >= 1
    assert len(filled.tokens) <= fields.get("max_tokens", 12)
    assert "".join(token.text for token in filled.tokens) == filled.text


def test_text_ends_before_a_stop_text(filler: DiffusionGemmaFiller) -> None:
    whole = fill(filler).text
    mark = whole[len(whole) // 2 :][:3]
    cut = fill(filler, stop=("\x00", mark))
    assert cut.text == whole[: whole.index(mark)]
    assert "".join(token.text for token in cut.tokens) == cut.text


def test_alternatives_begin_differently(filler: DiffusionGemmaFiller) -> None:
    firsts = [fill(filler, alternative=k, seed=1).tokens[:1] for k in range(1, 4)]
    assert len({tokens[0].text for tokens in firsts if tokens}) >= 2


def test_watching_shows_every_step(filler: DiffusionGemmaFiller) -> None:
    steps: list[Step] = []
    request = Fill(id=9, prefix=PREFIX, suffix=SUFFIX, max_tokens=12, watch=True)
    filled = run_fill(filler, request, on_step=steps.append)
    assert [step.step for step in steps] == list(range(2, filled.num_forwards)), "then it is judged"
    assert "".join(token.text for token in steps[-1].tokens) == filled.text
    assert any(not token.is_settled for token in steps[0].tokens)


def test_a_deadline_in_the_past_still_gives_a_whole_answer(filler: DiffusionGemmaFiller) -> None:
    filled = fill(filler, deadline_ms=0, max_tokens=40)
    assert filled.finish_reason == "deadline"
    assert filled.num_forwards == 2  # one candidate length, one step
    assert filled.text


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"max_tokens": 0}, "max_token"),
        ({"max_tokens": 10**6}, "max_token"),
        ({"max_steps": 0}, "max_step"),
        ({"temperature": -0.5}, "temperature"),
        ({"prefix": CODE * 400}, "prefix"),
        ({"draft": "x", "noise": 0.0}, "noise must be above 0"),
        ({"draft": CODE, "max_tokens": 5}, r"draft has \d+ tokens, above max_tokens 5"),
    ],
)
def test_a_field_out_of_range_is_named(filler, fields, match):
    with pytest.raises(ValueError, match=match):
        fill(filler, **fields)


def test_a_folder_that_lacks_a_part_is_named(folder: Path, tmp_path: Path) -> None:
    def check_refused(match: str) -> None:
        with pytest.raises(ModelError, match=match):
            load_diffusion_gemma(tmp_path, device="cpu", dtype=torch.float32, name="none")

    weights = load_file(folder / "model.safetensors")
    torch.save(weights, tmp_path / "pytorch_model.bin")  # a pickle is not read
    check_refused("only as a pickle")
    (tmp_path / "model.safetensors").write_bytes(b"damaged")
    check_refused("is damaged")
    del weights[next(name for name in weights if "self_conditioning" in name)]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    check_refused(r"tokenizer\.json")
    shutil.copy(folder / "tokenizer.json", tmp_path)
    check_refused(r"config\.json is no DiffusionGemma's")
    shutil.copy(folder / "config.json", tmp_path)
    check_refused(r"lacks 1 tensors \(.*self_conditioning")
    (tmp_path / "tokenizer.json").write_text("{")
    check_refused(r"tokenizer\.json cannot be read")


DRAFT = "first + second"


def test_a_draft_is_renoised_and_denoised(filler: DiffusionGemmaFiller) -> None:
    filled = fill(filler, draft=DRAFT, noise=0.5, max_tokens=40)
    assert filled.num_forwards <= 3 + 1, "half of the checkpoint's six steps, no length to choose"
    assert len(filled.tokens) <= len(filler._text.encode(DRAFT))
    assert "".join(token.text for token in filled.tokens) == filled.text


def test_the_canvas_begins_with_what_is_kept_of_the_draft(filler, monkeypatch):
    seen: list[list[int]] = []
    predict = filler._backbone.predict

    def watched(canvas: TokenCanvas, self_conditioning: torch.Tensor | None) -> torch.Tensor:
        seen.append(canvas.ids.tolist())
        assert not canvas.is_fixed[: len(ids)].any(), "the whole draft may be revised"
        return predict(canvas, self_conditioning)

    monkeypatch.setattr(filler._backbone, "predict", watched)
    ids = filler._text.encode(DRAFT)
    num_kept = []
    for noise in (0.2, 0.8, 1.0):
        seen.clear()
        fill(filler, draft=DRAFT, noise=noise, max_tokens=40)
        num_kept.append(sum(a == b for a, b in zip(seen[0], ids, strict=False)))
    assert num_kept[0] >= round(0.8 * len(ids)) > num_kept[1] > num_kept[2]


def test_a_suspended_fill_returns_what_it_returns_alone(filler: DiffusionGemmaFiller) -> None:
    other = {"prefix": "other text = ", "max_tokens": 4}
    with filler.suspended():
        expected_other = fill(filler, **other)
    fill(filler, **other)
    expected = fill(filler)
    fill(filler, **other)  # both read what the other context lacks: the same rounding
    others: list[Filled] = []

    def make_another() -> None:
        with filler.suspended():
            others.append(fill(filler, **other))

    request = Fill(id=7, prefix=PREFIX, suffix=SUFFIX, max_tokens=12)
    found = run_fill(filler, request, checkpoint=make_another)
    assert len(others) > 2
    assert {it.text for it in others} == {expected_other.text}
    assert (found.text, found.num_forwards) == (expected.text, expected.num_forwards)


def test_next_edits_are_refused_with_the_reason(filler: DiffusionGemmaFiller) -> None:
    request = FindNextEdits(
        id=1, parts=(TextPart(before="a\n", after="b\n", may_change=True),), example=None
    )
    with pytest.raises(ValueError, match="this model finds no next edits: use one of the masked"):
        filler.find_next_edits(request, NO_CONTROL)
