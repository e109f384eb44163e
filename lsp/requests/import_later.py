"""Handlers that are imported when they are first called: an editor waits for ``initialize``.

Most are imported before that, right after ``initialized`` (``lifecycle.py``).
"""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from intarsia.lsp.server import IntarsiaServer


def called(module: str, name: str) -> "Callable[[IntarsiaServer, Any], Any]":
    """Return a function that calls ``name`` of this module in ``lsp/requests/``."""

    def handler(ls: "IntarsiaServer", params: Any) -> Any:
        return getattr(import_module(f"intarsia.lsp.requests.{module}"), name)(ls, params)

    return handler


def awaited(module: str, name: str) -> "Callable[[IntarsiaServer, Any], Awaitable[Any]]":
    """Return the same for a coroutine function."""
    call = called(module, name)

    async def handler(ls: "IntarsiaServer", params: Any) -> Any:
        return await call(ls, params)

    return handler
