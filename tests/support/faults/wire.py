"""Frames of LSP as bytes, for editors that break off or do not read."""

import json
from typing import Any

from faults.editor import OPTIONS
from faults.ground import Ground

URI = "file:///a.py"


def frame(message: dict[str, Any]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def initialize_frames(ground: Ground, *, preload: bool = True) -> bytes:
    """Return initialize, for the ground's project, and initialized."""
    folders = [{"uri": ground.project.as_uri(), "name": "project"}]
    params = {
        "capabilities": {"textDocument": {"inlineCompletion": {}}},
        "workspaceFolders": folders,
        "initializationOptions": {**OPTIONS, "deadlineMs": 60_000, "preload": preload},
    }
    return frame({"id": 1, "method": "initialize", "params": params}) + frame(
        {"method": "initialized", "params": {}}
    )


def opened_frame(text: str) -> bytes:
    item = {"uri": URI, "languageId": "python", "version": 1, "text": text}
    return frame({"method": "textDocument/didOpen", "params": {"textDocument": item}})


def request_frame(id: int, *, line: int, character: int) -> bytes:
    params = {
        "textDocument": {"uri": URI},
        "position": {"line": line, "character": character},
        "context": {"triggerKind": 1},
    }
    return frame({"id": id, "method": "textDocument/inlineCompletion", "params": params})
