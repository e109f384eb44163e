"""The arguments of an inline edit, as checked JSON (docs/protocol.md).

They are the one argument of the command ``intarsia.edit`` and the ``data`` of a code action.
"""

from typing import Annotated, Any

import msgspec
from lsprotocol import types

from intarsia.lsp.protocol_extensions import EditKind

_Unsigned = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class _Position(msgspec.Struct, frozen=True):
    line: _Unsigned
    character: _Unsigned


class _Range(msgspec.Struct, frozen=True):
    start: _Position
    end: _Position


class _Document(msgspec.Struct, frozen=True):
    uri: str
    version: int | None = None


class EditArguments(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One requested edit. ``range`` is set where the kind needs one; see docs/protocol.md."""

    kind: EditKind
    text_document: _Document
    range: _Range | None = None
    noise: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] = 0
    apply: bool = True

    @property
    def lsp_range(self) -> types.Range | None:
        if self.range is None:
            return None
        start, end = self.range.start, self.range.end
        return types.Range(
            types.Position(start.line, start.character), types.Position(end.line, end.character)
        )


def read_edit_arguments(value: object) -> EditArguments:
    """Return the arguments that a client sent. Raises ValueError with one line on what is wrong."""
    arguments = msgspec.convert(value, EditArguments)  # its ValidationError is a ValueError
    if arguments.range is None and arguments.kind != "fillAll":
        raise ValueError(f"a {arguments.kind} needs a range")
    return arguments


def edit_arguments(
    kind: EditKind, uri: str, version: int, where: types.Range | None
) -> dict[str, Any]:
    """Return the arguments of an edit of this version as JSON."""
    place = (
        None
        if where is None
        else _Range(
            _Position(where.start.line, where.start.character),
            _Position(where.end.line, where.end.character),
        )
    )
    arguments = EditArguments(kind=kind, text_document=_Document(uri, version), range=place)
    built: dict[str, Any] = msgspec.to_builtins(arguments)
    return built
