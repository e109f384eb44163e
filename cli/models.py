"""``intarsia models``: the models to choose from, and what each takes on this machine."""

import asyncio
from collections.abc import Iterator

import click
import msgspec
import psutil

from intarsia.cli.command_table import load
from intarsia.cli.status import ask_status
from intarsia.cli.terminal import json_option, output, size, two_columns
from intarsia.engine.ipc.client import NoEngine
from intarsia.engine.ipc.messages import Status
from intarsia.engine.model_store.catalog import CATALOG, DEFAULT_MODEL, CatalogModel
from intarsia.engine.model_store.download import downloaded_file
from intarsia.engine.remote.http.remotes import REMOTE_PREFIX, read_remotes


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """One row of an editor's list: ``model`` is what the setting of that name is set to."""

    model: str
    label: str
    description: str
    detail: str


@click.command("models")
@json_option
def command(as_json: bool) -> None:
    """List the models to choose from: size, memory, quality, speed.

    Any GGUF file, folder or hub id can be named too: docs/models.md.
    """
    choices = tuple(_choices(_status()))
    if as_json:
        for choice in choices:
            click.echo(msgspec.json.encode(choice))
        return
    output().print(
        two_columns((it.label, f"{it.description}\n{it.detail}".strip()) for it in choices)
    )


def _status() -> Status | None:
    try:
        return asyncio.run(ask_status())
    except NoEngine:
        return None


def _choices(status: Status | None) -> Iterator[Choice]:
    for row in CATALOG:
        is_default = ", the default" if row.name == DEFAULT_MODEL else ""
        speed = _speed(status) if status is not None and status.model == row.name else ""
        yield Choice(
            model=row.name,
            label=row.name,
            description=f"{_download(row)}{is_default}",
            detail=f"{_memory(row)}; {row.quality}{speed}",
        )
    for name, remote in read_remotes().items():
        yield Choice(
            model=f"{REMOTE_PREFIX}{name}",
            label=f"{REMOTE_PREFIX}{name}",
            description=f"your server at {remote.address.shown}",
            detail="code around the cursor is sent there",
        )


def _download(row: CatalogModel) -> str:
    file = downloaded_file(row)
    is_there = (file.is_file() and file.stat().st_size == row.num_bytes) or any(
        folder.is_dir()
        for folder in load("intarsia.engine.model_store.locate").catalog_folders(row)
    )
    return "downloaded" if is_there else f"{size(row.num_bytes)} to download"


def _memory(row: CatalogModel) -> str:
    free = psutil.virtual_memory().available
    fits = "" if free >= row.memory_bytes else f", more than the {size(free)} that are free"
    return f"{size(row.memory_bytes)} of memory{fits}"


def _speed(status: Status) -> str:
    speed = status.prefill_tokens_per_s
    return f"; reads {speed:,.0f} tokens a second here" if speed else "; in use"
