"""Read all of a GGUF file but its weights: config, tokenizer, and the tensors to write.

The file may be damaged in any way. Whatever is wrong with it is told as one ModelError.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.gguf.config import config_from_gguf
from intarsia.engine.model_store.gguf.fused_layout import FusedTensor, fused_tensors
from intarsia.engine.model_store.gguf.tensors import GgufFile
from intarsia.engine.model_store.gguf.tokenizer import tokenizer_from_gguf

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
