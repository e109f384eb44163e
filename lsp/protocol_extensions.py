"""Our extensions of LSP: names, what clients may request, and parameters as checked values.

docs/protocol.md describes them.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from intarsia.engine.ipc.plain_json import as_meant

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


_Unsigned = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
MAX_PLACES = 64
"""Of one edit at places that the client tells: each is filled twice."""

_Message = TypeVar("_Message", bound=msgspec.Struct)


class DocumentId(msgspec.Struct, frozen=True):
    """An open document, at one version if the client names it."""

    uri: str
    version: int | None = None


class Position(msgspec.Struct, frozen=True):
    line: _Unsigned
    character: _Unsigned

    @property
    def as_lsp(self) -> types.Position:
        return types.Position(self.line, self.character)


class Range(msgspec.Struct, frozen=True):
    start: Position
    end: Position


class AtPosition(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A place in an open document."""

    text_document: DocumentId
    position: Position


def read_own(params: object, as_what: type[_Message]) -> _Message:
    """Return the parameters of a method as this struct. Raises JsonRpcInvalidParams."""
    try:
        return msgspec.convert(as_meant(_as_json(params)), as_what)
    except msgspec.ValidationError as error:
        raise JsonRpcInvalidParams(str(error)) from error


def read_argument(params: types.ExecuteCommandParams, as_what: type[_Message]) -> _Message:
    """Return the one argument of a command as this struct. Raises JsonRpcInvalidParams."""
    values = params.arguments or ()
    try:
        if len(values) != 1:
            raise ValueError(f"expected one argument, got {len(values)}")
        return msgspec.convert(as_meant(_as_json(values[0])), as_what)
    except ValueError as error:  # msgspec's ValidationError is one
        raise JsonRpcInvalidParams(f"{params.command}: {error}") from error


def _as_json(value: object) -> object:
    """Return parameters of a method of our own as JSON: pygls makes named tuples of objects."""
    if hasattr(value, "_asdict"):
        return {key: _as_json(item) for key, item in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    return value


class EditArguments(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One requested edit. ``range`` is set where the kind needs one; see docs/protocol.md.

    ``ranges``: the places of a fillAll, an empty one a cursor, instead of the holes in ``range``.
    """

    kind: EditKind
    text_document: DocumentId
    range: Range | None = None
    ranges: Annotated[tuple[Range, ...], msgspec.Meta(max_length=MAX_PLACES)] = ()
    noise: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None
    instruction: str = ""
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] = 0
    apply: bool = True

    @property
    def lsp_ranges(self) -> Sequence[types.Range]:
        return [types.Range(it.start.as_lsp, it.end.as_lsp) for it in self.ranges]

    @property
    def lsp_range(self) -> types.Range | None:
        if self.range is None:
            return None
        return types.Range(self.range.start.as_lsp, self.range.end.as_lsp)

    def __post_init__(self) -> None:
        if self.range is None and self.kind != "fillAll":
            raise ValueError(f"a {self.kind} needs a range")
        if bool(self.instruction.strip()) != (self.kind == "instruct"):
            raise ValueError("an instruct needs an instruction, and no other edit has one")
        if self.ranges and (self.kind != "fillAll" or self.range is not None):
            raise ValueError("only a fillAll without a range has several ranges")


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
