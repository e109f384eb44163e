"""Read all of a GGUF file but its weights. Whatever is wrong with it is told as one ModelError."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
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
from intarsia.engine.model_store.gguf.tensors import GgufFile


@dataclass(frozen=True, kw_only=True, slots=True)
class FusedTensor:
    """One tensor to write: the rows of ``sources``, in order."""

    name: str
    shape: tuple[int, ...]
    sources: tuple[str, ...]


def fused_tensors(
    shapes: Mapping[str, tuple[int, ...]],
    config: Mapping[str, Any],
    *,
    embed: str,
    output: str | None,
) -> list[FusedTensor]:
    """Return the tensors to write, in order. Raises ModelError if one is missing or unknown.

    Matrices with the same input are joined by rows, so that the file can be mapped into memory.
    ``shapes`` are those of the GGUF file, ``embed`` and ``output`` the names of two tensors in it;
    ``output`` is None if the output matrix is tied to the embedding.
    """
    plan = [_fuse(shapes, "embed", embed)]
    if output is not None:
        plan.append(_fuse(shapes, "output", output))
    plan.append(_fuse(shapes, "norm", "output_norm.weight"))
    for layer in range(config["num_hidden_layers"]):
        plan.extend(_layer(shapes, layer))
    used = {source for tensor in plan for source in tensor.sources} | {
        "output.weight",
        "token_embd.weight",
    }
    if unknown := sorted(set(shapes) - used):
        raise ModelError(
            f"the GGUF file has the unknown tensor {unknown[0]}: use a model of a plain shape"
        )
    return plan


def _layer(shapes: Mapping[str, tuple[int, ...]], layer: int) -> list[FusedTensor]:
    old, new = f"blk.{layer}", f"layers.{layer}"
    plan = [
        _fuse(shapes, f"{new}.attn_norm", f"{old}.attn_norm.weight"),
        _fuse(shapes, f"{new}.qkv", *(f"{old}.attn_{part}.weight" for part in "qkv")),
    ]
    if f"{old}.attn_q.bias" in shapes:
        plan.append(
            _fuse(shapes, f"{new}.qkv_bias", *(f"{old}.attn_{part}.bias" for part in "qkv"))
        )
    plan += [
        _fuse(shapes, f"{new}.{part}_norm", f"{old}.attn_{part}_norm.weight")
        for part in "qk"
        if f"{old}.attn_{part}_norm.weight" in shapes
    ]
    return [
        *plan,
        _fuse(shapes, f"{new}.o", f"{old}.attn_output.weight"),
        _fuse(shapes, f"{new}.mlp_norm", f"{old}.ffn_norm.weight"),
        _fuse(shapes, f"{new}.gate_up", f"{old}.ffn_gate.weight", f"{old}.ffn_up.weight"),
        _fuse(shapes, f"{new}.down", f"{old}.ffn_down.weight"),
    ]


def _fuse(shapes: Mapping[str, tuple[int, ...]], name: str, *sources: str) -> FusedTensor:
    if missing := [source for source in sources if source not in shapes]:
        raise ModelError(
            f"the GGUF file lacks the tensor {missing[0]}: use a complete file of a causal model"
        )
    num_rows = sum(shapes[source][0] for source in sources)
    return FusedTensor(name=name, shape=(num_rows, *shapes[sources[0]][1:]), sources=sources)


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


ARCHITECTURES = {
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "llama": "LlamaForCausalLM",
}


def config_from_gguf(fields: Mapping[str, Any], *, is_tied: bool) -> dict[str, Any]:
    """Return the content of config.json. Raises ModelError for a shape that is not supported.

    ``is_tied``: the output matrix is the embedding matrix.
    """
    architecture = str(fields.get("general.architecture"))
    if architecture not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise ModelError(
            f"GGUF architecture {architecture!r} is not supported: use one of {known}, or take the "
            "model as safetensors"
        )
    own = {
        key.removeprefix(f"{architecture}."): value
        for key, value in fields.items()
        if key.startswith(f"{architecture}.")
    }
    _refuse_variants(own)
    try:
        return _shape(architecture, own, fields, is_tied)
    except KeyError as missing:
        raise ModelError(
            f"the GGUF file lacks the field {architecture}.{missing.args[0]}: download it again"
        ) from missing


def _refuse_variants(own: Mapping[str, Any]) -> None:
    if own.get("expert_count", 0):
        raise ModelError("a GGUF mixture of experts is not supported: use a dense model")
    if own.get("rope.scaling.type", "none") != "none":
        raise ModelError(
            "a GGUF file with scaled RoPE is not supported: use a model without scaling"
        )


def _shape(
    architecture: str, own: Mapping[str, Any], fields: Mapping[str, Any], is_tied: bool
) -> dict[str, Any]:
    hidden_size, num_heads = own["embedding_length"], own["attention.head_count"]
    rope_theta = float(own.get("rope.freq_base", 10_000.0))
    return {
        "architectures": [ARCHITECTURES[architecture]],
        "model_type": architecture,
        "hidden_act": "silu",
        "hidden_size": hidden_size,
        "intermediate_size": own["feed_forward_length"],
        "num_hidden_layers": own["block_count"],
        "num_attention_heads": num_heads,
        "num_key_value_heads": own.get("attention.head_count_kv", num_heads),
        "head_dim": own.get("attention.key_length", hidden_size // num_heads),
        "max_position_embeddings": own["context_length"],
        # of single precision: 1e-06 for 9.999999974752427e-07
        "rms_norm_eps": float(f"{own['attention.layer_norm_rms_epsilon']:.7g}"),
        "rope_theta": rope_theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": rope_theta},
        "tie_word_embeddings": is_tied,
        "vocab_size": len(fields["tokenizer.ggml.tokens"]),
        "bos_token_id": fields.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": fields.get("tokenizer.ggml.eos_token_id"),
        "dtype": "bfloat16",
    }


_MAX_REASON_CHARS = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class GgufModel:
    """A model in a GGUF file. ``config`` is the content of config.json."""

    source: GgufFile
    config: Mapping[str, Any]
    tensors: Sequence[FusedTensor]
    tokenizer: Tokenizer


def read_gguf_model(path: Path) -> GgufModel:
    """Return the model in a file. Raises ModelError for one that is damaged or not supported."""
    try:
        return _read(path)
    except (ModelError, MemoryError):
        raise
    except Exception as error:  # a damaged file may break any step, and the tokenizer's Rust code
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:_MAX_REASON_CHARS]
        raise ModelError(f"{path} is damaged ({reason}): download it again") from error


def _read(path: Path) -> GgufModel:
    source = GgufFile(path)
    embed, output = _embedding_and_output(source)
    config = config_from_gguf(source.fields, is_tied=output is None)
    return GgufModel(
        source=source,
        config=config,
        tensors=fused_tensors(source.shapes, config, embed=embed, output=output),
        tokenizer=tokenizer_from_gguf(source.fields),
    )


def _embedding_and_output(source: GgufFile) -> tuple[str, str | None]:
    """Return the names of both tensors; the output is None if both are one matrix (tied).

    llama.cpp may write a tied matrix twice, in different formats: the finer one is used for both.
    """
    embed, output = "token_embd.weight", "output.weight"
    if output not in source.shapes or embed not in source.shapes:
        return embed, None
    if not _are_same_but_for_rounding(source, embed, output):
        return embed, output
    return max(output, embed, key=source.num_stored_bytes), None


def _are_same_but_for_rounding(source: GgufFile, first: str, second: str) -> bool:
    if source.shapes[first] != source.shapes[second]:
        return False
    rows, other_rows = (source.sample(name, 64) for name in (first, second))
    return float(abs(rows - other_rows).mean()) < 0.2 * float(abs(rows).mean())
