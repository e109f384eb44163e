"""Check the ranges of a request's fields; their types are checked where it is decoded.

Every function raises ValueError with the name of the field.
"""

from intarsia.engine.ipc.messages import Fill


def require_range(name: str, value: int, *, least: int, most: int | None = None) -> None:
    """Check one field."""
    if value < least or (most is not None and value > most):
        limit = f"{least} or more" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {limit}, got {value}")


def require_common_fields(request: Fill, *, vocab_size: int) -> None:
    """Check the fields that have the same range in every family."""
    max_steps = 1 if request.max_steps is None else request.max_steps
    require_range("max_steps", max_steps, least=1)
    require_range("alternative", request.alternative, least=0, most=vocab_size - 1)
    require_range("min_indent", request.min_indent, least=0)
    require_range("max_open", request.max_open or 0, least=0)


def require_temperature(value: float | None) -> None:
    """Check that dividing logits by the temperature neither overflows nor makes them all equal."""
    if value and not 0.01 <= value <= 100:
        raise ValueError(f"temperature must be 0, or from 0.01 to 100, got {value}")


def require_draft(num_tokens: int, request: Fill) -> None:
    """Check that the draft fits into its answer, and that the noise is a share."""
    if not 0 < request.noise <= 1:
        raise ValueError(f"noise must be above 0 and at most 1, got {request.noise}")
    if num_tokens > request.max_tokens:
        raise ValueError(
            f"draft has {num_tokens} tokens, above max_tokens {request.max_tokens}: "
            "rewrite less text at once"
        )
