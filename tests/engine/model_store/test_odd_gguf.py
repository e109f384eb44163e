"""A GGUF file that says nonsense is refused with one clear line, and soon."""

import struct
from pathlib import Path

import pytest
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

from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.gguf.read import read_gguf_model
from intarsia.engine.model_store.gguf.tensors import open_gguf

ENDLESS = struct.pack("<IQ", 7, 2**62)  # as many truth values


def without(start: bytes) -> tuple[bytes, ...]:
    """Return the fields but those with a key that starts like this."""
    return tuple(field for field in FIELDS if not field[8:].startswith(start))


def with_field(key: str, kind: int, value: bytes) -> bytes:
    """Return a file in which a field has another value."""
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


def test_a_file_of_too_many_values_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("intarsia.engine.model_store.gguf.tensors._MAX_VALUES", 20)
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_file(FIELDS, TENSORS))
    with pytest.raises(ModelError, match="too many values"):
        open_gguf(path)
