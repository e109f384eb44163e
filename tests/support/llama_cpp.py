"""llama.cpp's server with the default model; ``make test`` installs it."""

import contextlib
import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkout import ROOT
from local_server import free_port

from intarsia.engine.model_store.catalog import DEFAULT_MODEL, find_model
from intarsia.engine.model_store.download import downloaded_file

SERVER_PYTHON = ROOT / "build" / "servers" / "llama-cpp" / "bin" / "python"
SERVE = ROOT / "tests" / "support" / "servers" / "serve_llama_cpp.py"


@dataclass(frozen=True, kw_only=True)
class LlamaCppServer:
    """A running server. Its figures are read over its own HTTP API, not through our client."""

    url: str

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            body: bytes = answer.read()
        return body.decode()

    def num_busy_slots(self) -> int:
        slots: list[dict[str, Any]] = json.loads(self.get("/slots"))
        return sum(slot["is_processing"] for slot in slots)

    def num_tokens_read(self) -> int:
        """Return the prompt tokens that the server has computed since its start."""
        found = re.search(
            r"^llamacpp:prompt_tokens_total (\S+)", self.get("/metrics"), re.MULTILINE
        )
        return int(float(found[1]))


@contextlib.contextmanager
def llama_cpp_server(log: Path) -> Iterator[LlamaCppServer]:
    """Serve the default model's GGUF file until the block ends."""
    row = find_model(DEFAULT_MODEL)
    assert row is not None
    port = free_port()
    command = [str(SERVER_PYTHON), "-P", str(SERVE), str(downloaded_file(row)), str(port)]
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n", log.read_text(errors="replace")[-2000:]
            yield LlamaCppServer(url=f"http://127.0.0.1:{port}")
        finally:
            process.kill()
