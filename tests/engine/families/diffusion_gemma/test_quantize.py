"""A quantised model is smaller, says nearly what it said, and keeps its small parts."""

import os
from collections import namedtuple
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from one_thread import DEVICES, ON_CARD
from tiny_diffusion_gemma import CODE, VOCAB_SIZE, save_tiny_checkpoint, tiny_model
from torch import Tensor

from intarsia.engine.config import EngineConfig
from intarsia.engine.diffusion.canvas import random_canvas
from intarsia.engine.errors import ModelError, NoRoomError
from intarsia.engine.families.diffusion_gemma import choose_form
from intarsia.engine.families.diffusion_gemma import load as gemma_load
from intarsia.engine.families.diffusion_gemma.load import load_gemma
from intarsia.engine.families.diffusion_gemma.model import DiffusionGemmaBackbone, fold_heads
from intarsia.engine.families.diffusion_gemma.quantize import (
    LowBit,
    LowBitExperts,
    LowBitMatrices,
    LowBitMatrix,
    from_float8,
    from_int4,
    has_float8,
    low_bit,
    product_by_product,
    quantize_gemma,
    to_float8,
    to_int4,
)
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.service.load_filler import load_filler

CPU = torch.device("cpu")
Usage = namedtuple("Usage", "total used free")


def quantised(kind: LowBit) -> Any:
    model = tiny_model().to(torch.bfloat16)
    quantize_gemma(model, kind, CPU)
    return model


def logits_of(model: Any) -> Tensor:
    backbone = DiffusionGemmaBackbone(model)
    backbone.prefill([i % 50 + 3 for i in range(30)])
    canvas = random_canvas(
        [None] * 12, vocab_size=VOCAB_SIZE, generator=torch.Generator().manual_seed(1)
    )
    return backbone.predict_many(canvas.ids[None].to(backbone.device), None)[0].cpu()


@pytest.mark.parametrize(
    ("kind", "tolerance"),
    [pytest.param(None, 1e-3, marks=ON_CARD), pytest.param("int4", 2e-2, marks=ON_CARD)],
)
def test_a_card_predicts_what_the_processor_does(kind: LowBit | None, tolerance: float) -> None:
    model = tiny_model()
    if kind is not None:
        quantize_gemma(model, kind, CPU)
    fold_heads(model)
    expected = logits_of(model)
    assert off(logits_of(model.to("cuda")), expected) < tolerance


def test_int4_predicts_as_the_numbers_do_that_it_keeps() -> None:
    """Nothing but the rounding of matrices changes: not the routes, not the order of layers."""
    rounded, held = tiny_model(), tiny_model()
    for layer in rounded.model.decoder.layers:
        large = [
            part.weight
            for part in (*layer.self_attn.children(), *layer.mlp.children())
            if isinstance(part, torch.nn.Linear)
        ]
        for weight in (*large, layer.experts.gate_up_proj, layer.experts.down_proj):
            with torch.no_grad():
                weight.copy_(from_int4(*to_int4(weight)))
    plain = logits_of(tiny_model())
    quantize_gemma(held, "int4", CPU)
    ours = logits_of(held)
    torch.testing.assert_close(ours, logits_of(rounded), atol=1e-4, rtol=1e-4)
    assert not torch.allclose(ours, plain, atol=0.1)


@pytest.mark.parametrize("kind", ["fp8", "int4"])
def test_encoder_and_decoder_share_what_is_new_and_small_parts_stay(kind: LowBit) -> None:
    model, before = quantised(kind), tiny_model().to(torch.bfloat16)
    decoder, encoder = model.model.decoder.layers, model.model.encoder.language_model.layers
    for ours, theirs, old in zip(decoder, encoder, before.model.decoder.layers, strict=True):
        assert isinstance(ours.experts, LowBitExperts) and ours.experts is theirs.experts
        assert isinstance(ours.self_attn.q_proj, LowBitMatrix)
        assert ours.self_attn.q_proj is theirs.self_attn.q_proj
        assert ours.mlp.down_proj is theirs.mlp.down_proj
        assert torch.equal(ours.router.proj.weight, old.router.proj.weight)
        assert torch.equal(ours.input_layernorm.weight, old.input_layernorm.weight)
    assert torch.equal(model.lm_head.weight, before.lm_head.weight)
    kept = {tensor.dtype for tensor in model.parameters()}
    assert kept == {torch.bfloat16}


@pytest.mark.parametrize(("kind", "bits"), [("fp8", 8 + 32 / 32), ("int4", 4 + 16 / 32)])
def test_experts_take_as_many_bits_as_they_should(kind: LowBit, bits: float) -> None:
    """With rows of 32 a float8 scale, and with groups of 32 an int4 scale, weigh in."""
    experts = quantised(kind).model.decoder.layers[0].experts.gate_up
    num_bytes = sum(tensor.nbytes for tensor in experts.buffers())
    assert num_bytes == pytest.approx(4 * 32 * 32 * bits / 8)


@pytest.mark.usefixtures("cache")  # it keeps what it quantises
@pytest.mark.parametrize(
    ("device", "form"),
    [("cpu", "int4"), *(pytest.param("cuda", it, marks=ON_CARD) for it in ("none", "fp8", "int4"))],
)
def test_a_quantised_model_fills_and_says_how_it_is_held(device, form, tmp_path: Path) -> None:
    folder = save_tiny_checkpoint(tmp_path)
    config = EngineConfig(model=str(folder), device=device, dtype="bfloat16", quantize=form)
    filler = load_filler(config, config.model, lambda stage, fraction: None)
    assert filler.info.dtype == ("bfloat16" if form == "none" else f"bfloat16, {form}")
    assert filler.info.device.startswith(device)
    prefix, suffix = CODE.split("first + second")
    filled = filler.fill(Fill(id=7, prefix=prefix, suffix=suffix, max_tokens=8), NO_CONTROL)
    assert (filled.id, filled.num_forwards > 1) == (7, True)


def test_what_is_quantised_is_kept_and_mapped_at_the_next_start(tmp_path, monkeypatch):
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path / "cache"))
    folder = save_tiny_checkpoint(tmp_path)
    load = partial(load_gemma, folder, device=CPU, dtype=torch.bfloat16)
    first, unquantised = (logits_of(load(quantize=kind).model) for kind in ("int4", None))
    (kept,) = (tmp_path / "cache" / "converted").glob("*/model.safetensors")
    assert kept.stat().st_size < 0.8 * (folder / "model.safetensors").stat().st_size
    with monkeypatch.context() as patch:
        patch.setattr(gemma_load, "quantize_gemma", None)  # nothing is quantised twice
        again = load(quantize="int4").model
    assert logits_of(again).equal(first)
    assert not first.equal(unquantised)
    kept.write_bytes(kept.read_bytes()[:-1] + b"\1")  # damaged: it is made again
    assert logits_of(load(quantize="int4").model).equal(first)
    monkeypatch.setattr(gemma_load.shutil, "disk_usage", lambda path: Usage(0, 0, 0))
    os.utime(folder / "model.safetensors", (1, 1))  # another file, as far as anyone knows
    assert logits_of(load(quantize="int4").model).equal(first)
    kept_files = list((tmp_path / "cache" / "converted").glob("*/model.safetensors"))
    assert len(kept_files) == 1, "no room, nothing kept"


@pytest.mark.parametrize(
    ("card", "free_gb", "capability", "form"),
    [
        ("H200", 139, (9, 0), ""),
        ("H100", 78, (9, 0), ""),
        ("A100 80 GB", 78, (8, 0), ""),
        ("RTX PRO 6000", 94, (12, 0), ""),
        ("H100 in use", 40, (9, 0), "fp8"),
        ("A100 40 GB", 39, (8, 0), "int4"),
        ("RTX 5090", 31, (12, 0), "int4"),
        ("RTX 4090", 23, (8, 9), "int4"),
        ("RTX 4060", 7.5, (8, 9), None),
    ],
)
def test_the_form_is_chosen_by_what_the_card_has_and_can(
    card, free_gb, capability, form, monkeypatch
):
    """Of a checkpoint's files, and for the doctor, of the published size."""
    released = choose_form.RELEASED_BYTES
    entry = {"dtype": "BF16", "shape": [int(released / 2)], "data_offsets": [0, int(released)]}
    monkeypatch.setattr(choose_form, "_entries", lambda files: [("weight", entry)])
    monkeypatch.setattr(choose_form, "free_bytes", lambda device: int(free_gb * 2**30))
    stand_in_card(monkeypatch, card, capability)
    cuda, folder = torch.device("cuda"), Path("released")
    choose = partial(choose_form.choose_form, folder, [], device=cuda, dtype=torch.bfloat16)
    if form is None:
        for run, name in (
            (partial(choose, requested="auto"), "released"),
            (choose_form.form_of_released, "DiffusionGemma"),
        ):
            with pytest.raises(NoRoomError, match=rf"{name} needs 14\.9 GiB .* 7\.5 GiB of cuda"):
                run()
        return
    chosen = choose(requested="auto")
    assert chosen.name == form, card
    words = {"": "bfloat16", "fp8": "float8", "int4": "four bits"}[form]
    assert chosen.notes == (
        f"device: {card}, as an NVIDIA card goes first",
        f"format: {words}, as {free_gb:.1f} GiB are free, bfloat16 needs 55.3",
    )
    assert choose_form.form_of_released() == chosen
    by_setting = choose(requested="int4")
    assert by_setting.quantize == "int4"
    assert by_setting.notes[1] == "format: four bits, as `quantize` is int4"


def stand_in_card(monkeypatch, name: str, capability: tuple[int, int]) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *_, **__: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: name)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)


def test_the_status_says_why_it_runs_there_and_so(tmp_path: Path, monkeypatch) -> None:
    folder = save_tiny_checkpoint(tmp_path)

    def notes(**options: Any) -> tuple[str, ...]:
        config = EngineConfig(model=str(folder), device="cpu", dtype="float32", **options)
        return load_filler(config, config.model, lambda stage, fraction: None).info.notes[:2]

    monkeypatch.setattr(choose_form, "free_bytes", lambda device: 2**30)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert notes() == (
        "device: cpu, as no NVIDIA card or Apple GPU is usable",
        "format: float32, as 1.0 GiB are free, float32 needs 0.0",
    )
    stand_in_card(monkeypatch, "RTX 4090", (8, 9))
    assert notes(quantize="none") == (
        "device: cpu, as `device` is cpu",
        "format: float32, as `quantize` is none",
    )


def test_what_its_publisher_quantised_is_not_quantised_again(monkeypatch) -> None:
    entry = {"dtype": "U8", "shape": [8, 16], "data_offsets": [0, 128]}
    monkeypatch.setattr(choose_form, "_entries", lambda files: [("weight", entry)])
    choose = partial(choose_form.choose_form, Path("packed"), [], device=CPU, dtype=torch.bfloat16)
    chosen = choose(requested="auto")
    assert chosen.quantize is None
    assert chosen.notes[1] == "format: as its publisher quantised it"
    with pytest.raises(ModelError, match="quantised already: omit"):
        choose(requested="int4")


def test_float8_multiplies_on_hopper_and_blackwell_servers_alone(monkeypatch) -> None:
    can = {(8, 9): False, (9, 0): True, (10, 3): True, (12, 1): False}
    found = []
    for capability in can:
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device, it=capability: it)
        found.append(has_float8(torch.device("cuda")))
    assert found == list(can.values())


def test_fp8_is_refused_where_there_is_no_such_card(tmp_path: Path) -> None:
    folder = save_tiny_checkpoint(tmp_path)
    config = EngineConfig(model=str(folder), device="cpu", quantize="fp8")
    with pytest.raises(ModelError, match=r"fp8 needs an NVIDIA card .* not cpu: take `--quantize"):
        load_filler(config, config.model, lambda stage, fraction: None)


def numbers(*shape: int, seed: int = 0) -> Tensor:
    """Rows of very different sizes: one scale for all would lose the small ones."""
    random = torch.Generator().manual_seed(seed)
    sizes = 10.0 ** torch.randint(-3, 3, (*shape[:-1], 1), generator=random)
    return torch.randn(shape, generator=random) * sizes


def off(ours: Tensor, theirs: Tensor) -> float:
    """Return the relative error."""
    return float((ours.double() - theirs.double()).norm() / theirs.double().norm())


def test_float8_keeps_four_significant_bits_of_every_row() -> None:
    rows = numbers(5, 7, 96)
    kept, scale = to_float8(rows)
    assert (kept.dtype, kept.shape, scale.shape) == (torch.float8_e4m3fn, (5, 7, 96), (5, 7))
    back = from_float8(kept, scale, torch.float32)
    is_normal = rows.abs() > rows.abs().amax(dim=-1, keepdim=True) / 2**13
    relative = ((back - rows) / rows).abs()[is_normal]
    assert relative.max() <= 2**-4 * 1.001
    assert all(off(mine, row) < 0.04 for mine, row in zip(back[0], rows[0], strict=True))


def test_int4_is_half_a_byte_and_off_by_half_a_step_of_its_group_at_most() -> None:
    rows = numbers(3, 5, 192)
    packed, scale = to_int4(rows)
    assert (packed.dtype, packed.shape, scale.shape) == (torch.uint8, (3, 5, 96), (3, 5, 3))
    step = scale.repeat_interleave(64, dim=-1)
    assert ((from_int4(packed, scale) - rows).abs() <= 0.5001 * step).all()


def test_int4_gives_back_whole_steps_exactly() -> None:
    whole = torch.arange(-7, 8).repeat(2, 10)[:, :128].float()
    assert torch.equal(from_int4(*to_int4(whole * 0.25)), whole * 0.25)


@pytest.mark.parametrize("matrix", [torch.zeros(4, 64), torch.full((4, 64), 3.0)])
def test_rows_of_nothing_and_rows_of_one_number_survive(matrix: Tensor) -> None:
    torch.testing.assert_close(from_int4(*to_int4(matrix)), matrix)
    torch.testing.assert_close(from_float8(*to_float8(matrix), torch.float32), matrix)


@pytest.mark.parametrize("ends", [[3, 3, 7, 10], [0, 0, 0, 10], [10, 10, 10, 10]])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_grouped_product_is_each_row_s_own_matrix(ends: list[int], dtype: torch.dtype) -> None:
    rows, matrices = numbers(10, 16).to(dtype), numbers(4, 24, 16, seed=1).to(dtype)
    group_ends = torch.tensor(ends, dtype=torch.int32)
    expected = torch.stack(
        [
            F.linear(row, matrices[int((group_ends <= number).sum())])
            for number, row in enumerate(rows)
        ]
    )
    tolerance = 1e-5 if dtype == torch.float32 else 1e-2
    product = product_by_product(rows, matrices.__getitem__, group_ends)
    assert off(product, expected) < tolerance


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("kind", "tolerance"), [("fp8", 0.05), ("int4", 0.15)])
def test_a_matrix_in_fewer_bits_multiplies_nearly_as_before(kind, tolerance, device):
    matrix, rows = (
        each.to(device, torch.bfloat16) for each in (numbers(48, 128), numbers(2, 5, 128, seed=1))
    )
    exact = F.linear(rows.double(), matrix.double())
    out = LowBitMatrix(*low_bit(matrix, kind))(rows)
    assert (out.dtype, out.shape) == (torch.bfloat16, (2, 5, 48))
    assert off(out, exact) < tolerance


def exact_experts(rows, gate_up, down, chosen, weights) -> Tensor:
    """The definition, a row and an expert at a time."""
    out = torch.zeros_like(rows)
    for number, row in enumerate(rows):
        for expert, weight in zip(chosen[number], weights[number], strict=True):
            gate, up = F.linear(row, gate_up[expert]).chunk(2)
            out[number] += weight * F.linear(F.silu(gate) * up, down[expert])
    return out


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("kind", "tolerance"), [("fp8", 0.08), ("int4", 0.25)])
def test_experts_in_fewer_bits_say_nearly_what_they_said(kind, tolerance, device):
    random = torch.Generator().manual_seed(2)
    shapes = ((9, 64), (6, 2 * 32, 64), (6, 64, 32))
    rows, gate_up, down = (
        torch.randn(shape, generator=random).to(device, torch.bfloat16) for shape in shapes
    )
    gate_up, down = gate_up * 0.1, down * 0.1
    weights, chosen = torch.rand(9, 6, generator=random).to(device).topk(2)
    chosen = chosen.where(chosen != 4, 0)  # one that no row chose
    experts = LowBitExperts(
        LowBitMatrices(*low_bit(gate_up, kind)), LowBitMatrices(*low_bit(down, kind)), F.silu
    )
    out = experts(rows, chosen, weights)
    exact = exact_experts(*(each.double() for each in (rows, gate_up, down)), chosen, weights)
    assert out.dtype == torch.bfloat16
    assert off(out, exact) < tolerance
