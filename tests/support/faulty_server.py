"""The language server with faults: ``python faulty_server.py OPTIONS``, as for rule_server.py.

A word in the document selects the fault: ``!die``, ``!hang``, ``!error`` or ``!replace``.
"""

import asyncio
import json
import os
import sys
from typing import Any

import attrs
from lsprotocol import types
from rule_engine import rule_engine_launch

from intarsia.lsp.method_table import serve_stdio
from intarsia.lsp.requests import inline_completion as handlers
from intarsia.lsp.requests.inline_completion import inline_completion
from intarsia.lsp.server import IntarsiaServer


def faulty_server_command(**options: object) -> tuple[str, ...]:
    return (sys.executable, __file__, json.dumps(options))


async def faulty(ls: IntarsiaServer, params: types.InlineCompletionParams) -> Any:
    """Answer as the product does, unless the document asks for a fault."""
    document = ls.session.documents.current(params.text_document.uri)
    text = "" if document is None else document.text
    if "!die" in text:
        os._exit(70)
    if "!hang" in text:
        await asyncio.Event().wait()
    if "!error" in text:
        raise RuntimeError("a fault")
    answer = await inline_completion(ls, params)
    if "!replace" in text and isinstance(answer, types.InlineCompletionList):
        start = attrs.evolve(params.position, character=0)
        wider = types.Range(start, params.position)
        return types.InlineCompletionList(
            [attrs.evolve(item, range=wider) for item in answer.items]
        )
    return answer


if __name__ == "__main__":
    handlers.inline_completion = faulty  # the server asks for it by name
    sys.exit(serve_stdio(rule_engine_launch(**json.loads(sys.argv[1]))))
