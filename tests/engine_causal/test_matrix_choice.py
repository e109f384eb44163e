"""The format of matrices: what is asked for, else what the machine multiplies fastest."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
import torch
from toy_causal import CPU

from intarsia.engine.config import Dtype
from intarsia.engine.families import matrix_choice
from intarsia.engine.families.backbone_shape import BackboneShape, read_shape
from intarsia.engine.families.folder_contents import read_config
from intarsia.engine.families.matrix import Matrix, PackedMatrix, PlainMatrix, packs
from intarsia.engine.families.matrix_choice import choose_matrices
from intarsia.engine.families.pass_weights import MatrixFormat
from intarsia.engine.filler import ModelError

IsPackedFaster: TypeAlias = Callable[[BackboneShape, torch.dtype], bool]
packing = pytest.mark.skipif(not packs(torch.float32), reason="oneDNN packs nothing here")


@pytest.fixture
def shape(toy: Path) -> BackboneShape:
    return read_shape(read_config(toy))


@pytest.fixture(autouse=True)
def calibrating(monkeypatch: pytest.MonkeyPatch, is_packed_faster: IsPackedFaster) -> None:
    """Here the calibration is what is tested."""
    monkeypatch.setattr(matrix_choice, "_is_packed_faster", is_packed_faster)


def choose(
    wanted: Dtype,
    shape: BackboneShape,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device = CPU,
    has_room: bool = True,
) -> MatrixFormat:
    return choose_matrices(wanted, shape, dtype=dtype, device=device, has_room=has_room)


def takes(patch: pytest.MonkeyPatch, **seconds: float) -> list[Matrix]:
    """Have a product in a format take so long; return what is multiplied with, as it comes."""
    seen: list[Matrix] = []

    def product_s(matrix: Matrix, rows: torch.Tensor) -> float:
        matrix.multiply(rows)
        seen.append(matrix)
        return seconds[type(matrix).__name__]

    patch.setattr(matrix_choice, "_product_s", product_s)
    return seen


def test_int8_is_for_a_cpu_that_adds_bytes_exactly(
    shape: BackboneShape, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix_choice, "adds_bytes_exactly", lambda: True)
    assert choose("int8", shape) == "int8"
    with pytest.raises(ModelError, match="int8 is for the CPU"):
        choose("int8", shape, device=torch.device("cuda"))
    monkeypatch.setattr(matrix_choice, "adds_bytes_exactly", lambda: False)
    with pytest.raises(ModelError, match="no dot products of bytes"):
        choose("int8", shape)


@packing
@pytest.mark.parametrize(("packed_s", "chosen"), [(0.8, "packed"), (0.95, "plain"), (2, "plain")])
def test_packed_is_taken_where_it_is_much_faster(
    shape: BackboneShape, packed_s: float, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = takes(monkeypatch, PlainMatrix=1.0, PackedMatrix=packed_s)
    assert choose("auto", shape) == chosen
    kinds = [type(matrix) for matrix in seen]
    assert kinds.count(PlainMatrix) == kinds.count(PackedMatrix) > 3


@packing
def test_a_copy_is_made_only_where_there_is_room(
    shape: BackboneShape, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = takes(monkeypatch, PlainMatrix=1.0, PackedMatrix=0.1)
    assert choose("auto", shape, has_room=False) == "plain"
    assert not seen  # not even to calibrate
    assert choose("auto", shape, has_room=True) == "packed"


def test_a_machine_that_packs_nothing_runs_plain_matrices(
    shape: BackboneShape, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix_choice, "packs", lambda dtype: False)
    seen = takes(monkeypatch, PlainMatrix=1.0, PackedMatrix=0.1)
    for wanted in ("auto", "bfloat16"):
        assert choose(wanted, shape) == "plain"
    assert not seen


def test_on_another_device_matrices_stay_plain(
    shape: BackboneShape, monkeypatch: pytest.MonkeyPatch
) -> None:
    takes(monkeypatch, PlainMatrix=1.0, PackedMatrix=0.1)
    assert choose("auto", shape, device=torch.device("cuda")) == "plain"
