"""Ranges of a request's fields; their types are checked where the message is decoded."""

from intarsia.engine.ipc.messages import Fill


def require(name: str, value: int, *, least: int, most: int | None = None) -> None:
    """Raise ValueError where a field is out of its range."""
    if value < least or (most is not None and value > most):
        limit = f"{least} or more" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {limit}, got {value}")


def require_temperature(value: float | None) -> None:
    """Raise ValueError where probabilities would be none any more, or all the same."""
    if value and not 0.01 <= value <= 100:
        raise ValueError(f"temperature must be 0, or from 0.01 to 100, got {value}")


def require_draft(num_tokens: int, request: Fill) -> None:
    """Raise ValueError where a draft is longer than its answer may be, or the noise no share."""
    if not 0 < request.noise <= 1:
        raise ValueError(f"noise must be above 0 and at most 1, got {request.noise}")
    if num_tokens > request.max_tokens:
        raise ValueError(
            f"draft has {num_tokens} tokens, above max_tokens {request.max_tokens}: "
            "rewrite less text at once"
        )
