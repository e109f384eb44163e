"""The format of matrices: what is asked for, else what the machine multiplies fastest."""

from pathlib import Path

import pytest
import torch
from toy_causal import CPU

from intarsia.engine.families import matrix_choice
from intarsia.engine.families.backbone_shape import BackboneShape, read_shape
from intarsia.engine.families.folder_contents import read_config
from intarsia.engine.families.matrix import Matrix, packs
from intarsia.engine.families.matrix_choice import choose_matrices
from intarsia.engine.filler import ModelError


@pytest.fixture
def shape(toy: Path) -> BackboneShape:
    return read_shape(read_config(toy))


def takes(patch: pytest.MonkeyPatch, **seconds: float) -> None:
    """Have a product in a format take so long."""

    def product_s(matrix: Matrix, rows: torch.Tensor) -> float:
        matrix.multiply(rows)
        return seconds[type(matrix).__name__]

    patch.setattr(matrix_choice, "_product_s", product_s)


def test_int8_is_for_a_cpu_that_adds_bytes_exactly(
    shape: BackboneShape, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix_choice, "adds_bytes_exactly", lambda: True)
    assert choose_matrices("int8", shape, dtype=torch.float32, device=CPU) == "int8"
    with pytest.raises(ModelError, match="int8 is for the CPU"):
        choose_matrices("int8", shape, dtype=torch.float32, device=torch.device("cuda"))
    monkeypatch.setattr(matrix_choice, "adds_bytes_exactly", lambda: False)
    with pytest.raises(ModelError, match="no dot products of bytes"):
        choose_matrices("int8", shape, dtype=torch.float32, device=CPU)


@pytest.mark.skipif(not packs(torch.float32), reason="oneDNN packs nothing here")
@pytest.mark.parametrize(("packed_s", "chosen"), [(0.8, "packed"), (0.95, "plain"), (2, "plain")])
def test_packed_is_taken_where_it_is_much_faster(
    shape: BackboneShape, packed_s: float, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    takes(monkeypatch, PlainMatrix=1.0, PackedMatrix=packed_s)
    assert choose_matrices("auto", shape, dtype=torch.float32, device=CPU) == chosen


def test_a_machine_that_packs_nothing_runs_plain_matrices(
    shape: BackboneShape, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix_choice, "packs", lambda dtype: False)
    for wanted in ("auto", "bfloat16"):
        assert choose_matrices(wanted, shape, dtype=torch.bfloat16, device=CPU) == "plain"


def test_on_another_device_matrices_stay_plain(shape: BackboneShape) -> None:
    cuda = torch.device("cuda")
    assert choose_matrices("auto", shape, dtype=torch.bfloat16, device=cuda) == "plain"


def test_the_calibration_itself_runs(shape: BackboneShape) -> None:
    chosen = choose_matrices("auto", shape, dtype=torch.float32, device=CPU)
    assert chosen in ("plain", "packed")
