"""``intarsia remote add|list|test|remove``: the user's servers, and what each can do."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import click
import msgspec

from intarsia.cli.command_table import load
from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.terminal import json_option, notices, output, two_columns
from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.model_store.catalog import DEFAULT_MODEL
from intarsia.engine.remote.discovery.abilities import ABILITIES, NOT_YET, PRIVACY, Abilities
from intarsia.engine.remote.discovery.discover import Server, discover
from intarsia.engine.remote.fill.link import ServerLink
from intarsia.engine.remote.http.remotes import (
    Remote,
    add_remote,
    find_remote,
    read_remotes,
    remote_of,
    remotes_path,
    remove_remote,
)

PATIENCE_S = 10.0
"""A server that is asked what it is answers within this time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """A server's answer, and why it cannot be used, if so."""

    remote: Remote
    server: Server | None = None
    problem: str | None = None

    @property
    def is_usable(self) -> bool:
        """Whether holes can be filled through it."""
        return self.problem is None

    @property
    def abilities(self) -> Abilities | None:
        """The abilities of this kind of server, None if it is not known, or cannot fill holes."""
        return None if self.server is None else ABILITIES.get(self.server.system)


def probe(remote: Remote) -> Probe:
    """Ask what the server is, and check its tokenizer. Nothing of the user's code is sent."""
    remote = replace(remote, timeout_s=min(remote.timeout_s, PATIENCE_S))
    link = ServerLink(remote)
    try:
        server = discover(remote, link.watch(NO_CONTROL.checkpoint))
    except ModelError as error:
        return Probe(remote=remote, problem=str(error))
    if server.system not in ABILITIES:
        return Probe(remote=remote, server=server, problem=NOT_YET)
    try:
        load("intarsia.engine.remote.filler").session_on(
            server, link, NO_CONTROL.checkpoint, EngineConfig().max_context_tokens
        )
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


@click.group("remote")
def command() -> None:
    """Fill holes through a server of another engine: `--model remote:NAME`."""


@command.command("add")
@click.argument("name")
@click.argument("url")
@click.option("--model", help="Which of the server's models, if it has several.")
@click.option("--tokenizer", help="Its tokenizer.json.  [default: our model's]")
@click.option("--key-file", help="A file of mode 0600 with the server's key.")
@click.option("--ca", help="A PEM file with its certificate authority.")
@click.option("--timeout-s", type=float, help="Seconds without an answer after which it fails.")
@click.option("--fallback", is_flag=True, help="Let the local model answer if it fails.")
@click.option("--priority", is_flag=True, help="It schedules by priority (vLLM's setting).")
@click.option("--no-test", is_flag=True, help="Do not ask the server what it is.")
def add(name: str, url: str, *, no_test: bool, **options: Any) -> ExitCode:
    """Add a server to your settings, if it can fill holes."""
    values = {"url": url} | {key: value for key, value in options.items() if value}
    path = remotes_path()
    remote = remote_of(name, values, path)
    if not no_test:
        (found,) = _probe_all([remote])
        _show(found)
        if not found.is_usable:
            raise CliError(
                f"remote:{name} was not added: correct what is wrong, or give --no-test",
                ExitCode.NOTHING,
            )
    add_remote(name, values, path)
    click.echo(f"added to {path}: choose it with the model remote:{name}")
    return ExitCode.OK


@command.command("list")
@json_option
def list_remotes(as_json: bool) -> None:
    """Show the servers in your settings, without asking them."""
    remotes = read_remotes().values()
    if as_json:
        for remote in remotes:
            click.echo(msgspec.json.encode({"name": remote.name, "url": remote.url}))
    elif remotes:
        output().print(two_columns([(f"remote:{one.name}", one.url) for one in remotes]))
    else:
        click.echo(f"none: `intarsia remote add` writes to {remotes_path()}")


@command.command("test")
@click.argument("names", nargs=-1)
@json_option
def test(names: tuple[str, ...], as_json: bool) -> ExitCode:
    """Ask servers what they are (all, if none is named). Exit code 1 if one cannot be used."""
    remotes = [find_remote(name) for name in names] or list(read_remotes().values())
    if not remotes:
        raise CliError(f"there is no remote in {remotes_path()}: add one first")
    found = _probe_all(remotes)
    for one in found:
        if as_json:
            click.echo(msgspec.json.encode(_as_json(one)))
        else:
            _show(one)
    return ExitCode.OK if all(one.is_usable for one in found) else ExitCode.NOTHING


@command.command("remove")
@click.argument("name")
def remove(name: str) -> None:
    """Remove a server from your settings: no code goes there any more."""
    remove_remote(name, remotes_path())
    click.echo(f"removed from {remotes_path()}: remote:{name}")


def _probe_all(remotes: Sequence[Remote]) -> list[Probe]:
    with LoadBar(notices(), f"asking {', '.join(one.address.shown for one in remotes)}"):
        return [probe(remote) for remote in remotes]


def _show(found: Probe) -> None:
    output().print(two_columns(described(found)))


def _as_json(found: Probe) -> dict[str, Any]:
    remote: Remote = found.remote
    return {
        "name": remote.name,
        "host": remote.address.shown,
        "server": None if found.server is None else asdict(found.server),
        "usable": found.is_usable,
        "problem": found.problem,
        "lost": [] if found.abilities is None else list(found.abilities.lost),
    }
