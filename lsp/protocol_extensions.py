"""Our names in LSP: commands, kinds of edits, and extensions that a client may request.

docs/protocol.md describes them.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

EDIT_COMMAND = "intarsia.edit"
CONTEXT_COMMAND = "intarsia.context"
IMPORTS_COMMAND = "intarsia.addImports"
NEXT_EDIT_COMMAND = "intarsia.nextEdit"
RENAME_COMMAND = "intarsia.renameInFiles"

EditKind: TypeAlias = Literal["fill", "fillAll", "rewrite", "repair", "instruct", "document"]

_KIND = "refactor.rewrite.intarsia"
EDIT_KINDS: Mapping[EditKind, str] = {
    "fill": f"{_KIND}.fill",
    "fillAll": f"{_KIND}.fillAll",
    "rewrite": f"{_KIND}.rewrite",
    "repair": "quickfix.intarsia.repair",
}
"""The kinds of code actions that offer an inline edit. LSP cannot ask for an instruction."""

NEXT_EDIT_KIND = "quickfix.intarsia.nextEdit"

DISMISSED = "intarsia/dismissed"
DRAFT = "intarsia/draft"
MEMBERS = "intarsia/members"
NEXT_EDITS = "intarsia/nextEdits"
NEXT_EDIT_DONE = "intarsia/nextEditDone"
RENAMING = "intarsia/renaming"
STATUS = "intarsia/status"


class Extensions(msgspec.Struct, frozen=True, kw_only=True):
    """True where the client requested it; an extension that is false is never sent."""

    drafts: bool = False
    status: bool = False
    confidence: bool = False
    next_edits: bool = msgspec.field(default=False, name="nextEdits")
    members: bool = False


class _Experimental(msgspec.Struct, frozen=True):
    intarsia: Extensions = Extensions()


def requested_extensions(experimental: object) -> Extensions:
    """Return what ``capabilities.experimental`` requests; nothing where it is malformed."""
    try:
        return msgspec.convert(experimental, _Experimental).intarsia
    except msgspec.ValidationError:
        return Extensions()


def experimental_capabilities(requested: Extensions) -> dict[str, Any] | None:
    """Return the server's ``capabilities.experimental``; None where nothing was requested."""
    return None if requested == Extensions() else {"intarsia": msgspec.to_builtins(requested)}
