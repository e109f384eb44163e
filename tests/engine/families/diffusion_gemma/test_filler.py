"""From a folder on the disk to a fill, and how the encoder judges it, on a small random model."""

import math
import shutil
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from cancel_when import cancel_when, cancelling
from safetensors.torch import load_file, save_file
from tiny_diffusion_gemma import CODE, SLIDING_WINDOW, save_tiny_checkpoint, tiny_model
from toy_causal_fill import run_fill

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.errors import Cancelled, ModelError
from intarsia.engine.families.diffusion_gemma import judge as judge_module
from intarsia.engine.families.diffusion_gemma import model as model_module
from intarsia.engine.families.diffusion_gemma.filler import DiffusionGemmaFiller
from intarsia.engine.families.diffusion_gemma.judge import NUM_SUFFIX, Judge
from intarsia.engine.families.diffusion_gemma.load import load_diffusion_gemma
from intarsia.engine.families.diffusion_gemma.model import DiffusionGemmaBackbone, fold_heads
from intarsia.engine.families.protocol import ReadingSpeed
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.ipc.messages import (
    ContextChunk,
    Fill,
    Filled,
    FindNextEdits,
    Prefetch,
    ProjectContext,
    ScoreTexts,
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


def fill(filler: DiffusionGemmaFiller, control: Any = None, **fields: Any) -> Filled:
    request = Fill(**{"id": 7, "prefix": PREFIX, "suffix": SUFFIX, "max_tokens": 12, **fields})
    return run_fill(filler, request) if control is None else filler.fill(request, control)


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


LONG = CODE * 3  # more than a canvas shows
CLOSE = {"rel": 1e-3, "abs": 1e-3}


def log_p_by_transformers(model: Any, ids: Sequence[int]) -> torch.Tensor:
    """Return (tokens - 1,) for ids[1:], from one whole pass without a cache."""
    with torch.inference_mode():
        hidden = model.model(
            input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([[3]])
        ).encoder_last_hidden_state[0, :-1]
        cap = model.config.get_text_config().final_logit_softcapping
        logits = cap * torch.tanh(hidden @ model.get_input_embeddings().weight.T / cap)
    return torch.log_softmax(logits, dim=-1)[range(len(ids) - 1), list(ids[1:])]


def log_p_of(backbone: DiffusionGemmaBackbone, ids: Sequence[int], first: int, **options: Any):
    read = backbone.read(ids, first - 1, **options)
    rows = read.rows_before(first, len(ids))
    return backbone.log_probabilities(rows, list(ids[first:])), read


@pytest.mark.parametrize("chunk", [3, 1024])
@pytest.mark.parametrize("length", [2, SLIDING_WINDOW, 5 * SLIDING_WINDOW])
def test_the_encoder_s_probabilities_are_those_of_transformers(length, chunk, monkeypatch):
    """Whatever is held, and read from there: nothing, a part, the whole, or another text."""
    monkeypatch.setattr(model_module, "_CHUNK", chunk)
    monkeypatch.setattr(model_module, "_ROWS", 4)
    plain, folded = tiny_model(), tiny_model()
    fold_heads(folded)
    ids = [i * 7 % 50 + 3 for i in range(length)]
    expected = log_p_by_transformers(plain, ids)
    others = ([2], ids[: length // 2] or [2], ids, [*ids, 9, 8], [*ids[:-1], 9, *range(3, 30)])
    for context in others:
        for first in {1, length // 2 or 1, length - 1}:
            backbone = DiffusionGemmaBackbone(folded)
            backbone.prefill(context)
            found, read = log_p_of(backbone, ids, first)
            torch.testing.assert_close(found, expected[first - 1 :], atol=1e-4, rtol=1e-4)
            again, _ = log_p_of(backbone, [*ids[:-1], 11], first, after=read)
            torch.testing.assert_close(again[:-1], found[:-1], atol=1e-4, rtol=1e-4)
            assert backbone.prefill(context).num_reused == len(context), "it is held as before"


def test_what_is_held_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    backbone = DiffusionGemmaBackbone(tiny_model())
    backbone.prefill([2, 5, 6, 7])
    passes: list[int] = []
    run = backbone._encoder_pass

    def counted(ids: Sequence[int], *args: Any) -> torch.Tensor:
        passes.append(len(ids))
        return run(ids, *args)

    monkeypatch.setattr(backbone, "_encoder_pass", counted)
    _, read = log_p_of(backbone, [2, 5, 6, 7, 8, 9], 4)
    log_p_of(backbone, [2, 5, 6, 7, 8, 3, 4], 5, after=read)
    assert passes == [3, 3], "from the token before the first that is scored"


@pytest.fixture
def holes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Collect the holes that are judged."""
    found: list[Any] = []
    judge = Judge.judge

    def watched(self: Judge, hole: Any, control: FillControl) -> Any:
        found.append(hole)
        return judge(self, hole, control)

    monkeypatch.setattr(Judge, "judge", watched)
    return found


def texts(filled: Filled) -> list[str]:
    return [filled.text, *(other.text for other in filled.others)]


def brute_force(filler: Any, hole: Any, given: str, suffix: str, *, shown: str = "") -> list[float]:
    """Return the log-probabilities of an answer's tokens and of what follows it."""
    text, num = filler._text, len(hole.answer.tokens)
    before = [*text.context(PREFIX, shown), *text.encode(given)]
    after = text.encode(suffix)[:NUM_SUFFIX]
    if not after and hole.answer.has_end:  # one that was cut short has nothing after it
        after = hole.draft.ids[num : num + 1]
    log_p = log_p_by_transformers(filler._backbone._model, [*before, *hole.draft.ids[:num], *after])
    return [float(it) for it in log_p[len(before) - 1 :]]


@pytest.mark.parametrize("given", ["", "fir"])
@pytest.mark.parametrize("suffix", [SUFFIX[:40], LONG])
def test_an_answer_has_the_encoder_s_probabilities(filler, holes, given, suffix):
    filled = fill(filler, given=given, suffix=suffix)
    num, shown = len(filled.tokens), suffix if suffix is LONG else ""
    expected = [math.exp(it) for it in brute_force(filler, holes[0], given, suffix, shown=shown)]
    assert [it.confidence for it in filled.tokens] == pytest.approx(expected[:num], **CLOSE)
    assert filled.end_confidence == pytest.approx(expected[num], **CLOSE)


def test_without_a_suffix_the_token_that_ended_the_text_is_scored(filler, holes):
    whole = fill(filler, suffix="")
    assert (whole.end_confidence is None) == (whole.finish_reason != "end_of_hole")
    mark = whole.text[len(whole.text) // 2 :][:3]
    filled = fill(filler, suffix="", stop=(mark,))
    expected = brute_force(filler, holes[-1], "", "")[len(filled.tokens)]
    assert filled.end_confidence == pytest.approx(math.exp(expected), **CLOSE)


@pytest.mark.parametrize("suffix", [SUFFIX[:40], LONG, ""])
def test_several_answers_are_ranked_as_by_brute_force(filler, holes, suffix):
    first = fill(filler, suffix=suffix)
    assert first.others == ()
    holes.clear()
    filled = fill(filler, suffix=suffix, num_candidates=5)
    assert len(set(texts(filled))) == 5, "of three lengths and other noise"
    assert holes[0].answer.text == first.text
    scores = {it.answer.text: sum(brute_force(filler, it, "", suffix)) for it in holes}
    assert texts(filled) == sorted(scores, key=scores.__getitem__, reverse=True)
    for other in (filled, *filled.others):
        assert "".join(token.text for token in other.tokens) == other.text
        assert all(token.is_settled for token in other.tokens)
    assert fill(filler, suffix=suffix).num_prefilled == 0, "the context is held as before"


@pytest.mark.parametrize("fields", [{"num_candidates": 1}, {"draft": "first + second"}, {}])
def test_a_sure_answer_and_a_rewritten_draft_have_no_others(filler, fields, monkeypatch):
    if not fields:
        monkeypatch.setattr(judge_module, "_SURE", -math.inf)
    filled = fill(filler, max_tokens=40, noise=0.5, **{"num_candidates": 3, **fields})
    assert filled.others == ()


@pytest.mark.parametrize("num_in_time", [0, 1, 2])
def test_at_the_deadline_the_first_answer_is_returned(filler, holes, num_in_time, monkeypatch):
    first = fill(filler)
    holes.clear()
    monkeypatch.setattr(
        FillControl, "is_late", property(lambda control: len(holes) >= num_in_time + 1)
    )
    filled = fill(filler, num_candidates=4)
    assert (filled.text, filled.others) == (first.text, ())
    assert (filled.finish_reason == "deadline") == (num_in_time > 0)
    is_judged = num_in_time > 0
    assert all(token.is_settled == is_judged for token in filled.tokens)
    assert (filled.end_confidence is not None) == is_judged
    assert len(holes) == num_in_time + 1, "no more is begun"


def test_a_cancel_ends_it_at_any_time_and_the_next_fill_is_as_before(filler, holes):
    alone = fill(filler)
    looks = count()
    expected = fill(filler, FillControl(checkpoint=lambda: next(looks)), num_candidates=3)
    num_looks = next(looks)
    assert num_looks == expected.num_forwards > 3
    for num in range(0, num_looks, 3):
        looks = count()
        control = FillControl(checkpoint=cancel_when(lambda num=num, it=looks: next(it) >= num))
        with pytest.raises(Cancelled):
            fill(filler, control, num_candidates=3)
        assert next(looks) == num + 1, "and there was no further checkpoint"
    again = fill(filler)
    assert (again.text, again.num_prefilled) == (alone.text, 0)


TEXTS = ("first + second", "first - second", "total", "", "first + second + 1")


def score(filler: DiffusionGemmaFiller, control: FillControl = NO_CONTROL, **fields: Any):
    request = {"id": 3, "prefix": PREFIX, "present": "first * second", "texts": TEXTS}
    return filler.score_texts(ScoreTexts(**{**request, "suffix": SUFFIX[:30], **fields}), control)


def whole_log_p(filler: Any, text: str, num_left: int = 0) -> float:
    ids = [filler._text.special.begin, *filler._text.encode(text)]
    log_p = log_p_by_transformers(filler._backbone._model, ids)
    return float(log_p[: len(log_p) - num_left].sum())


@pytest.mark.parametrize(("suffix", "texts"), [(SUFFIX[:20], TEXTS), ("\n" + LONG, TEXTS[2:])])
def test_texts_are_scored_as_by_brute_force(filler, suffix, texts):
    """Of a long suffix, the tokens count that follow soon."""
    num_left = max(0, len(filler._text.encode(suffix)) - 24)
    present, *others = (
        whole_log_p(filler, PREFIX + text + suffix, num_left) for text in ("first * x", *texts)
    )
    found = score(filler, present="first * x", texts=texts, suffix=suffix)
    assert found.id == 3
    assert found.gains == pytest.approx([it - present for it in others], abs=2e-3)
    assert score(filler, suffix=suffix, present=TEXTS[0]).gains[0] == 0


def test_those_with_the_likeliest_first_token_are_scored(filler):
    letters = tuple("abcdefgh")
    fields = {"present": "i", "texts": letters, "suffix": "\n"}
    firsts = [whole_log_p(filler, PREFIX + letter) for letter in letters]
    best = sorted(range(8), key=lambda i: -firsts[i])[:3]
    found, every = (score(filler, **fields, max_scored=most).gains for most in (3, 8))
    assert [i for i, gain in enumerate(found) if gain is not None] == sorted(best)
    assert [found[i] for i in best] == pytest.approx([every[i] for i in best], abs=1e-3)


def test_fills_run_between_the_passes_and_neither_disturbs_the_other(filler):
    """A fill at a cursor runs at a checkpoint as it is, without ``suspended``."""
    expected_text, expected_gains = fill(filler).text, score(filler).gains
    found: list[Filled] = []
    gains = score(filler, FillControl(checkpoint=lambda: found.append(fill(filler)))).gains
    assert gains == pytest.approx(expected_gains, abs=1e-3)
    assert len(found) == 1 + len(TEXTS)
    assert {(it.text, it.num_prefilled) for it in found} == {(expected_text, 0)}


def test_a_cancelled_score_leaves_the_context_as_it_was(filler):
    expected = fill(filler)
    for num in range(1 + len(TEXTS)):
        looks = count()
        with pytest.raises(Cancelled):
            score(filler, cancelling(lambda num=num, it=looks: next(it) >= num))
    again = fill(filler)
    assert (again.text, again.num_prefilled) == (expected.text, 0)


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"texts": ()}, "number of texts must be from 1"),
        ({"max_scored": 0}, "max_scored must be from 1"),
        ({"prefix": CODE * 400}, "number of tokens must be from 1"),
    ],
)
def test_a_request_out_of_range_is_named(filler, fields, match):
    with pytest.raises(ValueError, match=match):
        score(filler, **fields)
