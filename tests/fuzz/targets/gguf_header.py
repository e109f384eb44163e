"""A GGUF file: its header, metadata, tokenizer and list of tensors, read up to the conversion."""

import struct
from pathlib import Path

from harness.byte_reader import ByteReader
from harness.scratch import scratch
from harness.target import Target
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

from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.gguf.read import read_gguf_model

_NAMES = sorted(
    {*TOKENS, "llama", "qwen3", "gpt2", "llama-bpe", "output.weight", "blk.0.attn_q.weight"}
)


_WHOLE = gguf_file(FIELDS, TENSORS)
_ODD_NUMBERS = (0, 1, 2, 2**31, 2**32 - 1, 2**40, 2**62, 2**63, 2**64 - 1)


def check(data: bytes) -> None:
    """Damage a small model's file: overwrite numbers, drop fields, or take any bytes."""
    reader = ByteReader(data)
    way = reader.byte() % 4
    if way == 0:
        content = b"GGUF\x03\0\0\0" + reader.rest()
    elif way == 1:
        content = _with_other_numbers(reader)
    elif way == 2:
        content = _with_other_fields(reader)
    else:
        start = (reader.byte() << 8 | reader.byte()) % len(_WHOLE)
        num_bytes = reader.byte()
        content = _WHOLE[:start] + reader.rest() + _WHOLE[start + num_bytes :]
    path = scratch() / "model.gguf"
    path.write_bytes(content)
    _read(path)


def _with_other_numbers(reader: ByteReader) -> bytes:
    content = bytearray(_WHOLE)
    while reader.has_more:
        start = (reader.byte() << 8 | reader.byte()) % (len(content) - 8)
        content[start : start + 8] = struct.pack("<Q", reader.pick(_ODD_NUMBERS))
    return bytes(content)


def _with_other_fields(reader: ByteReader) -> bytes:
    """Drop, repeat and retype fields, with a right header."""
    fields, tensors = list(FIELDS), list(TENSORS)
    while reader.has_more:
        at = reader.byte() % len(FIELDS)
        match reader.byte() % 5:
            case 0:
                fields[at : at + 1] = []
            case 1:
                fields.append(reader.pick(FIELDS))
            case 2:
                key = fields[at % len(fields)][8:].split(b"\x08\0\0\0")[0] if fields else b""
                name = key[: max(0, len(key) - 4)].decode("utf-8", "replace")
                fields.append(gguf_field(name, STRING, gguf_string(reader.pick(_NAMES))))
            case 3:
                tensors.append(gguf_tensor(reader.pick(_NAMES), reader.byte(), reader.byte() % 9))
            case _:
                tensors[at : at + 1] = []
    return gguf_file(tuple(fields), tuple(tensors))


def _read(path: Path) -> None:
    try:
        read_gguf_model(path)
    except ModelError as error:
        assert "\n" not in str(error), error
        assert len(str(error)) < 1_500, error


TARGET = Target(
    about="GGUF files: header, metadata, tokenizer, list of tensors",
    check=check,
    seeds=[
        b"\x00" + _WHOLE[8:240],
        b"\x01\x00\x10\x05",
        b"\x01\x01\x40\x07\x00\x60\x03",
        b"\x02\x05\x00\x01\x02\x03\x04\x02\x01",
        b"\x02\x09\x00\x0a\x00\x0b\x00",
        b"\x03\x00\x80\x04\xff\xff\xff\xff",
    ],
    watched=["intarsia.engine.model_store.gguf", "gguf.gguf_reader"],
    weight=3,
)
