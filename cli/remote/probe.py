"""Ask a remote once what it is, and describe in words what it can do and what is lost."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from intarsia.engine.errors import ModelError
from intarsia.engine.model_store.catalog import DEFAULT_MODEL
from intarsia.engine.remote.discovery.abilities import ABILITIES, NOT_YET, PRIVACY, Abilities
from intarsia.engine.remote.discovery.discover import Server, discover
from intarsia.engine.remote.fill.link import ServerLink
from intarsia.engine.remote.fill.team_session import check_protocol
from intarsia.engine.remote.settings.remotes import Remote

PATIENCE_S = 10.0
"""A server that is asked what it is answers within this time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """What a server said, and why it cannot be used, if so."""

    remote: Remote
    server: Server | None = None
    problem: str | None = None

    @property
    def is_usable(self) -> bool:
        """Whether holes can be filled through it."""
        return self.problem is None

    @property
    def abilities(self) -> Abilities | None:
        """What this kind of server can do, None if it is not known, or cannot fill holes."""
        return None if self.server is None else ABILITIES.get(self.server.system)


def probe(remote: Remote) -> Probe:
    """Ask what the server is, and check its tokenizer. Nothing of the user's code is sent."""
    from intarsia.engine.remote.discovery.tokenizer import (
        check_gemma_tokenizer,
        check_tokenizer,
        read_gemma_tokenizer,
        read_tokenizer,
    )
    from intarsia.engine.remote.fill.canvas_session import canvas_dialect_of
    from intarsia.engine.remote.filler import dialect_of

    remote = replace(remote, timeout_s=min(remote.timeout_s, PATIENCE_S))
    link = ServerLink(remote)
    watch = link.watch(lambda: None)
    try:
        server = discover(remote, watch)
    except ModelError as error:
        return Probe(remote=remote, problem=str(error))
    abilities = ABILITIES.get(server.system)
    if abilities is None:
        return Probe(remote=remote, server=server, problem=NOT_YET)
    try:
        if server.system == "intarsia":
            check_protocol(link, lambda: None)
        elif server.canvas_tokens is not None:
            gemma = read_gemma_tokenizer(remote)
            check_gemma_tokenizer(remote, gemma, canvas_dialect_of(remote, server), watch)
        else:
            text = read_tokenizer(remote)
            if not abilities.takes_text:
                check_tokenizer(remote, server, text, dialect_of(remote, server, text), watch)
    except ModelError as error:
        return Probe(remote=remote, server=server, problem=str(error))
    return Probe(remote=remote, server=server)


def described(found: Probe) -> Iterator[tuple[str, str]]:
    """Yield the probe as rows of a name and a sentence."""
    remote, server = found.remote, found.server
    yield "remote", f"remote:{remote.name}"
    yield "code goes to", remote.address.shown
    if server is not None:
        yield "server", server.system + (f" {server.version}" if server.version else "")
        if server.model is not None:
            yield "model", server.model + (f" ({server.format})" if server.format else "")
        if server.context_tokens is not None:
            slots = f" in each of {server.num_slots} slots" if server.num_slots else ""
            yield "context", f"{server.context_tokens:,} tokens{slots}"
        if server.canvas_tokens is not None:
            yield "canvas", f"{server.canvas_tokens} tokens"
    if found.problem is not None:
        yield "problem", found.problem
        return
    abilities = found.abilities
    own = remote.tokenizer or DEFAULT_MODEL
    if abilities is not None and abilities.takes_text:
        yield "tokenizer", f"not asked for: the model must have the marks of {own}"
    elif server is not None and server.system != "intarsia":  # a team's engine has its own
        yield "tokenizer", f"the same as that of {own}"
    if abilities is not None:
        yield from (("can", line) for line in abilities.can)
        yield from (("lost", line) for line in abilities.lost)
    yield "privacy", PRIVACY
    local = "the local model answers" if remote.fallback else "there is no suggestion"
    yield "if it fails", local
