"""A request that is refused: its status, and one line that says what to do."""

from collections.abc import Mapping

from starlette.responses import JSONResponse, Response

OLLAMA_PATHS = "/api/"


class Refusal(Exception):
    """A refused request. The message is one line: what, and what to do."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers


def error_response(refusal: Refusal, path: str) -> Response:
    """Return the refusal in the form that clients of this path read.

    Ollama's clients read ``error`` as a text; those of OpenAI and llama.cpp read an object.
    """
    message = " ".join(str(refusal).split())
    if path.startswith(OLLAMA_PATHS):
        return JSONResponse({"error": message}, refusal.status, refusal.headers)
    kind = "invalid_request_error" if refusal.status < 500 else "server_error"
    error = {"code": refusal.status, "message": message, "type": kind}
    return JSONResponse({"error": error}, refusal.status, refusal.headers)
