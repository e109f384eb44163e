"""The smallest GGUF file of a model, field by field, so that tests can damage each."""

import struct

ARRAY, STRING, UINT32, FLOAT32 = 9, 8, 4, 6


def gguf_string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_field(key: str, kind: int, value: bytes) -> bytes:
    return gguf_string(key) + struct.pack("<I", kind) + value


def _strings(key: str, texts: list[str]) -> bytes:
    head = struct.pack("<IQ", STRING, len(texts))
    return gguf_field(key, ARRAY, head + b"".join(map(gguf_string, texts)))


def gguf_tensor(name: str, *shape: int) -> bytes:
    """Return the entry of a tensor in float32, at the beginning of the data."""
    return (
        gguf_string(name)
        + struct.pack("<I", len(shape))
        + b"".join(struct.pack("<Q", size) for size in shape)
        + struct.pack("<IQ", 0, 0)
    )


def _uint(key: str, value: int) -> bytes:
    return gguf_field(key, UINT32, struct.pack("<I", value))


TOKENS = ["a", "b", "ab", "<|endoftext|>"]
_KINDS = struct.pack("<IQ4i", 5, 4, 1, 1, 1, 3)
FIELDS = (
    gguf_field("general.architecture", STRING, gguf_string("qwen2")),
    _uint("qwen2.embedding_length", 8),
    _uint("qwen2.block_count", 0),
    _uint("qwen2.feed_forward_length", 8),
    _uint("qwen2.attention.head_count", 2),
    _uint("qwen2.context_length", 64),
    gguf_field("qwen2.attention.layer_norm_rms_epsilon", FLOAT32, struct.pack("<f", 1e-6)),
    gguf_field("tokenizer.ggml.model", STRING, gguf_string("gpt2")),
    gguf_field("tokenizer.ggml.pre", STRING, gguf_string("qwen2")),
    _strings("tokenizer.ggml.tokens", TOKENS),
    gguf_field("tokenizer.ggml.token_type", ARRAY, _KINDS),
    _strings("tokenizer.ggml.merges", ["a b"]),
    _uint("tokenizer.ggml.bos_token_id", 3),
    _uint("tokenizer.ggml.eos_token_id", 3),
)
TENSORS = (gguf_tensor("token_embd.weight", 8, 4), gguf_tensor("output_norm.weight", 8))


def gguf_file(fields: tuple[bytes, ...], tensors: tuple[bytes, ...]) -> bytes:
    """Return a GGUF file with room for small tensors after its header."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(fields))
    return head + b"".join(fields) + b"".join(tensors) + bytes(512)
