"""Parameters of our own methods and arguments of our commands, as checked values."""

from typing import Annotated, TypeVar

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from intarsia.engine.ipc.plain_json import as_meant

_Unsigned = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
_Message = TypeVar("_Message", bound=msgspec.Struct)


class DocumentId(msgspec.Struct, frozen=True):
    """An open document, at one version if the client names it."""

    uri: str
    version: int | None = None


class Position(msgspec.Struct, frozen=True):
    """A position as JSON has it."""

    line: _Unsigned
    character: _Unsigned

    @property
    def as_lsp(self) -> types.Position:
        return types.Position(self.line, self.character)


class Range(msgspec.Struct, frozen=True):
    """A range as JSON has it."""

    start: Position
    end: Position


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
