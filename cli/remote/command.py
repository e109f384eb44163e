"""``intarsia remote add|list|test|remove``: the user's servers, and what each can do."""

from dataclasses import asdict
from typing import Any

import click
import msgspec

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.remote.probe import Probe, described, probe
from intarsia.cli.switches import debug_option, json_option
from intarsia.cli.terminal import output, two_columns
from intarsia.engine.remote.settings.edit import add_remote, remote_of, remove_remote
from intarsia.engine.remote.settings.remotes import Remote, find_remote, read_remotes, remotes_path


@click.group("remote")
@debug_option
def command() -> None:
    """Fill holes through a server of another engine: `--model remote:NAME`."""


@command.command("add")
@click.argument("name")
@click.argument("url")
@click.option("--model", default="", help="Which of the server's models, if it has several.")
@click.option("--tokenizer", default="", help="Its tokenizer.json.  [default: that of ours]")
@click.option("--key-file", default="", help="A file of mode 0600 with the server's key.")
@click.option("--ca", default="", help="A PEM file with the authority of its certificate.")
@click.option("--timeout-s", type=float, help="Seconds without an answer after which it fails.")
@click.option("--fallback", is_flag=True, help="Have the local model answer where it fails.")
@click.option("--priority", is_flag=True, help="It schedules by priority (vLLM's setting).")
@click.option("--no-test", is_flag=True, help="Do not ask the server what it is.")
@debug_option
def add(name: str, url: str, *, no_test: bool, **options: Any) -> ExitCode:
    """Add a server to your settings, if it can fill holes."""
    values = {"url": url} | {key: value for key, value in options.items() if value}
    path = remotes_path()
    remote = remote_of(name, values, path)
    if not no_test:
        found = probe(remote)
        _show(found)
        if not found.is_usable:
            raise CliError(
                f"remote:{name} is not added: correct what is wrong, or give --no-test",
                ExitCode.NOTHING,
            )
    add_remote(name, values, path)
    click.echo(f"added to {path}: choose it with the model remote:{name}")
    return ExitCode.OK


@command.command("list")
@json_option
@debug_option
def list_remotes(as_json: bool) -> None:
    """Show the servers in your settings. None is asked."""
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
@debug_option
def test(names: tuple[str, ...], as_json: bool) -> ExitCode:
    """Ask servers what they are (all, if none is named). Exit code 1 if one cannot be used."""
    remotes = [find_remote(name) for name in names] or list(read_remotes().values())
    if not remotes:
        raise CliError(f"there is no remote in {remotes_path()}: add one first")
    found = [probe(remote) for remote in remotes]
    for one in found:
        if as_json:
            click.echo(msgspec.json.encode(_as_json(one)))
        else:
            _show(one)
    return ExitCode.OK if all(one.is_usable for one in found) else ExitCode.NOTHING


@command.command("remove")
@click.argument("name")
@debug_option
def remove(name: str) -> None:
    """Remove a server from your settings: no code goes there any more."""
    remove_remote(name, remotes_path())
    click.echo(f"removed from {remotes_path()}: remote:{name}")


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
