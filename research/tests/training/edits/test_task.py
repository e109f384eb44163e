"""The edit adapter: what it learns, and that the engine runs it as training did."""

import random
from pathlib import Path

import pytest
import torch
from commit_edits import control_case, renamed_case
from toy_causal import toy_backbone, toy_text
from toy_training import toy_batched

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.lora_layers import low_rank_layers
from intarsia.engine.families.masked_causal.backbone.rows import edit_rows, frozen_rows
from intarsia_research.edits.edit_set import write_edit_set
from intarsia_research.training.adapter_file import save_tensors
from intarsia_research.training.edits.batch import lay_out_edits
from intarsia_research.training.edits.draw import EditDraw, draw_edits
from intarsia_research.training.edits.run import EditTrainingOptions, run_edit_training
from intarsia_research.training.edits.task import EditTask
from intarsia_research.training.holes.packed_holes import HoleIds
from intarsia_research.training.low_rank_pairs import LowRankPairs
from intarsia_research.training.vocabulary import UsedVocabulary

NAMES = ("alpha", "beta", "gamma", "delta")


@pytest.fixture
def examples(toy: Path) -> list[HoleIds]:
    cases = [renamed_case(a, b, number=i) for i, a in enumerate(NAMES) for b in NAMES if a != b]
    return list(draw_edits(cases, toy_text(toy), EditDraw(seed=1)))


def test_only_the_answer_is_predicted_and_copied_tokens_count_less(
    toy: Path, examples: list[HoleIds]
) -> None:
    text = toy_text(toy)
    fim = text.mark_ids()
    batch = lay_out_edits(examples[:4], fim)
    for row, example in enumerate(examples[:4]):
        predicted = batch.targets[row][batch.targets[row] >= 0].tolist()
        assert predicted == [*example.middle, fim.end]
        first = len(example.given) - 1
        assert batch.row_ids[row, : first + 1].tolist() == list(example.given)
        assert int(batch.row_num_visible[row, 0]) == len(example.prefix)
    assert sorted(batch.weights.unique().tolist()) == pytest.approx([0.0, 0.3, 1.0])
    assert bool(batch.is_changed.any())


@torch.inference_mode()
def test_the_engine_runs_the_adapter_as_training_does(
    toy: Path, examples: list[HoleIds], tmp_path: Path
) -> None:
    batched = toy_batched(toy)
    pairs = LowRankPairs(batched.shape, rank=4, generator=torch.Generator().manual_seed(2))
    for number in pairs.named_tensors().values():
        number.copy_(torch.randn(number.shape) * 0.1)
    path = tmp_path / "edits.safetensors"
    save_tensors(pairs.named_tensors(), path, metadata={})
    engine = toy_backbone(toy, edit_adapter=path)
    batch = lay_out_edits(examples[:3], toy_text(toy).mark_ids())
    stored = {name: tensor.bfloat16().float() for name, tensor in pairs.named_tensors().items()}
    layers = low_rank_layers(stored, batched.shape, "in the test")
    hidden = batched.forward_adapted(batch, batched.prefill(batch.ids), layers)
    for row, example in enumerate(examples[:3]):
        cache = engine.new_cache()
        engine.forward(frozen_rows(list(example.prefix), start=0, device=engine.device), cache)
        cache.commit(list(example.prefix))
        ids = [*example.given, *example.middle]
        found = engine.forward(edit_rows(ids, start=len(cache), device=engine.device), cache)
        torch.testing.assert_close(found, hidden[row, : len(ids)], atol=2e-3, rtol=2e-3)


def options(toy: Path, tmp_path: Path, *, tokens: int) -> EditTrainingOptions:
    path = tmp_path / "set.jsonl.gz"
    cases = [
        renamed_case(a, b, repo=f"owner/{i % 3}", number=10 * i + j)
        for i, a in enumerate(NAMES)
        for j, b in enumerate(NAMES)
        if a != b
    ]
    write_edit_set(path, [*cases, control_case(repo="owner/1", number=99)])
    return EditTrainingOptions(
        sets=(path,),
        model=str(toy),
        start=None,
        minutes=None,
        tokens=tokens,
        rank=8,
        rate=1e-2,
        examples_per_pass=4,
        passes_per_step=1,
        seed=1,
    )


def test_a_run_learns_to_repeat_edits(toy: Path, tmp_path: Path) -> None:
    before = run_edit_training(
        options(toy, tmp_path, tokens=1), tmp_path / "short", lambda text, share: None
    )
    after = run_edit_training(
        options(toy, tmp_path, tokens=25_000), tmp_path / "long", lambda text, share: None
    )
    assert after["loss"] < 0.5 * before["loss"]
    toy_backbone(toy, edit_adapter=tmp_path / "long" / "adapter.safetensors")


def test_a_run_with_other_settings_is_refused(toy: Path, tmp_path: Path) -> None:
    run_edit_training(options(toy, tmp_path, tokens=1), tmp_path / "run", lambda *_: None)
    (tmp_path / "other").mkdir()
    other = options(toy, tmp_path / "other", tokens=1)
    write_edit_set(other.sets[0], [renamed_case("a", "b"), control_case(repo="other/one")])
    with pytest.raises(ModelError, match="drawn with other settings"):
        run_edit_training(other, tmp_path / "run", lambda *_: None)


def test_figures_tell_corrected_lines_from_those_left_alone(
    toy: Path, examples: list[HoleIds]
) -> None:
    batched, fim = toy_batched(toy), toy_text(toy).mark_ids()
    used = torch.tensor(sorted({fim.end, *(i for e in examples for i in e.middle)}))
    task = EditTask(batched, fim, UsedVocabulary(batched, used), rank=4, seed=1)
    with torch.no_grad():
        figures = task.evaluate([examples[:4], examples[4:8]], random.Random(1))
    assert set(figures) == {"loss", "corrected", "left_alone"}
    assert figures["loss"] > 0 and 0 <= figures["corrected"] <= 1
