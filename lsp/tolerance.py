"""Messages of clients that leave something out, or count from another number than LSP does.

lsprotocol refuses such a message whole. So this adds what is clear all the same, and refuses what
lsprotocol would take as a text though it is none.
"""

from collections.abc import Callable, Iterator
from typing import Any

from cattrs import transform_error
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

TEXT_CHANGES = (types.TEXT_DOCUMENT_DID_CHANGE, types.NOTEBOOK_DOCUMENT_DID_CHANGE)
_INVOKED, _AUTOMATIC = 1, 2


class Tolerance:
    """What one client does otherwise. ``version_of`` is the known version of a document."""

    def __init__(self, version_of: Callable[[str], int]) -> None:
        self._version_of = version_of
        self._counts_from_0 = False  # kinds of triggers, as drafts of LSP 3.18 did

    def mend(self, method: str, params: dict[str, Any]) -> None:
        """Change parameters into LSP's. Raises JsonRpcInvalidParams."""
        if method == types.TEXT_DOCUMENT_INLINE_COMPLETION:
            self._mend_trigger(params.get("context") or {})
        elif method in TEXT_CHANGES:
            for document, changes in _text_changes(params):
                if document.get("version") is None:
                    document["version"] = self._version_of(str(document.get("uri")))
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
