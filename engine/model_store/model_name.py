"""Read a model's name as the user writes it.

``model``, ``model+tuning``, ``model+none`` (without the bundled tuning) or ``model+none+tuning``.
"""

from pathlib import Path

_MAX_CHARS = 8_192
_MAX_SHOWN = 200

NO_TUNING = "none"
"""In ``model+none``: use the model without its bundled tuning."""


def split_tuning(model: str) -> tuple[str, str | None]:
    """Return the model's own name and its addition.

    The addition is the full path of a safetensors file, ``none``, or None if there is none. Both
    parts may contain a "+", but no folder in the path of the file may end in one.
    """
    if len(model) > _MAX_CHARS:  # no two paths are that long
        return model, None
    for at in range(len(model) - 1, 0, -1):
        addition = model[at + 1 :]
        is_file = addition.endswith(".safetensors") and Path(addition).expanduser().is_absolute()
        if model[at] == "+" and (is_file or addition == NO_TUNING):
            return model[:at], addition
    return model, None


def without_tuning(model: str) -> str:
    """Return the name without a tuning of the user's own; ``model+none`` stays."""
    name, addition = split_tuning(model)
    return model if addition in (None, NO_TUNING) else name


def shown(model: str) -> str:
    """Return the name as errors and the log show it: a client may send one of megabytes."""
    return model if len(model) <= _MAX_SHOWN else f"{model[: _MAX_SHOWN - 1]}…"
