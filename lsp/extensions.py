"""What a client may ask for beyond LSP (docs/protocol.md): read once, in ``initialize``."""

from typing import Any

import msgspec

DRAFT = "intarsia/draft"
STATUS = "intarsia/status"


class Extensions(msgspec.Struct, frozen=True, kw_only=True):
    """True where the client asked for it. What is not asked for never reaches the client."""

    drafts: bool = False
    status: bool = False
    confidence: bool = False


class _Experimental(msgspec.Struct, frozen=True):
    intarsia: Extensions = Extensions()


def asked_for(experimental: object) -> Extensions:
    """Read ``capabilities.experimental``, whatever it may be; malformed asks for nothing."""
    try:
        return msgspec.convert(experimental, _Experimental).intarsia
    except msgspec.ValidationError:
        return Extensions()


def answer_to(asked: Extensions) -> dict[str, Any] | None:
    """Return the server's ``capabilities.experimental``; None to a client that asked nothing."""
    return None if asked == Extensions() else {"intarsia": msgspec.to_builtins(asked)}
