"""Damaged files of a model are read, or refused with one short line: GGUF, safetensors, JSON."""

import atexit
import json
import shutil
import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from small_gguf import (
    FIELDS,
    STRING,
    TENSORS,
    TOKENS,
    gguf_field,
    gguf_file,
    gguf_string,
    gguf_tensor,
)
from strategies import damaged

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import read_fim_tokenizer
from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.model_store.checkpoint import (
    family_of,
    is_run_by_transformers,
    own_format,
    read_config,
    read_safetensors_header,
    require_tokenizer,
    weight_files,
)
from intarsia.engine.model_store.gguf.read import read_gguf_model

FOLDER = Path(tempfile.mkdtemp(prefix="intarsia-fuzz-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
ODD_NUMBERS = (0, 1, 2, 2**31, 2**32 - 1, 2**40, 2**62, 2**63, 2**64 - 1)
ODD_VALUES = ("null", "0", "-1", "1e400", "NaN", "[]", "{}", '""', '"\\ud800"', "9" * 40, "true")
NAMES = (*TOKENS, "llama", "qwen3", "gpt2", "llama-bpe", "output.weight", "blk.0.attn_q.weight")
GGUF = gguf_file(FIELDS, TENSORS)
TENSOR = {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]}
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
MARKS = ("<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
TOKENIZER = {
    "version": "1.0",
    "added_tokens": [
        {"id": 3 + number, "content": mark, "special": True, **FLAGS}
        for number, mark in enumerate(MARKS)
    ],
    "normalizer": None,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
    "post_processor": None,
    "decoder": {"type": "ByteLevel"},
    "model": {
        "type": "BPE",
        "vocab": {"a": 0, "b": 1, "ab": 2} | {mark: 3 + n for n, mark in enumerate(MARKS)},
        "merges": [["a", "b"]],
    },
}
FILES = {
    name: json.dumps(content).encode()
    for name, content in {
        "config.json": CONFIG,
        "model.safetensors.index.json": {
            "metadata": {},
            "weight_map": {"a": "model.safetensors", "b": "../up.safetensors"},
        },
        "tokenizer.json": TOKENIZER,
    }.items()
}


def is_one_line(error: ModelError) -> bool:
    return "\n" not in str(error) and len(str(error)) < 1_500


def with_numbers(changes: Sequence[tuple[int, int]]) -> bytes:
    content = bytearray(GGUF)
    for start, number in changes:
        content[start : start + 8] = struct.pack("<Q", number)
    return bytes(content)


odd_fields = st.builds(
    lambda field, name: gguf_field(
        field[8:].split(b"\x08\0\0\0")[0][:-4].decode("utf-8", "replace"), STRING, gguf_string(name)
    ),
    st.sampled_from(FIELDS),
    st.sampled_from(NAMES),
)
odd_tensors = st.builds(gguf_tensor, st.sampled_from(NAMES), st.integers(0, 255), st.integers(0, 8))
gguf_files = (
    st.binary(max_size=256).map(lambda rest: b"GGUF\x03\0\0\0" + rest)
    | damaged(GGUF)
    | st.lists(
        st.tuples(st.integers(0, len(GGUF) - 8), st.sampled_from(ODD_NUMBERS)), max_size=8
    ).map(with_numbers)
    | st.builds(
        gguf_file,
        st.lists(st.sampled_from(FIELDS) | odd_fields, max_size=20).map(tuple),
        st.lists(st.sampled_from(TENSORS) | odd_tensors, max_size=4).map(tuple),
    )
)


@given(gguf_files)
def test_a_gguf_file_is_read_or_refused(content: bytes) -> None:
    path = FOLDER / "model.gguf"
    path.write_bytes(content)
    try:
        read_gguf_model(path)
    except ModelError as error:
        assert is_one_line(error)


def with_header(header: Any, num_data_bytes: int) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(num_data_bytes)


GOOD = {"__metadata__": {"format": "pt"}, "a": TENSOR, "b": {**TENSOR, "data_offsets": [8, 16]}}
headers = damaged(json.dumps(GOOD).encode()) | st.binary(max_size=256)


@given(st.binary(max_size=256) | st.builds(with_header, headers, st.integers(0, 255)))
@example(with_header(GOOD, 16))
@example(with_header({"a": {**TENSOR, "data_offsets": [0, -1]}}, 0))
@example(struct.pack("<Q", 2**62) + b"{}")
@example(with_header(b"[" * 200, 0))
def test_a_safetensors_header_is_read_or_refused(content: bytes) -> None:
    path = FOLDER / "alone.safetensors"
    path.write_bytes(content)
    try:
        header = read_safetensors_header(path)
    except ModelError as error:
        assert is_one_line(error)
        return
    (length,) = struct.unpack("<Q", content[:8])
    ends = [tensor["data_offsets"][1] for tensor in header.tensors.values()]
    assert len(content) == 8 + length + max(ends)


def with_odd_value(content: bytes, at: int, value: str) -> bytes:
    """Replace one of the values in a JSON text."""
    parts = content.split(b": ")
    at = 1 + at % (len(parts) - 1)
    _, comma, rest = parts[at].partition(b",")
    parts[at] = value.encode() + comma + rest
    return b": ".join(parts)


def damaged_file(name: str) -> st.SearchStrategy[tuple[str, bytes]]:
    good = FILES[name]
    values = st.builds(
        with_odd_value, st.just(good), st.integers(0, 99), st.sampled_from(ODD_VALUES)
    )
    return st.tuples(st.just(name), st.binary(max_size=256) | damaged(good) | values)


@given(st.sampled_from(sorted(FILES)).flatmap(damaged_file))
def test_a_model_folder_is_read_or_refused(other: tuple[str, bytes]) -> None:
    for name, content in (*FILES.items(), other):
        (FOLDER / name).write_bytes(content)
    for name in ("model.safetensors", "up.safetensors"):
        tensor = {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}
        (FOLDER / name).write_bytes(with_header({"a": tensor}, 1))
    assert own_format((FOLDER / "model.safetensors",)) != "fused"
    for read in (read_model_config, weight_files, read_tokenizer):
        try:
            read(FOLDER)
        except ModelError as error:
            assert is_one_line(error)


def read_model_config(folder: Path) -> None:
    config = read_config(folder)
    if family_of(config, str(folder)) == "masked_causal":
        is_run_by_transformers(config)
        read_shape(config)


def read_tokenizer(folder: Path) -> None:
    require_tokenizer(folder)
    read_fim_tokenizer(folder).encode("ab 😀")
