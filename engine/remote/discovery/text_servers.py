"""What Ollama and LM Studio say of a model. Both list all models that they could load.

Follows Ollama's page on its API, and LM Studio's documentation of its REST API v0.
"""

from collections.abc import Sequence
from typing import Any, TypedDict

from intarsia.engine.errors import RemoteError
from intarsia.engine.remote.dialects.ollama import CONTEXT_TOKENS
from intarsia.engine.remote.discovery.fields import list_of, table_of, text_of, whole_of
from intarsia.engine.remote.http.exchange import ask_json
from intarsia.engine.remote.http.watch import Watch
from intarsia.engine.remote.settings.remotes import Remote

_CONTEXT_TOKENS_UNLOADED = 4_096  # what LM Studio will load a model with is not known


class ModelFacts(TypedDict):
    """What a server says of one model: fields of ``Server``."""

    model: str | None
    format: str | None
    context_tokens: int | None
    version: str | None


def require_one_model(remote: Remote, rows: Sequence[dict[str, Any]]) -> None:
    """Raise RemoteError unless the settings name a model, or there is only one."""
    if not rows:
        raise RemoteError(
            f"remote:{remote.name} has no model: have that server download one first", "model"
        )
    if not remote.model and len(rows) > 1:
        raise RemoteError(
            f"remote:{remote.name} has several models ({names_of(rows)}): set `model` to a "
            "fill-in-the-middle model",
            "model",
        )


def names_of(rows: Sequence[dict[str, Any]]) -> str:
    """Return the names of a few models."""
    return ", ".join(str(row.get("id"))[:80] for row in rows[:5]) or "none"


def is_ollama(remote: Remote, watch: Watch) -> bool:
    """Tell whether the server has Ollama's own API."""
    return _ollama_version(remote, watch) is not None


def ollama_model(remote: Remote, model: str, watch: Watch) -> ModelFacts:
    """Return what Ollama says of a model. Raises RemoteError if it runs at another company.

    Ollama's cloud models are listed and asked as those on the user's machine are.
    """
    shown = table_of(ask_json(remote, "/api/show", watch, {"model": model}))
    if host := text_of(shown.get("remote_host")):
        raise RemoteError(
            f"remote:{remote.name}: {model} runs at {host}, so code would go there: set `model` to "
            "one that runs on the server itself",
            "model",
        )
    details = table_of(shown.get("details"))
    info = table_of(shown.get("model_info"))
    architecture = text_of(info.get("general.architecture")) or ""
    return ModelFacts(
        model=text_of(model),
        format=text_of(details.get("quantization_level")),
        context_tokens=min(
            whole_of(info.get(f"{architecture}.context_length")) or CONTEXT_TOKENS, CONTEXT_TOKENS
        ),
        version=_ollama_version(remote, watch),
    )


def lm_studio_model(remote: Remote, model: str, watch: Watch) -> ModelFacts:
    """Return what LM Studio says of a model. Raises RemoteError for one that writes no text."""
    try:
        listed = table_of(ask_json(remote, "/api/v0/models", watch))
    except RemoteError:
        listed = {}
    rows = (table_of(row) for row in list_of(listed.get("data")))
    row = next((row for row in rows if row.get("id") == model), {})
    if row.get("type") == "embeddings":
        raise RemoteError(
            f"remote:{remote.name}: {model} writes no text: set `model` to a fill-in-the-middle "
            "model",
            "model",
        )
    loaded = whole_of(row.get("loaded_context_length"))
    most = whole_of(row.get("max_context_length")) or _CONTEXT_TOKENS_UNLOADED
    return ModelFacts(
        model=text_of(model),
        format=text_of(row.get("quantization")),
        context_tokens=loaded or min(most, _CONTEXT_TOKENS_UNLOADED),
        version=None,
    )


def _ollama_version(remote: Remote, watch: Watch) -> str | None:
    try:
        return text_of(table_of(ask_json(remote, "/api/version", watch)).get("version"))
    except RemoteError:
        return None
