"""The extensions of LSP that a client may request in ``initialize`` (docs/protocol.md)."""

from typing import Any

import msgspec

DRAFT = "intarsia/draft"
STATUS = "intarsia/status"


class Extensions(msgspec.Struct, frozen=True, kw_only=True):
    """True where the client requested it; an extension that is false is never sent."""

    drafts: bool = False
    status: bool = False
    confidence: bool = False


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
