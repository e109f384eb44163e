"""Models of other servers are named ``remote:NAME``. Light: imported where a model is chosen."""

REMOTE_PREFIX = "remote:"


def remote_name(model: str) -> str | None:
    """Return NAME of ``remote:NAME``, None for any other model."""
    return model.removeprefix(REMOTE_PREFIX) if model.startswith(REMOTE_PREFIX) else None
