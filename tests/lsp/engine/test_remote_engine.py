"""An editor whose model is a server elsewhere: where code goes is shown, and secrets stay here."""

import asyncio
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from editor_clients import ask_inline, connected, inline_items, open_document, vscode
from extended_client import asking_for, notified, record
from http_server import FaultyServer, serving
from llama_cpp_double import event, last_event, llama_cpp_answers, send_events
from lsprotocol import types
from toy_causal_tokenizer import toy_tokenizer

MODELS = """class Account:
    def withdraw(self, amount: int) -> int:
        return amount
"""
USE = "from models import Account\n\n\ndef pay(account: Account) -> None:\n    account.\n"


class Prompts:
    """A server that writes "val", and all text that it was sent."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, request: dict[str, Any], connection: socket.socket) -> None:
        self.texts.append(toy_tokenizer().decode(request["prompt"]))
        if held := re.match('root ::= ("(?:[^"]|\\\\")*")', request.get("grammar", "")):
            first = toy_tokenizer().encode(json.loads(held[1])).ids[:1]
            events = [event(first), last_event("limit")]
        else:
            events = [event(toy_tokenizer().encode("val").ids), last_event()]
        send_events(request, connection, events)


@pytest.fixture
def prompts() -> Prompts:
    return Prompts()


@pytest.fixture
def server(prompts, tmp_path, monkeypatch) -> Iterator[FaultyServer]:
    """The server, in the user's settings as "there"."""
    config = tmp_path / "config"
    config.mkdir(mode=0o700)
    toy_tokenizer().save(str(config / "tokenizer.json"))
    monkeypatch.setenv("INTARSIA_CONFIG_DIR", str(config))
    with serving(llama_cpp_answers(prompts)) as server:
        lines = f'[there]\nurl = "{server.url}"\ntokenizer = "{config}/tokenizer.json"\n'
        (config / "remotes.toml").write_text(lines)
        (config / "remotes.toml").chmod(0o600)
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An opened folder with code, secrets, and settings that name a host of their own."""
    folder = tmp_path / "project"
    (folder / "secrets").mkdir(parents=True)
    (folder / "secrets" / "vault.py").write_text(MODELS.replace("Account", "Vault"))
    (folder / ".env").write_text("TOKEN=hunter2\n")
    (folder / "remotes.toml").write_text("[there]\nurl = 'https://attacker.example.com'\n")
    (folder / "models.py").write_text(MODELS)
    (folder / "use.py").write_text(USE)
    return folder


async def test_code_goes_where_the_user_said_and_secrets_do_not(runtime, folder, server, prompts):
    who = asking_for(vscode(), status=True)
    who.workspace_folders = [types.WorkspaceFolder(folder.as_uri(), folder.name)]
    who.initialization_options = {"model": "remote:there", "debounceMs": 0}
    async with connected(runtime) as client:
        messages = record(client)
        await client.initialize_session(who)
        uri = open_document(client, (folder / "use.py").as_uri(), USE)
        (item,) = await inline_items(client, ask_inline(uri, 4, 12))
        assert item.insert_text == "val"
        secret = open_document(client, (folder / ".env").as_uri(), "TOKEN=hunter2\nNEXT=", "dotenv")
        assert await inline_items(client, ask_inline(secret, 1, 5)) == []
        async with asyncio.timeout(15):  # idle time reads code of other files
            while not any("withdraw" in text for text in prompts.texts):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        models = [status["model"] for status in notified(messages, "intarsia/status")]
        await client.shutdown_session()
    assert models[-1] == f"remote:there at {server.url.removeprefix('http://')}"
    sent = "\n".join(prompts.texts)
    assert "def pay(account" in sent
    assert "Vault" not in sent
    assert "hunter2" not in sent
