"""What a source file defines and what it imports, as plain values for every language."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class NameFrom:
    """A name that another module has, and the name that it gets here."""

    module: str  # as it is written, without quotes
    name: str
    local: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Module:
    """The top level of one file. ``stars`` are the modules with all names taken over."""

    definitions: frozenset[str] = frozenset()
    imports: tuple[NameFrom, ...] = ()
    exports: tuple[NameFrom, ...] = ()  # what other files may take from here, but another defines
    stars: tuple[str, ...] = ()
