"""Ask a server once what it is: which program, which model, and how much context it holds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from intarsia.engine.errors import RemoteError
from intarsia.engine.families.diffusion_gemma.layout import CanvasSizes
from intarsia.engine.remote.dialects.generation import Parameters
from intarsia.engine.remote.dialects.text_servers import CONTEXT_TOKENS
from intarsia.engine.remote.dialects.vllm_canvas import MAX_SAMPLES, VllmCanvas, probe_body
from intarsia.engine.remote.http.connections import Watch
from intarsia.engine.remote.http.exchange import ask_json, open_exchange, require_success, unusable
from intarsia.engine.remote.http.remotes import Remote

_LENGTHS = (256, 128, 64, 32)
"""The released canvas, and what it may be limited to. The longest that is served is used."""

_CONTEXT_TOKENS_UNLOADED = 4_096  # what LM Studio will load a model with is not known

System: TypeAlias = Literal[
    "intarsia",
    "llama.cpp",
    "vLLM",
    "vLLM with DiffusionGemma",
    "NIM",
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
    """A server's own description. ``None``: it does not say.

    ``format`` is the number format of the weights, ``num_slots`` the requests that it runs at once.
    ``canvas_tokens`` is the length of DiffusionGemma's canvas, None for a model that writes from
    left to right. ``num_samples`` are the answers that it writes for one request.
    """

    system: System
    model: str | None = None
    format: str | None = None
    context_tokens: int | None = None
    vocab_size: int | None = None
    num_slots: int | None = None
    version: str | None = None
    canvas_tokens: int | None = None
    num_samples: int = 1


def discover(remote: Remote, watch: Watch) -> Server:
    """Return what the server is. Raises RemoteError, and what the watch's checkpoint raises."""
    models = _models(remote, watch)
    rows = models.get("data") if isinstance(models, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise unusable(remote, "/v1/models has no list of models")
    row = _chosen(remote, rows)
    system = _system(remote, row, watch)
    if system == "llama.cpp":
        return _llama_cpp(remote, row, watch)
    release = _nim_release(remote, watch) if system in ("vLLM", "unknown") else None
    if release is not None:
        ask_json(remote, "/v1/health/ready", watch)  # a fault while its model is loading
        system = "NIM"
    if system in ("Ollama", "LM Studio"):
        require_one_model(remote, rows)
        ask = ollama_model if system == "Ollama" else lm_studio_model
        return ask(remote, str(row["id"]), watch)
    is_only = system != "MLX" or len(rows) == 1  # mlx-lm lists what it could load
    server = Server(
        system=system,
        model=text_of(row.get("id")) if is_only or remote.model else None,
        context_tokens=whole_of(row.get("max_model_len")),
        version=release,
    )
    if system != "vLLM":
        return server
    model = remote.model or server.model or ""
    tokens = served_canvas(remote, model, watch)
    if tokens is None:
        return server
    return replace(
        server,
        system="vLLM with DiffusionGemma",
        canvas_tokens=tokens,
        num_samples=served_samples(remote, model, _narrow(tokens), watch),
    )


def _models(remote: Remote, watch: Watch) -> Any:
    """Return the answer to ``/v1/models``. mlx-lm's is empty where no model is downloaded."""
    try:
        return ask_json(remote, "/v1/models", watch)
    except RemoteError as error:
        if isinstance(error.__cause__, ValueError) and _is_healthy(remote, watch):
            return {"data": []}
        raise


def _chosen(remote: Remote, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the row of the model in the settings, or the only one."""
    if not remote.model:
        return rows[0] if rows else {}
    for row in rows:
        names = (row.get("id"), *list_of(row.get("aliases")))
        if remote.model in names or f"{remote.model}:latest" in names:
            return row
    raise RemoteError(
        f"remote:{remote.name} has no model {remote.model!r} (it has: {names_of(rows)}): "
        "correct `model`",
        "model",
    )


def _system(remote: Remote, row: dict[str, Any], watch: Watch) -> System:
    owner = text_of(row.get("owned_by")) or ""
    if owner in _OWNERS:
        return _OWNERS[owner]
    if _ollama_version(remote, watch) is not None:  # it names the namespace of a model as its owner
        return "Ollama"
    return "MLX" if not owner and _is_healthy(remote, watch) else "unknown"


def _is_healthy(remote: Remote, watch: Watch) -> bool:
    """Return whether /health answers as mlx-lm's server does."""
    return _asked(remote, "/health", watch).get("status") == "ok"


def _nim_release(remote: Remote, watch: Watch) -> str | None:
    """Return which NIM it is, None if none. NIM names vLLM or "system" as its models' owner."""
    answer = _asked(remote, "/v1/version", watch)
    return text_of(answer.get("release")) if "api" in answer else None


def _ollama_version(remote: Remote, watch: Watch) -> str | None:
    return text_of(_asked(remote, "/api/version", watch).get("version"))


def _asked(remote: Remote, path: str, watch: Watch) -> dict[str, Any]:
    """Return the table that is the answer, an empty one where there is none."""
    try:
        return table_of(ask_json(remote, path, watch))
    except RemoteError:
        return {}


def _llama_cpp(remote: Remote, row: dict[str, Any], watch: Watch) -> Server:
    meta = table_of(row.get("meta"))
    props = ask_json(remote, "/props", watch)
    if not isinstance(props, dict):
        raise unusable(remote, "/props is no table")
    slot_tokens = whole_of(table_of(props.get("default_generation_settings")).get("n_ctx"))
    return Server(
        system="llama.cpp",
        model=text_of(row.get("id")),
        format=text_of(props.get("model_ftype")),
        context_tokens=slot_tokens or whole_of(meta.get("n_ctx")),
        vocab_size=whole_of(meta.get("n_vocab")),
        num_slots=whole_of(props.get("total_slots")),
    )


def served_canvas(remote: Remote, model: str, watch: Watch) -> int | None:
    """Return the tokens of DiffusionGemma's canvas, None for any other model.

    vLLM says neither. It ignores a canvas's length for every other model, and checks it for this
    one: so it refuses a length of 0 for this one only, and lengths above the served one.

    Raises RemoteError, also for a server that takes no shorter ones, and what the watch's
    checkpoint raises.
    """
    if not _is_refused(remote, probe_body(model, 0), watch):
        return None
    sizes = (size for size in _LENGTHS if not _is_refused(remote, probe_body(model, size), watch))
    tokens = next(sizes, None)
    if tokens is not None and _is_refused(remote, probe_body(model, _narrow(tokens)), watch):
        raise RemoteError(
            f"remote:{remote.name} refuses canvases that are shorter than its {tokens} tokens: "
            "start vLLM with --async-scheduling",
            "model",
        )
    return tokens


def _narrow(canvas_tokens: int) -> int:
    """Return the shortest length that a hole's canvas has."""
    return CanvasSizes(canvas_length=canvas_tokens).bucket


def served_samples(remote: Remote, model: str, canvas_length: int, watch: Watch) -> int:
    """Return how many samples of a canvas may be asked for: vLLM does not say.

    Where it knows them, it refuses none of them. Elsewhere it ignores what it does not know.
    """
    knows = _is_refused(remote, probe_body(model, canvas_length, 0), watch)
    if not knows or _is_refused(remote, probe_body(model, canvas_length, MAX_SAMPLES), watch):
        return 1
    return MAX_SAMPLES


def _is_refused(remote: Remote, body: Parameters, watch: Watch) -> bool:
    """Return whether a canvas is a bad request. Nothing of the user's is sent."""
    path = VllmCanvas.path
    with open_exchange(remote, path, watch, body) as answer:
        if answer.status == 400:
            return True
        require_success(remote, path, answer)
    return False


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


def ollama_model(remote: Remote, model: str, watch: Watch) -> Server:
    """Return what Ollama says of a model. Raises RemoteError for a model in its cloud."""
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
    return Server(
        system="Ollama",
        model=text_of(model),
        format=text_of(details.get("quantization_level")),
        context_tokens=min(
            whole_of(info.get(f"{architecture}.context_length")) or CONTEXT_TOKENS, CONTEXT_TOKENS
        ),
        version=_ollama_version(remote, watch),
    )


def lm_studio_model(remote: Remote, model: str, watch: Watch) -> Server:
    """Return what LM Studio says of a model. Raises RemoteError for one that writes no text."""
    listed = _asked(remote, "/api/v0/models", watch)
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
    return Server(
        system="LM Studio",
        model=text_of(model),
        format=text_of(row.get("quantization")),
        context_tokens=loaded or min(most, _CONTEXT_TOKENS_UNLOADED),
    )


def text_of(value: object) -> str | None:
    """Return a short printable text of a server's answer, None for anything else."""
    if not isinstance(value, str):
        return None
    return "".join(sign for sign in value if sign.isprintable())[:200] or None


def whole_of(value: object) -> int | None:
    """Return a number above 0, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def table_of(value: object) -> dict[str, Any]:
    """Return a table, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """Return a list, an empty one for anything else."""
    return value if isinstance(value, list) else []
