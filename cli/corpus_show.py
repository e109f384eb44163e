"""``intarsia corpus show``: what a corpus folder holds, from its manifest."""

from pathlib import Path

import click
import msgspec
from rich.table import Table

from intarsia.cli.console import output
from intarsia.cli.plain_words import size
from intarsia.cli.switches import debug_option, json_option
from intarsia.corpus.manifest import Manifest, Tally, read_manifest


@click.command("show")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--packages", "with_packages", is_flag=True, help="List the packages too.")
@json_option
@debug_option
def show(folder: Path, with_packages: bool, as_json: bool) -> None:
    """Show a corpus: files and bytes by language and licence, and what was left out."""
    manifest = read_manifest(folder)
    if as_json:
        click.echo(msgspec.json.encode(manifest).decode())
        return
    console = output()
    for title, tallies in (
        ("language", manifest.by_language),
        ("licence", manifest.by_licence),
        ("left out", manifest.dropped),
        *([("package", _packages(manifest))] if with_packages else []),
    ):
        console.print(_table(title, tallies))
        console.print()
    click.echo(
        f"{manifest.kept.num_files} files, {size(manifest.kept.num_bytes)}, "
        f"{len(manifest.packages)} packages read, {len(manifest.refused)} left out, "
        f"seed {manifest.seed}, sha256 {manifest.sha256}"
    )


def _packages(manifest: Manifest) -> dict[str, Tally]:
    return {
        f"{package.source} {package.name} {package.version} ({package.licence})": package.kept
        for package in manifest.packages
    }


def _table(title: str, tallies: dict[str, Tally]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(title, overflow="fold")
    table.add_column("files", justify="right")
    table.add_column("size", justify="right")
    table.add_column("share", justify="right")
    whole = sum(tally.num_bytes for tally in tallies.values()) or 1
    for name, tally in tallies.items():
        share = f"{tally.num_bytes / whole:.1%}"
        table.add_row(name, str(tally.num_files), size(tally.num_bytes), share)
    return table
