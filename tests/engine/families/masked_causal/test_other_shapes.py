"""Models of shapes that differ from ours: token for token what transformers' greedy search writes.

Each is a small random checkpoint, loaded as the engine loads it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from toy_causal import CPU, save_toy, toy_filler, toy_text
from toy_causal_fill import greedy_fill, reference, run_fill
from toy_other_shapes import DEEPSEEK_CODER, OTHER_SHAPES, WINDOW, toy_other_model

from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.load import load_backbone
from intarsia.engine.families.masked_causal.backbone.rows import branch_rows, frozen_rows
from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.families.masked_causal.backbone.torch_backbone import TorchBackbone
from intarsia.engine.families.masked_causal.backbone.transformers_backbone import (
    TransformersBackbone,
)
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.model_store.locate import locate_model
from intarsia.engine.service.load_filler import load_filler

ALL: Mapping[str, Mapping[str, Any]] = {**OTHER_SHAPES, "deepseek-coder": DEEPSEEK_CODER}
PREFIX = "import os\n\n\ndef default(val):\n    return val\n\n\ndef first(re, ret):\n    x = [1,"
SUFFIX = " 2]\n    return val\n\n\ndefault(default(1))\n"
NUM_TOKENS = 32


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("shapes")
    return {
        name: save_toy(root / str(number), toy_other_model(shape))
        for number, (name, shape) in enumerate(ALL.items())
    }


def loaded(folder: Path) -> CausalBackbone:
    found = locate_model(str(folder), lambda stage, share: None, rows_tuned_by=rows_tuned_by)
    shape = read_shape(found.config)
    mask_id = toy_text(folder).mask_id
    return load_backbone(found, shape, "float32", CPU, adapter=None, mask_id=mask_id).backbone


def fill(**fields: Any) -> Fill:
    options = {"id": 1, "prefix": PREFIX, "suffix": SUFFIX, "max_tokens": NUM_TOKENS}
    return Fill(**(options | fields))


@pytest.mark.parametrize("name", ALL)
def test_a_hole_is_filled_token_for_token_as_by_transformers(folders: dict[str, Path], name: str):
    filler = toy_filler(folders[name])
    expected, ids = greedy_fill(folders[name], PREFIX, SUFFIX, NUM_TOKENS)
    for decoding in ("autoregressive", "speculative"):
        filled = run_fill(filler, fill(decoding=decoding, fresh=True))
        assert filled.text == expected, decoding
    assert filled.num_prefilled + filled.num_reused > 2 * WINDOW
    assert len(set(ids)) > 3, "the toy must say something"


@pytest.mark.parametrize("name", ALL)
def test_the_next_key_reuses_the_context(folders: dict[str, Path], name: str) -> None:
    """Contexts are shortened and continued as those of our own passes are."""
    filler = toy_filler(folders[name])
    run_fill(filler, fill())
    again = run_fill(filler, fill(prefix=PREFIX + "2,", fresh=True))
    fresh = run_fill(toy_filler(folders[name]), fill(prefix=PREFIX + "2,", fresh=True))
    assert again.text == fresh.text
    assert again.num_reused > 20


@pytest.mark.parametrize("name", OTHER_SHAPES)
@torch.inference_mode()
def test_rows_of_any_mask_are_those_of_transformers(folders: dict[str, Path], name: str) -> None:
    """Rows after a context that was cut back, and two branches that do not see each other."""
    backbone, model = loaded(folders[name]), reference(folders[name])
    assert isinstance(backbone, TransformersBackbone)
    ids = list(range(40, 90))
    cache = backbone.new_cache()
    for part in (ids[:30], ids[:9]):  # the second is cut away again
        backbone.forward(frozen_rows(part, start=len(cache), device=CPU), cache)
        cache.commit(part)
    cache.crop(30)
    branches = [ids[30:40], ids[40:50]]
    rows = branch_rows(branches, start=30, device=CPU)
    ours = backbone.logits(backbone.forward(rows, cache)).split(10)
    for branch, logits in zip(branches, ours, strict=True):
        theirs = model(torch.tensor([[*ids[:30], *branch]])).logits[0, 30:]
        torch.testing.assert_close(logits, theirs, atol=2e-4, rtol=1e-4)


def test_our_own_passes_compute_deepseek_coders_rotation(folders: dict[str, Path]) -> None:
    assert isinstance(loaded(folders["deepseek-coder"]), TorchBackbone)


def test_what_such_a_model_lacks_is_said(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = folders["starcoder2"]
    filler = toy_filler(folder)
    assert "transformers" in filler.info.dtype
    assert "one token a pass" in " ".join(filler.info.notes)
    tuning = tmp_path / "own" / "t.safetensors"
    tuning.parent.mkdir()
    save_file({"A.o0": torch.ones(1)}, tuning)
    for model, options, said in (
        (str(folder), {"dtype": "int8"}, "int8 is for the shapes of Llama and Qwen"),
        (f"{folder}+{tuning}", {}, "a tuning is for the shapes of Llama and Qwen"),
        (str(folder), {"adapter": tuning}, "an adapter is for the shapes of Llama and Qwen"),
    ):
        config = EngineConfig(model=model, device="cpu", **options)  # type: ignore[arg-type]
        with pytest.raises(ModelError, match=said):
            load_filler(config, model, lambda stage, share: None)


def test_a_folder_without_a_tensor_is_refused(tmp_path: Path) -> None:
    folder = save_toy(tmp_path / "toy", toy_other_model(OTHER_SHAPES["starcoder2"]))
    path = folder / "model.safetensors"
    tensors = load_file(path)
    del tensors["model.layers.1.mlp.c_fc.weight"]
    save_file(tensors, path, metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lacks 1 tensors \(model.layers.1.mlp.c_fc.weight"):
        loaded(folder)
