"""The shape of a causal backbone, read from its config.json and checked."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.checkpoint import is_run_by_transformers

_LARGEST = 2**40
"""Above every size and constant of a model: larger numbers only overflow later."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RopeScaling:
    """Llama 3.1's stretching of low rotary frequencies (arXiv 2407.21783)."""

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_max_positions: int

    def __post_init__(self) -> None:
        _require_usable(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class LinearRope:
    """Positions divided by a factor, as DeepSeek-Coder's are (arXiv 2306.15595)."""

    factor: float

    def __post_init__(self) -> None:
        _require_usable(self)


PartName: TypeAlias = Literal["qkv", "o", "gate_up", "down"]


@dataclass(frozen=True, slots=True)
class JoinedMatrix:
    """A matrix of ours: the rows of Hugging Face's modules that it joins, and its columns."""

    modules: Mapping[str, int]
    num_in: int

    @property
    def num_out(self) -> int:
        return sum(self.modules.values())


@dataclass(frozen=True, kw_only=True, slots=True)
class BackboneShape:
    """Sizes and constants of a backbone. One that transformers runs has its own rotation."""

    num_layers: int
    hidden: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    intermediate: int
    vocab_size: int
    norm_eps: float
    rope_theta: float
    rope_scaling: RopeScaling | LinearRope | None
    max_positions: int

    def __post_init__(self) -> None:
        _require_usable(self)
        if self.num_heads % self.num_kv_heads:
            raise ModelError(
                f"config.json has {self.num_heads} heads and {self.num_kv_heads} key-value heads: "
                "the first must be a multiple of the second"
            )

    @property
    def num_groups(self) -> int:
        """Query heads per key-value head."""
        return self.num_heads // self.num_kv_heads

    def matrices(self) -> dict[PartName, JoinedMatrix]:
        """Return the matrices of each layer."""
        heads, kv = self.num_heads * self.head_dim, self.num_kv_heads * self.head_dim
        qkv = {"self_attn.q_proj": heads, "self_attn.k_proj": kv, "self_attn.v_proj": kv}
        gate_up = {"mlp.gate_proj": self.intermediate, "mlp.up_proj": self.intermediate}
        return {
            "qkv": JoinedMatrix(qkv, self.hidden),
            "o": JoinedMatrix({"self_attn.o_proj": self.hidden}, heads),
            "gate_up": JoinedMatrix(gate_up, self.hidden),
            "down": JoinedMatrix({"mlp.down_proj": self.hidden}, self.intermediate),
        }


def read_shape(config: Mapping[str, Any]) -> BackboneShape:
    """Return the shape from a Hugging Face config. Raises ModelError where it is not supported."""
    try:
        hidden, num_heads = int(config["hidden_size"]), int(config["num_attention_heads"])
        rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
        return BackboneShape(
            num_layers=int(config["num_hidden_layers"]),
            hidden=hidden,
            num_heads=num_heads,
            num_kv_heads=int(config.get("num_key_value_heads") or num_heads),
            head_dim=int(config.get("head_dim") or hidden // num_heads),
            intermediate=int(config["intermediate_size"]),
            vocab_size=int(config["vocab_size"]),
            norm_eps=float(config.get("rms_norm_eps", 1e-6)),
            rope_theta=float(rope.get("rope_theta") or config.get("rope_theta") or 10_000.0),
            rope_scaling=None if is_run_by_transformers(config) else _scaling(rope),
            max_positions=int(config.get("max_position_embeddings", 4096)),
        )
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ModelError(
            f"config.json lacks or mistypes {error}: it is not a Llama-like model"
        ) from error


def _scaling(rope: Mapping[str, Any]) -> RopeScaling | LinearRope | None:
    kind = rope.get("rope_type") or rope.get("type") or "default"
    if kind == "default":
        return None
    if kind == "linear":
        return LinearRope(factor=float(rope["factor"]))
    if kind != "llama3":
        raise ModelError(f"rotary scaling {kind!r} is not supported: use a plain variant")
    return RopeScaling(
        factor=float(rope["factor"]),
        low_freq_factor=float(rope["low_freq_factor"]),
        high_freq_factor=float(rope["high_freq_factor"]),
        original_max_positions=int(rope["original_max_position_embeddings"]),
    )


def _require_usable(part: RopeScaling | LinearRope | BackboneShape) -> None:
    """Raise ModelError for a size or constant with which nothing can be computed."""
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, int | float) and not 0 < value < _LARGEST:  # nor is NaN
            raise ModelError(
                f"config.json has an impossible {field.name}: it is damaged, fetch the model again"
            )
