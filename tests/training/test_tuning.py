"""A tuned backbone fills as it was taught, at no cost a pass."""

from pathlib import Path

import pytest
from toy_causal import toy_fill, toy_filler, toy_text
from toy_causal_fill import run_fill
from toy_training import toy_holes, toy_lines, toy_tuning_task, train_toy

from intarsia.engine.config import EngineConfig
from intarsia.engine.service.load_filler import load_filler
from intarsia.training.packed_holes import HoleIds, PackedHoles


@pytest.fixture(scope="module")
def tuning(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuning")
    holes = toy_holes(toy, folder / "holes.safetensors", num_holes=256)
    train_toy(toy_tuning_task(toy, holes), holes, folder, tokens=12_000, peak_rate=1e-2)
    return folder / "adapter.safetensors"


def test_a_tuned_model_fills_the_holes_it_was_taught(toy: Path, tuning: Path) -> None:
    model = f"{toy}+{tuning}"
    tuned = load_filler(
        EngineConfig(model=model, device="cpu", dtype="float32"), model, lambda stage, share: None
    )
    plain = toy_filler(toy)
    num_right = num_right_plain = 0
    for prefix, hole, suffix in toy_lines(12, seed=99):
        request = toy_fill(prefix, suffix)
        num_right += run_fill(tuned, request).text == hole
        num_right_plain += run_fill(plain, request).text == hole
    assert num_right_plain == 0
    assert num_right >= 10


def test_given_text_is_shown_and_not_asked_for(toy: Path, holes: PackedHoles) -> None:
    task, fim = toy_tuning_task(toy, holes), toy_text(toy).mark_ids()
    hole = HoleIds(prefix=[20, 21], given=[30, 31], middle=[40, 41], suffix=[50], group=0)
    ids, is_asked = task._lay_out([hole])
    shown = [fim.before_prefix, 20, 21, fim.before_suffix, 50, fim.before_middle, 30, 31]
    assert ids[0].tolist() == [*shown, 40, 41, fim.end]
    assert ids[0, 1:][is_asked[0]].tolist() == [40, 41, fim.end]
