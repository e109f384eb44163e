"""Find out whether a vLLM server's model is DiffusionGemma, and the length of its canvas.

vLLM says neither. It ignores a canvas's length for every other model, and checks it for this one:
so a length of 0 is refused by this one only. Lengths above the served one are refused too.
"""

from intarsia.engine.remote.dialects.vllm_canvas import VllmCanvas, probe_body
from intarsia.engine.remote.http.exchange import open_exchange
from intarsia.engine.remote.http.statuses import require_success
from intarsia.engine.remote.http.watch import Watch
from intarsia.engine.remote.settings.remotes import Remote

_LENGTHS = (256, 128, 64, 32)
"""The released canvas, and what it may be limited to. The longest that is served is used."""

_REFUSED = 400


def served_canvas(remote: Remote, model: str, watch: Watch) -> int | None:
    """Return the tokens of DiffusionGemma's canvas, None for any other model.

    Raises RemoteError, and what the watch's checkpoint raises.
    """
    if not _is_refused(remote, model, 0, watch):
        return None
    return next((size for size in _LENGTHS if not _is_refused(remote, model, size, watch)), None)


def _is_refused(remote: Remote, model: str, canvas_length: int, watch: Watch) -> bool:
    """Tell whether a canvas of this length is a bad request. Nothing of the user's is sent."""
    path, body = VllmCanvas.path, probe_body(model, canvas_length)
    with open_exchange(remote, path, watch, body) as answer:
        if answer.status == _REFUSED:
            return True
        require_success(remote, path, answer.status, answer.headers, answer.body)
    return False
