"""Ghost text, which is shown at the cursor, and the outcome of a request: texts or a reason."""

import re
from dataclasses import asdict, dataclass, replace

from lsprotocol import types

from intarsia.infill.calibration import IMPROBABLE, improbable
from intarsia.infill.filling.plan import EngineCost
from intarsia.infill.imports.binding import ImportBinding, shown
from intarsia.infill.suggestion import ConfidentToken, NoSuggestion, without_end, without_start
from intarsia.infill.syntax.text import CLOSERS, balance_of, closing_quote
from intarsia.lsp.documents import Snapshot
from intarsia.lsp.protocol_extensions import IMPORTS_COMMAND
from intarsia.lsp.status import LastRequest

_NAME = re.compile(r"[\w$]+")


@dataclass(frozen=True, slots=True)
class GhostText:
    """The text to insert at the cursor, whole and in the model's tokens.

    Unasked, only its first ``shown_length`` characters are shown (None: all of it). ``probability``
    is that of keeping the whole text, None where it is not known. ``imports`` are those that it
    needs, None where these are not known yet.
    """

    text: str
    tokens: tuple[ConfidentToken, ...]
    shown_length: int | None = None
    probability: float | None = None
    imports: tuple[ImportBinding, ...] | None = None

    @property
    def is_hidden(self) -> bool:
        """Whether nothing of it is shown unasked."""
        return self.shown_length == 0

    @property
    def shown(self) -> "GhostText":
        """The part that is shown unasked, with the imports of its own names."""
        length = self.shown_length
        if length is None:
            return self
        text = self.text[:length]
        return replace(
            self,
            text=text,
            tokens=without_end(self.tokens, length),
            shown_length=None,
            imports=None if self.imports is None else _used_in(text, self.imports),
        )

    def after_typing(self, typed: str) -> "GhostText | None":
        """Return the rest after ``typed``; None where the text does not start so or ends there.

        The rest of what is shown stays shown. Where the user has typed beyond that, the rest is
        more probable now than it was: it is None, so that it is judged again.
        """
        if not typed:
            return self
        rest = self.text[len(typed) :]
        if not (rest.strip() and self.text.startswith(typed)):
            return None
        length = None if self.shown_length is None else self.shown_length - len(typed)
        if length is not None and not rest[: max(0, length)].strip():
            return None
        return replace(
            self, text=rest, tokens=without_start(self.tokens, len(typed)), shown_length=length
        )

    def until_closed(self, behind: str) -> "GhostText | None":
        """Return the text up to where it writes what is ``behind`` the cursor; None if at once."""
        closer = behind.lstrip()
        at = _closes_at(self.text, closer[0])
        kept = self.text[:at] if at is None or closer == behind else self.text[:at].rstrip()
        if not kept.strip():
            return None
        is_shorter = self.shown_length is not None and self.shown_length < len(kept)
        return replace(
            self,
            text=kept,
            tokens=without_end(self.tokens, len(kept)),
            shown_length=self.shown_length if is_shorter else None,
            imports=None if self.imports is None else _used_in(kept, self.imports),
        )


def _closes_at(text: str, closer: str) -> int | None:
    """Return where a text closes a bracket or quote that is open before it."""
    if closer in CLOSERS:
        return next((at for at in balance_of(text).unmatched if text[at] == closer), None)
    return closing_quote(text, 0, closer)


def _used_in(text: str, imports: tuple[ImportBinding, ...]) -> tuple[ImportBinding, ...]:
    names = set(_NAME.findall(text))
    return tuple(binding for binding in imports if binding.local.split(".")[0] in names)


def imports_command(
    snapshot: Snapshot, ghost: GhostText, *, can_apply: bool
) -> types.Command | None:
    """Return the command that adds a suggestion's imports once it is accepted.

    None where it needs none, or where the client applies no edits of a server.
    """
    if not ghost.imports or not can_apply:
        return None
    place = snapshot.range_at_cursor().start
    argument = {
        "textDocument": {"uri": snapshot.document.uri},
        "position": {"line": place.line, "character": place.character},
        "imports": [asdict(it) for it in ghost.imports],
        "apply": True,
    }
    title = f"Add {'; '.join(shown_imports(snapshot, ghost))}"
    return types.Command(title=title, command=IMPORTS_COMMAND, arguments=[argument])


def shown_imports(snapshot: Snapshot, ghost: GhostText) -> tuple[str, ...]:
    """Return the imports of a suggestion as statements, for the user to see."""
    return tuple(shown(it, snapshot.language) for it in ghost.imports or ())


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestOutcome:
    """``ghosts`` are sorted, best first; where there are none, ``reason`` is set."""

    ghosts: tuple[GhostText, ...] = ()
    reason: str | None = None
    kind: str = "other"  # of the reason
    is_failure: bool = False  # the reason is an error, rather than that nothing fits here
    cost: EngineCost | None = None  # None: the engine did not answer, or was not asked
    is_cached: bool = False
    is_short: bool = False  # it was written from a short window, see ``infill.canvas.FirstWindow``

    def refused(self, why: NoSuggestion) -> "RequestOutcome":
        """Return the outcome without its ghost texts, and why there are none."""
        return replace(self, ghosts=(), reason=why.reason, kind=why.kind)

    def unasked(self, percent: int) -> "RequestOutcome":
        """Return what is shown of it to a user who did not ask: what is this probable to be kept.

        The ghost texts were judged by this percentage when they were read.
        """
        if not self.ghosts:
            return self
        shown = tuple(ghost.shown for ghost in self.ghosts if not ghost.is_hidden)
        if shown:
            return replace(self, ghosts=shown)
        return self.refused(improbable(self.ghosts[0].probability, percent))

    def for_status(self, uri: str) -> LastRequest:
        cost = self.cost
        return LastRequest(
            uri=uri,
            shown=bool(self.ghosts),
            reason=None if self.ghosts else self.reason,
            unsure=not self.ghosts and self.kind == IMPROBABLE,
            failed=self.is_failure,
            ms=None if cost is None else cost.ms,
            read_ms=None if cost is None else cost.read_ms,
            num_forwards=None if cost is None else cost.num_forwards,
            tokens_read=None if cost is None else cost.num_read,
            tokens_reused=None if cost is None else cost.num_reused,
            tokens_written=None if cost is None else cost.num_written,
            mean_entropy=None if cost is None else cost.mean_entropy,
            from_cache=self.is_cached,
        )
