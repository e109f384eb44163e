"""What the user calls a model, as far as it can be told from the words: ``model+tuning``."""

from pathlib import Path

NO_TUNING = "none"
"""``model+none``: without the tuning that is bundled with it."""


def split_tuning(model: str) -> tuple[str, str | None]:
    """Return the model's own name, and what is added: a safetensors file's full path, ``none``, or
    nothing. Either may hold a "+" of its own, but in no folder's last letter."""
    for at in range(len(model) - 1, 0, -1):
        added = model[at + 1 :]
        is_file = added.endswith(".safetensors") and Path(added).expanduser().is_absolute()
        if model[at] == "+" and (is_file or added == NO_TUNING):
            return model[:at], added
    return model, None


def without_tuning(model: str) -> str:
    """Return the name without a tuning of the user's own."""
    plain, added = split_tuning(model)
    return model if added in (None, NO_TUNING) else plain
