"""``intarsia serve``: the language server. Imports nothing else, because an editor waits for it."""

import gc

import click


@click.command("serve")
@click.option(
    "--tcp",
    metavar="[HOST:]PORT",
    help="Serve one client on a TCP port of this machine instead (for debugging).",
)
def command(tcp: str | None) -> int:
    """Serve an editor: the language server, on standard input and output."""
    gc.disable()  # imported objects stay: collecting among them takes a quarter of the start
    from intarsia.lsp.features import serve_stdio, serve_tcp

    gc.freeze()
    gc.enable()
    if tcp is None:
        return serve_stdio()
    return serve_tcp(*_parse_address(tcp))


def _parse_address(word: str) -> tuple[str, int]:
    from intarsia.engine.remote.http.remotes import is_loopback

    host, _, port = word.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isascii() or not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise click.BadParameter(f"{word!r} has no port from 1 to 65535", param_hint="'--tcp'")
    if not is_loopback(host):
        raise click.BadParameter(
            f"{host} is reachable from other machines: give 127.0.0.1, ::1 or localhost",
            param_hint="'--tcp'",
        )
    return host, int(port)
