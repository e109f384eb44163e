"""The ASGI app: every address that is answered, and what errors become."""

import click
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp

from intarsia.cli.api.dialects.llama_cpp import LlamaCpp
from intarsia.cli.api.dialects.ollama import Ollama
from intarsia.cli.api.dialects.openai import OpenAI
from intarsia.cli.api.holes.filler import HoleFiller
from intarsia.cli.api.http.access import Guard, KeyFile
from intarsia.cli.api.http.read import Refusal, error_response
from intarsia.engine.ipc.client import EngineClient, EngineError, FillFailed

_CLIENT_GONE = 499  # nginx has this number for it; the client does not read it
_NOT_FOUND = "not found: use /v1/completions, /infill or /api/generate"


def guarded_app(
    client: EngineClient, observer: EngineClient, *, keys: KeyFile | None, is_loopback: bool
) -> ASGIApp:
    """Return the app that answers with the client's fills.

    ``observer`` starts no engine. Without ``keys`` only this machine may ask.
    """
    filler = HoleFiller(client, observer)
    routes = [route for dialect in (OpenAI, LlamaCpp, Ollama) for route in dialect(filler).routes()]
    app = Starlette(
        routes=routes,
        exception_handlers=dict.fromkeys(
            (Refusal, EngineError, ClientDisconnect, HTTPException, Exception), _failed
        ),
    )
    app.router.redirect_slashes = False
    return Guard(app, keys=keys, is_loopback=is_loopback)


async def _failed(request: Request, error: Exception) -> Response:
    match error:
        case ClientDisconnect():
            return Response(status_code=_CLIENT_GONE)
        case Refusal():
            refusal = error
        case EngineError():
            is_bad = isinstance(error, FillFailed) and error.code == "bad_request"
            refusal = Refusal(400 if is_bad else 503, str(error))
        case HTTPException():
            known = {404: _NOT_FOUND, 405: f"{request.method} is not supported here"}
            message = known.get(error.status_code, error.detail)
            refusal = Refusal(error.status_code, message, error.headers)
        case _:  # tell the operator, without any text of a user
            click.echo(f"intarsia api: {type(error).__name__} at {request.url.path}", err=True)
            refusal = Refusal(500, "an error in intarsia itself")
    return error_response(refusal, request.url.path)
