"""A model's folder that says nonsense is refused with one clear line, not as an internal error."""

import itertools
import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file
from toy_causal import save_toy, toy_causal_model

from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.service.load_filler import load_filler

DEEP = "[" * 1_000_000


def quiet(stage: str, fraction: float | None) -> None:
    """Ignore progress."""


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
    [
        *itertools.product(SIZES, (0, *IMPOSSIBLE)),
        *itertools.product(OPTIONAL_SIZES, IMPOSSIBLE),
    ],
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


def test_settings_of_a_tokenizer_nested_too_deeply_are_left_out(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text(DEEP)
    config = EngineConfig(model=str(folder), device="cpu", dtype="float32")
    assert load_filler(config, str(folder), quiet).info.name == "toy"


@pytest.mark.parametrize(
    "header",
    [
        DEEP,
        '{"__metadata__": [1], "a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}',
        '{"__metadata__": 7, "a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}',
        '{"__metadata__": "x", "a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}',
        '{"a": {"dtype": "F32", "shape": [1], "data_offsets": {}}}',
        '{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 1e400]}}',
    ],
)
def test_an_odd_header_is_refused(folder: Path, header: str) -> None:
    raw = header.encode()
    (folder / "model.safetensors").write_bytes(len(raw).to_bytes(8, "little") + raw + bytes(4))
    assert "model.safetensors is damaged" in refusal(folder)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("name", ["model.norm.weight", "model.layers.1.input_layernorm.weight"])
def test_norms_that_are_no_numbers_are_refused(folder: Path, name: str, value: float) -> None:
    path = folder / "model.safetensors"
    tensors = {key: tensor.clone() for key, tensor in load_file(path).items()}
    tensors[name][3] = value
    save_file(tensors, path, metadata={"format": "pt"})
    assert "is not finite" in refusal(folder)


def test_why_int8_is_not_used_is_in_the_status(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from intarsia.engine.families.masked_causal.backbone import choose_format, int8_weights

    monkeypatch.setattr(int8_weights, "is_int8_supported", lambda: False)
    monkeypatch.setattr(choose_format, "fastest", lambda formats, *_: formats[0])
    config = EngineConfig(model=str(folder), device="cpu")
    notes = load_filler(config, str(folder), quiet).info.notes
    assert any(note.startswith("int8 is not used: ") for note in notes), notes
