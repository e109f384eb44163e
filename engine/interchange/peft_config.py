"""PEFT's adapter_config.json: what a LoRA's scale is, and whether it is a plain LoRA at all.

A plain LoRA adds ``scale · B · A`` to the weights of linear layers. Every option that makes it
anything else is refused, and so is an option that we do not know, unless it is switched off.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from intarsia.engine.cache.own_file import read_regular
from intarsia.engine.errors import ModelError

CONFIG_NAME = "adapter_config.json"

_T = TypeVar("_T")

_MAX_BYTES = 2**20
_READ = frozenset(
    {
        "alpha_pattern",
        "base_model_name_or_path",
        "bias",
        "init_lora_weights",
        "lora_alpha",
        "peft_type",
        "r",
        "rank_pattern",
        "target_modules",
        "use_rslora",
    }
)
# They describe the training, or which layers it was for, which the tensors tell too.
_HARMLESS = frozenset(
    {
        "auto_mapping",
        "corda_config",
        "ensure_weight_tying",
        "eva_config",
        "exclude_modules",
        "inference_mode",
        "layers_pattern",
        "layers_to_transform",
        "loftq_config",
        "lora_dropout",
        "lora_ga_config",
        "megatron_config",
        "megatron_core",
        "peft_version",
        "qalora_group_size",
        "revision",
        "runtime_config",
        "task_type",
    }
)
_REFUSED = {
    "use_dora": "it is a DoRA",
    "modules_to_save": "it has whole layers beside the LoRA (modules_to_save)",
    "lora_bias": "it has biases (lora_bias)",
    "fan_in_fan_out": "its matrices are transposed (fan_in_fan_out)",
    "layer_replication": "it repeats layers (layer_replication)",
    "trainable_token_indices": "it changes embeddings (trainable_token_indices)",
    "target_parameters": "it changes parameters that are not linear layers (target_parameters)",
    "alora_invocation_tokens": "it acts on some tokens only (alora_invocation_tokens)",
    "use_qalora": "it is a QALoRA",
    "use_bdlora": "it is a BD-LoRA",
}
# Other ways to begin (PiSSA, OLoRA, LoftQ, CorDA) change the model's own weights too.
_INITIAL_WEIGHTS = (None, True, False, "gaussian", "orthogonal", "eva")
_MODULE_PATTERN = re.compile(r"\^?[\w.-]+\$?")


@dataclass(frozen=True, kw_only=True, slots=True)
class PeftConfig:
    """A plain LoRA's ranks and scales. A pattern's keys are ends of module paths."""

    rank: int
    alpha: float
    is_rank_stabilized: bool
    rank_pattern: Mapping[str, int]
    alpha_pattern: Mapping[str, float]
    targets: tuple[str, ...] | None  # ends of module paths; None: not a plain list
    is_partial: bool  # some of the targets are left out on purpose
    base_model: str | None

    def rank_of(self, module: str) -> int:
        """Return the rank of a module's pair."""
        return _look_up(self.rank_pattern, module, self.rank)

    def scale_of(self, module: str) -> float:
        """Return the factor of B · A; rank-stabilised LoRA (arXiv 2312.03732) divides by √r."""
        rank, alpha = self.rank_of(module), _look_up(self.alpha_pattern, module, self.alpha)
        return alpha / (math.sqrt(rank) if self.is_rank_stabilized else rank)

    def is_target(self, module: str) -> bool:
        """Return whether the list of targets names this module."""
        return any(_ends_with(module, target) for target in self.targets or ())


def read_peft_config(folder: Path) -> PeftConfig:
    """Return the config of a folder. Raises ModelError for anything but a plain LoRA."""
    path = folder / CONFIG_NAME
    content = _read_json(path)
    if reason := _why_not_plain(content):
        raise ModelError(f"{path} is no plain LoRA, so it cannot be imported: {reason}")
    try:
        return _config_of(content)
    except (KeyError, TypeError, ValueError, OverflowError) as fault:
        raise ModelError(f"{path} lacks or mistypes {fault}: save the LoRA again") from fault


def peft_config(
    *, rank: int, scale: float, targets: Sequence[str] | str, base: str, is_causal: bool
) -> str:
    """Return the text of adapter_config.json for a plain LoRA of one rank and scale.

    ``targets`` are ends of module paths, or a regular expression of whole paths. PEFT wraps a
    causal model in a class that other models do not fit.
    """
    content = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM" if is_causal else None,
        "base_model_name_or_path": base,
        "r": rank,
        "lora_alpha": int(scale * rank),
        "target_modules": targets if isinstance(targets, str) else list(targets),
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "modules_to_save": None,
        "use_dora": False,
        "use_rslora": False,
    }
    return json.dumps(content, indent=2) + "\n"


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_regular(path, _MAX_BYTES))
    except FileNotFoundError as fault:
        raise ModelError(f"{path.parent} has no {path.name}: it is no LoRA of PEFT") from fault
    except OSError as fault:
        raise ModelError(f"cannot read {path}: {fault.strerror}") from fault
    except (ValueError, RecursionError) as fault:
        raise ModelError(f"{path} is damaged ({fault}): save the LoRA again") from fault
    if not isinstance(content, dict):
        raise ModelError(f"{path} is damaged (not a JSON object): save the LoRA again")
    return content


def _why_not_plain(content: Mapping[str, Any]) -> str | None:
    """Return what else than a plain LoRA it is, None if it is one."""
    if content.get("peft_type") != "LORA":
        return f"its peft_type is {content.get('peft_type')!r}, not 'LORA'"
    if content.get("bias", "none") != "none":
        return f"it changes biases (bias {content['bias']!r})"
    initial = content.get("init_lora_weights")
    if not any(initial is known or initial == known for known in _INITIAL_WEIGHTS):
        return (
            f"its weights began as {initial!r}, which changes the model too; convert it with "
            "save_pretrained(path_initial_model_for_weight_conversion=…)"
        )
    for name, value in content.items():
        if name in _READ or name in _HARMLESS or _is_off(value):
            continue
        return _REFUSED.get(name, f"the option {name} is unknown")
    return None


def _is_off(value: object) -> bool:
    return value is None or value is False or value in ([], {}, "")


def _config_of(content: Mapping[str, Any]) -> PeftConfig:
    targets = content.get("target_modules")
    left_out = ("exclude_modules", "layers_to_transform")
    base = content.get("base_model_name_or_path")
    return PeftConfig(
        rank=_rank(content["r"], "r"),
        alpha=_number(content["lora_alpha"], "lora_alpha"),
        is_rank_stabilized=content.get("use_rslora") is True,
        rank_pattern={
            key: _rank(value, "rank_pattern")
            for key, value in _pattern(content, "rank_pattern").items()
        },
        alpha_pattern={
            key: _number(value, "alpha_pattern")
            for key, value in _pattern(content, "alpha_pattern").items()
        },
        targets=tuple(map(str, targets)) if isinstance(targets, list) else None,
        is_partial=any(not _is_off(content.get(name)) for name in left_out),
        base_model=base if isinstance(base, str) else None,
    )


def _pattern(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a table of patterns. Regular expressions are refused: one could run for ever."""
    pattern = content.get(name) or {}
    if not isinstance(pattern, dict):
        raise ValueError(name)
    for key in pattern:
        if not _MODULE_PATTERN.fullmatch(key):
            raise ValueError(f"{name} (its key {key!r} is not the end of a module's path)")
    return pattern


def _rank(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(name)
    return value


def _number(value: object, name: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(name)
    return float(value)


def _look_up(pattern: Mapping[str, _T], module: str, default: _T) -> _T:
    """Return the value of the first key that fits, as PEFT does."""
    return next((value for key, value in pattern.items() if _ends_with(module, key)), default)


def _ends_with(module: str, end: str) -> bool:
    if end.startswith("^"):
        return module == end.strip("^$")
    end = end.removesuffix("$")
    return module == end or module.endswith(f".{end}")
