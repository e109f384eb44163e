"""What the user calls a model, as far as it can be told from the words: ``model+tuning``."""


def without_tuning(model: str) -> str:
    """Return the name without a tuning of the user's own (``+/path/to/it.safetensors``)."""
    plain, _, added = model.rpartition("+")
    return plain if plain and added.endswith(".safetensors") else model
