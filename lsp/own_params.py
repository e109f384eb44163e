"""Reads the parameters of our own methods, as typed values."""

from typing import TypeVar

import msgspec
from pygls.exceptions import JsonRpcInvalidParams

_Message = TypeVar("_Message", bound=msgspec.Struct)


def read_own(params: object, as_what: type[_Message]) -> _Message:
    """Return the parameters as this struct. Raises JsonRpcInvalidParams."""
    try:
        return msgspec.convert(_as_json(params), as_what)
    except msgspec.ValidationError as error:
        raise JsonRpcInvalidParams(str(error)) from error


def _as_json(value: object) -> object:
    """Return parameters of a method of our own as JSON: pygls makes named tuples of objects."""
    if hasattr(value, "_asdict"):
        return {key: _as_json(item) for key, item in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    return value
