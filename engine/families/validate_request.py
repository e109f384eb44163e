"""Check the fields of a request, and bound its text to what is nearest the hole."""

from msgspec.structs import replace

from intarsia.engine.ipc.messages import Fill, FindNextEdits

MAX_CHARS_PER_TOKEN = 16
"""Characters a token; code has 3 or 4. More text than that is longer than the context."""

MAX_GIVEN_CHARS = 1_000
"""Longer given text is read as part of the prefix, which the context bounds."""

_MAX_STOPS = 256
_MAX_STOP_CHARS = 4_000  # together
_MAX_DRAFT_CHARS_PER_TOKEN = 64
_STEPS = 8  # of the bound: a prefix that grows is cut at the same place for a while


def bounded(request: Fill, *, max_context_tokens: int) -> Fill:
    """Return the request with as much text as a context can hold. Raises ValueError."""
    _require_lengths(request)
    most = MAX_CHARS_PER_TOKEN * max_context_tokens
    prefix, given, suffix = request.prefix, request.given, request.suffix
    if len(given) > MAX_GIVEN_CHARS:
        prefix, given = prefix + given[:-MAX_GIVEN_CHARS], given[-MAX_GIVEN_CHARS:]
    if len(prefix) > most:
        step = max(1, most // _STEPS)
        prefix = prefix[-((most - len(prefix)) // step) * step :]
    suffix = suffix[:most]
    if (prefix, given, suffix) == (request.prefix, request.given, request.suffix):
        return request
    return replace(request, prefix=prefix, given=given, suffix=suffix)


def require_bounded_window(request: FindNextEdits, *, max_tokens: int) -> None:
    """Raise ValueError for a window or an example that is longer than a context."""
    num_chars = sum(max(len(part.before), len(part.after)) for part in request.parts)
    if (example := request.example) is not None:
        num_chars += len(example.before) + len(example.after)
    most = MAX_CHARS_PER_TOKEN * max_tokens
    if num_chars > most:
        raise ValueError(
            f"`parts` and `example` have {num_chars} characters, above the limit of {most}: "
            "send less"
        )


def _require_lengths(request: Fill) -> None:
    most = _MAX_DRAFT_CHARS_PER_TOKEN * request.max_tokens
    if len(request.draft) > most:
        raise ValueError(
            f"draft has {len(request.draft)} characters, above the limit of {most} for "
            f"max_tokens {request.max_tokens}: rewrite less text at once"
        )
    if len(request.stop) > _MAX_STOPS or sum(map(len, request.stop)) > _MAX_STOP_CHARS:
        raise ValueError(
            f"stop has more than {_MAX_STOPS} texts or {_MAX_STOP_CHARS} characters: send fewer"
        )


def require_range(name: str, value: int, *, least: int, most: int | None = None) -> None:
    """Check one field."""
    if value < least or (most is not None and value > most):
        limit = f"{least} or more" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {limit}, got {value}")


def require_common_fields(request: Fill, *, vocab_size: int) -> None:
    """Check the fields that have the same range in every family."""
    max_steps = 1 if request.max_steps is None else request.max_steps
    require_range("max_steps", max_steps, least=1)
    require_range("deadline_ms", request.deadline_ms or 0, least=0)
    require_range("seed", request.seed, least=0, most=2**63 - 1)
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
