"""Build the model's own tokenizer from the metadata of a GGUF file.

Supports byte-level BPE, with the ways to split text that ``_SPLITS`` names.
"""

from collections.abc import Mapping
from typing import Any

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

from intarsia.engine.errors import ModelError

_CONTROL, _USER_DEFINED, _UNUSED = 3, 4, 5  # llama.cpp's token types

_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_SPLITS = {"qwen2": _QWEN2, "llama-bpe": _QWEN2.replace(r"\p{N}|", r"\p{N}{1,3}|")}


def tokenizer_from_gguf(fields: Mapping[str, Any]) -> Tokenizer:
    """Return the tokenizer. Raises ModelError for a kind that is not supported."""
    kind = (fields.get("tokenizer.ggml.model"), fields.get("tokenizer.ggml.pre"))
    if kind[0] != "gpt2" or kind[1] not in _SPLITS:
        raise ModelError(
            f"the GGUF file's tokenizer {kind[0]}/{kind[1]} is not supported "
            f"(gpt2/{', gpt2/'.join(_SPLITS)} are): use the model's safetensors folder instead"
        )
    tokenizer = Tokenizer(_bpe(fields, ignore_merges=kind[1] == "llama-bpe"))
    if kind[1] == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_SPLITS[kind[1]]), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = _post_processor(fields)
    tokenizer.add_tokens(_added_tokens(fields))
    return tokenizer


def _bpe(fields: Mapping[str, Any], *, ignore_merges: bool) -> models.BPE:
    types = fields["tokenizer.ggml.token_type"]
    vocab = {
        token: index
        for index, token in enumerate(fields["tokenizer.ggml.tokens"])
        if types[index] != _UNUSED  # such tokens only pad the matrix
    }
    merges = [tuple(merge.split(" ", 1)) for merge in fields["tokenizer.ggml.merges"]]
    return models.BPE(vocab=vocab, merges=merges, fuse_unk=False, ignore_merges=ignore_merges)


def _added_tokens(fields: Mapping[str, Any]) -> list[AddedToken]:
    return [
        AddedToken(token, special=kind == _CONTROL, normalized=False)
        for token, kind in zip(
            fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"], strict=True
        )
        if kind in (_CONTROL, _USER_DEFINED)
    ]


def _post_processor(fields: Mapping[str, Any]) -> Any:
    byte_level = processors.ByteLevel(trim_offsets=False)
    if not fields.get("tokenizer.ggml.add_bos_token"):
        return byte_level
    bos_id = fields["tokenizer.ggml.bos_token_id"]
    bos = fields["tokenizer.ggml.tokens"][bos_id]
    begin = processors.TemplateProcessing(
        single=f"{bos} $A", pair=f"{bos} $A $B", special_tokens=[(bos, bos_id)]
    )
    return processors.Sequence([byte_level, begin])
