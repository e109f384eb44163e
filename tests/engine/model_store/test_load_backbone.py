"""A converted folder in another matrix format: same logits, and its file mapped only once."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from toy_causal import adapter_tensors

from intarsia.engine.families.masked_causal.backbone import load as load_module
from intarsia.engine.families.masked_causal.backbone.choose_format import ChosenFormat, Format
from intarsia.engine.families.masked_causal.backbone.int8_weights import is_int8_supported
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.load import load_backbone
from intarsia.engine.families.masked_causal.backbone.rows import canvas_rows
from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.families.masked_causal.backbone.torch_weights import can_pack
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by
from intarsia.engine.model_store.locate import ModelFolder, locate_model

CPU = torch.device("cpu")
FORMATS = [
    pytest.param("packed", 0.02, marks=pytest.mark.skipif(not can_pack(torch.bfloat16), reason="")),
    pytest.param("int8", 0.1, marks=pytest.mark.skipif(not is_int8_supported(), reason="")),
]


@pytest.fixture
def folder(toy_gguf: Path, cache: Path) -> ModelFolder:
    """A converted model, in our own layout."""
    found = locate_model(str(toy_gguf), lambda stage, fraction: None, rows_tuned_by=rows_tuned_by)
    assert found.is_fused
    return found


@torch.inference_mode()
def logits_of(backbone: CausalBackbone) -> torch.Tensor:
    """Return the logits of rows of both kinds, causal and canvas."""
    rows = canvas_rows([5, 6, 7], [backbone.mask_id] * 4, start=0, device=CPU)
    return backbone.logits(backbone.forward(rows, backbone.new_cache())).float()


def backbone_of(
    folder: ModelFolder, adapter: Path, matrices: Format, patch: pytest.MonkeyPatch
) -> CausalBackbone:
    patch.setattr(load_module, "choose_format", lambda *_, **__: ChosenFormat(matrices))
    shape = read_shape(folder.config)
    loaded = load_backbone(folder, shape, "bfloat16", CPU, adapter=adapter, mask_id=3)
    assert loaded.format_name.endswith({"plain": "bfloat16"}.get(matrices, matrices))
    return loaded.backbone


@pytest.mark.parametrize(("matrices", "most"), FORMATS)
def test_logits_are_those_of_plain_matrices_with_the_file_mapped_once(
    folder: ModelFolder,
    tmp_path: Path,
    matrices: Format,
    most: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    adapter = tmp_path / "adapter.safetensors"
    save_file(adapter_tensors(read_shape(folder.config), seed=0), adapter)
    plain = backbone_of(folder, adapter, "plain", monkeypatch)
    expected = logits_of(plain)
    del plain
    backbone = backbone_of(folder, adapter, matrices, monkeypatch)
    found = logits_of(backbone)
    assert (found - expected).norm() < most * expected.norm()
    if Path("/proc/self/maps").exists():
        (weights,) = folder.weights
        maps = Path("/proc/self/maps").read_text().splitlines()
        assert len([line for line in maps if line.endswith(str(weights.resolve()))]) == 1
