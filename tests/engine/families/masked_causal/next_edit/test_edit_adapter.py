"""The edit adapter acts on the rows of an edit alone, in every format, next to the drafting one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from toy_causal import toy_backbone

from intarsia.engine.families.masked_causal.backbone.adapter import (
    NO_ADAPTERS,
    AdapterFiles,
    read_adapters,
)
from intarsia.engine.families.masked_causal.backbone.choose_format import Format
from intarsia.engine.families.masked_causal.backbone.int8_weights import (
    is_int8_supported,
    why_unfit_for_int8,
)
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone, Rows
from intarsia.engine.families.masked_causal.backbone.rows import (
    edit_rows,
    frozen_rows,
    outcome_rows,
)

CPU = torch.device("cpu")
IDS = torch.randint(0, 256, (40,), generator=torch.Generator().manual_seed(5)).tolist()
FORMATS: list[Format] = ["plain", "packed", *(["int8"] if is_int8_supported() else [])]


@pytest.fixture(autouse=True)
def inference() -> Iterator[None]:
    with torch.inference_mode():
        yield


def logits(backbone: CausalBackbone, rows: Rows) -> torch.Tensor:
    """Return the logits of rows after 20 tokens of known text."""
    cache = backbone.new_cache()
    backbone.forward(frozen_rows(IDS[:20], start=0, device=CPU), cache)
    cache.commit(IDS[:20])
    return backbone.logits(backbone.forward(rows, cache)).float()


def error(found: torch.Tensor, exact: torch.Tensor) -> float:
    return float((found - exact).norm() / exact.norm())


EDIT = edit_rows(IDS[20:30], start=20, device=CPU)
DRAFT = outcome_rows(IDS[20:23], [2, 3, 4], start=20, mask_id=9, device=CPU)
KNOWN = frozen_rows(IDS[20:30], start=20, device=CPU)


@pytest.mark.parametrize("matrices", FORMATS)
def test_each_adapter_acts_on_its_own_rows(
    matrices: Format, toy: Path, adapter: Path, edit_adapter: Path
) -> None:
    both = toy_backbone(toy, adapter, edit_adapter=edit_adapter, matrices=matrices)
    bare = toy_backbone(toy, matrices=matrices)
    draft_alone = toy_backbone(toy, adapter, matrices=matrices)
    edit_alone = toy_backbone(toy, edit_adapter=edit_adapter, matrices=matrices)
    exact = toy_backbone(toy, edit_adapter=edit_adapter)
    assert (both.has_edit_adapter, draft_alone.has_edit_adapter) == (True, False)
    assert error(logits(both, EDIT), logits(exact, EDIT)) < 0.08
    assert error(logits(bare, KNOWN), logits(exact, EDIT)) > 0.2
    assert error(logits(both, EDIT), logits(edit_alone, EDIT)) < 0.03
    assert error(logits(both, DRAFT), logits(draft_alone, DRAFT)) < 0.03
    assert torch.equal(logits(both, KNOWN), logits(bare, KNOWN))


def test_adapters_that_share_no_group_are_left_to_torch(
    toy: Path, adapter: Path, edit_adapter: Path, tmp_path: Path
) -> None:
    tensors = load_file(edit_adapter)
    wide = {
        name: torch.cat([tensor] * 16, dim=1 if name.startswith("B") else 0)
        for name, tensor in tensors.items()
        if name != "mask"
    }
    save_file(wide, tmp_path / "wide.safetensors")
    shape = toy_backbone(toy).shape

    def why(draft: Path | None, edit: Path | None) -> str | None:
        files = AdapterFiles(draft=draft, edit=edit)
        return why_unfit_for_int8(
            shape, read_adapters(files, shape, dtype=torch.float32, device=CPU)
        )

    assert why_unfit_for_int8(shape, NO_ADAPTERS) is None
    assert why(adapter, edit_adapter) is None
    assert why(None, tmp_path / "wide.safetensors") is None  # rank 64
    assert "not between 1 and 64 together" in str(why(adapter, tmp_path / "wide.safetensors"))
