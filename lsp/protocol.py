"""pygls' JSON-RPC with its own text synchronization, and with LSP's rules for the life cycle.

pygls ends lines where Python does (form feeds, U+2028), but LSP does not: after an edit below such
a character, pygls' text would differ from the client's. pygls also leaves requests unanswered that
are out of order or have bad parameters; here every request is answered.

Clients leave something out, or count from another number than LSP does. lsprotocol refuses such a
message whole. So this adds what is clear all the same, and refuses what lsprotocol would take as a
text though it is none.
"""

import logging
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping
from operator import methodcaller
from typing import Any, Protocol, TypeAlias

import msgspec
from cattrs import transform_error
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, lsp_method

from intarsia.lsp.documents import DocumentChange
from intarsia.lsp.protocol_extensions import experimental_capabilities
from intarsia.lsp.session import Session

logger = logging.getLogger(__name__)

TEXT_CHANGES = (types.TEXT_DOCUMENT_DID_CHANGE, types.NOTEBOOK_DOCUMENT_DID_CHANGE)
_INVOKED, _AUTOMATIC = 1, 2


RunCommand: TypeAlias = Callable[[types.ExecuteCommandParams], Awaitable[Any]]
"""Runs a command that clients may execute. Raises JsonRpcException for bad arguments."""


class ServerWithSession(Protocol):
    """The part of the server that this protocol uses."""

    session: Session
    own_commands: Mapping[str, RunCommand]

    def end_reading(self) -> None: ...


class IntarsiaProtocol(LanguageServerProtocol):
    """Reads and writes messages, and calls the handlers."""

    _server: ServerWithSession  # type: ignore[assignment]

    is_ending = False  # the client has requested the shutdown
    _counts_from_0 = False  # kinds of triggers, as drafts of LSP 3.18 did

    def structure_message(self, data: dict[str, Any]) -> Any:
        method, params = data.get("method"), data.get("params")
        try:
            if "jsonrpc" in data and isinstance(method, str) and isinstance(params, dict):
                self._mend(method, params)
            return super().structure_message(data)
        except Exception as error:
            why = why_unreadable(error)
            if "id" in data and "method" in data:
                refusal = JsonRpcInvalidParams(f"{method}: {why}")
                self._send_response(data["id"], error=refusal.to_response_error())
            elif method in TEXT_CHANGES and (uri := changed_uri(params)) is not None:
                logger.error("a change to %s cannot be read: %s", uri, why)
                self._forget(self._server.session.documents.lose(uri))  # until the whole comes
            elif isinstance(id := data.get("id"), str) and (
                future := self._request_futures.pop(id, None)
            ):  # its caller waits
                future.set_exception(JsonRpcException("the client's answer cannot be read"))
            raise

    def _mend(self, method: str, params: dict[str, Any]) -> None:
        """Change parameters into LSP's. Raises JsonRpcInvalidParams."""
        if method == types.TEXT_DOCUMENT_INLINE_COMPLETION:
            self._mend_trigger(params.get("context") or {})
        elif method in TEXT_CHANGES:
            for document, changes in _text_changes(params):
                if document.get("version") is None:
                    known = self._server.session.documents.version_of(str(document.get("uri")))
                    document["version"] = known
                for change in changes:
                    if change.get("range", "") is None:
                        del change["range"]  # the whole text
                    if not isinstance(change.get("text"), str):
                        raise JsonRpcInvalidParams("contentChanges: a text is no string")

    def _mend_trigger(self, context: dict[str, Any]) -> None:
        kind = context.get("triggerKind")
        if kind in (0, _AUTOMATIC):
            self._counts_from_0 = kind == 0
        if self._counts_from_0 and kind in (0, _INVOKED):
            context["triggerKind"] = kind + 1

    def handle_message(self, message: Any) -> None:
        method = getattr(message, "method", None)
        refusal = None if method is None else self._refusal(method)
        if self.is_ending and method == types.EXIT:
            self._server.end_reading()  # pygls would exit while the shutdown still runs
        elif refusal is None or method == types.EXIT:
            self.is_ending |= method == types.SHUTDOWN
            super().handle_message(message)
        elif hasattr(message, "id"):
            self._send_response(message.id, error=refusal.to_response_error())

    def _refusal(self, method: str) -> JsonRpcException | None:
        """Return the error for a message that is out of order, None where it is in order."""
        if self.is_ending:
            return JsonRpcInvalidRequest(message="the server is shutting down")
        is_initialized = self._workspace is not None
        if method == types.INITIALIZE and is_initialized:
            return JsonRpcInvalidRequest(message="the server is initialized already")
        if method != types.INITIALIZE and not is_initialized:
            return JsonRpcServerNotInitialized(message="the server is not initialized yet")
        return None

    def _run_generator(self, future: Any, *, gen: Any, result_future: Any) -> None:
        """Go on with a handler, but for one that the end of the server has cancelled.

        pygls would raise the cancellation into the event loop, which prints it.
        """
        if future is not None and future.cancelled():
            result_future.cancel()
        else:
            super()._run_generator(future, gen=gen, result_future=result_future)

    def _serialize_message(self, data: Any) -> Any:
        """Serialize our extensions of LSP, which are msgspec structs."""
        if isinstance(data, msgspec.Struct):
            return msgspec.to_builtins(data)
        return super()._serialize_message(data)

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(
        self, params: types.InitializeParams
    ) -> Generator[Any, Any, types.InitializeResult]:
        result = yield from super().lsp_initialize(params)
        result.capabilities.experimental = experimental_capabilities(
            self._server.session.extensions
        )
        result.capabilities.execute_command_provider = types.ExecuteCommandOptions(
            commands=list(self._server.own_commands), work_done_progress=True
        )
        return result

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(  # type: ignore[override]
        self, params: types.ExecuteCommandParams
    ) -> Any:
        """Run the command in the request's own task: pygls would not let the client cancel it."""
        run = self._server.own_commands.get(params.command)
        if run is None:
            known = ", ".join(self._server.own_commands)
            raise JsonRpcInvalidParams(f"unknown command {params.command!r}; known ones: {known}")
        return await run(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._server.session.documents.open(params.text_document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._changed(self._server.session.documents.change(params))

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._server.session.documents.close(params.text_document.uri)
        self._forget([params.text_document.uri])

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        self._server.session.documents.open_notebook(params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(
        self, params: types.DidChangeNotebookDocumentParams
    ) -> None:
        session = self._server.session
        done = session.documents.change_notebook(params)
        self._forget(done.closed)
        for change in done.changes:
            self._changed(change)
        if done.is_rearranged:
            session.features.tell(methodcaller("cells_changed"))

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(
        self, params: types.DidCloseNotebookDocumentParams
    ) -> None:
        self._forget(self._server.session.documents.close_notebook(params))

    def _changed(self, change: DocumentChange | None) -> None:
        if change is not None:
            self._server.session.features.tell_all(methodcaller("changed", change))

    def _forget(self, uris: Iterable[str]) -> None:
        """End what runs for documents that are closed or lost, and drop what is known of them."""
        for uri in uris:
            self._server.session.features.tell(methodcaller("closed", uri))


def why_unreadable(error: BaseException) -> str:
    """Return what is wrong with a message, with the names of its fields."""
    if error.__cause__ is None:
        return str(error)
    return "; ".join(transform_error(error.__cause__)[:3])


def changed_uri(params: Any) -> str | None:
    """Return the document or notebook that an unreadable change is of, None if that is unclear."""
    try:
        uri = params.get("textDocument", params.get("notebookDocument"))["uri"]
    except (AttributeError, KeyError, TypeError):
        return None
    return uri if isinstance(uri, str) else None


def _text_changes(params: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield the documents of a change, notebooks too, each with the changes of its text."""
    if "textDocument" in params:
        yield params["textDocument"], params["contentChanges"]
    if "notebookDocument" in params:
        yield params["notebookDocument"], []
        for content in (params["change"].get("cells") or {}).get("textContent") or ():
            yield content["document"], content["changes"]
