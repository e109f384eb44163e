"""The server's process: it holds no torch, whatever it has served, and outlives its own faults."""

import sys

import psutil
import pytest
from editor_clients import ask_inline, editing, inline_items, open_document, vscode
from rule_server import rule_server_command

from intarsia.engine.ipc.address import Address
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.documents.positions import line_starts
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.requests.suggest import SuggestOptions, suggest
from intarsia.lsp.server import IntarsiaServer

HEAVY = ("libtorch", "libc10", "torch/", "transformers", "numpy")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_a_server_that_has_served_has_mapped_no_torch(runtime: Address) -> None:
    command = rule_server_command(text="x")
    async with editing(vscode(), runtime, server=command, options={"debounceMs": 0}) as client:
        for name, language in (("a.py", "python"), ("a.ts", "typescript"), ("a.c", "c")):
            uri = open_document(client, name, "y = ", language)
            assert await inline_items(client, ask_inline(uri, 0, 4, is_invoked=True))
        mapped = [file.path for file in psutil.Process(client._server.pid).memory_maps()]
        assert any("tree_sitter" in path for path in mapped)
        assert [path for path in mapped if any(name in path for name in HEAVY)] == []


async def test_all_of_the_server_can_be_imported_without_torch() -> None:
    import asyncio

    script = (
        "import importlib, pkgutil, sys, intarsia.lsp as lsp\n"
        "for found in pkgutil.iter_modules(lsp.__path__, 'intarsia.lsp.'):\n"
        "    importlib.import_module(found.name)\n"
        "import intarsia.engine.ipc.client\n"
        "print({'torch', 'transformers', 'numpy'} & set(sys.modules))\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    assert printed.strip() == b"set()"


async def test_a_fault_of_our_own_is_a_reason_and_no_crash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr("intarsia.lsp.requests.plan.plan_at_cursor", fail)
    session = IntarsiaServer().session
    document = Document(
        uri="file:///a.py",
        language_id="python",
        version=1,
        encoding="utf-16",
        text="y = ",
        line_starts=line_starts("y = "),
    )
    monkeypatch.setattr(session.documents, "current", lambda uri: document)
    snapshot = Snapshot(document=document, text=document.text, offset=4, selected=None)
    found = await suggest(
        session, snapshot, SuggestOptions(num_candidates=1, debounce_ms=0, deadline_ms=1)
    )
    assert found.ghosts == ()
    assert found.reason is not None
    assert "RuntimeError('a fault')" in found.reason
