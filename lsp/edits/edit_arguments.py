"""The arguments of an inline edit, as checked JSON (docs/protocol.md).

They are the one argument of the command ``intarsia.edit`` and the ``data`` of a code action.
"""

from typing import Annotated, Any

import msgspec
from lsprotocol import types

from intarsia.lsp.params import DocumentId, Position, Range
from intarsia.lsp.protocol_extensions import EditKind


class EditArguments(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One requested edit. ``range`` is set where the kind needs one; see docs/protocol.md."""

    kind: EditKind
    text_document: DocumentId
    range: Range | None = None
    noise: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] = 0
    apply: bool = True

    @property
    def lsp_range(self) -> types.Range | None:
        if self.range is None:
            return None
        return types.Range(self.range.start.as_lsp, self.range.end.as_lsp)

    def __post_init__(self) -> None:
        if self.range is None and self.kind != "fillAll":
            raise ValueError(f"a {self.kind} needs a range")


def edit_arguments(
    kind: EditKind, uri: str, version: int, where: types.Range | None
) -> dict[str, Any]:
    """Return the arguments of an edit of this version as JSON."""
    place = (
        None
        if where is None
        else Range(
            Position(where.start.line, where.start.character),
            Position(where.end.line, where.end.character),
        )
    )
    arguments = EditArguments(kind=kind, text_document=DocumentId(uri, version), range=place)
    built: dict[str, Any] = msgspec.to_builtins(arguments)
    return built
