"""Loading a model folder, of our shapes and others: its notes, one plain line for each fault."""

import hashlib
import itertools
import json
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
import torch
from one_thread import ON_CARD
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from toy_causal import loaded, quiet, save_drafter, save_toy, toy_causal_model, toy_fill, toy_filler
from toy_causal_fill import greedy_fill, reference, run_fill
from toy_causal_tokenizer import toy_tokenizer
from toy_other_shapes import DEEPSEEK_CODER, OTHER_SHAPES, WINDOW, toy_other_model

from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone import load
from intarsia.engine.families.masked_causal.backbone.drafter import read_drafter
from intarsia.engine.families.masked_causal.backbone.int8_backbone import is_int8_supported
from intarsia.engine.families.masked_causal.backbone.rows import branch_rows, frozen_rows
from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.families.masked_causal.backbone.torch_backbone import TorchBackbone
from intarsia.engine.families.masked_causal.backbone.transformers_backbone import (
    TransformersBackbone,
)
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.model_store.checkpoint import read_config
from intarsia.engine.service import load_filler as load_filler_module
from intarsia.engine.service.load_filler import check_model, load_filler

Tensors = dict[str, torch.Tensor]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a checkpoint that a test may damage."""
    return save_toy(tmp_path / "damaged", toy_causal_model("qwen2"))


def check_refused(folder: Path, match: str, drafter: Path | None = None) -> None:
    with pytest.raises(ModelError, match=match) as error:
        toy_filler(folder, drafter)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 1_000


def change_tensors(path: Path, change: Callable[[Tensors], Any]) -> None:
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    tensors = {name: tensor.clone() for name, tensor in load_file(path).items()}
    change(tensors)
    save_file(tensors, path, metadata=metadata)


def change_config(folder: Path, **fields: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def test_a_drafter_or_that_there_is_none_is_noted(toy: Path, drafter: Path, toys) -> None:
    info = toy_filler(toy).info
    assert (info.name, info.device, info.dtype) == ("qwen2", "cpu", "float32")
    assert info.notes == ("no drafter for this model: one token a pass, left to right",)
    digest = hashlib.sha256(drafter.read_bytes()).hexdigest()
    assert toy_filler(toy, drafter).info.notes == (f"drafter {digest[:12]}",)
    config = EngineConfig(model=str(toy), drafter=drafter, device="cpu", dtype="float32")
    other = load_filler(config, str(toys["llama"]), quiet)
    assert other.info.notes == info.notes, "the configured drafter is not another model's"


@pytest.mark.skipif(not is_int8_supported(), reason="this processor has no int8 dot product")
def test_a_model_in_int8_fills_and_names_its_format(toy: Path, drafter: Path) -> None:
    config = EngineConfig(model=str(toy), drafter=drafter, device="cpu", dtype="int8")
    filler = load_filler(config, config.model, quiet)
    assert filler.info.dtype == "int8"
    assert run_fill(filler, toy_fill()).text


def test_a_load_that_must_fail_is_refused_without_the_weights(toy: Path, tmp_path, monkeypatch):
    monkeypatch.setattr(load_filler_module, "load_backbone", None)
    config = EngineConfig(model=str(toy), device="cpu")
    check_model(config, str(toy), quiet)
    with pytest.raises(ModelError):
        check_model(config, str(tmp_path), quiet)
    with pytest.raises(ModelError, match="`--quantize` is for DiffusionGemma"):
        check_model(replace(config, quantize="int4"), str(toy), quiet)


def test_shards_are_read_as_one(toy: Path, tmp_path: Path) -> None:
    model = toy_causal_model("qwen2")
    model.save_pretrained(tmp_path, max_shard_size="100KB")
    toy_tokenizer().save(str(tmp_path / "tokenizer.json"))
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    assert run_fill(toy_filler(tmp_path), toy_fill()).text == (
        run_fill(toy_filler(toy), toy_fill()).text
    )


def test_a_context_leaves_room_for_the_hole(toy: Path) -> None:
    filler = toy_filler(toy, max_context_tokens=8192)
    filled = run_fill(filler, toy_fill("x" * 5000, max_tokens=2))
    assert filled.num_prefilled < 512, "the toy was made for 512 positions"


@pytest.mark.parametrize(
    "config",
    [
        {"hidden_size": 32, "head_dim": 16},
        {"num_hidden_layers": 2},  # it reads the rows after two layers
        {"num_key_value_heads": 1},
        {"vocab_size": 5},
    ],
)
def test_a_drafter_of_another_model(toy: Path, tmp_path, config: dict[str, int]) -> None:
    path = save_drafter(tmp_path / "d", toy)
    shape = read_shape(read_config(toy) | config)
    with pytest.raises(ModelError, match="the drafter d cannot be read, or is of another backbone"):
        read_drafter(path, shape)


@pytest.mark.parametrize(
    "name", ["context", "anchor", "masks", "1.qkv", "0.down", "norm", "head.down", "vocabulary"]
)
def test_a_drafter_with_a_missing_or_misshapen_tensor(toy: Path, tmp_path: Path, name: str):
    path = save_drafter(tmp_path / "d", toy)
    for size in ((), (0,), (3, 5), (4, 64, 1)):
        change_tensors(path, lambda tensors, size=size: tensors.update({name: torch.zeros(size)}))
        check_refused(toy, "of another backbone", path)
    change_tensors(path, lambda tensors: tensors.pop(name))
    check_refused(toy, f"'{name}'", path)


@pytest.mark.parametrize("taps", ["", "0,1", "2,1", "1,1", "one"])
def test_a_drafter_must_name_the_layers_that_it_reads(taps: str, toy: Path, tmp_path: Path) -> None:
    path = save_drafter(tmp_path / "d", toy)
    save_file(load_file(path), path, metadata={"taps": taps})
    check_refused(toy, "the drafter d cannot be read", path)


@pytest.mark.parametrize("number", [-1, 10**6, math.nan, math.inf])
def test_a_drafter_has_tokens_of_its_backbone_and_finite_numbers(number, toy, tmp_path):
    path = save_drafter(tmp_path / "d", toy)
    name = "1.o" if not math.isfinite(number) else "vocabulary"
    change_tensors(path, lambda tensors: tensors[name].view(-1)[3:4].fill_(number))
    check_refused(toy, "vocabulary|not finite", path)


def test_matrices_in_int8_are_read_with_the_scales_of_their_rows(toy: Path, tmp_path: Path) -> None:
    shape = read_shape(read_config(toy))
    path = save_drafter(tmp_path / "d", toy)
    plain = read_drafter(path, shape)
    tensors = load_file(path)
    scale = tensors["anchor"].abs().amax(dim=1) / 127
    tensors["anchor"] = (tensors["anchor"] / scale[:, None]).round().to(torch.int8)
    save_file(tensors | {"anchor.scale": scale}, path, metadata={"taps": "1,2"})
    stored = read_drafter(path, shape)
    assert stored.anchor == pytest.approx(plain.anchor, abs=0.02)


def test_a_damaged_or_missing_drafter(toy: Path, tmp_path: Path) -> None:
    path = save_drafter(tmp_path / "d", toy)
    path.write_bytes(path.read_bytes()[:1000])
    check_refused(toy, "the drafter d cannot be read", path)
    check_refused(toy, "the drafter nowhere cannot be read", tmp_path / "nowhere")


_Q = "model.layers.1.self_attn.q_proj"


@pytest.mark.parametrize(
    ("name", "match"),
    [
        (f"{_Q}.weight", f"lack the tensor {_Q}.weight"),
        (f"{_Q}.bias", "layer 1 qkv_bias"),  # one bias of three
        ("model.norm.weight", "lack the tensor model.norm.weight"),
    ],
)
def test_a_missing_tensor(folder: Path, name: str, match: str) -> None:
    change_tensors(folder / "model.safetensors", lambda tensors: tensors.pop(name))
    check_refused(folder, match)


@pytest.mark.parametrize(
    "name",
    [
        *(f"{_Q}.weight", f"{_Q}.bias", "model.embed_tokens.weight", "model.norm.weight"),
        *(f"model.layers.0.{kind}_layernorm.weight" for kind in ("input", "post_attention")),
        *(f"model.layers.1.{part}_proj.weight" for part in ("self_attn.o", "mlp.up", "mlp.down")),
    ],
)
def test_a_misshapen_tensor(folder: Path, name: str) -> None:
    path = folder / "model.safetensors"
    for size in ((7,), (7, 7)):
        change_tensors(path, lambda tensors, size=size: tensors.update({name: torch.zeros(size)}))
        check_refused(folder, "do not fit config.json")


def test_a_bias_that_is_not_supported(tmp_path: Path) -> None:
    folder = save_toy(tmp_path, toy_other_model(OTHER_SHAPES["granite code"]))
    change_config(folder, attention_bias=False, mlp_bias=False)  # says nothing of them
    check_refused(folder, r"_proj\.bias")


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"hidden_size": None}, "config.json lacks or mistypes"),
        ({"num_hidden_layers": "many"}, "config.json lacks or mistypes"),
        ({"num_key_value_heads": 3}, "the first must be a multiple"),
        ({"rope_parameters": {"rope_type": "llama3", "factor": 4.0}}, "config.json"),
        ({"rope_parameters": "default"}, "config.json"),
        ({"vocab_size": 100}, "tokenizer of 280 tokens and a model of 100"),
    ],
)
def test_a_config_that_is_not_supported(folder: Path, fields: dict[str, Any], match: str) -> None:
    change_config(folder, **fields)
    check_refused(folder, match)


DEEP = "[" * 1_000_000
SIZES = (
    *("num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "vocab_size"),
    *("max_position_embeddings", "rms_norm_eps"),
)
OPTIONAL_SIZES = ("num_key_value_heads", "head_dim", "rope_theta")
"""0 means the default there."""

IMPOSSIBLE = (-1, -5, math.inf, -math.inf, math.nan, 1e300, 10**400)


@pytest.mark.parametrize(
    ("name", "value"),
    [*itertools.product(SIZES, (0, *IMPOSSIBLE)), *itertools.product(OPTIONAL_SIZES, IMPOSSIBLE)],
)
def test_an_impossible_size_is_refused(folder: Path, name: str, value: float) -> None:
    change_config(folder, **{name: value, "rope_parameters": None})
    check_refused(folder, r"config\.json")


@pytest.mark.parametrize("factor", [0, -2.0, math.inf, math.nan])
@pytest.mark.parametrize("kind", ["linear", "llama3"])
def test_an_impossible_scaling_is_refused(folder: Path, kind: str, factor: float) -> None:
    rope = {
        "rope_type": kind,
        "factor": factor,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    }
    change_config(folder, rope_parameters=rope)
    check_refused(folder, "impossible factor")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors.index.json"])
def test_a_file_nested_too_deeply_is_refused(folder: Path, name: str) -> None:
    (folder / name).write_text(DEEP)
    check_refused(folder, re.escape(name))


@pytest.mark.parametrize("shards", [["a"], {}, None, 1, 1.5, True])
def test_a_list_of_weights_with_odd_names_is_refused(folder: Path, shards: object) -> None:
    names = {"weight_map": {"a": "model.safetensors", "b": shards}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(names))
    check_refused(folder, "cannot read")


@pytest.mark.parametrize("kind", ["too deep", "a pipe", "a device"])
def test_odd_settings_of_a_tokenizer_are_left_out_and_not_waited_for(folder, kind):
    settings = folder / "tokenizer_config.json"
    settings.unlink(missing_ok=True)
    match kind:
        case "too deep":
            settings.write_text(DEEP)
        case "a pipe":
            os.mkfifo(settings)
        case _:
            settings.symlink_to("/dev/zero")
    assert toy_filler(folder).info.name == folder.name


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("name", ["model.norm.weight", "model.layers.1.input_layernorm.weight"])
def test_norms_that_are_no_numbers_are_refused(folder: Path, name: str, value: float) -> None:
    change_tensors(
        folder / "model.safetensors", lambda tensors: tensors[name].__setitem__(3, value)
    )
    check_refused(folder, "is not finite")


def test_why_int8_is_not_used_is_in_the_status(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(load, "is_int8_supported", lambda: False)
    config = EngineConfig(model=str(folder), device="cpu")
    notes = load_filler(config, str(folder), quiet).info.notes
    assert any(note.startswith("int8 is not used: ") for note in notes), notes


def test_too_little_memory_is_refused_before_the_load(toy: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=1000))
    check_refused(toy, "qwen2 needs .* of memory, .* free")


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


@pytest.mark.parametrize("name", [pytest.param(name, marks=ON_CARD) for name in ALL])
def test_a_card_fills_as_the_processor_does(folders: dict[str, Path], name: str) -> None:
    texts = []
    for device in ("cpu", "cuda"):
        config = EngineConfig(model=str(folders[name]), device=device, dtype="float32")
        texts.append(run_fill(load_filler(config, config.model, quiet), fill()).text)
    assert texts[0] == texts[1] != ""


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
    backbone, model = loaded(str(folders[name])), reference(folders[name])
    assert isinstance(backbone, TransformersBackbone)
    ids = list(range(40, 90))
    cache = backbone.new_cache()
    for part in (ids[:30], ids[:9]):  # the second is cut away again
        backbone.forward(frozen_rows(part, start=len(cache)), cache)
        cache.commit(part)
    cache.crop(30)
    branches = [ids[30:40], ids[40:50]]
    rows = branch_rows(branches, start=30)
    ours = backbone.logits(backbone.forward(rows, cache)).split(10)
    for branch, logits in zip(branches, ours, strict=True):
        theirs = model(torch.tensor([[*ids[:30], *branch]])).logits[0, 30:]
        torch.testing.assert_close(logits, theirs, atol=2e-4, rtol=1e-4)


def test_our_own_passes_compute_deepseek_coders_rotation(folders: dict[str, Path]) -> None:
    assert isinstance(loaded(str(folders["deepseek-coder"])), TorchBackbone)


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
        (str(folder), {"drafter": tuning}, "a drafter is for the shapes of Llama and Qwen"),
    ):
        config = EngineConfig(model=model, device="cpu", **options)
        with pytest.raises(ModelError, match=said):
            load_filler(config, model, quiet)
