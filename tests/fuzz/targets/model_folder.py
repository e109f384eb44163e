"""A model's folder: config.json, the list of its weights, and tokenizer.json, of any content."""

import json
import random
from pathlib import Path

from harness.byte_reader import ByteReader
from harness.scratch import scratch
from harness.target import Target

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import read_fim_tokenizer
from intarsia.engine.model_store.checkpoint import (
    is_fused,
    read_config,
    require_tokenizer,
    weight_files,
)
from intarsia.engine.model_store.family import family_of, is_run_by_transformers

FILES = ("config.json", "model.safetensors.index.json", "tokenizer.json")
ODD_VALUES = ("null", "0", "-1", "1e400", "NaN", "[]", "{}", '""', '"\\ud800"', "9" * 40, "true")

CONFIG = {
    "model_type": "qwen2",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "intermediate_size": 96,
    "vocab_size": 266,
    "rms_norm_eps": 1e-6,
    "rope_parameters": {"rope_type": "linear", "rope_theta": 10_000.0, "factor": 2.0},
    "sliding_window": None,
}
INDEX = {"metadata": {}, "weight_map": {"a": "model.safetensors", "b": "../up.safetensors"}}
_MARKS = ("<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
TOKENIZER = {
    "version": "1.0",
    "added_tokens": [
        {
            "id": 3 + number,
            "content": mark,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for number, mark in enumerate(_MARKS)
    ],
    "normalizer": None,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
    "post_processor": None,
    "decoder": {"type": "ByteLevel"},
    "model": {
        "type": "BPE",
        "vocab": {"a": 0, "b": 1, "ab": 2} | {mark: 3 + n for n, mark in enumerate(_MARKS)},
        "merges": [["a", "b"]],
    },
}
_GOOD = tuple(json.dumps(content).encode() for content in (CONFIG, INDEX, TOKENIZER))


def check(data: bytes) -> None:
    """Damage one of the three files, as the first bytes say, and read the folder."""
    reader = ByteReader(data)
    damaged, way = reader.byte() % len(FILES), reader.byte() % 3
    content = _GOOD[damaged]
    if way == 0:
        content = reader.rest()
    elif way == 1:
        content = _with_another_value(content, reader)
    else:
        start = (reader.byte() << 8 | reader.byte()) % len(content)
        num_bytes = reader.byte()
        content = content[:start] + reader.rest() + content[start + num_bytes :]
    folder = scratch()
    for number, name in enumerate(FILES):
        (folder / name).write_bytes(content if number == damaged else _GOOD[number])
    for read in (_read_config, weight_files, _read_tokenizer):
        try:
            read(folder)
        except ModelError as error:
            assert "\n" not in str(error), error
            assert len(str(error)) < 1_500, error


def _with_another_value(content: bytes, reader: ByteReader) -> bytes:
    """Replace one of the values in a JSON text by an odd one."""
    parts = content.split(b": ")
    at = 1 + reader.byte() % (len(parts) - 1)
    _, comma, rest = parts[at].partition(b",")
    parts[at] = reader.pick(ODD_VALUES).encode() + comma + rest
    return b": ".join(parts)


def _read_config(folder: Path) -> None:
    config = read_config(folder)
    if family_of(config, str(folder)) == "masked_causal":
        is_run_by_transformers(config)
        read_shape(config)


def _read_tokenizer(folder: Path) -> None:
    require_tokenizer(folder)
    text = read_fim_tokenizer(folder)
    text.encode("ab 😀")


def _write_weights(folder: Path) -> None:
    header = json.dumps({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}).encode()
    whole = len(header).to_bytes(8, "little") + header + b"\0"
    for name in ("model.safetensors", "up.safetensors"):
        (folder / name).write_bytes(whole)
    assert not is_fused((folder / "model.safetensors",), "fused")


_write_weights(scratch())
_random = random.Random(1)

TARGET = Target(
    about="config.json, list of weights and tokenizer.json",
    check=check,
    seeds=[
        *(bytes([file, 0]) + _GOOD[file][:220] for file in range(3)),
        *(bytes([file, 1, _random.randrange(99), 2]) for file in range(3)),
        *(bytes([file, 2, 0, _random.randrange(256), 4]) + b'"x": 1' for file in range(3)),
    ],
    watched=[
        "intarsia.engine.model_store",
        "intarsia.engine.families.masked_causal.backbone.shape",
        "intarsia.engine.families.masked_causal.tokens",
    ],
    weight=8,
)
