"""``intarsia serve``: the language server. Imports nothing else, because an editor waits for it."""

import gc
import sys

import click

from intarsia.cli.command_table import load


@click.command("serve")
@click.option(
    "--tcp",
    metavar="[HOST:]PORT",
    help="Serve one client on a TCP port of this machine instead (for debugging).",
)
def command(tcp: str | None) -> int:
    """Serve an editor: the language server, on standard input and output."""
    if tcp is None and sys.stdin.isatty():
        click.echo("an editor is to start this and speak LSP to it; Ctrl-C ends it", err=True)
    server = load("intarsia.lsp.method_table")
    gc.freeze()
    code: int = server.serve_stdio() if tcp is None else server.serve_tcp(*_parse_address(tcp))
    return code


def _parse_address(word: str) -> tuple[str, int]:
    host, _, port = word.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isascii() or not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise click.BadParameter(f"{word!r} has no port from 1 to 65535", param_hint="'--tcp'")
    if not load("intarsia.engine.remote.http.remotes").is_loopback(host):
        raise click.BadParameter(
            f"{host} is reachable from other machines: give 127.0.0.1, ::1 or localhost",
            param_hint="'--tcp'",
        )
    return host, int(port)
