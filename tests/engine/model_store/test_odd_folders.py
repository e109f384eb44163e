"""A model's folder that says nonsense is refused with one clear line, not as an internal error."""

import itertools
import json
import math
import os
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file
from small_gguf import (
    ARRAY,
    FIELDS,
    FLOAT32,
    STRING,
    TENSORS,
    UINT32,
    gguf_field,
    gguf_file,
    gguf_string,
    gguf_tensor,
)
from toy_causal import save_toy, toy_causal_model

from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.gguf.read import read_gguf_model
from intarsia.engine.model_store.gguf.tensors import open_gguf
from intarsia.engine.service.load_filler import load_filler

DEEP = "[" * 1_000_000


def quiet(*_: object) -> None: ...


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toy(tmp_path_factory.mktemp("toys") / "toy", toy_causal_model("qwen2"))


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "toy"))


def refusal(folder: Path) -> str:
    config = EngineConfig(model=str(folder), device="cpu", dtype="float32")
    with pytest.raises(ModelError) as failure:
        load_filler(config, str(folder), quiet)
    message = str(failure.value)
    assert "\n" not in message
    assert len(message) < 1_000
    return message


def set_config(folder: Path, changes: dict[str, Any]) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


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
    set_config(folder, {name: value, "rope_parameters": None})
    assert "config.json" in refusal(folder)


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
    set_config(folder, {"rope_parameters": rope})
    assert "impossible factor" in refusal(folder)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors.index.json"])
def test_a_file_nested_too_deeply_is_refused(folder: Path, name: str) -> None:
    (folder / name).write_text(DEEP)
    assert name in refusal(folder)


@pytest.mark.parametrize("shards", [["a"], {}, None, 1, 1.5, True])
def test_a_list_of_weights_with_odd_names_is_refused(folder: Path, shards: object) -> None:
    names = {"weight_map": {"a": "model.safetensors", "b": shards}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(names))
    assert "cannot read" in refusal(folder)


@pytest.mark.parametrize("kind", ["too deep", "a pipe", "a device"])
def test_odd_settings_of_a_tokenizer_are_left_out_and_not_waited_for(
    folder: Path, kind: str
) -> None:
    settings = folder / "tokenizer_config.json"
    settings.unlink(missing_ok=True)
    match kind:
        case "too deep":
            settings.write_text(DEEP)
        case "a pipe":
            os.mkfifo(settings)
        case _:
            settings.symlink_to("/dev/zero")
    config = EngineConfig(model=str(folder), device="cpu", dtype="float32")
    assert load_filler(config, str(folder), quiet).info.name == "toy"


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("name", ["model.norm.weight", "model.layers.1.input_layernorm.weight"])
def test_norms_that_are_no_numbers_are_refused(folder: Path, name: str, value: float) -> None:
    path = folder / "model.safetensors"
    tensors = {key: tensor.clone() for key, tensor in load_file(path).items()}
    tensors[name][3] = value
    save_file(tensors, path, metadata={"format": "pt"})
    assert "is not finite" in refusal(folder)


def test_why_int8_is_not_used_is_in_the_status(folder: Path, monkeypatch: pytest.MonkeyPatch):
    from intarsia.engine.families.masked_causal.backbone import int8_backbone, load

    monkeypatch.setattr(int8_backbone, "is_int8_supported", lambda: False)
    monkeypatch.setattr(load, "fastest", lambda formats, *_: formats[0])
    config = EngineConfig(model=str(folder), device="cpu")
    notes = load_filler(config, str(folder), quiet).info.notes
    assert any(note.startswith("int8 is not used: ") for note in notes), notes


ENDLESS = struct.pack("<IQ", 7, 2**62)  # as many truth values


def without(start: bytes) -> tuple[bytes, ...]:
    """Return the fields but those with a key that starts like this."""
    return tuple(field for field in FIELDS if not field[8:].startswith(start))


def with_field(key: str, kind: int, value: bytes) -> bytes:
    return gguf_file((*without(key.encode()), gguf_field(key, kind, value)), TENSORS)


def test_the_file_that_the_others_differ_from_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_file(FIELDS, TENSORS))
    model = read_gguf_model(path)
    assert model.config["hidden_size"] == 8
    assert [tensor.name for tensor in model.tensors] == ["embed", "norm"]


ODD_FILES = {
    "an array without an end": with_field("extra", ARRAY, ENDLESS),
    "a text without an end": with_field("extra", STRING, struct.pack("<Q", 2**63)),
    "arrays in arrays": with_field("extra", ARRAY, struct.pack("<IQ", ARRAY, 1) * 5_000),
    "fields without an end": b"GGUF" + struct.pack("<IQQ", 3, 0, 2**62) + bytes(64),
    "a field twice": gguf_file((*FIELDS, FIELDS[1]), TENSORS),
    "no heads": with_field("qwen2.attention.head_count", UINT32, struct.pack("<I", 0)),
    "a text for a number": with_field("qwen2.embedding_length", STRING, gguf_string("many")),
    "a number for a list": with_field("tokenizer.ggml.tokens", FLOAT32, struct.pack("<f", 1.0)),
    "no kinds of tokens": gguf_file(without(b"tokenizer.ggml.token_type"), TENSORS),
    "a merge of no token": with_field(
        "tokenizer.ggml.merges", ARRAY, struct.pack("<IQ", STRING, 1) + gguf_string("x y")
    ),
    "a tensor of another rank": gguf_file(
        FIELDS, (gguf_tensor("token_embd.weight"), gguf_tensor("output_norm.weight", 8))
    ),
    "a tensor after the end": gguf_file(
        FIELDS, (gguf_tensor("token_embd.weight", 2**40), gguf_tensor("output_norm.weight", 8))
    ),
    "half a character": gguf_file((*FIELDS, FIELDS[0].replace(b"general", b"gen\xffral")), TENSORS),
}


@pytest.mark.parametrize("name", ODD_FILES)
def test_an_odd_file_is_refused_with_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(ODD_FILES[name])
    with pytest.raises(ModelError) as failure:
        read_gguf_model(path)
    message = str(failure.value)
    assert "\n" not in message
    assert len(message) < 500
    assert "GGUF" in message or "damaged" in message


def test_a_file_of_too_many_values_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("intarsia.engine.model_store.gguf.tensors._MAX_VALUES", 20)
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_file(FIELDS, TENSORS))
    with pytest.raises(ModelError, match="too many values"):
        open_gguf(path)
