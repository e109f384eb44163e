"""Ask a server once what it is: which program, which model, and how much context it holds."""

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from intarsia.engine.errors import RemoteError
from intarsia.engine.remote.discovery.canvas import served_canvas
from intarsia.engine.remote.http.exchange import ask_json, unusable
from intarsia.engine.remote.http.watch import Watch
from intarsia.engine.remote.settings.remotes import Remote

System: TypeAlias = Literal[
    "intarsia",
    "llama.cpp",
    "vLLM",
    "vLLM with DiffusionGemma",
    "SGLang",
    "MLX",
    "Ollama",
    "LM Studio",
    "unknown",
]

_OWNERS: dict[str, System] = {
    "intarsia": "intarsia",
    "llamacpp": "llama.cpp",
    "vllm": "vLLM",
    "sglang": "SGLang",
    "library": "Ollama",
    "organization_owner": "LM Studio",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """What a server says of itself. ``None``: it does not say.

    ``format`` is the number format of the weights, ``num_slots`` the requests that it runs at once.
    ``canvas_tokens`` is the length of DiffusionGemma's canvas, None for a model that writes from
    left to right.
    """

    system: System
    model: str | None = None
    format: str | None = None
    context_tokens: int | None = None
    vocab_size: int | None = None
    num_slots: int | None = None
    canvas_tokens: int | None = None


def discover(remote: Remote, watch: Watch) -> Server:
    """Return what the server is. Raises RemoteError, and what the watch's checkpoint raises."""
    models = ask_json(remote, "/v1/models", watch)
    rows = models.get("data") if isinstance(models, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise unusable(remote, "/v1/models has no list of models")
    row = _chosen(remote, rows)
    system = _system(remote, row, watch)
    if system == "llama.cpp":
        return _llama_cpp(remote, row, watch)
    server = Server(
        system=system,
        model=_text(row.get("id")),
        context_tokens=_whole(row.get("max_model_len")),
    )
    return _with_canvas(remote, server, watch) if system == "vLLM" else server


def _chosen(remote: Remote, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the row of the model in the settings, or the only one."""
    if not remote.model:
        return rows[0] if rows else {}
    for row in rows:
        if remote.model in (row.get("id"), *_list(row.get("aliases"))):
            return row
    known = ", ".join(str(row.get("id"))[:80] for row in rows[:5]) or "none"
    raise RemoteError(
        f"remote:{remote.name} has no model {remote.model!r} (it has: {known}): correct `model`",
        "model",
    )


def _system(remote: Remote, row: dict[str, Any], watch: Watch) -> System:
    owner = _text(row.get("owned_by")) or ""
    if owner in _OWNERS:
        return _OWNERS[owner]
    return "MLX" if not owner and _is_healthy(remote, watch) else "unknown"


def _is_healthy(remote: Remote, watch: Watch) -> bool:
    """Tell whether /health answers as mlx-lm's server does."""
    try:
        answer = ask_json(remote, "/health", watch)
    except RemoteError:
        return False
    return isinstance(answer, dict) and answer.get("status") == "ok"


def _llama_cpp(remote: Remote, row: dict[str, Any], watch: Watch) -> Server:
    meta = _table(row.get("meta"))
    props = ask_json(remote, "/props", watch)
    if not isinstance(props, dict):
        raise unusable(remote, "/props is no table")
    slot_tokens = _whole(_table(props.get("default_generation_settings")).get("n_ctx"))
    return Server(
        system="llama.cpp",
        model=_text(row.get("id")),
        format=_text(props.get("model_ftype")),
        context_tokens=slot_tokens or _whole(meta.get("n_ctx")),
        vocab_size=_whole(meta.get("n_vocab")),
        num_slots=_whole(props.get("total_slots")),
    )


def _with_canvas(remote: Remote, server: Server, watch: Watch) -> Server:
    """Return the server with the length of its canvas, if its model has one."""
    canvas_tokens = served_canvas(remote, remote.model or server.model or "", watch)
    if canvas_tokens is None:
        return server
    return replace(server, system="vLLM with DiffusionGemma", canvas_tokens=canvas_tokens)


def _text(value: object) -> str | None:
    """Return a short printable text of a server's answer, None for anything else."""
    if not isinstance(value, str):
        return None
    return "".join(sign for sign in value if sign.isprintable())[:200] or None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
